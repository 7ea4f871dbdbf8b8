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
    const scratch = try reserve(graph, trie);
    scratch.states[0] = start;
    scratch.spent[0] = spent;
    var at: u32 = 0;
    while (at < trie.nodes.len) {
        const node = trie.nodes[at];
        const before = scratch.states[node.depth - 1];
        const next = try graph.step(before, node.byte);
        var state: StateId = next.state;
        const total = after(scratch.spent[node.depth - 1], next);
        if (next.whitespace != 0 and next.whitespace != Transition.reset) state = try graph.withinWhitespace(state, total);
        if (state == Graph.dead_state) {
            at = node.next;
            continue;
        }
        if (graph.states.items[state].uncertain) {
            try uncertain(trie, at, sink);
            at = node.next;
            continue;
        }
        scratch.states[node.depth] = state;
        scratch.spent[node.depth] = total;
        if (node.entry != none) try sink.reach(node.entry, state);
        at += 1;
    }
}

/// With what was spent before left open. `sink.reach(entry, state, owed)` tells how much the string spends of it; false: it cannot be left
/// open here. `sink.whitespace_max` is set to what a text may spend where something was spent.
pub fn relative(graph: *Graph, trie: *const Trie, start: StateId, sink: anytype) error{OutOfMemory}!bool {
    const scratch = try reserve(graph, trie);
    scratch.states[0] = start;
    scratch.spent[0] = 0;
    scratch.owed[0] = 0;
    // Without a text that counts, nothing was spent before.
    scratch.absolute[0] = graph.states.items[start].slack_min == none;
    var at: u32 = 0;
    while (at < trie.nodes.len) {
        const node = trie.nodes[at];
        const parent = node.depth - 1;
        const next = try graph.step(scratch.states[parent], node.byte);
        if (next.state == Graph.dead_state) {
            at = node.next;
            continue;
        }
        var state: StateId = next.state;
        var total = scratch.spent[parent];
        var owed = scratch.owed[parent];
        var absolute = scratch.absolute[parent];
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
        if (graph.states.items[state].uncertain) {
            try uncertain(trie, at, sink);
            at = node.next;
            continue;
        }
        scratch.states[node.depth] = state;
        scratch.spent[node.depth] = total;
        scratch.owed[node.depth] = owed;
        scratch.absolute[node.depth] = absolute;
        if (node.entry != none) try sink.reach(node.entry, state, owed);
        at += 1;
    }
    return true;
}

/// What was spent after a transition.
pub fn after(spent: u32, transition: Transition) u32 {
    return if (transition.whitespace == Transition.reset) 0 else spent + transition.whitespace;
}

fn uncertain(trie: *const Trie, subtree: u32, sink: anytype) error{OutOfMemory}!void {
    for (trie.nodes[subtree..trie.nodes[subtree].next]) |node| if (node.entry != none) try sink.uncertain(node.entry);
}

const Scratch = struct { states: []u32, spent: []u32, owed: []u32, absolute: []bool };

fn reserve(graph: *Graph, trie: *const Trie) error{OutOfMemory}!Scratch {
    const memos = &graph.memos;
    const depths = trie.depth_max + 1;
    try memos.states.resize(graph.gpa, depths);
    try memos.spent.resize(graph.gpa, depths);
    try memos.owed.resize(graph.gpa, depths);
    try memos.absolute.resize(graph.gpa, depths);
    return .{ .states = memos.states.items, .spent = memos.spent.items, .owed = memos.owed.items, .absolute = memos.absolute.items };
}
