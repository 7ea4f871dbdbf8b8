//! Tokens that begin with whitespace or an opening quote, where JSON stands between two of its parts: the vocabulary's tables say which of
//! them stay in the whitespace or the string, and only the others are walked.
const vocabulary_room = @import("../vocabulary.zig");
const Trie = vocabulary_room.Trie;
const Leads = vocabulary_room.Leads;
const Lead = vocabulary_room.Lead;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const StateId = graph_room.StateId;
const Transition = graph_room.Transition;
const mask_room = @import("mask.zig");
const walk = @import("walk.zig");
const Exit = @import("alone.zig").Exit;

const none = graph_room.none;
const Error = error{OutOfMemory};

/// Tells the sink about those tokens, and returns the first bytes of all others. Null where whitespace cannot be left open.
pub fn add(graph: *Graph, state: StateId, sink: anytype) Error!?walk.ByteSet {
    var others: walk.ByteSet = .full;
    if (graph.states.items[state].slack_min != none) return others;
    const leads = &graph.program.vocabulary.leads;
    if (try afterSpaces(graph, state)) |after| {
        for (Leads.whitespace) |byte| others.unset(byte);
        if (try sink.isReachable(after)) for (leads.spaces) |token| try sink.take(token, 0);
        if (!try addQuoted(graph, after, &leads.spaced, sink)) {
            if (!try walkEntries(graph, after, &leads.spaced, &leads.spaced.quoted, sink)) return null;
        }
        if (!try walkEntries(graph, after, &leads.spaced, &leads.spaced.others, sink)) return null;
    }
    if (try addQuoted(graph, state, &leads.plain, sink)) others.unset('"');
    return others;
}

/// The state after whitespace, if it is the same after any, and reads nothing else than the tables know.
fn afterSpaces(graph: *Graph, state: StateId) Error!?StateId {
    var word: ?u32 = null;
    for (Leads.whitespace) |byte| {
        const next: u32 = @bitCast(try graph.step(state, byte));
        if (word != null and word.? != next) return null;
        word = next;
    }
    const after = word.?;
    if (after > Transition.plain_max or after == Graph.dead_state) return null;
    for (Leads.whitespace) |byte| if (@as(u32, @bitCast(try graph.step(after, byte))) != after) return null;
    const live = graph.rows.live(try graph.rowOf(after));
    for (live, known) |read, told| if (read & ~told != 0) return null;
    return after;
}

const known: [4]u64 = set: {
    var bytes: walk.ByteSet = .empty;
    for (Leads.whitespace ++ Leads.begins) |byte| bytes.set(byte);
    break :set bytes.masks;
};

/// Where a quote begins a string that may hold anything: false, and nothing done, where it does not.
fn addQuoted(graph: *Graph, state: StateId, lead: *const Lead, sink: anytype) Error!bool {
    const next: u32 = @bitCast(try graph.step(state, '"'));
    if (next > Transition.plain_max or next == Graph.dead_state) return false;
    const spelling = for (graph.nodesOf(next)) |id| {
        if (mask_room.Group.kindOf(graph, &graph.nodes.items[id])) |kind| if (kind.isFree(graph)) break kind.spelling;
    } else return false;
    sink.pay(try mask_room.insideCost(graph, next));
    for (lead.inside[@backingInt(spelling)]) |token| try sink.take(token, 0);
    return walkEntries(graph, state, lead, &lead.closing, sink);
}

fn walkEntries(graph: *Graph, state: StateId, lead: *const Lead, trie: *const Trie, sink: anytype) Error!bool {
    var entries: Entries(@TypeOf(sink)) = .{ .lead = lead, .sink = sink };
    return walk.relative(graph, trie, state, null, &entries);
}

/// Takes in the entries of a lead for the sink of its tokens.
pub fn Entries(comptime Sink: type) type {
    return struct {
        lead: *const Lead,
        sink: Sink,
        whitespace_max: ?u32 = null,

        pub fn reach(self: *@This(), node: *const Trie.Node, state: StateId, owed: u32) Error!void {
            if (try self.sink.isReachable(state)) try self.takeAll(node, owed);
        }

        pub fn pay(self: *@This(), cost: u32) void {
            self.sink.pay(cost);
        }

        pub fn takeAll(self: *@This(), node: *const Trie.Node, owed: u32) Error!void {
            var entry = node.entry;
            while (entry != none) : (entry = self.lead.twins[entry]) try self.sink.take(self.lead.tokens[entry], owed);
        }

        pub fn leave(self: *@This(), exit: Exit) Error!void {
            var own = exit;
            own.lead = self.lead;
            try self.sink.leave(own);
        }

        pub fn uncertain(self: *@This(), first: u32) Error!void {
            var entry = first;
            while (entry != none) : (entry = self.lead.twins[entry]) try self.sink.doubt(self.lead.tokens[entry]);
        }
    };
}
