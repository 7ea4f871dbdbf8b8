//! Arrays without equal items. What an item may not be is the set of values seen, by value; which values of finite sets are left for the
//! items that have to come is counted by the array's counters, one for each class of values that the same places take. A scalar being
//! written in such an array has a *track*: where it is among the values that it may not be, or that count.
const std = @import("std");
const Allocator = std.mem.Allocator;
const json_string = @import("../vocabulary.zig").json_string;
const ir = @import("ir.zig");
const array_room = @import("array.zig");
const Option = array_room.Option;
const Array = array_room.Array;
const decimal_key = @import("decimal_key.zig");
const domains = @import("domains.zig");
const Domain = domains.Domain;
const fresh_room = @import("fresh.zig");
const Known = fresh_room.Known;
const Place = fresh_room.Place;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const Node = graph_room.Node;
const program_room = @import("program.zig");
const Counts = @import("counts.zig").Counts;
const Seen = @import("seen.zig").Seen;
const spelling = @import("spelling.zig");
const Speller = spelling.Speller;
const texts_room = @import("texts.zig");
const Texts = texts_room.Texts;
const Spellings = texts_room.Spellings;
const limits = @import("../limits.zig").grammar;

const none = graph_room.none;
const unreachable_cost = spelling.unreachable_cost;
const add = spelling.add;
const Error = error{OutOfMemory};

/// The class of a value that no class counts.
pub const uncounted: u5 = 31;
const every_class: u32 = 0xffffffff;

/// What an array without equal items knows beforehand.
pub const Unique = struct {
    /// What may stand at each place; the array's own lists are the ways in which these count.
    prefix: []const []const Option,
    rest: []const Option,
    /// The counter of class 0.
    first_bit: u5 = 0,
    classes: u5 = 0,
    /// Classes of the values that count, by key; of strings also by entry.
    keys: std.StringHashMapUnmanaged(u5) = .empty,
    texts: ?Texts = null,
    text_classes: []const u5 = &.{},
    /// Whether every place has a value that was not there, whatever was; and what such a value costs at most.
    endless: bool = false,
    endless_cost: u32 = 0,
    prepared: bool = false,

    pub fn options(self: *const Unique, index: u32) []const Option {
        return if (index < self.prefix.len) self.prefix[index] else self.rest;
    }

    fn classOfKey(self: *const Unique, key: []const u8) u5 {
        return self.keys.get(key) orelse uncounted;
    }

    /// The counter of a class, as a bit; none for what is not counted.
    pub fn bitOf(self: *const Unique, class: u5) u32 {
        return if (class == uncounted) 0 else @as(u32, 1) << (self.first_bit + class);
    }
};

/// Fills in what is known beforehand, and the ways in which options count; the values' own costs are known. `origin` is to blame.
pub fn prepare(arena: Allocator, scratch: Allocator, gpa: Allocator, tables: *const domains.Tables, speller: *const Speller, values: []const program_room.Value, value_cases: []const []const u32, array: *Array) ir.Error!void {
    const budget = tables.budget;
    const unique: *Unique = @constCast(array.unique.?);
    var of: std.AutoArrayHashMapUnmanaged(u32, Domain) = .empty;
    for (unique.prefix) |place| try addDomains(scratch, tables, value_cases, place, &of);
    try addDomains(scratch, tables, value_cases, unique.rest, &of);
    var list: std.ArrayList(ir.Counter) = .empty;
    var owed: u64 = array.min;
    for (array.counts.digits) |digit| {
        owed += digit.min;
        try list.append(arena, .{ .min = digit.min, .max = if (digit.capped) digit.top else none });
    }
    var finite = false;
    unique.endless = true;
    unique.prepared = true;
    for (of.values()) |domain| {
        if (domain.others_cost != unreachable_cost) {
            unique.endless_cost = @max(unique.endless_cost, domain.others_cost);
            continue;
        }
        finite = true;
        unique.endless = false;
    }
    // Where nothing has to come, or nothing can run out, values need not be counted.
    const counts = finite and (array.min >= 2 or owed > array.min);
    if (counts) try classify(arena, scratch, gpa, tables, speller, value_cases, unique, &of, &list);
    if (owed > limits.domain_values) return budget.refuse(.limit, "uniqueItems with so many items that have to come", none);
    array.counts = try Counts.create(arena, list.items, limits.counted_entries) orelse
        return budget.refuse(.limit, "uniqueItems over finite sets that overlap in too many ways", none);
    const prefix = try arena.alloc([]const Option, unique.prefix.len);
    for (prefix, unique.prefix) |*place, options| place.* = try ways(arena, unique, values, &of, options);
    array.prefix = prefix;
    array.rest = try ways(arena, unique, values, &of, unique.rest);
}

