const std = @import("std");
const Allocator = std.mem.Allocator;

const alignment: std.mem.Alignment = .fromByteUnits(std.heap.page_size_min);

/// Memory on page boundaries that is not written here, not even in a safe build: what is never used is never backed by memory.
/// Freed with `freePages`.
pub fn allocPages(comptime T: type, gpa: Allocator, count: usize) error{OutOfMemory}![]align(std.heap.page_size_min) T {
    const bytes = std.math.mul(usize, count, @sizeOf(T)) catch return error.OutOfMemory;
    const memory = gpa.rawAlloc(bytes, alignment, @returnAddress()) orelse return error.OutOfMemory;
    return @as([*]align(std.heap.page_size_min) T, @ptrCast(@alignCast(memory)))[0..count];
}

pub fn freePages(gpa: Allocator, memory: anytype) void {
    gpa.rawFree(@constCast(std.mem.sliceAsBytes(memory)), alignment, @returnAddress());
}

test "pages are given out on their boundaries and taken back" {
    const gpa = std.testing.allocator;
    const rows = try allocPages(u32, gpa, 3000);
    defer freePages(gpa, rows);
    try std.testing.expectEqual(0, @intFromPtr(rows.ptr) % std.heap.page_size_min);
    @memset(rows, 7);
    try std.testing.expectError(error.OutOfMemory, allocPages(u64, gpa, std.math.maxInt(usize)));
    try std.testing.expectError(error.OutOfMemory, allocPages(u64, std.testing.failing_allocator, 1));
}
