//! A set of byte strings as its smallest deterministic automaton, built in one pass over the sorted strings (Daciuk, Mihov, Watson and
//! Watson, Incremental Construction of Minimal Acyclic Finite-State Automata, 2000), with what it costs to write the rest of any string
//! from each of its nodes.
const std = @import("std");
const Allocator = std.mem.Allocator;
const stdx = @import("../stdx.zig");
const ir = @import("ir.zig");
const spelling = @import("spelling.zig");
const Speller = spelling.Speller;
const unreachable_cost = spelling.unreachable_cost;

pub const Dawg = struct {
    /// An edge's target has a lower number than its node.
    nodes: []const Node,
    /// Those of one node by rising byte.
    edges: []const Edge,
    /// (nodes) tokens that finish some string from a node on.
    cost: []const u32,
    root: u32,

    pub const none: u32 = 0xffffffff;
    const Node = struct { start: u32, len: u16, ends: bool };
    pub const Edge = struct { byte: u8, target: u32 };

    /// Strings may be empty, and the same more than once. Without any string the root leads nowhere. The result lives in `arena`.
    pub fn create(arena: Allocator, scratch: Allocator, strings: []const []const u8, speller: *const Speller) ir.Error!Dawg {
        const sorted = try scratch.dupe([]const u8, strings);
        defer scratch.free(sorted);
        std.mem.sortUnstable([]const u8, sorted, {}, struct {
            fn lessThan(_: void, a: []const u8, b: []const u8) bool {
                return std.mem.lessThan(u8, a, b);
            }
        }.lessThan);
        var building: Building = .{ .arena = arena, .scratch = scratch };
        defer building.deinit();
        try building.path.append(scratch, .{});
        var previous: []const u8 = "";
        for (sorted) |string| {
            try speller.budget.spend(string.len + 1);
            const shared = std.mem.findDiff(u8, previous, string) orelse string.len;
            try building.closeTo(shared);
            while (building.path.items.len <= string.len) try building.path.append(scratch, .{});
            building.depth = string.len;
            building.text = string;
            building.path.items[string.len].ends = true;
            previous = string;
        }
        try building.closeTo(0);
        const root = try building.keep(&building.path.items[0]);
        const cost = try arena.alloc(u32, building.nodes.items.len);
        const self: Dawg = .{ .nodes = building.nodes.items, .edges = building.edges.items, .cost = cost, .root = root };
        for (cost, 0..) |*known, node| known.* = try self.costOf(scratch, @intCast(node), cost[0..node], speller);
        return self;
    }

    /// The node one byte further, or `none`.
    pub fn child(self: *const Dawg, node: u32, byte: u8) u32 {
        for (self.edgesOf(node)) |edge| {
            if (edge.byte == byte) return edge.target;
            if (edge.byte > byte) break;
        }
        return none;
    }

    pub fn ends(self: *const Dawg, node: u32) bool {
        return self.nodes[node].ends;
    }

    pub fn goesOn(self: *const Dawg, node: u32) bool {
        return self.nodes[node].len > 0;
    }

    pub fn edgesOf(self: *const Dawg, node: u32) []const Edge {
        return self.edges[self.nodes[node].start..][0..self.nodes[node].len];
    }

    /// The least number of tokens from a node to the end of a string; `cost` has those of all nodes it leads to.
    fn costOf(self: *const Dawg, scratch: Allocator, node: u32, cost: []const u32, speller: *const Speller) ir.Error!u32 {
        if (self.nodes[node].ends) return 0;
        const Pair = struct { token: u32, node: u32 };
        const trie = &speller.vocabulary.trie;
        var open: std.ArrayList(Pair) = .empty;
        defer open.deinit(scratch);
        for (self.edgesOf(node)) |edge| {
            const token = trie.first[edge.byte];
            if (token != none) try open.append(scratch, .{ .token = token, .node = edge.target });
        }
        var best = unreachable_cost;
        while (open.pop()) |pair| {
            try speller.budget.spend(1);
            const entry = trie.nodes[pair.token].entry;
            if (cost[pair.node] < best - 1 and entry != none and speller.isText(entry)) best = cost[pair.node] + 1;
            // No token does more than end the string.
            if (best == 1) break;
            for (self.edgesOf(pair.node)) |edge| {
                const token = trie.childOf(pair.token, edge.byte);
                if (token != none) try open.append(scratch, .{ .token = token, .node = edge.target });
            }
        }
        return best;
    }
};

