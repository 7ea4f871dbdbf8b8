//! Which short tokens begin with a character, and which have it later, as bit sets: what an automaton that only tells characters apart does
//! with the whole vocabulary, without walking over it. Characters beyond ASCII are gathered into a few signs by what each alphabet tells
//! apart; here they are kept one by one.
const std = @import("std");
const Allocator = std.mem.Allocator;
const words = @import("../stdx.zig").words;
const json_string = @import("json_string.zig");
const characters_room = @import("characters.zig");
pub const Characters = characters_room.Characters;
pub const Strings = @import("trie.zig").Strings;

/// A character below 0x80, or one of those that follow.
pub const Sign = u8;
/// Bytes that are no whole character.
pub const broken: Sign = 128;
/// From here on: characters beyond ASCII that an alphabet has in one class.
pub const beyond: Sign = 129;
pub const beyond_count = 31;
pub const count = beyond + beyond_count;

pub const Set = std.bit_set.Static(count);

/// Signs of which patterns often have none.
pub const groups = found: {
    var sets: [6]Set = @splat(.empty);
    for (&sets, [_][2]u8{ .{ '!', ',' }, .{ '0', '9' }, .{ ':', '@' }, .{ 'A', 'Z' }, .{ 'a', 'z' }, .{ '{', 0x7f } }) |*set, range| {
        set.setRangeValue(.{ .start = range[0], .end = range[1] + 1 }, true);
    }
    break :found sets;
};

/// A token with a quote after nothing but characters that stand for themselves.
pub const Quoted = struct {
    token: u32,
    /// Before the quote.
    characters: u16,
    /// `beyond` for every character beyond ASCII.
    first: Sign,
    first_char: u21,
    /// The signs between the first character and the quote, if they all have one without an alphabet.
    later: ?Set,
};

pub const Signs = struct {
    /// (beyond) tokens whose first character is this one, as bit sets; empty if there are none.
    first: *const [beyond][]const u32,
    /// (beyond) tokens that have it after their first character; of those in `quoted`, none.
    later: *const [beyond][]const u32,
    /// (groups) those that have some of each after their first character.
    later_groups: *const [groups.len][]const u32,
    characters: Characters,
    quoted: []const Quoted,
    /// (words) the same tokens, and those that begin with a quote.
    closing: []const u32,
    /// (bytes_max + 1) [n]: tokens of at most n characters, escapes as they are spelled.
    at_most: []const []const u32,
    /// (beyond) members of `first` and of `later`.
    first_counts: *const [beyond]u32,
    weights: *const [beyond]u32,
    /// (words) tokens whose first character stands for itself in a JSON string.
    begun: []const u32,
    /// (words) tokens that have, after their first character, something that never stands for itself in a JSON string (a quote, too), or no
    /// whole character.
    outside: []const u32,

    /// Of those tokens that have at most `bytes_max` bytes.
    pub fn create(arena: Allocator, gpa: Allocator, strings: Strings, tokens: []const u32, word_count: u32, bytes_max: usize) error{OutOfMemory}!Signs {
        const first = try arena.create([beyond][]u32);
        const later = try arena.create([beyond][]u32);
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
        var found_first: std.ArrayList(characters_room.Found) = .empty;
        defer found_first.deinit(gpa);
        var found_later: std.ArrayList(characters_room.Found) = .empty;
        defer found_later.deinit(gpa);
        for (tokens) |token| {
            const text = strings.get(token);
            // What begins within a character never stands between two.
            if (text.len == 0 or text.len > bytes_max or json_string.utf8Step(.text, text[0]) == null) continue;
            const begins = read(text);
            if (begins.sign == beyond) try found_first.append(gpa, .{ .char = begins.char, .token = token }) else try add(arena, &first[begins.sign], word_count, token);
            if (isInside(begins.sign)) words.set(begun, token);
            const mark = found_later.items.len;
            var seen: Set = .empty;
            var plain = isInside(begins.sign);
            var at = begins.bytes;
            var characters: u16 = 1;
            while (at < text.len) : (characters += 1) {
                const next = read(text[at..]);
                if (next.sign == '"' and plain) break;
                plain = plain and isInside(next.sign);
                if (next.sign == beyond) try found_later.append(gpa, .{ .char = next.char, .token = token }) else seen.set(next.sign);
                at += next.bytes;
            }
            words.set(at_most[characters], token);
            if (at < text.len or begins.sign == '"') {
                words.set(closing, token);
                words.set(outside, token);
                const signed = found_later.items.len == mark;
                found_later.shrinkRetainingCapacity(mark);
                if (begins.sign != '"') try quoted.append(arena, .{ .token = token, .characters = characters, .first = begins.sign, .first_char = begins.char, .later = if (signed) seen else null });
                continue;
            }
            var signs = seen.iterator(.{});
            while (signs.next()) |sign| {
                try add(arena, &later[sign], word_count, token);
                if (!isInside(@intCast(sign))) words.set(outside, token);
            }
        }
        const later_groups = try arena.create([groups.len][]u32);
        for (later_groups, groups) |*set, group| {
            set.* = try arena.alloc(u32, word_count);
            @memset(set.*, 0);
            for (later, 0..) |own, sign| if (own.len > 0 and group.isSet(sign)) words.orInto(set.*, own);
        }
        const first_counts = try arena.create([beyond]u32);
        for (first_counts, first) |*total, set| total.* = words.countOf(set);
        const weights = try arena.create([beyond]u32);
        for (weights, later) |*weight, set| weight.* = words.countOf(set);
        for (at_most[1..], at_most[0..bytes_max]) |more, fewer| words.orInto(more, fewer);
        const characters: Characters = try .create(arena, gpa, found_first.items, found_later.items, word_count);
        return .{ .quoted = quoted.items, .closing = closing, .first_counts = first_counts, .weights = weights, .at_most = at_most, .first = first, .later = later, .later_groups = later_groups, .characters = characters, .begun = begun, .outside = outside };
    }
};

