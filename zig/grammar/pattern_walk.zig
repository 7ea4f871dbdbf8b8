//! Which tokens a pattern reads: down a trie as in walk.zig, but by the pattern's states alone, so that what is found holds wherever the
//! pattern stands. Short tokens and long ones are found apart: for the short ones, a counter that is far from its end has none, and
//! one walk serves all its values; and where a state goes on by itself, most tokens are known from the vocabulary.
const std = @import("std");
const vocabulary_room = @import("../vocabulary.zig");
const Vocabulary = vocabulary_room.Vocabulary;
const Trie = vocabulary_room.Trie;
const json_string = vocabulary_room.json_string;
const no_class = @import("alphabet.zig").no_class;
const Patterns = @import("patterns.zig").Patterns;

const none: u32 = 0xffffffff;

/// Characters from which on it pays to look a run up.
const run_characters_min = 8;

pub const Frame = struct {
    state: u32,
    /// Where its states after each class are, or `none`.
    row: u32,
    at: json_string.State = .start,
    /// Characters read, or more.
    characters: u16 = 0,
};

/// Tokens of more than `short_bytes` bytes. `sink.reach(node, state, at, characters)` for each that stays inside;
/// `sink.close(node, characters)` for each that closes the string where it may end.
pub fn findLong(patterns: *Patterns, vocabulary: *const Vocabulary, start: u32, sink: anytype) error{OutOfMemory}!void {
    const trie = &vocabulary.string_tables.long_tokens;
    try patterns.frames.resize(patterns.gpa, @max(trie.depth_max, vocabulary.trie.depth_max) + 1);
    patterns.frames.items[0] = .{ .state = start, .row = none };
    try walk(patterns, trie, 0, @intCast(trie.nodes.len), none, sink);
}

/// The other tokens. `sink.inside(tokens, bits, state)` for many that stay inside at once, and lead to a state: as a list, or as a set.
pub fn findShort(patterns: *Patterns, vocabulary: *const Vocabulary, start: u32, sink: anytype) error{OutOfMemory}!void {
    const trie = &vocabulary.trie;
    const bytes_max = vocabulary_room.string_tables.short_bytes;
    try patterns.frames.resize(patterns.gpa, @max(trie.depth_max, vocabulary.string_tables.long_tokens.depth_max) + 1);
    var done: std.bit_set.Static(256) = .empty;
    for (' '..0x7f) |byte| {
        if (done.isSet(byte) or byte == '"' or byte == '\\') continue;
        const state = try patterns.after(start, patterns.of(start).alphabet.ascii[byte]);
        if (state == Patterns.dead) continue;
        const kind = try kindOf(patterns, state);
        if (kind.ascii.count() < run_characters_min) continue;
        const run = try vocabulary.runOf(kind) orelse continue;
        try readRun(patterns, trie, start, state, run, &done, bytes_max, sink);
    }
    patterns.frames.items[0] = .{ .state = start, .row = none };
    for (trie.first, 0..) |node, byte| if (node != none and !done.isSet(byte)) {
        try walk(patterns, trie, node, trie.nodes[node].next, bytes_max, sink);
    };
}

/// The characters on which a state stays the same.
fn kindOf(patterns: *Patterns, state: u32) error{OutOfMemory}!Kind {
    const alphabet = patterns.of(state).alphabet;
    var kind: Kind = .{};
    for (' '..0x7f) |byte| {
        if (byte == '"' or byte == '\\') continue;
        if (try patterns.after(state, alphabet.ascii[byte]) == state) kind.ascii.set(byte);
    }
    kind.beyond = try staysBeyond(patterns, state, state);
    return kind;
}

const Kind = vocabulary_room.runs.Kind;
const Run = vocabulary_room.runs.Run;

/// Whether every character beyond ASCII leads from one state to another.
fn staysBeyond(patterns: *Patterns, from: u32, to: u32) error{OutOfMemory}!bool {
    for (patterns.of(from).alphabet.segments) |segment| {
        if (segment.first < 0x80 or segment.class == no_class) continue;
        if (try patterns.after(from, segment.class) != to) return false;
    }
    return true;
}

/// Tokens whose first character leads to a state that stays where it is on a run's characters.
fn readRun(patterns: *Patterns, trie: *const Trie, start: u32, state: u32, run: *const Run, done: *std.bit_set.Static(256), bytes_max: u32, sink: anytype) error{OutOfMemory}!void {
    const alphabet = patterns.of(start).alphabet;
    var first: std.bit_set.Static(256) = .empty;
    var all = true;
    for (' '..0x7f) |byte| if (run.kind.ascii.isSet(byte)) {
        if (try patterns.after(start, alphabet.ascii[byte]) == state) first.set(byte) else all = false;
    };
    if (run.kind.beyond and try staysBeyond(patterns, start, state)) {
        first.setRangeValue(.{ .start = 0x80, .end = 0x100 }, true);
    } else if (run.kind.beyond) all = false;
    if (all) try sink.inside(run.inside, run.bits, state);
    // Exits that the state reads, found without reading.
    var live: std.bit_set.Static(256) = .empty;
    for (' '..0x7f) |byte| if (try patterns.after(state, alphabet.ascii[byte]) != Patterns.dead) live.set(byte);
    live.setRangeValue(.{ .start = 0x7f, .end = 0x100 }, true);
    live.set('\\');
    live.setValue('"', patterns.accepts(state));
    var bytes = first.iterator(.{});
    while (bytes.next()) |byte| {
        done.set(byte);
        if (!all) {
            const tokens = run.inside[run.inside_first[byte]..run.inside_first[byte + 1]];
            if (tokens.len > 0) try sink.inside(tokens, null, state);
        }
        for (run.exits[run.exits_first[byte]..run.exits_first[byte + 1]]) |exit| if (live.isSet(exit.byte)) {
            const depth = trie.nodes[exit.node].depth;
            patterns.frames.items[depth - 1] = .{ .state = state, .row = none, .characters = depth - 1 };
            try walk(patterns, trie, exit.node, trie.nodes[exit.node].next, bytes_max, sink);
        };
    }
}

/// Nodes of a trie whose parents' frames are known. Entries longer than `bytes_max` are left out.
fn walk(patterns: *Patterns, trie: *const Trie, first: u32, end: u32, bytes_max: u32, sink: anytype) error{OutOfMemory}!void {
    const frames = patterns.frames.items;
    const nodes = trie.nodes;
    var at = first;
    while (at < end) {
        const node = &nodes[at];
        if (node.depth > bytes_max) {
            at = node.next;
            continue;
        }
        const parent = &frames[node.depth - 1];
        const byte = node.byte;
        var frame: Frame = .{ .state = Patterns.dead, .row = none, .characters = parent.characters };
        if (parent.at == json_string.State.start and byte >= 0x20 and byte < 0x80 and byte != '"' and byte != '\\') {
            if (parent.row == none) parent.row = try patterns.rowOf(parent.state);
            const class = patterns.of(parent.state).alphabet.ascii[byte];
            frame.state = patterns.rows.items[parent.row + class];
            if (frame.state == Patterns.unknown) frame.state = try patterns.after(parent.state, class);
            frame.characters += 1;
        } else switch (try patterns.read(parent.state, parent.at, byte)) {
            .dead => {},
            .close => if (patterns.accepts(parent.state)) {
                for (nodes[at..node.next]) |*below| {
                    if (below.entry != none and below.depth <= bytes_max) try sink.close(below, parent.characters);
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