fn addDomains(scratch: Allocator, tables: *const domains.Tables, value_cases: []const []const u32, options: []const Option, of: *std.AutoArrayHashMapUnmanaged(u32, Domain)) ir.Error!void {
    for (options) |option| {
        const known = try of.getOrPut(scratch, option.value);
        if (known.found_existing) continue;
        known.value_ptr.* = try tables.of(scratch, value_cases[option.value]) orelse
            return tables.budget.refuse(.limit, "uniqueItems over arrays or objects", none);
    }
}

/// Values of finite sets that fit the same options are one class.
fn classify(arena: Allocator, scratch: Allocator, gpa: Allocator, tables: *const domains.Tables, speller: *const Speller, value_cases: []const []const u32, unique: *Unique, of: *const std.AutoArrayHashMapUnmanaged(u32, Domain), counters: *std.ArrayList(ir.Counter)) ir.Error!void {
    const budget = tables.budget;
    unique.first_bit = std.math.cast(u5, counters.items.len) orelse return budget.refuse(.limit, "uniqueItems with too many counters", none);
    if (of.count() > 64) return budget.refuse(.limit, "uniqueItems with too many different places", none);
    var classes: std.AutoArrayHashMapUnmanaged(u64, u32) = .empty;
    var texts: std.ArrayList([]const u8) = .empty;
    var text_classes: std.ArrayList(u5) = .empty;
    var seen: std.StringHashMapUnmanaged(void) = .empty;
    for (of.values()) |domain| if (domain.others_cost == unreachable_cost) for (domain.items) |item| {
        if ((try seen.getOrPut(scratch, item.key)).found_existing) continue;
        var signature: u64 = 0;
        for (of.keys(), 0..) |value, index| {
            if (try tables.has(value_cases[value], item)) signature |= @as(u64, 1) << @intCast(index);
        }
        const class = try classes.getOrPutValue(scratch, signature, 0);
        class.value_ptr.* += 1;
        if (class.index + counters.items.len >= uncounted) return budget.refuse(.limit, "uniqueItems over finite sets that overlap in too many ways", none);
        const key = try arena.dupe(u8, item.key);
        try unique.keys.put(arena, key, @intCast(class.index));
        if (key[0] != '"') continue;
        try texts.append(scratch, key[1..]);
        try text_classes.append(scratch, @intCast(class.index));
    };
    unique.classes = @intCast(classes.count());
    for (classes.values()) |size| try counters.append(arena, .{ .min = 0, .max = size });
    if (texts.items.len == 0) return;
    var spellings: Spellings = .{ .arena = arena, .scratch = scratch, .speller = speller, .kind = .value, .style = .canonical };
    const trie = try Texts.create(arena, gpa, texts.items, false, &spellings);
    const by_entry = try arena.alloc(u5, texts.items.len);
    for (by_entry, trie.texts) |*class, text| class.* = text_classes.items[text.source];
    unique.texts = trie;
    unique.text_classes = by_entry;
}

/// Each option as often as its values count differently.
fn ways(arena: Allocator, unique: *const Unique, values: []const program_room.Value, of: *const std.AutoArrayHashMapUnmanaged(u32, Domain), options: []const Option) ir.Error![]const Option {
    var list: std.ArrayList(Option) = .empty;
    for (options) |option| {
        if (values[option.value].cost == unreachable_cost) continue;
        const domain = of.get(option.value).?;
        if (domain.others_cost != unreachable_cost) {
            try list.append(arena, .{ .value = option.value, .counts = option.counts, .base = option.counts, .cost = @max(domain.others_cost, values[option.value].cost) });
        }
        if (unique.classes == 0) {
            if (domain.others_cost != unreachable_cost) continue;
            var most = values[option.value].cost;
            for (domain.items) |item| most = @max(most, item.cost);
            try list.append(arena, .{ .value = option.value, .counts = option.counts, .base = option.counts, .cost = most });
            continue;
        }
        var most: [uncounted]u32 = @splat(0);
        for (domain.items) |item| {
            const class = unique.classOfKey(item.key);
            if (class != uncounted) most[class] = @max(most[class], item.cost);
        }
        for (most[0..unique.classes], 0..) |cost, class| if (cost > 0) {
            try list.append(arena, .{ .value = option.value, .counts = option.counts | unique.bitOf(@intCast(class)), .base = option.counts, .cost = cost });
        };
    }
    return list.items;
}

