//! The tokens that a state with lists of texts or with patterns can read. Inside of these the vocabulary's trie and their automaton are
//! walked side by side, without a state for each place: only what comes after them, and what stands beside, takes steps of the graph.
const std = @import("std");
const Allocator = std.mem.Allocator;
const stdx = @import("../stdx.zig");
const limits = @import("../limits.zig").grammar;
const vocabulary_room = @import("../vocabulary.zig");
const Trie = vocabulary_room.Trie;
const json_string = vocabulary_room.json_string;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const StateId = graph_room.StateId;
const Transition = graph_room.Transition;
const memo_room = @import("memo.zig");
const Key = memo_room.Key;
const Late = memo_room.Late;
const Memo = memo_room.Memo;
const Dawg = @import("dawg.zig").Dawg;
const pattern_bytes = @import("pattern_bytes.zig");
const pattern_walk = @import("pattern_walk.zig");
const spelling = @import("spelling.zig");
const walk = @import("walk.zig");

const none = graph_room.none;
const unreachable_cost = graph_room.unreachable_cost;

/// Where a walk inside a list of texts is: below a node of the trie, at one of the list.
pub const Start = struct { below: u32, at: u32 };

/// What is still to be looked at: the tokens below a node of the trie (`root`: all), read on from here.
pub const Task = union(enum) {
    state: struct { below: u32, state: StateId, spent: u32 },
    /// In a list, whose parents are these.
    texts: struct { below: u32, dawg: u32, at: u32, parents: u32 },
    /// In a pattern, inside a character or between two.
    regex: struct { below: u32, pattern: u32, at: json_string.State, parents: u32 },

    pub const root: u32 = none;

    /// Of a node in a list of texts or in a pattern.
    pub fn of(node: *const graph_room.Node, below: u32) Task {
        if (node.kind == .texts) return .{ .texts = .{ .below = below, .dawg = node.a, .at = node.b, .parents = node.parents } };
        return .{ .regex = .{ .below = below, .pattern = node.a, .at = @bitCast(node.c), .parents = node.parents } };
    }
};

/// The places that one walk has been at. There is room for so many, and one that another has put out is looked at again: that
/// costs time and changes nothing, and deep below, where it would multiply, few are looked at in between.
pub const Passed = struct {
    places: []Place = &.{},
    /// Places of other walks do not count.
    walk: u32 = 0,

    const Place = struct { below: u32, state: StateId, spent: u32, walk: u32 };

    fn begin(self: *Passed, gpa: Allocator) error{OutOfMemory}!void {
        if (self.places.len == 0) self.places = try gpa.alloc(Place, limits.walk_places);
        if (self.walk == 0) @memset(self.places, .{ .below = 0, .state = 0, .spent = 0, .walk = 0 });
        self.walk +%= 1;
        if (self.walk == 0) return self.begin(gpa);
    }

    pub fn deinit(self: *Passed, gpa: Allocator) void {
        gpa.free(self.places);
    }

    /// Whether the walk has been there; from now on it has.
    fn has(self: *Passed, below: u32, state: StateId, spent: u32) bool {
        const hash = stdx.hashWords(&.{ below, state, spent }, 0);
        const place = &self.places[@intCast(hash % limits.walk_places)];
        const here: Place = .{ .below = below, .state = state, .spent = spent, .walk = self.walk };
        if (std.meta.eql(place.*, here)) return true;
        place.* = here;
        return false;
    }
};

/// `sink.found(entry, cost)` for every token after which the output can be finished, with what that costs at most, some of them more than
/// once; `sink.uncertain(entry)` for those that depend on the text of a key. `spent` is the whitespace of the JSON text that the state is in.
pub fn find(graph: *Graph, start: StateId, spent: u32, sink: anytype) error{OutOfMemory}!void {
    try begin(graph);
    try readOn(graph, Task.root, start, spent);
    return run(graph, sink);
}

fn begin(graph: *Graph) error{OutOfMemory}!void {
    graph.memos.tasks.clearRetainingCapacity();
    try graph.memos.passed.begin(graph.gpa);
}

/// Below this node of the trie in this state, unless nothing there may be read, or it was looked at before: what can be read in several ways is
/// read on once.
fn readOn(graph: *Graph, below: u32, state: StateId, spent: u32) error{OutOfMemory}!void {
    var children: Readable = try .of(graph, &graph.program.vocabulary.trie, below, state);
    if (children.next() == null) return;
    if (graph.memos.passed.has(below, state, spent)) return;
    try graph.memos.tasks.append(graph.gpa, .{ .state = .{ .below = below, .state = state, .spent = spent } });
}

fn run(graph: *Graph, sink: anytype) error{OutOfMemory}!void {
    const tasks = &graph.memos.tasks;
    const trie = &graph.program.vocabulary.trie;
    while (tasks.pop()) |task| switch (task) {
        .state => |at| try readState(graph, trie, at.below, at.state, at.spent, sink),
        .texts => |at| if (at.at == graph.program.dawgs[at.dawg].root and sizeBelow(trie, at.below) >= kept_min)
            try startTexts(graph, at.below, at.dawg, at.parents, sink)
        else
            try readTexts(graph, trie, at.below, at.dawg, at.at, at.parents, sink),
        .regex => |at| try readRegex(graph, at.below, at.pattern, at.at, at.parents, sink),
    };
}

