//! The engine against the oracle, on random grammars and small vocabularies: a token is in the mask if and only if some completion
//! exists; every state can be finished, for what it says that costs.
const std = @import("std");
const vocabulary_room = @import("../vocabulary.zig");
const Vocabulary = vocabulary_room.Vocabulary;
const ir = @import("ir.zig");
const encode = @import("encode.zig").encode;
const Program = @import("program.zig").Program;
const Matcher = @import("matcher.zig").Matcher;
const unlimited = @import("matcher.zig").unlimited;
const oracle_room = @import("oracle.zig");
const Oracle = oracle_room.Oracle;
const Symbol = oracle_room.Symbol;
const RegexMaker = @import("oracle_regex.zig").RegexMaker;

const none = ir.none;
const gpa = std.testing.allocator;

/// Tokens besides printable ASCII: pieces of JSON and of markers, parts of characters.
const pieces = [_][]const u8{
    "\n",   "{\"",  "\":",  "\": ", "\",",     "\"}",      "}}",   ", \"", "\",\"", "[]",   "{}",           "[[",            "true",      "ull",
    "10",   "ab",   "aba",  "\\\"", "\\u",     "\\u00",    "001",  "  ",   " \n",   "\n\n", "a\":1,\"b\":", "a\",\"",
    "é",
    "\xc3", "\xa9", "\xe2", "\x82", "\xac",    "\xf0\x9f", "\xf1", "<m>",  "<m",    "m>x",  "</m>",         "b\":1,\"b\":1", "a\":1,\"a", "\":1}",
    "],",   "1,1",  "a<",   "d8",   "\\ud83d", "\\ude00",  "e\"]",
};
/// After those: a control token, and tokens that are text unless a grammar names them.
const specials = [_][]const u8{ "<c>", "<m>", "ab", "<s>" };
const special_kinds = [_]vocabulary_room.Kind{ .control, .normal, .normal, .control };

const Words = struct {
    vocabulary: *Vocabulary,
    special_first: u32,
    stop: u32,

    fn create(random: std.Random) !Words {
        var texts: std.ArrayList([]const u8) = .empty;
        defer texts.deinit(gpa);
        for (&printable) |*byte| try texts.append(gpa, byte[0..1]);
        for (pieces) |piece| if (random.uintLessThan(u8, 4) > 0) try texts.append(gpa, piece);
        const first: u32 = @intCast(texts.items.len);
        try texts.appendSlice(gpa, &specials);
        return .{
            .vocabulary = try vocabulary_room.forTest(gpa, texts.items, &special_kinds),
            .special_first = first,
            .stop = first + 3,
        };
    }

    /// Those that are text in every grammar.
    fn textTokens(self: *const Words, arena: std.mem.Allocator) ![]const []const u8 {
        const list = try arena.alloc([]const u8, self.special_first);
        for (list, 0..) |*text, token| text.* = self.vocabulary.text(@intCast(token));
        return list;
    }

    /// All that JSON's structure and the markers are written with: for other bytes the engine is exact without them being tokens.
    const printable: [96]u8 = table: {
        var table: [96]u8 = undefined;
        for (&table, 0x20..) |*byte, value| byte.* = value;
        table[95] = '\n';
        break :table table;
    };
};

const Feature = enum { mixed, counters, members, classes, unique };

