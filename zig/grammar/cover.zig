//! Whether and at what cost an object whose members are counted can be finished: required keys, counters still owed, and the least and
//! most members have to be met together, so every set of members to come is weighed, by dynamic programming over the keys that are left,
//! with what has been counted and how many members there are as its state. What cannot matter is left out before, as for any cover: what is
//! not owed, ways that count no more than others and cost no less, and counters that are met by whatever meets another one.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");
const object_room = @import("object.zig");
const Object = object_room.Object;
const Option = @import("array.zig").Option;
const Counts = @import("counts.zig").Counts;
const spelling = @import("spelling.zig");
const add = spelling.add;

const none = ir.none;
const unreachable_cost = spelling.unreachable_cost;

/// Tokens of the pieces of an object.
pub const Prices = struct {
    comma: u32,
    brace: u32,
    quote: u32,
    quote_colon: u32,
    /// Characters that are tokens by themselves.
    width: u32,

    /// Of a key of a class unlike `known` others, from its opening quote to its colon, at most.
    pub fn newKey(self: *const Prices, class: *const object_room.KeyClass, known: u32) u32 {
        return add(add(self.quote, self.quote_colon), class.loop.newKey(known));
    }
};

pub const Start = struct {
    /// In source order; only for ordered objects.
    position: u32,
    /// Bit set of the sorted keys that are left; only for others.
    left: []const u32,
    counted: u32,
    members: u32,
    /// Keys that a new one has to differ from.
    known: u32,
};

