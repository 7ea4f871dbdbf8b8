//! A set of byte strings as a flat trie in depth-first order: to go down is the next node, to skip a subtree is one jump.
const std = @import("std");
const Allocator = std.mem.Allocator;

pub const none: u32 = 0xffffffff;

const TrieNode = extern struct {
    /// The first node after this one's subtree.
    next: u32,
    /// The string that ends here, or `none`.
    entry: u32,
    /// Bytes from the start of a string to this node, itself included.
    depth: u16,
    byte: u8,
    /// Other entries have the same string; see `twins` of `Trie.create`.
    twinned: bool = false,
    /// Its children by byte, or `none`: only of nodes with many.
    table: u32 = none,
};

/// The children of a node with many, so that those that are read are found without looking at the others.
pub const Table = struct {
    /// Bit set of their bytes.
    bytes: [4]u64,
    /// Where they begin in `Trie.children`.
    start: u32,

    pub const children_min = 6;

    fn child(self: *const Table, children: []const u32, byte: u8) u32 {
        const bit = @as(u64, 1) << @intCast(byte & 63);
        if (self.bytes[byte >> 6] & bit == 0) return none;
        return children[self.start + self.rank(byte >> 6, bit)];
    }

    /// How many of its bytes come before one.
    fn rank(self: *const Table, word: u32, bit: u64) u32 {
        var count: u32 = @popCount(self.bytes[word] & (bit - 1));
        for (self.bytes[0..word]) |lower| count += @popCount(lower);
        return count;
    }

    /// The first child from this byte on whose byte is in `live`, or `none`.
    pub fn find(self: *const Table, children: []const u32, live: *const [4]u64, from: u32) u32 {
        var word = from >> 6;
        if (word == 4) return none;
        var bits = self.bytes[word] & live[word] & (~@as(u64, 0) << @intCast(from & 63));
        while (bits == 0) {
            word += 1;
            if (word == 4) return none;
            bits = self.bytes[word] & live[word];
        }
        return children[self.start + self.rank(word, bits & (~bits +% 1))];
    }
};

pub const Trie = struct {
    pub const Node = TrieNode;

    nodes: []const TrieNode,
    /// The node of each first byte, or `none`.
    first: *const [256]u32,
    /// The node of each pair of first bytes, or `none`; null in small tries.
    second: ?*const [65536]u32,
    tables: []const Table,
    children: []const u32,
    /// Of the first bytes.
    root_table: u32,
    /// Bytes of the longest string.
    depth_max: u32,

    /// `entries` index `strings` and need not be sorted; of equal strings the lowest entry is kept in the trie and the others hang on
    /// it through `twins` (indexed by entry, ended by `none`), if given. Empty strings are left out. No string is longer than 65,535 bytes.
    pub fn create(gpa: Allocator, strings: Strings, entries: []const u32, twins: ?[]u32, with_second: bool) error{OutOfMemory}!Trie {
        const keys = try gpa.alloc(Key, entries.len);
        defer gpa.free(keys);
        var bytes_total: usize = 0;
        for (keys, entries) |*key, entry| {
            const string = strings.get(entry);
            bytes_total += string.len;
            key.* = .{ .prefix = prefixOf(string), .entry = entry };
        }
        std.mem.sortUnstable(Key, keys, strings, Key.lessThan);

        var nodes: std.ArrayList(TrieNode) = .empty;
        errdefer nodes.deinit(gpa);
        try nodes.ensureTotalCapacity(gpa, @min(bytes_total, 4 * entries.len + 64));
        var open: std.ArrayList(u32) = .empty; // nodes from the root to the last one made
        defer open.deinit(gpa);
        var previous: []const u8 = "";
        var depth_max: usize = 0;
        for (keys) |key| {
            const string = strings.get(key.entry);
            if (string.len == 0) continue;
            std.debug.assert(string.len <= std.math.maxInt(u16));
            depth_max = @max(depth_max, string.len);
            const shared = std.mem.findDiff(u8, previous, string) orelse {
                const last = &nodes.items[open.items[string.len - 1]];
                last.twinned = true;
                if (twins) |chain| {
                    chain[key.entry] = chain[last.entry];
                    chain[last.entry] = key.entry;
                }
                continue;
            };
            while (open.items.len > shared) nodes.items[open.pop().?].next = @intCast(nodes.items.len);
            for (string[shared..], shared + 1..) |byte, depth| {
                try open.append(gpa, @intCast(nodes.items.len));
                try nodes.append(gpa, .{ .next = none, .entry = none, .depth = @intCast(depth), .byte = byte });
            }
            nodes.items[nodes.items.len - 1].entry = key.entry;
            previous = string;
        }
        while (open.pop()) |node| nodes.items[node].next = @intCast(nodes.items.len);

        const first = try gpa.create([256]u32);
        errdefer gpa.destroy(first);
        first.* = @splat(none);
        const second: ?*[65536]u32 = if (with_second) try gpa.create([65536]u32) else null;
        errdefer if (second) |table| gpa.destroy(table);
        if (second) |table| table.* = @splat(none);
        const owned = try nodes.toOwnedSlice(gpa);
        var at: u32 = 0;
        while (at < owned.len) : (at = owned[at].next) {
            first[owned[at].byte] = at;
            const table = second orelse continue;
            var child = at + 1;
            while (child < owned[at].next) : (child = owned[child].next) table[@as(usize, owned[at].byte) << 8 | owned[child].byte] = child;
        }
        var tables: std.ArrayList(Table) = .empty;
        errdefer tables.deinit(gpa);
        var children: std.ArrayList(u32) = .empty;
        errdefer children.deinit(gpa);
        for (owned, 1..) |*node, child| node.table = try tabulate(gpa, owned[0..node.next], @intCast(child), Table.children_min, &tables, &children);
        const root_table = try tabulate(gpa, owned, 0, 0, &tables, &children);
        const owned_tables = try tables.toOwnedSlice(gpa);
        errdefer gpa.free(owned_tables);
        return .{
            .nodes = owned,
            .first = first,
            .second = second,
            .tables = owned_tables,
            .children = try children.toOwnedSlice(gpa),
            .root_table = root_table,
            .depth_max = @intCast(depth_max),
        };
    }

    /// The table of the siblings from `from` to the end of `nodes`, if they are so many.
    fn tabulate(gpa: Allocator, nodes: []const TrieNode, from: u32, least: usize, tables: *std.ArrayList(Table), children: *std.ArrayList(u32)) error{OutOfMemory}!u32 {
        const start = children.items.len;
        var bytes: [4]u64 = @splat(0);
        var child = from;
        while (child < nodes.len) : (child = nodes[child].next) {
            try children.append(gpa, child);
            bytes[nodes[child].byte >> 6] |= @as(u64, 1) << @intCast(nodes[child].byte & 63);
        }
        if (children.items.len - start < least) {
            children.shrinkRetainingCapacity(start);
            return none;
        }
        try tables.append(gpa, .{ .bytes = bytes, .start = @intCast(start) });
        return @intCast(tables.items.len - 1);
    }

    pub fn destroy(self: *Trie, gpa: Allocator) void {
        gpa.free(self.nodes);
        gpa.free(self.tables);
        gpa.free(self.children);
        gpa.destroy(self.first);
        if (self.second) |table| gpa.destroy(table);
    }

    /// Calls `found(entry, length)` for each string that `text` begins with, shortest first.
    pub fn prefixes(self: *const Trie, text: []const u8, context: anytype) void {
        if (text.len == 0) return;
        var node = self.first[text[0]];
        if (node == none) return;
        var length: u32 = 1;
        while (true) {
            if (self.nodes[node].entry != none) context.found(self.nodes[node].entry, length);
            if (length == text.len) return;
            node = if (length == 1 and self.second != null)
                self.second.?[@as(usize, text[0]) << 8 | text[1]]
            else
                self.childOf(node, text[length]);
            if (node == none) return;
            length += 1;
        }
    }

    /// Of a node with a table: its first child from a byte on whose byte is in `live`, or `end`.
    pub inline fn nextRead(self: *const Trie, table: u32, live: *const [4]u64, byte: u32, end: u32) u32 {
        if (byte > 255) return end;
        const found = self.tables[table].find(self.children, live, byte);
        return if (found == none) end else found;
    }

    pub fn childOf(self: *const Trie, node: u32, byte: u8) u32 {
        if (self.nodes[node].table != none) return self.tables[self.nodes[node].table].child(self.children, byte);
        var at = node + 1;
        const end = self.nodes[node].next;
        while (at < end) : (at = self.nodes[at].next) {
            if (self.nodes[at].byte == byte) return at;
            if (self.nodes[at].byte > byte) break;
        }
        return none;
    }
};