/// Random grammars, small enough that everything about them can be tried.
const Maker = struct {
    arena: std.mem.Allocator,
    random: std.Random,
    words: *const Words,
    nodes: std.ArrayList(ir.Node) = .empty,
    values: std.ArrayList(ir.Value) = .empty,
    style: ir.Style,
    /// What most of the grammar is made of.
    feature: Feature,
    regexes: std.ArrayList(ir.Regex) = .empty,
    key_regexes: []const u32 = &.{},

    fn make(self: *Maker) !ir.Ir {
        const count = self.random.intRangeAtMost(u32, if (self.feature == .unique) 2 else 1, 5);
        for (0..count) |_| {
            const cases = try self.arena.alloc(ir.Case, self.below(4));
            for (cases) |*case| case.* = if (self.values.items.len == 0 and self.feature != .mixed)
                try self.featureCase(count)
            else if (self.feature == .unique)
                try self.scalar()
            else
                try self.randomCase(count);
            try self.values.append(self.arena, .{ .origin = @intCast(self.values.items.len), .cases = cases });
        }
        const root = if (self.below(3) == 0) try self.frame() else root: {
            const json = try self.add(.{ .json = .{ .value = 0, .style = self.style } });
            if (self.feature != .mixed or self.below(4) > 0) break :root json;
            break :root try self.add(.{ .repeat = .{ .item = json, .min = 1, .max = 3 } });
        };
        return .{ .nodes = self.nodes.items, .values = self.values.items, .regexes = self.regexes.items, .root = root };
    }

    fn regex(self: *Maker) !u32 {
        const all = [_]ir.Regex.Range{
            .{ .first = '\n', .last = '\n' },      .{ .first = '"', .last = '"' },          .{ .first = 'a', .last = 'a' },       .{ .first = 'b', .last = 'b' },
            .{ .first = 'd', .last = '~' },        .{ .first = 0xe9, .last = 0xe9 },        .{ .first = 0x20ac, .last = 0x20ac }, .{ .first = 0x20b0, .last = 0xd7ff },
            .{ .first = 0xe000, .last = 0x1f600 }, .{ .first = 0x40000, .last = 0x10ffff },
        };
        const first = self.below(all.len - 1);
        const second = first + 1 + self.below(all.len - 1 - first);
        var maker: RegexMaker = .{ .arena = self.arena, .random = self.random, .ranges = try self.arena.dupe(ir.Regex.Range, &.{ all[first], all[second] }), .list = self.regexes };
        const root = try maker.make(1 + self.below(7));
        self.regexes = maker.list;
        return root;
    }

    fn below(self: *Maker, end: usize) usize {
        return self.random.uintLessThan(usize, end);
    }

    fn add(self: *Maker, node: ir.Node) !u32 {
        try self.nodes.append(self.arena, node);
        return @intCast(self.nodes.items.len - 1);
    }

    fn pick(self: *Maker, comptime list: []const []const u8) []const u8 {
        return list[self.below(list.len)];
    }

    /// Text and markers around JSON. Each JSON text counts its own whitespace, even where two touch.
    fn frame(self: *Maker) !u32 {
        const json = try self.add(.{ .json = .{ .value = 0, .style = self.style } });
        const open = try self.marker("<m>", self.words.special_first + 1);
        const close = try self.marker("</m>", none);
        const newline = try self.add(.{ .bytes = "\n" });
        const gap = try self.add(.{ .repeat = .{ .item = newline, .min = 0, .max = if (self.random.boolean()) 1 else none } });
        const touching = try self.add(.{ .sequence = try self.arena.dupe(u32, &.{ json, json }) });
        const inner = if (self.below(3) == 0) touching else json;
        const call = try self.add(.{ .sequence = try self.arena.dupe(u32, &.{ open, gap, inner, gap, close }) });
        const calls = try self.add(.{ .repeat = .{ .item = call, .min = @intCast(self.below(2)), .max = @intCast(self.random.intRangeAtMost(usize, 1, 3)) } });
        const until = try self.arena.dupe(ir.Marker, &.{ .{ .token = self.words.special_first + 1, .bytes = "<m>" }, .{ .token = none, .bytes = self.pick(&.{ "ab", "é<", "<<" }) } });
        const text = try self.add(.{ .text = .{ .controls = false, .until = until } });
        const control = try self.add(.{ .token = self.words.special_first });
        const empty = try self.add(.{ .bytes = "" });
        const words_node = try self.add(.{ .bytes = self.pick(&.{ "a", "ab", "\xf1", "{" }) });
        const some = try self.add(.{ .choice = try self.arena.dupe(u32, &.{ words_node, control, empty }) });
        const many = try self.add(.{ .repeat = .{ .item = some, .min = @intCast(self.below(3)), .max = @intCast(2 + self.below(2)) } });
        const listed = try self.add(.{ .texts = try self.texts() });
        const separator = try self.add(.{ .bytes = self.pick(&.{ " ", ", ", "a" }) });
        const further = try self.add(.{ .sequence = try self.arena.dupe(u32, &.{ separator, listed }) });
        const list = try self.add(.{ .repeat = .{ .item = further, .min = 0, .max = none } });
        const any = try self.add(.{ .any_token = try self.arena.dupe(u32, &.{self.words.special_first}) });
        const anything = try self.add(.{ .repeat = .{ .item = any, .min = 0, .max = none } });
        const matched = try self.add(.{ .regex = try self.regex() });
        const some_matched = try self.add(.{ .choice = try self.arena.dupe(u32, &.{ words_node, matched, control }) });
        const many_matched = try self.add(.{ .repeat = .{ .item = some_matched, .min = @intCast(self.below(2)), .max = @intCast(1 + self.below(3)) } });
        const items = try self.arena.alloc(ir.Node.Item, 1 + self.below(4));
        for (items) |*item| item.* = .{ .node = try self.add(.{ .bytes = self.pick(&.{ "a", "ab", "b", "é", "\xf1" }) }), .required = self.below(3) == 0 };
        if (self.random.boolean()) items[0].node = json;
        const record = try self.add(.{ .record = .{ .items = items, .separator = if (self.random.boolean()) none else gap } });
        return switch (self.below(11)) {
            9 => record,
            10 => self.add(.{ .sequence = try self.arena.dupe(u32, &.{ open, record, close }) }),
            7 => self.add(.{ .sequence = try self.arena.dupe(u32, &.{ listed, list, some }) }),
            8 => self.add(.{ .sequence = try self.arena.dupe(u32, &.{ anything, control }) }),
            4 => self.add(.{ .sequence = try self.arena.dupe(u32, &.{ matched, calls }) }),
            5 => self.add(.{ .sequence = try self.arena.dupe(u32, &.{ matched, many_matched, words_node }) }),
            6 => self.add(.{ .sequence = try self.arena.dupe(u32, &.{ many_matched, matched, open }) }),
            0 => self.add(.{ .sequence = try self.arena.dupe(u32, &.{ text, calls }) }),
            1 => self.add(.{ .choice = try self.arena.dupe(u32, &.{ calls, text }) }),
            2 => self.add(.{ .sequence = try self.arena.dupe(u32, &.{ many, calls }) }),
            else => self.add(.{ .sequence = try self.arena.dupe(u32, &.{ many, text, open }) }),
        };
    }

    fn marker(self: *Maker, bytes: []const u8, token: u32) !u32 {
        return self.add(.{ .marker = .{ .token = if (self.random.boolean()) token else none, .bytes = bytes } });
    }

    fn randomCase(self: *Maker, values: u32) !ir.Case {
        return switch (self.below(12)) {
            9, 10 => .{ .string = .{
                .length_min = if (self.random.boolean()) 0 else @intCast(self.below(3)),
                .length_max = if (self.random.boolean()) none else @intCast(self.below(4)),
                .regex = try self.regex(),
            } },
            11 => .{ .string = .{ .regex = try self.regex(), .among = if (self.below(3) == 0) try self.texts() else null } },
            0 => .null,
            1 => .true,
            2 => .{ .number = try self.number() },
            3 => string: {
                const min: u32 = @intCast(self.below(3));
                break :string .{ .string = .{ .length_min = min, .length_max = if (self.random.boolean()) none else @intCast(self.below(4)) } };
            },
            4 => .{ .string = .{ .among = try self.texts() } },
            5, 6 => .{ .array = try self.array(values) },
            else => .{ .object = .{
                .properties = try self.properties(values),
                .others = try self.others(values),
                .ordered = self.random.boolean(),
                .members_min = @intCast(self.below(4) / 2),
            } },
        };
    }

    fn featureCase(self: *Maker, values: u32) !ir.Case {
        return switch (self.feature) {
            .mixed => unreachable,
            .counters => counters: {
                var result = try self.array(values);
                result.counters = try self.counters(1 + self.below(2), true);
                for (@constCast(result.prefix)) |*place| place.* = try self.options(values, result.counters.len);
                result.rest = try self.options(values, result.counters.len);
                break :counters .{ .array = result };
            },
            .unique => unique: {
                // Places of few values, which the values after the first are for.
                var result = try self.array(values);
                result.unique = true;
                result.counters = try self.counters(self.below(2) * self.below(2), true);
                for (@constCast(result.prefix)) |*place| place.* = try self.options(values, result.counters.len);
                result.rest = if (self.below(4) == 0) &.{} else try self.options(values, result.counters.len);
                for (result.prefix) |place| self.onlyScalars(place, values);
                self.onlyScalars(result.rest, values);
                break :unique .{ .array = result };
            },
            .classes => classes: {
                const counted = self.random.boolean();
                const list = try self.counters(if (counted) self.below(2) else 0, false);
                const declared = try self.properties(values);
                for (@constCast(declared)) |*property| property.options = (try self.options(values, list.len))[0..1];
                const classes = try self.arena.alloc(ir.KeyClass, 1 + self.below(3));
                for (classes) |*class| class.* = .{ .keys = if (self.below(5) == 0) none else try self.keys(), .options = (try self.options(values, list.len))[0..1] };
                break :classes .{ .object = .{
                    .properties = declared,
                    .others = classes,
                    .ordered = self.random.boolean(),
                    .counters = list,
                    .members_min = if (counted) @intCast(self.below(4)) else 0,
                    .members_max = if (!counted or self.random.boolean()) none else @intCast(self.below(5)),
                } };
            },
            .members => members: {
                const list = try self.counters(self.below(5), false);
                const declared = try self.properties(values);
                for (@constCast(declared)) |*property| property.options = try self.options(values, list.len);
                const classes = try self.arena.alloc(ir.KeyClass, self.below(3));
                for (classes) |*class| class.* = .{ .options = try self.options(values, list.len) };
                break :members .{ .object = .{
                    .properties = declared,
                    .others = classes,
                    .ordered = self.random.boolean(),
                    .counters = list,
                    .members_min = @intCast(self.below(4)),
                    .members_max = if (self.random.boolean()) none else @intCast(self.below(5)),
                } };
            },
        };
    }

    /// One of some regexes of infinitely many keys.
    fn keys(self: *Maker) !u32 {
        if (self.key_regexes.len == 0) {
            const any = try self.addRegex(.{ .class = try self.arena.dupe(ir.Regex.Range, &.{ .{ .first = 0, .last = 0xd7ff }, .{ .first = 0xe000, .last = 0x10ffff } }) });
            const a = try self.addRegex(.{ .class = try self.arena.dupe(ir.Regex.Range, &.{.{ .first = 'a', .last = 'a' }}) });
            const b = try self.addRegex(.{ .class = try self.arena.dupe(ir.Regex.Range, &.{.{ .first = 'b', .last = 'b' }}) });
            const all = try self.addRegex(.{ .repeat = .{ .item = any, .min = 0, .max = none } });
            const begins = try self.addRegex(.{ .concat = try self.arena.dupe(u32, &.{ a, all }) });
            const without = try self.addRegex(.{ .complement = begins });
            const either = try self.addRegex(.{ .@"union" = try self.arena.dupe(u32, &.{ a, b }) });
            const many = try self.addRegex(.{ .repeat = .{ .item = either, .min = @intCast(self.below(2)), .max = none } });
            const after_b = try self.addRegex(.{ .concat = try self.arena.dupe(u32, &.{ b, many }) });
            const one_or_many = try self.addRegex(.{ .@"union" = try self.arena.dupe(u32, &.{ a, after_b }) });
            const pair = try self.addRegex(.{ .concat = try self.arena.dupe(u32, &.{ a, b }) });
            const pairs = try self.addRegex(.{ .repeat = .{ .item = pair, .min = @intCast(self.below(2)), .max = none } });
            const long = try self.addRegex(.{ .repeat = .{ .item = any, .min = 2, .max = none } });
            self.key_regexes = try self.arena.dupe(u32, &.{ begins, without, many, one_or_many, pairs, long });
        }
        return self.key_regexes[self.below(self.key_regexes.len)];
    }

    fn addRegex(self: *Maker, item: ir.Regex) !u32 {
        try self.regexes.append(self.arena, item);
        return @intCast(self.regexes.items.len - 1);
    }

    fn onlyScalars(self: *Maker, place: []const ir.Option, values: u32) void {
        for (@constCast(place)) |*option| option.value = 1 + self.random.uintLessThan(u32, values - 1);
    }

    /// Few values, so that they run out.
    fn scalar(self: *Maker) !ir.Case {
        return switch (self.below(8)) {
            0 => .null,
            1 => .true,
            2, 3 => .{ .number = number: {
                const low = ([_]i32{ 0, 1, 9, 10, -2 })[self.below(5)];
                break :number .{
                    .integer = true,
                    .low = .{ .decimal = try self.arena.print("{d}", .{low}), .exclusive = false },
                    .high = .{ .decimal = try self.arena.print("{d}", .{low + @as(i32, @intCast(self.below(4)))}), .exclusive = false },
                };
            } },
            4, 5 => .{ .string = .{ .among = try self.texts() } },
            6 => .{ .string = .{ .length_min = @intCast(self.below(2)), .length_max = @intCast(self.below(3)) } },
            else => .{ .string = .{ .length_min = @intCast(self.below(2)) } },
        };
    }

    fn array(self: *Maker, values: u32) !ir.Array {
        return .{
            .prefix = try self.somePlaces(values, self.below(3)),
            .rest = try self.maybe(values),
            .items_min = @intCast(self.below(3)),
            .items_max = if (self.random.boolean()) none else @intCast(self.below(5)),
        };
    }

    fn counters(self: *Maker, count: usize, with_max: bool) ![]const ir.Counter {
        const list = try self.arena.alloc(ir.Counter, count);
        for (list) |*counter| counter.* = .{ .min = @intCast(self.below(3)), .max = if (!with_max or self.random.boolean()) none else @intCast(self.below(4)) };
        return list;
    }

    /// Up to three, that count at random.
    fn options(self: *Maker, values: u32, counters_: usize) ![]const ir.Option {
        const list = try self.arena.alloc(ir.Option, 1 + self.below(3));
        for (list) |*option| option.* = .{ .value = self.random.uintLessThan(u32, values), .counts = @intCast(self.below(@as(usize, 1) << @intCast(counters_))) };
        return list;
    }

    fn number(self: *Maker) !ir.Number {
        // The oracle knows integers between these only.
        const low = self.random.intRangeAtMost(i32, -25, 100);
        const factors = [_][]const u8{ "3", "7", "10", "0.5", "2.5", "1.2" };
        const except = try self.arena.alloc([]const u8, self.below(3) * self.below(2));
        for (except) |*value| value.* = try self.arena.print("{d}", .{low + self.random.intRangeAtMost(i32, 0, 12)});
        return .{
            .integer = true,
            .multiple_of = if (self.below(3) == 0) factors[self.below(factors.len)] else "",
            .multiple_of_none = if (self.below(4) == 0) try self.arena.dupe([]const u8, &.{factors[self.below(3)]}) else &.{},
            .except = except,
            .low = .{ .decimal = try self.arena.print("{d}", .{low}), .exclusive = self.random.boolean() },
            .high = .{ .decimal = try self.arena.print("{d}", .{low + self.random.intRangeAtMost(i32, 0, 25)}), .exclusive = self.random.boolean() },
        };
    }

    fn texts(self: *Maker) ![]const []const u8 {
        const all = [_][]const u8{ "a", "ab", "", "é", "a\nb", "\xe2\x82\xac", "\xf1\x80\x80\x80", "\xf0\x9f\x98\x80", "a\"", "\x01" };
        const list = try self.arena.alloc([]const u8, 1 + self.below(3));
        for (list) |*text| text.* = all[self.below(all.len)];
        return list;
    }

    fn somePlaces(self: *Maker, values: u32, count: usize) ![]const []const ir.Option {
        const list = try self.arena.alloc([]const ir.Option, count);
        for (list) |*place| place.* = try self.only(values);
        return list;
    }

    fn others(self: *Maker, values: u32) ![]const ir.KeyClass {
        const place = try self.maybe(values);
        return if (place.len == 0) &.{} else self.arena.dupe(ir.KeyClass, &.{.{ .options = place }});
    }

    fn maybe(self: *Maker, values: u32) ![]const ir.Option {
        return if (self.random.boolean()) &.{} else self.only(values);
    }

    fn only(self: *Maker, values: u32) ![]const ir.Option {
        const list = try self.arena.alloc(ir.Option, if (self.below(4) == 0) 2 else 1);
        for (list) |*option| option.* = .{ .value = self.random.uintLessThan(u32, values) };
        return list;
    }

    fn properties(self: *Maker, values: u32) ![]const ir.Property {
        const all = [_][]const u8{ "a", "ab", "b", "", "é", "a\nb", "aba" };
        var list: std.ArrayList(ir.Property) = .empty;
        const start = self.below(all.len);
        for (0..self.below(4)) |index| {
            const required = self.below(3) == 0;
            const absent = !required and self.below(6) == 0;
            try list.append(self.arena, .{
                .key = all[(start + index) % all.len],
                .required = required,
                .options = if (absent) &.{} else try self.only(values),
            });
        }
        return list.items;
    }
};

