//! The GPU (MTLDevice).
const std = @import("std");
const objc = @import("objc.zig");

pub const Device = struct {
    runtime: objc.Runtime,
    object: objc.Object,

    /// The system's preferred GPU. Unavailable: not a Mac, or one without a GPU that Metal can use.
    pub fn open() error{Unavailable}!Device {
        const runtime: objc.Runtime = try .load();
        const metal = std.c.dlopen("/System/Library/Frameworks/Metal.framework/Metal", .{ .LAZY = true }) orelse
            return error.Unavailable;
        const create = try objc.symbol(*const fn () callconv(.c) ?objc.Object, metal, "MTLCreateSystemDefaultDevice");
        return .{ .runtime = runtime, .object = create() orelse return error.Unavailable };
    }

    pub fn close(device: *Device) void {
        device.runtime.release(device.object);
        device.* = undefined;
    }

    /// "Apple M2 Pro"; copied into `buffer`, cut to its size.
    pub fn name(device: *const Device, buffer: []u8) []const u8 {
        const pool: objc.Pool = .push(&device.runtime);
        defer pool.pop();
        const text = device.runtime.textOf(device.runtime.send(?objc.Object, device.object, "name", .{}));
        const len = @min(text.len, buffer.len);
        @memcpy(buffer[0..len], text[0..len]);
        return buffer[0..len];
    }
};