pub const Cover = struct {
    /// Tokens that finish the object after a member.
    after_cost: u32 = unreachable_cost,
    /// Whether nothing more has to come.
    closes: bool = false,
    /// (sorted keys) tokens of the key's value and all that follows; unreachable: it may not come next.
    keys: std.ArrayList(u32) = .empty,
    /// (classes) the same for a key of each.
    classes: std.ArrayList(u32) = .empty,

    /// Keys that may come, in source order.
    items: std.ArrayList(Item) = .empty,
    /// Of the items, then of the classes.
    ways: std.ArrayList(Way) = .empty,
    /// (classes)
    class_ways: std.ArrayList(Span) = .empty,
    digits: [counters_max]Counts.Digit = undefined,
    /// (items + 1, states) what finishing costs with the keys from an item on.
    back: std.ArrayList(u32) = .empty,
    /// (states) what the keys before an item cost.
    front: std.ArrayList(u32) = .empty,
    front_next: std.ArrayList(u32) = .empty,

    const counters_max = 32;
    const Item = struct { key: u32, required: bool, comma_cost: u32, ways: Span };
    const Span = struct { start: u32, end: u32 };
    /// What a value may count and cost.
    const Way = struct {
        counts: u32,
        cost: u32,

        /// As counters have no most, counting more is never worse.
        fn isAsGood(self: Way, other: Way) bool {
            return other.counts & ~self.counts == 0 and self.cost <= other.cost;
        }
    };

    pub fn deinit(self: *Cover, gpa: Allocator) void {
        self.keys.deinit(gpa);
        self.classes.deinit(gpa);
        self.items.deinit(gpa);
        self.ways.deinit(gpa);
        self.class_ways.deinit(gpa);
        self.back.deinit(gpa);
        self.front.deinit(gpa);
        self.front_next.deinit(gpa);
    }

    pub fn solve(self: *Cover, gpa: Allocator, object: *const Object, prices: *const Prices, start: Start) error{OutOfMemory}!void {
        self.after_cost = unreachable_cost;
        self.closes = false;
        self.keys.clearRetainingCapacity();
        try self.keys.appendNTimes(gpa, unreachable_cost, object.properties.len);
        self.classes.clearRetainingCapacity();
        try self.classes.appendNTimes(gpa, unreachable_cost, object.classes.len);
        const required = try self.gather(gpa, object, start) orelse return;
        const grid: Grid = .of(object, self.weighed(object, start.counted), start.members, required);
        try self.back.resize(gpa, (self.items.items.len + 1) * grid.size());
        self.fillLast(object, prices, &grid, start.known);
        var at = self.items.items.len;
        while (at > 0) {
            at -= 1;
            self.fillBack(&grid, at);
        }
        self.closes = required == 0 and grid.isEnough(Grid.start);
        self.after_cost = self.backOf(&grid, 0)[Grid.start];
        if (object.ordered) self.orderedKeys(&grid) else try self.anyKeys(gpa, &grid);
        const after_extra = self.backOf(&grid, if (object.ordered) self.items.items.len else 0);
        if (object.ordered and required > 0) return;
        for (self.classes.items, self.class_ways.items) |*cost, ways| for (self.waysOf(ways)) |way| {
            const next = grid.step(Grid.start, way.counts) orelse continue;
            cost.* = @min(cost.*, add(way.cost, after_extra[next]));
        };
    }

    /// What may come, and what of it counts for what is owed: how many keys are required, or null if one of those is impossible.
    fn gather(self: *Cover, gpa: Allocator, object: *const Object, start: Start) error{OutOfMemory}!?u32 {
        const owed = object.counts.owing(start.counted);
        self.items.clearRetainingCapacity();
        self.ways.clearRetainingCapacity();
        self.class_ways.clearRetainingCapacity();
        var required: u32 = 0;
        for (object.source[if (object.ordered) start.position else 0..]) |key| {
            const property = &object.properties[key];
            if (!object.ordered and start.left[key / 32] >> @intCast(key & 31) & 1 == 0) continue;
            if (property.required) {
                if (!property.offered) return null;
                required += 1;
            }
            if (!property.offered) continue;
            const ways = try self.gatherWays(gpa, property.options, owed);
            try self.items.append(gpa, .{ .key = key, .required = property.required, .comma_cost = property.comma_cost, .ways = ways });
        }
        for (object.classes) |class| try self.class_ways.append(gpa, try self.gatherWays(gpa, class.options, owed));
        return required;
    }

    fn gatherWays(self: *Cover, gpa: Allocator, options: []const Option, owed: u32) error{OutOfMemory}!Span {
        const start = self.ways.items.len;
        try self.ways.ensureUnusedCapacity(gpa, options.len);
        for (options) |option| {
            if (option.cost == unreachable_cost) continue;
            const way: Way = .{ .counts = option.counts & owed, .cost = option.cost };
            const isCovered = for (self.ways.items[start..]) |known| {
                if (known.isAsGood(way)) break true;
            } else false;
            if (isCovered) continue;
            var kept = start;
            for (self.ways.items[start..]) |known| if (!way.isAsGood(known)) {
                self.ways.items[kept] = known;
                kept += 1;
            };
            self.ways.items.len = kept;
            self.ways.appendAssumeCapacity(way);
        }
        return .{ .start = @intCast(start), .end = @intCast(self.ways.items.len) };
    }

    /// What is owed of each counter, without those that are met by whatever meets another one.
    fn weighed(self: *Cover, object: *const Object, counted: u32) Counts {
        const owed = object.counts.owing(counted);
        // (counters) what is counted wherever this one is.
        var implied: [counters_max]u32 = @splat(owed);
        for (self.ways.items) |way| {
            var left = way.counts;
            while (left != 0) : (left &= left - 1) implied[@ctz(left)] &= way.counts;
        }
        var kept = owed;
        var left = owed;
        while (left != 0) : (left &= left - 1) {
            const counter: u5 = @intCast(@ctz(left));
            if (kept >> counter & 1 == 0) continue;
            var others = implied[counter] & kept & ~(@as(u32, 1) << counter);
            while (others != 0) : (others &= others - 1) {
                const other: u5 = @intCast(@ctz(others));
                if (object.counts.need(counted, other) <= object.counts.need(counted, counter)) kept &= ~(@as(u32, 1) << other);
            }
        }
        for (self.ways.items) |*way| way.counts &= kept;
        var size: u32 = 1;
        const digits = self.digits[0..object.counts.digits.len];
        for (digits, 0..) |*digit, counter| {
            const need = if (kept >> @intCast(counter) & 1 != 0) object.counts.need(counted, @intCast(counter)) else 0;
            digit.* = .{ .stride = size, .top = need, .capped = false, .min = need };
            size *= need + 1;
        }
        return .{ .digits = digits, .size = size };
    }

    /// After the declared keys: other keys only.
    fn fillLast(self: *Cover, object: *const Object, prices: *const Prices, grid: *const Grid, known: u32) void {
        const row = self.backOf(grid, self.items.items.len);
        var state = grid.size();
        while (state > 0) {
            state -= 1;
            var least = if (grid.isEnough(state)) prices.brace else unreachable_cost;
            for (object.classes, self.class_ways.items) |*class, ways| {
                const key = add(prices.comma, prices.newKey(class, known +| grid.extras));
                for (self.waysOf(ways)) |way| {
                    const next = grid.step(state, way.counts) orelse continue;
                    if (next != state) least = @min(least, add(add(key, way.cost), row[next]));
                }
            }
            row[state] = least;
        }
    }

    fn fillBack(self: *Cover, grid: *const Grid, at: usize) void {
        const item = &self.items.items[at];
        const row = self.backOf(grid, at);
        const after = self.backOf(grid, at + 1);
        for (row, after, 0..) |*cost, skipped, state| {
            cost.* = if (item.required) unreachable_cost else skipped;
            for (self.waysOf(item.ways)) |way| {
                const next = grid.step(@intCast(state), way.counts) orelse continue;
                cost.* = @min(cost.*, add(add(item.comma_cost, way.cost), after[next]));
            }
        }
    }

    /// In source order no key may come before the last one, nor after a required one.
    fn orderedKeys(self: *Cover, grid: *const Grid) void {
        for (self.items.items, 0..) |item, at| {
            const after = self.backOf(grid, at + 1);
            for (self.waysOf(item.ways)) |way| {
                const next = grid.step(Grid.start, way.counts) orelse continue;
                const cost = &self.keys.items[item.key];
                cost.* = @min(cost.*, add(way.cost, after[next]));
            }
            if (item.required) break;
        }
    }

    /// In any order what follows a key are all the others: those before it from the front, those after it from the back. As it makes no
    /// difference when something is counted, the key is counted between the two.
    fn anyKeys(self: *Cover, gpa: Allocator, grid: *const Grid) error{OutOfMemory}!void {
        self.front.clearRetainingCapacity();
        try self.front.appendNTimes(gpa, unreachable_cost, grid.size());
        self.front.items[Grid.start] = 0;
        for (self.items.items, 0..) |*item, at| {
            const after = self.backOf(grid, at + 1);
            self.front_next.clearRetainingCapacity();
            if (item.required) try self.front_next.appendNTimes(gpa, unreachable_cost, grid.size()) else try self.front_next.appendSlice(gpa, self.front.items);
            const least = &self.keys.items[item.key];
            for (self.front.items, 0..) |before, state| if (before != unreachable_cost) for (self.waysOf(item.ways)) |way| {
                const next = grid.step(@intCast(state), way.counts) orelse continue;
                const cost = add(before, way.cost);
                least.* = @min(least.*, add(cost, after[next]));
                const passed = &self.front_next.items[next];
                passed.* = @min(passed.*, add(item.comma_cost, cost));
            };
            std.mem.swap(std.ArrayList(u32), &self.front, &self.front_next);
        }
    }

    fn waysOf(self: *const Cover, ways: Span) []const Way {
        return self.ways.items[ways.start..ways.end];
    }

    fn backOf(self: *Cover, grid: *const Grid, at: usize) []u32 {
        return self.back.items[at * grid.size() ..][0..grid.size()];
    }
};

