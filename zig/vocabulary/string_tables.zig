//! Every token as the inside of a free JSON string sees it. A mask there is a constant bitmap for the tokens that stay inside, and the
//! tokens with a closing quote sorted by what follows it: only a few hundred different suffixes, in a trie of their own.
const std = @import("std");
const Allocator = std.mem.Allocator;
const json_string = @import("json_string.zig");
const Trie = @import("trie.zig").Trie;
const Strings = @import("trie.zig").Strings;

pub const Phase = json_string.Phase;
/// A token that stays inside but is not plain whole characters: it has an escape, or ends within a character.
pub const Open = struct {
    token: u32,
    /// Characters it completes.
    characters: u16,
    /// Where it ends; anything but `text` is one more character begun.
    end: json_string.State,
};

/// Beyond this length there are few tokens.
pub const short_bytes = 32;
const none: u32 = 0xffffffff;

pub const Character = struct { char: u21, token: u32 };

/// A token that closes the string.
pub const Closed = struct {
    token: u32,
    /// Characters before the quote.
    characters: u16,
    /// What follows the quote: an entry of `suffixes`.
    suffix: u32,
    /// Its first byte.
    first: u8,
};

pub const StringTables = struct {
    /// Bitmaps of the tokens of at most 0, 1, … whole unescaped characters.
    levels: []const []const u32,
    /// Longer ones, by rising number of characters.
    long: []const Long,
    /// Tokens by number of whole unescaped characters.
    counts: []const u32,
    /// By `json_string.Spelling`.
    by_spelling: [3]Spelled,
    /// [k]: tokens that write exactly k characters, at least.
    character_costs: [character_cost_count]u32,
    /// Every token that closes a string in some spelling.
    closing: Trie,
    suffix_strings: Strings,
    suffixes: Trie,
    /// The entry of the empty suffix, or `none`: a trie does not hold it.
    suffix_empty: u32,
    suffix_count: u32,
    /// Tokens that finish a character begun in each phase, at least; `unreachable_cost` if no tokens do.
    finish_cost: [json_string.utf8_phases]u32,
    /// Tokens that are one character beyond ASCII, by code point.
    characters: []const Character,
    /// (tokens) what follows the quote of each that closes a string in some spelling, or `none`.
    suffix_of: []const u32,
    /// Tokens of more than `short_bytes` bytes.
    long_tokens: Trie,
    /// Tokens that begin such a character and do not finish it; and those of several bytes in the middle or at the end of one.
    beginnings: []const u32,
    continuations: []const u32,

    pub const unreachable_cost: u32 = 0xffffffff;
    pub const Long = struct { token: u32, characters: u16 };
    pub const Spelled = struct {
        open: []const Open,
        /// All tokens that stay inside.
        interior: []const u32,
        /// Sorted by suffix; suffix s has closed[offsets[s]..offsets[s + 1]].
        closed: []const Closed,
        offsets: []const u32,

        /// Tokens with this after the quote.
        pub fn closedBy(self: *const Spelled, suffix: u32) []const Closed {
            return self.closed[self.offsets[suffix]..self.offsets[suffix + 1]];
        }
    };
    pub const level_count = 32;
    pub const character_cost_count = 257;

    /// As `character_costs`, for any number of characters; beyond the table the longest tokens repeat.
    pub fn characterCost(costs: *const [character_cost_count]u32, counts: []const u32, characters: u32) u32 {
        if (characters < character_cost_count) return costs[characters];
        var longest = @min(counts.len, character_cost_count) - 1;
        while (longest > 0 and counts[longest] == 0) longest -= 1;
        if (longest == 0) return unreachable_cost;
        const beyond = characters - (character_cost_count - 1);
        const rounds = (beyond + longest - 1) / longest;
        const rest = costs[characters - rounds * longest];
        return if (rest == unreachable_cost) rest else @intCast(@min(@as(u64, rest) + rounds, unreachable_cost - 1));
    }

    /// `counts[c]`: tokens of exactly c characters.
    pub fn characterCosts(counts: []const u32) [character_cost_count]u32 {
        var costs: [character_cost_count]u32 = @splat(unreachable_cost);
        costs[0] = 0;
        for (1..costs.len) |total| {
            for (1..@min(total + 1, counts.len)) |characters| {
                if (counts[characters] == 0 or costs[total - characters] == unreachable_cost) continue;
                costs[total] = @min(costs[total], costs[total - characters] + 1);
            }
        }
        return costs;
    }

    /// `tokens` are those that are text like their bytes.
    pub fn create(arena: Allocator, gpa: Allocator, strings: Strings, tokens: []const u32, words: u32) error{OutOfMemory}!StringTables {
        const finish_cost = finishCosts(strings, tokens);
        var levels: [level_count][]u32 = undefined;
        for (&levels) |*level| {
            level.* = try arena.alloc(u32, words);
            @memset(level.*, 0);
        }
        var long: std.ArrayList(Long) = .empty;
        var counts: std.ArrayList(u32) = .empty;
        var open: [3]std.ArrayList(Open) = @splat(.empty);
        var closed: [3]std.ArrayList(Closed) = @splat(.empty);
        var characters: std.ArrayList(Character) = .empty;
        var beginnings: std.ArrayList(u32) = .empty;
        var long_tokens: std.ArrayList(u32) = .empty;
        defer long_tokens.deinit(gpa);
        var continuations: std.ArrayList(u32) = .empty;
        var suffix_ids: std.StringHashMapUnmanaged(u32) = .empty;
        defer suffix_ids.deinit(gpa);
        var suffix_bytes: std.ArrayList(u8) = .empty;
        var suffix_offsets: std.ArrayList(u32) = .empty;
        try suffix_offsets.append(arena, 0);

        for (tokens) |token| {
            const text = strings.get(token);
            if (text.len == 0) continue;
            if (text.len > short_bytes) try long_tokens.append(gpa, token);
            if (text[0] >= 0x80 and text.len <= 4) {
                if (text[0] < 0xc0) {
                    if (isContinuation(text) and text.len > 1) try continuations.append(arena, token);
                } else if (utf8End(text)) |end| {
                    if (end != .text) {
                        try beginnings.append(arena, token);
                    } else try characters.append(arena, .{ .char = std.unicode.utf8Decode(text) catch continue, .token = token });
                }
            }
            for (std.enums.values(json_string.Spelling), 0..) |spelling, index| {
                const read = readInside(text, spelling) orelse continue;
                if (read.quote) |quote| {
                    const suffix = text[quote + 1 ..];
                    const known = try suffix_ids.getOrPut(gpa, suffix);
                    if (!known.found_existing) {
                        known.value_ptr.* = @intCast(suffix_offsets.items.len - 1);
                        try suffix_bytes.appendSlice(arena, suffix);
                        try suffix_offsets.append(arena, @intCast(suffix_bytes.items.len));
                    }
                    try closed[index].append(arena, .{ .token = token, .characters = read.characters, .suffix = known.value_ptr.*, .first = text[0] });
                } else if (read.escapes or read.end != json_string.State.start) {
                    const phase = @backingInt(read.end.phase);
                    if (phase < finish_cost.len and finish_cost[phase] == unreachable_cost) continue;
                    try open[index].append(arena, .{ .token = token, .characters = read.characters, .end = read.end });
                } else if (index == 0) {
                    if (counts.items.len <= read.characters) try counts.appendNTimes(arena, 0, read.characters + 1 - counts.items.len);
                    counts.items[read.characters] += 1;
                    if (read.characters < level_count) {
                        levels[read.characters][token >> 5] |= @as(u32, 1) << @intCast(token & 31);
                    } else {
                        try long.append(arena, .{ .token = token, .characters = read.characters });
                    }
                }
            }
        }
        for (levels[1..], levels[0 .. level_count - 1]) |level, below| for (level, below) |*word, less| {
            word.* |= less;
        };
        std.mem.sortUnstable(Character, characters.items, {}, struct {
            fn lessThan(_: void, a: Character, b: Character) bool {
                return a.char < b.char;
            }
        }.lessThan);
        std.mem.sortUnstable(Long, long.items, {}, struct {
            fn lessThan(_: void, a: Long, b: Long) bool {
                return a.characters < b.characters;
            }
        }.lessThan);

        const suffix_count: u32 = @intCast(suffix_offsets.items.len - 1);
        var by_spelling: [3]Spelled = undefined;
        for (&by_spelling, &open, &closed) |*spelled, *open_list, *closed_list| {
            const interior = try arena.dupe(u32, levels[level_count - 1]);
            for (long.items) |item| interior[item.token >> 5] |= @as(u32, 1) << @intCast(item.token & 31);
            for (open_list.items) |item| interior[item.token >> 5] |= @as(u32, 1) << @intCast(item.token & 31);
            std.mem.sortUnstable(Closed, closed_list.items, {}, struct {
                fn lessThan(_: void, a: Closed, b: Closed) bool {
                    return if (a.suffix != b.suffix) a.suffix < b.suffix else a.token < b.token;
                }
            }.lessThan);
            const offsets = try arena.alloc(u32, suffix_count + 1);
            var at: u32 = 0;
            for (offsets, 0..) |*offset, suffix| {
                while (at < closed_list.items.len and closed_list.items[at].suffix < suffix) at += 1;
                offset.* = at;
            }
            spelled.* = .{ .open = open_list.items, .interior = interior, .closed = closed_list.items, .offsets = offsets };
        }

        const closing = try gpa.alloc(u32, by_spelling[@backingInt(json_string.Spelling.spec)].closed.len);
        defer gpa.free(closing);
        for (closing, by_spelling[@backingInt(json_string.Spelling.spec)].closed) |*token, item| token.* = item.token;
        const suffix_of = try arena.alloc(u32, strings.offsets.len - 1);
        @memset(suffix_of, none);
        for (by_spelling[@backingInt(json_string.Spelling.spec)].closed) |item| suffix_of[item.token] = item.suffix;
        const suffix_strings: Strings = .{ .bytes = suffix_bytes.items, .offsets = suffix_offsets.items };
        const entries = try gpa.alloc(u32, suffix_count);
        defer gpa.free(entries);
        for (entries, 0..) |*entry, index| entry.* = @intCast(index);
        return .{
            .levels = try arena.dupe([]const u32, &levels),
            .long = long.items,
            .counts = counts.items,
            .character_costs = characterCosts(counts.items),
            .by_spelling = by_spelling,
            .closing = try Trie.create(arena, strings, closing, null, false),
            .suffix_strings = suffix_strings,
            .suffixes = try Trie.create(arena, suffix_strings, entries, null, false),
            .suffix_empty = suffix_ids.get("") orelse 0xffffffff,
            .suffix_count = suffix_count,
            .finish_cost = finish_cost,
            .characters = characters.items,
            .suffix_of = suffix_of,
            .long_tokens = try Trie.create(arena, strings, long_tokens.items, null, false),
            .beginnings = beginnings.items,
            .continuations = continuations.items,
        };
    }
};

