//! Arrays and objects with demands that only values beyond the oracle's tell apart: numbers in all their forms, large counts, what is refused.
const std = @import("std");
const vocabulary_room = @import("../vocabulary.zig");
const Vocabulary = vocabulary_room.Vocabulary;
const ir = @import("ir.zig");
const encode = @import("encode.zig").encode;
const Program = @import("program.zig").Program;
const matcher_room = @import("matcher.zig");
const Matcher = matcher_room.Matcher;

const none = ir.none;
const gpa = std.testing.allocator;

fn testVocabulary() !*Vocabulary {
    var bytes: [0x5f][1]u8 = undefined;
    var texts: [0x5f + 3][]const u8 = undefined;
    for (&bytes, texts[0..0x5f], 0x20..) |*byte, *text, value| {
        byte[0] = @intCast(value);
        text.* = byte;
    }
    texts[0x5f..].* = .{ "\",\"", "1,1", "ab" };
    return vocabulary_room.forTest(gpa, &texts, &.{});
}

/// Value 0 as JSON in every spelling, without whitespace.
fn compile(vocabulary: *Vocabulary, values: []const ir.Value, regexes: []const ir.Regex, refusal: *ir.Refusal) ir.Error!*Program {
    const root: ir.Node = .{ .json = .{ .value = 0, .style = .{ .free_space = false, .whitespace_max = 0, .spelling = .spec } } };
    const bytes = try encode(gpa, .{ .nodes = &.{root}, .values = values, .regexes = regexes, .root = 0 });
    defer gpa.free(bytes);
    return Program.create(gpa, vocabulary, bytes, refusal);
}

/// How far a text is taken, byte by byte; masks and single tokens say the same, under every limit from the cost on.
fn taken(program: *Program, text: []const u8) !struct { usize, bool } {
    const vocabulary = program.vocabulary;
    const matcher = try Matcher.create(gpa, program, &.{});
    defer matcher.destroy();
    var mask: [8]u32 = undefined;
    const out = mask[0..vocabulary.words()];
    for (text, 0..) |byte, at| {
        for ([_]u32{ matcher.cost(), matcher.cost() + 1, matcher.cost() + 2, matcher_room.unlimited }) |limit| {
            try matcher.mask(out, limit);
            for (0..vocabulary.count) |token| {
                const in_mask = out[token >> 5] >> @intCast(token & 31) & 1 != 0;
                try std.testing.expectEqual(try matcher.allowed(@intCast(token), limit), in_mask);
            }
            // What costs something can be finished for that.
            if (limit == matcher.cost() and limit > 0) try std.testing.expect(!std.mem.allEqual(u32, out, 0));
        }
        if (!try matcher.accept(byte - 0x20)) return .{ at, false };
    }
    return .{ text.len, matcher.acceptsEnd() };
}

const any_number: ir.Case = .{ .number = .{} };
const integer: ir.Case = .{ .number = .{ .integer = true } };
const any_string: ir.Case = .{ .string = .{} };

fn different(option: []const ir.Option) ir.Case {
    return .{ .array = .{ .rest = option, .unique = true } };
}

test "equal numbers are one value, whatever their form" {
    const vocabulary = try testVocabulary();
    defer vocabulary.destroy(gpa);
    var refusal: ir.Refusal = .{};
    const program = try compile(vocabulary, &.{
        .{ .origin = 0, .cases = &.{different(&.{.{ .value = 1 }})} },
        .{ .origin = 1, .cases = &.{ any_number, any_string, .true } },
    }, &.{}, &refusal);
    defer program.destroy();
    const Row = struct { []const u8, usize, bool };
    for ([_]Row{
        .{ "[1,2,12,1.5]", 12, true },         .{ "[1,1]", 4, false },             .{ "[1,1.0]", 6, false },
        .{ "[100,1e2]", 8, false },            .{ "[1e2,100]", 8, false },         .{ "[0,-0]", 5, false },
        .{ "[0.5,5e-1]", 9, false },           .{ "[-1,1,\"1\"]", 10, true },      .{ "[\"a\",\"b\",\"\"]", 12, true },
        .{ "[\"a\",\"\\u0061\"]", 12, false }, .{ "[true,\"true\",1]", 15, true }, .{ "[true,t", 6, false },
        .{ "[10,1,0.1]", 10, true },           .{ "[1.0,10e-1]", 10, false },      .{ "[\"ab\",\"a\",\"ab\"", 13, false },
    }) |row| {
        const length, const ends = try taken(program, row[0]);
        errdefer std.debug.print("{s}\n", .{row[0]});
        try std.testing.expectEqual(row[1], length);
        if (row[2] and row[0][row[0].len - 1] == ']') try std.testing.expect(ends);
    }
}