const Session = struct {
    arena: std.mem.Allocator,
    random: std.Random,
    words: *const Words,
    source: ir.Ir,
    oracle: Oracle,
    program: *Program,
    compared: usize = 0,
    states: usize = 0,

    /// One random output, every mask of it compared with the oracle.
    fn compareMasks(self: *Session) !void {
        const matcher = try Matcher.create(gpa, self.program, &.{self.words.stop});
        defer matcher.destroy();
        var text: std.ArrayList(Symbol) = .empty;
        var mask: [16]u32 = undefined;
        const out = mask[0..self.words.vocabulary.words()];
        for (0..30) |_| {
            try matcher.mask(out, unlimited);
            if (text.items.len + 14 >= 64) return;
            self.states += 1;
            self.oracle.unsure = false;
            const ends = self.oracle.accepts(text.items);
            if (self.oracle.unsure) return;
            errdefer {
                std.debug.print("after {f}\n", .{Shown{ .text = text.items }});
                self.describe(matcher);
            }
            try std.testing.expectEqual(ends, matcher.acceptsEnd());
            var choices: std.ArrayList(u32) = .empty;
            for (0..self.words.vocabulary.count) |index| {
                const token: u32 = @intCast(index);
                const in_mask = out[token >> 5] >> @intCast(token & 31) & 1 != 0;
                const length = text.items.len;
                if (token == self.words.stop) {
                    try std.testing.expectEqual(matcher.acceptsEnd(), in_mask);
                    continue;
                }
                try self.append(&text, token);
                self.oracle.unsure = false;
                const expected = if (text.items.len == length) false else self.oracle.viable(text.items);
                text.shrinkRetainingCapacity(length);
                if (self.oracle.unsure) {
                    if (in_mask) try choices.append(self.arena, token);
                    continue;
                }
                if (expected != in_mask or in_mask != try matcher.allowed(token, unlimited)) {
                    std.debug.print("after {f} token '{f}' ({d}): oracle {}, mask {}, allowed {}\n", .{
                        Shown{ .text = text.items }, std.ascii.hexEscape(self.words.vocabulary.text(token), .lower), token, expected, in_mask, try matcher.allowed(token, unlimited),
                    });
                    self.describe(matcher);
                    return error.MaskDiffers;
                }
                self.compared += 1;
                if (in_mask) try choices.append(self.arena, token);
            }
            if (choices.items.len == 0) {
                try std.testing.expect(matcher.acceptsEnd());
                try std.testing.expect(matcher.isComplete());
                return;
            }
            const token = choices.items[self.random.uintLessThan(usize, choices.items.len)];
            try std.testing.expect(try matcher.accept(token));
            try self.append(&text, token);
        }
    }

    fn describe(self: *const Session, matcher: *const Matcher) void {
        for (matcher.graph.nodesOf(matcher.state)) |id| std.debug.print("in {any}\n", .{matcher.graph.nodes.items[id]});
        for (self.source.nodes, 0..) |node, id| std.debug.print("node {d} {any}\n", .{ id, node });
        for (self.source.regexes, 0..) |regex, id| std.debug.print("regex {d} {any}\n", .{ id, regex });
        for (self.source.values, 0..) |value, id| for (value.cases) |case| switch (case) {
            .object => |object| {
                std.debug.print("value {d} object others {any} ordered {}", .{ id, object.others, object.ordered });
                for (object.properties) |property| std.debug.print(" '{f}': {any} {}", .{ std.ascii.hexEscape(property.key, .lower), property.options, property.required });
                std.debug.print("\n", .{});
            },
            .string => |string| {
                std.debug.print("value {d} string of regex {d}, {d} to {d}\n", .{ id, string.regex, string.length_min, string.length_max });
                for (string.among orelse &.{}) |item| std.debug.print("value {d} text '{f}'\n", .{ id, std.ascii.hexEscape(item, .lower) });
            },
            .array => |array| std.debug.print("value {d} array {any}\n", .{ id, array }),
            .number => |number| std.debug.print("value {d} from {s} {} to {s} {}, multiple of {s}, of none of {any}, none of {any}\n", .{ id, number.low.?.decimal, number.low.?.exclusive, number.high.?.decimal, number.high.?.exclusive, number.multiple_of, number.multiple_of_none, number.except }),
            else => std.debug.print("value {d} {any}\n", .{ id, case }),
        };
    }

    fn append(self: *Session, text: *std.ArrayList(Symbol), token: u32) !void {
        if (self.program.isNamed(token) or self.words.vocabulary.kinds[token] != .normal) return text.append(self.arena, 256 + token);
        for (self.words.vocabulary.text(token)) |byte| try text.append(self.arena, byte);
    }

    /// Random outputs with a limit end in time, from the least possible on; masks under a limit are what single tokens say.
    fn finishInTime(self: *Session) !void {
        const matcher = try Matcher.create(gpa, self.program, &.{self.words.stop});
        defer matcher.destroy();
        var left = self.program.cost_min + self.random.uintLessThan(u32, 12);
        if (left > 200) return;
        var mask: [16]u32 = undefined;
        const out = mask[0..self.words.vocabulary.words()];
        while (left > 0) : (left -= 1) {
            try std.testing.expect(matcher.cost() <= left);
            try matcher.mask(out, left);
            var choices: std.ArrayList(u32) = .empty;
            for (0..self.words.vocabulary.count) |index| {
                const token: u32 = @intCast(index);
                const in_mask = out[token >> 5] >> @intCast(token & 31) & 1 != 0;
                if (in_mask != try matcher.allowed(token, left)) {
                    std.debug.print("token '{f}' with {d} left: mask {}\n", .{ std.ascii.hexEscape(self.words.vocabulary.text(token), .lower), left, in_mask });
                    return error.LimitDiffers;
                }
                if (in_mask and token != self.words.stop) try choices.append(self.arena, token);
            }
            if (matcher.acceptsEnd() and (choices.items.len == 0 or self.random.boolean())) break;
            if (choices.items.len == 0) return error.DeadEnd;
            const before = matcher.cost();
            const token = choices.items[self.random.uintLessThan(usize, choices.items.len)];
            try std.testing.expect(try matcher.accept(token));
            // Of a state that costs something, some token leads to one that costs less.
            _ = before;
        }
        if (!matcher.acceptsEnd()) return error.NotFinished;
    }
};

