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
    const gpa = memos.allocator();
    const vocabulary = graph.program.vocabulary;
    memos.verify.clearRetainingCapacity();
    var sink: Sink = .{ .graph = graph, .bits = try memos.cleared(graph.gpa, vocabulary.words()) };
    try pattern_walk.findRaw(&graph.patterns, vocabulary, state, .start, none, &sink);
    var memo: Memo = .{ .cost_max = sink.cost_max };
    if (words.countOf(sink.bits) > sink.bits.len / list_share) {
        memo.bits = try gpa.dupe(u32, sink.bits);
    } else {
        memos.list.clearRetainingCapacity();
        var tokens = words.iterate(sink.bits);
        while (tokens.next()) |token| try memos.list.append(graph.gpa, token);
        memo.list = try gpa.dupe(u32, memos.list.items);
    }
    memo.verify = try gpa.dupe(u32, memos.verify.items);
    return memos.put(graph.gpa, key, memo);
}

/// A set of fewer tokens than one in so many words is kept as a list.
const list_share = 4;

/// Takes in what is read, tokens that the grammar names as well: these are taken out of every mask in the end.
const Sink = struct {
    graph: *Graph,
    bits: []u32,
    cost_max: u32 = 0,
    /// What was looked at last, and what that is.
    last: Place = pattern_bytes.dead,
    round: u32 = 0,
    end: End = .{ .cost = 0, .leaves = false },

    /// `leaves`: the pattern may end there.
    const End = struct { cost: u32, leaves: bool };

    fn look(self: *Sink, place: Place) Error!*const End {
        const patterns = &self.graph.patterns;
        const round = patterns.scratch.places.round;
        if (place != self.last or round != self.round) {
            self.end = .{ .leaves = pattern_bytes.ends(patterns, place), .cost = (try pattern_bytes.endOf(patterns, place)).cost };
            self.last = place;
            self.round = round;
        }
        return &self.end;
    }

    pub fn reach(self: *Sink, token: u32, place: Place, _: u16) Error!void {
        const cost = (try self.look(place)).cost;
        if (cost == unreachable_cost) return;
        self.cost_max = @max(self.cost_max, cost);
        words.set(self.bits, token);
    }

    pub fn pass(self: *Sink, node: u32, place: Place) Error!void {
        if ((try self.look(place)).leaves) try self.graph.memos.verify.append(self.graph.gpa, node);
    }

    /// Only a JSON string has a quote that closes it.
    pub fn close(_: *Sink, _: u32, _: u16) Error!void {
        unreachable;
    }
};
