//! States that no output leaves: whatever follows is read, and may end anywhere. They are told by their text: it takes everything but the
//! markers that end it, and beside each of these stands a marker that leads to such a state again.
const std = @import("std");
const ir = @import("ir.zig");
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const Node = graph_room.Node;
const StateId = graph_room.StateId;
const Terminators = @import("terminators.zig").Terminators;

const Error = error{OutOfMemory};

/// What is known of a state.
pub const TakesAll = enum(u8) { unknown, no, yes };

/// Whether this state takes all. A state that does may be told for one that does not, never the other way round.
pub fn takesAll(graph: *Graph, state: StateId) Error!bool {
    const known = graph.states.items[state];
    if (known.takes_all != .unknown) return known.takes_all == .yes;
    if (!known.free) return false;
    // Those that all have to, if the first one does: they are right about each other.
    var all: std.ArrayList(StateId) = .empty;
    defer all.deinit(graph.gpa);
    try all.append(graph.gpa, state);
    var at: usize = 0;
    while (at < all.items.len) : (at += 1) {
        if (try goesOn(graph, all.items[at], &all)) continue;
        graph.states.items[state].takes_all = .no;
        return false;
    }
    for (all.items) |proven| graph.states.items[proven].takes_all = .yes;
    return true;
}

/// Whether the state's text takes all but its markers and may end; adds the states behind those.
fn goesOn(graph: *Graph, state: StateId, all: *std.ArrayList(StateId)) Error!bool {
    const first = for (graph.nodesOf(state)) |id| {
        if (isFree(graph, &graph.nodes.items[id])) break id;
    } else return false;
    const until = untilOf(graph, first);
    // Texts that end at the same markers are one text that may go on in several ways.
    var parents: u32 = 0;
    const known = graph.states.items[state];
    for (known.start..known.start + known.len) |at| {
        const id = graph.state_items.items[at];
        const node = graph.nodes.items[id];
        if (isFree(graph, &node) and sameMarkers(until, untilOf(graph, id))) parents = try graph.unionSets(parents, node.parents);
    }
    const after = try graph.afterPart(parents);
    if (!graph.states.items[after].accepts_end) return false;
    for (until) |marker| {
        const behind = try afterMarker(graph, after, marker) orelse return false;
        if (std.mem.findScalar(StateId, all.items, behind) == null) try all.append(graph.gpa, behind);
    }
    return true;
}

fn isFree(graph: *const Graph, node: *const Node) bool {
    if (node.kind != .text or node.d != 0) return false;
    const text = &graph.program.nodes[node.a].text;
    // A beginning that is barred ends the text where no marker leads on.
    return text.controls and graph.program.terminators[text.terminators].root == Terminators.start;
}

fn untilOf(graph: *const Graph, node: u32) []const ir.Marker {
    return graph.program.nodes[graph.nodes.items[node].a].text.until;
}

fn sameMarkers(a: []const ir.Marker, b: []const ir.Marker) bool {
    if (a.len != b.len) return false;
    for (a, b) |one, other| if (one.token != other.token or !std.mem.eql(u8, one.bytes, other.bytes)) return false;
    return true;
}

/// The state behind every such marker that may begin here; null if none may.
fn afterMarker(graph: *Graph, state: StateId, marker: ir.Marker) Error!?StateId {
    var parents: u32 = 0;
    const known = graph.states.items[state];
    for (known.start..known.start + known.len) |at| {
        const node = graph.nodes.items[graph.state_items.items[at]];
        if (node.kind != .marker or node.b != 0) continue;
        const other = graph.program.nodes[node.a].marker;
        if (other.token != marker.token or !std.mem.eql(u8, other.bytes.text, marker.bytes)) continue;
        parents = try graph.unionSets(parents, node.parents);
    }
    return if (parents == 0) null else try graph.afterPart(parents);
}
