//! Finished masks, kept per state. Whitespace that a JSON text has spent is no part of a state, so tokens that would spend some are kept
//! apart, with how much, and cut off when the mask is read.
const std = @import("std");
const Allocator = std.mem.Allocator;
const stdx = @import("../stdx.zig");
const IdTable = stdx.IdTable;
const words = stdx.words;
const Group = @import("mask.zig").Group;
const Frame = @import("walk.zig").Frame;
const near = @import("near.zig");
const Exit = @import("alone.zig").Exit;
const KeyFrame = @import("key_walk.zig").KeyFrame;
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
    /// Of what was looked at by itself: where tokens have left it.
    exits: []Exit = &.{},
    /// Of a pattern: tokens that close it.
    closings: []Closing = &.{},
    /// Of a pattern: but for these, tokens close it as they close a free string.
    apart: ?[]u32 = null,
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

    fn copy(self: *const Memo, allocator: Allocator) error{OutOfMemory}!Memo {
        var other = self.*;
        other.list = try allocator.dupe(u32, self.list);
        other.bits = try allocator.dupe(u32, self.bits);
        other.late = try allocator.dupe(Late, self.late);
        other.verify = try allocator.dupe(u32, self.verify);
        other.exits = try allocator.dupe(Exit, self.exits);
        other.closings = try allocator.dupe(Closing, self.closings);
        if (self.apart) |apart| other.apart = try allocator.dupe(u32, apart);
        return other;
    }

    fn bytes(self: *const Memo) usize {
        return (self.list.len + self.bits.len + self.verify.len + if (self.apart) |apart| apart.len else 0) * 4 + self.late.len * @sizeOf(Late) + self.exits.len * @sizeOf(Exit) + self.closings.len * @sizeOf(Closing) + @sizeOf(Memo);
    }
};

/// What a memo is of: the tokens that a walk finds, or those of the whole mask; the tokens that close a string, or what may follow its
/// closing quote; short and long tokens inside a pattern, whose state is the key's, or all of them where it is nearly free, and
/// those of the same that do not come near the known keys of an object; the tokens inside a pattern outside of JSON, whose state is the key's; the tokens below a node of
/// the trie, which is the key's state, inside the list of texts that begins there.
pub const Of = enum(u8) { tokens, whole, closing, suffixes, pattern_short, pattern_long, pattern_free, near_key, regex, texts };
/// `list`: of `texts`, which one; of `near_key`, the place among the known keys.
pub const Key = packed struct(u64) { state: u32, list: u24 = 0, of: Of };

/// Memos that were made one after another, and are forgotten together.
const Generation = struct {
    /// What the memos hold.
    arena: std.heap.ArenaAllocator,
    entries: std.ArrayList(Entry) = .empty,
    /// Indices of `entries`, by key. A hash map that grows moves all of its memos at once: a millisecond for some thousands.
    table: IdTable = .{},
    bytes: usize = 0,

    const Entry = struct { key: u64, memo: Memo };

    const Context = struct {
        entries: []const Entry,
        sought: u64,

        pub fn eql(self: @This(), id: u32) bool {
            return self.entries[id].key == self.sought;
        }
    };

    fn deinit(self: *Generation, gpa: Allocator) void {
        self.arena.deinit();
        self.entries.deinit(gpa);
        self.table.deinit(gpa);
    }

    fn clear(self: *Generation, spare_bytes: usize) void {
        _ = self.arena.reset(.{ .retain_with_limit = spare_bytes });
        self.entries.clearRetainingCapacity();
        self.table.clear();
        self.bytes = 0;
    }

    fn bytesHeld(self: *const Generation) usize {
        return self.entries.capacity * @sizeOf(Entry) + self.table.bytes() + @min(self.bytes, limits.memo_spare_bytes / 2);
    }

    fn find(self: *const Generation, key: u64) ?*const Memo {
        const id = self.table.find(hashOf(key), Context{ .entries = self.entries.items, .sought = key }) orelse return null;
        return &self.entries.items[id].memo;
    }

    /// What the memo holds is in the arena.
    fn add(self: *Generation, gpa: Allocator, key: u64, memo: Memo) error{OutOfMemory}!*const Memo {
        std.debug.assert(self.find(key) == null);
        try self.entries.append(gpa, .{ .key = key, .memo = memo });
        const id: u32 = @intCast(self.entries.items.len - 1);
        try self.table.insert(gpa, hashOf(key), id);
        self.bytes += memo.bytes();
        return &self.entries.items[id].memo;
    }

    fn hashOf(key: u64) u64 {
        return stdx.hashWords(&@as([2]u32, @bitCast(key)), 0);
    }
};

