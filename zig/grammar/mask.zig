//! Masks, composed. Inside a free string they are a constant bitmap and the few hundred continuations after a closing quote; everything
//! else is a walk down the token trie. What depends on the state alone is kept.
const std = @import("std");
const words = @import("../stdx.zig").words;
const vocabulary_room = @import("../vocabulary.zig");
const StringTables = vocabulary_room.StringTables;
const Trie = vocabulary_room.Trie;
const json_string = vocabulary_room.json_string;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const Node = graph_room.Node;
const StateId = graph_room.StateId;
const alone = @import("alone.zig");
const first_room = @import("first.zig");
const lead_mask = @import("lead_mask.zig");
const memo_room = @import("memo.zig");
const Memo = memo_room.Memo;
const Late = memo_room.Late;
const KeyPlace = @import("registers.zig").KeyPlace;
const near = @import("near.zig");
const Seen = @import("seen.zig").Seen;
const pattern_mask = @import("pattern_mask.zig");
const raw_mask = @import("raw_mask.zig");
const texts_walk = @import("texts_walk.zig");
const Patterns = @import("patterns.zig").Patterns;
const takesAll = @import("takes_all.zig").takesAll;
const spelling = @import("spelling.zig");
const walk = @import("walk.zig");

const none = graph_room.none;
const Error = error{OutOfMemory};

/// No limit on the tokens that may follow.
pub const unlimited: u32 = 0xffffffff;

/// What a token inside a string can add to its cost: an unfinished pair of escapes, and for keys the way around a million others.
const string_cost_slack = 20;

/// Writes the mask of a state: bit t for every token after which the output can be finished in `limit` more tokens. `spent`: whitespace
/// of its JSON text. `verifier.allowed(token, limit)` decides single tokens.
pub fn fill(graph: *Graph, given: StateId, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    if (try takesAll(graph, given)) {
        @memcpy(out, graph.program.vocabulary.producible);
        return;
    }
    const state = try graph.withoutCounts(given);
    if (graph.memos.get(.{ .state = state, .of = .whole })) |memo| if (limit >= memo.cost_max) {
        @memcpy(out, memo.bits);
        return memo.addLate(spent, out);
    };
    const other = try splitStrings(graph, state);
    if (try keepWhole(graph, state, other, limit, out)) |memo| return memo.addLate(spent, out);
    @memset(out, 0);
    if (other != Graph.dead_state) try addState(graph, other, .tokens, spent, limit, out, verifier);
    for (graph.memos.groups.items) |group| try addString(graph, group, spent, limit, out, verifier);
    for (graph.program.named) |token| words.unset(out, token);
    if (graph.states.items[state].edges) try addEdges(graph, state, limit, out, verifier);
}

/// Whether that many tokens suffice. An unreachable end has no cost.
pub fn isWithin(cost: u32, limit: u32) bool {
    return cost <= limit and cost != graph_room.unreachable_cost;
}

/// Nodes between two characters of a free string, of a pattern, or of a key that may be new, that allow the same.
pub const Group = struct {
    kind: Group.Kind,
    state: StateId,

    const Kind = struct {
        spelling: json_string.Spelling,
        needed: u32,
        allowed: u32,
        /// What was read could still become a known key, so that it matters what comes before the closing quote.
        known: bool,
        /// The pattern's state, or `Patterns.dead` without one.
        pattern: u32 = Patterns.dead,
        /// Of a key that has to match, near the known ones: its place among them.
        place: u32 = none,
        /// Of a pattern.
        track: u32 = 0,

        /// No token is too long to stay inside.
        pub fn isFree(self: *const Group.Kind, graph: *const Graph) bool {
            return self.pattern == Patterns.dead and self.allowed >= graph.program.vocabulary.string_tables.counts.len;
        }
    };

    pub fn kindOf(graph: *const Graph, node: *const Node) ?Group.Kind {
        if (node.c != 0) return null;
        if (node.kind == .pattern) {
            if (!graph.tracks.isFree(node.d)) return null;
            return .{
                .spelling = graph.patterns.of(node.a).writing.spellingOf(),
                .needed = 0,
                .allowed = none,
                .known = node.d != 0,
                .pattern = node.a,
                .track = node.d,
            };
        }
        // A memo's key has no more room for a place.
        if (node.kind == .object_other) return if (node.d > std.math.maxInt(u24)) null else .{
            .spelling = graph.patterns.of(node.b).writing.spellingOf(),
            .needed = 0,
            .allowed = none,
            .known = true,
            .pattern = node.b,
            .place = if (node.d == KeyPlace.away) none else node.d,
        };
        if (node.kind != .string and node.kind != .object_key or !graph.program.escapes) return null;
        const spec = graph.style(node).spelling == .spec;
        if (node.kind == .string) {
            if (node.b == 0) return null;
            // Beside strings that were there, all that stays inside is allowed only where there is a way on from everywhere.
            if (node.d != 0 and !graph.tracks.isFree(node.d)) return null;
            return .{ .spelling = if (spec) .spec else .plain, .needed = node.a, .allowed = node.b, .known = node.d != 0 };
        }
        if (!graph.registers.get(node.a).extras_open) return null;
        return .{
            .spelling = if (spec) .spec else .fixed,
            .needed = 0,
            .allowed = none,
            .known = node.b != none or node.d != Seen.empty,
        };
    }
};

