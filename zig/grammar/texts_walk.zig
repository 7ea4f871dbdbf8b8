//! The tokens that a state with long lists of texts can read. Inside a list the vocabulary's trie and the list's automaton are walked
//! side by side, without a state for each place: only what comes after a text, and what stands beside one, takes steps of the graph.
const std = @import("std");
const Allocator = std.mem.Allocator;
const vocabulary_room = @import("../vocabulary.zig");
const Trie = vocabulary_room.Trie;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const StateId = graph_room.StateId;
const Transition = graph_room.Transition;
const spelling = @import("spelling.zig");
const walk = @import("walk.zig");

const none = graph_room.none;
const unreachable_cost = graph_room.unreachable_cost;

/// What is still to be looked at: the tokens below a node of the trie (`root`: all), read on from here.
pub const Task = union(enum) {
    state: struct { below: u32, state: StateId, spent: u32 },
    /// In a list, whose parents are these.
    texts: struct { below: u32, dawg: u32, at: u32, parents: u32 },

    const root: u32 = none;
};

/// `sink.found(entry, cost)` for every token after which the output can be finished, with what that costs at most, some of them more than
/// once; `sink.uncertain(entry)` for those that depend on the text of a key. `spent` is the whitespace of the JSON text that the state is in.
pub fn find(graph: *Graph, start: StateId, spent: u32, sink: anytype) error{OutOfMemory}!void {
    const tasks = &graph.memos.tasks;
    tasks.clearRetainingCapacity();
    try tasks.append(graph.gpa, .{ .state = .{ .below = Task.root, .state = start, .spent = spent } });
    const trie = &graph.program.vocabulary.trie;
    while (tasks.pop()) |task| switch (task) {
        .state => |at| try readState(graph, trie, at.below, at.state, at.spent, sink),
        .texts => |at| try readTexts(graph, trie, at.below, at.dawg, at.at, at.parents, sink),
    };
}

fn readState(graph: *Graph, trie: *const Trie, below: u32, state: StateId, spent: u32, sink: anytype) error{OutOfMemory}!void {
    const tasks = &graph.memos.tasks;
    const known = graph.states.items[state];
    var others = state;
    if (known.texts) {
        const ids = &graph.memos.ids;
        ids.clearRetainingCapacity();
        for (graph.nodesOf(state)) |id| {
            const node = &graph.nodes.items[id];
            if (node.kind != .texts) {
                try ids.append(graph.gpa, id);
                continue;
            }
            try tasks.append(graph.gpa, .{ .texts = .{ .below = below, .dawg = node.a, .at = node.b, .parents = node.parents } });
        }
        others = try graph.internState(ids.items);
    }
    if (others == Graph.dead_state) return;
    var children = childrenOf(trie, below);
    while (children.next()) |child| {
        const node = &trie.nodes[child];
        const next = try graph.step(others, node.byte);
        if (next.state == Graph.dead_state) continue;
        const total = walk.after(spent, next);
        const counted = next.whitespace != 0 and next.whitespace != Transition.reset;
        const after: StateId = if (counted) try graph.withinWhitespace(next.state, total) else next.state;
        if (after == Graph.dead_state) continue;
        if (graph.states.items[after].uncertain) {
            for (trie.nodes[child..node.next]) |inner| if (inner.entry != none) try sink.uncertain(inner.entry);
            continue;
        }
        const cost = graph.states.items[after].cost;
        if (node.entry != none and cost != unreachable_cost) try sink.found(node.entry, cost);
        if (node.next > child + 1) try tasks.append(graph.gpa, .{ .state = .{ .below = child, .state = after, .spent = total } });
    }
}

/// Both sides list their bytes in rising order.
fn readTexts(graph: *Graph, trie: *const Trie, below: u32, dawg_id: u32, at: u32, parents: u32, sink: anytype) error{OutOfMemory}!void {
    const tasks = &graph.memos.tasks;
    const dawg = &graph.program.dawgs[dawg_id];
    const rest = graph.sets.items[parents].cost;
    var children = childrenOf(trie, below);
    var child = children.next() orelse return;
    for (dawg.edgesOf(at)) |edge| {
        while (trie.nodes[child].byte < edge.byte) child = children.next() orelse return;
        const node = &trie.nodes[child];
        if (node.byte != edge.byte) continue;
        const cost = spelling.add(dawg.cost[edge.target], rest);
        if (node.entry != none and cost != unreachable_cost) try sink.found(node.entry, cost);
        if (node.next == child + 1) continue;
        if (dawg.goesOn(edge.target)) try tasks.append(graph.gpa, .{ .texts = .{ .below = child, .dawg = dawg_id, .at = edge.target, .parents = parents } });
        if (!dawg.ends(edge.target)) continue;
        const after = try graph.afterTexts(parents);
        if (after != Graph.dead_state) try tasks.append(graph.gpa, .{ .state = .{ .below = child, .state = after, .spent = 0 } });
    }
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

fn childrenOf(trie: *const Trie, node: u32) Children {
    if (node == Task.root) return .{ .nodes = trie.nodes, .at = 0, .end = @intCast(trie.nodes.len) };
    return .{ .nodes = trie.nodes, .at = node + 1, .end = trie.nodes[node].next };
}