fn readState(graph: *Graph, trie: *const Trie, below: u32, state: StateId, spent: u32, sink: anytype) error{OutOfMemory}!void {
    const tasks = &graph.memos.tasks;
    const known = graph.states.items[state];
    var others = state;
    if (known.parts) {
        const ids = &graph.memos.ids;
        ids.clearRetainingCapacity();
        for (graph.nodesOf(state)) |id| {
            const node = &graph.nodes.items[id];
            if (node.kind != .texts and node.kind != .regex) {
                try ids.append(graph.gpa, id);
                continue;
            }
            try tasks.append(graph.gpa, .of(node, below));
        }
        others = try graph.internState(ids.items);
    }
    if (others == Graph.dead_state) return;
    var children: Readable = try .of(graph, trie, below, others);
    while (children.next()) |child| try readByte(graph, trie, child, others, spent, sink);
}

fn readByte(graph: *Graph, trie: *const Trie, child: u32, state: StateId, spent: u32, sink: anytype) error{OutOfMemory}!void {
    const node = &trie.nodes[child];
    const next = try graph.step(state, node.byte);
    if (next.state == Graph.dead_state) return;
    const total = walk.spentAfter(spent, next);
    const counted = next.whitespace != 0 and next.whitespace != Transition.reset;
    const after: StateId = if (counted) try graph.withinWhitespace(next.state, total) else next.state;
    if (after == Graph.dead_state) return;
    if (graph.states.items[after].uncertain) {
        for (trie.nodes[child..node.next]) |inner| if (inner.entry != none) try sink.uncertain(inner.entry);
        return;
    }
    const cost = graph.states.items[after].cost;
    if (node.entry != none and cost != unreachable_cost) {
        if (graph.states.items[after].rough) try sink.uncertain(node.entry) else try sink.found(node.entry, cost);
    }
    if (node.next > child + 1) try readOn(graph, child, after, total);
}

/// Reads on in a state below each of these nodes of the trie.
pub fn readBelow(graph: *Graph, left: []const u32, state: StateId, sink: anytype) error{OutOfMemory}!void {
    const trie = &graph.program.vocabulary.trie;
    try begin(graph);
    for (left) |node| {
        var children: Readable = try .of(graph, trie, node, state);
        while (children.next()) |child| try readByte(graph, trie, child, state, 0, sink);
    }
    return run(graph, sink);
}

/// Below a node with so many others, what a list of texts reads from its beginning is kept: the list may begin in many places.
const kept_min = 256;

/// Reads a list of texts from its beginning on.
fn startTexts(graph: *Graph, below: u32, dawg: u32, parents: u32, sink: anytype) error{OutOfMemory}!void {
    const start = try startOf(graph, below, dawg);
    const rest = graph.sets.items[parents].cost;
    for (start.late) |found| {
        const cost = spelling.add(found.spent, rest);
        if (cost != unreachable_cost) try sink.found(found.entry, cost);
    }
    if (start.verify.len == 0) return;
    const after = try graph.afterPart(parents);
    if (after != Graph.dead_state) for (start.verify) |node| try readOn(graph, node, after, 0);
}

/// The tokens inside a list that begins below a node of the trie with what has to follow them, and the nodes below which they have left it.
fn startOf(graph: *Graph, below: u32, dawg_id: u32) error{OutOfMemory}!*const Memo {
    const key: Key = .{ .state = below, .list = @intCast(dawg_id), .of = .texts };
    if (graph.memos.get(key)) |known| return known;
    const trie = &graph.program.vocabulary.trie;
    const dawg = &graph.program.dawgs[dawg_id];
    const places = &graph.memos.starts;
    const found = &graph.memos.late;
    const left = &graph.memos.ids;
    found.clearRetainingCapacity();
    left.clearRetainingCapacity();
    places.clearRetainingCapacity();
    try places.append(graph.gpa, .{ .below = below, .at = dawg.root });
    while (places.pop()) |place| {
        var shared: Shared = .of(trie, place.below, dawg, place.at);
        while (shared.next()) |step| {
            const node = &trie.nodes[step.child];
            if (node.entry != none) try found.append(graph.gpa, .{ .spent = dawg.cost[step.target], .entry = node.entry });
            if (node.next == step.child + 1) continue;
            if (dawg.goesOn(step.target)) try places.append(graph.gpa, .{ .below = step.child, .at = step.target });
            if (dawg.ends(step.target)) try left.append(graph.gpa, step.child);
        }
    }
    const allocator = graph.memos.allocator();
    return graph.memos.put(graph.gpa, key, .{ .late = try allocator.dupe(Late, found.items), .verify = try allocator.dupe(u32, left.items) });
}

fn sizeBelow(trie: *const Trie, node: u32) usize {
    return if (node == Task.root) trie.nodes.len else trie.nodes[node].next - node - 1;
}

