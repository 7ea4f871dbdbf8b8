//! A set of known texts (the members of an enum, the keys of an object) as a trie over their decoded bytes, with what it costs to write
//! the rest of each from anywhere inside it.
const std = @import("std");
const Allocator = std.mem.Allocator;
const json_string = @import("../vocabulary.zig").json_string;
const ir = @import("ir.zig");
const spelling_cost = @import("spelling.zig");
const Speller = spelling_cost.Speller;
const unreachable_cost = spelling_cost.unreachable_cost;

pub const none: u32 = 0xffffffff;

pub const Node = struct {
    /// The first node after this one's subtree.
    next: u32,
    /// The text that ends here, or `none`.
    entry: u32,
    /// Texts that end at nodes before this one: the subtree's texts begin with this.
    first: u32,
    depth: u32,
    byte: u8,
};

pub const Text = struct {
    decoded: []const u8,
    /// As written, from after the opening quote to the end of `tail`.
    spelled: []const u8,
    /// (spelled.len + 1) tokens that write each end of `spelled`.
    cost: []const u32,
    /// The index in the list given.
    source: u32,
    /// Written otherwise than decoded.
    escapes: bool,
    /// Characters beyond ASCII are escaped, because no tokens write them.
    ascii: bool,
    /// Of a key, with its opening quote.
    opening: Opening,
};

/// Tokens of a key from its opening quote on, and from the mark before that one.
pub const Opening = struct {
    quote: u32 = unreachable_cost,
    comma: u32 = unreachable_cost,
    brace: u32 = unreachable_cost,
};

/// How texts of one kind are written, each found out once however many lists hold it: objects have many keys in common.
pub const Spellings = struct {
    /// For the texts.
    arena: Allocator,
    /// For what is known, as long as this lives.
    scratch: Allocator,
    speller: *const Speller,
    kind: Kind,
    style: ir.Style.Spelling,
    known: std.StringHashMapUnmanaged(Text) = .empty,

    pub const Kind = enum {
        key,
        value,

        /// What follows a text, from its closing quote on.
        fn tail(self: Kind) []const u8 {
            return switch (self) {
                .key => "\":",
                .value => "\"",
            };
        }
    };

    fn of(self: *Spellings, decoded: []const u8, source: u32) ir.Error!Text {
        const entry = try self.known.getOrPut(self.scratch, decoded);
        if (!entry.found_existing) entry.value_ptr.* = try self.find(decoded);
        var text = entry.value_ptr.*;
        text.source = source;
        return text;
    }

    fn find(self: *Spellings, decoded: []const u8) ir.Error!Text {
        var spelled: std.ArrayList(u8) = .empty;
        try json_string.spell(self.scratch, &spelled, decoded);
        const plain = try self.priced(decoded, spelled.items);
        if (plain.cost[0] != unreachable_cost or self.style != .spec) return plain;
        // Bytes that no token has can still be escaped.
        spelled.clearRetainingCapacity();
        try spellEscaped(self.scratch, &spelled, decoded);
        var text = try self.priced(decoded, spelled.items);
        text.escapes = true;
        text.ascii = true;
        return text;
    }

    fn priced(self: *Spellings, decoded: []const u8, spelled: []const u8) ir.Error!Text {
        const before = if (self.kind == .key) ",\"" else "";
        const piece = try std.mem.concat(self.arena, u8, &.{ before, spelled, self.kind.tail() });
        const costs = try self.speller.costs(self.arena, piece);
        return .{
            .decoded = decoded,
            .spelled = piece[before.len..],
            .cost = costs[before.len..],
            .source = 0,
            .escapes = spelled.len != decoded.len,
            .ascii = false,
            .opening = if (self.kind != .key) .{} else opening: {
                piece[0] = '{';
                break :opening .{ .quote = costs[1], .comma = costs[0], .brace = self.speller.costBefore(piece, costs) };
            },
        };
    }
};