/// Where a scalar is in an array without equal items.
pub const Track = struct {
    /// Of the array.
    case: u32,
    /// The set of values that were there.
    seen: u32,
    /// One more was there, which is not known: only inside a mask.
    unresolved: bool,
    /// Classes that the item may be of, as bits.
    allowed: u32,
    /// Of a string, among those that were there and those that count.
    place: Place = .away,
    /// Of a number: what was read.
    text: u32 = 0,
};

/// Marks the set of values of an array that has one more, which is not known; and one that has two, which may be equal.
pub const unresolved_bit: u32 = 1 << 31;
pub const doubtful_bit: u32 = 1 << 30;

/// The values that are known.
pub fn seenOf(word: u32) u32 {
    return word & ~(unresolved_bit | doubtful_bit);
}

pub const Tracks = struct {
    /// Track 0 is of what is in no such array, or away from all values that matter.
    list: std.AutoArrayHashMapUnmanaged(Track, void) = .empty,
    /// What was read of numbers.
    texts: std.StringArrayHashMapUnmanaged(void) = .empty,
    /// Numbers that count, as a set, by case.
    universes: std.AutoHashMapUnmanaged(u32, u32) = .empty,
    frames: std.ArrayList(Frame) = .empty,

    const Frame = struct { state: u16, length: u8, text: [decimal_key.text_bytes]u8 };

    pub fn deinit(self: *Tracks, gpa: Allocator) void {
        self.list.deinit(gpa);
        for (self.texts.keys()) |text| gpa.free(text);
        self.texts.deinit(gpa);
        self.universes.deinit(gpa);
        self.frames.deinit(gpa);
    }

    pub fn begin(self: *Tracks, gpa: Allocator) Error!void {
        try self.list.put(gpa, .{ .case = none, .seen = 0, .unresolved = false, .allowed = 0 }, {});
    }

    pub fn get(self: *const Tracks, track: u32) Track {
        return self.list.keys()[track];
    }

    fn intern(self: *Tracks, graph: *Graph, track: Track) Error!u32 {
        return @intCast((try self.list.getOrPut(graph.gpa, track)).index);
    }

    /// Of an item whose array waits in `waiting` (`array_item`); null if the array could not be finished with any.
    pub fn ofItem(self: *Tracks, graph: *Graph, waiting: *const Node) Error!?u32 {
        const array = &graph.program.cases[waiting.a].array;
        const unique = array.unique.?;
        var allowed: u32 = 0;
        for (0..32) |class| {
            if (class >= unique.classes and class != uncounted) continue;
            if (after(array, waiting, @intCast(class)) != null) allowed |= @as(u32, 1) << @intCast(class);
        }
        if (allowed == 0) return null;
        // With no class but the one, all is allowed.
        if (unique.classes == 0) allowed = every_class;
        const seen = seenOf(waiting.d);
        const unresolved = waiting.d & unresolved_bit != 0;
        if (seen == Seen.empty and !unresolved and unique.classes == 0) return 0;
        return try self.intern(graph, .{ .case = waiting.a, .seen = seen, .unresolved = unresolved, .allowed = allowed });
    }

    /// What is counted once an item is of a class, and what finishing costs then; null if it may not be.
    fn after(array: *const Array, waiting: *const Node, class: u5) ?struct { u32, u32 } {
        const counted = array.counts.add(waiting.c, array.unique.?.bitOf(class)) orelse return null;
        const cost = array.costAfter(waiting.b, counted);
        return if (cost == unreachable_cost) null else .{ counted, cost };
    }

    /// What is counted after an item.
    pub fn countedAfter(graph: *const Graph, waiting: *const Node, class: u5) ?u32 {
        const counted, _ = after(&graph.program.cases[waiting.a].array, waiting, class) orelse return null;
        return counted;
    }

    /// Of the array, once its item is done, at most.
    pub fn waitingCost(graph: *const Graph, waiting: *const Node) u32 {
        const array = &graph.program.cases[waiting.a].array;
        var most: ?u32 = null;
        for (0..32) |class| {
            if (class >= array.unique.?.classes and class != uncounted) continue;
            _, const cost = after(array, waiting, @intCast(class)) orelse continue;
            most = @max(most orelse 0, cost);
        }
        return scaled(graph, most orelse return unreachable_cost, seenOf(waiting.d), 1);
    }

    /// The more values there were, the longer new ones get.
    pub fn scaled(graph: *const Graph, cost: u32, seen: u32, more: u32) u32 {
        if (cost == unreachable_cost) return cost;
        return spelling.times(1 + (graph.registers.seen.count(seen) +| more +| cost) / domains.few, cost);
    }

    // Strings

    pub fn known(self: *const Tracks, graph: *const Graph, track: u32) Known {
        const of = self.get(track);
        const unique = graph.program.cases[of.case].array.unique.?;
        return .{
            .texts = if (unique.texts) |*texts| texts else null,
            .seen = &graph.registers.seen,
            .classes = .{ .of_entry = unique.text_classes, .allowed = of.allowed },
        };
    }

    /// After the opening quote.
    pub fn openString(self: *Tracks, graph: *Graph, track: u32) Error!u32 {
        if (track == 0) return 0;
        const of = self.get(track);
        const unique = graph.program.cases[of.case].array.unique.?;
        return self.at(graph, track, .{
            .declared = if (unique.texts == null) none else Texts.root,
            .seen = graph.registers.seen.child(of.seen, '"'),
        });
    }

    /// After a byte of the string that was read in `state`.
    pub fn afterByte(self: *Tracks, graph: *Graph, track: u32, state: json_string.State, byte: u8) Error!u32 {
        if (track == 0) return 0;
        const place = self.get(track).place;
        if (place.isAway()) return track;
        return self.at(graph, track, self.known(graph, track).afterByte(place, state, byte));
    }

    fn at(self: *Tracks, graph: *Graph, track: u32, place: Place) Error!u32 {
        var next = self.get(track);
        next.place = place;
        if (place.isAway() and self.isFree(track) and !next.unresolved) return 0;
        return self.intern(graph, next);
    }

    /// The bytes that lead away from all known strings, where that is allowed.
    pub fn bytesAway(self: *const Tracks, graph: *const Graph, track: u32) std.bit_set.Static(256) {
        if (!self.isFree(track) or self.get(track).unresolved) return .empty;
        var beside: std.bit_set.Static(256) = .empty;
        const place = self.get(track).place;
        const texts = self.known(graph, track);
        texts.seen.addBytes(place.seen, &beside);
        if (place.declared != none) if (texts.texts) |declared| declared.addBytes(place.declared, &beside);
        return beside.complement();
    }

    /// Whether what is away from all known values is allowed.
    pub fn isFree(self: *const Tracks, track: u32) bool {
        return track == 0 or self.get(track).allowed >> uncounted & 1 != 0;
    }

    /// The class of a string that ends here; null if it may not.
    pub fn endString(self: *const Tracks, graph: *const Graph, track: u32) ?u5 {
        if (track == 0) return uncounted;
        const texts = self.known(graph, track);
        const place = self.get(track).place;
        return if (texts.ends(place)) null else texts.classOf(place);
    }

    // Numbers

    /// After one more byte of a number.
    pub fn afterDigit(self: *Tracks, graph: *Graph, track: u32, byte: u8) Error!u32 {
        if (track == 0) return 0;
        var next = self.get(track);
        const before = if (next.text == 0) "" else self.texts.keys()[next.text - 1];
        const text = try std.mem.concat(graph.gpa, u8, &.{ before, &.{byte} });
        errdefer graph.gpa.free(text);
        if (!try self.leads(graph, &next, text) and self.isFree(track) and !next.unresolved) {
            graph.gpa.free(text);
            return 0;
        }
        const slot = try self.texts.getOrPut(graph.gpa, text);
        if (slot.found_existing) graph.gpa.free(text);
        next.text = @intCast(slot.index + 1);
        return self.intern(graph, next);
    }

    /// Whether a number that begins so can still become one that was there, or that counts.
    fn leads(self: *Tracks, graph: *Graph, track: *const Track, text: []const u8) Error!bool {
        const seen = &graph.registers.seen;
        return decimal_key.leadsInto(seen, track.seen, text) or decimal_key.leadsInto(seen, try self.universe(graph, track.case), text);
    }

    fn universe(self: *Tracks, graph: *Graph, case: u32) Error!u32 {
        if (self.universes.get(case)) |set| return set;
        var set: u32 = Seen.empty;
        var keys = graph.program.cases[case].array.unique.?.keys.keyIterator();
        while (keys.next()) |key| if (key.*[0] == '#') {
            set = try graph.registers.seen.insert(graph.gpa, set, key.*);
        };
        try self.universes.put(graph.gpa, case, set);
        return set;
    }

    /// The class of a number that ends here; null if it may not.
    pub fn endNumber(self: *const Tracks, graph: *const Graph, track: u32) ?u5 {
        if (track == 0) return uncounted;
        return endOf(graph, &self.get(track), self.texts.keys()[self.get(track).text - 1]);
    }

    fn endOf(graph: *const Graph, track: *const Track, text: []const u8) ?u5 {
        var buffer: decimal_key.Buffer = undefined;
        return endKey(graph, track, decimal_key.write(&buffer, text));
    }

    fn endKey(graph: *const Graph, track: *const Track, key: []const u8) ?u5 {
        if (graph.registers.seen.contains(track.seen, key)) return null;
        const class = graph.program.cases[track.case].array.unique.?.classOfKey(key);
        return if (track.allowed >> class & 1 == 0) null else class;
    }

    pub fn endLiteral(self: *const Tracks, graph: *const Graph, track: u32, literal: program_room.Literal) ?u5 {
        if (track == 0) return uncounted;
        return endKey(graph, &self.get(track), literal.text());
    }

    /// Tokens that finish a number from a state so that it may end, one for each byte.
    pub fn numberCost(self: *Tracks, graph: *Graph, track: u32, number: u32, state: u16) Error!u32 {
        const automaton = &graph.program.numbers[number];
        if (track == 0) return automaton.cost[state];
        const of = self.get(track);
        const free = self.isFree(track);
        var first: Frame = .{ .state = state, .length = 0, .text = undefined };
        if (of.text != 0) {
            const text = self.texts.keys()[of.text - 1];
            @memcpy(first.text[0..text.len], text);
            first.length = @intCast(text.len);
        }
        const start = first.length;
        self.frames.clearRetainingCapacity();
        try self.frames.append(graph.gpa, first);
        var best = unreachable_cost;
        var next: usize = 0;
        // Shorter ones first.
        while (next < self.frames.items.len) : (next += 1) {
            const frame = self.frames.items[next];
            const cost: u32 = frame.length - start;
            if (cost >= best) break;
            const text = frame.text[0..frame.length];
            if (text.len > 0 and !try self.leads(graph, &of, text)) {
                if (free) best = @min(best, add(cost, automaton.cost[frame.state]));
                continue;
            }
            if (text.len > 0 and automaton.accepts[frame.state] and endOf(graph, &of, text) != null) {
                best = cost;
                continue;
            }
            if (frame.length == frame.text.len) continue;
            for ("0123456789-+.eE") |byte| {
                if (!graph.program.writable[byte]) continue;
                var longer = frame;
                longer.state = automaton.step(frame.state, byte) orelse continue;
                longer.text[frame.length] = byte;
                longer.length += 1;
                try self.frames.append(graph.gpa, longer);
            }
        }
        return best;
    }

    // Values

    pub const Knowledge = enum { all, possible, nothing };

    /// What is known of a scalar: with a value before it that is not known, an item of infinitely many can still be finished, and a string
    /// without bounds, too, as long as it has not ended.
    pub fn knowledgeOf(self: *const Tracks, graph: *const Graph, node: *const Node) Knowledge {
        if (!self.get(node.d).unresolved) return .all;
        return switch (node.kind) {
            .value => if (graph.program.cases[self.get(node.d).case].array.unique.?.endless) .possible else .nothing,
            .string => if (node.b == none and self.isFree(node.d)) .possible else .nothing,
            else => .nothing,
        };
    }

    /// Of a value that has not begun.
    pub fn valueCost(self: *Tracks, graph: *Graph, track: u32, value: u32, style: ir.Style.Spelling) Error!u32 {
        const program = graph.program;
        if (track == 0) return program.values[value].cost;
        const at_track = self.get(track);
        const unique = program.cases[at_track.case].array.unique.?;
        if (at_track.unresolved and unique.endless) return scaled(graph, unique.endless_cost, at_track.seen, 2);
        var least = unreachable_cost;
        for (program.values[value].cases) |case| least = @min(least, switch (program.cases[case]) {
            .literal => |literal| if (self.endLiteral(graph, track, literal) == null) unreachable_cost else program.literal_costs[@backingInt(literal)][0],
            .number => |number| try self.numberCost(graph, track, number, 0),
            .string => |string| add(program.prices.quote, try self.stringCost(graph, try self.openString(graph, track), string.min, string.max, .start, style)),
            .among => |texts| add(program.prices.quote, try self.amongCost(graph, try self.openString(graph, track), texts, Texts.root, .start, style)),
            .pattern => |pattern| add(program.prices.quote, try self.patternCost(graph, try self.openString(graph, track), try graph.patterns.start(pattern), .start)),
            .array, .object => unreachable_cost,
        });
        return least;
    }

    /// With the closing quote, like those below.
    pub fn stringCost(self: *Tracks, graph: *Graph, track: u32, needed: u32, allowed: u32, state: json_string.State, style: ir.Style.Spelling) Error!u32 {
        const quote = graph.program.prices.quote;
        if (track == 0) return add(quote, graph.stringCost(needed, state));
        const spelled: json_string.Spelling = if (style == .spec) .spec else .plain;
        const machine: fresh_room.Machine = .{ .free = .{ .needed = needed, .allowed = allowed } };
        const cost = try graph.registers.fresh.cost(graph, machine, state, self.known(graph, track), self.get(track).place, spelled);
        // One text more may have to be left: by another character, or by one more.
        return add(add(quote, cost), if (self.get(track).unresolved) 2 else 0);
    }

    pub fn patternCost(self: *Tracks, graph: *Graph, track: u32, pattern: u32, state: json_string.State) Error!u32 {
        const quote = graph.program.prices.quote;
        if (track == 0) return add(quote, try graph.patterns.costInside(pattern, state));
        const spelled = graph.patterns.of(pattern).writing.spellingOf();
        return add(quote, try graph.registers.fresh.cost(graph, .{ .pattern = pattern }, state, self.known(graph, track), self.get(track).place, spelled));
    }

    pub fn amongCost(self: *const Tracks, graph: *const Graph, track: u32, id: u32, node: u32, state: json_string.State, style: ir.Style.Spelling) Error!u32 {
        const texts = &graph.program.texts[id];
        const outside = @backingInt(state.phase) < json_string.utf8_phases;
        if (track == 0 and outside) return texts.node_cost[node];
        const first, const last = texts.range(node);
        var least = unreachable_cost;
        for (first..last) |index| {
            const cost = texts.costFrom(@intCast(index), node, state, style);
            if (cost >= least) continue;
            if (track != 0 and !mayEnd(self.known(graph, track), self.get(track).place, texts.texts[index].decoded[texts.nodes[node].depth..])) continue;
            least = cost;
            // No other one costs less.
            if (outside and cost == texts.node_cost[node]) break;
        }
        return least;
    }

    /// Whether a string at a place may end with the rest of its text.
    fn mayEnd(texts: Known, at_place: Place, rest: []const u8) bool {
        var place = at_place;
        for (rest) |byte| {
            if (place.isAway()) break;
            place = texts.after(place, byte);
        }
        return !texts.ends(place);
    }

    /// The key of the item that has just ended with the output's last byte, whose string or number is `text`.
    pub fn keyOf(gpa: Allocator, out: *std.ArrayList(u8), text: []const u8, is_string: bool) Error!void {
        out.clearRetainingCapacity();
        if (is_string) {
            try out.append(gpa, '"');
            return out.appendSlice(gpa, text);
        }
        if (std.ascii.isAlphabetic(text[0])) return out.appendSlice(gpa, text);
        var buffer: decimal_key.Buffer = undefined;
        try out.appendSlice(gpa, decimal_key.write(&buffer, text));
    }
};
