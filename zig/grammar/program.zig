//! A grammar compiled for one vocabulary: flat tables, with what every part costs at least to write in tokens. What cannot be written at
//! all has no place in them, so that nothing is ever offered that cannot be finished.
const std = @import("std");
const Allocator = std.mem.Allocator;
const vocabulary_room = @import("../vocabulary.zig");
const Vocabulary = vocabulary_room.Vocabulary;
const StringTables = vocabulary_room.StringTables;
const ir = @import("ir.zig");
const number_room = @import("number.zig");
const spelling = @import("spelling.zig");
const array_room = @import("array.zig");
const object_room = @import("object.zig");
const Prices = @import("cover.zig").Prices;
const Pattern = @import("pattern.zig").Pattern;
const Texts = @import("texts.zig").Texts;
const Record = @import("record.zig").Record;
const Dawg = @import("dawg.zig").Dawg;
const Terminators = @import("terminators.zig").Terminators;
const GraphPool = @import("graph_pool.zig").GraphPool;

pub const none = ir.none;
pub const unreachable_cost = spelling.unreachable_cost;
pub const Array = array_room.Array;
pub const Option = array_room.Option;
pub const Object = object_room.Object;
pub const Property = object_room.Property;

pub const Node = union(enum) {
    bytes: Bytes,
    token: u32,
    marker: struct { token: u32, bytes: Bytes },
    /// `cost[i]`: items[i..] together.
    sequence: struct { items: []const u32, cost: []const u32 },
    choice: []const u32,
    /// `min` is 0 if the item can be empty, which then may stand any number of times up to `max`.
    repeat: struct { item: u32, min: u32, max: u32, empty_item: bool },
    channel: struct { channel: ir.Channel, item: u32 },
    text: struct { controls: bool, terminators: u32, until: []const ir.Marker, tokens_max: u32 },
    json: struct { value: u32, style: u16 },
    /// A dawg.
    texts: u32,
    /// (words) the tokens.
    any_token: []const u32,
    record: Record,
    /// A pattern.
    regex: u32,
};

pub const Bytes = struct {
    text: []const u8,
    /// (text.len + 1) tokens that write each end of it.
    cost: []const u32,
};

pub const Value = struct {
    /// Those that can be completed.
    cases: []const u32 = &.{},
    cost: u32 = unreachable_cost,
    origin: u32 = none,
};

pub const Case = union(enum) {
    literal: Literal,
    /// An automaton.
    number: u32,
    string: struct { min: u32, max: u32 },
    /// A set of texts.
    among: u32,
    /// A string that matches.
    pattern: u32,
    array: Array,
    object: Object,
};

pub const Literal = enum(u32) {
    null,
    true,
    false,

    pub fn text(self: Literal) []const u8 {
        return @tagName(self);
    }
};

pub const Program = struct {
    gpa: Allocator,
    arena: std.heap.ArenaAllocator.State,
    vocabulary: *const Vocabulary,
    /// Tokens of the shortest complete output, without a stop token.
    cost_min: u32,

    root: u32,
    nodes: []const Node,
    node_costs: []const u32,
    nullable: []const bool,
    styles: []const ir.Style,
    values: []const Value,
    cases: []const Case,
    numbers: []const number_room.Automaton,
    texts: []const Texts,
    terminators: []const Terminators,
    dawgs: []const Dawg,
    /// Some node is a list of texts. Patterns alone are followed faster by the graph, whose states meet again.
    has_parts: bool,
    patterns: []const Pattern,
    /// Tokens that the grammar names: reachable by id, as far as it names them, and not as text.
    named: []const u32,
    /// (words)
    named_bits: []const u32,
    /// Bytes that are tokens by themselves.
    writable: [256]bool,
    /// Every byte of an escape is; without that, free strings have none.
    escapes: bool,
    character_costs: *const [StringTables.character_cost_count]u32,
    character_counts: []const u32,
    literal_costs: [3][6]u32,
    prices: Prices,
    colon_cost: u32,
    graphs: *GraphPool,

    pub const create = @import("compile.zig").compile;
    pub const createWithin = @import("compile.zig").compileWithin;

    /// No matcher may be left.
    pub fn destroy(self: *Program) void {
        const gpa = self.gpa;
        self.graphs.destroy(gpa);
        self.vocabulary.giveArena(self.arena.promote(gpa));
        gpa.destroy(self);
    }

    pub fn isNamed(self: *const Program, token: u32) bool {
        return self.named_bits[token >> 5] >> @intCast(token & 31) & 1 != 0;
    }

    /// Tokens that write so many characters of a free string.
    pub fn characterCost(self: *const Program, characters: u32) u32 {
        return StringTables.characterCost(self.character_costs, self.character_counts, characters);
    }
};
