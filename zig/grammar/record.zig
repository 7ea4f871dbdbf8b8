//! Unordered records: each of some items at most once, in any order. What was written already is a bit set, hash-consed.
const std = @import("std");
const Allocator = std.mem.Allocator;
const stdx = @import("../stdx.zig");
const words = stdx.words;
const ir = @import("ir.zig");
const spelling = @import("spelling.zig");

const none = ir.none;
const unreachable_cost = spelling.unreachable_cost;

/// Items that were written, of the records of one graph.
pub const Sets = struct {
    all: std.ArrayList(Span) = .empty,
    words: std.ArrayList(u32) = .empty,
    table: stdx.IdTable = .{},
    scratch: std.ArrayList(u32) = .empty,

    const Span = struct { start: u32, len: u32 };

    pub fn deinit(self: *Sets, gpa: Allocator) void {
        self.all.deinit(gpa);
        self.words.deinit(gpa);
        self.table.deinit(gpa);
        self.scratch.deinit(gpa);
    }

    pub fn get(self: *const Sets, id: u32) []const u32 {
        const span = self.all.items[id];
        return self.words.items[span.start..][0..span.len];
    }

    /// Nothing of a record of so many items.
    pub fn empty(self: *Sets, gpa: Allocator, items: usize) error{OutOfMemory}!u32 {
        self.scratch.clearRetainingCapacity();
        try self.scratch.appendNTimes(gpa, 0, (items + 31) / 32);
        return self.intern(gpa);
    }

    pub fn with(self: *Sets, gpa: Allocator, id: u32, item: u32) error{OutOfMemory}!u32 {
        self.scratch.clearRetainingCapacity();
        try self.scratch.appendSlice(gpa, self.get(id));
        words.set(self.scratch.items, item);
        return self.intern(gpa);
    }

    fn intern(self: *Sets, gpa: Allocator) error{OutOfMemory}!u32 {
        const Context = struct {
            sets: *const Sets,
            pub fn eql(context: @This(), id: u32) bool {
                return std.mem.eql(u32, context.sets.get(id), context.sets.scratch.items);
            }
        };
        const context: Context = .{ .sets = self };
        const hash = stdx.hashWords(self.scratch.items, 0);
        if (self.table.find(hash, context)) |known| return known;
        const id: u32 = @intCast(self.all.items.len);
        try self.all.append(gpa, .{ .start = @intCast(self.words.items.len), .len = @intCast(self.scratch.items.len) });
        try self.words.appendSlice(gpa, self.scratch.items);
        try self.table.insert(gpa, hash, id);
        return id;
    }
};

pub const Record = struct {
    /// Nodes, none of which can be empty.
    items: []const u32,
    /// (items)
    required: []const bool,
    /// A node between two items, or `none`.
    separator: u32,

    /// Tokens that finish a record of which so much was written; `separated`: an item has to come now, and nothing before it.
    pub fn cost(self: *const Record, node_costs: []const u32, written: []const u32, separated: bool) u32 {
        const separator = if (self.separator == none) 0 else node_costs[self.separator];
        var total: u32 = 0;
        var first = separated;
        var least = unreachable_cost;
        for (self.items, self.required, 0..) |item, required, index| {
            if (words.isSet(written, @intCast(index))) continue;
            least = @min(least, node_costs[item]);
            if (!required) continue;
            if (!first) total = spelling.add(total, separator);
            first = false;
            total = spelling.add(total, node_costs[item]);
        }
        // Where nothing is required any more, one item has to follow its separator all the same.
        return if (separated and first) least else total;
    }

    /// Of a whole record.
    pub fn wholeCost(self: *const Record, node_costs: []const u32) u32 {
        var total: u32 = 0;
        var first = true;
        for (self.items, self.required) |item, required| if (required) {
            if (!first and self.separator != none) total = spelling.add(total, node_costs[self.separator]);
            first = false;
            total = spelling.add(total, node_costs[item]);
        };
        return total;
    }

    pub fn mayEnd(self: *const Record, written: []const u32) bool {
        for (self.required, 0..) |required, index| if (required and !words.isSet(written, @intCast(index))) return false;
        return true;
    }
};
