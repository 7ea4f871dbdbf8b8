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
const pattern_bytes = @import("pattern_bytes.zig");
const pattern_walk = @import("pattern_walk.zig");
const short_bytes = @import("pattern.zig").short_bytes;
const spelling = @import("spelling.zig");

const none = graph_room.none;
const Error = error{OutOfMemory};

/// Where the memos of a state's short and long tokens are kept; they are made if they were not there. Short tokens are taken from the
/// state that reads them alike, if that one's do not come near the end.
pub fn of(graph: *Graph, state: u32) Error![2]Key {
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

/// The highest cost after any of these tokens, for a graph's state whose nodes are in this pattern's state; null if the memos have gone.
pub fn cost(graph: *Graph, keys: [2]Key, at: graph_room.StateId, state: u32) Error!?u32 {
    const patterns = &graph.patterns;
    const rest = graph.states.items[at].cost -| patterns.cost(state);
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
pub const PlaceFrame = struct { place: Place, at: json_string.State };

/// The tokens that stay inside a key whose pattern is in a state, at a place among the known keys of its object; null if there was no room.
/// Away from known keys the pattern alone decides. The few tokens that stay near them are tried.
pub fn ofKey(graph: *Graph, state: u32, case: u32, place: u32, at: graph_room.StateId) Error!?*const Memo {
    const key: Key = .{ .state = at, .of = .other_key };
    if (graph.memos.get(key)) |known| return known;
    const vocabulary = graph.program.vocabulary;
    const parts = try of(graph, state);
    var memo: Memo = .{ .cost_max = try cost(graph, parts, at, state) orelse return null };
    const bits = try graph.memos.allocator().alloc(u32, vocabulary.words());
    memo.bits = bits;
    @memset(bits, 0);
    for (parts) |part| {
        const inside = graph.memos.get(part) orelse return null;
        if (inside.bits.len > 0) words.orInto(bits, inside.bits);
        for (inside.list) |token| words.set(bits, token);
    }
    const list = &graph.memos.list;
    list.clearRetainingCapacity();
    try findNear(graph, registers_room.knownKeys(graph, &graph.program.cases[case].object), graph.registers.placeOf(place));
    for (list.items) |token| {
        words.unset(bits, token);
        var next = at;
        for (vocabulary.text(token)) |byte| {
            next = (try graph.step(next, byte)).state;
            if (next == Graph.dead_state) break;
        }
        const after = graph.states.items[next].cost;
        if (after == spelling.unreachable_cost) continue;
        words.set(bits, token);
        memo.cost_max = @max(memo.cost_max, after);
    }
    return try graph.memos.put(graph.gpa, key, memo);
}

/// Puts the tokens into `graph.memos.list` after which a key may still become a known one.
fn findNear(graph: *Graph, known: Known, start: Place) Error!void {
    if (start.isAway()) return;
    const vocabulary = graph.program.vocabulary;
    const nodes = vocabulary.trie.nodes;
    try graph.memos.places.resize(graph.gpa, vocabulary.trie.depth_max + 1);
    const frames = graph.memos.places.items;
    frames[0] = .{ .place = start, .at = .start };
    var at: u32 = 0;
    while (at < nodes.len) {
        const node = &nodes[at];
        const parent = frames[node.depth - 1];
        const next: ?json_string.State = switch (json_string.step(parent.at, node.byte, .spec)) {
            .dead, .close => null,
            .inside, .raw => |state| state,
            .char => .start,
        };
        const place = known.afterByte(parent.place, parent.at, node.byte);
        if (next == null or place.isAway()) {
            at = node.next;
            continue;
        }
        frames[node.depth] = .{ .place = place, .at = next.? };
        var token = node.entry;
        while (token != none) : (token = vocabulary.twins[token]) try graph.memos.list.append(graph.gpa, token);
        at += 1;
    }
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
