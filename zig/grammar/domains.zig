//! Which values a place of an array with unique items may take, as far as that is finite: then items to come may run out of values.
const std = @import("std");
const Allocator = std.mem.Allocator;
const json_string = @import("../vocabulary.zig").json_string;
const ir = @import("ir.zig");
const number_room = @import("number.zig");
const Patterns = @import("patterns.zig").Patterns;
const Program = @import("program.zig").Program;
const program_room = @import("program.zig");
const decimal_key = @import("decimal_key.zig");
const spelling = @import("spelling.zig");
const limits = @import("../limits.zig").grammar;

const none = ir.none;
const unreachable_cost = spelling.unreachable_cost;
const add = spelling.add;

pub const Item = struct {
    /// Equal values have equal keys: `"` and a decoded text, a number's `decimal_key`, or a literal.
    key: []const u8,
    /// Of a number, in plain digits.
    text: []const u8 = "",
    /// Tokens that write it, at most.
    cost: u32,
};

pub const Domain = struct {
    items: []const Item,
    /// Tokens of one more value when a few others were there already, at most; unreachable: there are no others than `items`.
    others_cost: u32,
};

/// For so many values that were there, `others_cost` holds.
pub const few = 64;

/// What is known of a grammar while it is compiled.
pub const Tables = struct {
    program: *const Program,
    cases: []const program_room.Case,
    texts: []const @import("texts.zig").Texts,
    numbers: []const number_room.Automaton,
    patterns: *Patterns,
    budget: *ir.Budget,

    /// Of the cases of one value, as far as tokens write them; null if one of them is no scalar.
    pub fn of(self: *const Tables, arena: Allocator, cases: []const u32) ir.Error!?Domain {
        var items: std.ArrayList(Item) = .empty;
        var others = unreachable_cost;
        const quotes = add(self.program.prices.quote, self.program.prices.quote);
        for (cases) |case| if (self.isPossible(case)) switch (self.cases[case]) {
            .literal => |literal| {
                const cost = self.program.literal_costs[@backingInt(literal)][0];
                if (cost != unreachable_cost) try items.append(arena, .{ .key = literal.text(), .cost = cost });
            },
            .among => |id| for (self.texts[id].texts) |text| if (text.cost[0] != unreachable_cost) {
                try self.budget.spend(text.decoded.len);
                const key = try std.mem.concat(arena, u8, &.{ "\"", text.decoded });
                try items.append(arena, .{ .key = key, .cost = add(self.program.prices.quote, text.cost[0]) });
            },
            .string => |string| if (string.max == 0) {
                try items.append(arena, .{ .key = "\"", .cost = quotes });
            } else {
                // Strings of a character or more are as many as will ever be written.
                others = @min(others, add(quotes, add(1, self.program.characterCost(@max(string.min, 1) - 1))));
            },
            .number => |id| others = @min(others, try self.numbersOf(arena, &self.numbers[id], &items)),
            .pattern => |id| others = @min(others, add(quotes, try self.textsOf(arena, id, &items))),
            .array, .object => return null,
        };
        return .{ .items = items.items, .others_cost = others };
    }

    fn isPossible(self: *const Tables, case: u32) bool {
        return switch (self.cases[case]) {
            .number => |id| self.numbers[id].cost[0] != unreachable_cost,
            .string => |string| string.min <= string.max,
            .pattern => |id| self.patterns.patterns[id].cost != unreachable_cost,
            else => true,
        };
    }

    /// Whether a value fits one of the cases.
    pub fn has(self: *const Tables, cases: []const u32, item: Item) ir.Error!bool {
        for (cases) |case| {
            try self.budget.spend(item.key.len);
            const fits = switch (self.cases[case]) {
                .literal => |literal| std.mem.eql(u8, literal.text(), item.key),
                .among => |id| item.key[0] == '"' and hasText(&self.texts[id], item.key[1..]),
                .string => |string| item.key[0] == '"' and string.min <= lengthOf(item.key[1..]) and lengthOf(item.key[1..]) <= string.max,
                .number => |id| item.text.len > 0 and reads(&self.numbers[id], item.text),
                .pattern => |id| item.key[0] == '"' and try self.matches(id, item.key[1..]),
                .array, .object => false,
            };
            if (fits) return true;
        }
        return false;
    }

    fn matches(self: *const Tables, pattern: u32, text: []const u8) error{OutOfMemory}!bool {
        var state = try self.patterns.start(pattern);
        var view = std.unicode.Utf8View.initUnchecked(text).iterator();
        while (view.nextCodepoint()) |char| {
            if (state == Patterns.dead) return false;
            state = try self.patterns.afterChar(state, char);
        }
        return self.patterns.accepts(state);
    }

    /// Adds all numbers, if they are not too many, written without exponents; otherwise what others cost. Written so and filled up with
    /// zeros, a value has one beginning of every length: beginnings that can be finished are as many as values at least.
    fn numbersOf(self: *const Tables, arena: Allocator, automaton: *const number_room.Automaton, items: *std.ArrayList(Item)) ir.Error!u32 {
        const Begun = struct { state: u16, text: []const u8 };
        var found: std.StringArrayHashMapUnmanaged([]const u8) = .empty;
        var level: std.ArrayList(Begun) = .empty;
        try level.append(arena, .{ .state = 0, .text = "" });
        var others: ?u32 = null;
        while (level.items.len > 0) {
            var next: std.ArrayList(Begun) = .empty;
            for (level.items) |begun| for ("0123456789-.") |byte| {
                try self.budget.spend(1);
                if (!self.program.writable[byte]) continue;
                const state = automaton.step(begun.state, byte) orelse continue;
                const text = try std.mem.concat(arena, u8, &.{ begun.text, &.{byte} });
                try next.append(arena, .{ .state = state, .text = text });
                if (!automaton.accepts[state]) continue;
                const known = try found.getOrPut(arena, try decimal_key.of(arena, text));
                if (!known.found_existing) known.value_ptr.* = text;
            };
            if (others == null and next.items.len + found.count() > few) {
                var costs: std.ArrayList(u32) = .empty;
                for (next.items) |begun| try costs.append(arena, @as(u32, @intCast(begun.text.len)) + automaton.cost[begun.state]);
                for (found.values()) |text| try costs.append(arena, @intCast(text.len));
                others = nth(costs.items);
            }
            if (next.items.len > limits.domain_values or found.count() > limits.domain_values) return others.?;
            level = next;
        }
        if (found.count() == 0) return self.budget.refuse(.limit, "uniqueItems over numbers that are written with exponents only", none);
        for (found.keys(), found.values()) |key, text| try items.append(arena, .{ .key = key, .text = text, .cost = @intCast(text.len) });
        return unreachable_cost;
    }

    /// Adds all texts that match, if they are not too many; otherwise what others cost, without quotes.
    fn textsOf(self: *const Tables, arena: Allocator, pattern: u32, items: *std.ArrayList(Item)) ir.Error!u32 {
        const Begun = struct { state: u32, text: []const u8, cost: u32 };
        const alphabet = self.patterns.patterns[pattern].alphabet;
        const quotes = add(self.program.prices.quote, self.program.prices.quote);
        var found: std.ArrayList(Begun) = .empty;
        var level: std.ArrayList(Begun) = .empty;
        const first = try self.patterns.start(pattern);
        if (first == Patterns.dead) return unreachable_cost;
        try level.append(arena, .{ .state = first, .text = "\"", .cost = 0 });
        var others: ?u32 = null;
        while (level.items.len > 0) {
            var next: std.ArrayList(Begun) = .empty;
            for (level.items) |begun| {
                if (self.patterns.accepts(begun.state)) try found.append(arena, begun);
                for (alphabet.segments, 0..) |segment, index| {
                    try self.budget.spend(1);
                    if (segment.class == @import("alphabet.zig").no_class) continue;
                    const state = try self.patterns.after(begun.state, segment.class);
                    if (state == Patterns.dead) continue;
                    const end: u32 = if (index + 1 < alphabet.segments.len) alphabet.segments[index + 1].first else 0x110000;
                    for (segment.first..end) |char| {
                        try self.budget.spend(1);
                        const cost = if (char < 128) alphabet.ascii_costs[char] else alphabet.costOf(@intCast(char));
                        if (cost == unreachable_cost) continue;
                        var buffer: [4]u8 = undefined;
                        const text = try std.mem.concat(arena, u8, &.{ begun.text, buffer[0..json_string.encodeUtf8(@intCast(char), &buffer)] });
                        try next.append(arena, .{ .state = state, .text = text, .cost = add(begun.cost, cost) });
                        if (next.items.len > limits.domain_values) break;
                    }
                    if (next.items.len > limits.domain_values) break;
                }
                if (next.items.len > limits.domain_values) break;
            }
            if (others == null and next.items.len + found.items.len > few) {
                var costs: std.ArrayList(u32) = .empty;
                for (next.items) |begun| try costs.append(arena, add(begun.cost, self.patterns.cost(begun.state)));
                for (found.items) |begun| try costs.append(arena, begun.cost);
                others = nth(costs.items);
            }
            if (next.items.len > limits.domain_values or found.items.len > limits.domain_values) return others.?;
            level = next;
        }
        for (found.items) |begun| try items.append(arena, .{ .key = begun.text, .cost = add(begun.cost, quotes) });
        return unreachable_cost;
    }
};

/// The highest of the `few` and one lowest.
fn nth(costs: []u32) u32 {
    std.mem.sortUnstable(u32, costs, {}, std.sort.asc(u32));
    return costs[few];
}

fn hasText(texts: *const @import("texts.zig").Texts, text: []const u8) bool {
    var node: u32 = 0;
    for (text) |byte| node = texts.child(node, byte);
    return node != none and texts.nodes[node].entry != none;
}

fn lengthOf(text: []const u8) usize {
    return std.unicode.utf8CountCodepoints(text) catch text.len;
}

fn reads(automaton: *const number_room.Automaton, text: []const u8) bool {
    var state: u16 = 0;
    for (text) |byte| state = automaton.step(state, byte) orelse return false;
    return automaton.accepts[state];
}
