//! Masks inside patterns against single tokens, where counters are large and tokens long: what a view of a state leaves out must not matter.
const std = @import("std");
const words = @import("../stdx.zig").words;
const vocabulary_room = @import("../vocabulary.zig");
const ir = @import("ir.zig");
const encode = @import("encode.zig").encode;
const Program = @import("program.zig").Program;
const Matcher = @import("matcher.zig").Matcher;
const unlimited = @import("matcher.zig").unlimited;

const none = ir.none;
const gpa = std.testing.allocator;

test "masks inside patterns with large counters are what single tokens say" {
    const seed = std.testing.random_seed;
    errdefer std.debug.print("seed {d}\n", .{seed});
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var tokens: std.ArrayList([]const u8) = .empty;
    for (0x20..0x7f) |byte| try tokens.append(arena, try arena.dupe(u8, &.{@intCast(byte)}));
    for ([_][]const u8{ "a", "b", "ab", "a-", "é" }) |piece| for ([_]usize{ 2, 3, 7, 15, 16, 17, 20, 33, 50 }) |count| {
        const text = try arena.alloc(u8, piece.len * count);
        for (0..count) |index| @memcpy(text[index * piece.len ..][0..piece.len], piece);
        for ([_][]const u8{ "", "\"", "\"}", "\",", "b", "-", "b\"" }) |tail| try tokens.append(arena, try std.mem.concat(arena, u8, &.{ text, tail }));
    };
    try tokens.appendSlice(arena, &.{ "\xc3", "\xa9", "{\"k\":\"", "\"}", "<end>" });
    const vocabulary = try vocabulary_room.forTest(gpa, tokens.items, &.{.control});
    defer vocabulary.destroy(gpa);
    const stop: u32 = @intCast(tokens.items.len - 1);

    const regexes = [_]ir.Regex{
        .{ .class = &.{ .{ .first = 'a', .last = 'a' }, .{ .first = 0xe9, .last = 0xe9 } } },
        .{ .class = &.{ .{ .first = '-', .last = '-' }, .{ .first = 'a', .last = 'b' } } },
        .{ .class = &.{.{ .first = 'b', .last = 'b' }} },
        .{ .repeat = .{ .item = 1, .min = 0, .max = 45 } },
        // a, then up to 45, then b
        .{ .concat = &.{ 0, 3, 2 } },
        .{ .repeat = .{ .item = 0, .min = 18, .max = 60 } },
        .{ .@"union" = &.{ 4, 5 } },
        .{ .repeat = .{ .item = 1, .min = 3, .max = 70 } },
        .{ .concat = &.{ 0, 2 } },
        .{ .repeat = .{ .item = 8, .min = 0, .max = 40 } },
        .{ .concat = &.{ 0, 7 } },
        .{ .repeat = .{ .item = 1, .min = 0, .max = none } },
        .{ .complement = 4 },
        .{ .intersection = &.{ 11, 12 } },
        .{ .concat = &.{ 11, 2, 11 } },
        // All but a quote, a dash and a backslash.
        .{ .class = &.{
            .{ .first = 0x20, .last = 0x21 },       .{ .first = 0x23, .last = 0x2c }, .{ .first = 0x2e, .last = 0x5b }, .{ .first = 0x5d, .last = 0xd7ff },
            .{ .first = 0xe000, .last = 0x10ffff },
        } },
        .{ .repeat = .{ .item = 15, .min = 0, .max = none } },
        .{ .concat = &.{ 16, 2 } },
        .{ .concat = &.{ 0, 16 } },
        .{ .repeat = .{ .item = 15, .min = 0, .max = 45 } },
        .{ .concat = &.{ 0, 19 } },
        .{ .class = &.{.{ .first = 'a', .last = 'z' }} },
        .{ .repeat = .{ .item = 21, .min = 1, .max = none } },
        .{ .concat = &.{ 1, 16, 1, 22 } },
        // Words with dashes between them, a few of them.
        .{ .class = &.{.{ .first = '-', .last = '-' }} },
        .{ .repeat = .{ .item = 24, .min = 1, .max = none } },
        .{ .concat = &.{ 22, 25 } },
        .{ .repeat = .{ .item = 26, .min = 0, .max = 13 } },
        .{ .concat = &.{ 27, 22 } },
        .{ .repeat = .{ .item = 8, .min = 2, .max = 14 } },
        // Searches for texts, and texts without them.
        .{ .class = &.{ .{ .first = 0, .last = 0xd7ff }, .{ .first = 0xe000, .last = 0x10ffff } } },
        .{ .repeat = .{ .item = 30, .min = 0, .max = none } },
        .{ .repeat = .{ .item = 8, .min = 4, .max = 4 } },
        .{ .concat = &.{ 31, 32, 31 } },
        .{ .concat = &.{ 31, 24, 22, 31 } },
        .{ .@"union" = &.{ 33, 34 } },
        .{ .intersection = &.{ 33, 34 } },
        .{ .complement = 33 },
        .{ .intersection = &.{ 37, 34 } },
    };
    for ([_]Case{
        .{ .regex = 4 },             .{ .regex = 5 },                          .{ .regex = 6 },                       .{ .regex = 7 },
        .{ .regex = 9 },             .{ .regex = 10 },                         .{ .regex = 11, .max = 40 },           .{ .regex = 11, .min = 19, .max = 55 },
        .{ .regex = 14, .max = 30 }, .{ .regex = 9, .max = 33 },               .{ .regex = 9, .min = 21 },            .{ .regex = 9, .min = 5, .max = 51 },
        .{ .regex = 16 },            .{ .regex = 17 },                         .{ .regex = 18 },                      .{ .regex = 20 },
        .{ .regex = 28 },            .{ .regex = 28, .max = 44 },              .{ .regex = 29 },                      .{ .regex = 16, .max = 42 },
        .{ .regex = 22 },            .{ .regex = 23 },                         .{ .regex = 22, .min = 4, .max = 38 }, .{ .regex = 13, .min = 0, .max = 41 },
        .{ .regex = 6, .max = 47 },  .{ .regex = 14, .min = 20, .max = none }, .{ .regex = 33 },                      .{ .regex = 33, .max = 40 },
        .{ .regex = 33, .min = 30 }, .{ .regex = 35 },                         .{ .regex = 36 },                      .{ .regex = 36, .max = 50 },
        .{ .regex = 37 },            .{ .regex = 38 },
    }, 0..) |case, index| {
        errdefer std.debug.print("case {d}\n", .{index});
        const program = try programOf(vocabulary, &regexes, case, if (index % 2 == 0) .spec else .canonical);
        defer program.destroy();
        for (0..12) |round| try expectSingles(arena, program, stop, round % 3 == 2, seed +% index *% 1000 +% round);
    }
}

