//! What a pattern's state does with every token, kept by the state of the pattern and not of the output: the same wherever it stands.
const std = @import("std");
const words = @import("../stdx.zig").words;
const vocabulary_room = @import("../vocabulary.zig");
const json_string = vocabulary_room.json_string;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const memo_room = @import("memo.zig");
const Memo = memo_room.Memo;
const Closing = memo_room.Closing;
const Key = memo_room.Key;
const fresh_room = @import("fresh.zig");
const Known = fresh_room.Known;
const Place = fresh_room.Place;
const registers_room = @import("registers.zig");
const near_room = @import("near.zig");
const pattern_bytes = @import("pattern_bytes.zig");
const pattern_walk = @import("pattern_walk.zig");
const short_bytes = @import("pattern.zig").short_bytes;
const spelling = @import("spelling.zig");

const none = graph_room.none;
const Error = error{OutOfMemory};

/// Where the memos of a state's tokens are kept: in `keys`, those of them that are returned. They are made if they were not there. `place`:
/// of a key that has to match, or `none`.
pub fn of(graph: *Graph, state: u32, place: u32, keys: *[2]Key) Error![]const Key {
    if (isNear(place)) if (std.math.cast(u24, place)) |near| {
        keys[0] = .{ .state = state, .of = .near_key, .list = near };
        if (graph.memos.get(keys[0]) == null) try addNear(graph, keys[0]);
        return keys[0..1];
    };
    keys.* = try ofAway(graph, state);
    return keys;
}

/// The same away from known keys, of short tokens and of long ones. Short tokens are taken from the state that reads them alike, if that
/// one's do not come near the end.
pub fn ofAway(graph: *Graph, state: u32) Error![2]Key {
    const patterns = &graph.patterns;
    var short: Key = .{ .state = try patterns.viewOf(state), .of = .pattern_short };
    const near = (try memoOf(graph, short)).reach_max;
    if (near > patterns.allowed(state)) {
        short.state = state;
        _ = try memoOf(graph, short);
    }
    const long: Key = .{ .state = state, .of = .pattern_long };
    _ = try memoOf(graph, long);
    return .{ short, long };
}

/// Where they are kept if the state's length is not counted.
pub fn keysOf(graph: *Graph, state: u32) Error![2]Key {
    return .{ .{ .state = try graph.patterns.viewOf(state), .of = .pattern_short }, .{ .state = state, .of = .pattern_long } };
}

fn isNear(place: u32) bool {
    return place != none and place != registers_room.KeyPlace.away;
}

/// The highest cost after any of these tokens, for a graph's state whose nodes are in this pattern's state and at this place; null if the
/// memos have gone.
pub fn cost(graph: *Graph, keys: []const Key, at: graph_room.StateId, state: u32, place: u32) Error!?u32 {
    const patterns = &graph.patterns;
    const own = if (isNear(place)) try nearCost(graph, state, .start, graph.registers.knownAt(graph.program, place), graph.registers.placeOf(place)) else patterns.cost(state);
    const rest = graph.states.items[at].cost -| own;
    const bounded = patterns.states.items[state].count != none;
    var most: u32 = 0;
    for (keys) |key| {
        const memo = graph.memos.get(key) orelse return null;
        most = @max(most, memo.cost_max);
        if (bounded) most = @max(most, spelling.times(memo.shortest_max, patterns.of(state).unit) +| begun_cost_max);
    }
    return most +| rest;
}

/// What a character that a token has begun takes at most: a pair of escapes without its first backslash.
const begun_cost_max = 11;

/// What was read of a key down to one node of the trie.
pub const PlaceFrame = struct { state: u32, at: json_string.State, place: Place };

