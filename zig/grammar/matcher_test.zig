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
fn testVocabulary(extra: []const []const u8, last_kinds: []const vocabulary_room.Kind) !*Vocabulary {
    var texts: std.ArrayList([]const u8) = .empty;
    defer texts.deinit(gpa);
    for (&printable) |*byte| try texts.append(gpa, byte[0..1]);
    try texts.appendSlice(gpa, extra);
    return vocabulary_room.forTest(gpa, texts.items, last_kinds);
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
        const vocabulary = try testVocabulary(extra, &.{});
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
            .values = &.{.{ .origin = none, .cases = &.{.{ .string = .{ .among = &.{ "red", "re", "a\"b", "" } } }} }},
            .yes = &.{ "\"red\"", "\"re\"", "\"a\\\"b\"", "\"\"" },
            .no = &.{ "\"r\"", "\"redd\"", "\"\\u0072e\"" },
        },
        .{
            .values = &.{.{ .origin = none, .cases = &.{.{ .string = .{ .among = &.{ "red", "\xf0\x9f\x98\x80" } } }} }},
            .style = .{ .free_space = true, .whitespace_max = 0, .spelling = .spec },
            .yes = &.{ "\"red\"", "\"\\u0072ed\"", "\"\\uD83D\\uDE00\"" },
            .no = &.{ "\"\\u0073ed\"", "\"\\uD83D\\uDE01\"", "\"\\uD83C" },
        },
        .{
            .values = &.{ .{ .origin = none, .cases = &.{.{ .array = .{ .prefix = &.{&.{.{ .value = 1 }}}, .rest = &.{.{ .value = 2 }}, .items_min = 1, .items_max = 3 } }} }, text_value, .{ .origin = none, .cases = &.{.true} } },
            .yes = &.{ "[\"\"]", "[\"a\",true]", "[\"a\", true,true]" },
            .no = &.{ "[]", "[true]", "[\"a\",\"b\"]", "[\"a\",true,true,true]", "[ \"a\"]", "[\"a\",  true]" },
        },
        .{
            .values = &.{
                .{ .origin = none, .cases = &.{.{ .object = .{ .properties = &.{ .{ .key = "a", .required = true, .options = &.{.{ .value = 1 }} }, .{ .key = "ab", .required = false, .options = &.{.{ .value = 2 }} } }, .ordered = false } }} },
                text_value,
                .{ .origin = none, .cases = &.{.true} },
            },
            .yes = &.{ "{\"a\":\"\"}", "{\"ab\":true,\"a\":\"\"}", "{\"a\": \"\", \"ab\": true}" },
            .no = &.{ "{}", "{\"ab\":true}", "{\"a\":\"\",\"a\":\"\"}", "{\"a\":true}", "{\"c\"", "{\"a\":\"\",}" },
        },
        .{
            .values = &.{
                .{ .origin = none, .cases = &.{.{ .object = .{ .properties = &.{ .{ .key = "b", .required = false, .options = &.{.{ .value = 1 }} }, .{ .key = "a", .required = true, .options = &.{.{ .value = 1 }} }, .{ .key = "c", .required = false, .options = &.{.{ .value = 1 }} } }, .others = &.{.{ .options = &.{.{ .value = 1 }} }}, .ordered = true } }} },
                .{ .origin = none, .cases = &.{.true} },
            },
            .yes = &.{ "{\"a\":true}", "{\"b\":true,\"a\":true,\"c\":true,\"x\":true}", "{\"a\":true,\"x\":true,\"\":true,\"xx\":true}" },
            .no = &.{ "{\"c\"", "{\"b\":true}", "{\"x\"", "{\"a\":true,\"b\"", "{\"a\":true,\"x\":true,\"c\"", "{\"a\":true,\"x\":true,\"x\"" },
        },
        .{
            .values = &.{ .{ .origin = none, .cases = &.{.{ .object = .{ .properties = &.{.{ .key = "no", .required = false, .options = &.{} }}, .others = &.{.{ .options = &.{.{ .value = 1 }} }}, .ordered = false } }} }, .{ .origin = none, .cases = &.{.true} } },
            .yes = &.{ "{}", "{\"n\":true}", "{\"now\":true,\"n\":true}", "{\"a\\nb\":true}" },
            .no = &.{ "{\"no\"", "{\"n\":true,\"n\"", "{\"a\\nb\":true,\"a\\nb\"" },
        },
        .{
            .values = &.{.{ .origin = none, .cases = &.{ .{ .array = .{ .prefix = &.{}, .rest = &.{.{ .value = 0 }}, .items_min = 0, .items_max = none } }, .null } }},
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

test "a token that can be read in very many ways is read once in each place" {
    // Words and what stands between them are the same byte, so that a run of it is cut in a number of ways that doubles with each byte.
    const nodes = [_]ir.Node{
        .{ .sequence = &.{ 1, 3, 4, 1 } },
        .{ .repeat = .{ .item = 2, .min = 0, .max = 4 } },
        .{ .texts = &.{ "-", " " } },
        .{ .texts = &.{ "-", "--", "a" } },
        .{ .repeat = .{ .item = 5, .min = 0, .max = none } },
        .{ .sequence = &.{ 6, 3 } },
        .{ .repeat = .{ .item = 2, .min = 1, .max = 4 } },
    };
    const dashes: [64]u8 = @splat('-');
    const run = &dashes;
    const fixture = try Fixture.create(&.{ run, run ++ "a", run ++ "b" }, .{ .nodes = &nodes, .values = &.{}, .root = 0 });
    defer fixture.destroy();
    const matcher = try Matcher.create(gpa, fixture.program, &.{});
    defer matcher.destroy();
    var mask: [64]u32 = undefined;
    const out = mask[0..fixture.vocabulary.words()];
    for (0..3) |_| {
        try matcher.mask(out, matcher_room.unlimited);
        for (0..fixture.vocabulary.count) |token| {
            const in_mask = out[token >> 5] >> @intCast(token & 31) & 1 != 0;
            try std.testing.expectEqual(try matcher.allowed(@intCast(token), matcher_room.unlimited), in_mask);
        }
        try std.testing.expect(try matcher.accept(fixture.tokenOf(run)));
    }
    try std.testing.expect(!try matcher.allowed(fixture.tokenOf(run ++ "b"), matcher_room.unlimited));
}

/// Segments written as `channel:text`, those of one channel and call joined.
const Transcript = struct {
    text: std.ArrayList(u8) = .empty,
    last: ?struct { ir.Channel, u32 } = null,

    fn add(self: *Transcript, segments: []const matcher_room.Segment) !void {
        for (segments) |segment| {
            const here = .{ segment.channel, segment.call };
            if (self.last == null or self.last.?[0] != here[0] or self.last.?[1] != here[1]) {
                if (segment.call == none) try self.text.print(gpa, "|{t}:", .{segment.channel}) else try self.text.print(gpa, "|{t}{d}:", .{ segment.channel, segment.call });
            }
            self.last = .{ here[0], here[1] };
            try self.text.appendSlice(gpa, segment.bytes);
        }
    }
};

/// Text, then calls in Hermes frames; the newline before a marker belongs to it.
fn hermes(token: u32, close_token: u32) ir.Ir {
    const Static = struct {
        var nodes: [20]ir.Node = undefined;
        var until: [1]ir.Marker = undefined;
        const values = [_]ir.Value{
            .{ .origin = none, .cases = &.{.{ .object = .{ .properties = &.{.{ .key = "city", .required = true, .options = &.{.{ .value = 1 }} }}, .ordered = false } }} },
            text_value,
        };
    };
    Static.until[0] = .{ .token = token, .bytes = "<tool_call>" };
    Static.nodes = .{
        .{ .marker = Static.until[0] },
        .{ .bytes = "\n{\"name\": \"" },
        .{ .bytes = "get_weather" },
        .{ .bytes = "get_time" },
        .{ .choice = &.{ 2, 3 } },
        .{ .channel = .{ .channel = .call_name, .item = 4 } },
        .{ .bytes = "\", \"arguments\": " },
        .{ .json = .{ .value = 0, .style = .{ .free_space = true, .whitespace_max = 4, .spelling = .canonical } } },
        .{ .channel = .{ .channel = .argument_json, .item = 7 } },
        .{ .bytes = "}\n" },
        .{ .marker = .{ .token = close_token, .bytes = "</tool_call>" } },
        .{ .sequence = &.{ 0, 1, 5, 6, 8, 9, 10 } },
        .{ .bytes = "\n" },
        .{ .repeat = .{ .item = 12, .min = 0, .max = 1 } },
        .{ .sequence = &.{ 13, 11 } },
        .{ .channel = .{ .channel = .markup, .item = 14 } },
        .{ .text = .{ .controls = false, .until = &Static.until } },
        .{ .sequence = &.{ 16, 15 } },
        .{ .repeat = .{ .item = 17, .min = 0, .max = 2 } },
        .{ .sequence = &.{ 18, 16 } },
    };
    return .{ .nodes = &Static.nodes, .values = &Static.values, .root = 19 };
}

const call_text = "\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Bo\\nn\"}}\n";

test "bytes are held back until it is decided what they are for, and no longer" {
    const extra = [_][]const u8{ "<tool_call>", "</tool_call>", "get", "\"}}\n", "a\n<", "tool" };
    const open: u32 = printable.len;
    inline for (.{ false, true }) |with_token| {
        const fixture = try Fixture.create(&extra, hermes(if (with_token) open else none, if (with_token) open + 1 else none));
        defer fixture.destroy();
        // The same text: marker spelled by bytes, and as a token where the grammar names it; in single bytes and in longer tokens.
        const spellings = [_]struct { tokens: []const []const u8, named: bool }{
            .{ .tokens = &.{ "Hi", "\n", "<tool_call>", call_text, "</tool_call>", "\nx<", "tool_y" }, .named = false },
            .{ .tokens = &.{ "Hi", "\n", "!<tool_call>", call_text, "!</tool_call>", "\nx<", "tool_y" }, .named = true },
            .{ .tokens = &.{ "Hi", "\n", "!<tool_call>", "\n{\"name\": \"", "!get", "_weather\", \"arguments\": {\"city\": \"Bo\\nn", "!\"}}\n", "</tool_call>", "\nx<", "!tool", "_y" }, .named = true },
        };
        for (spellings) |spelling| {
            if (spelling.named and !with_token) continue;
            const matcher = try Matcher.create(gpa, fixture.program, &.{});
            defer matcher.destroy();
            var transcript: Transcript = .{};
            defer transcript.text.deinit(gpa);
            for (spelling.tokens) |part| {
                if (part[0] == '!') {
                    try std.testing.expect(try matcher.accept(fixture.tokenOf(part[1..])));
                    try transcript.add(matcher.segments());
                } else for (part) |byte| {
                    if (!try matcher.accept(fixture.tokenOf(&.{byte}))) {
                        std.debug.print("refused {c} after {s}\n", .{ byte, transcript.text.items });
                        return error.Refused;
                    }
                    try transcript.add(matcher.segments());
                }
            }
            try std.testing.expect(matcher.acceptsEnd());
            try transcript.add(try matcher.flush());
            try std.testing.expectEqualStrings("|text:Hi|markup:\n<tool_call>\n{\"name\": \"|call_name0:get_weather|markup0:\", \"arguments\": " ++
                "|argument_json0:{\"city\": \"Bo\\nn\"}|markup0:}\n</tool_call>|text0:\nx<tool_y", transcript.text.items);
        }
    }
}

test "nothing is held back that is decided" {
    const fixture = try Fixture.create(&.{ "a\n<", "tool_calx" }, hermes(none, none));
    defer fixture.destroy();
    const matcher = try Matcher.create(gpa, fixture.program, &.{});
    defer matcher.destroy();
    const Step = struct { token: []const u8, now: []const u8 };
    for ([_]Step{
        .{ .token = "a", .now = "|text:a" },
        .{ .token = "\n", .now = "" },
        .{ .token = "<", .now = "" },
        .{ .token = "b", .now = "|text:\n<b" },
        .{ .token = "a\n<", .now = "|text:a" },
        .{ .token = "tool_calx", .now = "|text:\n<tool_calx" },
        .{ .token = "<", .now = "" },
        .{ .token = "<", .now = "|text:<" },
    }) |step| {
        try std.testing.expect(try matcher.accept(fixture.tokenOf(step.token)));
        var transcript: Transcript = .{};
        defer transcript.text.deinit(gpa);
        try transcript.add(matcher.segments());
        try std.testing.expectEqualStrings(step.now, transcript.text.items);
    }
    var rest: Transcript = .{};
    defer rest.text.deinit(gpa);
    try rest.add(try matcher.flush());
    try std.testing.expectEqualStrings("|text:<", rest.text.items);
    try std.testing.expect((try matcher.flush()).len == 0);
}

/// Text in which at most one `<t>f.` is a call; all else, markers that lead to none included, is text.
const calls_in_any_text = calls: {
    const nodes = struct {
        const list = [_]ir.Node{
            .{ .text = .{ .controls = true, .until = &.{.{ .token = none, .bytes = "<t>" }} } },
            .{ .marker = .{ .token = none, .bytes = "<t>" } },
            .{ .sequence = &.{ 1, 0 } },
            .{ .repeat = .{ .item = 2, .min = 0, .max = none } },
            .{ .sequence = &.{ 0, 3 } },
            .{ .channel = .{ .channel = .markup, .item = 1 } },
            .{ .bytes = "f" },
            .{ .channel = .{ .channel = .call_name, .item = 6 } },
            .{ .bytes = "." },
            .{ .channel = .{ .channel = .markup, .item = 8 } },
            .{ .sequence = &.{ 5, 7, 9, 4 } },
            .{ .repeat = .{ .item = 10, .min = 0, .max = 1 } },
            .{ .sequence = &.{ 4, 11 } },
        };
    };
    break :calls ir.Ir{ .nodes = &nodes.list, .values = &.{}, .root = 12 };
};

test "what may still be a call is held back until it is one or is none, and nothing is masked for it" {
    const fixture = try Fixture.create(&.{ "f.<t>", "<t>f.a" }, calls_in_any_text);
    defer fixture.destroy();
    const vocabulary = fixture.vocabulary;
    const matcher = try Matcher.create(gpa, fixture.program, &.{});
    defer matcher.destroy();
    const Step = struct { token: []const u8, now: []const u8 };
    for ([_]Step{
        .{ .token = "a", .now = "|text:a" },
        .{ .token = "<", .now = "" },
        .{ .token = "t", .now = "" },
        .{ .token = ">", .now = "" },
        .{ .token = "f", .now = "" },
        .{ .token = "x", .now = "|text:<t>fx" },
        .{ .token = "<", .now = "" },
        .{ .token = "t", .now = "" },
        .{ .token = ">", .now = "" },
        // What follows the call can only be text by now, and is as such whatever it turns out to be.
        .{ .token = "f.<t>", .now = "|markup:<t>|call_name0:f|markup0:.|text0:<t>" },
        .{ .token = "f", .now = "|text0:f" },
        .{ .token = "<t>f.a", .now = "|text0:<t>f.a" },
    }) |step| {
        var mask: [4]u32 = undefined;
        for ([_]u32{ 1, matcher_room.unlimited }) |limit| {
            try matcher.mask(mask[0..vocabulary.words()], limit);
            try std.testing.expectEqualSlices(u32, vocabulary.producible, mask[0..vocabulary.words()]);
            for (0..vocabulary.count) |token| try std.testing.expect(try matcher.allowed(@intCast(token), limit));
        }
        try std.testing.expect(matcher.acceptsEnd());
        try std.testing.expect(try matcher.accept(fixture.tokenOf(step.token)));
        var transcript: Transcript = .{};
        defer transcript.text.deinit(gpa);
        try transcript.add(matcher.segments());
        try std.testing.expectEqualStrings(step.now, transcript.text.items);
    }
    try std.testing.expect((try matcher.flush()).len == 0);
}

test "a token that is not allowed changes nothing" {
    const fixture = try Fixture.create(&.{}, json(&.{text_value}, compact));
    defer fixture.destroy();
    const matcher = try Matcher.create(gpa, fixture.program, &.{95});
    defer matcher.destroy();
    try std.testing.expect(!try matcher.accept(fixture.tokenOf("a")));
    try std.testing.expect(!try matcher.accept(95));
    try std.testing.expect(!try matcher.accept(1 << 20));
    try std.testing.expectEqual(2, matcher.cost());
    try std.testing.expect(try matcher.accept(fixture.tokenOf("\"")));
    try std.testing.expectEqual(1, matcher.cost());
    try std.testing.expect(!matcher.isComplete());
    try std.testing.expect(try matcher.accept(fixture.tokenOf("\"")));
    try std.testing.expect(matcher.isComplete() and matcher.acceptsEnd());
    try std.testing.expect(try matcher.accept(95));
    try std.testing.expect(!try matcher.accept(95));
}

test "unconstrained text lets everything pass but the markers it ends at" {
    const open: u32 = printable.len;
    const nodes = [_]ir.Node{
        .{ .text = .{ .controls = true, .until = &.{.{ .token = open, .bytes = "<t>" }} } },
        .{ .marker = .{ .token = open + 1, .bytes = "</t>" } },
        .{ .sequence = &.{ 0, 1 } },
    };
    const vocabulary = try testVocabulary(&.{ "<t>", "</t>", "\xff", "<|c|>", "<pad>" }, &.{ .control, .unused });
    defer vocabulary.destroy(gpa);
    const bytes = try encode(gpa, .{ .nodes = &nodes, .values = &.{}, .root = 2 });
    defer gpa.free(bytes);
    var refusal: ir.Refusal = .{};
    const program = try Program.create(gpa, vocabulary, bytes, &refusal);
    defer program.destroy();
    const matcher = try Matcher.create(gpa, program, &.{});
    defer matcher.destroy();
    var mask: [4]u32 = undefined;
    try matcher.mask(&mask, matcher_room.unlimited);
    for (0..vocabulary.count) |token| {
        const expected = token != open and token != open + 4;
        try std.testing.expectEqual(expected, mask[token >> 5] >> @intCast(token & 31) & 1 != 0);
        try std.testing.expectEqual(expected, try matcher.allowed(@intCast(token), matcher_room.unlimited));
    }
    try std.testing.expect(try matcher.accept(open + 3));
    try std.testing.expectEqual(0, matcher.segments().len);
    try std.testing.expect(try matcher.accept(open + 2));
    // The end is a token that could be text as well: the end comes first.
    try std.testing.expect(try matcher.accept(open + 1));
    try std.testing.expect(matcher.acceptsEnd());
    try std.testing.expectEqual(1, matcher.segments().len);
}

test "text that counts its tokens ends after as many, but for a character begun" {
    const close: u32 = printable.len + 2;
    for ([_]u32{ 0, 1, 3 }) |tokens_max| for ([_]bool{ false, true }) |in_character| {
        const nodes = [_]ir.Node{
            .{ .text = .{ .controls = !in_character, .until = &.{.{ .token = close, .bytes = "</t>" }}, .tokens_max = tokens_max } },
            .{ .marker = .{ .token = close, .bytes = "</t>" } },
            .{ .sequence = &.{ 0, 1 } },
        };
        const vocabulary = try testVocabulary(&.{ "\xc3", "\xa9", "</t>" }, &.{.control});
        defer vocabulary.destroy(gpa);
        const bytes = try encode(gpa, .{ .nodes = &nodes, .values = &.{}, .root = 2 });
        defer gpa.free(bytes);
        var refusal: ir.Refusal = .{};
        const program = try Program.create(gpa, vocabulary, bytes, &refusal);
        defer program.destroy();
        const matcher = try Matcher.create(gpa, program, &.{});
        defer matcher.destroy();
        var mask: [4]u32 = undefined;
        for (0..tokens_max) |begun| {
            try matcher.mask(&mask, matcher_room.unlimited);
            try std.testing.expect(mask['a' - 0x20 >> 5] >> @intCast('a' - 0x20 & 31) & 1 != 0);
            const last = begun + 1 == tokens_max;
            try std.testing.expect(try matcher.accept(if (in_character and last) close - 2 else 'a' - 0x20));
        }
        if (in_character and tokens_max > 0) try std.testing.expect(try matcher.accept(close - 1));
        // Only the end, as a token or as text.
        try matcher.mask(&mask, matcher_room.unlimited);
        for (0..vocabulary.count) |token| {
            const expected = token == close or token == '<' - 0x20;
            try std.testing.expectEqual(expected, mask[token >> 5] >> @intCast(token & 31) & 1 != 0);
            try std.testing.expectEqual(expected, try matcher.allowed(@intCast(token), matcher_room.unlimited));
        }
        for ("</t>") |byte| try std.testing.expect(try matcher.accept(byte - 0x20));
        try std.testing.expect(matcher.isComplete());
    };
}

test "what nothing satisfies is refused, and says where" {
    const Case = struct { source: ir.Ir, kind: ir.Refusal.Kind, origin: u32 = none };
    const impossible: ir.Value = .{ .origin = 7, .cases = &.{} };
    const cases = [_]Case{
        .{ .source = json(&.{impossible}, compact), .kind = .unsatisfiable, .origin = 7 },
        .{
            .source = .{ .nodes = &.{ .{ .json = .{ .value = 0, .style = compact } }, .{ .sequence = &.{0} } }, .root = 1, .values = &.{
                .{ .origin = 1, .cases = &.{.{ .object = .{ .properties = &.{ .{ .key = "a", .required = true, .options = &.{.{ .value = 1 }} }, .{ .key = "b", .required = true, .options = &.{.{ .value = 2 }} } }, .ordered = false } }} },
                text_value,
                .{ .origin = 3, .cases = &.{.{ .array = .{ .prefix = &.{}, .rest = &.{.{ .value = 0 }}, .items_min = 1, .items_max = none } }} },
            } },
            .kind = .unsatisfiable,
            .origin = 1,
        },
        .{ .source = .{ .nodes = &.{ .{ .sequence = &.{ 1, 0 } }, .{ .bytes = "" } }, .values = &.{}, .root = 0 }, .kind = .invalid },
        .{ .source = .{ .nodes = &.{ .{ .choice = &.{ 1, 0 } }, .{ .bytes = "x" } }, .values = &.{}, .root = 0 }, .kind = .invalid },
        .{ .source = .{ .nodes = &.{ .{ .sequence = &.{ 1, 0 } }, .{ .bytes = "x" } }, .values = &.{}, .root = 0 }, .kind = .unsatisfiable },
        .{ .source = .{ .nodes = &.{.{ .token = 5000 }}, .values = &.{}, .root = 0 }, .kind = .invalid },
        .{ .source = .{ .nodes = &.{.{ .bytes = "\xc3" }}, .values = &.{}, .root = 0 }, .kind = .unsatisfiable },
    };
    const vocabulary = try testVocabulary(&.{}, &.{});
    defer vocabulary.destroy(gpa);
    for (cases, 0..) |case, index| {
        errdefer std.debug.print("case {d}\n", .{index});
        const bytes = try encode(gpa, case.source);
        defer gpa.free(bytes);
        var refusal: ir.Refusal = .{};
        try std.testing.expectError(error.Refused, Program.create(gpa, vocabulary, bytes, &refusal));
        try std.testing.expectEqual(case.kind, refusal.kind);
        try std.testing.expectEqual(case.origin, refusal.origin);
        try std.testing.expect(refusal.message.len > 0);
    }
}

test "bounds cost nothing: no count is unrolled" {
    const big: u32 = 1 << 30;
    const source = json(&.{
        .{ .origin = none, .cases = &.{.{ .array = .{ .prefix = &.{}, .rest = &.{.{ .value = 1 }}, .items_min = big, .items_max = 2 * big } }} },
        .{ .origin = none, .cases = &.{.{ .string = .{ .length_min = big, .length_max = big } }} },
    }, compact);
    const fixture = try Fixture.create(&.{"ab"}, source);
    defer fixture.destroy();
    try std.testing.expectEqual(false, try fixture.matches("[\"ab"));
    try std.testing.expectEqual(null, try fixture.matches("[\"ab\""));
}

test "a forced call costs about what a tokenizer spends on it" {
    const fixture = try Fixture.create(&.{
        "<tool_call>", "</tool_call>", "{\"", "name", "\":", " \"", "get", "_weather", "_time", "\",", "arguments", " {\"", "city", " \"\"", "\"\"", "}}\n", "\n{\"", ",\"",
    }, forced());
    defer fixture.destroy();
    // A tokenizer with these tokens writes 17.
    try std.testing.expect(fixture.program.cost_min >= 15 and fixture.program.cost_min <= 20);
    const matcher = try Matcher.create(gpa, fixture.program, &.{});
    defer matcher.destroy();
    // From every state on the way down a token leads to one that costs one less.
    var mask: [8]u32 = undefined;
    var left = fixture.program.cost_min;
    while (left > 0) : (left -= 1) {
        try std.testing.expectEqual(left, matcher.cost());
        const out = mask[0..fixture.vocabulary.words()];
        try matcher.mask(out, left);
        const token = for (0..fixture.vocabulary.count) |index| {
            if (out[index >> 5] >> @intCast(index & 31) & 1 != 0) break index;
        } else return error.DeadEnd;
        try std.testing.expect(try matcher.accept(@intCast(token)));
    }
    try std.testing.expect(matcher.isComplete());
}

fn forced() ir.Ir {
    const whole = hermes(printable.len, printable.len + 1);
    return .{ .nodes = whole.nodes, .values = whole.values, .root = 11 };
}

test "what was taken back is as if it had never been written, and forks go their own ways" {
    const seed = std.testing.random_seed;
    errdefer std.debug.print("seed {d}\n", .{seed});
    var prng: std.Random.DefaultPrng = .init(seed);
    const random = prng.random();
    const fixture = try Fixture.create(&.{ "<tool_call>", "</tool_call>", "get", "\"}}\n", "a\n<", "tool" }, hermes(printable.len, printable.len + 1));
    defer fixture.destroy();
    const stop: u32 = printable.len - 1;
    for (0..40) |_| {
        const first = try Matcher.create(gpa, fixture.program, &.{stop});
        first.history_max = 16;
        var line: Line = .{ .matcher = first };
        defer line.destroy();
        for (0..40) |_| {
            switch (random.uintLessThan(u32, 8)) {
                0 => {
                    var other: Line = .{ .matcher = try line.matcher.fork(), .goes_back_to = line.tokens.items.len };
                    try other.tokens.appendSlice(gpa, line.tokens.items);
                    // Whichever is left behind, the other goes on.
                    if (random.boolean()) std.mem.swap(Line, &line, &other);
                    other.destroy();
                },
                1 => {
                    const count = random.uintLessThan(u32, 6);
                    const possible = line.tokens.items.len - line.goes_back_to >= count;
                    try std.testing.expectEqual(possible, line.matcher.rollback(count));
                    if (possible) line.tokens.shrinkRetainingCapacity(line.tokens.items.len - count);
                },
                2 => if (line.tokens.items.len % 3 == 0) {
                    // As it does when the tables are full.
                    try line.matcher.compact();
                },
                else => try line.write(random, fixture),
            }
            try line.compareWithNew(fixture, stop);
        }
    }
}

/// An output with the tokens it was written by.
const Line = struct {
    matcher: *Matcher,
    tokens: std.ArrayList(u32) = .empty,
    goes_back_to: usize = 0,

    fn destroy(self: *Line) void {
        self.matcher.destroy();
        self.tokens.deinit(gpa);
    }

    fn write(self: *Line, random: std.Random, fixture: Fixture) !void {
        var mask: [4]u32 = undefined;
        try self.matcher.mask(mask[0..fixture.vocabulary.words()], matcher_room.unlimited);
        var choices: std.ArrayList(u32) = .empty;
        defer choices.deinit(gpa);
        for (0..fixture.vocabulary.count) |token| if (mask[token >> 5] >> @intCast(token & 31) & 1 != 0) try choices.append(gpa, @intCast(token));
        if (choices.items.len == 0) return;
        // Long tokens and frames are rare among the letters.
        const token = choices.items[if (random.boolean()) choices.items.len - 1 else random.uintLessThan(usize, choices.items.len)];
        try std.testing.expect(try self.matcher.accept(token));
        try self.tokens.append(gpa, token);
    }

    fn compareWithNew(self: *Line, fixture: Fixture, stop: u32) !void {
        const other = try Matcher.create(gpa, fixture.program, &.{stop});
        defer other.destroy();
        for (self.tokens.items) |token| try std.testing.expect(try other.accept(token));
        var masks: [2][4]u32 = @splat(@splat(0));
        try self.matcher.mask(masks[0][0..fixture.vocabulary.words()], matcher_room.unlimited);
        try other.mask(masks[1][0..fixture.vocabulary.words()], matcher_room.unlimited);
        try std.testing.expectEqual(masks[1], masks[0]);
        try std.testing.expectEqual(other.cost(), self.matcher.cost());
        try std.testing.expectEqual(other.acceptsEnd(), self.matcher.acceptsEnd());
        try std.testing.expectEqual(other.calls, self.matcher.calls);
    }
};

test "bytes that have to come are told, and no others" {
    const value: ir.Value = .{ .origin = none, .cases = &.{.{ .object = .{
        .properties = &.{ .{ .key = "name", .required = true, .options = &.{.{ .value = 1 }} }, .{ .key = "size", .required = true, .options = &.{.{ .value = 2 }} } },
        .ordered = true,
    } }} };
    const small: ir.Value = .{ .origin = none, .cases = &.{.{ .string = .{ .among = &.{ "abc", "abd" } } }} };
    const fixture = try Fixture.create(&.{}, json(&.{ value, text_value, small }, compact));
    defer fixture.destroy();
    const matcher = try Matcher.create(gpa, fixture.program, &.{});
    defer matcher.destroy();
    var buffer: [64]u8 = undefined;
    for ([_][2][]const u8{ .{ "", "{\"name\": \"" }, .{ "{\"name\": \"", "" }, .{ "x\"", ", \"size\": \"ab" }, .{ ", \"size\": \"ab", "" }, .{ "c", "\"}" }, .{ "\"}", "" } }) |step| {
        for (step[0]) |byte| try std.testing.expect(try matcher.accept(fixture.tokenOf(&.{byte})));
        try std.testing.expectEqualStrings(step[1], buffer[0..try matcher.forced(&buffer)]);
    }
    const again = try Matcher.create(gpa, fixture.program, &.{});
    defer again.destroy();
    try std.testing.expectEqualStrings("{\"na", buffer[0..try again.forced(buffer[0..4])]);
}
