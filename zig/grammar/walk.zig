//! Which strings of a trie a state can read: down the trie in depth-first order, a whole subtree skipped where a byte is refused.
const std = @import("std");
const vocabulary_room = @import("../vocabulary.zig");
const Trie = vocabulary_room.Trie;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const StateId = graph_room.StateId;
const Transition = graph_room.Transition;
const memo_room = @import("memo.zig");

const none = graph_room.none;

/// With `spent` known: what is read is refused where a text would spend more than it may.
pub fn exact(graph: *Graph, trie: *const Trie, start: StateId, spent: u32, sink: anytype) error{OutOfMemory}!void {
    const frames = try reserve(graph, trie);
    frames[0] = .of(graph, start, spent);
    const nodes = trie.nodes;
    var at: u32 = 0;
    while (at < nodes.len) {
        const node = &nodes[at];
        const parent = &frames[node.depth - 1];
        const next = try parent.step(graph, node.byte);
        if (next.state == Graph.dead_state) {
            at = node.next;
            continue;
        }
        var state: StateId = next.state;
        var isUncertain = next.uncertain;
        const total = after(parent.spent, next);
        if (next.whitespace != 0 and next.whitespace != Transition.reset) {
            state = try graph.withinWhitespace(state, total);
            isUncertain = graph.states.items[state].uncertain;
        }
        if (state == Graph.dead_state or isUncertain) {
            if (isUncertain) try uncertain(trie, at, sink);
            at = node.next;
            continue;
        }
        frames[node.depth] = .of(graph, state, total);
        if (node.entry != none) try sink.reach(node.entry, state);
        at += 1;
    }
}

/// With what was spent before left open. `sink.reach(entry, state, owed)` tells how much the string spends of it; false: it cannot be left
/// open here. `sink.whitespace_max` is set to what a text may spend where something was spent.
pub fn relative(graph: *Graph, trie: *const Trie, start: StateId, sink: anytype) error{OutOfMemory}!bool {
    const frames = try reserve(graph, trie);
    frames[0] = .of(graph, start, 0);
    // Without a text that counts, nothing was spent before.
    frames[0].absolute = graph.states.items[start].slack_min == none;
    const nodes = trie.nodes;
    var at: u32 = 0;
    while (at < nodes.len) {
        const node = &nodes[at];
        const parent = &frames[node.depth - 1];
        const next = try parent.step(graph, node.byte);
        if (next.state == Graph.dead_state or next.uncertain) {
            if (next.uncertain) try uncertain(trie, at, sink);
            at = node.next;
            continue;
        }
        var state: StateId = next.state;
        var total = parent.spent;
        var owed = parent.owed;
        var absolute = parent.absolute;
        if (next.whitespace == Transition.reset) {
            total = 0;
            absolute = true;
        } else if (next.whitespace != 0) {
            total += next.whitespace;
            if (absolute) {
                state = try graph.withinWhitespace(state, total);
            } else {
                const known = graph.states.items[state];
                if (!known.all_counted or known.slack_min != known.slack_max) return false;
                if (sink.whitespace_max != null and sink.whitespace_max != known.slack_max) return false;
                sink.whitespace_max = known.slack_max;
                owed = total;
                if (owed > known.slack_max) state = Graph.dead_state;
            }
            if (state == Graph.dead_state) {
                at = node.next;
                continue;
            }
        }
        frames[node.depth] = .{ .state = state, .row = graph.states.items[state].row, .spent = total, .owed = owed, .absolute = absolute };
        if (node.entry != none) try sink.reach(node.entry, state, owed);
        at += 1;
    }
    return true;
}

/// What was read down to one node of the trie.
pub const Frame = struct {
    state: StateId,
    /// The state's row, or `none` as long as nothing was asked of it.
    row: u32,
    /// Whitespace: in the text it is in now, and in the one it began in.
    spent: u32,
    owed: u32 = 0,
    absolute: bool = true,

    fn of(graph: *const Graph, state: StateId, spent: u32) Frame {
        return .{ .state = state, .row = graph.states.items[state].row, .spent = spent };
    }

    inline fn step(self: *Frame, graph: *Graph, byte: u8) error{OutOfMemory}!Transition {
        if (self.row != none) {
            const known = graph.rows.items[self.row][byte];
            if (known != Transition.unknown) return @bitCast(known);
        }
        const next = try graph.step(self.state, byte);
        self.row = graph.states.items[self.state].row;
        return next;
    }
};

/// What was spent after a transition.
pub fn after(spent: u32, transition: Transition) u32 {
    return if (transition.whitespace == Transition.reset) 0 else spent + transition.whitespace;
}

fn uncertain(trie: *const Trie, subtree: u32, sink: anytype) error{OutOfMemory}!void {
    for (trie.nodes[subtree..trie.nodes[subtree].next]) |node| if (node.entry != none) try sink.uncertain(node.entry);
}

fn reserve(graph: *Graph, trie: *const Trie) error{OutOfMemory}![]Frame {
    try graph.memos.frames.resize(graph.gpa, trie.depth_max + 1);
    return graph.memos.frames.items;
}
