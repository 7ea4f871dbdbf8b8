//! Whole outputs through the public face: what is accepted, what each byte is for, and what it costs.
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

/// Every printable ASCII byte and the newline, then what a test adds.
fn testVocabulary(extra: []const []const u8) !*Vocabulary {
    var texts: std.ArrayList([]const u8) = .empty;
    defer texts.deinit(gpa);
    for (&printable) |*byte| try texts.append(gpa, byte[0..1]);
    try texts.appendSlice(gpa, extra);
    return vocabulary_room.forTest(gpa, texts.items);
}

const printable: [96]u8 = table: {
    var table: [96]u8 = undefined;
    for (&table, 0x20..) |*byte, value| byte.* = value;
    table[95] = '\n';
    break :table table;
};

const Fixture = struct {
    vocabulary: *Vocabulary,
    program: *Program,

    fn create(extra: []const []const u8, source: ir.Ir) !Fixture {
        const vocabulary = try testVocabulary(extra);
        errdefer vocabulary.destroy(gpa);
        const bytes = try encode(gpa, source);
        defer gpa.free(bytes);
        var refusal: ir.Refusal = .{};
        const program = Program.create(gpa, vocabulary, bytes, &refusal) catch |err| {
            if (err == error.Refused) std.debug.print("refused: {s}\n", .{refusal.message});
            return err;
        };
        return .{ .vocabulary = vocabulary, .program = program };
    }

    fn destroy(self: Fixture) void {
        self.program.destroy();
        self.vocabulary.destroy(gpa);
    }

    fn tokenOf(self: Fixture, text: []const u8) u32 {
        for (0..self.vocabulary.count) |token| if (std.mem.eql(u8, self.vocabulary.text(@intCast(token)), text)) return @intCast(token);
        unreachable;
    }

    /// Writes text by single bytes; null if a byte is refused, else whether the output may end.
    fn matches(self: Fixture, text: []const u8) !?bool {
        const matcher = try Matcher.create(gpa, self.program, &.{});
        defer matcher.destroy();
        for (text) |byte| {
            if (!try writeByte(self, matcher, byte)) return null;
        }
        return matcher.acceptsEnd();
    }

    fn writeByte(self: Fixture, matcher: *Matcher, byte: u8) !bool {
        const token = self.tokenOf(&.{byte});
        var mask: [64]u32 = undefined;
        const out = mask[0..self.vocabulary.words()];
        try matcher.mask(out, matcher_room.unlimited);
        const in_mask = out[token >> 5] >> @intCast(token & 31) & 1 != 0;
        try std.testing.expectEqual(in_mask, try matcher.allowed(token, matcher_room.unlimited));
        const accepted = try matcher.accept(token);
        try std.testing.expectEqual(in_mask, accepted);
        return accepted;
    }
};

const compact: ir.Style = .{ .free_space = true, .whitespace_max = 0, .spelling = .canonical };
const text_value: ir.Value = .{ .origin = none, .cases = &.{.{ .string = .{ .length_min = 0, .length_max = none } }} };

fn json(values: []const ir.Value, style: ir.Style) ir.Ir {
    const Static = struct {
        var node: [1]ir.Node = undefined;
    };
    Static.node[0] = .{ .json = .{ .value = 0, .style = style } };
    return .{ .nodes = &Static.node, .values = values, .root = 0 };
}

