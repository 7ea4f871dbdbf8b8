//! Compiled kernels (MTLLibrary). macOS keeps what it has compiled, so only the first start takes its time.
const objc = @import("objc.zig");
const Device = @import("device.zig").Device;
const Diagnostic = @import("diagnostic.zig").Diagnostic;

pub const Library = struct {
    device: *const Device,
    object: objc.Object,

    /// All kernels as one text.
    pub const source: [:0]const u8 = source: {
        var text: [:0]const u8 = "";
        for (.{ "prelude.h", "arguments.gen.h", "rms_norm.metal", "mul_mv_q4_1.metal" }) |name|
            text = text ++ "#line 1 \"" ++ name ++ "\"\n" ++ @embedFile(name);
        break :source text;
    };

    /// On Refused, `diagnostic` holds the compiler's messages.
    pub fn compile(device: *const Device, text: [:0]const u8, diagnostic: *Diagnostic) error{ Refused, Unavailable }!Library {
        const runtime = &device.runtime;
        const pool: objc.Pool = .push(runtime);
        defer pool.pop();
        var failure: ?objc.Object = null;
        const object = runtime.send(?objc.Object, device.object, "newLibraryWithSource:options:error:", .{
            try runtime.string(text),
            @as(?objc.Object, null),
            &failure,
        }) orelse {
            diagnostic.setError(runtime, "the kernels do not compile", failure);
            return error.Refused;
        };
        return .{ .device = device, .object = object };
    }

    pub fn destroy(library: *Library) void {
        library.device.runtime.release(library.object);
        library.* = undefined;
    }
};
