//! From the intermediate form to a program, for one vocabulary: structure is checked, automata are built, costs are found as least fixed
//! points, and what nothing satisfies is taken out.
const std = @import("std");
const Allocator = std.mem.Allocator;
const words = @import("../stdx.zig").words;
const vocabulary_room = @import("../vocabulary.zig");
const Vocabulary = vocabulary_room.Vocabulary;
const StringTables = vocabulary_room.StringTables;
const ir = @import("ir.zig");
const number_room = @import("number.zig");
const spelling = @import("spelling.zig");
const Speller = spelling.Speller;
const Texts = @import("texts.zig").Texts;
const Record = @import("record.zig").Record;
const Dawg = @import("dawg.zig").Dawg;
const Terminators = @import("terminators.zig").Terminators;
const pattern_room = @import("pattern.zig");
const Pattern = pattern_room.Pattern;
const GraphPool = @import("graph_pool.zig").GraphPool;
const program_room = @import("program.zig");
const Program = program_room.Program;
const Node = program_room.Node;
const Bytes = program_room.Bytes;
const Value = program_room.Value;
const Case = program_room.Case;
const Literal = program_room.Literal;
const Option = program_room.Option;
const Counts = @import("counts.zig").Counts;
const array_room = @import("array.zig");
const domains = @import("domains.zig");
const unique_room = @import("unique.zig");
const Unique = unique_room.Unique;
const Patterns = @import("patterns.zig").Patterns;
const Object = program_room.Object;
const object_room = @import("object.zig");
const loop_room = @import("loop.zig");
const cover_room = @import("cover.zig");
const Cover = cover_room.Cover;
const Property = program_room.Property;

const limits = @import("../limits.zig").grammar;

const none = ir.none;
const unreachable_cost = spelling.unreachable_cost;

/// `ir_bytes` is what src/grammar/encode.ts writes, borrowed for the call. The vocabulary has to outlive the program.
pub fn compile(gpa: Allocator, vocabulary: *const Vocabulary, ir_bytes: []const u8, refusal: *ir.Refusal) ir.Error!*Program {
    return compileWithin(gpa, vocabulary, ir_bytes, limits.work_units, refusal);
}

/// Refuses by `limit` what takes more than so many units of work.
pub fn compileWithin(gpa: Allocator, vocabulary: *const Vocabulary, ir_bytes: []const u8, work_units: u64, refusal: *ir.Refusal) ir.Error!*Program {
    var budget: ir.Budget = .{ .refusal = refusal, .left = work_units };
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    errdefer arena_state.deinit();
    var scratch_state: std.heap.ArenaAllocator = .init(gpa);
    defer scratch_state.deinit();
    const source = try ir.decode(arena_state.allocator(), ir_bytes, vocabulary.count, &budget);
    const self = try gpa.create(Program);
    errdefer gpa.destroy(self);
    var compiler: Compiler = .{
        .arena = arena_state.allocator(),
        .scratch = scratch_state.allocator(),
        .gpa = gpa,
        .source = source,
        .vocabulary = vocabulary,
        .budget = &budget,
        .program = self,
    };
    try compiler.run();
    self.graphs = try GraphPool.create(gpa, vocabulary);
    self.arena = arena_state.state;
    return self;
}