/// The states: a vector of what was counted from the start on, and how many members were added, as far as either matters. State
/// v × levels + l.
pub const Grid = struct {
    counts: Counts,
    levels: u32,
    /// Members that are owed.
    least: u32,
    /// Whether there may be no more members than levels tell apart.
    bounded: bool,
    /// Members that others than the declared ones are good for, at most.
    extras: u32,

    const start: u32 = 0;

    fn of(object: *const Object, counts: Counts, members: u32, required: u32) Grid {
        const owed = counts.owed(Counts.zero);
        const least = object.members_min -| members;
        // No shortest end needs more members than this, so a bound above it does not matter.
        const wanted = required +| owed +| least;
        const most = if (object.members_max == none) none else object.members_max - members;
        const bounded = most <= wanted;
        return .{ .counts = counts, .levels = if (bounded) most + 1 else least + 1, .least = least, .bounded = bounded, .extras = owed +| least };
    }

    /// Of an object with nothing in it yet; what it takes to weigh it, at most.
    pub fn entries(object: *const Object) u64 {
        var required: u32 = 0;
        for (object.properties) |property| required += @intFromBool(property.required);
        const grid: Grid = .of(object, object.counts, 0, required);
        return @as(u64, object.properties.len + 1) * grid.size();
    }

    fn size(self: *const Grid) u32 {
        return self.counts.size * self.levels;
    }

    /// One member more, which counts so much; null if there may be none.
    fn step(self: *const Grid, state: u32, counts: u32) ?u32 {
        const level = state % self.levels;
        const next = if (level + 1 < self.levels) level + 1 else if (self.bounded) return null else level;
        const counted = self.counts.add(state / self.levels, counts) orelse return null;
        return counted * self.levels + next;
    }

    fn isEnough(self: *const Grid, state: u32) bool {
        return state % self.levels >= self.least and self.counts.isMet(state / self.levels);
    }
};
