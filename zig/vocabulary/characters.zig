//! Which tokens begin with each character beyond ASCII, and which have it later: lists by character, from which sets of tokens are made for
//! whatever a pattern tells apart, and whole sets of spans of characters that have about as many tokens each.
const std = @import("std");
const Allocator = std.mem.Allocator;
const words = @import("../stdx.zig").words;

/// A character that a token has.
pub const Found = struct { char: u21, token: u32 };

pub const Characters = struct {
    /// Rising: those that tokens have.
    chars: []const u21,
    first: Tokens,
    later: Tokens,
    /// (span_count + 1) where each span begins among `chars`.
    spans: *const [span_count + 1]u32,

    pub const span_count = 16;

    pub const Tokens = struct {
        /// (chars + 1)
        offsets: []const u32,
        tokens: []const u32,
        /// (span_count) bit sets, and that of all.
        spans: *const [span_count][]const u32,
        all: []const u32,

        /// How many have characters of a range of `chars`, each counted once for each of them.
        pub fn countIn(self: *const Tokens, begin: u32, end: u32) u32 {
            return self.offsets[end] - self.offsets[begin];
        }

        /// Adds those that have characters of a range of `chars` to a bit set.
        fn collect(self: *const Tokens, set: []u32, begin: u32, end: u32) void {
            for (self.tokens[self.offsets[begin]..self.offsets[end]]) |token| words.set(set, token);
        }
    };

    pub fn create(arena: Allocator, gpa: Allocator, first: []const Found, later: []const Found, word_count: u32) error{OutOfMemory}!Characters {
        const numbers: Numbers = try .create(gpa, &.{ first, later });
        defer numbers.destroy(gpa);
        const chars = try arena.alloc(u21, numbers.count);
        numbers.list(chars);
        var lists: [2]Tokens = undefined;
        for (&lists, [_][]const Found{ first, later }) |*list, found| list.* = try sort(arena, &numbers, found);
        const spans = try arena.create([span_count + 1]u32);
        const total = first.len + later.len;
        var at: u32 = 0;
        for (spans[0..span_count], 0..) |*begin, span| {
            while (at < chars.len and lists[0].offsets[at] + lists[1].offsets[at] < total * span / span_count) at += 1;
            begin.* = at;
        }
        spans[span_count] = @intCast(chars.len);
        for (&lists) |*list| {
            const sets = try arena.create([span_count][]const u32);
            const all = try arena.alloc(u32, word_count);
            @memset(all, 0);
            for (sets, spans[0..span_count], spans[1..]) |*set, begin, end| {
                const own = try arena.alloc(u32, word_count);
                @memset(own, 0);
                list.collect(own, begin, end);
                words.orInto(all, own);
                set.* = own;
            }
            list.spans = sets;
            list.all = all;
        }
        return .{ .chars = chars, .first = lists[0], .later = lists[1], .spans = spans };
    }

    /// All but the bit sets.
    fn sort(arena: Allocator, numbers: *const Numbers, found: []const Found) error{OutOfMemory}!Tokens {
        const count = numbers.count;
        const offsets = try arena.alloc(u32, count + 1);
        @memset(offsets, 0);
        for (found) |item| offsets[numbers.of(item.char) + 1] += 1;
        for (offsets[0..count], offsets[1..]) |before, *offset| offset.* += before;
        const tokens = try arena.alloc(u32, found.len);
        for (found) |item| {
            const next = &offsets[numbers.of(item.char)];
            tokens[next.*] = item.token;
            next.* += 1;
        }
        // Each has moved to where the next one begins.
        @memmove(offsets[1..], offsets[0..count]);
        offsets[0] = 0;
        return .{ .offsets = offsets, .tokens = tokens, .spans = undefined, .all = undefined };
    }

    /// Adds the tokens that begin with characters of a range of `chars`, and those that have them later, to two bit sets.
    pub fn add(self: *const Characters, first: []u32, later: []u32, begin: u32, end: u32) void {
        var low = begin;
        var span = std.sort.upperBound(u32, self.spans[0..span_count], begin, orderOfSpans) - 1;
        while (low < end) : (span += 1) {
            const span_begin = self.spans[span];
            const span_end = self.spans[span + 1];
            const high = @min(end, span_end);
            defer low = high;
            for ([_]*const Tokens{ &self.first, &self.later }, [_][]u32{ first, later }) |list, set| {
                if (low == span_begin and high == span_end) words.orInto(set, list.spans[span]) else list.collect(set, low, high);
            }
        }
    }

    /// The first of `chars` from a place on that is not below a code point.
    pub fn find(self: *const Characters, from: u32, char: u32) u32 {
        return from + @as(u32, @intCast(std.sort.lowerBound(u21, self.chars[from..], char, orderOf)));
    }
};

