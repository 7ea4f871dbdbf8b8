//! The tokens that end inside a pattern outside of JSON, kept by its state: the same wherever the pattern stands.
const words = @import("../stdx.zig").words;
const Graph = @import("graph.zig").Graph;
const memo_room = @import("memo.zig");
const Memo = memo_room.Memo;
const pattern_bytes = @import("pattern_bytes.zig");
const Place = pattern_bytes.Place;
const pattern_walk = @import("pattern_walk.zig");
const unreachable_cost = @import("spelling.zig").unreachable_cost;

const none: u32 = 0xffffffff;
const Error = error{OutOfMemory};

/// From between two characters on, whatever follows the pattern. `verify` has the nodes of the trie below which a token may have left it.
pub fn of(graph: *Graph, state: u32) Error!*const Memo {
    const key: memo_room.Key = .{ .state = state, .of = .regex };
    if (graph.memos.get(key)) |known| return known;
    const memos = &graph.memos;
    const vocabulary = graph.program.vocabulary;
    memos.verify.clearRetainingCapacity();
    var sink: Sink = .{ .graph = graph, .bits = try memos.cleared(graph.gpa, vocabulary.words()) };
    try pattern_walk.findRaw(&graph.patterns, vocabulary, state, .start, none, &sink);
    var memo: Memo = .{ .cost_max = sink.cost_max };
    try memos.keepTokens(graph.gpa, &memo, sink.bits);
    memo.verify = try memos.allocator().dupe(u32, memos.verify.items);
    return memos.put(graph.gpa, key, memo);
}

/// Takes in what is read, tokens that the grammar names as well: these are taken out of every mask in the end.
const Sink = struct {
    graph: *Graph,
    bits: []u32,
    cost_max: u32 = 0,

    pub fn reach(self: *Sink, token: u32, place: Place, _: u16) Error!void {
        const end = try pattern_bytes.endOf(&self.graph.patterns, place);
        if (end.cost == unreachable_cost) return;
        self.cost_max = @max(self.cost_max, end.cost);
        words.set(self.bits, token);
    }

    pub fn pass(self: *Sink, node: u32, place: Place) Error!void {
        const end = try pattern_bytes.endOf(&self.graph.patterns, place);
        if (end.accepts) try self.graph.memos.verify.append(self.graph.gpa, node);
    }
};
