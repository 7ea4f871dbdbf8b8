//! Which short tokens begin with a character, and which have it later, as bit sets: what an automaton that only tells characters apart does
//! with the whole vocabulary, without walking over it. Characters beyond ASCII are a few signs, as patterns rarely tell many of them
//! apart.
const std = @import("std");
const Allocator = std.mem.Allocator;
const words = @import("../stdx.zig").words;
const json_string = @import("json_string.zig");
const Strings = @import("trie.zig").Strings;

/// A character below 0x80, or one of those that follow.
pub const Sign = u8;
/// Characters beyond ASCII that are no white space: the Latin ones, and all others.
pub const latin: Sign = 128;
pub const beyond: Sign = 129;
/// White space beyond ASCII, as ECMAScript's `\s` has it.
pub const space: Sign = 130;
/// Bytes that are no whole character.
pub const broken: Sign = 131;
pub const count = 132;

pub const Set = std.bit_set.Static(count);

/// A token with a quote after nothing but characters that stand for themselves.
pub const Quoted = struct {
    token: u32,
    /// Before the quote.
    characters: u16,
    first: Sign,
    /// The signs between the first character and the quote.
    later: Set,
};

pub const Signs = struct {
    /// (count) tokens whose first character is this one, as bit sets; empty if there are none.
    first: *const [count][]const u32,
    /// (count) tokens that have it after their first character; of those in `quoted`, none.
    later: *const [count][]const u32,
    quoted: []const Quoted,
    /// (words) the same tokens, and those that begin with a quote.
    closing: []const u32,
    /// (bytes_max + 1) [n]: tokens of at most n characters, escapes as they are spelled.
    at_most: []const []const u32,
    /// (count) members of `first` and of `later`.
    first_counts: *const [count]u32,
    weights: *const [count]u32,
    /// (words) tokens whose first character stands for itself in a JSON string, and is no white space beyond ASCII.
    begun: []const u32,
    /// (words) tokens that have, after their first character, something that never stands for itself in a JSON string (a quote, too),
    /// white space beyond ASCII, or no whole character.
    outside: []const u32,

    /// Of those tokens that have at most `bytes_max` bytes.
    pub fn create(arena: Allocator, strings: Strings, tokens: []const u32, word_count: u32, bytes_max: usize) error{OutOfMemory}!Signs {
        const first = try arena.create([count][]u32);
        const later = try arena.create([count][]u32);
        first.* = @splat(&.{});
        later.* = @splat(&.{});
        const at_most = try arena.alloc([]u32, bytes_max + 1);
        for (at_most) |*set| {
            set.* = try arena.alloc(u32, word_count);
            @memset(set.*, 0);
        }
        const outside = try arena.alloc(u32, word_count);
        @memset(outside, 0);
        const begun = try arena.alloc(u32, word_count);
        @memset(begun, 0);
        const closing = try arena.alloc(u32, word_count);
        @memset(closing, 0);
        var quoted: std.ArrayList(Quoted) = .empty;
        for (tokens) |token| {
            const text = strings.get(token);
            // What begins within a character never stands between two.
            if (text.len == 0 or text.len > bytes_max or json_string.utf8Step(.text, text[0]) == null) continue;
            const begins, const length = read(text);
            try add(arena, &first[begins], word_count, token);
            if (isInside(begins)) words.set(begun, token);
            var seen: Set = .empty;
            var plain = isInside(begins);
            var at = length;
            var characters: u16 = 1;
            while (at < text.len) : (characters += 1) {
                const sign, const bytes = read(text[at..]);
                if (sign == '"' and plain) break;
                plain = plain and isInside(sign);
                seen.set(sign);
                at += bytes;
            }
            words.set(at_most[characters], token);
            if (at < text.len or begins == '"') {
                words.set(closing, token);
                words.set(outside, token);
                if (begins != '"') try quoted.append(arena, .{ .token = token, .characters = characters, .first = begins, .later = seen });
                continue;
            }
            var signs = seen.iterator(.{});
            while (signs.next()) |sign| {
                try add(arena, &later[sign], word_count, token);
                if (!isInside(@intCast(sign))) words.set(outside, token);
            }
        }
        const first_counts = try arena.create([count]u32);
        for (first_counts, first) |*total, set| total.* = words.countOf(set);
        const weights = try arena.create([count]u32);
        for (weights, later) |*weight, set| weight.* = words.countOf(set);
        for (at_most[1..], at_most[0..bytes_max]) |more, fewer| words.orInto(more, fewer);
        return .{ .quoted = quoted.items, .closing = closing, .first_counts = first_counts, .weights = weights, .at_most = at_most, .first = first, .later = later, .begun = begun, .outside = outside };
    }
};