pub const Texts = struct {
    /// Depth first; the root is node 0.
    nodes: []const Node,
    /// Sorted by decoded bytes.
    texts: []const Text,
    /// (nodes) the least cost to finish any text from a node between two characters.
    node_cost: []const u32,

    pub const root: u32 = 0;

    /// `list` holds no text twice. With `drop_dead`, texts that no tokens write are left out.
    pub fn create(arena: Allocator, gpa: Allocator, list: []const []const u8, drop_dead: bool, spellings: *Spellings) ir.Error!Texts {
        var texts: std.ArrayList(Text) = try .initCapacity(arena, list.len);
        for (list, 0..) |decoded, source| {
            const text = try spellings.of(decoded, @intCast(source));
            if (text.cost[0] == unreachable_cost and drop_dead) continue;
            texts.appendAssumeCapacity(text);
        }
        std.mem.sortUnstable(Text, texts.items, {}, lessThan);
        return build(arena, gpa, texts.items);
    }

    fn lessThan(_: void, a: Text, b: Text) bool {
        return std.mem.lessThan(u8, a.decoded, b.decoded);
    }

    fn build(arena: Allocator, gpa: Allocator, texts: []const Text) ir.Error!Texts {
        const count = countNodes(texts);
        var nodes: std.ArrayList(Node) = try .initCapacity(arena, count);
        const cost = try arena.alloc(u32, count);
        @memset(cost, unreachable_cost);
        var open: std.ArrayList(u32) = .empty; // nodes from the root to the last one made
        defer open.deinit(gpa);
        nodes.appendAssumeCapacity(.{ .next = 0, .entry = none, .first = 0, .depth = 0, .byte = 0 });
        try open.append(gpa, root);
        var previous: []const u8 = "";
        for (texts, 0..) |text, index| {
            const shared = sharedLength(previous, text.decoded);
            while (open.items.len > shared + 1) nodes.items[open.pop().?].next = @intCast(nodes.items.len);
            for (text.decoded[shared..], shared + 1..) |byte, depth| {
                try open.append(gpa, @intCast(nodes.items.len));
                nodes.appendAssumeCapacity(.{ .next = 0, .entry = none, .first = @intCast(index), .depth = @intCast(depth), .byte = byte });
            }
            nodes.items[open.items[open.items.len - 1]].entry = @intCast(index);
            for (open.items, 0..) |node, depth| cost[node] = @min(cost[node], costAt(&text, @intCast(depth)));
            previous = text.decoded;
        }
        while (open.pop()) |node| nodes.items[node].next = @intCast(nodes.items.len);
        return .{ .nodes = nodes.items, .texts = texts, .node_cost = cost };
    }

    fn countNodes(texts: []const Text) usize {
        var count: usize = 1;
        var previous: []const u8 = "";
        for (texts) |text| {
            count += text.decoded.len - sharedLength(previous, text.decoded);
            previous = text.decoded;
        }
        return count;
    }

    /// Of two texts that are not the same, in their order.
    fn sharedLength(a: []const u8, b: []const u8) usize {
        return std.mem.findDiff(u8, a, b) orelse b.len;
    }

    /// The node one byte below, or `none`.
    pub fn child(self: *const Texts, node: u32, byte: u8) u32 {
        if (node == none) return none;
        const end = self.nodes[node].next;
        var at = node + 1;
        while (at < end) : (at = self.nodes[at].next) {
            if (self.nodes[at].byte == byte) return at;
            if (self.nodes[at].byte > byte) break;
        }
        return none;
    }

    /// The bytes that lead to a child.
    pub fn addBytes(self: *const Texts, node: u32, set: *std.bit_set.Static(256)) void {
        const end = self.nodes[node].next;
        var at = node + 1;
        while (at < end) : (at = self.nodes[at].next) set.set(self.nodes[at].byte);
    }

    pub fn childOfChar(self: *const Texts, node: u32, char: u21) u32 {
        var buffer: [4]u8 = undefined;
        var at = node;
        for (buffer[0..json_string.encodeUtf8(char, &buffer)]) |byte| at = self.child(at, byte);
        return at;
    }

    /// The texts at or below a node, as a range.
    pub fn range(self: *const Texts, node: u32) [2]u32 {
        const next = self.nodes[node].next;
        return .{ self.nodes[node].first, if (next < self.nodes.len) self.nodes[next].first else @intCast(self.texts.len) };
    }

    /// Tokens that finish one text from a node on its path, with `state` inside the next character or between two.
    pub fn costFrom(self: *const Texts, index: u32, node: u32, state: json_string.State, style: ir.Style.Spelling) u32 {
        const text = &self.texts[index];
        const depth = self.nodes[node].depth;
        const at = spelledAt(text, depth);
        switch (state.phase) {
            .text, .more1, .more2, .more2_e0, .more2_ed, .more3, .more3_f0, .more3_f4 => return costAt(text, depth),
            else => {},
        }
        if (spelledPrefix(text.spelled[at..], state)) |length| return text.cost[at + length];
        if (style == .canonical or depth == text.decoded.len) return unreachable_cost;
        const length = std.unicode.utf8ByteSequenceLength(text.decoded[depth]) catch return unreachable_cost;
        const char = std.unicode.utf8Decode(text.decoded[depth..][0..length]) catch return unreachable_cost;
        const left = escapeLeft(char, state) orelse return unreachable_cost;
        return spelling_cost.add(left, text.cost[spelledAt(text, depth + length)]);
    }
};

