//! Whether and at what cost an object whose members are counted can be finished: required keys, counters still owed, and the least and
//! most members have to be met together, so every set of members to come is weighed, by dynamic programming over the keys that are left,
//! with what has been counted and how many members there are as its state.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");
const object_room = @import("object.zig");
const Object = object_room.Object;
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

    /// Sorted keys that may come, in order.
    items: std.ArrayList(u32) = .empty,
    /// (items + 1, states) what finishing costs with the keys from an item on.
    back: std.ArrayList(u32) = .empty,
    /// (states) what the keys before an item cost.
    front: std.ArrayList(u32) = .empty,
    front_next: std.ArrayList(u32) = .empty,

    pub fn deinit(self: *Cover, gpa: Allocator) void {
        self.keys.deinit(gpa);
        self.classes.deinit(gpa);
        self.items.deinit(gpa);
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
        self.items.clearRetainingCapacity();
        var required: u32 = 0;
        for (object.source[if (object.ordered) start.position else 0..]) |key| {
            const property = &object.properties[key];
            if (!object.ordered and start.left[key / 32] >> @intCast(key & 31) & 1 == 0) continue;
            if (property.required) {
                if (!property.offered) return;
                required += 1;
            }
            if (property.offered) try self.items.append(gpa, key);
        }
        const grid: Grid = .of(object, start, required);
        try self.back.resize(gpa, (self.items.items.len + 1) * grid.size());
        self.fillLast(object, prices, &grid, start.known);
        var at = self.items.items.len;
        while (at > 0) {
            at -= 1;
            self.fillBack(object, &grid, at);
        }
        self.closes = required == 0 and grid.isEnough(start.counted * grid.levels);
        self.after_cost = self.backOf(&grid, 0)[start.counted * grid.levels];
        if (object.ordered) self.orderedKeys(object, &grid, start) else try self.anyKeys(gpa, object, &grid, start);
        const after_extra = self.backOf(&grid, if (object.ordered) self.items.items.len else 0);
        if (object.ordered and required > 0) return;
        for (object.classes, self.classes.items) |class, *cost| for (class.options) |option| {
            const next = grid.step(start.counted * grid.levels, option.counts) orelse continue;
            cost.* = @min(cost.*, add(option.cost, after_extra[next]));
        };
    }

    /// After the declared keys: other keys only.
    fn fillLast(self: *Cover, object: *const Object, prices: *const Prices, grid: *const Grid, known: u32) void {
        const row = self.backOf(grid, self.items.items.len);
        var state = grid.size();
        while (state > 0) {
            state -= 1;
            var least = if (grid.isEnough(state)) prices.brace else unreachable_cost;
            for (object.classes) |*class| {
                const key = add(prices.comma, prices.newKey(class, known +| grid.extras));
                for (class.options) |option| {
                    const next = grid.step(state, option.counts) orelse continue;
                    if (next != state) least = @min(least, add(add(key, option.cost), row[next]));
                }
            }
            row[state] = least;
        }
    }

    fn fillBack(self: *Cover, object: *const Object, grid: *const Grid, at: usize) void {
        const property = &object.properties[self.items.items[at]];
        const row = self.backOf(grid, at);
        const after = self.backOf(grid, at + 1);
        for (row, after, 0..) |*cost, skipped, state| {
            cost.* = if (property.required) unreachable_cost else skipped;
            for (property.options) |option| {
                const next = grid.step(@intCast(state), option.counts) orelse continue;
                cost.* = @min(cost.*, add(add(property.comma_cost, option.cost), after[next]));
            }
        }
    }

    /// In source order no key may come before the last one, nor after a required one.
    fn orderedKeys(self: *Cover, object: *const Object, grid: *const Grid, start: Start) void {
        for (self.items.items, 0..) |key, at| {
            const after = self.backOf(grid, at + 1);
            for (object.properties[key].options) |option| {
                const next = grid.step(start.counted * grid.levels, option.counts) orelse continue;
                self.keys.items[key] = @min(self.keys.items[key], add(option.cost, after[next]));
            }
            if (object.properties[key].required) break;
        }
    }

    /// In any order what follows a key are all the others: those before it from the front, those after it from the back, once for each
    /// way in which keys count.
    fn anyKeys(self: *Cover, gpa: Allocator, object: *const Object, grid: *const Grid, start: Start) error{OutOfMemory}!void {
        var done: u32 = 0;
        while (self.nextCounts(object, done)) |counts| {
            done = counts + 1;
            if (grid.step(start.counted * grid.levels, counts)) |first| {
                self.front.clearRetainingCapacity();
                try self.front.appendNTimes(gpa, unreachable_cost, grid.size());
                self.front.items[first] = 0;
                for (self.items.items, 0..) |key, at| {
                    const property = &object.properties[key];
                    for (property.options) |option| if (option.counts == counts) {
                        var least = unreachable_cost;
                        for (self.front.items, self.backOf(grid, at + 1)) |before, after| least = @min(least, add(before, after));
                        self.keys.items[key] = @min(self.keys.items[key], add(option.cost, least));
                    };
                    try self.passKey(gpa, property, grid);
                }
            }
            if (counts == none) break;
        }
    }

    fn passKey(self: *Cover, gpa: Allocator, property: *const object_room.Property, grid: *const Grid) error{OutOfMemory}!void {
        self.front_next.clearRetainingCapacity();
        if (property.required) try self.front_next.appendNTimes(gpa, unreachable_cost, grid.size()) else try self.front_next.appendSlice(gpa, self.front.items);
        for (self.front.items, 0..) |before, state| if (before != unreachable_cost) for (property.options) |option| {
            const next = grid.step(@intCast(state), option.counts) orelse continue;
            const cost = &self.front_next.items[next];
            cost.* = @min(cost.*, add(before, add(property.comma_cost, option.cost)));
        };
        std.mem.swap(std.ArrayList(u32), &self.front, &self.front_next);
    }

    /// The least way to count at or above `from` that some key has.
    fn nextCounts(self: *const Cover, object: *const Object, from: u32) ?u32 {
        var least: ?u32 = null;
        for (self.items.items) |key| for (object.properties[key].options) |option| {
            if (option.counts >= from and option.counts <= least orelse none) least = option.counts;
        };
        return least;
    }

    fn backOf(self: *Cover, grid: *const Grid, at: usize) []u32 {
        return self.back.items[at * grid.size() ..][0..grid.size()];
    }
};