/// Puts the state's nodes inside strings into `graph.memos.groups`; the state of the others.
fn splitStrings(graph: *Graph, state: StateId) Error!StateId {
    const groups = &graph.memos.groups;
    groups.clearRetainingCapacity();
    const known = graph.states.items[state];
    for (known.start..known.start + known.len) |at| {
        const kind = Group.kindOf(graph, &graph.nodes.items[graph.state_items.items[at]]) orelse continue;
        for (groups.items) |group| {
            if (std.meta.eql(group.kind, kind)) break;
        } else try groups.append(graph.gpa, .{ .kind = kind, .state = Graph.dead_state });
    }
    if (groups.items.len == 0) return state;
    for (groups.items) |*group| group.state = try groupState(graph, state, group.kind);
    return groupState(graph, state, null);
}

/// The state of the nodes of one group, or of none.
fn groupState(graph: *Graph, state: StateId, kind: ?Group.Kind) Error!StateId {
    const ids = &graph.memos.ids;
    ids.clearRetainingCapacity();
    const known = graph.states.items[state];
    for (known.start..known.start + known.len) |at| {
        const id = graph.state_items.items[at];
        if (std.meta.eql(Group.kindOf(graph, &graph.nodes.items[id]), kind)) try ids.append(graph.gpa, id);
    }
    return if (ids.items.len == known.len) state else graph.internState(ids.items);
}

// Walks, or what is left of an earlier one

fn addState(graph: *Graph, state: StateId, comptime of: memo_room.Of, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    // Lists of texts and patterns are walked apart, where no whitespace has to be left open.
    if (of == .tokens and graph.program.has_parts and graph.states.items[state].slack_min == none) {
        return addListed(graph, state, spent, limit, out, verifier);
    }
    const memo = try memoOf(graph, state, of);
    if (memo.tangled or limit < memo.cost_max) return addExact(graph, trieOf(graph, of), state, spent, limit, out, verifier);
    memo.addTo(spent, out);
    // Trying a token takes steps, but makes no memos.
    for (memo.verify) |token| if (try verifier.allowed(token, limit)) words.set(out, token);
}

/// The nodes in lists of texts and in patterns one by one, since many states have the same ones, and the others together.
fn addListed(graph: *Graph, state: StateId, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    if (!graph.states.items[state].parts) return addPart(graph, state, spent, limit, out, verifier);
    const known = graph.states.items[state];
    const ids = &graph.memos.ids;
    ids.clearRetainingCapacity();
    for (graph.nodesOf(state)) |id| switch (graph.nodes.items[id].kind) {
        .texts, .regex => {},
        else => try ids.append(graph.gpa, id),
    };
    const others = try graph.internState(ids.items);
    if (others != Graph.dead_state) try addPart(graph, others, spent, limit, out, verifier);
    for (known.start..known.start + known.len) |at| {
        const id = graph.state_items.items[at];
        switch (graph.nodes.items[id].kind) {
            .texts, .regex => try addPart(graph, try graph.internState(&.{id}), spent, limit, out, verifier),
            else => {},
        }
    }
}

fn addPart(graph: *Graph, state: StateId, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    const memo = try partOf(graph, state, spent);
    if (limit >= memo.cost_max) {
        memo.addTo(spent, out);
        for (memo.verify) |token| if (try verifier.allowed(token, limit)) words.set(out, token);
        return;
    }
    var sink: Limited(@TypeOf(verifier)) = .{ .graph = graph, .limit = limit, .out = out, .verifier = verifier };
    const inside = try insideOf(graph, state) orelse return texts_walk.find(graph, state, spent, &sink);
    if (limit < costInside(graph, state, inside)) return texts_walk.find(graph, state, spent, &sink);
    inside.addTo(spent, out);
    return readBehind(graph, state, inside, &sink);
}

fn partOf(graph: *Graph, state: StateId, spent: u32) Error!*const Memo {
    const key: memo_room.Key = .{ .state = state, .of = .tokens };
    if (graph.memos.get(key)) |known| return known;
    const memos = &graph.memos;
    const inside = try insideOf(graph, state);
    memos.list.clearRetainingCapacity();
    memos.verify.clearRetainingCapacity();
    var sink: Listing = .{ .graph = graph };
    var memo: Memo = .{};
    if (inside) |known| {
        sink.cost_max = costInside(graph, state, known);
        if (known.bits.len > 0) memo.bits = try memos.allocator().dupe(u32, known.bits);
        try memos.list.appendSlice(graph.gpa, known.list);
        try readBehind(graph, state, known, &sink);
    } else try texts_walk.find(graph, state, spent, &sink);
    memo.cost_max = sink.cost_max;
    try keepList(graph, &memo);
    memo.verify = try memos.allocator().dupe(u32, memos.verify.items);
    return memos.put(graph.gpa, key, memo);
}

