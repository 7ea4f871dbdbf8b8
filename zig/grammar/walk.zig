//! Which strings of a trie a state can read: down the trie in depth-first order, a whole subtree skipped where a byte is refused.
const vocabulary_room = @import("../vocabulary.zig");
const Trie = vocabulary_room.Trie;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const StateId = graph_room.StateId;
const Transition = graph_room.Transition;
const alone = @import("alone.zig");
const key_walk = @import("key_walk.zig");

pub const ByteSet = @import("first.zig").ByteSet;

const none = graph_room.none;

/// With `spent` known: what is read is refused where a text would spend more than it may.
pub fn exact(graph: *Graph, trie: *const Trie, start: StateId, spent: u32, sink: anytype) error{OutOfMemory}!void {
    const frames = (try reserve(graph, trie)).ptr;
    frames[0] = try .root(graph, trie, start, spent);
    const nodes = trie.nodes;
    var at = frames[0].first(graph, trie, 0);
    while (at < nodes.len) {
        const node = &nodes[at];
        const parent = &frames[node.depth - 1];
        const next = try graph.step(parent.state, node.byte);
        if (next.state == Graph.dead_state) {
            at = parent.after(graph, trie, node);
            continue;
        }
        var state: StateId = next.state;
        var isUncertain = next.uncertain;
        const total = spentAfter(parent.spent, next);
        if (next.whitespace != 0 and next.whitespace != Transition.reset) {
            state = try graph.withinWhitespace(state, total);
            isUncertain = graph.states.items[state].uncertain;
        }
        if (state == Graph.dead_state or isUncertain) {
            if (isUncertain) try uncertain(trie, at, sink);
            at = parent.after(graph, trie, node);
            continue;
        }
        if (node.entry != none) try sink.reach(node, state);
        at += 1;
        if (node.next == at) continue;
        frames[node.depth] = .{ .state = state, .row = try graph.rowOf(state), .table = node.table, .end = node.next, .spent = total };
        at = frames[node.depth].first(graph, trie, at);
    }
}

/// With what was spent before left open. `sink.reach(node, state, owed)` tells how much the string spends of it; false: it cannot be left
/// open here. `sink.whitespace_max` is set to what a text may spend where something was spent. With `first`, only strings that begin with
/// one of these bytes. `sink.leave(exit)` for each node below which what is looked at by itself may be left.
pub fn relative(graph: *Graph, trie: *const Trie, start: StateId, first: ?ByteSet, sink: anytype) error{OutOfMemory}!bool {
    const frames = try reserve(graph, trie);
    frames[0] = try .root(graph, trie, start, 0);
    // Without a text that counts, nothing was spent before.
    frames[0].absolute = graph.states.items[start].slack_min == none;
    const leaves = alone.isAlone(graph, start);
    if (graph.states.items[start].special == .keys) return keysBelow(graph, trie, 0, frames[0..1], first, leaves, sink);
    return below(graph, trie, frames[0].first(graph, trie, 0), frames[0..1], first, leaves, sink);
}

/// In a state of nothing but keys: each of them by itself.
fn keysBelow(graph: *Graph, trie: *const Trie, start: u32, frames: []Frame, first: ?ByteSet, leaves: bool, sink: anytype) error{OutOfMemory}!bool {
    const state = graph.states.items[frames[frames.len - 1].state];
    for (state.start..state.start + state.len) |at| {
        const key = graph.nodes.items[graph.state_items.items[at]];
        if (!try key_walk.read(graph, .{ .trie = trie, .start = start, .frames = frames, .first = first, .leaves = leaves }, &key, sink)) return false;
    }
    return true;
}

/// The same from where a walk of a part by itself has left it, in the state behind its end.
pub fn onward(graph: *Graph, exit: *const alone.Exit, state: StateId, sink: anytype) error{OutOfMemory}!bool {
    _ = try reserve(graph, exit.trie);
    // Behind the end of a text that counts, nothing is counted any more.
    const counted = graph.states.items[state].slack_min != none;
    return enter(graph, exit.trie, &exit.trie.nodes[exit.node], .{
        .state = state,
        .row = none,
        .table = none,
        .end = 0,
        .spent = if (counted) exit.spent else 0,
        .owed = exit.owed,
        .absolute = exit.absolute or !counted,
    }, false, sink);
}

