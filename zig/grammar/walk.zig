//! Which strings of a trie a state can read: down the trie in depth-first order, a whole subtree skipped where a byte is refused.
const std = @import("std");
const vocabulary_room = @import("../vocabulary.zig");
const Trie = vocabulary_room.Trie;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const StateId = graph_room.StateId;
const Transition = graph_room.Transition;
const memo_room = @import("memo.zig");

pub const ByteSet = @import("first.zig").ByteSet;

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
        if (node.entry != none) try sink.reach(node, state);
        at += 1;
    }
}

/// With what was spent before left open. `sink.reach(node, state, owed)` tells how much the string spends of it; false: it cannot be left
/// open here. `sink.whitespace_max` is set to what a text may spend where something was spent. With `first`, only strings that begin with
/// one of these bytes.
pub fn relative(graph: *Graph, trie: *const Trie, start: StateId, first: ?ByteSet, sink: anytype) error{OutOfMemory}!bool {
    // The innermost loop of all: a trie's nodes are in bounds, and no deeper than it says, by how it is made.
    const frames = (try reserve(graph, trie)).ptr;
    frames[0] = .of(graph, start, 0);
    // Without a text that counts, nothing was spent before.
    frames[0].absolute = graph.states.items[start].slack_min == none;
    const nodes = trie.nodes.ptr;
    const end: u32 = @intCast(trie.nodes.len);
    var at: u32 = 0;
    while (at < end) {
        const node = &nodes[at];
        if (node.depth == 1) if (first) |set| if (!set.isSet(node.byte)) {
            at = node.next;
            continue;
        };
        const parent = &frames[node.depth - 1];
        var word: u32 = if (parent.row == none) Transition.unknown else graph.rows.items[parent.row][node.byte];
        if (word == dead_word) {
            at = node.next;
            continue;
        }
        if (word == Transition.unknown) {
            word = @bitCast(try parent.step(graph, node.byte));
            if (word == dead_word) {
                at = node.next;
                continue;
            }
        }
        var frame: Frame = .{ .state = word, .row = none, .spent = parent.spent, .owed = parent.owed, .absolute = parent.absolute };
        if (word > Transition.plain_max) {
            const next: Transition = @bitCast(word);
            if (next.uncertain) {
                try uncertain(trie, at, sink);
                at = node.next;
                continue;
            }
            frame.state = next.state;
            if (next.whitespace != 0 and !try spend(graph, &frame, next, sink)) return false;
            if (frame.state == Graph.dead_state) {
                at = node.next;
                continue;
            }
        }
        if (node.entry != none) try sink.reach(node, frame.state, frame.owed);
        at += 1;
        if (node.next == at) continue;
        frame.row = graph.states.items[frame.state].row;
        frames[node.depth] = frame;
    }
    return true;
}

const dead_word: u32 = @bitCast(Transition.dead);

/// Counts whitespace; false where it cannot be left open.
fn spend(graph: *Graph, frame: *Frame, transition: Transition, sink: anytype) error{OutOfMemory}!bool {
    if (transition.whitespace == Transition.reset) {
        frame.spent = 0;
        frame.absolute = true;
        return true;
    }
    frame.spent += transition.whitespace;
    if (frame.absolute) {
        frame.state = try graph.withinWhitespace(frame.state, frame.spent);
        return true;
    }
    const known = graph.states.items[frame.state];
    if (!known.all_counted or known.slack_min != known.slack_max) return false;
    if (sink.whitespace_max != null and sink.whitespace_max != known.slack_max) return false;
    sink.whitespace_max = known.slack_max;
    frame.owed = frame.spent;
    if (frame.owed > known.slack_max) frame.state = Graph.dead_state;
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