/// What a state that is one node between two characters of a pattern reads inside of it; only what leaves it depends on what follows. Null
/// for all others.
fn insideOf(graph: *Graph, state: StateId) Error!?*const Memo {
    const nodes = graph.nodesOf(state);
    const node = graph.nodes.items[nodes[0]];
    return if (nodes.len == 1 and node.kind == .regex and node.c == 0) try raw_mask.of(graph, node.a) else null;
}

/// The highest cost after what is read inside.
fn costInside(graph: *const Graph, state: StateId, inside: *const Memo) u32 {
    const parents = graph.nodes.items[graph.nodesOf(state)[0]].parents;
    return spelling.add(inside.cost_max, graph.sets.items[parents].cost);
}

/// The tokens that leave the pattern.
fn readBehind(graph: *Graph, state: StateId, inside: *const Memo, sink: anytype) Error!void {
    const after = try graph.afterPart(graph.nodes.items[graph.nodesOf(state)[0]].parents);
    if (after != Graph.dead_state) try texts_walk.readBelow(graph, inside.verify, after, sink);
}

fn addExact(graph: *Graph, trie: *const Trie, state: StateId, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    var sink: Limited(@TypeOf(verifier)) = .{ .graph = graph, .limit = limit, .out = out, .verifier = verifier };
    try walk.exact(graph, trie, state, spent, &sink);
}

fn trieOf(graph: *const Graph, of: memo_room.Of) *const Trie {
    const vocabulary = graph.program.vocabulary;
    return switch (of) {
        .tokens, .whole, .pattern_short, .pattern_free, .near_key, .regex, .texts => &vocabulary.trie,
        .pattern_long => &vocabulary.string_tables.long_tokens,
        .closing => &vocabulary.string_tables.closing,
        .suffixes => &vocabulary.string_tables.suffixes,
    };
}

fn memoOf(graph: *Graph, state: StateId, comptime of: memo_room.Of) Error!*const Memo {
    const key: memo_room.Key = .{ .state = state, .of = of };
    if (graph.memos.get(key)) |known| return known;
    const memos = &graph.memos;
    const parts: alone.Parts = if (of == .tokens or of == .suffixes) try alone.split(graph, state) else .{ .others = state };
    for (parts.slice()) |part| _ = try memoOf(graph, part.state, of);
    memos.list.clearRetainingCapacity();
    memos.late.clearRetainingCapacity();
    memos.verify.clearRetainingCapacity();
    memos.exits.clearRetainingCapacity();
    var sink: Collecting(of != .suffixes) = .{ .graph = graph };
    var memo: Memo = .{};
    memo.tangled = for (parts.slice()) |*part| {
        if (!try addAlone(graph, part, of, &memo, &sink)) break true;
    } else !try walkState(graph, parts.others, of, &sink);
    memo.whitespace_max = sink.whitespace_max orelse 0;
    memo.cost_max = sink.cost_max;
    if (of == .tokens) try keepList(graph, &memo) else memo.list = try memos.allocator().dupe(u32, memos.list.items);
    try keepLate(graph, &memo);
    memo.verify = try memos.allocator().dupe(u32, memos.verify.items);
    memo.exits = try memos.allocator().dupe(alone.Exit, memos.exits.items);
    return memos.put(graph.gpa, key, memo);
}

/// False where whitespace cannot be left open.
fn walkState(graph: *Graph, state: StateId, comptime of: memo_room.Of, sink: anytype) Error!bool {
    if (state == Graph.dead_state) return true;
    const first: walk.ByteSet = switch (of) {
        .closing => try startFromAway(graph, state, sink) orelse .full,
        .tokens => try lead_mask.add(graph, state, sink) orelse return false,
        else => .full,
    };
    return walk.relative(graph, trieOf(graph, of), state, first, sink);
}

/// Takes in what a part reads by itself, and then where it stands. False where whitespace cannot be left open.
fn addAlone(graph: *Graph, part: *const alone.Part, comptime of: memo_room.Of, memo: *Memo, sink: anytype) Error!bool {
    const memos = &graph.memos;
    const own = memos.get(.{ .state = part.state, .of = of }) orelse return walkState(graph, part.whole, of, sink);
    if (own.tangled) return false;
    if (own.whitespace_max != 0) {
        if (sink.whitespace_max != null and sink.whitespace_max != own.whitespace_max) return false;
        sink.whitespace_max = own.whitespace_max;
    }
    sink.pay(spelling.add(own.cost_max, part.rest));
    if (own.bits.len > 0) {
        if (memo.bits.len > 0) words.orInto(memo.bits, own.bits) else memo.bits = try memos.allocator().dupe(u32, own.bits);
    }
    try memos.list.appendSlice(graph.gpa, own.list);
    try memos.late.appendSlice(graph.gpa, own.late);
    try memos.verify.appendSlice(graph.gpa, own.verify);
    for (own.exits) |*exit| {
        const open = if (exit.lead) |lead| open: {
            var entries: lead_mask.Entries(@TypeOf(sink)) = .{ .lead = lead, .sink = sink };
            break :open try walk.onward(graph, exit, part.after, &entries);
        } else try walk.onward(graph, exit, part.after, sink);
        if (!open) return false;
    }
    return true;
}