/// Makes the memo of a key that has to match near the known ones: what the pattern alone would do but for the few tokens that stay near
/// them, of which those are left out after which no other key is to be had, and those that close a known one.
fn addNear(graph: *Graph, key: Key) Error!void {
    const memos = &graph.memos;
    const parts = try ofAway(graph, key.state);
    const bits = try memos.allocator().alloc(u32, graph.program.vocabulary.words());
    @memset(bits, 0);
    var memo: Memo = .{ .bits = bits };
    memos.closings.clearRetainingCapacity();
    for (parts) |part| {
        const away = memos.get(part).?;
        if (away.bits.len > 0) words.orInto(bits, away.bits);
        for (away.list) |token| words.set(bits, token);
        try memos.closings.appendSlice(graph.gpa, away.closings);
        memo.cost_max = @max(memo.cost_max, away.cost_max);
        memo.shortest_max = @max(memo.shortest_max, away.shortest_max);
    }
    memos.list.clearRetainingCapacity();
    memo.cost_max = @max(memo.cost_max, try refuseNear(graph, key.state, key.list));
    for (memos.list.items) |token| words.unset(bits, token);
    std.mem.sortUnstable(u32, memos.list.items, {}, std.sort.asc(u32));
    var kept: usize = 0;
    for (memos.closings.items) |closing| {
        if (std.sort.binarySearch(u32, memos.list.items, closing.token, orderOf) != null) continue;
        memos.closings.items[kept] = closing;
        kept += 1;
    }
    memo.closings = try memos.allocator().dupe(Closing, memos.closings.items[0..kept]);
    _ = try memos.put(graph.gpa, key, memo);
}

fn orderOf(token: u32, other: u32) std.math.Order {
    return std.math.order(token, other);
}

/// Puts tokens near known keys that may not come into `graph.memos.list`; the highest cost after any of the others.
fn refuseNear(graph: *Graph, state: u32, near: u32) Error!u32 {
    const trie = &graph.program.vocabulary.trie;
    const known = graph.registers.knownAt(graph.program, near);
    try graph.memos.places.resize(graph.gpa, trie.depth_max + 1);
    const frames = graph.memos.places.items;
    frames[0] = .{ .state = state, .at = .start, .place = graph.registers.placeOf(near) };
    var most: u32 = 0;
    var at: u32 = 0;
    while (at < trie.nodes.len) {
        const node = &trie.nodes[at];
        const parent = &frames[node.depth - 1];
        switch (try graph.patterns.read(parent.state, parent.at, node.byte)) {
            .dead => at = node.next,
            .close => {
                if (known.ends(parent.place)) for (trie.nodes[at..node.next]) |inner| try near_room.take(graph, inner.entry);
                at = node.next;
            },
            .inside => |inside| {
                const place = known.afterByte(parent.place, parent.at, node.byte);
                if (place.isAway()) {
                    at = node.next;
                    continue;
                }
                frames[node.depth] = .{ .state = inside.state, .at = inside.at, .place = place };
                if (node.entry != none) {
                    const after = try nearCost(graph, inside.state, inside.at, known, place);
                    if (after == spelling.unreachable_cost) try near_room.take(graph, node.entry) else most = @max(most, after);
                }
                at += 1;
            },
        }
    }
    return most;
}

/// Tokens that finish a key that matches and is none of those known, without its closing quote.
fn nearCost(graph: *Graph, state: u32, at: json_string.State, known: Known, place: Place) Error!u32 {
    const spelled = graph.patterns.of(state).writing.spellingOf();
    return graph.registers.fresh.cost(graph, .{ .pattern = state }, at, known, place, spelled);
}