/// Whether it stands for itself in a JSON string, and is whole characters.
pub fn isInside(sign: Sign) bool {
    return switch (sign) {
        0...0x1f, '"', '\\', broken => false,
        else => true,
    };
}

/// `sign`: `beyond` for every character beyond ASCII, and only of those there is a `char`.
const Read = struct { sign: Sign, char: u21 = 0, bytes: usize };

/// The character at the beginning of a text. What is no whole character takes the rest.
fn read(text: []const u8) Read {
    if (text[0] < 0x80) return .{ .sign = text[0], .bytes = 1 };
    const none: Read = .{ .sign = broken, .bytes = text.len };
    const length = std.unicode.utf8ByteSequenceLength(text[0]) catch return none;
    if (length > text.len) return none;
    const char = std.unicode.utf8Decode(text[0..length]) catch return none;
    return .{ .sign = beyond, .char = char, .bytes = length };
}

fn add(arena: Allocator, set: *[]u32, word_count: u32, token: u32) error{OutOfMemory}!void {
    if (set.len == 0) {
        set.* = try arena.alloc(u32, word_count);
        @memset(set.*, 0);
    }
    words.set(set.*, token);
}

test "tokens by their characters" {
    const gpa = std.testing.allocator;
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const texts = "aab\"é\xc3x\u{2028}y\u{d7}éé\"+Zlonger";
    const strings: Strings = .{ .bytes = texts, .offsets = &.{ 0, 1, 4, 6, 7, 11, 14, 19, 21, 27 } };
    try std.testing.expectEqualStrings("ab\"", strings.get(1));
    const signs: Signs = try .create(arena_state.allocator(), gpa, strings, &.{ 0, 1, 2, 3, 4, 5, 6, 7, 8 }, 1, 5);
    try std.testing.expectEqual(0b11, signs.first['a'][0]);
    try std.testing.expectEqual(0, signs.later['b'].len);
    try std.testing.expectEqual(2, signs.quoted.len);
    try std.testing.expectEqual(2, signs.quoted[0].characters);
    try std.testing.expect(signs.quoted[0].first == 'a' and signs.quoted[0].later.?.isSet('b') and signs.quoted[0].later.?.count() == 1);
    try std.testing.expect(signs.quoted[1].first == beyond and signs.quoted[1].first_char == 0xe9 and signs.quoted[1].later == null);
    try std.testing.expectEqual(0b1000010, signs.closing[0]);
    try std.testing.expectEqualSlices(u21, &.{ 0xd7, 0xe9, 0x2028 }, signs.characters.chars);
    try std.testing.expectEqual(0b1000100, signs.characters.first.all[0]);
    try std.testing.expectEqual(0b110000, signs.characters.later.all[0]);
    try std.testing.expectEqual(0b1000, signs.first[broken][0]);
    try std.testing.expectEqual(0b1000010, signs.outside[0]);
    try std.testing.expectEqual(0b11110111, signs.begun[0]);
    try std.testing.expectEqual(0b101, signs.at_most[1][0] & 0b111);
    try std.testing.expectEqual(0b11111111, signs.at_most[3][0]);
    try std.testing.expectEqual(0, signs.first['l'].len);
    try std.testing.expectEqual(0, signs.later['a'].len);
    for (groups, signs.later_groups) |group, set| try std.testing.expectEqual(@as(u32, if (group.isSet('Z')) 0b10000000 else 0), set[0]);
}
