//! Which strings of a trie the keys of a closed object can read. Its keys are a trie themselves, and both are walked side by side, without a
//! state of the output for each place: only what comes after a key takes steps of the graph.
const Trie = @import("../vocabulary.zig").Trie;
const first_room = @import("first.zig");
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const Node = graph_room.Node;
const registers_room = @import("registers.zig");
const spelling = @import("spelling.zig");
const walk = @import("walk.zig");

const none = graph_room.none;

/// Where to read: from a node of a trie on, whose parent's frame is the last of those given; with `first`, only strings that begin with one
/// of these bytes. `leaves`: see walk.zig.
pub const Below = struct {
    trie: *const Trie,
    start: u32,
    frames: []const walk.Frame,
    first: ?first_room.ByteSet,
    leaves: bool,
};

/// A key read down to one node of the trie.
pub const KeyFrame = struct {
    node: Node,
    /// Of the trie's node: its children, or `none`, and the first node after its subtree.
    table: u32,
    end: u32,
    /// Bytes that may be read, if there is a table.
    live: [4]u64,

    fn of(graph: *const Graph, node: Node, table: u32, end: u32) KeyFrame {
        const bytes: first_room.ByteSet = if (table == none) .empty else first_room.bytesOf(graph, &node);
        return .{ .node = node, .table = table, .end = end, .live = bytes.masks };
    }

    /// The first child from a byte on that may be read; `next` is the next one of all.
    fn from(self: *const KeyFrame, trie: *const Trie, byte: u32, next: u32) u32 {
        return if (self.table == none) next else trie.nextRead(self.table, &self.live, byte, self.end);
    }
};

/// As `walk.relative`.
pub fn read(graph: *Graph, below: Below, key: *const Node, sink: anytype) error{OutOfMemory}!bool {
    const trie = below.trie;
    const depth = below.frames.len - 1;
    const base = below.frames[depth];
    const rest = graph.sets.items[key.parents].cost;
    try graph.memos.keys.resize(graph.gpa, trie.depth_max + 1);
    // What is entered further down leaves these as they are.
    const frames = graph.memos.keys.items;
    frames[depth] = .of(graph, key.*, base.table, base.end);
    var at = frames[depth].from(trie, 0, below.start);
    while (at < base.end) {
        const node = &trie.nodes[at];
        const parent = &frames[node.depth - 1];
        const after = parent.from(trie, @as(u32, node.byte) + 1, node.next);
        const wanted = if (below.first) |set| node.depth > 1 or set.isSet(node.byte) else true;
        switch (if (wanted) registers_room.readKey(graph, &parent.node, node.byte) else .dead) {
            .dead => at = after,
            .close => {
                at = after;
                const state = try graph.stepper.endKeyAt(graph, &parent.node);
                if (state == Graph.dead_state) continue;
                if (node.entry != none) try sink.reach(node, state, base.owed);
                var frame = base;
                frame.state = state;
                if (!try walk.enter(graph, trie, node, frame, below.leaves, sink)) return false;
            },
            .inside => |next| {
                if (!registers_room.keyLeads(graph, &next)) {
                    at = after;
                    continue;
                }
                if (node.entry != none) {
                    const cost = spelling.add(registers_room.keyCost(graph, &next), rest);
                    if (cost != graph_room.unreachable_cost) {
                        sink.pay(cost);
                        try sink.takeAll(node, base.owed);
                    }
                }
                frames[node.depth] = .of(graph, next, node.table, node.next);
                at = if (node.next == at + 1) after else frames[node.depth].from(trie, 0, at + 1);
            },
        }
    }
    return true;
}