fn memoOf(graph: *Graph, key: Key) Error!*const Memo {
    if (graph.memos.get(key)) |known| return known;
    const memos = &graph.memos;
    const gpa = memos.allocator();
    const vocabulary = graph.program.vocabulary;
    memos.list.clearRetainingCapacity();
    memos.closings.clearRetainingCapacity();
    var sink: Sink = .{ .graph = graph, .bounded = graph.patterns.of(key.state).bounds != .none };
    var memo: Memo = .{};
    if (key.of == .pattern_short) {
        try memos.bits.resize(graph.gpa, vocabulary.words());
        const bits = memos.bits.items;
        @memset(bits, 0);
        sink.bits = bits;
        try pattern_walk.findShort(&graph.patterns, vocabulary, key.state, &sink);
        const count = words.countOf(bits);
        if (count <= bits.len / list_share) {
            var tokens = words.iterate(bits);
            while (tokens.next()) |token| try memos.list.append(graph.gpa, token);
        } else memo.bits = try gpa.dupe(u32, bits);
    } else {
        try pattern_walk.findLong(&graph.patterns, vocabulary, key.state, &sink);
    }
    memo.list = try gpa.dupe(u32, memos.list.items);
    memo.closings = try gpa.dupe(Closing, memos.closings.items);
    memo.cost_max = sink.cost_max;
    memo.reach_max = sink.reach_max;
    memo.shortest_max = sink.shortest_max;
    return memos.put(graph.gpa, key, memo);
}

/// A set of fewer tokens than one in so many words is kept as a list.
const list_share = 16;

/// Takes in the tokens that are text in this grammar, with their twins; of many at once, those that the grammar names as well, which are
/// taken out of every mask in the end.
const Sink = struct {
    graph: *Graph,
    bounded: bool,
    cost_max: u32 = 0,
    reach_max: u32 = 0,
    shortest_max: u32 = 0,
    /// Where the last token ended, and what that is.
    last: pattern_bytes.Place = pattern_bytes.dead,
    round: u32 = 0,
    end: pattern_bytes.End = .{ .cost = 0, .shortest = 0 },
    /// What stays inside, where it may be many; without, the list of the graph's memos has it.
    bits: ?[]u32 = null,

    pub fn restart(self: *Sink) void {
        const bits = self.bits.?;
        @memset(bits, 0);
        self.graph.memos.closings.clearRetainingCapacity();
        self.* = .{ .graph = self.graph, .bounded = self.bounded, .bits = bits };
    }

    /// `most` and `shortest`: the highest cost after any of them, and the characters that may have to follow.
    pub fn inside(self: *Sink, tokens: []const u32, most: u32, shortest: u32) Error!void {
        self.cost_max = @max(self.cost_max, most);
        if (self.bounded) {
            self.shortest_max = @max(self.shortest_max, shortest);
            self.reach_max = @max(self.reach_max, shortest +| short_bytes);
        }
        words.orInto(self.bits.?, tokens);
    }

    pub fn reach(self: *Sink, token: u32, place: pattern_bytes.Place, bytes: u16) Error!void {
        const patterns = &self.graph.patterns;
        if (place != self.last or patterns.scratch.places.round != self.round) {
            self.last = place;
            self.round = patterns.scratch.places.round;
            self.end = try pattern_bytes.endOf(patterns, place);
            if (self.end.cost != spelling.unreachable_cost) self.cost_max = @max(self.cost_max, self.end.cost);
        }
        // A token may pass there and not end.
        if (self.end.cost == spelling.unreachable_cost) return;
        if (self.bounded) {
            self.shortest_max = @max(self.shortest_max, self.end.shortest);
            self.reach_max = @max(self.reach_max, self.end.shortest +| bytes);
        }
        if (self.bits) |bits| return words.set(bits, token);
        if (!self.graph.program.isNamed(token)) try self.graph.memos.list.append(self.graph.gpa, token);
    }

    pub fn close(self: *Sink, token: u32, bytes: u16) Error!void {
        self.reach_max = @max(self.reach_max, bytes);
        if (self.graph.program.isNamed(token)) return;
        const suffix = self.graph.program.vocabulary.string_tables.suffix_of[token];
        // Of the strings that a pattern reads, all are spelled as some free string is.
        std.debug.assert(suffix != none);
        try self.graph.memos.closings.append(self.graph.gpa, .{ .token = token, .suffix = suffix });
    }
};
