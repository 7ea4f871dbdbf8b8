//! A hash table of ids whose keys live elsewhere, for hash-consing: equal things get one id.
const std = @import("std");
const Allocator = std.mem.Allocator;

pub const IdTable = struct {
    /// Slots are ids, or `empty`. The length is a power of two or zero, and at least a third of it is empty.
    slots: []u32 = &.{},
    count: u32 = 0,

    pub const empty: u32 = 0xffffffff;

    pub fn deinit(self: *IdTable, gpa: Allocator) void {
        gpa.free(self.slots);
        self.* = .{};
    }

    pub fn clear(self: *IdTable) void {
        @memset(self.slots, empty);
        self.count = 0;
    }

    /// Clears it and gives memory beyond so many slots (a power of two) back.
    pub fn shrink(self: *IdTable, gpa: Allocator, slots_max: usize) void {
        if (self.slots.len > slots_max) self.deinit(gpa) else self.clear();
    }

    pub fn bytes(self: *const IdTable) usize {
        return self.slots.len * @sizeOf(u32);
    }

    /// The id whose key equals the sought one: `context.eql(id)`.
    pub fn find(self: *const IdTable, hash: u64, context: anytype) ?u32 {
        if (self.slots.len == 0) return null;
        const last = self.slots.len - 1;
        var at = @as(usize, @truncate(hash)) & last;
        while (self.slots[at] != empty) : (at = (at + 1) & last) {
            if (context.eql(self.slots[at])) return self.slots[at];
        }
        return null;
    }

    /// `id` is not in the table. `context.hashOf(id)` gives the hash of any id in it.
    pub fn insert(self: *IdTable, gpa: Allocator, hash: u64, id: u32, context: anytype) error{OutOfMemory}!void {
        if ((self.count + 1) * 3 > self.slots.len * 2) {
            const larger = try gpa.alloc(u32, @max(16, self.slots.len * 2));
            @memset(larger, empty);
            for (self.slots) |known| if (known != empty) place(larger, context.hashOf(known), known);
            gpa.free(self.slots);
            self.slots = larger;
        }
        place(self.slots, hash, id);
        self.count += 1;
    }

    fn place(slots: []u32, hash: u64, id: u32) void {
        const last = slots.len - 1;
        var at = @as(usize, @truncate(hash)) & last;
        while (slots[at] != empty) at = (at + 1) & last;
        slots[at] = id;
    }
};

/// A hash of 32-bit words, of good quality in its low bits; not for keys that an attacker may choose to collide.
pub fn hashWords(words: []const u32, seed: u64) u64 {
    var hash = seed ^ 0x9e3779b97f4a7c15;
    for (words) |word| {
        hash = (hash ^ word) *% 0xff51afd7ed558ccd;
        hash ^= hash >> 32;
    }
    return hash;
}

test "ids are found by their keys" {
    const gpa = std.testing.allocator;
    const Context = struct {
        keys: []const u32,
        sought: u32 = 0,
        pub fn eql(self: @This(), id: u32) bool {
            return self.keys[id] == self.sought;
        }
        pub fn hashOf(self: @This(), id: u32) u64 {
            return hashWords(self.keys[id..][0..1], 0);
        }
    };
    var keys: [1000]u32 = undefined;
    var table: IdTable = .{};
    defer table.deinit(gpa);
    for (&keys, 0..) |*key, id| {
        key.* = @intCast(id * id);
        const context: Context = .{ .keys = &keys, .sought = key.* };
        try std.testing.expectEqual(null, table.find(context.hashOf(@intCast(id)), context));
        try table.insert(gpa, context.hashOf(@intCast(id)), @intCast(id), context);
    }
    for (keys, 0..) |key, id| {
        try std.testing.expectEqual(@as(?u32, @intCast(id)), table.find(hashWords(&.{key}, 0), Context{ .keys = &keys, .sought = key }));
    }
    try std.testing.expectEqual(null, table.find(hashWords(&.{7}, 0), Context{ .keys = &keys, .sought = 7 }));
}