/// Most of the tokens that close a key lead away from all known keys, and are told apart by what follows their quote. Takes those; only
/// tokens that begin with one of the bytes returned are still to be walked. Null: all of them are.
fn startFromAway(graph: *Graph, state: StateId, sink: anytype) Error!?walk.ByteSet {
    for (graph.nodesOf(state)) |id| {
        const node = &graph.nodes.items[id];
        // A length would matter beside what follows the quote.
        if (node.kind != .object_key and (node.kind != .string or node.a > 0 or node.b != none)) return null;
    }
    const away = try awayState(graph, state);
    if (away == Graph.dead_state) return null;
    const closed = try closedState(graph, away) orelse return null;
    const memo = try memoOf(graph, closed, .suffixes);
    if (memo.tangled) return null;
    const memos = &graph.memos;
    memos.list.clearRetainingCapacity();
    memos.late.clearRetainingCapacity();
    memos.verify.clearRetainingCapacity();
    const differing = first_room.differing(graph, graph.nodesOf(state));
    const tables = &graph.program.vocabulary.string_tables;
    const node = &graph.nodes.items[graph.nodesOf(state)[0]];
    const kind = Group.kindOf(graph, node) orelse return null;
    const spelled = &tables.by_spelling[@backingInt(kind.spelling)];
    for (memo.list) |suffix| for (spelled.closedBy(suffix)) |token| if (!differing.isSet(token.first)) try sink.take(token.token, 0);
    for (memo.late) |late| for (spelled.closedBy(late.entry)) |token| if (!differing.isSet(token.first)) try sink.take(token.token, late.spent);
    for (memo.verify) |suffix| for (spelled.closedBy(suffix)) |token| if (!differing.isSet(token.first)) try sink.doubt(token.token);
    sink.pay(memo.cost_max);
    if (tables.suffix_empty != none and try sink.isReachable(closed)) {
        for (spelled.closedBy(tables.suffix_empty)) |token| if (!differing.isSet(token.first)) try sink.take(token.token, 0);
    }
    if (memo.late.len > 0) sink.whitespace_max = memo.whitespace_max;
    return differing;
}

/// The state with every key, and every string, away from all known ones.
fn awayState(graph: *Graph, state: StateId) Error!StateId {
    const ids = &graph.memos.ids;
    ids.clearRetainingCapacity();
    const known = graph.states.items[state];
    for (known.start..known.start + known.len) |at| {
        var node = graph.nodes.items[graph.state_items.items[at]];
        if (node.kind == .object_key) {
            node.b = none;
            node.d = Seen.empty;
        } else if (node.kind == .string or node.kind == .pattern) node.d = 0;
        if (try graph.internNode(node)) |id| try ids.append(graph.gpa, id);
    }
    return graph.internState(ids.items);
}

/// Tokens as a list where they are few.
fn keepList(graph: *Graph, memo: *Memo) Error!void {
    const list = graph.memos.list.items;
    const word_count = graph.program.vocabulary.words();
    if (memo.bits.len == 0) {
        if (list.len <= word_count / 4) {
            memo.list = try graph.memos.allocator().dupe(u32, list);
            return;
        }
        memo.bits = try graph.memos.allocator().alloc(u32, word_count);
        @memset(memo.bits, 0);
    }
    for (list) |entry| words.set(memo.bits, entry);
}

/// Takes in the tokens of a walk of texts, those that are text in this grammar, with their twins.
const Listing = struct {
    graph: *Graph,
    cost_max: u32 = 0,

    pub fn found(self: *Listing, entry: u32, cost: u32) Error!void {
        self.cost_max = @max(self.cost_max, cost);
        var token = entry;
        while (token != none) : (token = self.graph.program.vocabulary.twins[token]) {
            if (!self.graph.program.isNamed(token)) try self.graph.memos.list.append(self.graph.gpa, token);
        }
    }

    pub fn uncertain(self: *Listing, entry: u32) Error!void {
        var token = entry;
        while (token != none) : (token = self.graph.program.vocabulary.twins[token]) try self.graph.memos.verify.append(self.graph.gpa, token);
    }
};

fn keepLate(graph: *Graph, memo: *Memo) Error!void {
    std.mem.sortUnstable(Late, graph.memos.late.items, {}, struct {
        fn lessThan(_: void, a: Late, b: Late) bool {
            return a.spent < b.spent;
        }
    }.lessThan);
    memo.late = try graph.memos.allocator().dupe(Late, graph.memos.late.items);
}

