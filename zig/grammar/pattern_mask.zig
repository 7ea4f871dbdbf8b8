//! What a pattern's state does with every token, kept by the state of the pattern and not of the output: the same wherever it stands.
const std = @import("std");
const words = @import("../stdx.zig").words;
const vocabulary_room = @import("../vocabulary.zig");
const Trie = vocabulary_room.Trie;
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
const near = @import("near.zig");
const Read = @import("patterns.zig").Read;
const pattern_bytes = @import("pattern_bytes.zig");
const pattern_free = @import("pattern_free.zig");
const pattern_walk = @import("pattern_walk.zig");
const short_bytes = @import("pattern.zig").short_bytes;
const spelling = @import("spelling.zig");

const none = graph_room.none;
const Error = error{OutOfMemory};

/// Where the memos of a state's tokens are kept, which are made if they were not there: in `keys`, those of them that are returned. One of all
/// tokens where the pattern is nearly free, or those of short tokens and of long ones.
pub fn of(graph: *Graph, state: u32, keys: *[2]Key) Error![]const Key {
    const patterns = &graph.patterns;
    if (try isNearFree(graph, state)) {
        keys[0] = .{ .state = state, .of = .pattern_free };
        _ = try memoOf(graph, keys[0]);
        return keys[0..1];
    }
    // Short tokens are taken from the state that reads them alike, if that one's do not come near the end.
    var short: Key = .{ .state = try patterns.viewOf(state), .of = .pattern_short };
    if ((try memoOf(graph, short)).reach_max > patterns.allowed(state)) {
        short.state = state;
        _ = try memoOf(graph, short);
    }
    const long: Key = .{ .state = state, .of = .pattern_long };
    _ = try memoOf(graph, long);
    keys.* = .{ short, long };
    return keys;
}

/// Where they are kept if the state's length is not counted.
pub fn keysOf(graph: *Graph, state: u32, keys: *[2]Key) Error![]const Key {
    if (try isNearFree(graph, state)) {
        keys[0] = .{ .state = state, .of = .pattern_free };
        return keys[0..1];
    }
    keys.* = .{ .{ .state = try graph.patterns.viewOf(state), .of = .pattern_short }, .{ .state = state, .of = .pattern_long } };
    return keys;
}

fn isNearFree(graph: *Graph, state: u32) Error!bool {
    const patterns = &graph.patterns;
    if (patterns.states.items[state].near_free) |known| return known;
    const free = try pattern_free.isNear(patterns, graph.program.vocabulary, state);
    patterns.states.items[state].near_free = free;
    return free;
}

/// Of the memo of what a key that has to match does otherwise near the known ones, or null away from them: the tokens of its list do not come,
/// and after the others that stay near them the output costs as much as it says. `place`: see `Group.Kind`.
pub fn nearKey(state: u32, place: u32) ?Key {
    return if (place == none) null else .{ .state = state, .of = .near_key, .list = @intCast(place) };
}

pub fn ensureNear(graph: *Graph, key: Key) Error!void {
    if (graph.memos.get(key) != null) return;
    graph.memos.list.clearRetainingCapacity();
    const most = try refuseNear(graph, key.state, key.list);
    _ = try graph.memos.put(graph.gpa, key, .{ .list = try graph.memos.allocator().dupe(u32, graph.memos.list.items), .cost_max = most });
}

/// The highest cost after any of these tokens, for a graph's state whose nodes are in this pattern's state; null if the memos have gone.
/// `place`: see `nearKey`.
pub fn cost(graph: *Graph, keys: []const Key, at: graph_room.StateId, state: u32, place: u32) Error!?u32 {
    const patterns = &graph.patterns;
    var own = patterns.cost(state);
    var most: u32 = 0;
    if (nearKey(state, place)) |key| {
        own = try nearCost(graph, state, .start, graph.registers.knownAt(graph.program, place), graph.registers.placeOf(place));
        most = (graph.memos.get(key) orelse return null).cost_max;
    }
    const rest = graph.states.items[at].cost -| own;
    const bounded = patterns.states.items[state].count != none;
    for (keys) |key| {
        const memo = graph.memos.get(key) orelse return null;
        most = @max(most, memo.cost_max);
        if (bounded) most = @max(most, spelling.times(memo.shortest_max, patterns.of(state).unit) +| begun_cost_max);
    }
    return most +| rest;
}