fn costAt(text: *const Text, depth: u32) u32 {
    // Inside a character that was begun raw, but that no tokens finish.
    if (text.ascii and depth < text.decoded.len and text.decoded[depth] & 0xc0 == 0x80) return unreachable_cost;
    return text.cost[spelledAt(text, depth)];
}

/// Where in `spelled` so many decoded bytes are written.
fn spelledAt(text: *const Text, depth: u32) usize {
    if (!text.escapes) return depth;
    var state: json_string.State = .start;
    var decoded: u32 = 0;
    for (text.spelled, 0..) |byte, at| {
        if (decoded >= depth) return at;
        switch (json_string.step(state, byte, .spec)) {
            .inside => |next| state = next,
            .raw => |next| {
                state = next;
                decoded += 1;
            },
            .char => |char| {
                var buffer: [4]u8 = undefined;
                decoded += json_string.encodeUtf8(char, &buffer);
                state = .start;
            },
            .close, .dead => return at,
        }
    }
    return text.spelled.len;
}

/// The bytes that led to `state`, if `spelled` begins with them.
fn spelledPrefix(spelled: []const u8, state: json_string.State) ?usize {
    var at: json_string.State = .start;
    for (spelled, 0..) |byte, index| switch (json_string.step(at, byte, .spec)) {
        .inside => |next| {
            if (next == state) return index + 1;
            at = next;
        },
        else => return null,
    };
    return null;
}

/// Bytes after which an escape in `state` stands for `char`, at least; null if it cannot.
fn escapeLeft(char: u21, state: json_string.State) ?u32 {
    const pair = char > 0xffff;
    const high: u24 = if (pair) 0xd800 + ((char - 0x10000) >> 10) else char;
    const low: u24 = if (pair) 0xdc00 + ((char - 0x10000) & 0x3ff) else 0;
    switch (state.phase) {
        .escape => return if (json_string.shortEscape(char) != null or char == '/') 1 else if (pair) 11 else 5,
        .hex0, .hex1, .hex2, .hex3 => {
            const left: u5 = 4 - @as(u5, @intCast(@backingInt(state.phase) - @backingInt(json_string.Phase.hex0)));
            if (high >> (4 * left) != state.value) return null;
            return @as(u32, left) + if (pair) @as(u32, 6) else 0;
        },
        .low_escape => return if (pair and state.value == high & 0x3ff) 6 else null,
        .low_u => return if (pair and state.value == high & 0x3ff) 5 else null,
        .low0, .low1, .low2, .low3 => {
            const left: u5 = 4 - @as(u5, @intCast(@backingInt(state.phase) - @backingInt(json_string.Phase.low0)));
            if (!pair or state.value >> 12 != high & 0x3ff or state.value & 0xfff != low >> (4 * left)) return null;
            return left;
        },
        else => return null,
    }
}

fn spellEscaped(gpa: Allocator, out: *std.ArrayList(u8), text: []const u8) error{OutOfMemory}!void {
    var at: usize = 0;
    while (at < text.len) {
        const length = std.unicode.utf8ByteSequenceLength(text[at]) catch 1;
        const char: u21 = std.unicode.utf8Decode(text[at..][0..length]) catch 0xfffd;
        if (char < 0x80) {
            try json_string.spell(gpa, out, text[at..][0..1]);
        } else if (char <= 0xffff) {
            try out.print(gpa, "\\u{x:0>4}", .{char});
        } else {
            try out.print(gpa, "\\u{x:0>4}\\u{x:0>4}", .{ 0xd800 + ((char - 0x10000) >> 10), 0xdc00 + ((char - 0x10000) & 0x3ff) });
        }
        at += length;
    }
}
