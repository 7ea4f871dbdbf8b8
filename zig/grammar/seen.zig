//! Sets of texts that were there: persistent, so that every state keeps its own, and hash-consed as a trie over bytes, so that equal sets
//! are one number and what was read of a text is a place in it.
const std = @import("std");
const Allocator = std.mem.Allocator;
const stdx = @import("../stdx.zig");

const Node = struct {
    start: u32,
    len: u32,
    /// Texts from here on.
    count: u32,
    ends: bool,
};
const Edge = struct { byte: u32, child: u32 };

pub const Seen = struct {
    nodes: std.ArrayList(Node) = .empty,
    edges: std.ArrayList(Edge) = .empty,
    table: stdx.IdTable = .{},
    scratch_edges: std.ArrayList(Edge) = .empty,
    scratch_path: std.ArrayList(u32) = .empty,

    /// The set without any text, which is also where a text is that leads away from all of them.
    pub const empty: u32 = 0;

    pub fn deinit(self: *Seen, gpa: Allocator) void {
        self.nodes.deinit(gpa);
        self.edges.deinit(gpa);
        self.table.deinit(gpa);
        self.scratch_edges.deinit(gpa);
        self.scratch_path.deinit(gpa);
    }

    pub fn begin(self: *Seen, gpa: Allocator) error{OutOfMemory}!void {
        try self.nodes.append(gpa, .{ .start = 0, .len = 0, .count = 0, .ends = false });
    }

    pub fn child(self: *const Seen, node: u32, byte: u8) u32 {
        for (self.edgesOf(node)) |edge| if (edge.byte == byte) return edge.child;
        return empty;
    }

    pub fn removeBytes(self: *const Seen, node: u32, set: *std.bit_set.Static(256)) void {
        for (self.edgesOf(node)) |edge| set.unset(edge.byte);
    }

    pub fn addBytes(self: *const Seen, node: u32, set: *std.bit_set.Static(256)) void {
        for (self.edgesOf(node)) |edge| set.set(edge.byte);
    }

    pub fn ends(self: *const Seen, node: u32) bool {
        return self.nodes.items[node].ends;
    }

    pub fn count(self: *const Seen, node: u32) u32 {
        return self.nodes.items[node].count;
    }

    pub fn contains(self: *const Seen, set: u32, text: []const u8) bool {
        var at = set;
        for (text) |byte| {
            at = self.child(at, byte);
            if (at == empty) return false;
        }
        return self.ends(at);
    }

    fn edgesOf(self: *const Seen, node: u32) []const Edge {
        const known = self.nodes.items[node];
        return self.edges.items[known.start..][0..known.len];
    }

    /// `set` with `text` in it.
    pub fn insert(self: *Seen, gpa: Allocator, set: u32, text: []const u8) error{OutOfMemory}!u32 {
        self.scratch_path.clearRetainingCapacity();
        var at = set;
        for (text) |byte| {
            try self.scratch_path.append(gpa, at);
            at = self.child(at, byte);
        }
        self.scratch_edges.clearRetainingCapacity();
        try self.scratch_edges.appendSlice(gpa, self.edgesOf(at));
        var made = try self.intern(gpa, self.scratch_edges.items, true);
        var depth = text.len;
        while (depth > 0) {
            depth -= 1;
            const old = self.scratch_path.items[depth];
            self.scratch_edges.clearRetainingCapacity();
            var placed = false;
            for (self.edgesOf(old)) |edge| {
                if (!placed and edge.byte >= text[depth]) {
                    try self.scratch_edges.append(gpa, .{ .byte = text[depth], .child = made });
                    placed = true;
                    if (edge.byte == text[depth]) continue;
                }
                try self.scratch_edges.append(gpa, edge);
            }
            if (!placed) try self.scratch_edges.append(gpa, .{ .byte = text[depth], .child = made });
            made = try self.intern(gpa, self.scratch_edges.items, self.ends(old));
        }
        return made;
    }

    /// `edges` does not lie in the list of all edges.
    fn intern(self: *Seen, gpa: Allocator, edges: []const Edge, is_end: bool) error{OutOfMemory}!u32 {
        const Context = struct {
            seen: *const Seen,
            edges: []const Edge,
            ends: bool,
            pub fn eql(context: @This(), id: u32) bool {
                const known = context.seen.edgesOf(id);
                if (context.seen.ends(id) != context.ends or known.len != context.edges.len) return false;
                for (known, context.edges) |a, b| if (a.byte != b.byte or a.child != b.child) return false;
                return true;
            }
            fn hash(list: []const Edge, end: bool) u64 {
                var result: u64 = @intFromBool(end);
                for (list) |edge| result = stdx.hashWords(&.{ edge.byte, edge.child }, result);
                return result;
            }
        };
        const context: Context = .{ .seen = self, .edges = edges, .ends = is_end };
        const hash = Context.hash(edges, is_end);
        if (self.table.find(hash, context)) |known| return known;
        const id: u32 = @intCast(self.nodes.items.len);
        const start: u32 = @intCast(self.edges.items.len);
        var texts: u32 = @intFromBool(is_end);
        for (edges) |edge| texts += self.count(edge.child);
        try self.edges.appendSlice(gpa, edges);
        try self.nodes.append(gpa, .{ .start = start, .len = @intCast(edges.len), .count = texts, .ends = is_end });
        try self.table.insert(gpa, hash, id);
        return id;
    }
};