/// Takes in the entries of a trie; of tokens, those that are text in this grammar, with their twins.
fn Collecting(comptime tokens: bool) type {
    return struct {
        graph: *Graph,
        whitespace_max: ?u32 = null,
        cost_max: u32 = 0,
        last_state: StateId = Graph.dead_state,
        last_reachable: bool = false,

        pub fn reach(self: *@This(), node: *const Trie.Node, state: StateId, owed: u32) Error!void {
            if (try self.isReachable(state)) try self.takeAll(node, owed);
        }

        /// What the node of a trie is of.
        pub inline fn takeAll(self: *@This(), node: *const Trie.Node, owed: u32) Error!void {
            var entry = node.entry;
            if (!node.twinned) return self.take(entry, owed);
            while (entry != none) : (entry = if (tokens) self.graph.program.vocabulary.twins[entry] else none) try self.take(entry, owed);
        }

        pub fn uncertain(self: *@This(), first: u32) Error!void {
            var entry = first;
            while (entry != none) : (entry = if (tokens) self.graph.program.vocabulary.twins[entry] else none) try self.doubt(entry);
        }

        /// Whether a token may end there; what it costs then is paid.
        pub inline fn isReachable(self: *@This(), state: StateId) Error!bool {
            if (state != self.last_state) {
                self.last_state = state;
                const cost = self.graph.states.items[state].cost;
                self.last_reachable = cost != graph_room.unreachable_cost;
                if (self.last_reachable) self.pay(cost);
            }
            return self.last_reachable;
        }

        pub fn pay(self: *@This(), cost: u32) void {
            self.cost_max = @max(self.cost_max, cost);
        }

        pub inline fn take(self: *@This(), entry: u32, owed: u32) Error!void {
            const memos = &self.graph.memos;
            if (tokens and self.graph.program.named.len > 0 and self.graph.program.isNamed(entry)) return;
            if (owed > 0) return memos.late.append(self.graph.gpa, .{ .spent = owed, .entry = entry });
            if (memos.list.items.len == memos.list.capacity) try memos.list.ensureUnusedCapacity(self.graph.gpa, 1);
            memos.list.appendAssumeCapacity(entry);
        }

        pub fn leave(self: *@This(), exit: alone.Exit) Error!void {
            try self.graph.memos.exits.append(self.graph.gpa, exit);
        }

        pub fn doubt(self: *@This(), entry: u32) Error!void {
            try self.graph.memos.verify.append(self.graph.gpa, entry);
        }
    };
}

fn Limited(comptime Verifier: type) type {
    return struct {
        graph: *Graph,
        limit: u32,
        out: []u32,
        verifier: Verifier,

        pub fn reach(self: *@This(), node: *const Trie.Node, state: StateId) Error!void {
            const known = &self.graph.states.items[state];
            if (known.rough and !isWithin(known.cost, self.limit)) return self.uncertain(node.entry);
            return self.found(node.entry, known.cost);
        }

        pub fn found(self: *@This(), entry: u32, cost: u32) Error!void {
            if (!isWithin(cost, self.limit)) return;
            var token = entry;
            while (token != none) : (token = self.graph.program.vocabulary.twins[token]) words.set(self.out, token);
        }

        pub fn uncertain(self: *@This(), entry: u32) Error!void {
            var token = entry;
            while (token != none) : (token = self.graph.program.vocabulary.twins[token]) {
                if (try self.verifier.allowed(token, self.limit)) words.set(self.out, token);
            }
        }
    };
}

// Free strings

fn addString(graph: *Graph, group: Group, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    if (group.kind.track != 0 or group.kind.known and group.kind.allowed != none) return addBeside(graph, group, spent, limit, out, verifier);
    if (group.kind.pattern != Patterns.dead) return addPattern(graph, group, spent, limit, out, verifier);
    const tables = &graph.program.vocabulary.string_tables;
    const spelled = &tables.by_spelling[@backingInt(group.kind.spelling)];
    const kind = group.kind;
    const cost = try betweenCost(graph, group.state);
    if (limit >= cost +| string_cost_slack) {
        addInside(tables, spelled, kind, out);
    } else if (kind.needed > 0 or kind.known) {
        // Near the limit it matters what each token costs.
        return addExact(graph, &graph.program.vocabulary.trie, group.state, spent, limit, out, verifier);
    } else if (cost <= limit) {
        addLevel(tables, kind.allowed, out);
        for (spelled.open) |open| {
            const phase = @backingInt(open.end.phase);
            const extra = if (phase < json_string.utf8_phases) tables.finish_cost[phase] else json_string.escapeBytesLeft(open.end);
            if (fits(open, kind.allowed) and cost +| extra <= limit) words.set(out, open.token);
        }
    }
    const closed = (if (kind.known) null else try closedState(graph, group.state)) orelse
        return addState(graph, group.state, .closing, spent, limit, out, verifier);
    if (closed == Graph.dead_state) return;
    const memo = try memoOf(graph, closed, .suffixes);
    if (memo.tangled or limit < memo.cost_max) return addState(graph, group.state, .closing, spent, limit, out, verifier);
    return addClosings(graph, kind, closed, memo, spent, limit, out, verifier);
}