/// The states: a vector of counts, and how many members were added, as far as either matters. State v × levels + l.
pub const Grid = struct {
    object: *const Object,
    levels: u32,
    /// Members that are owed.
    least: u32,
    /// Whether there may be no more members than levels tell apart.
    bounded: bool,
    /// Members that others than the declared ones are good for, at most.
    extras: u32,

    fn of(object: *const Object, start: Start, required: u32) Grid {
        const owed = object.counts.owed(start.counted);
        const least = object.members_min -| start.members;
        // No shortest end needs more members than this, so a bound above it does not matter.
        const wanted = required +| owed +| least;
        const most = if (object.members_max == none) none else object.members_max - start.members;
        const bounded = most <= wanted;
        return .{ .object = object, .levels = if (bounded) most + 1 else least + 1, .least = least, .bounded = bounded, .extras = owed +| least };
    }

    /// Of an object with nothing in it yet; what it takes to weigh it.
    pub fn entries(object: *const Object) u64 {
        var required: u32 = 0;
        for (object.properties) |property| required += @intFromBool(property.required);
        const grid: Grid = .of(object, .{ .position = 0, .left = &.{}, .counted = 0, .members = 0, .known = 0 }, required);
        return @as(u64, object.properties.len + 1) * object.counts.size * grid.levels;
    }

    fn size(self: *const Grid) u32 {
        return self.object.counts.size * self.levels;
    }

    /// One member more, which counts so much; null if there may be none.
    fn step(self: *const Grid, state: u32, counts: u32) ?u32 {
        const level = state % self.levels;
        const next = if (level + 1 < self.levels) level + 1 else if (self.bounded) return null else level;
        const counted = self.object.counts.add(state / self.levels, counts) orelse return null;
        return counted * self.levels + next;
    }

    fn isEnough(self: *const Grid, state: u32) bool {
        return state % self.levels >= self.least and self.object.counts.isMet(state / self.levels);
    }
};
