//! Finished masks, kept per state. Whitespace that a JSON text has spent is no part of a state, so tokens that would spend some are kept
//! apart, with how much, and cut off when the mask is read.
const std = @import("std");
const Allocator = std.mem.Allocator;
const words = @import("../stdx.zig").words;
const Group = @import("mask.zig").Group;
const Frame = @import("walk.zig").Frame;
const PlaceFrame = @import("pattern_mask.zig").PlaceFrame;
const texts_walk = @import("texts_walk.zig");
const limits = @import("../limits.zig").grammar;

/// An entry (a token, or what follows a closing quote) that spends whitespace of the text it begins in; or a token inside a text, and what
/// has to be spent after it.
pub const Late = struct { spent: u32, entry: u32 };

/// A token that closes a string, and what follows its quote.
pub const Closing = struct { token: u32, suffix: u32 };

pub const Memo = struct {
    /// Entries that are allowed whatever was spent before: as a list where they are few, as a bit set where they are many.
    list: []u32 = &.{},
    bits: []u32 = &.{},
    /// By rising `spent`; in lists of texts as they were found.
    late: []Late = &.{},
    /// Whitespace that the text may spend in all.
    whitespace_max: u32 = 0,
    /// Entries that have to be tried one by one, because they depend on the text of a key; of a pattern outside of JSON and of a list
    /// of texts, the trie's nodes at which a token may have left it.
    verify: []u32 = &.{},
    /// Of a pattern: tokens that close it.
    closings: []Closing = &.{},
    /// Of a pattern whose length is bounded: characters that the string may have to have left, and those it may have to go on for.
    reach_max: u32 = 0,
    shortest_max: u32 = 0,
    /// The highest cost after any of them.
    cost_max: u32 = 0,
    /// What was spent matters in more ways than one: there is no mask apart from it.
    tangled: bool = false,

    /// Adds what is allowed after so much whitespace to a bit set.
    pub fn addTo(self: *const Memo, spent: u32, out: []u32) void {
        if (self.bits.len > 0) words.orInto(out, self.bits);
        for (self.list) |entry| words.set(out, entry);
        self.addLate(spent, out);
    }

    pub fn addLate(self: *const Memo, spent: u32, out: []u32) void {
        for (self.late) |late| {
            if (spent + late.spent > self.whitespace_max) break;
            words.set(out, late.entry);
        }
    }

    fn bytes(self: *const Memo) usize {
        return (self.list.len + self.bits.len + self.verify.len) * 4 + self.late.len * @sizeOf(Late) + self.closings.len * @sizeOf(Closing) + @sizeOf(Memo);
    }
};

/// What a memo is of: the tokens that a walk finds, or those of the whole mask; the tokens that close a string, or what may follow its
/// closing quote; short and long tokens inside a pattern, whose state is the key's; the tokens that stay inside an object's key that has to
/// match; the tokens inside a pattern outside of JSON, whose state is the key's; the tokens below a node of the trie, which is the key's
/// state, inside the list of texts that begins there; the tokens of a string whose first byte may lead to one that was there.
pub const Of = enum(u8) { tokens, whole, closing, suffixes, pattern_short, pattern_long, other_key, regex, texts, beside };
/// `list`: of `texts`, which one.
pub const Key = packed struct(u64) { state: u32, list: u24 = 0, of: Of };

/// Memos that were made one after another, and are forgotten together.
const Generation = struct {
    /// What the memos hold.
    arena: std.heap.ArenaAllocator,
    map: std.AutoHashMapUnmanaged(u64, Memo) = .empty,
    bytes: usize = 0,

    fn deinit(self: *Generation, gpa: Allocator) void {
        self.arena.deinit();
        self.map.deinit(gpa);
    }

    fn clear(self: *Generation, spare_bytes: usize) void {
        _ = self.arena.reset(.{ .retain_with_limit = spare_bytes });
        self.map.clearRetainingCapacity();
        self.bytes = 0;
    }

    fn bytesHeld(self: *const Generation) usize {
        return self.map.capacity() * (@sizeOf(u64) + @sizeOf(Memo)) + @min(self.bytes, limits.memo_spare_bytes / 2);
    }
};

