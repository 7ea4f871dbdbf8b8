//! Which tokens a pattern reads: down a trie as in walk.zig, but by the pattern's states alone, so that what is found holds wherever the
//! pattern stands. Short tokens and long ones are found apart: for the short ones, a counter that is far from its end has none, and
//! one walk serves all its values.
const std = @import("std");
const vocabulary_room = @import("../vocabulary.zig");
const Trie = vocabulary_room.Trie;
const json_string = vocabulary_room.json_string;
const Patterns = @import("patterns.zig").Patterns;

const none: u32 = 0xffffffff;

pub const Frame = struct {
    state: u32,
    /// Where its states after each class are, or `none`.
    row: u32,
    at: json_string.State = .start,
    /// Characters read.
    characters: u16 = 0,
};

/// `sink.reach(node, state, at, characters)` for each entry that stays inside; `sink.close(entry, characters)` for each that closes the
/// string where it may end. Entries longer than `depth_max` bytes are left out.
pub fn find(patterns: *Patterns, trie: *const Trie, start: u32, depth_max: u32, sink: anytype) error{OutOfMemory}!void {
    try patterns.frames.resize(patterns.gpa, trie.depth_max + 1);
    const frames = patterns.frames.items;
    const nodes = trie.nodes;
    frames[0] = .{ .state = start, .row = try patterns.rowOf(start) };
    const alphabet = patterns.of(start).alphabet;
    var at: u32 = 0;
    while (at < nodes.len) {
        const node = &nodes[at];
        if (node.depth > depth_max) {
            at = node.next;
            continue;
        }
        const parent = &frames[node.depth - 1];
        const byte = node.byte;
        var frame: Frame = .{ .state = Patterns.dead, .row = none, .characters = parent.characters };
        if (parent.at == json_string.State.start and byte >= 0x20 and byte < 0x80 and byte != '"' and byte != '\\') {
            if (parent.row == none) parent.row = try patterns.rowOf(parent.state);
            const class = alphabet.ascii[byte];
            frame.state = patterns.rows.items[parent.row + class];
            if (frame.state == Patterns.unknown) frame.state = try patterns.after(parent.state, class);
            frame.characters += 1;
        } else switch (try patterns.read(parent.state, parent.at, byte)) {
            .dead => {},
            .close => if (patterns.accepts(parent.state)) {
                for (nodes[at..node.next]) |*below| {
                    if (below.entry != none and below.depth <= depth_max) try sink.close(below, parent.characters);
                }
            },
            .inside => |next| {
                frame.state = next.state;
                frame.at = next.at;
                frame.characters += @intFromBool(next.at == json_string.State.start);
            },
        }
        if (frame.state == Patterns.dead) {
            at = node.next;
            continue;
        }
        if (node.entry != none) try sink.reach(node, frame.state, frame.at, frame.characters);
        frames[node.depth] = frame;
        at += 1;
    }
}