/// Tokens that close a free string, by what may follow their quote. `after`: of `closed`, the state right behind it.
fn addClosings(graph: *Graph, kind: Group.Kind, closed: StateId, after: *const Memo, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    const tables = &graph.program.vocabulary.string_tables;
    const spelled = &tables.by_spelling[@backingInt(kind.spelling)];
    for (after.list) |suffix| addSuffix(spelled, kind, suffix, out);
    for (after.verify) |suffix| for (spelled.closedBy(suffix)) |token| {
        if (try verifier.allowed(token.token, limit)) words.set(out, token.token);
    };
    for (after.late) |late| {
        if (spent + late.spent > after.whitespace_max) break;
        addSuffix(spelled, kind, late.entry, out);
    }
    if (tables.suffix_empty != none and isWithin(graph.states.items[closed].cost, limit)) addSuffix(spelled, kind, tables.suffix_empty, out);
}

/// Of a string that does not go on from everywhere, beside strings that were there: most tokens do what they do where there were none, and
/// the few others are tried.
fn addBeside(graph: *Graph, group: Group, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    const away = try awayState(graph, group.state);
    const bits = &graph.memos.away;
    bits.clearRetainingCapacity();
    try bits.appendNTimes(graph.gpa, 0, out.len);
    if (away != Graph.dead_state) {
        const kind = Group.kindOf(graph, &graph.nodes.items[graph.nodesOf(away)[0]]).?;
        try addString(graph, .{ .kind = kind, .state = away }, spent, limit, bits.items, verifier);
    }
    const list = &graph.memos.list;
    list.clearRetainingCapacity();
    for (graph.nodesOf(group.state)) |id| {
        const track = graph.nodes.items[id].d;
        try near.find(graph, graph.tracks.known(graph, track), graph.tracks.get(track).place);
    }
    for (list.items) |token| words.unset(bits.items, token);
    words.orInto(out, bits.items);
    for (list.items) |token| if (try verifier.allowed(token, limit)) words.set(out, token);
}

/// Tokens that stay inside a pattern, and those that close it and may be followed by what comes after their quote.
fn addPattern(graph: *Graph, group: Group, spent: u32, limit: u32, out: []u32, verifier: anytype) Error!void {
    const trie = &graph.program.vocabulary.trie;
    const closed = try closedState(graph, group.state) orelse return addExact(graph, trie, group.state, spent, limit, out, verifier);
    const pattern = group.kind.pattern;
    var keys: [2]memo_room.Key = undefined;
    const parts = try pattern_mask.of(graph, pattern, &keys);
    const beside = pattern_mask.nearKey(pattern, group.kind.place);
    if (beside) |key| try pattern_mask.ensureNear(graph, key);
    const after = try memoOf(graph, closed, .suffixes);
    const dear = try pattern_mask.cost(graph, parts, group.state, pattern, group.kind.place);
    if (dear == null or after.tangled or limit < @max(dear.?, after.cost_max, graph.states.items[closed].cost)) {
        return addExact(graph, trie, group.state, spent, limit, out, verifier);
    }
    for (parts) |key| if (graph.memos.get(key).?.closings.len > 0) break try priceSuffixes(graph, after, closed);
    // What is taken out here may not be taken out of what others allow.
    const takes_out = beside != null or graph.memos.get(parts[0]).?.apart != null;
    const bits = if (takes_out) try graph.memos.cleared(graph.gpa, out.len) else out;
    for (parts) |key| {
        const memo = graph.memos.get(key).?;
        if (memo.apart) |apart| {
            try addClosings(graph, group.kind, closed, after, spent, limit, bits, verifier);
            for (apart) |token| words.unset(bits, token);
        }
        if (memo.bits.len > 0) words.orInto(bits, memo.bits);
        for (memo.list) |token| words.set(bits, token);
        for (memo.closings) |closing| {
            const price = graph.memos.suffixes.items[closing.suffix];
            const allowed = if (price == uncertain)
                try verifier.allowed(closing.token, limit)
            else
                price == 1 or price > 1 and spent + price - 1 <= after.whitespace_max;
            if (allowed) words.set(bits, closing.token);
        }
    }
    if (beside) |key| for (graph.memos.get(key).?.list) |token| words.unset(bits, token);
    if (takes_out) words.orInto(out, bits);
}

/// Of what may follow a closing quote if the text before it allows.
const uncertain = none;