test "masks inside random patterns are what single tokens say" {
    try expectRandom(&.{
        .classes = &.{
            &.{.{ .first = 'a', .last = 'a' }},
            &.{.{ .first = 'a', .last = 'b' }},
            &.{ .{ .first = '-', .last = '-' }, .{ .first = 0xe9, .last = 0xe9 } },
            &.{ .{ .first = 0, .last = 0xd7ff }, .{ .first = 0xe000, .last = 0x10ffff } },
            &.{ .{ .first = 0, .last = 9 }, .{ .first = 0xb, .last = 0x2027 }, .{ .first = 0x202a, .last = 0xd7ff }, .{ .first = 0xe000, .last = 0x10ffff } },
            &.{ .{ .first = 0, .last = 'a' - 1 }, .{ .first = 'c', .last = 0xd7ff }, .{ .first = 0xe000, .last = 0x10ffff } },
        },
        .pieces = &.{ "a", "b", "ab", "-", "é", "中", "\u{2028}", "\\n", "\\\\", "\\/", "\\u0061", "\n" },
        .tails = &.{ "\"", "\"}", "\xc3", "\xe2\x80", "\xe4", "\xf1", "\\", "\\u00", "\\\"", "" },
    });
}

test "masks inside random patterns of kinds of characters are what single tokens say" {
    try expectRandom(&.{
        .classes = &.{
            &.{.{ .first = '0', .last = '9' }},
            &.{.{ .first = 'a', .last = 'z' }},
            &.{ .{ .first = 'A', .last = 'Z' }, .{ .first = 'a', .last = 'z' } },
            &.{ .{ .first = '0', .last = '9' }, .{ .first = 'a', .last = 'f' } },
            &.{ .{ .first = 'G', .last = 'G' }, .{ .first = 'K', .last = 'K' }, .{ .first = 'M', .last = 'M' }, .{ .first = 'g', .last = 'g' }, .{ .first = 'k', .last = 'k' }, .{ .first = 'm', .last = 'm' } },
            &.{ .{ .first = '-', .last = '.' }, .{ .first = ' ', .last = ' ' } },
            &.{.{ .first = '.', .last = '.' }},
            &.{ .{ .first = 0, .last = ' ' }, .{ .first = '0', .last = 0xd7ff }, .{ .first = 0xe000, .last = 0x10ffff } },
        },
        .pieces = &.{ "0", "12", "000", "7", "abc", "e", "f", "xyz", "the", "A", "HTTP", "k", "MG", "-", ".", " ", "é" },
        .tails = &.{ "\"", "", "", "", "\"}", "\\", "\xc3" },
        // Digits lead back to where they were read, one letter to the end.
        .first = &.{
            .{ .class = &.{.{ .first = '0', .last = '9' }} },
            .{ .repeat = .{ .item = 0, .min = 1, .max = none } },
            .{ .class = &.{ .{ .first = 'G', .last = 'G' }, .{ .first = 'K', .last = 'K' }, .{ .first = 'M', .last = 'M' }, .{ .first = 'g', .last = 'g' }, .{ .first = 'k', .last = 'k' }, .{ .first = 'm', .last = 'm' } } },
            .{ .repeat = .{ .item = 2, .min = 0, .max = 1 } },
            .{ .concat = &.{ 1, 3 } },
        },
    });
}

