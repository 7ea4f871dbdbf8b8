//! What a value reads by itself is the same wherever it stands, and it stands somewhere else after every member that is written. So its
//! nodes are looked at as if nobody waited for them; where a token goes on behind their end, it is read on by those that do.
const vocabulary_room = @import("../vocabulary.zig");
const Trie = vocabulary_room.Trie;
const Lead = vocabulary_room.Lead;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const Node = graph_room.Node;
const StateId = graph_room.StateId;
const memberOf = @import("step.zig").memberOf;

const Error = error{OutOfMemory};

/// A node of a trie at which a token has left what was looked at, and what it has spent until there: see `walk.Frame`.
pub const Exit = struct {
    trie: *const Trie,
    /// Where the trie is of, if its entries are no tokens.
    lead: ?*const Lead = null,
    node: u32,
    spent: u32,
    owed: u32,
    absolute: bool,
};

/// Nodes of one state that the same others wait for.
pub const Part = struct {
    /// The nodes by themselves, and where they stand.
    state: StateId,
    whole: StateId,
    parents: u32,
    /// The state behind their end.
    after: StateId,
    /// What those that wait cost.
    rest: u32,
};

/// More parts than this are not looked for; the other nodes are read as they stand.
const parts_max = 4;

pub const Parts = struct {
    list: [parts_max]Part = undefined,
    count: usize = 0,
    /// The state of all other nodes.
    others: StateId,

    pub fn slice(self: *const Parts) []const Part {
        return self.list[0..self.count];
    }
};

/// What of a state can be looked at by itself.
pub fn split(graph: *Graph, state: StateId) Error!Parts {
    var parts: Parts = .{ .others = state };
    const known = graph.states.items[state];
    for (known.start..known.start + known.len) |at| {
        const node = graph.nodes.items[graph.state_items.items[at]];
        const parents = try parentsOf(graph, &node) orelse continue;
        for (parts.slice()) |*part| {
            if (part.parents == parents) break;
        } else {
            if (parts.count == parts_max) break;
            const whole, const own = try apart(graph, state, parents);
            parts.list[parts.count] = .{ .state = own, .whole = whole, .parents = parents, .after = try graph.afterPart(parents), .rest = graph.sets.items[parents].cost };
            parts.count += 1;
        }
    }
    if (parts.count > 0) parts.others = try othersOf(graph, state, &parts);
    return parts;
}

/// The nodes that these wait for, as they stand and by themselves.
fn apart(graph: *Graph, state: StateId, parents: u32) Error!struct { StateId, StateId } {
    const gpa = graph.gpa;
    const standing = &graph.memos.ids;
    const own = &graph.memos.alone;
    standing.clearRetainingCapacity();
    own.clearRetainingCapacity();
    const known = graph.states.items[state];
    for (known.start..known.start + known.len) |at| {
        const id = graph.state_items.items[at];
        var node = graph.nodes.items[id];
        if (try parentsOf(graph, &node) != parents) continue;
        try standing.append(gpa, id);
        // The member's object is outside.
        if (node.kind == .object_colon) node.a = 0;
        const outside = (try graph.internNode(.{ .kind = .outside, .channel = node.channel, .style = node.style })).?;
        node.parents = try graph.internSet(&.{outside});
        // What it costs by itself was finite before.
        try own.append(gpa, (try graph.internNode(node)).?);
    }
    return .{ try graph.internState(standing.items), try graph.internState(own.items) };
}

/// The state of the nodes that are in no part.
fn othersOf(graph: *Graph, state: StateId, parts: *const Parts) Error!StateId {
    const ids = &graph.memos.ids;
    ids.clearRetainingCapacity();
    const known = graph.states.items[state];
    for (known.start..known.start + known.len) |at| {
        const id = graph.state_items.items[at];
        const node = graph.nodes.items[id];
        const parents = try parentsOf(graph, &node);
        for (parts.slice()) |*part| {
            if (part.parents == parents) break;
        } else try ids.append(graph.gpa, id);
    }
    return graph.internState(ids.items);
}

/// Whether nobody waits for what the state's nodes read.
pub fn isAlone(graph: *const Graph, state: StateId) bool {
    const nodes = graph.nodesOf(state);
    return nodes.len > 0 and isOutside(graph, graph.nodes.items[nodes[0]].parents);
}

fn isOutside(graph: *const Graph, parents: u32) bool {
    const waiting = graph.setItems(parents);
    return waiting.len > 0 and graph.nodes.items[waiting[0]].kind == .outside;
}

/// What waits for a node that can be looked at by itself; null if it cannot.
fn parentsOf(graph: *Graph, node: *const Node) Error!?u32 {
    const parents = switch (node.kind) {
        // Beside other items it matters which scalar it is.
        .value, .literal, .number, .string, .among, .pattern => if (node.d != 0) return null else node.parents,
        .array_open, .object_open => node.parents,
        .object_colon => if (node.a == 0) return null else try graph.internSet(&.{try graph.internNode(memberOf(node)) orelse return null}),
        else => return null,
    };
    if (isOutside(graph, parents)) return null;
    const after = try graph.afterPart(parents);
    return if (after == Graph.dead_state or graph.states.items[after].uncertain) null else parents;
}
