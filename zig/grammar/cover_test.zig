//! What finishing an object costs, against all ways to go on.
const std = @import("std");
const ir = @import("ir.zig");
const cover_room = @import("cover.zig");
const Cover = cover_room.Cover;
const Counts = @import("counts.zig").Counts;
const object_room = @import("object.zig");
const Object = object_room.Object;
const Option = @import("array.zig").Option;
const spelling = @import("spelling.zig");

const none = ir.none;
const add = spelling.add;
const unreachable_cost = spelling.unreachable_cost;
const prices: cover_room.Prices = .{ .comma = 1, .brace = 1, .quote = 1, .quote_colon = 1, .width = 90 };

test "what finishing an object costs is the least of all ways" {
    const gpa = std.testing.allocator;
    const seed: u64 = std.testing.random_seed;
    errdefer std.debug.print("seed {d}\n", .{seed});
    var prng: std.Random.DefaultPrng = .init(seed);
    var cover: Cover = .{};
    defer cover.deinit(gpa);
    for (0..4000) |_| {
        var arena_state: std.heap.ArenaAllocator = .init(gpa);
        defer arena_state.deinit();
        const random = prng.random();
        const object = try randomObject(arena_state.allocator(), random);
        const start: Place = .{
            .position = if (object.ordered) random.uintLessThan(u32, @intCast(object.properties.len + 1)) else 0,
            .left = if (object.ordered) none else random.int(u32),
            .counted = random.uintLessThan(u32, object.counts.size),
            .members = if (object.members_max == none) random.uintAtMost(u32, object.members_min) else random.uintAtMost(u32, object.members_max),
        };
        try compare(gpa, arena_state.allocator(), &cover, &object, start);
    }
}

test "after one more key that counts for nothing, finishing costs no more than was said" {
    const gpa = std.testing.allocator;
    const seed: u64 = std.testing.random_seed;
    errdefer std.debug.print("seed {d}\n", .{seed});
    var prng: std.Random.DefaultPrng = .init(seed);
    var cover: Cover = .{};
    defer cover.deinit(gpa);
    var compared: usize = 0;
    for (0..4000) |_| {
        var arena_state: std.heap.ArenaAllocator = .init(gpa);
        defer arena_state.deinit();
        const random = prng.random();
        var object = try randomObject(arena_state.allocator(), random);
        object.ordered = false;
        const classes = try arena_state.allocator().dupe(object_room.KeyClass, object.classes);
        for (classes) |*class| class.loop = .{ .base = random.uintAtMost(u32, 3), .step = random.uintAtMost(u32, 3), .width = random.intRangeAtMost(u32, 1, 3) };
        object.classes = classes;
        const counted = random.uintLessThan(u32, object.counts.size);
        const known = random.uintAtMost(u32, 9);
        try cover.solve(gpa, &object, &prices, .{ .position = 0, .left = &.{none}, .counted = counted, .members = 0, .known = known });
        const said = try arena_state.allocator().dupe(u32, cover.classes.items);
        for (object.classes, said) |class, cost| if (cost != unreachable_cost) {
            var least = unreachable_cost;
            for (class.options) |option| {
                const next = object.counts.add(counted, option.counts).?;
                try cover.solve(gpa, &object, &prices, .{ .position = 0, .left = &.{none}, .counted = next, .members = 1, .known = known + 1 });
                least = @min(least, add(option.cost, cover.after_cost));
            }
            try std.testing.expect(least <= cost);
            compared += 1;
        };
    }
    try std.testing.expect(compared > 100);
}

test "what it takes to weigh an object has no bound" {
    const gpa = std.testing.allocator;
    const seed: u64 = std.testing.random_seed;
    errdefer std.debug.print("seed {d}\n", .{seed});
    var prng: std.Random.DefaultPrng = .init(seed);
    for (0..200) |_| {
        var arena_state: std.heap.ArenaAllocator = .init(gpa);
        defer arena_state.deinit();
        var object = try randomObject(arena_state.allocator(), prng.random());
        for ([_]u32{ none - 2, none - 1, none }) |least| for ([_]u32{ none - 1, none }) |most| {
            object.members_min = least;
            object.members_max = most;
            try std.testing.expect(cover_room.Grid.entries(&object) >= least);
        };
    }
}

fn randomObject(arena: std.mem.Allocator, random: std.Random) !Object {
    const counters = try arena.alloc(ir.Counter, random.uintAtMost(usize, 5));
    for (counters) |*counter| counter.* = .{ .min = if (random.uintLessThan(u32, 4) == 0) random.uintAtMost(u32, 2) else 1, .max = none };
    const properties = try arena.alloc(object_room.Property, random.uintAtMost(usize, 5));
    const source = try arena.alloc(u32, properties.len);
    for (properties, source, 0..) |*property, *place, at| {
        const options = try randomOptions(arena, random, counters.len);
        property.* = .{
            .options = options,
            .required = random.uintLessThan(u32, 4) == 0,
            .offered = random.uintLessThan(u32, 16) != 0,
            .source = @intCast(at),
            .start_cost = 2,
            .comma_cost = random.intRangeAtMost(u32, 1, 3),
            .value_cost = 1,
        };
        place.* = @intCast(at);
    }
    const classes = try arena.alloc(object_room.KeyClass, random.uintAtMost(usize, 2));
    for (classes) |*class| class.* = .{
        .keys = none,
        .options = try randomOptions(arena, random, counters.len),
        .value_cost = 1,
        .loop = .{ .base = random.uintAtMost(u32, 3), .step = 0, .width = 1 },
    };
    return .{
        .keys = .{ .nodes = &.{}, .texts = &.{}, .node_cost = &.{} },
        .properties = properties,
        .source = source,
        .classes = classes,
        .ordered = random.boolean(),
        .words = 1,
        .first_required = none,
        .counts = (try Counts.create(arena, counters, 1 << 20)).?,
        .members_min = random.uintAtMost(u32, 3) * random.uintAtMost(u32, 1),
        .members_max = if (random.boolean()) none else random.uintAtMost(u32, 6),
    };
}

