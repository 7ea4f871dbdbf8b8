//! Tokens that matter beside known texts: those after which a text being written may still become one of them, and those that end it as one
//! that may not be, or that counts. All others do what they do where no text is known.
const std = @import("std");
const vocabulary_room = @import("../vocabulary.zig");
const Trie = vocabulary_room.Trie;
const json_string = vocabulary_room.json_string;
const Known = @import("fresh.zig").Known;
const Place = @import("fresh.zig").Place;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const Read = @import("patterns.zig").Read;
const uncounted = @import("unique.zig").uncounted;

const none = graph_room.none;
const Error = error{OutOfMemory};

/// What was read down to one node of the trie.
pub const Frame = struct {
    /// Of what reads the text.
    state: u32,
    at: json_string.State,
    place: Place,
    /// Of the node's children, or `none`, and the first node after its subtree.
    table: u32,
    end: u32,
    /// Bytes that may stay near the known texts, or close one.
    live: std.bit_set.Static(256),

    /// The first child from a byte on that matters; `next` is the next one of all.
    fn from(self: *const Frame, trie: *const Trie, byte: u32, next: u32) u32 {
        return if (self.table == none) next else trie.nextRead(self.table, &self.live.masks, byte, self.end);
    }
};

/// Goes down the trie from between two characters for as long as the text may become a known one. `reader.read(state, at, byte)` reads it,
/// `reader.reach(entry, state, at, place)` is told of each token that stays near, and `reader.close(place, nodes)` of the nodes behind a
/// closing quote.
pub fn walk(graph: *Graph, known: Known, state: u32, start: Place, reader: anytype) Error!void {
    if (start.isAway()) return;
    const trie = &graph.program.vocabulary.trie;
    try graph.memos.near.resize(graph.gpa, trie.depth_max + 1);
    const frames = graph.memos.near.items;
    frames[0] = .{ .state = state, .at = .start, .place = start, .table = trie.root_table, .end = @intCast(trie.nodes.len), .live = known.bytesFrom(start, .start) };
    var at = frames[0].from(trie, 0, 0);
    while (at < trie.nodes.len) {
        const node = &trie.nodes[at];
        const parent = &frames[node.depth - 1];
        const after = parent.from(trie, @as(u32, node.byte) + 1, node.next);
        const read: Read = if (parent.live.isSet(node.byte)) try reader.read(parent.state, parent.at, node.byte) else .dead;
        switch (read) {
            .dead => at = after,
            .close => {
                try reader.close(parent.place, trie.nodes[at..node.next]);
                at = after;
            },
            .inside => |inside| {
                const place = known.afterByte(parent.place, parent.at, node.byte);
                if (place.isAway()) {
                    at = after;
                    continue;
                }
                if (node.entry != none) try reader.reach(node.entry, inside.state, inside.at, place);
                const frame = &frames[node.depth];
                frame.* = .{ .state = inside.state, .at = inside.at, .place = place, .table = node.table, .end = node.next, .live = known.bytesFrom(place, inside.at) };
                at = if (node.next == at + 1) after else frame.from(trie, 0, at + 1);
            },
        }
    }
}

/// Adds them to `graph.memos.list`, from between two characters of a string that is free otherwise.
pub fn find(graph: *Graph, known: Known, start: Place) Error!void {
    var free: Free = .{ .graph = graph, .known = known };
    return walk(graph, known, none, start, &free);
}

const Free = struct {
    graph: *Graph,
    known: Known,

    pub fn read(_: *Free, state: u32, at: json_string.State, byte: u8) Error!Read {
        return switch (json_string.step(at, byte, .spec)) {
            .inside, .raw => |next| .{ .inside = .{ .state = state, .at = next } },
            .char => .{ .inside = .{ .state = state, .at = .start } },
            .close => .close,
            .dead => .dead,
        };
    }

    pub fn reach(self: *Free, entry: u32, _: u32, _: json_string.State, _: Place) Error!void {
        return take(self.graph, entry);
    }

    /// What is not as good as any other text that ends there.
    pub fn close(self: *Free, place: Place, nodes: []const Trie.Node) Error!void {
        const known = self.known;
        if (!known.ends(place) and (known.classes == null or known.classOf(place) == uncounted)) return;
        for (nodes) |*below| try take(self.graph, below.entry);
    }
};

/// Adds an entry of the vocabulary's trie, if there is one, with its twins.
pub fn take(graph: *Graph, entry: u32) Error!void {
    var token = entry;
    while (token != none) : (token = graph.program.vocabulary.twins[token]) try graph.memos.list.append(graph.gpa, token);
}
