//! Arrays: what may stand at each place, and whether and at what cost an array can be finished after so many items. Without counters that
//! is a closed form; with them a table, explored backwards from the last place that matters.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");
const Counts = @import("counts.zig").Counts;
const Unique = @import("unique.zig").Unique;
const spelling = @import("spelling.zig");
const limits = @import("../limits.zig").grammar;

const none = ir.none;
const unreachable_cost = spelling.unreachable_cost;

/// What may stand in a place. `counts`: bit i adds one to counter i.
pub const Option = struct {
    value: u32,
    counts: u32,
    /// What it counts before it is known which of the values it is, in an array without equal items.
    base: u32,
    /// Of the value; unreachable while it is not known.
    cost: u32 = unreachable_cost,
};

/// The least cost of any of them.
pub fn leastCost(options: []const Option) u32 {
    var least = unreachable_cost;
    for (options) |option| least = @min(least, option.cost);
    return least;
}

pub const Array = struct {
    prefix: []const []const Option,
    rest: []const Option,
    min: u32,
    /// No further than items that can be completed; `none`: unbounded.
    max: u32,
    counts: Counts,
    /// Of an array without equal items.
    unique: ?*const Unique = null,
    /// Of `,` and `]`.
    comma_cost: u32,
    close_cost: u32,
    costs: Costs = .{ .plain = .{ .prefix = &.{0}, .rest = unreachable_cost } },

    pub const Costs = union(enum) { plain: Plain, table: Table };

    pub const Plain = struct {
        /// (at most prefix.len + 1) [i]: what the required items from i on cost with the comma before each, as far as they are in `prefix`.
        prefix: []const u32,
        rest: u32,
    };

    pub const Table = struct {
        /// (rows, counts.size) what finishing costs after so many items that counted so much: a row for each place before `tail`, then the
        /// rows of the places from the last one backwards, as far as they differ.
        costs: []const u32,
        tail: u32,
        rows: u32,
    };

    pub fn options(self: *const Array, index: u32) []const Option {
        return if (index < self.prefix.len) self.prefix[index] else self.rest;
    }

    /// What may stand at a place, as far as it is written.
    pub fn places(self: *const Array, index: u32) []const Option {
        return if (self.unique) |unique| unique.options(index) else self.options(index);
    }

    /// Beyond this count all is alike.
    pub fn saturate(self: *const Array, count: u32) u32 {
        return if (self.max == none) @min(count, self.tailStart()) else count;
    }

    /// After so many items that counted so much: tokens that finish the array, or unreachable.
    pub fn costAfter(self: *const Array, count: u32, vector: u32) u32 {
        switch (self.costs) {
            .plain => |plain| {
                const in_prefix: u32 = @intCast(plain.prefix.len - 1);
                const prefix = plain.prefix[@min(count, in_prefix)];
                const beyond = self.min -| @max(count, in_prefix);
                return spelling.add(spelling.add(prefix, spelling.times(beyond, plain.rest)), self.close_cost);
            },
            .table => |table| {
                const row = if (count < table.tail) count else if (self.max == none) table.tail else @min(table.tail + (self.max - count), table.rows - 1);
                return table.costs[row * self.counts.size + vector];
            },
        }
    }

    /// Whether it may be closed after so many items that counted so much.
    pub fn closes(self: *const Array, count: u32, vector: u32) bool {
        return count >= self.min and self.counts.isMet(vector);
    }

    /// After `[`.
    pub fn openCost(self: *const Array) u32 {
        if (self.closes(0, Counts.zero)) return self.close_cost;
        return self.firstCost(0, Counts.zero);
    }

    /// Of an item after so many, and all that follows it; without a comma before it.
    fn firstCost(self: *const Array, count: u32, vector: u32) u32 {
        if (count >= self.max) return unreachable_cost;
        return self.leastItem(self.options(count), vector, Following{ .array = self, .count = count + 1 });
    }

    /// What costs least of some items and what follows each. Of what it can be in an array without equal items, the most counts: it turns
    /// out when it has ended.
    fn leastItem(self: *const Array, choices: []const Option, vector: u32, following: anytype) u32 {
        var least = unreachable_cost;
        var at: usize = 0;
        while (at < choices.len) {
            const first = choices[at];
            var most: ?u32 = null;
            while (at < choices.len and choices[at].value == first.value and choices[at].base == first.base) : (at += 1) {
                const counted = self.counts.add(vector, choices[at].counts) orelse continue;
                if (following.cost(counted) != unreachable_cost) most = @max(most orelse 0, choices[at].cost);
                if (self.unique == null) {
                    at += 1;
                    break;
                }
            }
            if (most) |own| least = @min(least, spelling.add(own, self.mostAfter(vector, first.base, following)));
        }
        return least;
    }

    fn mostAfter(self: *const Array, vector: u32, base: u32, following: anytype) u32 {
        var most: u32 = 0;
        const classes: u5 = if (self.unique) |unique| unique.classes else 0;
        for (0..@as(usize, classes) + 1) |class| {
            const bit = if (class == classes) 0 else self.unique.?.bitOf(@intCast(class));
            const cost = following.cost(self.counts.add(vector, base | bit) orelse continue);
            if (cost != unreachable_cost) most = @max(most, cost);
        }
        return most;
    }

    const Following = struct {
        array: *const Array,
        count: u32,

        fn cost(self: Following, counted: u32) u32 {
            return self.array.costAfter(self.count, counted);
        }
    };

    const Row = struct {
        costs: []const u32,
        /// To come back here costs more than to stay.
        excluded: u32,

        fn cost(self: Row, counted: u32) u32 {
            return if (counted == self.excluded) unreachable_cost else self.costs[counted];
        }
    };

    /// From here on every place is like the next one, but for the end.
    fn tailStart(self: *const Array) u32 {
        return @max(self.min, @as(u32, @intCast(self.prefix.len)));
    }

    /// Works the costs out, with those of the options known.
    pub fn finish(self: *Array, arena: Allocator, budget: *ir.Budget) ir.Error!void {
        if (self.min > self.max) {
            self.costs = .{ .plain = .{ .prefix = &.{unreachable_cost}, .rest = unreachable_cost } };
        } else self.costs = if (self.counts.digits.len == 0) .{ .plain = try self.plainCosts(arena, budget) } else .{ .table = try self.tableCosts(arena, budget) };
    }

    fn plainCosts(self: *Array, arena: Allocator, budget: *ir.Budget) ir.Error!Plain {
        try budget.spend(self.prefix.len);
        const rest = leastCost(self.rest);
        if (rest == unreachable_cost) self.max = @min(self.max, @as(u32, @intCast(self.prefix.len)));
        for (self.prefix, 0..) |place, index| if (leastCost(place) == unreachable_cost) {
            self.max = @min(self.max, @as(u32, @intCast(index)));
            break;
        };
        const required: u32 = @intCast(@min(self.min, self.prefix.len));
        const costs = try arena.alloc(u32, required + 1);
        costs[required] = 0;
        var at = required;
        while (at > 0) {
            at -= 1;
            costs[at] = spelling.add(costs[at + 1], spelling.add(self.comma_cost, leastCost(self.prefix[at])));
        }
        return .{ .prefix = costs, .rest = spelling.add(self.comma_cost, rest) };
    }

    fn tableCosts(self: *const Array, arena: Allocator, budget: *ir.Budget) ir.Error!Table {
        const size = self.counts.size;
        const tail = @min(self.tailStart(), self.max);
        var rows: std.ArrayList(u32) = .empty;
        try self.addRows(arena, &rows, tail + 1, budget);
        const last = rows.items[tail * size ..][0..size];
        // Without a last place, the tail's row leads to itself.
        if (self.max == none) try self.fillRow(last, last, tail, budget) else try self.fillRow(last, null, self.max, budget);
        var row = tail;
        var place = self.max;
        while (self.max != none and place > tail) : (row += 1) {
            place -= 1;
            try self.addRows(arena, &rows, 1, budget);
            const after = rows.items[row * size ..][0..size];
            const here = rows.items[(row + 1) * size ..][0..size];
            try self.fillRow(here, after, place, budget);
            if (std.mem.eql(u32, here, after)) break;
        }
        rows.shrinkRetainingCapacity((row + 1) * size);
        var next = row;
        place = tail;
        while (place > 0) : (next = place) {
            place -= 1;
            try self.fillRow(rows.items[place * size ..][0..size], rows.items[next * size ..][0..size], place, budget);
        }
        return .{ .costs = rows.items, .tail = tail, .rows = row + 1 };
    }

    fn addRows(self: *const Array, arena: Allocator, rows: *std.ArrayList(u32), count: u32, budget: *ir.Budget) ir.Error!void {
        const entries = @as(u64, count) * self.counts.size;
        if (rows.items.len + entries > limits.counted_entries) return budget.refuse(.limit, "an array counts too much over too many places", none);
        try rows.appendNTimes(arena, unreachable_cost, @intCast(entries));
    }

    /// What finishing costs after `place` items, from what it costs after one more; null: there is no more. Adding never lowers a vector,
    /// so from the highest down all that a vector leads to is known, in its own row, too.
    fn fillRow(self: *const Array, row: []u32, next: ?[]const u32, place: u32, budget: *ir.Budget) ir.Error!void {
        const choices: []const Option = if (next == null) &.{} else self.options(place);
        try budget.spend(row.len * (choices.len + 1));
        var vector: u32 = @intCast(row.len);
        while (vector > 0) {
            vector -= 1;
            var least = if (self.closes(place, vector)) self.close_cost else unreachable_cost;
            if (next) |costs| {
                const following: Row = .{ .costs = costs, .excluded = if (costs.ptr == row.ptr) vector else none };
                least = @min(least, spelling.add(self.comma_cost, self.leastItem(choices, vector, following)));
            }
            row[vector] = least;
        }
    }
};