fn randomOptions(arena: std.mem.Allocator, random: std.Random, counters: usize) ![]const Option {
    const options = try arena.alloc(Option, random.intRangeAtMost(usize, 1, 4));
    for (options) |*option| {
        // Some count alike, as those do that one rule of a schema made.
        const mask = (@as(u32, 1) << @intCast(counters)) - 1;
        const counts = if (random.boolean()) random.int(u32) else random.int(u32) | random.int(u32) | 3;
        option.* = .{ .value = 0, .counts = counts & mask, .base = 0, .cost = if (random.uintLessThan(u32, 12) == 0) unreachable_cost else random.intRangeAtMost(u32, 1, 4) };
    }
    return options;
}

fn compare(gpa: std.mem.Allocator, arena: std.mem.Allocator, cover: *Cover, object: *const Object, start: Place) !void {
    var ways: Ways = .{ .arena = arena, .object = object };
    try cover.solve(gpa, object, &prices, .{ .position = start.position, .left = &.{start.left}, .counted = start.counted, .members = start.members, .known = 0 });
    try std.testing.expectEqual(try ways.finish(start), cover.after_cost);
    try std.testing.expectEqual(ways.isComplete(start), cover.closes);
    for (object.properties, cover.keys.items, 0..) |property, cost, key| {
        var least = unreachable_cost;
        if (ways.mayCome(start, @intCast(key)) and ways.isPossible(start)) for (property.options) |option| {
            least = @min(least, add(option.cost, try ways.finish(ways.afterKey(start, @intCast(key), option.counts))));
        };
        try std.testing.expectEqual(least, cost);
    }
    for (object.classes, cover.classes.items) |class, cost| {
        var least = unreachable_cost;
        if (ways.extrasMayCome(start) and ways.isPossible(start)) for (class.options) |option| {
            least = @min(least, add(option.cost, try ways.finish(ways.afterExtra(start, option.counts))));
        };
        try std.testing.expectEqual(least, cost);
    }
}

const Place = struct { position: u32, left: u32, counted: u32, members: u32 };

/// Every way to go on, each tried.
const Ways = struct {
    arena: std.mem.Allocator,
    object: *const Object,
    known: std.AutoHashMapUnmanaged(Place, u32) = .empty,

    fn finish(self: *Ways, place: Place) error{OutOfMemory}!u32 {
        if (self.known.get(place)) |known| return known;
        const object = self.object;
        if (object.members_max != none and place.members > object.members_max) return unreachable_cost;
        var least = if (self.isComplete(place)) prices.brace else unreachable_cost;
        for (object.properties, 0..) |property, at| {
            const key: u32 = @intCast(at);
            if (self.mayCome(place, key)) for (property.options) |option| {
                const rest = try self.finish(self.afterKey(place, key, option.counts));
                least = @min(least, add(add(property.comma_cost, option.cost), rest));
            };
        }
        if (self.extrasMayCome(place)) for (object.classes) |class| for (class.options) |option| {
            const next = self.afterExtra(place, option.counts);
            // More of what changes nothing only costs.
            if (next.counted == place.counted and place.members >= object.members_min) continue;
            least = @min(least, add(add(add(prices.comma, prices.newKey(&class, 0)), option.cost), try self.finish(next)));
        };
        try self.known.put(self.arena, place, least);
        return least;
    }

    fn isLeft(self: *const Ways, place: Place, key: u32) bool {
        return key >= place.position and (self.object.ordered or place.left >> @intCast(key) & 1 != 0);
    }

    fn owesKey(self: *const Ways, place: Place, end: u32) bool {
        return for (self.object.properties[0..end], 0..) |property, key| {
            if (property.required and self.isLeft(place, @intCast(key))) break true;
        } else false;
    }

    fn mayCome(self: *const Ways, place: Place, key: u32) bool {
        return self.object.properties[key].offered and self.isLeft(place, key) and !(self.object.ordered and self.owesKey(place, key));
    }

    fn extrasMayCome(self: *const Ways, place: Place) bool {
        return !self.object.ordered or !self.owesKey(place, @intCast(self.object.properties.len));
    }

    /// No required key is one that cannot come.
    fn isPossible(self: *const Ways, place: Place) bool {
        return for (self.object.properties, 0..) |property, key| {
            if (property.required and !property.offered and self.isLeft(place, @intCast(key))) break false;
        } else true;
    }

    fn isComplete(self: *const Ways, place: Place) bool {
        return place.members >= self.object.members_min and self.object.counts.isMet(place.counted) and
            !self.owesKey(place, @intCast(self.object.properties.len));
    }

    fn afterKey(self: *const Ways, place: Place, key: u32, counts: u32) Place {
        var next = self.after(place, counts);
        if (self.object.ordered) next.position = key + 1 else next.left &= ~(@as(u32, 1) << @intCast(key));
        return next;
    }

    fn afterExtra(self: *const Ways, place: Place, counts: u32) Place {
        var next = self.after(place, counts);
        if (self.object.ordered) next.position = @intCast(self.object.properties.len);
        return next;
    }

    fn after(self: *const Ways, place: Place, counts: u32) Place {
        var next = place;
        next.counted = self.object.counts.add(place.counted, counts).?;
        next.members = self.object.saturate(place.members + 1);
        return next;
    }
};
