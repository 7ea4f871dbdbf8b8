//! Patterns after most of whose characters any text may follow, as of keys that are to be none of a few: nearly all tokens do what they do in
//! a free string, and only those that begin otherwise are read.
const builtin = @import("builtin");
const vocabulary_room = @import("../vocabulary.zig");
const Vocabulary = vocabulary_room.Vocabulary;
const json_string = vocabulary_room.json_string;
const no_class = @import("alphabet.zig").no_class;
const Patterns = @import("patterns.zig").Patterns;

const none: u32 = 0xffffffff;
const Error = error{OutOfMemory};

/// What was read down to one node of a trie.
pub const Frame = struct {
    state: u32,
    at: json_string.State,
    /// Any text may follow a character beyond ASCII; null as long as it was not asked for.
    beyond: ?bool = null,
};

/// One token in so many may begin otherwise.
const others_share = if (builtin.is_test) 1 else 8;

/// Whether few enough tokens begin with a character after which not every text may follow.
pub fn isNear(patterns: *Patterns, vocabulary: *const Vocabulary, start: u32) Error!bool {
    const pattern = patterns.of(start);
    // Other strings than those of any spelling are not as free ones are.
    if (!pattern.escapes) return false;
    var others: u64 = 0;
    for (pattern.alphabet.ascii, vocabulary.signs.first_counts[0..0x80]) |class, count| {
        if (patterns.isFree(try patterns.after(start, class))) continue;
        others += count;
        // As of most patterns: what the other characters lead to need not be made.
        if (others * others_share > vocabulary.count) return false;
    }
    return isFreeBeyond(patterns, start);
}

/// All tokens that may not do what they do in a free string. `sink.differs(token)` for each of them; then `sink.end(token, state, at, bytes)` if
/// it stays inside, with what was read of it.
pub fn find(patterns: *Patterns, vocabulary: *const Vocabulary, start: u32, sink: anytype) Error!void {
    const trie = &vocabulary.trie;
    try patterns.scratch.free.resize(patterns.gpa, trie.depth_max + 1);
    const frames = patterns.scratch.free.items;
    frames[0] = .{ .state = start, .at = .start };
    var at: u32 = 0;
    while (at < trie.nodes.len) {
        const node = &trie.nodes[at];
        const parent = &frames[node.depth - 1];
        if (node.byte >= 0x80 and parent.at == json_string.State.start and try leadsOn(patterns, parent)) {
            at = node.next;
            continue;
        }
        switch (try patterns.read(parent.state, parent.at, node.byte)) {
            .dead => {
                // No string has them.
                const nowhere = parent.at == json_string.State.start and node.byte < 0x20;
                if (!nowhere) try differBelow(vocabulary, at, sink);
                at = node.next;
            },
            .close => {
                if (!patterns.accepts(parent.state)) try differBelow(vocabulary, at, sink);
                at = node.next;
            },
            .inside => |inside| {
                if (inside.at == json_string.State.start and patterns.isFree(inside.state)) {
                    at = node.next;
                    continue;
                }
                var token = node.entry;
                while (token != none) : (token = vocabulary.twins[token]) {
                    try sink.differs(token);
                    try sink.end(token, inside.state, inside.at, node.depth);
                }
                frames[node.depth] = .{ .state = inside.state, .at = inside.at };
                at += 1;
            },
        }
    }
}

fn differBelow(vocabulary: *const Vocabulary, node: u32, sink: anytype) Error!void {
    const nodes = vocabulary.trie.nodes;
    for (nodes[node..nodes[node].next]) |*below| {
        var token = below.entry;
        while (token != none) : (token = vocabulary.twins[token]) try sink.differs(token);
    }
}

/// Whether any text may follow every character beyond ASCII.
fn leadsOn(patterns: *Patterns, frame: *Frame) Error!bool {
    if (frame.beyond == null) frame.beyond = try isFreeBeyond(patterns, frame.state);
    return frame.beyond.?;
}

fn isFreeBeyond(patterns: *Patterns, state: u32) Error!bool {
    const segments = patterns.of(state).alphabet.segments;
    for (segments, 1..) |segment, next| {
        const ends = next < segments.len and segments[next].first <= 0x80;
        if (ends or segment.class == no_class) continue;
        if (!patterns.isFree(try patterns.after(state, segment.class))) return false;
    }
    return true;
}