test "masks inside text without words are what single tokens say" {
    const seed = std.testing.random_seed;
    errdefer std.debug.print("seed {d}\n", .{seed});
    var prng: std.Random.DefaultPrng = .init(seed);
    const random = prng.random();
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var tokens: std.ArrayList([]const u8) = .empty;
    for (0x20..0x7f) |byte| try tokens.append(arena, try arena.dupe(u8, &.{@intCast(byte)}));
    // Few have all letters of a word.
    for (0..300) |_| {
        const text = try arena.alloc(u8, 1 + random.uintLessThan(usize, 6));
        for (text) |*byte| byte.* = 'a' + random.uintLessThan(u8, 26);
        try tokens.append(arena, text);
    }
    for (0..20) |_| try tokens.appendSlice(arena, &.{ "wor", "wo", "ord", "rd", "si", "gn", "ign" });
    try tokens.appendSlice(arena, &.{ "xword", "word", "drow", "wor\"", "d\"", "sword\"", "sig", "gni", "sign\"", "design", "é", "\xc3", "\xa9", "{\"k\":\"", "\"}", "<end>" });
    const vocabulary = try vocabulary_room.forTest(gpa, tokens.items, &.{.control});
    defer vocabulary.destroy(gpa);
    var regexes: std.ArrayList(ir.Regex) = .empty;
    try regexes.appendSlice(arena, &.{
        .{ .class = &.{ .{ .first = 0, .last = 0xd7ff }, .{ .first = 0xe000, .last = 0x10ffff } } },
        .{ .repeat = .{ .item = 0, .min = 0, .max = none } },
    });
    for ([_][]const u8{ "word", "sign" }) |word| {
        const items = try arena.alloc(u32, word.len + 2);
        items[0] = 1;
        items[word.len + 1] = 1;
        for (word, items[1 .. word.len + 1]) |letter, *item| {
            item.* = @intCast(regexes.items.len);
            try regexes.append(arena, .{ .class = try arena.dupe(ir.Regex.Range, &.{.{ .first = letter, .last = letter }}) });
        }
        try regexes.append(arena, .{ .concat = items });
        try regexes.append(arena, .{ .complement = @intCast(regexes.items.len - 1) });
    }
    // word: 2 to 5, 6, and without 7; sign: 8 to 11, 12, and without 13.
    try regexes.appendSlice(arena, &.{ .{ .intersection = &.{ 7, 13 } }, .{ .intersection = &.{ 7, 12 } } });
    for ([_]Case{
        .{ .regex = 7 },  .{ .regex = 7, .max = 60 },  .{ .regex = 14 },            .{ .regex = 14, .min = 9 },
        .{ .regex = 15 }, .{ .regex = 15, .max = 50 }, .{ .regex = 14, .max = 20 },
    }, 0..) |case, index| {
        errdefer std.debug.print("case {d}\n", .{index});
        const program = try programOf(vocabulary, regexes.items, case, .spec);
        defer program.destroy();
        for (0..8) |round| try expectSingles(arena, program, @intCast(tokens.items.len - 1), round % 4 == 3, random.int(u64));
    }
}