/// What a character that a token has begun takes at most: a pair of escapes without its first backslash.
const begun_cost_max = 11;

/// Puts tokens near known keys that may not come into `graph.memos.list`; the highest cost after any of the others.
fn refuseNear(graph: *Graph, state: u32, place: u32) Error!u32 {
    const known = graph.registers.knownAt(graph.program, place);
    var keys: Keys = .{ .graph = graph, .known = known };
    try near.walk(graph, known, state, graph.registers.placeOf(place), &keys);
    return keys.cost_max;
}

const Keys = struct {
    graph: *Graph,
    known: Known,
    cost_max: u32 = 0,

    pub fn read(self: *Keys, state: u32, at: json_string.State, byte: u8) Error!Read {
        return self.graph.patterns.read(state, at, byte);
    }

    pub fn reach(self: *Keys, entry: u32, state: u32, at: json_string.State, place: Place) Error!void {
        const dear = try nearCost(self.graph, state, at, self.known, place);
        if (dear == spelling.unreachable_cost) return near.take(self.graph, entry);
        self.cost_max = @max(self.cost_max, dear);
    }

    pub fn close(self: *Keys, place: Place, nodes: []const Trie.Node) Error!void {
        if (self.known.ends(place)) for (nodes) |*below| try near.take(self.graph, below.entry);
    }
};

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
    if (key.of == .pattern_free) {
        memo.bits = try gpa.dupe(u32, vocabulary.string_tables.by_spelling[@backingInt(graph.patterns.of(key.state).writing.spellingOf())].interior);
        sink.bits = memo.bits;
        sink.cost_max = begun_cost_max;
        try pattern_free.find(&graph.patterns, vocabulary, key.state, &sink);
        memo.apart = try gpa.dupe(u32, memos.list.items);
    } else if (key.of == .pattern_short) {
        const bits = try memos.cleared(graph.gpa, vocabulary.words());
        sink.bits = bits;
        try pattern_walk.findShort(&graph.patterns, vocabulary, key.state, &sink);
        try memos.keepTokens(graph.gpa, &memo, bits);
    } else {
        try pattern_walk.findLong(&graph.patterns, vocabulary, key.state, &sink);
        memo.list = try gpa.dupe(u32, memos.list.items);
    }
    memo.closings = try gpa.dupe(Closing, memos.closings.items);
    memo.cost_max = sink.cost_max;
    memo.reach_max = sink.reach_max;
    memo.shortest_max = sink.shortest_max;
    return memos.put(graph.gpa, key, memo);
}

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
    last_end: pattern_bytes.End = .{ .cost = 0, .shortest = 0 },
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
            self.last_end = try pattern_bytes.endOf(patterns, place);
        }
        return self.take(token, self.last_end, bytes);
    }

    /// A token that is not as it is in a free string.
    pub fn differs(self: *Sink, token: u32) Error!void {
        words.unset(self.bits.?, token);
        if (self.graph.program.vocabulary.string_tables.suffix_of[token] != none) try self.graph.memos.list.append(self.graph.gpa, token);
    }

    pub fn end(self: *Sink, token: u32, state: u32, at: json_string.State, bytes: u16) Error!void {
        return self.take(token, try pattern_bytes.endAt(&self.graph.patterns, state, at), bytes);
    }

    fn take(self: *Sink, token: u32, last: pattern_bytes.End, bytes: u16) Error!void {
        // A token may pass there and not end.
        if (last.cost == spelling.unreachable_cost) return;
        self.cost_max = @max(self.cost_max, last.cost);
        if (self.bounded) {
            self.shortest_max = @max(self.shortest_max, last.shortest);
            self.reach_max = @max(self.reach_max, last.shortest +| bytes);
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