pub const Memos = struct {
    const wanted_max = 8;

    /// When the newer ones fill their half of the room, the older ones are forgotten: never all at once, nor those just made.
    newer: Generation,
    older: Generation,
    /// Older ones that were asked for, as far as there is room: they become newer with the next one that is made.
    wanted: [wanted_max]u64 = undefined,
    wanted_count: usize = 0,
    // Scratch of walks, by depth, and of masks.
    frames: std.ArrayList(Frame) = .empty,
    list: std.ArrayList(u32) = .empty,
    bits: std.ArrayList(u32) = .empty,
    late: std.ArrayList(Late) = .empty,
    verify: std.ArrayList(u32) = .empty,
    groups: std.ArrayList(Group) = .empty,
    ids: std.ArrayList(u32) = .empty,
    exits: std.ArrayList(Exit) = .empty,
    closings: std.ArrayList(Closing) = .empty,
    near: std.ArrayList(near.Frame) = .empty,
    /// Tokens where no text is known, while those beside known ones are sought.
    away: std.ArrayList(u32) = .empty,
    /// By what follows a closing quote: see mask.zig.
    suffixes: std.ArrayList(u32) = .empty,
    tasks: std.ArrayList(texts_walk.Task) = .empty,
    starts: std.ArrayList(texts_walk.Start) = .empty,
    passed: texts_walk.Passed = .{},
    alone: std.ArrayList(u32) = .empty,
    keys: std.ArrayList(KeyFrame) = .empty,

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
        self.exits.deinit(gpa);
        self.closings.deinit(gpa);
        self.near.deinit(gpa);
        self.away.deinit(gpa);
        self.suffixes.deinit(gpa);
        self.tasks.deinit(gpa);
        self.starts.deinit(gpa);
        self.passed.deinit(gpa);
        self.alone.deinit(gpa);
        self.keys.deinit(gpa);
    }

    pub fn clear(self: *Memos) void {
        self.wanted_count = 0;
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

    /// A set of tokens as scratch, empty: valid until the next one is asked for.
    pub fn cleared(self: *Memos, gpa: Allocator, word_count: usize) error{OutOfMemory}![]u32 {
        self.bits.clearRetainingCapacity();
        try self.bits.appendNTimes(gpa, 0, word_count);
        return self.bits.items;
    }

    /// Keeps a set of tokens in a memo: as a list where they are few.
    pub fn keepTokens(self: *Memos, gpa: Allocator, memo: *Memo, tokens: []const u32) error{OutOfMemory}!void {
        if (words.countOf(tokens) > tokens.len / list_share) {
            memo.bits = try self.allocator().dupe(u32, tokens);
            return;
        }
        self.list.clearRetainingCapacity();
        var each = words.iterate(tokens);
        while (each.next()) |token| try self.list.append(gpa, token);
        memo.list = try self.allocator().dupe(u32, self.list.items);
    }

    /// A set of fewer tokens than one in so many words is kept as a list.
    const list_share = 16;

    /// Valid until the next `put`.
    pub fn get(self: *Memos, key: Key) ?*const Memo {
        const word: u64 = @bitCast(key);
        if (self.newer.find(word)) |memo| return memo;
        const memo = self.older.find(word) orelse return null;
        const count = self.wanted_count;
        if (count < wanted_max and std.mem.findScalar(u64, self.wanted[0..count], word) == null) {
            self.wanted[count] = word;
            self.wanted_count += 1;
        }
        return memo;
    }

    /// What the memo holds is in `allocator`'s memory.
    pub fn put(self: *Memos, gpa: Allocator, key: Key, memo: Memo) error{OutOfMemory}!*const Memo {
        for (self.wanted[0..self.wanted_count]) |wanted| {
            _ = try self.newer.add(gpa, wanted, try self.older.find(wanted).?.copy(self.allocator()));
        }
        self.wanted_count = 0;
        const made = try self.newer.add(gpa, @bitCast(key), memo);
        if (self.newer.bytes > limits.memo_bytes / 2) {
            std.mem.swap(Generation, &self.newer, &self.older);
            self.newer.clear(limits.memo_bytes / 2);
        }
        return made;
    }
};

test "the memos that were not asked for are forgotten first, and never those just made" {
    const gpa = std.testing.allocator;
    var memos: Memos = .create(gpa);
    defer memos.deinit(gpa);
    const entries = 1 << 15;
    const half = limits.memo_bytes / 2 / (entries * 4);
    const wanted: Key = .{ .state = 0, .of = .tokens };
    for (0..4 * half) |index| {
        const state: u32 = @intCast(index);
        const list = try memos.allocator().alloc(u32, entries);
        @memset(list, state);
        const made = try memos.put(gpa, .{ .state = state, .of = .tokens }, .{ .list = list });
        try std.testing.expectEqual(state, made.list[0]);
        try std.testing.expectEqual(0, memos.get(wanted).?.list[entries - 1]);
        for (0..@min(index, half - 2)) |back| {
            const before: u32 = @intCast(index - back);
            const word: u64 = @bitCast(Key{ .state = before, .of = .tokens });
            const memo = memos.newer.find(word) orelse memos.older.find(word);
            try std.testing.expectEqual(before, memo.?.list[entries - 1]);
        }
    }
    try std.testing.expectEqual(null, memos.get(.{ .state = 1, .of = .tokens }));
}