/// Numbers characters by their order.
const Numbers = struct {
    /// A bit set of code points.
    present: *[word_count]u64,
    /// How many come before each word of it.
    ranks: *[word_count]u32,
    count: u32,

    const word_count = 0x110000 / 64;

    fn create(gpa: Allocator, lists: []const []const Found) error{OutOfMemory}!Numbers {
        const present = try gpa.create([word_count]u64);
        errdefer gpa.destroy(present);
        present.* = @splat(0);
        for (lists) |found| for (found) |item| {
            present[item.char / 64] |= bitOf(item.char);
        };
        const ranks = try gpa.create([word_count]u32);
        var count: u32 = 0;
        for (ranks, present) |*rank, word| {
            rank.* = count;
            count += @popCount(word);
        }
        return .{ .present = present, .ranks = ranks, .count = count };
    }

    fn destroy(self: *const Numbers, gpa: Allocator) void {
        gpa.destroy(self.present);
        gpa.destroy(self.ranks);
    }

    fn of(self: *const Numbers, char: u21) u32 {
        return self.ranks[char / 64] + @popCount(self.present[char / 64] & (bitOf(char) - 1));
    }

    /// `chars`: (count)
    fn list(self: *const Numbers, chars: []u21) void {
        for (self.present, self.ranks, 0..) |word, rank, index| {
            var left = word;
            var at = rank;
            while (left != 0) : (left &= left - 1) {
                chars[at] = @intCast(index * 64 + @ctz(left));
                at += 1;
            }
        }
    }

    fn bitOf(char: u21) u64 {
        return @as(u64, 1) << @intCast(char & 63);
    }
};

fn orderOf(char: u32, other: u21) std.math.Order {
    return std.math.order(char, other);
}

fn orderOfSpans(at: u32, begin: u32) std.math.Order {
    return std.math.order(at, begin);
}

test "tokens by the characters of a range" {
    const gpa = std.testing.allocator;
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    var first: [40]Found = undefined;
    var later: [20]Found = undefined;
    for (&first, 0..) |*found, token| found.* = .{ .char = @intCast(0x3000 - 8 * (token / 2)), .token = @intCast(token) };
    for (&later, 0..) |*found, token| found.* = .{ .char = @intCast(0x2fff - 8 * token), .token = @intCast(token) };
    const characters: Characters = try .create(arena_state.allocator(), gpa, &first, &later, 2);
    try std.testing.expectEqual(40, characters.chars.len);
    try std.testing.expectEqual(characters.chars.len, characters.find(0, 0x3001));
    for ([_][2]u21{ .{ 0, 0x110000 }, .{ 0x3000, 0x3001 }, .{ 0x2ff0, 0x3000 }, .{ 0x2f80, 0x2ff0 }, .{ 0x2f00, 0x2f70 } }) |range| {
        var expected: [2][2]u32 = @splat(@splat(0));
        for ([_][]const Found{ &first, &later }, &expected) |list, *set| for (list) |found| {
            if (found.char >= range[0] and found.char < range[1]) words.set(set, found.token);
        };
        var sets: [2][2]u32 = @splat(@splat(0));
        const begin = characters.find(0, range[0]);
        const end = characters.find(begin, range[1]);
        characters.add(&sets[0], &sets[1], begin, end);
        try std.testing.expectEqual(expected, sets);
        try std.testing.expectEqual(words.countOf(&sets[0]), characters.first.countIn(begin, end));
    }
    const none: Characters = try .create(arena_state.allocator(), gpa, &.{}, &.{}, 2);
    try std.testing.expectEqual(0, none.chars.len);
    try std.testing.expectEqual(0, none.find(0, 0x80));
}