const Shown = struct {
    text: []const Symbol,

    pub fn format(self: Shown, writer: *std.Io.Writer) std.Io.Writer.Error!void {
        for (self.text) |symbol| {
            if (symbol > 255) try writer.print("[{d}]", .{symbol - 256}) else if (symbol >= 0x20 and symbol < 0x7f) try writer.writeByte(@intCast(symbol)) else try writer.print("\\x{x:0>2}", .{symbol});
        }
    }
};

test "masks are what the oracle says, and every state can be finished for its cost" {
    try compare(.mixed);
}

test "members that are counted" {
    try compare(.members);
}

test "classes of keys" {
    try compare(.classes);
}

test "items that differ" {
    try compare(.unique);
}

test "items that are counted" {
    try compare(.counters);
}

fn compare(feature: Feature) !void {
    const seed = std.testing.random_seed;
    errdefer std.debug.print("seed {d}\n", .{seed});
    var compared: usize = 0;
    var states: usize = 0;
    var refused: usize = 0;
    for (0..rounds) |round| {
        var prng: std.Random.DefaultPrng = .init(seed +% round *% 7919);
        errdefer std.debug.print("round {d}\n", .{round});
        const random = prng.random();
        var arena_state: std.heap.ArenaAllocator = .init(gpa);
        defer arena_state.deinit();
        const arena = arena_state.allocator();
        const words = try Words.create(random);
        defer words.vocabulary.destroy(gpa);
        var maker: Maker = .{
            .arena = arena,
            .random = random,
            .words = &words,
            .feature = feature,
            .style = .{
                .free_space = random.boolean(),
                .whitespace_max = ([_]u32{ 0, 2, none })[random.uintLessThan(usize, 3)],
                .spelling = if (random.boolean()) .spec else .canonical,
            },
        };
        const source = try maker.make();
        const bytes = try encode(gpa, source);
        defer gpa.free(bytes);
        const oracle = try Oracle.create(arena, source, try words.textTokens(arena), maker.style.spelling == .spec);
        var refusal: ir.Refusal = .{};
        const program = Program.create(gpa, words.vocabulary, bytes, &refusal) catch |err| switch (err) {
            error.OutOfMemory => return err,
            error.Refused => {
                if (refusal.kind != .unsatisfiable or oracle.productive_nodes[source.root] and !oracle.lacks_texts) {
                    std.debug.print("refused: {s}\n", .{refusal.message});
                    return error.WronglyRefused;
                }
                refused += 1;
                continue;
            },
        };
        defer program.destroy();
        // The oracle knows texts of regexes up to some length only.
        if (oracle.lacks_texts or !oracle.productive_nodes[source.root] and source.regexes.len > 0) continue;
        try std.testing.expect(oracle.productive_nodes[source.root]);
        var session: Session = .{ .arena = arena, .random = random, .words = &words, .source = source, .oracle = oracle, .program = program };
        for (0..2) |_| try session.compareMasks();
        for (0..4) |_| try session.finishInTime();
        compared += session.compared;
        states += session.states;
    }
    // The grammars are not all trivial.
    try std.testing.expect(compared > rounds * 200);
    try std.testing.expect(states > 250);
    try std.testing.expect(refused < rounds * 3 / 4);
}

const rounds = 60;