/// Whether it stands for itself in a JSON string, and is one character or alike for patterns.
pub fn isInside(sign: Sign) bool {
    return switch (sign) {
        0...0x1f, '"', '\\', space, broken => false,
        else => true,
    };
}

pub fn signOf(char: u21) Sign {
    if (char < 0x80) return @intCast(char);
    if (std.mem.findScalar(u21, &spaces, char) != null) return space;
    return if (char < latin_end) latin else beyond;
}

/// Adds the signs that code points of a range have.
pub fn addRange(set: *Set, first: u32, end: u32) void {
    if (first < 0x80) set.setRangeValue(.{ .start = first, .end = @min(end, 0x80) }, true);
    for ([_][2]u32{ .{ 0x80, latin_end }, .{ latin_end, 0x110000 } }, [_]Sign{ latin, beyond }) |range, sign| {
        const begin = @max(first, range[0]);
        const stop = @min(end, range[1]);
        if (begin >= stop) continue;
        var white: u32 = 0;
        for (spaces) |char| white += @intFromBool(char >= begin and char < stop);
        if (white > 0) set.set(space);
        if (white < stop - begin) set.set(sign);
        set.set(broken);
    }
}

/// After Latin Extended-B.
const latin_end = 0x250;

/// White space beyond ASCII, rising.
const spaces = [_]u21{
    0xa0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f,
    0x3000, 0xfeff,
};

/// The sign at the beginning of a text, and its bytes. What is no whole character takes the rest.
fn read(text: []const u8) struct { Sign, usize } {
    if (text[0] < 0x80) return .{ text[0], 1 };
    const length = std.unicode.utf8ByteSequenceLength(text[0]) catch return .{ broken, text.len };
    if (length > text.len) return .{ broken, text.len };
    const char = std.unicode.utf8Decode(text[0..length]) catch return .{ broken, text.len };
    return .{ signOf(char), length };
}

fn add(arena: Allocator, set: *[]u32, word_count: u32, token: u32) error{OutOfMemory}!void {
    if (set.len == 0) {
        set.* = try arena.alloc(u32, word_count);
        @memset(set.*, 0);
    }
    words.set(set.*, token);
}

test "tokens by their characters" {
    var arena_state: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    const texts = "aab\"é\xc3x\u{2028}y\u{d7}longer";
    const strings: Strings = .{ .bytes = texts, .offsets = &.{ 0, 1, 4, 6, 7, 11, 14, 20 } };
    try std.testing.expectEqualStrings("ab\"", strings.get(1));
    const signs: Signs = try .create(arena, strings, &.{ 0, 1, 2, 3, 4, 5, 6 }, 1, 5);
    try std.testing.expectEqual(0b11, signs.first['a'][0]);
    try std.testing.expectEqual(0, signs.later['b'].len);
    try std.testing.expectEqual(1, signs.quoted.len);
    try std.testing.expectEqual(2, signs.quoted[0].characters);
    try std.testing.expect(signs.quoted[0].first == 'a' and signs.quoted[0].later.isSet('b') and signs.quoted[0].later.count() == 1);
    try std.testing.expectEqual(0b10, signs.closing[0]);
    try std.testing.expectEqual(0b100, signs.first[latin][0]);
    try std.testing.expectEqual(0b1000, signs.first[broken][0]);
    try std.testing.expectEqual(0b10000, signs.later[space][0]);
    try std.testing.expectEqual(0b100000, signs.later[latin][0]);
    try std.testing.expectEqual(0b10010, signs.outside[0]);
    try std.testing.expectEqual(0b110111, signs.begun[0]);
    try std.testing.expectEqual(0b101, signs.at_most[1][0] & 0b111);
    try std.testing.expectEqual(0b111111, signs.at_most[3][0]);
    try std.testing.expectEqual(1, signs.weights[latin]);
    try std.testing.expectEqual(0, signs.first['l'].len);
    try std.testing.expectEqual(0, signs.later['a'].len);
}

test "signs of ranges are those of their characters" {
    for ([_][2]u21{ .{ 0, 0x20 }, .{ 0x61, 0x81 }, .{ 0xa0, 0xa1 }, .{ 0x24f, 0x251 }, .{ 0x2028, 0x202a }, .{ 0x2027, 0x202b }, .{ 0x80, 0x3001 } }) |range| {
        var expected: Set = .empty;
        for (range[0]..range[1]) |char| {
            expected.set(signOf(@intCast(char)));
            if (char >= 0x80) expected.set(broken);
        }
        var found: Set = .empty;
        addRange(&found, range[0], range[1]);
        try std.testing.expect(found.eql(expected));
    }
}