pub const Memos = struct {
    /// When the newer ones fill their half of the room, the older ones are forgotten: never all at once, nor those just made.
    newer: Generation,
    older: Generation,
    // Scratch of walks, by depth, and of masks.
    frames: std.ArrayList(Frame) = .empty,
    list: std.ArrayList(u32) = .empty,
    bits: std.ArrayList(u32) = .empty,
    late: std.ArrayList(Late) = .empty,
    verify: std.ArrayList(u32) = .empty,
    groups: std.ArrayList(Group) = .empty,
    ids: std.ArrayList(u32) = .empty,
    closings: std.ArrayList(Closing) = .empty,
    places: std.ArrayList(PlaceFrame) = .empty,
    /// By what follows a closing quote: see mask.zig.
    suffixes: std.ArrayList(u32) = .empty,
    tasks: std.ArrayList(texts_walk.Task) = .empty,
    inside: std.ArrayList(texts_walk.Inside) = .empty,
    starts: std.ArrayList(texts_walk.Start) = .empty,
    passed: texts_walk.Passed = .{},

    pub fn create(gpa: Allocator) Memos {
        return .{ .newer = .{ .arena = .init(gpa) }, .older = .{ .arena = .init(gpa) } };
    }

    pub fn deinit(self: *Memos, gpa: Allocator) void {
        self.newer.deinit(gpa);
        self.older.deinit(gpa);
        self.frames.deinit(gpa);
        self.list.deinit(gpa);
        self.bits.deinit(gpa);
        self.late.deinit(gpa);
        self.verify.deinit(gpa);
        self.groups.deinit(gpa);
        self.ids.deinit(gpa);
        self.closings.deinit(gpa);
        self.places.deinit(gpa);
        self.suffixes.deinit(gpa);
        self.tasks.deinit(gpa);
        self.inside.deinit(gpa);
        self.starts.deinit(gpa);
        self.passed.deinit(gpa);
    }

    pub fn clear(self: *Memos) void {
        self.newer.clear(limits.memo_spare_bytes / 2);
        self.older.clear(limits.memo_spare_bytes / 2);
    }

    pub fn bytesHeld(self: *const Memos) usize {
        return self.newer.bytesHeld() + self.older.bytesHeld() + std.mem.sliceAsBytes(self.passed.places).len;
    }

    /// For what memos hold.
    pub fn allocator(self: *Memos) Allocator {
        return self.newer.arena.allocator();
    }

    /// Valid until the next `put`.
    pub fn get(self: *const Memos, key: Key) ?*const Memo {
        return self.newer.map.getPtr(@bitCast(key)) orelse self.older.map.getPtr(@bitCast(key));
    }

    /// What the memo holds is in `allocator`'s memory.
    pub fn put(self: *Memos, gpa: Allocator, key: Key, memo: Memo) error{OutOfMemory}!*const Memo {
        const slot = try self.newer.map.getOrPut(gpa, @bitCast(key));
        std.debug.assert(!slot.found_existing);
        slot.value_ptr.* = memo;
        self.newer.bytes += memo.bytes();
        if (self.newer.bytes > limits.memo_bytes / 2) {
            std.mem.swap(Generation, &self.newer, &self.older);
            self.newer.clear(limits.memo_bytes / 2);
        }
        return slot.value_ptr;
    }
};

test "the older half of the memos is forgotten, never those just made" {
    const gpa = std.testing.allocator;
    var memos: Memos = .create(gpa);
    defer memos.deinit(gpa);
    const entries = 1 << 15;
    const half = limits.memo_bytes / 2 / (entries * 4);
    for (0..4 * half) |index| {
        const state: u32 = @intCast(index);
        const list = try memos.allocator().alloc(u32, entries);
        @memset(list, state);
        const made = try memos.put(gpa, .{ .state = state, .of = .tokens }, .{ .list = list });
        try std.testing.expectEqual(state, made.list[0]);
        // What is left is whole.
        var left: usize = 0;
        for (0..index + 1) |earlier| if (memos.get(.{ .state = @intCast(earlier), .of = .tokens })) |memo| {
            try std.testing.expectEqual(earlier, memo.list[entries - 1]);
            left += 1;
        };
        try std.testing.expect(left >= @min(index + 1, half - 1));
        try std.testing.expect(left <= 2 * half);
    }
    try std.testing.expectEqual(null, memos.get(.{ .state = 0, .of = .tokens }));
}
