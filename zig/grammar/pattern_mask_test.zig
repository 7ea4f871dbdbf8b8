//! Masks inside patterns against single tokens, where counters are large and tokens long: what a view of a state leaves out must not matter.
const std = @import("std");
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
    };
    const Case = struct { regex: u32, min: u32 = 0, max: u32 = none };
    for ([_]Case{
        .{ .regex = 4 },             .{ .regex = 5 },                          .{ .regex = 6 },                       .{ .regex = 7 },
        .{ .regex = 9 },             .{ .regex = 10 },                         .{ .regex = 11, .max = 40 },           .{ .regex = 11, .min = 19, .max = 55 },
        .{ .regex = 14, .max = 30 }, .{ .regex = 9, .max = 33 },               .{ .regex = 9, .min = 21 },            .{ .regex = 9, .min = 5, .max = 51 },
        .{ .regex = 16 },            .{ .regex = 17 },                         .{ .regex = 18 },                      .{ .regex = 20 },
        .{ .regex = 28 },            .{ .regex = 28, .max = 44 },              .{ .regex = 29 },                      .{ .regex = 16, .max = 42 },
        .{ .regex = 22 },            .{ .regex = 23 },                         .{ .regex = 22, .min = 4, .max = 38 }, .{ .regex = 13, .min = 0, .max = 41 },
        .{ .regex = 6, .max = 47 },  .{ .regex = 14, .min = 20, .max = none },
    }, 0..) |case, index| {
        errdefer std.debug.print("case {d}\n", .{index});
        const style: ir.Style = .{ .free_space = true, .whitespace_max = 3, .spelling = if (index % 2 == 0) .spec else .canonical };
        const bytes = try encode(gpa, .{
            .nodes = &.{.{ .json = .{ .value = 0, .style = style } }},
            .values = &.{
                .{ .origin = 0, .cases = &.{.{ .object = .{ .properties = &.{.{ .key = "k", .required = true, .options = &.{.{ .value = 1 }} }} } }} },
                .{ .origin = 1, .cases = &.{.{ .string = .{ .length_min = case.min, .length_max = case.max, .regex = case.regex } }} },
            },
            .regexes = &regexes,
            .root = 0,
        });
        defer gpa.free(bytes);
        var refusal: ir.Refusal = .{};
        const program = try Program.create(gpa, vocabulary, bytes, &refusal);
        defer program.destroy();
        for (0..12) |round| {
            var prng: std.Random.DefaultPrng = .init(seed +% index *% 1000 +% round);
            const random = prng.random();
            const matcher = try Matcher.create(gpa, program, &.{stop});
            defer matcher.destroy();
            const limited = round % 3 == 2;
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
    }
}
