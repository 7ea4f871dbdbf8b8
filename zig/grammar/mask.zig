//! Masks, composed. Inside a free string they are a constant bitmap and the few hundred continuations after a closing quote; everything
//! else is a walk down the token trie. What depends on the state alone is kept.
const std = @import("std");
const vocabulary_room = @import("../vocabulary.zig");
const StringTables = vocabulary_room.StringTables;
const json_string = vocabulary_room.json_string;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const Node = graph_room.Node;
const StateId = graph_room.StateId;
const memo_room = @import("memo.zig");
const Memo = memo_room.Memo;
const Late = memo_room.Late;
const Registers = @import("registers.zig").Registers;
const walk = @import("walk.zig");

const none = graph_room.none;
const Error = error{OutOfMemory};

/// No limit on the tokens that may follow.
pub const unlimited: u32 = 0xffffffff;

/// What a token inside a string can add to its cost: an unfinished pair of escapes, and for keys the way around a million others.
const string_cost_slack = 20;

/// Writes the mask of a state: bit t for every token after which the output can be finished in `limit` more tokens.
/// `verifier.allowed(token, limit)` decides single tokens that depend on the text of a key.
pub fn fill(graph: *Graph, state: StateId, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    @memset(out, 0);
    if (state == Graph.dead_state) return;
    const parts = try Parts.of(graph, state);
    if (parts.other != Graph.dead_state) try addState(graph, parts.other, spent, limit, out, verifier);
    for (graph.memos.free.items) |group| try addString(graph, group, spent, limit, out, verifier);
    for (graph.program.named) |token| out[token >> 5] &= ~bitOf(token);
    if (graph.states.items[state].edges) try addEdges(graph, state, limit, out, verifier);
}

/// A state's nodes between two characters of a free string or of a key that may be new go to `graph.memos.free`, by what they allow.
const Parts = struct {
    other: StateId,

    fn of(graph: *Graph, state: StateId) Error!Parts {
        const groups = &graph.memos.free;
        groups.clearRetainingCapacity();
        const known = graph.states.items[state];
        for (known.start..known.start + known.len) |at| {
            const kind = Group.kindOf(graph, &graph.nodes.items[graph.state_items.items[at]]) orelse continue;
            for (groups.items) |group| {
                if (std.meta.eql(group.kind, kind)) break;
            } else try groups.append(graph.gpa, .{ .kind = kind, .state = Graph.dead_state });
        }
        if (groups.items.len == 0) return .{ .other = state };
        const ids = &graph.memos.ids;
        for (groups.items) |*group| {
            ids.clearRetainingCapacity();
            for (known.start..known.start + known.len) |at| {
                const id = graph.state_items.items[at];
                const kind = Group.kindOf(graph, &graph.nodes.items[id]) orelse continue;
                if (std.meta.eql(kind, group.kind)) try ids.append(graph.gpa, id);
            }
            group.state = try graph.internState(ids.items);
        }
        ids.clearRetainingCapacity();
        for (known.start..known.start + known.len) |at| {
            const id = graph.state_items.items[at];
            if (Group.kindOf(graph, &graph.nodes.items[id]) == null) try ids.append(graph.gpa, id);
        }
        return .{ .other = try graph.internState(ids.items) };
    }
};

/// Nodes inside free strings that allow the same.
pub const Group = struct {
    kind: Group.Kind,
    state: StateId,

    const Kind = struct {
        spelling: json_string.Spelling,
        needed: u32,
        allowed: u32,
        /// What was read could still become a known key, so that it matters what comes before the closing quote.
        known: bool,
    };

    fn kindOf(graph: *const Graph, node: *const Node) ?Group.Kind {
        if (node.kind != .string and node.kind != .object_key or node.c != 0 or !graph.program.escapes) return null;
        const spec = graph.style(node).spelling == .spec;
        return switch (node.kind) {
            .string => if (node.b == 0) null else .{ .spelling = if (spec) .spec else .plain, .needed = node.a, .allowed = node.b, .known = false },
            .object_key => if (!graph.registers.get(node.a).extras_open) null else .{
                .spelling = if (spec) .spec else .fixed,
                .needed = 0,
                .allowed = none,
                .known = node.b != none or node.d != Registers.no_extras,
            },
            else => null,
        };
    }
};

// Everything but strings: the walk, or what is left of an earlier one

fn addState(graph: *Graph, state: StateId, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    const memo = try memoOf(graph, state, .tokens, &graph.program.vocabulary.trie, out.len);
    if (memo.tangled or limit < memo.cost_max) {
        var sink: Limited(@TypeOf(verifier)) = .{ .graph = graph, .limit = limit, .out = out, .verifier = verifier };
        return walk.exact(graph, &graph.program.vocabulary.trie, state, spent, &sink);
    }
    for (out, memo.bits) |*word, bits| word.* |= bits;
    for (memo.late) |late| {
        if (spent + late.spent > memo.whitespace_max) break;
        setToken(graph, out, late.entry);
    }
    for (memo.verify) |entry| try verifyEntry(graph, out, entry, limit, verifier);
}