test "values of finite sets are left for what has to come" {
    const vocabulary = try testVocabulary();
    defer vocabulary.destroy(gpa);
    var refusal: ir.Refusal = .{};
    // [1 or 2, 1]
    const program = try compile(vocabulary, &.{
        .{ .origin = 0, .cases = &.{.{ .array = .{ .prefix = &.{ &.{.{ .value = 1 }}, &.{.{ .value = 2 }} }, .items_min = 2, .unique = true } }} },
        .{ .origin = 1, .cases = &.{.{ .number = .{ .integer = true, .low = .{ .decimal = "1", .exclusive = false }, .high = .{ .decimal = "2", .exclusive = false } } }} },
        .{ .origin = 2, .cases = &.{.{ .number = .{ .integer = true, .low = .{ .decimal = "1", .exclusive = false }, .high = .{ .decimal = "1", .exclusive = false } } }} },
    }, &.{}, &refusal);
    defer program.destroy();
    try std.testing.expectEqual(.{ 1, false }, try taken(program, "[1,1]"));
    try std.testing.expectEqual(.{ 5, true }, try taken(program, "[2,1]"));
    // Three different items that are true or false.
    try std.testing.expectError(error.Refused, compile(vocabulary, &.{
        .{ .origin = 0, .cases = &.{.{ .array = .{ .rest = &.{.{ .value = 1 }}, .items_min = 3, .unique = true } }} },
        .{ .origin = 1, .cases = &.{ .true, .false } },
    }, &.{}, &refusal));
    try std.testing.expectEqual(ir.Refusal.Kind.unsatisfiable, refusal.kind);
    // Texts that a pattern leaves few of.
    const few = try compile(vocabulary, &.{
        .{ .origin = 0, .cases = &.{.{ .array = .{ .rest = &.{.{ .value = 1 }}, .items_min = 2, .unique = true } }} },
        .{ .origin = 1, .cases = &.{.{ .string = .{ .regex = 0 } }} },
    }, &.{.{ .class = &.{.{ .first = 'a', .last = 'b' }} }}, &refusal);
    defer few.destroy();
    try std.testing.expectEqual(.{ 9, true }, try taken(few, "[\"b\",\"a\"]"));
    try std.testing.expectEqual(.{ 6, false }, try taken(few, "[\"b\",\"b\"]"));
}

test "what cannot be weighed is refused by name" {
    const vocabulary = try testVocabulary();
    defer vocabulary.destroy(gpa);
    var refusal: ir.Refusal = .{};
    const counter: ir.Counter = .{ .min = 1, .max = none };
    const Row = struct { ir.Case, []const u8 };
    for ([_]Row{
        .{ .{ .array = .{ .rest = &.{.{ .value = 1 }}, .unique = true } }, "uniqueItems over arrays or objects" },
        .{ .{ .array = .{ .rest = &.{.{ .value = 1, .counts = 1 }}, .items_min = 1_000_000, .counters = &.{.{ .min = 10, .max = none }} } }, "an array counts too much over too many places" },
        .{ .{ .object = .{ .others = &.{.{ .options = &.{.{ .value = 2 }} }}, .counters = &@as([19]ir.Counter, @splat(counter)) } }, "an object has too many keys and counts to weigh them together" },
        .{ .{ .object = .{ .others = &.{.{ .options = &.{.{ .value = 2 }} }}, .members_min = 1_000_000 } }, "an object has too many keys and counts to weigh them together" },
    }) |row| {
        refusal = .{};
        try std.testing.expectError(error.Refused, compile(vocabulary, &.{
            .{ .origin = 7, .cases = &.{row[0]} },
            .{ .origin = 1, .cases = &.{.{ .array = .{} }} },
            .{ .origin = 2, .cases = &.{integer} },
        }, &.{}, &refusal));
        try std.testing.expectEqualStrings(row[1], refusal.message);
        try std.testing.expectEqual(ir.Refusal.Kind.limit, refusal.kind);
        try std.testing.expectEqual(7, refusal.origin);
    }
}

test "an object of optional keys that needs one is not closed without" {
    const vocabulary = try testVocabulary();
    defer vocabulary.destroy(gpa);
    var refusal: ir.Refusal = .{};
    const program = try compile(vocabulary, &.{
        .{ .origin = 0, .cases = &.{.{ .object = .{
            .properties = &.{ .{ .key = "a", .options = &.{.{ .value = 1 }} }, .{ .key = "b", .options = &.{.{ .value = 1 }} } },
            .members_min = 1,
            .members_max = 1,
        } }} },
        .{ .origin = 1, .cases = &.{integer} },
    }, &.{}, &refusal);
    defer program.destroy();
    try std.testing.expectEqual(.{ 1, false }, try taken(program, "{}"));
    try std.testing.expectEqual(.{ 7, true }, try taken(program, "{\"b\":1}"));
    try std.testing.expectEqual(.{ 6, false }, try taken(program, "{\"b\":1,"));
}
