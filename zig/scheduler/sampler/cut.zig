const std = @import("std");
const assert = std.debug.assert;

/// Where a distribution is truncated: of the weights, sorted from the largest down and equal ones by index, the first so many
/// are kept. Kept are all weights whose bits are above `bits`, and the first `ties` of those equal to it.
pub const Cut = struct {
    bits: u32,
    ties: u32,

    /// Keeps every weight above zero.
    pub const none: Cut = .{ .bits = 0, .ties = 0 };

    fn stricter(a: Cut, b: Cut) Cut {
        if (a.bits != b.bits) return if (a.bits > b.bits) a else b;
        return .{ .bits = a.bits, .ties = @min(a.ties, b.ties) };
    }
};

pub const Limits = struct {
    /// Tokens; 0 is off.
    top_k: u32 = 0,
    /// Part of the mass that `top_k` leaves; 1 is off.
    top_p: f32 = 1,
    /// Part of the largest weight; 0 is off.
    min_p: f32 = 0,

    pub fn isOff(limits: Limits) bool {
        return limits.top_k == 0 and limits.top_p >= 1 and limits.min_p <= 0;
    }
};

/// Weights are in [0, 1] and the largest is 1. In this order: the `top_k` largest; of those the fewest whose mass reaches
/// `top_p`, at least one; of those all with at least `min_p`. Linear in the number of weights: floats above zero are ordered as
/// their bits, so three digits of ten bits each find the place, and only weights in the digit where it lies are looked at again.
pub fn find(weights: []const f32, limits: Limits) Cut {
    var cut: Cut = .none;
    if (limits.top_k != 0) cut = byCount(weights, limits.top_k);
    if (limits.top_p < 1) cut = byMass(weights, limits.top_p, cut);
    if (limits.min_p > 0) cut = cut.stricter(.{ .bits = @bitCast(@min(limits.min_p, 1)), .ties = std.math.maxInt(u32) });
    return cut;
}

const digit_bits = 10;
const digits = 1 << digit_bits;
const shifts = [_]u5{ 2 * digit_bits, digit_bits, 0 };
comptime {
    assert(@as(u32, @bitCast(@as(f32, 1))) >> shifts[0] < digits);
}

fn byCount(weights: []const f32, goal: u32) Cut {
    var above: u32 = 0;
    var prefix: u32 = 0;
    for (shifts, 0..) |shift, level| {
        var counts: [digits]u32 = @splat(0);
        for (weights) |weight| {
            const bits: u32 = @bitCast(weight);
            if (bits != 0 and isInside(bits, prefix, level, shift)) counts[digitOf(bits, shift)] += 1;
        }
        var digit: u32 = digits - 1;
        while (above + counts[digit] < goal) : (digit -= 1) {
            above += counts[digit];
            if (digit == 0) return .none; // Fewer weights than asked for; only the first level can end here.
        }
        prefix = prefix << digit_bits | digit;
    }
    return .{ .bits = prefix, .ties = goal - above };
}

/// `within` is a cut already made: only what it keeps counts.
fn byMass(weights: []const f32, part: f32, within: Cut) Cut {
    var above: f64 = 0;
    var prefix: u32 = 0;
    var goal: f64 = 0;
    for (shifts, 0..) |shift, level| {
        var masses: [digits]f64 = @splat(0);
        var lowest: u32 = digits;
        var ties: u32 = within.ties;
        for (weights) |weight| {
            const bits: u32 = @bitCast(weight);
            if (bits < within.bits or bits == 0 or !isInside(bits, prefix, level, shift)) continue;
            if (bits == within.bits) {
                if (ties == 0) continue;
                ties -= 1;
            }
            masses[digitOf(bits, shift)] += weight;
            lowest = @min(lowest, digitOf(bits, shift));
        }
        if (level == 0) {
            for (masses) |mass| goal += mass;
            goal *= part;
        }
        // A digit's mass and the sum of its parts differ by rounding: the search ends at the lowest one at the latest, and never
        // in an empty one.
        var digit: u32 = digits - 1;
        while (digit > lowest and (masses[digit] == 0 or above + masses[digit] < goal)) : (digit -= 1) above += masses[digit];
        prefix = prefix << digit_bits | digit;
    }
    const weight: f64 = @as(f32, @bitCast(prefix));
    const ties: u32 = @trunc(std.math.clamp(@ceil((goal - above) / weight), 1, std.math.maxInt(u32)));
    return within.stricter(.{ .bits = prefix, .ties = ties });
}

fn isInside(bits: u32, prefix: u32, level: usize, shift: u5) bool {
    return level == 0 or bits >> (shift + digit_bits) == prefix;
}