fn memoOf(graph: *Graph, state: StateId, of: @FieldType(memo_room.Key, "of"), trie: *const vocabulary_room.Trie, words: usize) Error!*const Memo {
    const key: memo_room.Key = .{ .state = state, .of = of };
    if (graph.memos.get(key)) |known| return known;
    const gpa = graph.gpa;
    const memos = &graph.memos;
    memos.late.clearRetainingCapacity();
    memos.verify.clearRetainingCapacity();
    const bits = try gpa.alloc(u32, words);
    @memset(bits, 0);
    var sink: Collecting = .{ .graph = graph, .bits = bits, .tokens = of == .tokens };
    var memo: Memo = .{ .bits = bits };
    {
        errdefer gpa.free(bits);
        memo.tangled = !try walk.relative(graph, trie, state, &sink);
        memo.whitespace_max = sink.whitespace_max orelse 0;
        memo.cost_max = sink.cost_max;
        std.mem.sortUnstable(Late, memos.late.items, {}, struct {
            fn lessThan(_: void, a: Late, b: Late) bool {
                return a.spent < b.spent;
            }
        }.lessThan);
        memo.late = try gpa.dupe(Late, memos.late.items);
        errdefer gpa.free(memo.late);
        memo.verify = try gpa.dupe(u32, memos.verify.items);
    }
    return memos.put(gpa, key, memo);
}

const Collecting = struct {
    graph: *Graph,
    bits: []u32,
    tokens: bool,
    whitespace_max: ?u32 = null,
    cost_max: u32 = 0,

    pub fn reach(self: *Collecting, entry: u32, state: StateId, owed: u32) Error!void {
        const cost = self.graph.states.items[state].cost;
        if (cost == graph_room.unreachable_cost) return;
        self.cost_max = @max(self.cost_max, cost);
        if (owed > 0) {
            try self.graph.memos.late.append(self.graph.gpa, .{ .spent = owed, .entry = entry });
        } else if (self.tokens) {
            setToken(self.graph, self.bits, entry);
        } else {
            self.bits[entry >> 5] |= bitOf(entry);
        }
    }

    pub fn uncertain(self: *Collecting, entry: u32) Error!void {
        try self.graph.memos.verify.append(self.graph.gpa, entry);
    }
};

fn Limited(comptime Verifier: type) type {
    return struct {
        graph: *Graph,
        limit: u32,
        out: []u32,
        verifier: Verifier,

        pub fn reach(self: *@This(), entry: u32, state: StateId) Error!void {
            if (isWithin(self.graph.states.items[state].cost, self.limit)) setToken(self.graph, self.out, entry);
        }

        pub fn uncertain(self: *@This(), entry: u32) Error!void {
            try verifyEntry(self.graph, self.out, entry, self.limit, self.verifier);
        }
    };
}

pub fn isWithin(cost: u32, limit: u32) bool {
    return cost <= limit and cost != graph_room.unreachable_cost;
}

fn verifyEntry(graph: *Graph, out: []u32, entry: u32, limit: u32, verifier: anytype) Error!void {
    if (try verifier.allowed(entry, limit)) setToken(graph, out, entry);
}

// Free strings

fn addString(graph: *Graph, group: Group, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    const tables = &graph.program.vocabulary.string_tables;
    const cost = try insideCost(graph, group.state);
    // Near the limit it matters what each token costs.
    if (limit < cost +| string_cost_slack and (group.kind.needed > 0 or group.kind.known)) return addExact(graph, &graph.program.vocabulary.trie, group.state, spent, limit, out, verifier);
    const spelled = &tables.by_spelling[@backingInt(group.kind.spelling)];
    const kind = group.kind;
    if (limit >= cost +| string_cost_slack) {
        addInside(tables, spelled, kind, out);
    } else if (cost <= limit) {
        addLevel(tables, kind.allowed, out);
        for (spelled.open) |open| {
            const extra = if (@backingInt(open.end.phase) < json_string.utf8_phases) tables.finish_cost[@backingInt(open.end.phase)] else json_string.escapeBytesLeft(open.end);
            if (fits(open, kind.allowed) and cost +| extra <= limit) out[open.token >> 5] |= bitOf(open.token);
        }
    }
    const closed_state = if (kind.known) null else try closedState(graph, group.state);
    const closed = closed_state orelse return addExact(graph, &tables.closing, group.state, spent, limit, out, verifier);
    if (closed == Graph.dead_state) return;
    const memo = try memoOf(graph, closed, .suffixes, &tables.suffixes, (tables.suffix_count + 31) / 32);
    if (memo.tangled or limit < memo.cost_max or memo.verify.len > 0) return addExact(graph, &tables.closing, group.state, spent, limit, out, verifier);
    for (memo.bits, 0..) |word, index| {
        var rest = word;
        while (rest != 0) : (rest &= rest - 1) addSuffix(spelled, kind, @intCast(index * 32 + @ctz(rest)), out);
    }
    for (memo.late) |late| {
        if (spent + late.spent > memo.whitespace_max) break;
        addSuffix(spelled, kind, late.entry, out);
    }
    if (tables.suffix_empty != none and isWithin(graph.states.items[closed].cost, limit)) addSuffix(spelled, kind, tables.suffix_empty, out);
}