/// Byte strings one after another, with their offsets (one more than there are strings).
pub const Strings = struct {
    bytes: []const u8,
    offsets: []const u32,

    pub fn get(self: Strings, index: u32) []const u8 {
        return self.bytes[self.offsets[index]..self.offsets[index + 1]];
    }
};

const Key = struct {
    /// The first eight bytes, big-endian, padded with zeros: most comparisons end here.
    prefix: u64,
    entry: u32,

    fn lessThan(strings: Strings, a: Key, b: Key) bool {
        if (a.prefix != b.prefix) return a.prefix < b.prefix;
        return switch (std.mem.order(u8, strings.get(a.entry), strings.get(b.entry))) {
            .lt => true,
            .gt => false,
            .eq => a.entry < b.entry,
        };
    }
};

fn prefixOf(string: []const u8) u64 {
    var prefix: [8]u8 = @splat(0);
    const length = @min(string.len, prefix.len);
    @memcpy(prefix[0..length], string[0..length]);
    return std.mem.readInt(u64, &prefix, .big);
}

test "a trie holds exactly its strings, with twins chained" {
    const gpa = std.testing.allocator;
    const strings: Strings = .{ .bytes = "babcaab" ++ "ab" ++ "b", .offsets = &.{ 0, 1, 4, 5, 7, 9, 10, 10 } }; // b abc a ab ab b ""
    var twins: [7]u32 = @splat(none);
    var trie = try Trie.create(gpa, strings, &.{ 0, 1, 2, 3, 4, 5, 6 }, &twins, true);
    defer trie.destroy(gpa);
    try std.testing.expectEqual(4, trie.nodes.len);
    try std.testing.expectEqual(3, trie.depth_max);
    try std.testing.expectEqualSlices(u32, &.{ 5, none, none, 4, none, none, none }, &twins);
    const Collector = struct {
        list: std.ArrayList([2]u32) = .empty,
        fn found(self: *@This(), entry: u32, length: u32) void {
            self.list.appendAssumeCapacity(.{ entry, length });
        }
    };
    var buffer: [8][2]u32 = undefined;
    var collector: Collector = .{ .list = .initBuffer(&buffer) };
    trie.prefixes("abcd", &collector);
    try std.testing.expectEqualSlices([2]u32, &.{ .{ 2, 1 }, .{ 3, 2 }, .{ 1, 3 } }, collector.list.items);
}
