const std = @import("std");
const assert = std.debug.assert;

/// A table that names items by numbers which never come to mean something else: a handle has the item's slot, the kind of
/// table, and a generation that changes each time the slot is taken. Zero names nothing. Needs no initialisation beyond `.{}`, so
/// that a table of any size can be zeroed memory. Not for several threads at a time.
pub fn Handles(comptime Item: type, comptime kind: u4, comptime capacity: u13) type {
    comptime assert(capacity > 0 and capacity <= 1 << 12);
    return struct {
        const Self = @This();
        const Handle = packed struct(u32) { slot: u12, kind: u4, generation: u16 };

        items: [capacity]?Item = @splat(null),
        generations: [capacity]u16 = @splat(0),
        /// Slots given back, the last one first; those from `fresh` on were never taken.
        freed: [capacity]u12 = @splat(0),
        freed_count: u13 = 0,
        fresh: u13 = 0,

        pub fn insert(self: *Self, item: Item) error{Full}!u32 {
            var slot: u12 = undefined;
            if (self.freed_count > 0) {
                self.freed_count -= 1;
                slot = self.freed[self.freed_count];
            } else {
                if (self.fresh == capacity) return error.Full;
                slot = @intCast(self.fresh);
                self.fresh += 1;
            }
            self.items[slot] = item;
            self.generations[slot] = if (self.generations[slot] == std.math.maxInt(u16)) 1 else self.generations[slot] + 1;
            const handle: Handle = .{ .slot = slot, .kind = kind, .generation = self.generations[slot] };
            return @bitCast(handle);
        }

        pub fn get(self: *const Self, number: u32) ?Item {
            const handle: Handle = @bitCast(number);
            if (handle.kind != kind or handle.slot >= self.fresh or handle.generation != self.generations[handle.slot]) return null;
            return self.items[handle.slot];
        }

        pub fn remove(self: *Self, number: u32) ?Item {
            const item = self.get(number) orelse return null;
            const handle: Handle = @bitCast(number);
            self.items[handle.slot] = null;
            self.freed[self.freed_count] = handle.slot;
            self.freed_count += 1;
            return item;
        }

        pub fn count(self: *const Self) u32 {
            return self.fresh - self.freed_count;
        }

        /// Items in no particular order; null slots are free.
        pub fn all(self: *const Self) []const ?Item {
            return self.items[0..self.fresh];
        }
    };
}

test "a handle dies with its item" {
    var table: Handles(u8, 3, 2) = .{};
    const a = try table.insert('a');
    const b = try table.insert('b');
    try std.testing.expectError(error.Full, table.insert('c'));
    try std.testing.expectEqual('a', table.get(a));
    try std.testing.expectEqual('a', table.remove(a));
    try std.testing.expectEqual(null, table.get(a));
    try std.testing.expectEqual(null, table.remove(a));
    const c = try table.insert('c');
    try std.testing.expect(c != a);
    try std.testing.expectEqual(null, table.get(a));
    try std.testing.expectEqual('c', table.get(c));
    try std.testing.expectEqual('b', table.get(b));
    try std.testing.expectEqual(2, table.count());
}

test "numbers that are no handles" {
    var table: Handles(u8, 3, 2) = .{};
    var other: Handles(u8, 4, 2) = .{};
    const a = try table.insert('a');
    const foreign = try other.insert('x');
    for ([_]u32{ 0, 1, a + 1, ~a, foreign, std.math.maxInt(u32) }) |number| try std.testing.expectEqual(null, table.get(number));
}

test "generations never name zero and last for 65,535 lives" {
    var table: Handles(u8, 0, 1) = .{};
    const first = try table.insert('a');
    var handle = first;
    for (0..65_534) |_| {
        _ = table.remove(handle);
        handle = try table.insert('b');
        try std.testing.expect(handle != first and handle != 0);
    }
}