fn addExact(graph: *Graph, trie: *const vocabulary_room.Trie, state: StateId, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    var sink: Limited(@TypeOf(verifier)) = .{ .graph = graph, .limit = limit, .out = out, .verifier = verifier };
    try walk.exact(graph, trie, state, spent, &sink);
}

/// The cost between two characters; of a key, once it is unlike all others.
fn insideCost(graph: *Graph, state: StateId) Error!u32 {
    var least: u32 = graph_room.unreachable_cost;
    const known = graph.states.items[state];
    for (known.start..known.start + known.len) |at| {
        var node = graph.nodes.items[graph.state_items.items[at]];
        if (node.kind == .object_key) {
            node.b = none;
            node.d = Registers.no_extras;
        }
        if (try graph.internNode(node)) |id| least = @min(least, graph.nodes.items[id].cost);
    }
    return least;
}

/// Tokens that stay inside.
fn addInside(tables: *const StringTables, spelled: *const StringTables.Spelled, kind: Group.Kind, out: []u32) void {
    if (kind.allowed >= tables.counts.len) {
        for (out, spelled.interior) |*word, bits| word.* |= bits;
        return;
    }
    addLevel(tables, kind.allowed, out);
    for (spelled.open) |open| if (fits(open, kind.allowed)) {
        out[open.token >> 5] |= bitOf(open.token);
    };
}

/// Tokens of at most so many whole characters.
fn addLevel(tables: *const StringTables, allowed: u32, out: []u32) void {
    for (out, tables.levels[@min(allowed, StringTables.level_count - 1)]) |*word, bits| word.* |= bits;
    if (allowed < StringTables.level_count) return;
    for (tables.long) |long| {
        if (long.characters > allowed) break;
        out[long.token >> 5] |= bitOf(long.token);
    }
}

fn fits(open: vocabulary_room.string_tables.Open, allowed: u32) bool {
    return @as(u32, open.characters) + @intFromBool(open.end.phase != .text) <= allowed;
}

fn addSuffix(spelled: *const StringTables.Spelled, kind: Group.Kind, suffix: u32, out: []u32) void {
    for (spelled.closed[spelled.offsets[suffix]..spelled.offsets[suffix + 1]]) |closed| {
        if (closed.characters >= kind.needed and closed.characters <= kind.allowed) out[closed.token >> 5] |= bitOf(closed.token);
    }
}

/// The state right after the closing quote, if enough characters came before it.
fn closedState(graph: *Graph, state: StateId) Error!?StateId {
    const ids = &graph.memos.ids;
    ids.clearRetainingCapacity();
    const known = graph.states.items[state];
    for (known.start..known.start + known.len) |at| {
        var node = graph.nodes.items[graph.state_items.items[at]];
        if (node.kind == .string) {
            node.a = 0;
            node.b = 0;
        }
        if (try graph.internNode(node)) |id| try ids.append(graph.gpa, id);
    }
    const next = try graph.step(try graph.internState(ids.items), '"');
    // Where the quote ends the text, or begins another count, the closed strings' own count would be lost.
    if (next.whitespace != 0 and graph.states.items[next.state].slack_min != none) return null;
    return next.state;
}

// Tokens by id

fn addEdges(graph: *Graph, state: StateId, limit: u32, out: []u32, verifier: anytype) Error!void {
    const program = graph.program;
    for (program.named) |token| {
        if (try verifier.allowed(token, limit)) out[token >> 5] |= bitOf(token);
    }
    const passing = for (graph.nodesOf(state)) |id| {
        if (graph.nodes.items[id].kind == .text and program.nodes[graph.nodes.items[id].a].text.controls) break true;
    } else false;
    if (!passing) return;
    for (out, program.vocabulary.control, program.named_bits, 0..) |*word, control, named, index| {
        const bits = control & ~named;
        if (bits == 0) continue;
        // Control tokens that no text ends at are all alike.
        if (!try verifier.allowed(@intCast(index * 32 + @ctz(bits)), limit)) return;
        word.* |= bits;
    }
}

pub fn bitOf(token: u32) u32 {
    return @as(u32, 1) << @intCast(token & 31);
}

/// A token and those with the same bytes.
fn setToken(graph: *const Graph, out: []u32, entry: u32) void {
    var token = entry;
    while (token != none) : (token = graph.program.vocabulary.twins[token]) out[token >> 5] |= bitOf(token);
}
