//! Memory that the CPU and the GPU share (MTLBuffer).
const std = @import("std");
const objc = @import("objc.zig");
const Device = @import("device.zig").Device;

pub const Buffer = struct {
    device: *const Device,
    object: objc.Object,
    bytes: []u8,

    /// Apple silicon's page; a mapping that is wrapped begins and ends on one.
    pub const page_bytes = 16 * 1024;
    /// MTLResourceStorageModeShared.
    const storage_shared: u64 = 0;

    pub fn create(device: *const Device, bytes: usize) error{OutOfMemory}!Buffer {
        std.debug.assert(bytes > 0);
        const runtime = &device.runtime;
        const object = runtime.send(?objc.Object, device.object, "newBufferWithLength:options:", .{
            @as(u64, bytes),
            storage_shared,
        }) orelse return error.OutOfMemory;
        const contents = runtime.send([*]u8, object, "contents", .{});
        return .{ .device = device, .object = object, .bytes = contents[0..bytes] };
    }

    /// Makes memory that is there already, such as mapped weights, the GPU's too, without a copy. It stays the caller's, and outlives the buffer.
    pub fn wrap(device: *const Device, memory: []align(page_bytes) u8) error{OutOfMemory}!Buffer {
        std.debug.assert(memory.len % page_bytes == 0);
        const object = device.runtime.send(?objc.Object, device.object, "newBufferWithBytesNoCopy:length:options:deallocator:", .{
            @as(*anyopaque, memory.ptr),
            @as(u64, memory.len),
            storage_shared,
            @as(?*anyopaque, null),
        }) orelse return error.OutOfMemory;
        return .{ .device = device, .object = object, .bytes = memory };
    }

    pub fn destroy(buffer: *Buffer) void {
        buffer.device.runtime.release(buffer.object);
        buffer.* = undefined;
    }
};