pub const Inside = struct {
    characters: u16 = 0,
    escapes: bool = false,
    end: json_string.State = .start,
    /// Where the closing quote is.
    quote: ?usize = null,
};

/// A token read from between two characters of a string up to its closing quote; null if it cannot stand there.
pub fn readInside(text: []const u8, spelling: json_string.Spelling) ?Inside {
    var read: Inside = .{};
    for (text, 0..) |byte, at| switch (json_string.step(read.end, byte, spelling)) {
        .dead => return null,
        .inside => |state| {
            read.end = state;
            read.escapes = true;
        },
        .raw => |state| {
            read.end = state;
            if (state.phase == .text) read.characters += 1;
        },
        .char => {
            read.end = .start;
            read.characters += 1;
        },
        .close => {
            read.quote = at;
            return read;
        },
    };
    return read;
}

fn isContinuation(text: []const u8) bool {
    return for (text) |byte| {
        if (byte & 0xc0 != 0x80) break false;
    } else text.len < 4;
}

/// The phase after at most one character; null if it is none, or more than one.
fn utf8End(text: []const u8) ?Phase {
    var phase: Phase = .text;
    for (text, 0..) |byte, at| {
        if (at > 0 and phase == .text) return null;
        phase = json_string.utf8Step(phase, byte) orelse return null;
    }
    return phase;
}

/// Tokens made of continuation bytes alone lead from phase to phase; a shortest path to `text`.
fn finishCosts(strings: Strings, tokens: []const u32) [json_string.utf8_phases]u32 {
    var cost: [json_string.utf8_phases]u32 = @splat(StringTables.unreachable_cost);
    cost[0] = 0;
    // A character has at most three continuation bytes, so three rounds reach everything.
    for (0..3) |_| for (tokens) |token| {
        const text = strings.get(token);
        if (text.len == 0 or text.len > 3 or text[0] & 0xc0 != 0x80) continue;
        for (1..cost.len) |start| {
            const end = finishPhase(@fromBackingInt(@as(u8, @intCast(start))), text) orelse continue;
            cost[start] = @min(cost[start], cost[@backingInt(end)] +| 1);
        }
    };
    return cost;
}

fn finishPhase(start: Phase, text: []const u8) ?Phase {
    var phase = start;
    for (text) |byte| {
        if (phase == .text) return null;
        phase = json_string.utf8Step(phase, byte) orelse return null;
    }
    return phase;
}
