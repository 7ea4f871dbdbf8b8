//! Tokens that matter beside known texts: those after which a text being written may still become one of them, and those that end it as one
//! that may not be, or that counts. All others do what they do where no text is known.
const json_string = @import("../vocabulary.zig").json_string;
const Known = @import("fresh.zig").Known;
const Place = @import("fresh.zig").Place;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const uncounted = @import("unique.zig").uncounted;

const none = graph_room.none;

/// What was read down to one node of the trie.
pub const Frame = struct { place: Place, at: json_string.State };

/// Adds them to `graph.memos.list`, from between two characters.
pub fn find(graph: *Graph, known: Known, start: Place) error{OutOfMemory}!void {
    if (start.isAway()) return;
    const nodes = graph.program.vocabulary.trie.nodes;
    try graph.memos.beside.resize(graph.gpa, graph.program.vocabulary.trie.depth_max + 1);
    const frames = graph.memos.beside.items;
    frames[0] = .{ .place = start, .at = .start };
    var at: u32 = 0;
    while (at < nodes.len) {
        const node = &nodes[at];
        const parent = frames[node.depth - 1];
        const read = json_string.step(parent.at, node.byte, .spec);
        const next: ?json_string.State = switch (read) {
            .inside, .raw => |state| state,
            .char => .start,
            .dead, .close => null,
        };
        if (read == .close and matters(known, parent.place)) {
            for (nodes[at..node.next]) |*below| try take(graph, below.entry);
        }
        const place = known.afterByte(parent.place, parent.at, node.byte);
        if (next == null or place.isAway()) {
            at = node.next;
            continue;
        }
        frames[node.depth] = .{ .place = place, .at = next.? };
        try take(graph, node.entry);
        at += 1;
    }
}

/// Whether it is not as good as any other text that ends here.
fn matters(known: Known, place: Place) bool {
    return known.ends(place) or known.classes != null and known.classOf(place) != uncounted;
}

/// Adds an entry of the vocabulary's trie, if there is one, with its twins.
pub fn take(graph: *Graph, entry: u32) error{OutOfMemory}!void {
    var token = entry;
    while (token != none) : (token = graph.program.vocabulary.twins[token]) try graph.memos.list.append(graph.gpa, token);
}
