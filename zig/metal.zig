//! Metal: the kernels' host side and their proof. The kernels (kernels/*.metal) are carried as text and compiled where they run;
//! Objective-C is reached by message send, without an SDK. Where there is no Metal, `Device.open` says so.
pub const Backend = @import("metal/backend.zig").Backend;
pub const Device = @import("metal/device.zig").Device;
pub const doctor = @import("metal/doctor.zig");

test {
    _ = @import("metal/diagnostic.zig");
    _ = @import("metal/doctor.zig");
    _ = @import("metal/kernels_test.zig");
    _ = @import("metal/objc.zig");
}