fn readTexts(graph: *Graph, trie: *const Trie, below: u32, dawg_id: u32, at: u32, parents: u32, sink: anytype) error{OutOfMemory}!void {
    const tasks = &graph.memos.tasks;
    const dawg = &graph.program.dawgs[dawg_id];
    const rest = graph.sets.items[parents].cost;
    var shared: Shared = .of(trie, below, dawg, at);
    while (shared.next()) |step| {
        const node = &trie.nodes[step.child];
        const cost = spelling.add(dawg.cost[step.target], rest);
        if (node.entry != none and cost != unreachable_cost) try sink.found(node.entry, cost);
        if (node.next == step.child + 1) continue;
        if (dawg.goesOn(step.target)) try tasks.append(graph.gpa, .{ .texts = .{ .below = step.child, .dawg = dawg_id, .at = step.target, .parents = parents } });
        if (!dawg.ends(step.target)) continue;
        const after = try graph.afterPart(parents);
        if (after != Graph.dead_state) try readOn(graph, step.child, after, 0);
    }
}

fn readRegex(graph: *Graph, below: u32, pattern: u32, at: json_string.State, parents: u32, sink: anytype) error{OutOfMemory}!void {
    const rest = graph.sets.items[parents].cost;
    var reading: Reading(@TypeOf(sink)) = .{ .graph = graph, .rest = rest, .after = try graph.afterPart(parents), .sink = sink };
    try pattern_walk.findRaw(&graph.patterns, graph.program.vocabulary, pattern, at, below, &reading);
}

/// Takes in what a pattern reads.
fn Reading(comptime Sink: type) type {
    return struct {
        graph: *Graph,
        /// What has to follow the pattern costs.
        rest: u32,
        after: StateId,
        sink: Sink,

        pub fn reach(self: *@This(), token: u32, place: pattern_bytes.Place, _: u16) error{OutOfMemory}!void {
            const end = try pattern_bytes.endOf(&self.graph.patterns, place);
            const cost = spelling.add(end.cost, self.rest);
            if (cost != unreachable_cost) try self.sink.found(token, cost);
        }

        pub fn pass(self: *@This(), node: u32, place: pattern_bytes.Place) error{OutOfMemory}!void {
            if (self.after == Graph.dead_state) return;
            const end = try pattern_bytes.endOf(&self.graph.patterns, place);
            if (end.accepts) try readOn(self.graph, node, self.after, 0);
        }
    };
}

/// The nodes of a trie one byte below another.
fn childrenOf(trie: *const Trie, node: u32) Children {
    if (node == Task.root) return .{ .nodes = trie.nodes, .at = 0, .end = @intCast(trie.nodes.len) };
    return .{ .nodes = trie.nodes, .at = node + 1, .end = trie.nodes[node].next };
}

const Children = struct {
    nodes: []const Trie.Node,
    at: u32,
    end: u32,

    fn next(self: *Children) ?u32 {
        if (self.at >= self.end) return null;
        defer self.at = self.nodes[self.at].next;
        return self.at;
    }
};

/// Those of them that a state reads.
const Readable = struct {
    trie: *const Trie,
    live: [4]u64,
    /// Of the node's children, or `none`.
    table: u32,
    /// From where on, in the table; without one the child.
    byte: u32 = 0,
    at: u32,
    end: u32,

    fn of(graph: *Graph, trie: *const Trie, node: u32, state: StateId) error{OutOfMemory}!Readable {
        const children = childrenOf(trie, node);
        const table = if (node == Task.root) trie.root_table else trie.nodes[node].table;
        return .{ .trie = trie, .live = graph.rows.live(try graph.rowOf(state)).*, .table = table, .at = children.at, .end = children.end };
    }

    fn next(self: *Readable) ?u32 {
        if (self.table != none) {
            const child = self.trie.nextRead(self.table, &self.live, self.byte, self.end);
            if (child == self.end) return null;
            self.byte = @as(u32, self.trie.nodes[child].byte) + 1;
            return child;
        }
        while (self.at < self.end) {
            const child = self.at;
            const byte = self.trie.nodes[child].byte;
            self.at = self.trie.nodes[child].next;
            if (self.live[byte >> 6] >> @intCast(byte & 63) & 1 != 0) return child;
        }
        return null;
    }
};

/// The bytes that lead on both below a node of the trie and in a list of texts: both sides have them in rising order.
const Shared = struct {
    nodes: []const Trie.Node,
    children: Children,
    edges: []const Dawg.Edge,

    fn of(trie: *const Trie, below: u32, dawg: *const Dawg, at: u32) Shared {
        return .{ .nodes = trie.nodes, .children = childrenOf(trie, below), .edges = dawg.edgesOf(at) };
    }

    fn next(self: *Shared) ?struct { child: u32, target: u32 } {
        while (self.edges.len > 0) {
            const child = self.children.next() orelse return null;
            const byte = self.nodes[child].byte;
            while (self.edges.len > 0 and self.edges[0].byte < byte) self.edges = self.edges[1..];
            if (self.edges.len > 0 and self.edges[0].byte == byte) return .{ .child = child, .target = self.edges[0].target };
        }
        return null;
    }
};