test "an escape that a token begins is paid beside what has to follow" {
    var tokens: [0x7f - 0x20 + 3][]const u8 = undefined;
    const bytes = "\xc3\xa9" ++ comptime ascii: {
        var all: [0x7f - 0x20]u8 = undefined;
        for (&all, 0x20..) |*byte, char| byte.* = char;
        break :ascii all;
    };
    for (tokens[1..], 0..) |*token, index| token.* = bytes[index..][0..1];
    tokens[0] = "{\"k\":\"";
    const vocabulary = try vocabulary_room.forTest(gpa, &tokens, &.{});
    defer vocabulary.destroy(gpa);
    const regexes = [_]ir.Regex{
        .{ .class = &.{.{ .first = 0xe9, .last = 0xe9 }} },
        .{ .class = &.{.{ .first = 'a', .last = 'a' }} },
        .{ .repeat = .{ .item = 1, .min = 3, .max = none } },
        .{ .concat = &.{ 0, 2 } },
    };
    const program = try programOf(vocabulary, &regexes, .{ .regex = 3, .max = 40 }, .spec);
    defer program.destroy();
    const matcher = try Matcher.create(gpa, program, &.{});
    defer matcher.destroy();
    try std.testing.expect(try matcher.accept(0));
    for (1..30) |left| {
        var out: [(tokens.len + 31) / 32]u32 = undefined;
        try matcher.mask(&out, @intCast(left));
        for (0..tokens.len) |token| try std.testing.expectEqual(try matcher.allowed(@intCast(token), @intCast(left)), words.isSet(&out, @intCast(token)));
    }
}

