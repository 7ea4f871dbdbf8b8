//! From the intermediate form to a program, for one vocabulary: structure is checked, automata are built, costs are found as least fixed
//! points, and what nothing satisfies is taken out.
const std = @import("std");
const Allocator = std.mem.Allocator;
const vocabulary_room = @import("../vocabulary.zig");
const Vocabulary = vocabulary_room.Vocabulary;
const StringTables = vocabulary_room.StringTables;
const ir = @import("ir.zig");
const Numbers = @import("numbers.zig").Numbers;
const spelling = @import("spelling.zig");
const Speller = spelling.Speller;
const texts_room = @import("texts.zig");
const Texts = texts_room.Texts;
const Spellings = texts_room.Spellings;
const Dawg = @import("dawg.zig").Dawg;
const Terminators = @import("terminators.zig").Terminators;
const pattern_room = @import("pattern.zig");
const Pattern = pattern_room.Pattern;
const GraphPool = @import("graph_pool.zig").GraphPool;
const program_room = @import("program.zig");
const Program = program_room.Program;
const Value = program_room.Value;
const Case = program_room.Case;
const Literal = program_room.Literal;
const Cover = @import("cover.zig").Cover;
const Loop = @import("object.zig").Loop;
const loop_room = @import("loop.zig");

const compile_nodes = @import("compile_nodes.zig");
const compile_values = @import("compile_values.zig");
const compile_costs = @import("compile_costs.zig");
const blame = @import("blame.zig");

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
    var arena_state = vocabulary.takeArena(gpa);
    errdefer vocabulary.giveArena(arena_state);
    var scratch_state = vocabulary.takeArena(gpa);
    defer vocabulary.giveArena(scratch_state);
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

/// What the stages of compiling share.
pub const Compiler = struct {
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
    numbers: Numbers = .{},
    texts: std.ArrayList(Texts) = .empty,
    spellings: std.EnumArray(Spellings.Kind, std.EnumArray(ir.Style.Spelling, Spellings)) = undefined,
    terminators: std.ArrayList(Terminators) = .empty,
    dawgs: std.ArrayList(Dawg) = .empty,
    patterns: std.ArrayList(Pattern) = .empty,
    pattern_ids: std.AutoHashMapUnmanaged(PatternKey, u32) = .empty,
    /// Of patterns that are classes of keys.
    loops: std.AutoHashMapUnmanaged(u32, Loop) = .empty,
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
        for (std.enums.values(Spellings.Kind)) |kind| for (std.enums.values(ir.Style.Spelling)) |style| {
            self.spellings.getPtr(kind).set(style, .{ .arena = self.arena, .scratch = self.scratch, .speller = &self.speller, .kind = kind, .style = style });
        };
        try self.costPieces();
        self.program.nullable = try compile_nodes.findNullable(self);
        try compile_nodes.refuseLeftRecursion(self);

        const value_count = self.source.values.len * 2;
        self.values = try self.arena.alloc(Value, value_count);
        @memset(self.values, .{});
        self.value_cases = try self.scratch.alloc([]u32, value_count);
        @memset(self.value_cases, &.{});
        self.reached = try self.scratch.alloc(bool, value_count);
        @memset(self.reached, false);
        for (self.source.nodes) |node| switch (node) {
            .json => |json| try compile_values.reach(self, valueId(json.value, json.style.spelling)),
            else => {},
        };
        try compile_costs.costValues(self);
        try compile_costs.finishValues(self);
        try compile_nodes.compileNodes(self);

        const program = self.program;
        program.root = self.source.root;
        program.values = self.values;
        program.cases = self.cases.items;
        program.numbers = self.numbers.automata.items;
        program.texts = self.texts.items;
        program.terminators = self.terminators.items;
        program.dawgs = self.dawgs.items;
        program.has_parts = for (self.source.nodes) |node| {
            if (node == .texts or node == .regex) break true;
        } else false;
        program.patterns = self.patterns.items;
        program.styles = self.styles.items;
        program.cost_min = program.node_costs[program.root];
        if (program.cost_min == unreachable_cost) return self.budget.refuse(.unsatisfiable, "nothing satisfies this", try blame.rootOrigin(self));
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

    pub fn valueId(value: u32, style: ir.Style.Spelling) u32 {
        return value * 2 + @backingInt(style);
    }

    pub fn styleOf(value: u32) ir.Style.Spelling {
        return @fromBackingInt(@as(u1, @truncate(value)));
    }

    pub fn patternSource(self: *Compiler, writing: pattern_room.Writing, writable: *const [256]bool) pattern_room.Source {
        return .{
            .vocabulary = self.vocabulary,
            .speller = &self.speller,
            .writable = writable,
            .escapes = self.program.escapes,
            .writing = writing,
            .budget = self.budget,
        };
    }

    pub fn patternId(self: *Compiler, regex: u32, min: u32, max: u32, writing: pattern_room.Writing) ir.Error!u32 {
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

    pub fn loopOf(self: *Compiler, pattern: u32) ir.Error!Loop {
        const known = try self.loops.getOrPut(self.scratch, pattern);
        if (!known.found_existing) known.value_ptr.* = try loop_room.find(self.gpa, self.scratch, self.patterns.items, pattern, self.budget);
        return known.value_ptr.*;
    }
};
