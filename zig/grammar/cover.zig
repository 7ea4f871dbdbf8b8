//! Whether and at what cost an object whose members are counted can be finished: required keys, counters still owed, and the least and
//! most members have to be met together, so every set of members to come is weighed, by dynamic programming over the keys that are left,
//! with what has been counted and how many members there are as its state. What cannot matter is left out before, as for any cover: what is
//! not owed, ways that count no more than others and cost no less, and counters that are met by whatever meets another one. Where it does not
//! matter how many members there are, counters that no key has in common are weighed apart.
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
    parts: std.ArrayList(Part) = .empty,
    /// Of each part (items + 1, states): what meeting it costs with the keys from an item on.
    back: std.ArrayList(u32) = .empty,
    /// (states) what the keys before an item cost.
    front: std.ArrayList(u32) = .empty,
    front_next: std.ArrayList(u32) = .empty,

    const counters_max = 32;
    const Item = struct {
        key: u32,
        required: bool,
        comma_cost: u32,
        ways: Span,
        part: u8 = 0,

        fn comesBefore(_: void, a: Item, b: Item) bool {
            return a.part < b.part;
        }
    };
    /// Items and counters that have nothing to do with any others; `back`: where its table begins.
    const Part = struct {
        counters: u32,
        items: Span,
        grid: Grid,
        back: usize,

        /// Whether it matters to this part what counts so much.
        fn takes(self: *const Part, counts: u32) bool {
            return self.counters == all_counters or counts & self.counters != 0;
        }
    };
    const all_counters: u32 = 0xffffffff;
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
        self.parts.deinit(gpa);
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
        self.weighOnly(self.essential(object, start.counted), object, start.counted);
        const bounds: Bounds = .of(object, self.owed(object), start.members, required);
        self.closes = required == 0 and bounds.owed == 0 and bounds.least == 0;
        try self.divide(gpa, object, &bounds);
        var total = prices.brace;
        const members = bounds.owed +| bounds.least;
        for (self.parts.items) |*part| {
            self.fillLast(object, prices, part, start.known +| members);
            var at = part.items.end;
            while (at > part.items.start) {
                at -= 1;
                self.fillBack(part, at);
            }
            total = add(total, self.backOf(part, part.items.start)[Grid.start]);
        }
        // What cannot be met as a whole cannot be met with any key either.
        if (total == unreachable_cost) return;
        self.after_cost = total;
        for (self.parts.items) |*part| {
            const elsewhere = total - self.backOf(part, part.items.start)[Grid.start];
            if (object.ordered) self.orderedKeys(part, elsewhere) else try self.anyKeys(gpa, part, elsewhere);
        }
        if (object.ordered and required > 0) return;
        const dearer = spelling.times(members, dearerKey(object, prices, start.known +| members));
        for (self.classes.items, self.class_ways.items) |*cost, ways| for (self.waysOf(ways)) |way| {
            cost.* = @min(cost.*, add(way.cost, self.afterExtra(object, way.counts, dearer)));
        };
    }

    /// What a key unlike one more than so many costs more, at most.
    fn dearerKey(object: *const Object, prices: *const Prices, known: u32) u32 {
        var most: u32 = 0;
        for (object.classes) |*class| most = @max(most, prices.newKey(class, known +| 1) -| prices.newKey(class, known));
        return most;
    }

    /// What finishing costs after a key that is not declared and counts so much; `dearer`: what it costs more where there is one more key
    /// and as much is owed.
    fn afterExtra(self: *const Cover, object: *const Object, counts: u32, dearer: u32) u32 {
        const part = for (self.parts.items) |*part| {
            if (part.takes(counts)) break part;
        } else return add(self.after_cost, dearer);
        const first = self.backOf(part, part.items.start);
        const next = part.grid.step(Grid.start, counts) orelse return unreachable_cost;
        const after = self.backOf(part, if (object.ordered) part.items.end else part.items.start);
        const is_owed = part.grid.bounds.least > 0 or next / part.grid.bounds.levels > 0;
        return add(add(self.after_cost - first[Grid.start], after[next]), if (is_owed) 0 else dearer);
    }

    /// What may come, and what of it counts for what is owed: how many keys are required, or null if one of those is impossible.
    fn gather(self: *Cover, gpa: Allocator, object: *const Object, start: Start) error{OutOfMemory}!?u32 {
        const owing = object.counts.owing(start.counted);
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
            const ways = try self.gatherWays(gpa, property.options, owing);
            try self.items.append(gpa, .{ .key = key, .required = property.required, .comma_cost = property.comma_cost, .ways = ways });
        }
        for (object.classes) |class| try self.class_ways.append(gpa, try self.gatherWays(gpa, class.options, owing));
        return required;
    }

    fn gatherWays(self: *Cover, gpa: Allocator, options: []const Option, owing: u32) error{OutOfMemory}!Span {
        const start = self.ways.items.len;
        try self.ways.ensureUnusedCapacity(gpa, options.len);
        for (options) |option| {
            if (option.cost == unreachable_cost) continue;
            const way: Way = .{ .counts = option.counts & owing, .cost = option.cost };
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

    /// The counters that are owed, without those that are met by whatever meets another one.
    fn essential(self: *const Cover, object: *const Object, counted: u32) u32 {
        const owing = object.counts.owing(counted);
        // (counters) what is counted wherever this one is.
        var implied: [counters_max]u32 = @splat(owing);
        for (self.ways.items) |way| {
            var left = way.counts;
            while (left != 0) : (left &= left - 1) implied[@ctz(left)] &= way.counts;
        }
        var kept = owing;
        var left = owing;
        while (left != 0) : (left &= left - 1) {
            const counter: u5 = @intCast(@ctz(left));
            if (kept >> counter & 1 == 0) continue;
            var others = implied[counter] & kept & ~(@as(u32, 1) << counter);
            while (others != 0) : (others &= others - 1) {
                const other: u5 = @intCast(@ctz(others));
                if (object.counts.need(counted, other) <= object.counts.need(counted, counter)) kept &= ~(@as(u32, 1) << other);
            }
        }
        return kept;
    }

    /// Makes a digit of each of these counters, and forgets the others.
    fn weighOnly(self: *Cover, counters: u32, object: *const Object, counted: u32) void {
        for (self.ways.items) |*way| way.counts &= counters;
        for (self.digits[0..object.counts.digits.len], 0..) |*digit, counter| {
            const need = if (counters >> @intCast(counter) & 1 != 0) object.counts.need(counted, @intCast(counter)) else 0;
            digit.* = .{ .stride = 1, .top = need, .capped = false, .min = need };
        }
    }

    fn owed(self: *const Cover, object: *const Object) u32 {
        var sum: u32 = 0;
        for (self.digits[0..object.counts.digits.len]) |digit| sum +|= digit.min;
        return sum;
    }

    /// Makes the parts, and the room for their tables.
    fn divide(self: *Cover, gpa: Allocator, object: *const Object, bounds: *const Bounds) error{OutOfMemory}!void {
        var masks: Masks = .{};
        if (object.ordered or bounds.areFelt()) masks.join(all_counters) else {
            for (self.items.items) |item| masks.join(self.countsOf(item));
            for (self.class_ways.items) |ways| for (self.waysOf(ways)) |way| masks.join(way.counts);
            // What nothing counts has a part of its own, which cannot be met; and so have the items that count nothing.
            for (self.digits[0..object.counts.digits.len], 0..) |digit, counter| {
                if (digit.min > 0) masks.join(@as(u32, 1) << @intCast(counter));
            }
            masks.add(0);
        }
        for (self.items.items) |*item| item.part = masks.indexOf(self.countsOf(item.*));
        if (masks.len > 1) std.mem.sort(Item, self.items.items, {}, Item.comesBefore);
        self.parts.clearRetainingCapacity();
        var back: usize = 0;
        var start: u32 = 0;
        for (masks.all[0..masks.len], 0..) |counters, index| {
            var end = start;
            while (end < self.items.items.len and self.items.items[end].part == index) end += 1;
            const grid: Grid = .{ .counts = self.countsAmong(object, counters), .bounds = bounds.* };
            try self.parts.append(gpa, .{ .counters = counters, .items = .{ .start = start, .end = end }, .grid = grid, .back = back });
            back += (end - start + 1) * grid.size();
            start = end;
        }
        try self.back.resize(gpa, back);
    }

    /// Whatever some way of the item counts.
    fn countsOf(self: *const Cover, item: Item) u32 {
        var counts: u32 = 0;
        for (self.waysOf(item.ways)) |way| counts |= way.counts;
        return counts;
    }

    fn countsAmong(self: *Cover, object: *const Object, counters: u32) Counts {
        const digits = self.digits[0..object.counts.digits.len];
        var size: u32 = 1;
        for (digits, 0..) |*digit, counter| if (counters >> @intCast(counter) & 1 != 0) {
            digit.stride = size;
            size *= digit.top + 1;
        };
        return .{ .digits = digits, .size = size };
    }

    /// After the declared keys: other keys only, unlike so many.
    fn fillLast(self: *Cover, object: *const Object, prices: *const Prices, part: *const Part, known: u32) void {
        const grid = &part.grid;
        const row = self.backOf(part, part.items.end);
        var state = grid.size();
        while (state > 0) {
            state -= 1;
            var least = if (grid.isEnough(state)) 0 else unreachable_cost;
            for (object.classes, self.class_ways.items) |*class, ways| {
                const key = add(prices.comma, prices.newKey(class, known));
                for (self.waysOf(ways)) |way| {
                    if (!part.takes(way.counts)) continue;
                    const next = grid.step(state, way.counts) orelse continue;
                    if (next != state) least = @min(least, add(add(key, way.cost), row[next]));
                }
            }
            row[state] = least;
        }
    }

    fn fillBack(self: *Cover, part: *const Part, at: u32) void {
        const item = &self.items.items[at];
        const row = self.backOf(part, at);
        const after = self.backOf(part, at + 1);
        for (row, after, 0..) |*cost, skipped, state| {
            cost.* = if (item.required) unreachable_cost else skipped;
            for (self.waysOf(item.ways)) |way| {
                const next = part.grid.step(@intCast(state), way.counts) orelse continue;
                cost.* = @min(cost.*, add(add(item.comma_cost, way.cost), after[next]));
            }
        }
    }

    /// In source order no key may come before the last one, nor after a required one.
    fn orderedKeys(self: *Cover, part: *const Part, elsewhere: u32) void {
        for (self.items.items[part.items.start..part.items.end], part.items.start..) |item, at| {
            const after = self.backOf(part, at + 1);
            for (self.waysOf(item.ways)) |way| {
                const next = part.grid.step(Grid.start, way.counts) orelse continue;
                const cost = &self.keys.items[item.key];
                cost.* = @min(cost.*, add(add(way.cost, after[next]), elsewhere));
            }
            if (item.required) break;
        }
    }

    /// In any order what follows a key are all the others: those before it from the front, those after it from the back. As it makes no
    /// difference when something is counted, the key is counted between the two.
    fn anyKeys(self: *Cover, gpa: Allocator, part: *const Part, elsewhere: u32) error{OutOfMemory}!void {
        self.front.clearRetainingCapacity();
        try self.front.appendNTimes(gpa, unreachable_cost, part.grid.size());
        self.front.items[Grid.start] = elsewhere;
        for (self.items.items[part.items.start..part.items.end], part.items.start..) |*item, at| {
            const after = self.backOf(part, at + 1);
            self.front_next.clearRetainingCapacity();
            if (item.required) try self.front_next.appendNTimes(gpa, unreachable_cost, part.grid.size()) else try self.front_next.appendSlice(gpa, self.front.items);
            const least = &self.keys.items[item.key];
            for (self.front.items, 0..) |before, state| if (before != unreachable_cost) for (self.waysOf(item.ways)) |way| {
                const next = part.grid.step(@intCast(state), way.counts) orelse continue;
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

    fn backOf(self: *const Cover, part: *const Part, at: usize) []u32 {
        const size = part.grid.size();
        return self.back.items[part.back + (at - part.items.start) * size ..][0..size];
    }
};

/// Sets of counters that have nothing in common.
const Masks = struct {
    all: [Cover.counters_max + 1]u32 = undefined,
    len: u8 = 0,

    fn add(self: *Masks, mask: u32) void {
        self.all[self.len] = mask;
        self.len += 1;
    }

    /// Makes one set of all that have some of these.
    fn join(self: *Masks, counters: u32) void {
        if (counters == 0) return;
        var joined = counters;
        var left: u8 = 0;
        for (self.all[0..self.len]) |mask| if (mask & counters != 0) {
            joined |= mask;
        } else {
            self.all[left] = mask;
            left += 1;
        };
        self.len = left;
        self.add(joined);
    }

    /// The set of these, or the last one.
    fn indexOf(self: *const Masks, counters: u32) u8 {
        return for (self.all[0..self.len], 0..) |mask, index| {
            if (mask & counters != 0) break @intCast(index);
        } else self.len - 1;
    }
};

/// How many members have to come, and may, as far as it matters.
const Bounds = struct {
    owed: u32,
    /// Members that are owed.
    least: u32,
    /// Members that are told apart.
    levels: u32,
    /// Whether there may be no more members than levels tell apart.
    bounded: bool,

    fn of(object: *const Object, owed: u32, members: u32, required: u32) Bounds {
        const least = object.members_min -| members;
        // No shortest end needs more members than this, so a bound above it does not matter.
        const wanted = required +| owed +| least;
        const most = if (object.members_max == none) none else object.members_max - members;
        const bounded = most != none and most <= wanted;
        return .{ .owed = owed, .least = least, .levels = (if (bounded) most else least) +| 1, .bounded = bounded };
    }

    fn areFelt(self: *const Bounds) bool {
        return self.levels > 1 or self.bounded;
    }
};

/// The states: a vector of what was counted from the start on, and how many members were added, as far as either matters. State
/// v × levels + l.
pub const Grid = struct {
    counts: Counts,
    bounds: Bounds,

    const start: u32 = 0;

    /// Of an object with nothing in it yet; what it takes to weigh it, at most.
    pub fn entries(object: *const Object) u64 {
        var required: u32 = 0;
        for (object.properties) |property| required += @intFromBool(property.required);
        const grid: Grid = .{ .counts = object.counts, .bounds = .of(object, object.counts.owed(Counts.zero), 0, required) };
        return (object.properties.len + 1) *| @as(u64, grid.counts.size) *| grid.bounds.levels;
    }

    fn size(self: *const Grid) u32 {
        return self.counts.size * self.bounds.levels;
    }

    /// One member more, which counts so much; null if there may be none.
    fn step(self: *const Grid, state: u32, counts: u32) ?u32 {
        const levels = self.bounds.levels;
        const level = state % levels;
        const next = if (level + 1 < levels) level + 1 else if (self.bounds.bounded) return null else level;
        const counted = self.counts.add(state / levels, counts) orelse return null;
        return counted * levels + next;
    }

    /// All that is owed is the last vector.
    fn isEnough(self: *const Grid, state: u32) bool {
        return state % self.bounds.levels >= self.bounds.least and state / self.bounds.levels + 1 == self.counts.size;
    }
};