test "masks beside items that were there are what single tokens say" {
    const seed = std.testing.random_seed;
    errdefer std.debug.print("seed {d}\n", .{seed});
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    // Single bytes, and pieces of items and of what is between them.
    var tokens: std.ArrayList([]const u8) = .empty;
    for (0x20..0x7f) |byte| try tokens.append(arena, try arena.dupe(u8, &.{@intCast(byte)}));
    try tokens.appendSlice(arena, &.{ "\",\"", "ab", "ba", "aab", "b\"", "ab\"", "\"a\"", "ba\"]", "a\",\"", "a\",\"a", "[\"a", "\\u006", "061", "<end>" });
    const vocabulary = try vocabulary_room.forTest(gpa, tokens.items, &.{.control});
    defer vocabulary.destroy(gpa);
    const stop: u32 = @intCast(tokens.items.len - 1);
    const regexes = [_]ir.Regex{
        .{ .class = &.{.{ .first = 'a', .last = 'b' }} },
        .{ .repeat = .{ .item = 0, .min = 1, .max = none } },
        .{ .repeat = .{ .item = 0, .min = 0, .max = 3 } },
    };
    const among: ir.Case = .{ .string = .{ .length_min = 0, .length_max = none, .among = &.{ "a", "ab", "b" } } };
    for ([_][]const ir.Case{
        &.{.{ .string = .{ .length_min = 0, .length_max = none, .regex = 1 } }},
        &.{.{ .string = .{ .length_min = 2, .length_max = 4, .regex = 1 } }},
        &.{.{ .string = .{ .length_min = 0, .length_max = none, .regex = 2 } }},
        &.{ .{ .string = .{ .length_min = 2, .length_max = none, .regex = 1 } }, among },
        &.{.{ .string = .{ .length_min = 1, .length_max = 5 } }},
    }, 0..) |cases, index| {
        errdefer std.debug.print("case {d}\n", .{index});
        const bytes = try encode(gpa, .{
            .nodes = &.{.{ .json = .{ .value = 0, .style = .{ .free_space = true, .whitespace_max = 3, .spelling = .spec } } }},
            .values = &.{
                .{ .origin = 0, .cases = &.{.{ .array = .{ .rest = &.{.{ .value = 1 }}, .unique = true } }} },
                .{ .origin = 1, .cases = cases },
            },
            .regexes = &regexes,
            .root = 0,
        });
        defer gpa.free(bytes);
        var refusal: ir.Refusal = .{};
        const program = try Program.create(gpa, vocabulary, bytes, &refusal);
        defer program.destroy();
        for (0..12) |round| try expectSingles(arena, program, stop, round % 3 == 2, seed +% index *% 1000 +% round);
    }
}

const Case = struct { regex: u32, min: u32 = 0, max: u32 = none };

/// Of an object whose only key has a string of this regex.
fn programOf(vocabulary: *const vocabulary_room.Vocabulary, regexes: []const ir.Regex, case: Case, spelling: ir.Style.Spelling) !*Program {
    const bytes = try encode(gpa, .{
        .nodes = &.{.{ .json = .{ .value = 0, .style = .{ .free_space = true, .whitespace_max = 3, .spelling = spelling } } }},
        .values = &.{
            .{ .origin = 0, .cases = &.{.{ .object = .{ .properties = &.{.{ .key = "k", .required = true, .options = &.{.{ .value = 1 }} }} } }} },
            .{ .origin = 1, .cases = &.{.{ .string = .{ .length_min = case.min, .length_max = case.max, .regex = case.regex } }} },
        },
        .regexes = regexes,
        .root = 0,
    });
    defer gpa.free(bytes);
    var refusal: ir.Refusal = .{};
    return Program.create(gpa, vocabulary, bytes, &refusal);
}

/// What random patterns and the tokens that they are held against are made of.
const Material = struct {
    classes: []const []const ir.Regex.Range,
    pieces: []const []const u8,
    tails: []const []const u8,
    /// The first pattern, whose root is the last regex; without one, it is random as the others are.
    first: []const ir.Regex = &.{},
};

fn expectRandom(material: *const Material) !void {
    const seed = std.testing.random_seed;
    errdefer std.debug.print("seed {d}\n", .{seed});
    var prng: std.Random.DefaultPrng = .init(seed);
    const random = prng.random();
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var tokens: std.ArrayList([]const u8) = .empty;
    for (0x20..0x7f) |byte| try tokens.append(arena, try arena.dupe(u8, &.{@intCast(byte)}));
    for (0..400) |_| {
        var text: std.ArrayList(u8) = .empty;
        for (0..random.uintAtMost(usize, 6)) |_| try text.appendSlice(arena, material.pieces[random.uintLessThan(usize, material.pieces.len)]);
        try text.appendSlice(arena, material.tails[random.uintLessThan(usize, material.tails.len)]);
        if (text.items.len > 0) try tokens.append(arena, text.items);
    }
    try tokens.appendSlice(arena, &.{ "\xa9", "\xa8", "\xb8", "\xad", "{\"k\":\"", "\"}", "<end>" });
    const vocabulary = try vocabulary_room.forTest(gpa, tokens.items, &.{.control});
    defer vocabulary.destroy(gpa);
    var followed: usize = 0;
    for (0..60) |round| {
        var regexes: std.ArrayList(ir.Regex) = .empty;
        if (round == 0) try regexes.appendSlice(arena, material.first);
        const root = if (regexes.items.len > 0) @as(u32, @intCast(regexes.items.len - 1)) else try randomRegex(arena, random, material.classes, &regexes, 4);
        const max: u32 = if (random.uintLessThan(u32, 3) == 0) 4 + random.uintLessThan(u32, 40) else none;
        const program = programOf(vocabulary, regexes.items, .{ .regex = root, .max = max }, if (round % 2 == 0) .spec else .canonical) catch |failure| switch (failure) {
            error.Refused => continue,
            else => return failure,
        };
        defer program.destroy();
        errdefer for (regexes.items, 0..) |regex, index| std.debug.print("{d}: {any}\n", .{ index, regex });
        for (0..3) |turn| try expectSingles(arena, program, @intCast(tokens.items.len - 1), turn == 2, random.int(u64));
        followed += 1;
    }
    try std.testing.expect(followed > 0);
}