fn digitOf(bits: u32, shift: u5) u32 {
    return bits >> shift & (digits - 1);
}

/// Test oracle: the kept indices by sorting, largest first.
pub fn sortedKept(gpa: std.mem.Allocator, weights: []const f32, limits: Limits) ![]u32 {
    var order: std.ArrayList(u32) = .empty;
    errdefer order.deinit(gpa);
    for (weights, 0..) |weight, i| if (weight > 0) try order.append(gpa, @intCast(i));
    std.mem.sort(u32, order.items, weights, struct {
        fn before(context: []const f32, a: u32, b: u32) bool {
            return context[a] > context[b] or (context[a] == context[b] and a < b);
        }
    }.before);
    if (limits.top_k != 0 and limits.top_k < order.items.len) order.shrinkRetainingCapacity(limits.top_k);
    if (limits.top_p < 1) {
        var total: f64 = 0;
        for (order.items) |i| total += weights[i];
        var mass: f64 = 0;
        for (order.items, 1..) |i, kept| {
            mass += weights[i];
            if (mass >= total * limits.top_p) {
                order.shrinkRetainingCapacity(kept);
                break;
            }
        }
    }
    if (limits.min_p > 0) for (order.items, 0..) |i, kept| if (weights[i] < limits.min_p) {
        order.shrinkRetainingCapacity(kept);
        break;
    };
    return order.toOwnedSlice(gpa);
}

fn cutKept(gpa: std.mem.Allocator, weights: []const f32, cut: Cut) ![]u32 {
    var kept: std.ArrayList(u32) = .empty;
    errdefer kept.deinit(gpa);
    var ties = cut.ties;
    for (weights, 0..) |weight, i| {
        const bits: u32 = @bitCast(weight);
        if (bits < cut.bits or (bits == cut.bits and ties == 0)) continue;
        if (bits == cut.bits) ties -= 1;
        try kept.append(gpa, @intCast(i));
    }
    return kept.toOwnedSlice(gpa);
}

test "cuts equal those of a sorted list" {
    const gpa = std.testing.allocator;
    const seed = 0x7e40;
    errdefer std.debug.print("seed {x}\n", .{seed});
    var prng: std.Random.DefaultPrng = .init(seed);
    const random = prng.random();
    for (0..2000) |_| {
        var storage: [300]f32 = undefined;
        const weights = storage[0..random.intRangeAtMost(usize, 1, storage.len)];
        // Powers of two add up without rounding, and there are many ties; the other half has none to speak of.
        const exact = random.boolean();
        for (weights) |*weight| weight.* = if (random.uintLessThan(u32, 4) == 0)
            0
        else if (exact) std.math.ldexp(@as(f32, 1), -random.intRangeAtMost(i32, 0, 6)) else random.float(f32);
        weights[random.uintLessThan(usize, weights.len)] = 1;
        const limits: Limits = .{
            .top_k = if (random.boolean()) 0 else random.intRangeAtMost(u32, 1, 320),
            .top_p = if (random.boolean()) 1 else random.float(f32),
            .min_p = if (random.boolean()) 0 else random.float(f32) * 0.5,
        };
        const expected = try sortedKept(gpa, weights, limits);
        defer gpa.free(expected);
        std.mem.sort(u32, expected, {}, std.sort.asc(u32));
        const kept = try cutKept(gpa, weights, find(weights, limits));
        defer gpa.free(kept);
        // A sum that meets the goal within rounding may keep one weight more or less.
        if (exact) try std.testing.expectEqualSlices(u32, expected, kept) else {
            const difference = @as(i64, @intCast(expected.len)) - @as(i64, @intCast(kept.len));
            try std.testing.expect(@abs(difference) <= 1);
            if (difference == 0) try std.testing.expectEqualSlices(u32, expected, kept);
        }
    }
}

test "edges: nothing left out, one left" {
    const weights = [_]f32{ 0, 0.5, 1, 0.5, 0.25 };
    try std.testing.expectEqual(Cut.none, find(&weights, .{}));
    try std.testing.expectEqual(Cut.none, find(&weights, .{ .top_k = 9 }));
    const one: Cut = .{ .bits = @bitCast(@as(f32, 1)), .ties = 1 };
    try std.testing.expectEqual(one, find(&weights, .{ .top_k = 1 }));
    try std.testing.expectEqual(one, find(&weights, .{ .top_p = 0 }));
    try std.testing.expectEqual(Cut{ .bits = @bitCast(@as(f32, 0.5)), .ties = 1 }, find(&weights, .{ .top_k = 2 }));
    try std.testing.expectEqual(one.bits, find(&weights, .{ .min_p = 5 }).bits);
}
