//! A hash table of ids whose keys live elsewhere, for hash-consing: equal things get one id.
const std = @import("std");
const Allocator = std.mem.Allocator;

pub const IdTable = struct {
    /// The length is a power of two or zero, and at least a third of it is empty.
    slots: []Slot = &.{},
    count: u32 = 0,
    /// The slots before the table grew. A few are taken over with each new id, so that none of them has to wait for all.
    before: []Slot = &.{},
    /// Of these, how many are still to be taken over.
    before_left: usize = 0,
    /// The slots that it is to grow into, of which the first are cleared: a few more with each new id, as fresh memory takes long to touch.
    next: []Slot = &.{},
    next_cleared: usize = 0,

    /// The low half of the hash finds the slot of an id again when the table grows, and spares most looks at keys.
    pub const Slot = struct { id: u32, hash: u32 };
    pub const empty: u32 = 0xffffffff;
    /// Twice as many as it takes to be done before the table grows again.
    const taken_over = 4;
    /// As many as it takes for the slots that come next, which are twice as many, from the middle between two growths on.
    const cleared = 6;

    pub fn deinit(self: *IdTable, gpa: Allocator) void {
        for ([_][]Slot{ self.slots, self.before, self.next }) |slots| release(gpa, slots);
        self.* = .{};
    }

    pub fn clear(self: *IdTable) void {
        @memset(self.slots, .{ .id = empty, .hash = 0 });
        self.count = 0;
        self.before_left = 0;
    }

    /// Clears it and gives memory beyond so many slots (a power of two) back.
    pub fn shrink(self: *IdTable, gpa: Allocator, slots_max: usize) void {
        if (self.slots.len > slots_max) self.deinit(gpa) else self.clear();
    }

    pub fn bytes(self: *const IdTable) usize {
        return (self.slots.len + self.before.len + self.next.len) * @sizeOf(Slot);
    }

    pub fn clone(self: *const IdTable, gpa: Allocator) error{OutOfMemory}!IdTable {
        const slots = try reserve(gpa, self.slots.len);
        errdefer release(gpa, slots);
        const before = try reserve(gpa, self.before.len);
        @memcpy(slots, self.slots);
        @memcpy(before, self.before);
        return .{ .slots = slots, .count = self.count, .before = before, .before_left = self.before_left };
    }

    /// The id whose key equals the sought one: `context.eql(id)`.
    pub fn find(self: *const IdTable, hash: u64, context: anytype) ?u32 {
        return findIn(self.slots, hash, context) orelse if (self.before_left > 0) findIn(self.before, hash, context) else null;
    }

    fn findIn(slots: []const Slot, hash: u64, context: anytype) ?u32 {
        if (slots.len == 0) return null;
        const short: u32 = @truncate(hash);
        const last = slots.len - 1;
        var at = short & last;
        while (slots[at].id != empty) : (at = (at + 1) & last) {
            if (slots[at].hash == short and context.eql(slots[at].id)) return slots[at].id;
        }
        return null;
    }

    /// `id` is not in the table.
    pub fn insert(self: *IdTable, gpa: Allocator, hash: u64, id: u32) error{OutOfMemory}!void {
        if ((self.count + 1) * 3 > self.slots.len * 2) try self.grow(gpa);
        self.takeOver(taken_over);
        try self.prepare(gpa, cleared);
        place(self.slots, .{ .id = id, .hash = @truncate(hash) });
        self.count += 1;
    }

    fn grow(self: *IdTable, gpa: Allocator) error{OutOfMemory}!void {
        try self.prepare(gpa, std.math.maxInt(usize));
        std.debug.assert(self.before_left == 0);
        release(gpa, self.before);
        self.before = self.slots;
        self.before_left = self.slots.len;
        self.slots = self.next;
        self.next = &.{};
        self.next_cleared = 0;
    }

    /// Clears some of the slots that come next, once they are near.
    fn prepare(self: *IdTable, gpa: Allocator, count: usize) error{OutOfMemory}!void {
        if (self.next.len == 0) {
            if (self.count * 3 < self.slots.len) return;
            self.next = try reserve(gpa, @max(16, self.slots.len * 2));
        }
        const more = @min(count, self.next.len - self.next_cleared);
        @memset(self.next[self.next_cleared..][0..more], .{ .id = empty, .hash = 0 });
        self.next_cleared += more;
    }

    fn takeOver(self: *IdTable, count: usize) void {
        for (0..@min(count, self.before_left)) |_| {
            self.before_left -= 1;
            const slot = self.before[self.before_left];
            if (slot.id != empty) place(self.slots, slot);
        }
    }

    fn place(slots: []Slot, slot: Slot) void {
        const last = slots.len - 1;
        var at = slot.hash & last;
        while (slots[at].id != empty) at = (at + 1) & last;
        slots[at] = slot;
    }
};

/// Slots that nothing has touched: `alloc` and `free` write over all of them where safety is checked.
fn reserve(gpa: Allocator, count: usize) error{OutOfMemory}![]IdTable.Slot {
    if (count == 0) return &.{};
    const bytes = gpa.rawAlloc(count * @sizeOf(IdTable.Slot), .of(IdTable.Slot), @returnAddress()) orelse return error.OutOfMemory;
    return @as([*]IdTable.Slot, @ptrCast(@alignCast(bytes)))[0..count];
}

fn release(gpa: Allocator, slots: []IdTable.Slot) void {
    if (slots.len > 0) gpa.rawFree(std.mem.sliceAsBytes(slots), .of(IdTable.Slot), @returnAddress());
}

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
    };
    var keys: [5000]u32 = undefined;
    var table: IdTable = .{};
    defer table.deinit(gpa);
    for (&keys, 0..) |*key, id| {
        key.* = @intCast(id * (id + 3));
        const context: Context = .{ .keys = &keys, .sought = key.* };
        const hash = hashWords(&.{key.*}, 0);
        try std.testing.expectEqual(null, table.find(hash, context));
        try table.insert(gpa, hash, @intCast(id));
        // Also while older ones are taken over.
        const old = id / 2;
        try std.testing.expectEqual(@as(?u32, @intCast(old)), table.find(hashWords(keys[old..][0..1], 0), Context{ .keys = &keys, .sought = keys[old] }));
    }
    var copy = try table.clone(gpa);
    defer copy.deinit(gpa);
    table.clear();
    try std.testing.expectEqual(null, table.find(hashWords(keys[7..8], 0), Context{ .keys = &keys, .sought = keys[7] }));
    for (keys, 0..) |key, id| {
        try std.testing.expectEqual(@as(?u32, @intCast(id)), copy.find(hashWords(&.{key}, 0), Context{ .keys = &keys, .sought = key }));
    }
    try std.testing.expectEqual(null, copy.find(hashWords(&.{7}, 0), Context{ .keys = &keys, .sought = 7 }));
}
