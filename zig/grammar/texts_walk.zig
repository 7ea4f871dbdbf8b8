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
const spelling = @import("spelling.zig");
const walk = @import("walk.zig");

const none = graph_room.none;
const unreachable_cost = graph_room.unreachable_cost;

/// Where a walk inside a pattern is, at each depth.
pub const Inside = struct { state: u32, at: json_string.State };

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

/// Below this node of the trie in this state, unless that was looked at before: what can be read in several ways is read on once.
fn readOn(graph: *Graph, below: u32, state: StateId, spent: u32) error{OutOfMemory}!void {
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
        .regex => |at| try readRegex(graph, trie, at.below, at.pattern, at.at, at.parents, sink),
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
    var children = childrenOf(trie, below);
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
    var live: walk.ByteSet = .empty;
    for (0..256) |byte| if ((try graph.step(state, @intCast(byte))).state != Graph.dead_state) live.set(byte);
    for (left) |node| {
        var children = childrenOf(trie, node);
        while (children.next()) |child| {
            if (live.isSet(trie.nodes[child].byte)) try readByte(graph, trie, child, state, 0, sink);
        }
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

fn readRegex(graph: *Graph, trie: *const Trie, below: u32, pattern: u32, at: json_string.State, parents: u32, sink: anytype) error{OutOfMemory}!void {
    const tasks = &graph.memos.tasks;
    const patterns = &graph.patterns;
    const rest = graph.sets.items[parents].cost;
    var children = childrenOf(trie, below);
    while (children.next()) |child| {
        const node = &trie.nodes[child];
        const next = switch (try patterns.read(pattern, at, node.byte)) {
            .dead, .close => continue,
            .inside => |inside| inside,
        };
        const cost = spelling.add(try patterns.costInside(next.state, next.at), rest);
        if (node.entry != none and cost != unreachable_cost) try sink.found(node.entry, cost);
        if (node.next == child + 1) continue;
        try tasks.append(graph.gpa, .{ .regex = .{ .below = child, .pattern = next.state, .at = next.at, .parents = parents } });
        if (next.at != json_string.State.start or !patterns.accepts(next.state)) continue;
        const after = try graph.afterPart(parents);
        if (after != Graph.dead_state) try readOn(graph, child, after, 0);
    }
}

/// The tokens that end inside a pattern, from between two characters on, whatever follows it: `sink.found(entry, cost)` with what finishing
/// the pattern costs; and `sink.leaves(node)` for the nodes of the trie below which a token has left it.
pub fn findInside(graph: *Graph, pattern: u32, sink: anytype) error{OutOfMemory}!void {
    const patterns = &graph.patterns;
    const trie = &graph.program.vocabulary.trie;
    try graph.memos.inside.resize(graph.gpa, trie.depth_max + 1);
    const frames = graph.memos.inside.items;
    frames[0] = .{ .state = pattern, .at = .start };
    var at: u32 = 0;
    while (at < trie.nodes.len) {
        const node = &trie.nodes[at];
        const parent = frames[node.depth - 1];
        const next = switch (try patterns.read(parent.state, parent.at, node.byte)) {
            .dead, .close => {
                at = node.next;
                continue;
            },
            .inside => |inside| inside,
        };
        if (node.entry != none) {
            const cost = try patterns.costInside(next.state, next.at);
            if (cost != unreachable_cost) try sink.found(node.entry, cost);
        }
        if (node.next > at + 1 and next.at == json_string.State.start and patterns.accepts(next.state)) try sink.leaves(at);
        frames[node.depth] = .{ .state = next.state, .at = next.at };
        at += 1;
    }
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