/// The strings below a node, which was reached in the state and with what was spent of a frame; within another walk of the trie.
pub fn enter(graph: *Graph, trie: *const Trie, node: *const Trie.Node, reached: Frame, leaves: bool, sink: anytype) error{OutOfMemory}!bool {
    const child: u32 = @intCast(node - trie.nodes.ptr + 1);
    if (child == node.next) return true;
    const frames = graph.memos.frames.items;
    var frame = reached;
    frame.row = try graph.rowOf(frame.state);
    frame.table = node.table;
    frame.end = node.next;
    frames[node.depth] = frame;
    return below(graph, trie, frame.first(graph, trie, child), frames[0 .. node.depth + 1], null, leaves, sink);
}

/// From a node on, whose parent's frame is the last of those given, to the end of that. `leaves`: what is read may come to be outside.
fn below(graph: *Graph, trie: *const Trie, start: u32, from: []Frame, first: ?ByteSet, leaves: bool, sink: anytype) error{OutOfMemory}!bool {
    // The innermost loop of all: a trie's nodes are in bounds, and no deeper than it says, by how it is made.
    const frames = from.ptr;
    const nodes = trie.nodes.ptr;
    const end = from[from.len - 1].end;
    var at = start;
    while (at < end) {
        const node = &nodes[at];
        const parent = &frames[node.depth - 1];
        var word = graph.rows.get(parent.row, node.byte);
        if (node.depth == 1) if (first) |set| if (!set.isSet(node.byte)) {
            word = dead_word;
        };
        if (word == Transition.unknown) word = @bitCast(try graph.step(parent.state, node.byte));
        if (word == dead_word) {
            at = parent.after(graph, trie, node);
            continue;
        }
        var frame: Frame = .{ .state = word, .row = none, .table = node.table, .end = node.next, .spent = parent.spent, .owed = parent.owed, .absolute = parent.absolute };
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
        switch (graph.states.items[frame.state].special) {
            .no => {},
            .outside => if (leaves) try sink.leave(.{ .trie = trie, .node = at - 1, .spent = frame.spent, .owed = frame.owed, .absolute = frame.absolute }),
            .keys => {
                frames[node.depth] = frame;
                if (!try keysBelow(graph, trie, at, frames[0 .. node.depth + 1], null, leaves, sink)) return false;
                at = node.next;
                continue;
            },
        }
        frame.row = try graph.rowOf(frame.state);
        frames[node.depth] = frame;
        if (node.table != none) at = frame.first(graph, trie, at);
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
    row: u32,
    /// Of the node's children, or `none`.
    table: u32,
    /// The first node after its subtree.
    end: u32,
    /// Whitespace: in the text it is in now, and in the one it began in.
    spent: u32,
    owed: u32 = 0,
    absolute: bool = true,

    fn root(graph: *Graph, trie: *const Trie, state: StateId, spent: u32) error{OutOfMemory}!Frame {
        return .{ .state = state, .row = try graph.rowOf(state), .table = trie.root_table, .end = @intCast(trie.nodes.len), .spent = spent };
    }

    /// The first child that may be read; `child` is the first of all.
    fn first(self: *const Frame, graph: *const Graph, trie: *const Trie, child: u32) u32 {
        return if (self.table == none) child else self.from(graph, trie, 0);
    }

    /// Where to go on after a child that was refused.
    inline fn after(self: *const Frame, graph: *const Graph, trie: *const Trie, child: *const Trie.Node) u32 {
        return if (self.table == none) child.next else self.from(graph, trie, @as(u32, child.byte) + 1);
    }

    fn from(self: *const Frame, graph: *const Graph, trie: *const Trie, byte: u32) u32 {
        return trie.nextRead(self.table, graph.rows.live(self.row), byte, self.end);
    }
};

/// What was spent after a transition.
pub fn spentAfter(spent: u32, transition: Transition) u32 {
    return if (transition.whitespace == Transition.reset) 0 else spent + transition.whitespace;
}

fn uncertain(trie: *const Trie, subtree: u32, sink: anytype) error{OutOfMemory}!void {
    for (trie.nodes[subtree..trie.nodes[subtree].next]) |node| if (node.entry != none) try sink.uncertain(node.entry);
}

fn reserve(graph: *Graph, trie: *const Trie) error{OutOfMemory}![]Frame {
    try graph.memos.frames.resize(graph.gpa, trie.depth_max + 1);
    return graph.memos.frames.items;
}