/// Adds a regex of some depth; its index.
fn randomRegex(arena: std.mem.Allocator, random: std.Random, classes: []const []const ir.Regex.Range, regexes: *std.ArrayList(ir.Regex), depth: usize) !u32 {
    const kinds = [_]std.meta.Tag(ir.Regex){ .class, .concat, .concat, .@"union", .repeat, .repeat, .intersection, .complement };
    const kind = if (depth == 0) .class else kinds[random.uintLessThan(usize, kinds.len)];
    const regex: ir.Regex = switch (kind) {
        .class => .{ .class = classes[random.uintLessThan(usize, classes.len)] },
        .concat, .@"union", .intersection => items: {
            const items = try arena.alloc(u32, 2 + random.uintLessThan(usize, 2));
            for (items) |*item| item.* = try randomRegex(arena, random, classes, regexes, depth - 1);
            break :items switch (kind) {
                .concat => .{ .concat = items },
                .@"union" => .{ .@"union" = items },
                else => .{ .intersection = items },
            };
        },
        .complement => .{ .complement = try randomRegex(arena, random, classes, regexes, depth - 1) },
        .repeat => .{ .repeat = .{
            .item = try randomRegex(arena, random, classes, regexes, depth - 1),
            .min = random.uintLessThan(u32, 3),
            .max = if (random.boolean()) none else 3 + random.uintLessThan(u32, 30),
        } },
    };
    try regexes.append(arena, regex);
    return @intCast(regexes.items.len - 1);
}

/// Follows a random output, comparing each mask with what every token says by itself.
fn expectSingles(arena: std.mem.Allocator, program: *Program, stop: u32, limited: bool, seed: u64) !void {
    const vocabulary = program.vocabulary;
    var prng: std.Random.DefaultPrng = .init(seed);
    const random = prng.random();
    const matcher = try Matcher.create(gpa, program, &.{stop});
    defer matcher.destroy();
    var left = if (limited) program.cost_min + random.uintLessThan(u32, 20) else unlimited;
    // A limited output is over once nothing is left.
    for (0..if (limited) left + 1 else 40) |_| {
        if (left == 0) {
            try std.testing.expect(matcher.acceptsEnd());
            break;
        }
        const out = try arena.alloc(u32, vocabulary.words());
        try matcher.mask(out, left);
        var choices: std.ArrayList(u32) = .empty;
        for (0..vocabulary.count) |token_index| {
            const token: u32 = @intCast(token_index);
            const in_mask = out[token >> 5] >> @intCast(token & 31) & 1 != 0;
            if (in_mask != try matcher.allowed(token, left)) {
                std.debug.print("token '{s}' with {d} left: mask {}\n", .{ vocabulary.text(token), left, in_mask });
                return error.MaskDiffers;
            }
            if (in_mask) try choices.append(arena, token);
        }
        if (choices.items.len == 0) return error.DeadEnd;
        const token = choices.items[random.uintLessThan(usize, choices.items.len)];
        if (token == stop) break;
        try std.testing.expect(try matcher.accept(token));
        if (limited) left -= 1;
    } else if (limited) return error.NotFinished;
}