/// Puts into `graph.memos.suffixes`, for what may follow a closing quote, one more than the whitespace that it spends; 0 where it may not.
fn priceSuffixes(graph: *Graph, after: *const Memo, closed: StateId) Error!void {
    const tables = &graph.program.vocabulary.string_tables;
    const prices = &graph.memos.suffixes;
    prices.clearRetainingCapacity();
    try prices.appendNTimes(graph.gpa, 0, tables.suffix_count);
    for (after.list) |suffix| prices.items[suffix] = 1;
    for (after.late) |late| prices.items[late.entry] = late.spent + 1;
    for (after.verify) |suffix| prices.items[suffix] = uncertain;
    if (tables.suffix_empty != none and graph.states.items[closed].cost != graph_room.unreachable_cost) prices.items[tables.suffix_empty] = 1;
}

/// The mask of a state inside strings without bounds, which stays the same as long as they go on: kept whole, and left in `out` but for what
/// depends on whitespace. Null where it depends on more.
fn keepWhole(graph: *Graph, state: StateId, other: StateId, limit: u32, out: []u32) Error!?*const Memo {
    const gpa = graph.gpa;
    const tables = &graph.program.vocabulary.string_tables;
    if (graph.memos.groups.items.len == 0 or graph.states.items[state].edges) return null;
    var memo: Memo = .{};
    var keys: [2]memo_room.Key = undefined;
    for (graph.memos.groups.items) |group| {
        if (group.kind.needed > 0 or group.kind.allowed != none or group.kind.known) return null;
        const closed = try closedState(graph, group.state) orelse return null;
        const pattern = group.kind.pattern;
        if (pattern != Patterns.dead) {
            // While a length is counted, every state is another one.
            if (graph.patterns.allowed(pattern) != none) return null;
            const parts = try pattern_mask.of(graph, pattern, &keys);
            memo.cost_max = @max(memo.cost_max, try pattern_mask.cost(graph, parts, group.state, pattern, none) orelse return null);
        }
        const after = try memoOf(graph, closed, .suffixes);
        if (after.tangled or after.verify.len > 0 or !sameWhitespace(&memo, after)) return null;
        memo.cost_max = @max(memo.cost_max, after.cost_max, graph.states.items[closed].cost);
        if (pattern == Patterns.dead) memo.cost_max = @max(memo.cost_max, try insideCost(graph, group.state));
    }
    if (other != Graph.dead_state) {
        const beside = try memoOf(graph, other, .tokens);
        if (beside.tangled or beside.verify.len > 0 or !sameWhitespace(&memo, beside)) return null;
        memo.cost_max = @max(memo.cost_max, beside.cost_max);
    }
    if (limit < memo.cost_max) return null;
    // Everything is there now; from here on nothing is put into the memos before the result.
    const late = &graph.memos.late;
    late.clearRetainingCapacity();
    @memset(out, 0);
    for (graph.memos.groups.items) |group| {
        const closed = (try closedState(graph, group.state)).?;
        const after = graph.memos.get(.{ .state = closed, .of = .suffixes }) orelse return null;
        if (group.kind.pattern != Patterns.dead) {
            try priceSuffixes(graph, after, closed);
            for (try pattern_mask.keysOf(graph, group.kind.pattern, &keys)) |key| {
                const part_memo = graph.memos.get(key) orelse return null;
                if (part_memo.bits.len > 0) words.orInto(out, part_memo.bits);
                for (part_memo.list) |token| words.set(out, token);
                if (part_memo.apart) |apart| try keepClosings(graph, group.kind, closed, after, apart, out);
                for (part_memo.closings) |closing| {
                    const price = graph.memos.suffixes.items[closing.suffix];
                    if (price == 1) words.set(out, closing.token);
                    if (price > 1 and !graph.program.isNamed(closing.token)) try late.append(gpa, .{ .spent = price - 1, .entry = closing.token });
                }
            }
            continue;
        }
        words.orInto(out, tables.by_spelling[@backingInt(group.kind.spelling)].interior);
        try keepClosings(graph, group.kind, closed, after, &.{}, out);
    }
    if (other != Graph.dead_state) {
        const beside = graph.memos.get(.{ .state = other, .of = .tokens }) orelse return null;
        if (beside.bits.len > 0) words.orInto(out, beside.bits);
        for (beside.list) |token| words.set(out, token);
        try late.appendSlice(gpa, beside.late);
    }
    for (graph.program.named) |token| words.unset(out, token);
    try keepLate(graph, &memo);
    memo.bits = try graph.memos.allocator().dupe(u32, out);
    return try graph.memos.put(graph.gpa, .{ .state = state, .of = .whole }, memo);
}