test "JSON values are accepted as their cases say" {
    const Case = struct { values: []const ir.Value, style: ir.Style = compact, yes: []const []const u8, no: []const []const u8 };
    const cases = [_]Case{
        .{
            .values = &.{.{ .origin = none, .cases = &.{ .null, .true, .{ .number = .{ .integer = true, .low = null, .high = null } } } }},
            .yes = &.{ "null", "true", "0", "-12" },
            .no = &.{ "false", "nul", "1.5", "01", "\"\"", " null", "null " },
        },
        .{
            .values = &.{.{ .origin = none, .cases = &.{.{ .string = .{ .length_min = 1, .length_max = 3 } }} }},
            .yes = &.{ "\"a\"", "\"abc\"", "\"\\n\\\\\\\"\"", "\"\\u001Fa\"" },
            .no = &.{ "\"\"", "\"abcd\"", "\"a\nb\"", "\"\\u0041\"", "\"\\/\"" },
        },
        .{
            .values = &.{.{ .origin = none, .cases = &.{.{ .string = .{ .length_min = 0, .length_max = 1 } }} }},
            .style = .{ .free_space = true, .whitespace_max = 0, .spelling = .spec },
            .yes = &.{ "\"\\u0041\"", "\"\\/\"", "\"\\ud83d\\ude00\"", "\"\"" },
            .no = &.{ "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\u0041\"", "\"\\u0041a\"" },
        },
        .{
            .values = &.{.{ .origin = none, .cases = &.{.{ .among = &.{ "red", "re", "a\"b", "" } }} }},
            .yes = &.{ "\"red\"", "\"re\"", "\"a\\\"b\"", "\"\"" },
            .no = &.{ "\"r\"", "\"redd\"", "\"\\u0072e\"" },
        },
        .{
            .values = &.{.{ .origin = none, .cases = &.{.{ .among = &.{ "red", "\xf0\x9f\x98\x80" } }} }},
            .style = .{ .free_space = true, .whitespace_max = 0, .spelling = .spec },
            .yes = &.{ "\"red\"", "\"\\u0072ed\"", "\"\\uD83D\\uDE00\"" },
            .no = &.{ "\"\\u0073ed\"", "\"\\uD83D\\uDE01\"", "\"\\uD83C" },
        },
        .{
            .values = &.{ .{ .origin = none, .cases = &.{.{ .array = .{ .prefix = &.{1}, .rest = 2, .items_min = 1, .items_max = 3 } }} }, text_value, .{ .origin = none, .cases = &.{.true} } },
            .yes = &.{ "[\"\"]", "[\"a\",true]", "[\"a\", true,true]" },
            .no = &.{ "[]", "[true]", "[\"a\",\"b\"]", "[\"a\",true,true,true]", "[ \"a\"]", "[\"a\",  true]" },
        },
        .{
            .values = &.{
                .{ .origin = none, .cases = &.{.{ .object = .{ .properties = &.{ .{ .key = "a", .value = 1, .required = true }, .{ .key = "ab", .value = 2, .required = false } }, .rest = none, .ordered = false } }} },
                text_value,
                .{ .origin = none, .cases = &.{.true} },
            },
            .yes = &.{ "{\"a\":\"\"}", "{\"ab\":true,\"a\":\"\"}", "{\"a\": \"\", \"ab\": true}" },
            .no = &.{ "{}", "{\"ab\":true}", "{\"a\":\"\",\"a\":\"\"}", "{\"a\":true}", "{\"c\"", "{\"a\":\"\",}" },
        },
        .{
            .values = &.{
                .{ .origin = none, .cases = &.{.{ .object = .{ .properties = &.{ .{ .key = "b", .value = 1, .required = false }, .{ .key = "a", .value = 1, .required = true }, .{ .key = "c", .value = 1, .required = false } }, .rest = 1, .ordered = true } }} },
                .{ .origin = none, .cases = &.{.true} },
            },
            .yes = &.{ "{\"a\":true}", "{\"b\":true,\"a\":true,\"c\":true,\"x\":true}", "{\"a\":true,\"x\":true,\"\":true,\"xx\":true}" },
            .no = &.{ "{\"c\"", "{\"b\":true}", "{\"x\"", "{\"a\":true,\"b\"", "{\"a\":true,\"x\":true,\"c\"", "{\"a\":true,\"x\":true,\"x\"" },
        },
        .{
            .values = &.{ .{ .origin = none, .cases = &.{.{ .object = .{ .properties = &.{.{ .key = "no", .value = none, .required = false }}, .rest = 1, .ordered = false } }} }, .{ .origin = none, .cases = &.{.true} } },
            .yes = &.{ "{}", "{\"n\":true}", "{\"now\":true,\"n\":true}", "{\"a\\nb\":true}" },
            .no = &.{ "{\"no\"", "{\"n\":true,\"n\"", "{\"a\\nb\":true,\"a\\nb\"" },
        },
        .{
            .values = &.{.{ .origin = none, .cases = &.{ .{ .array = .{ .prefix = &.{}, .rest = 0, .items_min = 0, .items_max = none } }, .null } }},
            .style = .{ .free_space = true, .whitespace_max = 3, .spelling = .canonical },
            .yes = &.{ "[ [ ] ]", "[null, null, null, null]", "[\n\n\nnull]", "[null,\n null]" },
            .no = &.{ "[    null]", "[ [ [ [", "[\n\n\n[] ]" },
        },
    };
    for (cases, 0..) |case, index| {
        const fixture = try Fixture.create(&.{}, json(case.values, case.style));
        defer fixture.destroy();
        for (case.yes) |text| if (try fixture.matches(text) != true) {
            std.debug.print("case {d} refused {s}\n", .{ index, text });
            return error.Refused;
        };
        for (case.no) |text| if (try fixture.matches(text) == true) {
            std.debug.print("case {d} accepted {s}\n", .{ index, text });
            return error.Accepted;
        };
    }
}

test "repeats" {
    const nodes = [_]ir.Node{
        .{ .sequence = &.{ 1, 2, 4 } },
        .{ .bytes = "<" },
        .{ .repeat = .{ .item = 3, .min = 0, .max = none } },
        .{ .bytes = "\n" },
        .{ .bytes = ">" },
    };
    const fixture = try Fixture.create(&.{"\n\n"}, .{ .nodes = &nodes, .values = &.{}, .root = 0 });
    defer fixture.destroy();
    try std.testing.expectEqual(true, try fixture.matches("<>"));
    try std.testing.expectEqual(true, try fixture.matches("<\n>"));
    try std.testing.expectEqual(true, try fixture.matches("<\n\n\n>"));
    try std.testing.expectEqual(false, try fixture.matches("<\n\n\n"));
}
