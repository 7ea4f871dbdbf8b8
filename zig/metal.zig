//! Metal: the kernels' host side and their proof. The kernels (kernels/*.metal) are carried as text and compiled where they run;
//! Objective-C is reached by message send, without an SDK. Where there is no Metal, `Device.open` says so.
const std = @import("std");
const Buffer = @import("metal/buffer.zig").Buffer;
const Command = @import("metal/command.zig").Command;
const Library = @import("metal/library.zig").Library;
const Pipeline = @import("metal/pipeline.zig").Pipeline;
const Queue = @import("metal/command.zig").Queue;

pub const Backend = @import("metal/backend.zig").Backend;
pub const Device = @import("metal/device.zig").Device;
pub const doctor = @import("metal/doctor.zig");
pub const proof = @import("metal/proof.zig");

test {
    // Also what only a GPU runs has to compile.
    inline for (.{ Backend, Buffer, Device, Library, Pipeline, Command, Queue }) |T| std.testing.refAllDecls(T);
    _ = @import("metal/diagnostic.zig");
    _ = @import("metal/doctor.zig");
    _ = @import("metal/kernels_test.zig");
    _ = @import("metal/objc.zig");
}