const Building = struct {
    arena: Allocator,
    scratch: Allocator,
    nodes: std.ArrayList(Dawg.Node) = .empty,
    edges: std.ArrayList(Dawg.Edge) = .empty,
    table: stdx.IdTable = .{},
    /// The nodes of the last string from the root on, which more strings may still join; as many as any string had bytes, and one.
    path: std.ArrayList(Open) = .empty,
    /// Bytes of the last string, and the string.
    depth: usize = 0,
    text: []const u8 = "",

    const Open = struct { ends: bool = false, edges: std.ArrayList(Dawg.Edge) = .empty };

    fn deinit(self: *Building) void {
        for (self.path.items) |*open| open.edges.deinit(self.scratch);
        self.path.deinit(self.scratch);
        self.table.deinit(self.scratch);
    }

    /// Keeps the nodes of the last string that are deeper than so many bytes.
    fn closeTo(self: *Building, depth: usize) ir.Error!void {
        while (self.depth > depth) : (self.depth -= 1) {
            const node = try self.keep(&self.path.items[self.depth]);
            const parent = &self.path.items[self.depth - 1];
            try parent.edges.append(self.scratch, .{ .byte = self.text[self.depth - 1], .target = node });
        }
    }

    /// The number of a node whose edges are all known; equal ones have the same.
    fn keep(self: *Building, open: *Open) ir.Error!u32 {
        const context: Context = .{ .building = self, .ends = open.ends, .edges = open.edges.items };
        const hash = Context.hash(open.ends, open.edges.items);
        defer {
            open.ends = false;
            open.edges.clearRetainingCapacity();
        }
        if (self.table.find(hash, context)) |known| return known;
        const id: u32 = @intCast(self.nodes.items.len);
        try self.nodes.append(self.arena, .{ .start = @intCast(self.edges.items.len), .len = @intCast(open.edges.items.len), .ends = open.ends });
        try self.edges.appendSlice(self.arena, open.edges.items);
        try self.table.insert(self.scratch, hash, id);
        return id;
    }

    const Context = struct {
        building: *const Building,
        ends: bool,
        edges: []const Dawg.Edge,

        pub fn eql(self: Context, id: u32) bool {
            const node = self.building.nodes.items[id];
            if (node.ends != self.ends or node.len != self.edges.len) return false;
            for (self.building.edges.items[node.start..][0..node.len], self.edges) |a, b| {
                if (a.byte != b.byte or a.target != b.target) return false;
            }
            return true;
        }

        fn hash(ends: bool, edges: []const Dawg.Edge) u64 {
            var result: u64 = @intFromBool(ends);
            for (edges) |edge| result = stdx.hashWords(&.{ edge.byte, edge.target }, result);
            return result;
        }
    };
};

const testing = std.testing;
const forTest = @import("../vocabulary.zig").forTest;

test "exactly the strings, with as few nodes and tokens as can be" {
    var arena_state: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    const vocabulary = try forTest(testing.allocator, &.{ "a", "b", "ab", "ba", "bb" }, &.{});
    defer vocabulary.destroy(testing.allocator);
    const named = try arena.alloc(u32, vocabulary.words());
    @memset(named, 0);
    errdefer std.debug.print("seed {d}\n", .{testing.random_seed});
    var prng: std.Random.DefaultPrng = .init(testing.random_seed);
    const random = prng.random();
    for (0..300) |_| {
        var refusal: ir.Refusal = .{};
        var budget: ir.Budget = .{ .refusal = &refusal };
        const speller: Speller = .{ .vocabulary = vocabulary, .named = named, .budget = &budget };
        const strings = try arena.alloc([]const u8, random.uintLessThan(usize, 7));
        for (strings) |*string| {
            const bytes = try arena.alloc(u8, random.uintLessThan(usize, 6));
            for (bytes) |*byte| byte.* = "abc"[random.uintLessThan(usize, 3)];
            string.* = bytes;
        }
        const dawg = try Dawg.create(arena, testing.allocator, strings, &speller);
        // No two nodes have the same future.
        for (dawg.nodes, 0..) |a, index| for (dawg.nodes[0..index]) |b| {
            const same = a.ends == b.ends and a.len == b.len and for (dawg.edges[a.start..][0..a.len], dawg.edges[b.start..][0..b.len]) |x, y| {
                if (x.byte != y.byte or x.target != y.target) break false;
            } else true;
            try testing.expect(!same);
        };
        for (0..200) |_| {
            var buffer: [6]u8 = undefined;
            const text = buffer[0..random.uintAtMost(usize, 6)];
            for (text) |*byte| byte.* = "abc"[random.uintLessThan(usize, 3)];
            var node = dawg.root;
            for (text) |byte| {
                if (node != Dawg.none) node = dawg.child(node, byte);
            }
            var least = unreachable_cost;
            var begins = false;
            for (strings) |string| if (std.mem.startsWith(u8, string, text)) {
                begins = true;
                least = @min(least, try speller.cost(string[text.len..]));
            };
            if (text.len > 0) try testing.expectEqual(begins, node != Dawg.none);
            if (begins) try testing.expectEqual(least, dawg.cost[node]);
        }
    }
}