const Compiler = struct {
    /// For what the program keeps.
    arena: Allocator,
    /// For what it does not.
    scratch: Allocator,
    gpa: Allocator,
    source: ir.Ir,
    vocabulary: *const Vocabulary,
    budget: *ir.Budget,
    program: *Program,
    speller: Speller = undefined,
    styles: std.ArrayList(ir.Style) = .empty,
    cases: std.ArrayList(Case) = .empty,
    numbers: std.ArrayList(number_room.Automaton) = .empty,
    number_ids: std.StringHashMapUnmanaged(u32) = .empty,
    texts: std.ArrayList(Texts) = .empty,
    terminators: std.ArrayList(Terminators) = .empty,
    dawgs: std.ArrayList(Dawg) = .empty,
    patterns: std.ArrayList(Pattern) = .empty,
    pattern_ids: std.AutoHashMapUnmanaged(PatternKey, u32) = .empty,
    /// Values once for each spelling; (2 × values)
    values: []Value = &.{},
    /// All their cases, the impossible ones included.
    value_cases: [][]u32 = &.{},
    /// What a shortest member of each case costs.
    case_costs: []u32 = &.{},
    /// The values that each case refers to.
    children: std.ArrayList([]const u32) = .empty,
    cover: Cover = .{},
    reached: []bool = &.{},
    /// Values reached, children before parents as far as there is no cycle.
    order: std.ArrayList(u32) = .empty,

    const PatternKey = struct { regex: u32, min: u32, max: u32, writing: pattern_room.Writing };

    fn run(self: *Compiler) ir.Error!void {
        self.program.gpa = self.gpa;
        self.program.vocabulary = self.vocabulary;
        try self.nameTokens();
        self.speller = .{ .vocabulary = self.vocabulary, .named = self.program.named_bits, .budget = self.budget };
        try self.costPieces();
        self.program.nullable = try self.findNullable();
        try self.refuseLeftRecursion();

        const value_count = self.source.values.len * 2;
        self.values = try self.arena.alloc(Value, value_count);
        @memset(self.values, .{});
        self.value_cases = try self.scratch.alloc([]u32, value_count);
        @memset(self.value_cases, &.{});
        self.reached = try self.scratch.alloc(bool, value_count);
        @memset(self.reached, false);
        for (self.source.nodes) |node| switch (node) {
            .json => |json| try self.reach(valueId(json.value, json.style.spelling)),
            else => {},
        };
        try self.costValues();
        try self.finishValues();
        try self.compileNodes();

        const program = self.program;
        program.root = self.source.root;
        program.values = self.values;
        program.cases = self.cases.items;
        program.numbers = self.numbers.items;
        program.texts = self.texts.items;
        program.terminators = self.terminators.items;
        program.dawgs = self.dawgs.items;
        program.has_parts = for (self.source.nodes) |node| {
            if (node == .texts) break true;
        } else false;
        program.patterns = self.patterns.items;
        program.styles = self.styles.items;
        program.cost_min = program.node_costs[program.root];
        if (program.cost_min == unreachable_cost) return self.budget.refuse(.unsatisfiable, "nothing satisfies this", try self.blame());
    }

    // Tokens and pieces

    fn nameTokens(self: *Compiler) ir.Error!void {
        const bits = try self.arena.alloc(u32, self.vocabulary.words());
        @memset(bits, 0);
        var named: std.ArrayList(u32) = .empty;
        for (self.source.nodes) |node| switch (node) {
            .token => |token| try self.name(&named, bits, token),
            .marker => |marker| if (marker.token != none) try self.name(&named, bits, marker.token),
            .text => |text| for (text.until) |marker| if (marker.token != none) try self.name(&named, bits, marker.token),
            else => {},
        };
        const program = self.program;
        program.named = named.items;
        program.named_bits = bits;
        var singles = self.vocabulary.singles;
        const counts = self.vocabulary.string_tables.counts;
        var own_counts: []u32 = &.{};
        for (named.items) |token| {
            if (self.vocabulary.kinds[token] != .normal) continue;
            const text = self.vocabulary.text(token);
            if (text.len == 1) singles[text[0]] -= 1;
            if (text.len > 0 and text[0] & 0xc0 == 0x80) return self.budget.invalid("a token named by the grammar is part of a character");
            const read = vocabulary_room.string_tables.readInside(text, .plain) orelse continue;
            if (read.quote != null or read.escapes or read.end != vocabulary_room.json_string.State.start or text.len == 0) continue;
            if (own_counts.len == 0) own_counts = try self.arena.dupe(u32, counts);
            own_counts[read.characters] -= 1;
        }
        for (&program.writable, singles) |*writable, count| writable.* = count > 0;
        program.escapes = for ("\\\"bfnrtu0123456789abcdef") |byte| {
            if (!program.writable[byte]) break false;
        } else true;
        program.character_counts = if (own_counts.len == 0) counts else own_counts;
        program.character_costs = &self.vocabulary.string_tables.character_costs;
        // Only where a named token was the last of its length does it matter.
        for (own_counts, 0..) |count, characters| if (count == 0 and counts[characters] != 0) {
            const costs = try self.arena.create([StringTables.character_cost_count]u32);
            costs.* = StringTables.characterCosts(own_counts);
            program.character_costs = costs;
        };
    }

    fn name(self: *Compiler, named: *std.ArrayList(u32), bits: []u32, token: u32) ir.Error!void {
        const bit = @as(u32, 1) << @intCast(token & 31);
        if (bits[token >> 5] & bit != 0) return;
        bits[token >> 5] |= bit;
        try named.append(self.arena, token);
    }

    fn costPieces(self: *Compiler) ir.Error!void {
        const program = self.program;
        for (&program.literal_costs, std.enums.values(Literal)) |*costs, literal| {
            try self.speller.fill(literal.text(), costs[0 .. literal.text().len + 1]);
        }
        program.prices = .{
            .comma = try self.speller.cost(","),
            .brace = try self.speller.cost("}"),
            .quote = try self.speller.cost("\""),
            .quote_colon = try self.speller.cost("\":"),
            .width = 0,
        };
        for (0x20..0x7f) |byte| {
            if (program.writable[byte] and byte != '"' and byte != '\\') program.prices.width += 1;
        }
        program.colon_cost = try self.speller.cost(":");
    }

    // Structure of the nodes

    /// Which nodes can be empty, as the least fixed point.
    fn findNullable(self: *Compiler) ir.Error![]const bool {
        const nullable = try self.arena.alloc(bool, self.source.nodes.len);
        @memset(nullable, false);
        var changed = true;
        while (changed) {
            changed = false;
            for (self.source.nodes, nullable) |node, *known| {
                try self.budget.spend(1);
                if (known.*) continue;
                known.* = switch (node) {
                    .bytes => |bytes| bytes.len == 0,
                    .token, .marker, .json, .any_token => false,
                    .texts => |texts| for (texts) |text| {
                        if (text.len == 0) break true;
                    } else false,
                    .record => |record| for (record.items) |item| {
                        if (item.required) break false;
                    } else true,
                    .regex => |regex| self.patterns.items[try self.patternId(regex, 0, none, .raw)].hasEmpty(),
                    .text => true,
                    .sequence => |items| for (items) |item| {
                        if (!nullable[item]) break false;
                    } else true,
                    .choice => |items| for (items) |item| {
                        if (nullable[item]) break true;
                    } else false,
                    .repeat => |repeat| repeat.max == 0 or repeat.min == 0 or nullable[repeat.item],
                    .channel => |channel| nullable[channel.item],
                };
                changed = changed or known.*;
            }
        }
        return nullable;
    }

    /// A node that comes back to itself before anything was written could do so for ever.
    fn refuseLeftRecursion(self: *Compiler) ir.Error!void {
        const Visit = struct { node: u32, next: u32 };
        const Color = enum { new, open, done };
        const colors = try self.scratch.alloc(Color, self.source.nodes.len);
        @memset(colors, .new);
        var stack: std.ArrayList(Visit) = .empty;
        for (0..self.source.nodes.len) |start| {
            if (colors[start] != .new) continue;
            try stack.append(self.scratch, .{ .node = @intCast(start), .next = 0 });
            colors[start] = .open;
            while (stack.items.len > 0) {
                try self.budget.spend(1);
                const top = &stack.items[stack.items.len - 1];
                const child = self.leftChild(top.node, top.next) orelse {
                    colors[top.node] = .done;
                    _ = stack.pop();
                    continue;
                };
                top.next += 1;
                switch (colors[child]) {
                    .open => return self.budget.invalid("a node begins with itself, so it could repeat without writing anything (left recursion)"),
                    .done => {},
                    .new => {
                        colors[child] = .open;
                        try stack.append(self.scratch, .{ .node = child, .next = 0 });
                    },
                }
            }
        }
    }

    /// The index-th node that can stand at the beginning of this one.
    fn leftChild(self: *const Compiler, node: u32, index: u32) ?u32 {
        return switch (self.source.nodes[node]) {
            .bytes, .token, .marker, .text, .json, .regex, .texts, .any_token => null,
            .choice => |items| if (index < items.len) items[index] else null,
            .sequence => |items| if (index < items.len and (index == 0 or self.program.nullable[items[index - 1]])) items[index] else null,
            .repeat => |repeat| if (index == 0) repeat.item else null,
            .record => |record| if (index < record.items.len) record.items[index].node else null,
            .channel => |channel| if (index == 0) channel.item else null,
        };
    }

    fn compileNodes(self: *Compiler) ir.Error!void {
        const count = self.source.nodes.len;
        const nodes = try self.arena.alloc(Node, count);
        const costs = try self.arena.alloc(u32, count);
        @memset(costs, unreachable_cost);
        for (self.source.nodes, nodes, costs) |node, *compiled, *cost| compiled.* = switch (node) {
            .bytes => |text| bytes: {
                const bytes = try self.bytesOf(text);
                cost.* = bytes.cost[0];
                break :bytes .{ .bytes = bytes };
            },
            .token => |token| token: {
                cost.* = 1;
                break :token .{ .token = token };
            },
            .marker => |marker| marker: {
                const bytes = try self.bytesOf(marker.bytes);
                cost.* = if (marker.token != none) 1 else bytes.cost[0];
                break :marker .{ .marker = .{ .token = marker.token, .bytes = bytes } };
            },
            .texts => |texts| texts: {
                const dawg = try Dawg.create(self.arena, self.gpa, texts, &self.speller);
                cost.* = dawg.cost[dawg.root];
                try self.dawgs.append(self.arena, dawg);
                break :texts .{ .texts = @intCast(self.dawgs.items.len - 1) };
            },
            .record => |record| .{ .record = try self.recordOf(record.items, record.separator) },
            .any_token => |except| any: {
                const allowed = try self.tokensBut(except);
                cost.* = if (std.mem.allEqual(u32, allowed, 0)) unreachable_cost else 1;
                break :any .{ .any_token = allowed };
            },
            .regex => |regex| regex: {
                const id = try self.patternId(regex, 0, none, .raw);
                cost.* = self.patterns.items[id].cost;
                break :regex .{ .regex = id };
            },
            .sequence => |items| .{ .sequence = .{ .items = items, .cost = try self.arena.alloc(u32, items.len + 1) } },
            .choice => |items| .{ .choice = items },
            .repeat => |repeat| repeat: {
                if (repeat.min > repeat.max) return self.budget.invalid("a repeat has a minimum above its maximum");
                const empty_item = self.program.nullable[repeat.item];
                break :repeat .{ .repeat = .{ .item = repeat.item, .min = if (empty_item) 0 else repeat.min, .max = repeat.max, .empty_item = empty_item } };
            },
            .channel => |channel| .{ .channel = .{ .channel = channel.channel, .item = channel.item } },
            .text => |text| text: {
                cost.* = 0;
                const until = try self.arena.dupe(ir.Marker, text.until);
                for (until) |*marker| marker.bytes = try self.arena.dupe(u8, marker.bytes);
                try self.terminators.append(self.arena, try Terminators.create(self.arena, text.until, text.barred, self.budget));
                break :text .{ .text = .{ .controls = text.controls, .terminators = @intCast(self.terminators.items.len - 1), .until = until, .tokens_max = text.tokens_max } };
            },
            .json => |json| json: {
                const value = valueId(json.value, json.style.spelling);
                cost.* = self.values[value].cost;
                break :json .{ .json = .{ .value = value, .style = try self.styleId(json.style) } };
            },
        };
        var changed = true;
        while (changed) {
            changed = false;
            for (nodes, costs) |*node, *known| {
                try self.budget.spend(1);
                const cost = switch (node.*) {
                    .sequence => |sequence| sum: {
                        const ends: []u32 = @constCast(sequence.cost);
                        ends[sequence.items.len] = 0;
                        var at = sequence.items.len;
                        while (at > 0) {
                            at -= 1;
                            ends[at] = spelling.add(costs[sequence.items[at]], ends[at + 1]);
                        }
                        break :sum ends[0];
                    },
                    .choice => |items| least: {
                        var least = unreachable_cost;
                        for (items) |item| least = @min(least, costs[item]);
                        break :least least;
                    },
                    .repeat => |repeat| spelling.times(repeat.min, costs[repeat.item]),
                    .channel => |channel| costs[channel.item],
                    .record => |record| record.wholeCost(costs),
                    else => continue,
                };
                if (cost >= known.*) continue;
                known.* = cost;
                changed = true;
            }
        }
        self.program.nodes = nodes;
        self.program.node_costs = costs;
    }

    fn recordOf(self: *Compiler, given: []const ir.Node.Item, separator: u32) ir.Error!Record {
        const items = try self.arena.alloc(u32, given.len);
        const required = try self.arena.alloc(bool, given.len);
        for (given, items, required) |item, *node, *needed| {
            if (self.program.nullable[item.node]) return self.budget.invalid("an item of a record can be empty");
            node.* = item.node;
            needed.* = item.required;
        }
        return .{ .items = items, .required = required, .separator = separator };
    }

    /// (words) tokens that write something, or that are control tokens, but for these.
    fn tokensBut(self: *Compiler, except: []const u32) ir.Error![]const u32 {
        const bits = try self.arena.alloc(u32, self.vocabulary.words());
        try self.budget.spend(bits.len * 8);
        @memset(bits, 0);
        for (self.vocabulary.kinds, 0..) |kind, index| {
            const token: u32 = @intCast(index);
            if (kind == .control or kind == .normal and self.vocabulary.text(token).len > 0) words.set(bits, token);
        }
        for (except) |token| words.unset(bits, token);
        return bits;
    }

    fn bytesOf(self: *Compiler, text: []const u8) ir.Error!Bytes {
        return .{ .text = text, .cost = try self.speller.costs(self.arena, text) };
    }

    fn styleId(self: *Compiler, style: ir.Style) ir.Error!u16 {
        for (self.styles.items, 0..) |known, index| if (std.meta.eql(known, style)) return @intCast(index);
        if (self.styles.items.len > std.math.maxInt(u16)) return self.budget.refuse(.limit, "the grammar has too many styles of JSON", none);
        try self.styles.append(self.arena, style);
        return @intCast(self.styles.items.len - 1);
    }

    // Values

    fn valueId(value: u32, style: ir.Style.Spelling) u32 {
        return value * 2 + @backingInt(style);
    }

    fn styleOf(value: u32) ir.Style.Spelling {
        return @fromBackingInt(@as(u1, @truncate(value)));
    }

    /// Compiles a value and all it leads to, by a depth-first search without recursion.
    fn reach(self: *Compiler, start: u32) ir.Error!void {
        const Visit = struct { value: u32, case: u32 = 0, child: u32 = 0 };
        if (self.reached[start]) return;
        var stack: std.ArrayList(Visit) = .empty;
        try self.compileValue(start);
        try stack.append(self.scratch, .{ .value = start });
        while (stack.items.len > 0) {
            try self.budget.spend(1);
            const top = &stack.items[stack.items.len - 1];
            const cases = self.value_cases[top.value];
            if (top.case == cases.len) {
                try self.order.append(self.scratch, top.value);
                _ = stack.pop();
                continue;
            }
            const children = self.children.items[cases[top.case]];
            if (top.child == children.len) {
                top.case += 1;
                top.child = 0;
                continue;
            }
            const child = children[top.child];
            top.child += 1;
            if (self.reached[child]) continue;
            try self.compileValue(child);
            try stack.append(self.scratch, .{ .value = child });
        }
    }

    fn childrenOf(self: *Compiler, case: Case) ir.Error![]const u32 {
        var children: std.ArrayList(u32) = .empty;
        switch (case) {
            .array => |array| {
                for (array.prefix) |place| try self.addChildren(&children, place);
                try self.addChildren(&children, array.rest);
            },
            .object => |object| {
                for (object.properties) |property| try self.addChildren(&children, property.options);
                for (object.classes) |class| try self.addChildren(&children, class.options);
            },
            else => {},
        }
        return children.items;
    }

    fn addChildren(self: *Compiler, children: *std.ArrayList(u32), options: []const Option) ir.Error!void {
        try self.budget.spend(options.len);
        for (options) |option| try children.append(self.scratch, option.value);
    }

    fn compileValue(self: *Compiler, value: u32) ir.Error!void {
        self.reached[value] = true;
        const source = self.source.values[value / 2];
        self.values[value].origin = source.origin;
        const cases = try self.scratch.alloc(u32, source.cases.len);
        for (cases, source.cases) |*case, item| {
            const compiled = try self.compileCase(item, styleOf(value));
            case.* = @intCast(self.cases.items.len);
            try self.cases.append(self.arena, compiled);
            try self.children.append(self.scratch, try self.childrenOf(compiled));
        }
        self.value_cases[value] = cases;
    }

    fn compileCase(self: *Compiler, case: ir.Case, style: ir.Style.Spelling) ir.Error!Case {
        try self.budget.spend(1);
        return switch (case) {
            .null => .{ .literal = .null },
            .true => .{ .literal = .true },
            .false => .{ .literal = .false },
            .number => |number| .{ .number = try self.numberId(number, if (number.plain) .canonical else style) },
            .string => |string| string: {
                const among = string.among orelse break :string if (string.regex == none)
                    .{ .string = .{ .min = string.length_min, .max = string.length_max } }
                else
                    .{ .pattern = try self.patternId(string.regex, string.length_min, string.length_max, if (style == .spec) .spec else .plain) };
                const list = try self.matching(try self.distinct(among), string.regex);
                try self.texts.append(self.arena, try Texts.create(self.arena, self.gpa, list, "\"", style, true, &self.speller));
                break :string .{ .among = @intCast(self.texts.items.len - 1) };
            },
            .array => |array| try self.compileArray(array, style),
            .object => |object| try self.compileObject(object, style),
        };
    }

    /// The texts that a regex matches.
    fn matching(self: *Compiler, texts: []const []const u8, regex: u32) ir.Error![]const []const u8 {
        if (regex == none) return texts;
        // Whatever tokens can write: what they cannot is left out later.
        const all: [256]bool = @splat(true);
        const source = self.patternSource(.spec, &all);
        var pattern: Pattern = try .create(self.scratch, self.scratch, &source, self.source.regexes, regex, 0, none);
        pattern.terms.budget = self.budget;
        var kept: std.ArrayList([]const u8) = .empty;
        for (texts) |text| {
            try self.budget.spend(text.len);
            if (try pattern.matches(text)) try kept.append(self.scratch, text);
        }
        return kept.items;
    }

    fn patternSource(self: *Compiler, writing: pattern_room.Writing, writable: *const [256]bool) pattern_room.Source {
        return .{
            .vocabulary = self.vocabulary,
            .speller = &self.speller,
            .writable = writable,
            .escapes = self.program.escapes,
            .writing = writing,
            .budget = self.budget,
        };
    }

    fn patternId(self: *Compiler, regex: u32, min: u32, max: u32, writing: pattern_room.Writing) ir.Error!u32 {
        const known = try self.pattern_ids.getOrPut(self.scratch, .{ .regex = regex, .min = min, .max = max, .writing = writing });
        if (!known.found_existing) {
            const source = self.patternSource(writing, &self.program.writable);
            var scratch: std.heap.ArenaAllocator = .init(self.gpa);
            defer scratch.deinit();
            known.value_ptr.* = @intCast(self.patterns.items.len);
            try self.patterns.append(self.arena, try .create(self.arena, scratch.allocator(), &source, self.source.regexes, regex, min, max));
        }
        return known.value_ptr.*;
    }

    fn distinct(self: *Compiler, texts: []const []const u8) ir.Error![]const []const u8 {
        var seen: std.StringHashMapUnmanaged(void) = .empty;
        try seen.ensureTotalCapacity(self.scratch, @intCast(texts.len));
        var list: std.ArrayList([]const u8) = .empty;
        try list.ensureTotalCapacity(self.scratch, texts.len);
        for (texts) |text| if (!seen.getOrPutAssumeCapacity(text).found_existing) list.appendAssumeCapacity(text);
        return list.items;
    }

    fn numberId(self: *Compiler, number: ir.Number, style: ir.Style.Spelling) ir.Error!u32 {
        var key: std.ArrayList(u8) = .empty;
        try key.print(self.scratch, "{d}{d}", .{ @intFromBool(number.integer), @backingInt(style) });
        for ([_]?ir.Bound{ number.low, number.high }) |bound| {
            if (bound) |known| try key.print(self.scratch, "|{s}{d}", .{ known.decimal, @intFromBool(known.exclusive) }) else try key.append(self.scratch, '|');
        }
        try key.print(self.scratch, "|{s}", .{number.multiple_of});
        for (number.multiple_of_none) |factor| try key.print(self.scratch, "~{s}", .{factor});
        for (number.except) |value| try key.print(self.scratch, "!{s}", .{value});
        const known = try self.number_ids.getOrPut(self.scratch, key.items);
        if (!known.found_existing) {
            known.value_ptr.* = @intCast(self.numbers.items.len);
            try self.numbers.append(self.arena, try number_room.build(self.arena, self.gpa, number, style, &self.program.writable, self.budget));
        }
        return known.value_ptr.*;
    }

    fn compileArray(self: *Compiler, array: ir.Array, style: ir.Style.Spelling) ir.Error!Case {
        const prefix = try self.arena.alloc([]const Option, array.prefix.len);
        for (prefix, array.prefix) |*place, options| place.* = try self.optionsOf(options, style);
        const rest = try self.optionsOf(array.rest, style);
        const unique: ?*Unique = if (array.unique and array.items_max > 1) try self.arena.create(Unique) else null;
        if (unique) |known| known.* = .{ .prefix = try self.arena.dupe([]const Option, prefix), .rest = rest };
        return .{ .array = .{
            .prefix = prefix,
            .rest = rest,
            .unique = unique,
            .min = array.items_min,
            .max = array.items_max,
            .counts = try self.countsOf(array.counters),
            .comma_cost = self.program.prices.comma,
            .close_cost = try self.speller.cost("]"),
        } };
    }

    fn optionsOf(self: *Compiler, options: []const ir.Option, style: ir.Style.Spelling) ir.Error![]const Option {
        try self.budget.spend(options.len);
        const list = try self.arena.alloc(Option, options.len);
        for (list, options) |*option, source| option.* = .{ .value = valueId(source.value, style), .counts = source.counts, .base = source.counts };
        return list;
    }

    fn countsOf(self: *Compiler, counters: []const ir.Counter) ir.Error!Counts {
        return try Counts.create(self.arena, counters, limits.counted_entries) orelse
            self.budget.refuse(.limit, "an array or object counts too much", none);
    }

    /// Gives the options what their values cost by now.
    fn refresh(self: *const Compiler, options: []const Option) void {
        for (@constCast(options)) |*option| option.cost = self.values[option.value].cost;
    }

    /// Its items are scalars, whose costs are known before those of arrays.
    fn prepareUnique(self: *Compiler, array: *array_room.Array) ir.Error!void {
        var patterns: Patterns = try .create(self.gpa, self.patterns.items);
        defer patterns.deinit();
        const tables: domains.Tables = .{
            .program = self.program,
            .cases = self.cases.items,
            .texts = self.texts.items,
            .numbers = self.numbers.items,
            .patterns = &patterns,
            .budget = self.budget,
        };
        try unique_room.prepare(self.arena, self.scratch, self.gpa, &tables, &self.speller, self.values, self.value_cases, array);
    }

    fn refreshArray(self: *Compiler, array: *const array_room.Array) ir.Error!void {
        // What the items of this one cost depends on more than their values.
        if (array.unique != null) return;
        try self.budget.spend(array.prefix.len);
        for (array.prefix) |place| self.refresh(place);
        self.refresh(array.rest);
    }

    fn unbuilt(self: *Compiler) error{Refused} {
        return self.budget.refuse(.limit, "this engine cannot enforce that yet", none);
    }

    fn compileObject(self: *Compiler, object: ir.Object, style: ir.Style.Spelling) ir.Error!Case {
        const keys = try self.scratch.alloc([]const u8, object.properties.len);
        for (keys, object.properties) |*key, property| key.* = property.key;
        const texts = try Texts.create(self.arena, self.gpa, keys, "\":", style, false, &self.speller);
        const properties = try self.arena.alloc(Property, keys.len);
        const source = try self.arena.alloc(u32, keys.len);
        var piece: std.ArrayList(u8) = .empty;
        defer piece.deinit(self.gpa);
        for (texts.texts, properties, 0..) |text, *property, sorted| {
            const declared = object.properties[text.source];
            piece.clearRetainingCapacity();
            try piece.appendSlice(self.gpa, ",\"");
            try piece.appendSlice(self.gpa, text.spelled);
            const costs = try self.speller.costs(self.scratch, piece.items);
            property.* = .{
                .options = try self.optionsOf(declared.options, style),
                .required = declared.required,
                .offered = false,
                .source = text.source,
                .start_cost = costs[1],
                .comma_cost = costs[0],
                .value_cost = unreachable_cost,
            };
            source[text.source] = @intCast(sorted);
        }
        return .{ .object = .{
            .keys = texts,
            .properties = properties,
            .source = source,
            .classes = try self.classesOf(&object, style),
            .ordered = object.ordered,
            .words = @intCast((keys.len + 31) / 32),
            .first_required = for (source) |sorted| {
                if (properties[sorted].required) break sorted;
            } else none,
            .counts = try self.countsOf(object.counters),
            .members_min = object.members_min,
            .members_max = object.members_max,
        } };
    }

    /// Classes of the same keys are one; the one that takes any key comes first.
    fn classesOf(self: *Compiler, object: *const ir.Object, style: ir.Style.Spelling) ir.Error![]const object_room.KeyClass {
        var merged: std.AutoArrayHashMapUnmanaged(u32, std.ArrayList(ir.Option)) = .empty;
        for ([_]bool{ true, false }) |any| for (object.others) |class| {
            if (any != (class.keys == none) or class.options.len == 0) continue;
            const options = try merged.getOrPutValue(self.scratch, class.keys, .empty);
            try options.value_ptr.appendSlice(self.scratch, class.options);
        };
        var list: std.ArrayList(object_room.KeyClass) = .empty;
        for (merged.keys(), merged.values()) |regex, options| {
            var class: object_room.KeyClass = .{
                .keys = none,
                .options = try self.optionsOf(options.items, style),
                .value_cost = unreachable_cost,
                .loop = .{ .base = 0, .step = 1, .width = self.program.prices.width },
            };
            if (regex != none) {
                class.keys = try self.patternId(regex, 0, none, if (style == .spec) .spec else .fixed);
                if (self.patterns.items[class.keys].cost == unreachable_cost) continue;
                class.loop = try loop_room.find(self.gpa, self.scratch, self.patterns.items, class.keys, self.budget);
                if (object.isCounted() and class.loop.size < keysWanted(object))
                    return self.budget.refuse(.limit, "an object that counts its members has a pattern of too few keys", none);
            }
            try list.append(self.arena, class);
        }
        return list.items;
    }

    /// With so many keys in each class, none is missing while something is owed.
    fn keysWanted(object: *const ir.Object) u32 {
        var wanted: u32 = @intCast(object.properties.len + 1);
        wanted +|= object.members_min;
        if (object.counters.len == 0) return wanted;
        // Any number of members may be of no use to the counters.
        for (object.counters) |counter| wanted +|= counter.min;
        return wanted +| object.members_max;
    }

    /// What a shortest member of each value costs: a least fixed point. What stays unreachable has no members.
    fn costValues(self: *Compiler) ir.Error!void {
        self.case_costs = try self.scratch.alloc(u32, self.cases.items.len);
        // By a clock that counts changes: when a value last got another cost, and when a case was last weighed.
        const altered = try self.scratch.alloc(u32, self.values.len);
        @memset(altered, 0);
        const weighed = try self.scratch.alloc(u32, self.cases.items.len);
        @memset(weighed, none);
        var clock: u32 = 0;
        var changed = true;
        while (changed) {
            changed = false;
            for (self.order.items) |value| for (self.value_cases[value]) |case| {
                if (weighed[case] != none) {
                    for (self.children.items[case]) |child| {
                        if (altered[child] > weighed[case]) break;
                    } else continue;
                }
                weighed[case] = clock;
                const cost = try self.caseCost(case);
                self.case_costs[case] = cost;
                if (cost >= self.values[value].cost) continue;
                self.values[value].cost = cost;
                clock += 1;
                altered[value] = clock;
                changed = true;
            };
        }
    }

    fn caseCost(self: *Compiler, case: u32) ir.Error!u32 {
        const program = self.program;
        try self.budget.spend(1);
        switch (self.cases.items[case]) {
            .literal => |literal| return program.literal_costs[@backingInt(literal)][0],
            .number => |number| return self.numbers.items[number].cost[0],
            .string => |string| {
                if (string.min > string.max) return unreachable_cost;
                if (string.min == 0) return self.speller.cost("\"\"");
                return spelling.add(spelling.add(program.prices.quote, program.prices.quote), program.characterCost(string.min));
            },
            .among => |texts| return spelling.add(program.prices.quote, self.texts.items[texts].node_cost[Texts.root]),
            .pattern => |pattern| return spelling.add(spelling.add(program.prices.quote, program.prices.quote), self.patterns.items[pattern].cost),
            .array => |*of| {
                if (of.unique) |unique| if (!unique.prepared) try self.prepareUnique(of);
                const array = of.*;
                if (array.closes(0, Counts.zero)) return self.speller.cost("[]");
                try self.refreshArray(&array);
                var priced = array;
                try priced.finish(self.scratch, self.budget);
                const rest = priced.openCost();
                // Many items without equals take longer ones; see Tracks.scaled.
                const scaled = if (array.unique == null or rest == unreachable_cost) rest else spelling.times(1 + (rest +| 1) / domains.few, rest);
                return spelling.add(try self.speller.cost("["), scaled);
            },
            .object => |*object| {
                try self.refreshObject(object);
                return if (object.isCounted()) self.countedCost(object) else self.objectCost(object);
            },
        }
    }

    fn objectCost(self: *Compiler, object: *const Object) ir.Error!u32 {
        if (object.first_required == none) return self.speller.cost("{}");
        const first = object.properties[object.first_required];
        const begin = try self.openCost(object, object.first_required);
        var cost = spelling.add(spelling.add(begin, self.program.prices.brace), first.value_cost);
        for (object.properties, 0..) |property, sorted| {
            if (!property.required or sorted == object.first_required) continue;
            cost = spelling.add(cost, spelling.add(property.comma_cost, property.value_cost));
        }
        return cost;
    }

    /// Of an object whose members are counted.
    fn countedCost(self: *Compiler, object: *const Object) ir.Error!u32 {
        const entries = cover_room.Grid.entries(object);
        if (entries > limits.cover_entries) return self.budget.refuse(.limit, "an object has too many keys and counts to weigh them together", none);
        var options: u64 = 1;
        for (object.properties) |property| options = @max(options, property.options.len);
        try self.budget.spend(@intCast(entries * options * 4));
        const all = try self.scratch.alloc(u32, object.words);
        @memset(all, 0xffffffff);
        try self.cover.solve(self.scratch, object, &self.program.prices, .{
            .position = 0,
            .left = all,
            .counted = Counts.zero,
            .members = 0,
            .known = @intCast(object.properties.len),
        });
        if (self.cover.closes) return self.speller.cost("{}");
        var least = unreachable_cost;
        for (self.cover.keys.items, object.properties) |cost, property| least = @min(least, spelling.add(property.start_cost, cost));
        for (self.cover.classes.items, object.classes) |cost, *class| {
            least = @min(least, spelling.add(self.program.prices.newKey(class, @intCast(object.properties.len)), cost));
        }
        return spelling.add(try self.speller.cost("{"), least);
    }

    /// Gives an object what its values cost by now.
    fn refreshObject(self: *Compiler, object: *const Object) ir.Error!void {
        try self.budget.spend(object.properties.len);
        for (@constCast(object.properties)) |*property| {
            self.refresh(property.options);
            property.value_cost = array_room.leastCost(property.options);
            property.offered = property.value_cost != unreachable_cost and property.start_cost != unreachable_cost and property.comma_cost != unreachable_cost;
        }
        for (@constCast(object.classes)) |*class| {
            self.refresh(class.options);
            class.value_cost = array_room.leastCost(class.options);
        }
    }

    /// `{"key":`
    fn openCost(self: *Compiler, object: *const Object, sorted: u32) ir.Error!u32 {
        const spelled = object.keys.texts[sorted].spelled;
        const piece = try std.mem.concat(self.scratch, u8, &.{ "{\"", spelled });
        const costs = try self.scratch.alloc(u32, piece.len + 1);
        try self.speller.fill(piece, costs);
        return costs[0];
    }

    /// With all costs known: takes out the cases that nothing satisfies, and what can never be offered.
    fn finishValues(self: *Compiler) ir.Error!void {
        for (self.order.items) |value| {
            var live: std.ArrayList(u32) = .empty;
            for (self.value_cases[value]) |case| {
                if (self.case_costs[case] == unreachable_cost) continue;
                try live.append(self.arena, case);
                switch (self.cases.items[case]) {
                    .array => |*array| {
                        try self.refreshArray(array);
                        try array.finish(self.arena, self.budget);
                        for (@constCast(array.prefix)) |*place| place.* = possible(place.*);
                        array.rest = possible(array.rest);
                        if (array.unique) |unique| {
                            for (unique.prefix) |place| self.refresh(place);
                            self.refresh(unique.rest);
                            for (@constCast(unique.prefix)) |*place| place.* = possible(place.*);
                            @constCast(unique).rest = possible(unique.rest);
                        }
                    },
                    .object => |*object| try self.finishObject(object),
                    else => {},
                }
            }
            self.values[value].cases = live.items;
        }
    }

    /// Those options that can be completed.
    fn possible(options: []const Option) []const Option {
        const list = @constCast(options);
        var kept: usize = 0;
        for (options) |option| if (option.cost != unreachable_cost) {
            list[kept] = option;
            kept += 1;
        };
        return list[0..kept];
    }

    fn finishObject(self: *Compiler, object: *Object) ir.Error!void {
        try self.refreshObject(object);
        for (@constCast(object.properties)) |*property| property.options = possible(property.options);
        const classes = @constCast(object.classes);
        var kept: usize = 0;
        for (classes) |class| if (class.value_cost != unreachable_cost) {
            classes[kept] = class;
            classes[kept].options = possible(class.options);
            kept += 1;
        };
        object.classes = classes[0..kept];
    }

    /// The origin of a value that makes the root impossible: the first one down the required parts.
    fn blame(self: *Compiler) ir.Error!u32 {
        const seen = try self.scratch.alloc(bool, self.source.nodes.len);
        @memset(seen, false);
        var node = self.source.root;
        while (!seen[node]) {
            try self.budget.spend(1);
            seen[node] = true;
            node = switch (self.source.nodes[node]) {
                .bytes, .token, .marker, .text, .regex, .texts, .any_token => return none,
                .json => |json| return self.blameValue(valueId(json.value, json.style.spelling)),
                .record => |record| for (record.items) |item| {
                    if (item.required and self.program.node_costs[item.node] == unreachable_cost) break item.node;
                } else return none,
                .sequence => |items| for (items) |item| {
                    if (self.program.node_costs[item] == unreachable_cost) break item;
                } else return none,
                .choice => |items| if (items.len > 0) items[0] else return none,
                .repeat => |repeat| repeat.item,
                .channel => |channel| channel.item,
            };
        }
        return none;
    }

    fn blameValue(self: *Compiler, start: u32) ir.Error!u32 {
        const seen = try self.scratch.alloc(bool, self.values.len);
        @memset(seen, false);
        var value = start;
        while (!seen[value]) {
            seen[value] = true;
            // Where there is a choice, the choice itself is to blame.
            if (self.value_cases[value].len != 1) break;
            value = try self.blameChild(&self.cases.items[self.value_cases[value][0]]) orelse break;
        }
        return self.values[value].origin;
    }

    /// A part that is required and impossible, if it has no choice.
    fn blameChild(self: *Compiler, case: *const Case) ir.Error!?u32 {
        switch (case.*) {
            .object => |object| for (object.properties) |property| {
                try self.budget.spend(1);
                if (property.required and property.options.len == 1 and property.value_cost == unreachable_cost) return property.options[0].value;
            },
            .array => |array| for (0..@min(array.min, array.prefix.len + 1)) |index| {
                try self.budget.spend(1);
                const options = array.options(@intCast(index));
                if (options.len == 1 and self.values[options[0].value].cost == unreachable_cost) return options[0].value;
            },
            else => {},
        }
        return null;
    }
};