/// Tokens that close a free string, but for those apart, with what follows their quote: those that spend whitespace go to `graph.memos.late`.
fn keepClosings(graph: *Graph, kind: Group.Kind, closed: StateId, after: *const Memo, apart: []const u32, out: []u32) Error!void {
    const tables = &graph.program.vocabulary.string_tables;
    const spelled = &tables.by_spelling[@backingInt(kind.spelling)];
    const bits = try graph.memos.cleared(graph.gpa, out.len);
    for (after.list) |suffix| addSuffix(spelled, kind, suffix, bits);
    if (tables.suffix_empty != none and isWithin(graph.states.items[closed].cost, unlimited)) addSuffix(spelled, kind, tables.suffix_empty, bits);
    for (apart) |token| words.unset(bits, token);
    words.orInto(out, bits);
    @memset(bits, 0);
    for (apart) |token| words.set(bits, token);
    for (after.late) |late| for (spelled.closedBy(late.entry)) |closing| {
        if (graph.program.isNamed(closing.token) or words.isSet(bits, closing.token)) continue;
        try graph.memos.late.append(graph.gpa, .{ .spent = late.spent, .entry = closing.token });
    };
}

/// Whether both count whitespace against one bound; the first takes it over.
fn sameWhitespace(memo: *Memo, other: *const Memo) bool {
    if (other.late.len == 0) return true;
    if (memo.whitespace_max != 0 and memo.whitespace_max != other.whitespace_max) return false;
    memo.whitespace_max = other.whitespace_max;
    return true;
}

/// The cost between two characters; of a key, once it is unlike all others.
fn betweenCost(graph: *Graph, state: StateId) Error!u32 {
    return graph.states.items[try awayState(graph, state)].cost;
}

/// The cost after any token that stays inside, at most.
pub fn insideCost(graph: *Graph, state: StateId) Error!u32 {
    return try betweenCost(graph, state) +| string_cost_slack;
}

/// Tokens that stay inside.
fn addInside(tables: *const StringTables, spelled: *const StringTables.Spelled, kind: Group.Kind, out: []u32) void {
    if (kind.allowed >= tables.counts.len) return words.orInto(out, spelled.interior);
    addLevel(tables, kind.allowed, out);
    for (spelled.open) |open| if (fits(open, kind.allowed)) words.set(out, open.token);
}

/// Tokens of at most so many whole characters.
fn addLevel(tables: *const StringTables, allowed: u32, out: []u32) void {
    words.orInto(out, tables.levels[@min(allowed, StringTables.level_count - 1)]);
    if (allowed < StringTables.level_count) return;
    for (tables.long) |long| {
        if (long.characters > allowed) break;
        words.set(out, long.token);
    }
}

fn fits(open: vocabulary_room.string_tables.Open, allowed: u32) bool {
    return @as(u32, open.characters) + @intFromBool(open.end.phase != .text) <= allowed;
}

fn addSuffix(spelled: *const StringTables.Spelled, kind: Group.Kind, suffix: u32, out: []u32) void {
    for (spelled.closedBy(suffix)) |closed| {
        if (closed.characters >= kind.needed and closed.characters <= kind.allowed) words.set(out, closed.token);
    }
}

/// The state right after the closing quote, if enough characters came before it, or those that have to match. Null where the strings have
/// spent unlike amounts of whitespace, so that its count would be lost.
fn closedState(graph: *Graph, state: StateId) Error!?StateId {
    const first = graph.nodes.items[graph.nodesOf(state)[0]].kind;
    const next = if (first == .object_other) try graph.stepper.endKeys(graph, state) else try graph.step(try freeState(graph, state), '"');
    if (next.whitespace != 0 and graph.states.items[next.state].slack_min != none) return null;
    return next.state;
}

/// The state with strings that may be closed.
fn freeState(graph: *Graph, state: StateId) Error!StateId {
    const ids = &graph.memos.ids;
    ids.clearRetainingCapacity();
    const known = graph.states.items[state];
    for (known.start..known.start + known.len) |at| {
        var node = graph.nodes.items[graph.state_items.items[at]];
        if (node.kind == .pattern) node.kind = .string;
        if (node.kind == .string) {
            node.a = 0;
            node.b = 0;
        }
        if (try graph.internNode(node)) |id| try ids.append(graph.gpa, id);
    }
    return graph.internState(ids.items);
}

// Tokens by id

fn addEdges(graph: *Graph, state: StateId, limit: u32, out: []u32, verifier: anytype) Error!void {
    const program = graph.program;
    for (program.named) |token| if (try verifier.allowed(token, limit)) words.set(out, token);
    if (graph.states.items[state].any_token) try addAnyTokens(graph, state, limit, out);
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

/// The tokens of nodes that take nearly any: after each of them all is alike.
fn addAnyTokens(graph: *Graph, state: StateId, limit: u32, out: []u32) Error!void {
    const known = graph.states.items[state];
    for (known.start..known.start + known.len) |at| {
        const id = graph.state_items.items[at];
        const node = graph.nodes.items[id];
        if (node.kind != .any_token) continue;
        const tokens = graph.program.nodes[node.a].any_token;
        const first = words.first(tokens) orelse continue;
        const after = try graph.stepper.stepToken(graph, try graph.internState(&.{id}), first);
        if (isWithin(graph.states.items[after.state].cost, limit)) words.orInto(out, tokens);
    }
}
