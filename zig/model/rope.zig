//! Rotary position embeddings (Su et al., RoFormer): the angles of every position, as tables of cosines and sines that grow with
//! the longest context seen.
const std = @import("std");
const Rope = @import("manifest.zig").Rope;

pub const Angles = struct {
    /// Radians per token, one for each pair of elements.
    frequencies: []const f64,
    /// Multiplies cosines and sines.
    magnitude: f64,
    /// (positions, dimensions): the cosines of a position, then its sines.
    table: std.ArrayList(f32) = .empty,

    pub fn deinit(self: *Angles, gpa: std.mem.Allocator) void {
        self.table.deinit(gpa);
    }

    /// Makes positions 0 … `positions` - 1 readable. Moves what `at` returned.
    pub fn extend(self: *Angles, gpa: std.mem.Allocator, positions: usize) error{OutOfMemory}!void {
        const pairs = self.frequencies.len;
        if (pairs == 0) return;
        const begin = self.table.items.len / (2 * pairs);
        if (begin >= positions) return;
        const new = try self.table.addManyAsSlice(gpa, (positions - begin) * 2 * pairs);
        for (begin..positions, 0..) |position, i| {
            const row = new[i * 2 * pairs ..][0 .. 2 * pairs];
            for (self.frequencies, row[0..pairs], row[pairs..]) |frequency, *cos, *sin| {
                const angle = @as(f64, @floatFromInt(position)) * frequency;
                cos.* = @floatCast(@cos(angle) * self.magnitude);
                sin.* = @floatCast(@sin(angle) * self.magnitude);
            }
        }
    }

    /// Cosines, then sines, of a position.
    pub fn at(self: *const Angles, position: usize) [*]const f32 {
        return self.table.items.ptr + position * 2 * self.frequencies.len;
    }
};

/// `base` is the manifest's own or the local one; `divisors` is the tensor `rope_freqs.weight` (llama 3's scaling), one for each pair.
pub fn angles(arena: std.mem.Allocator, rope: *const Rope, base: f64, is_scaled: bool, divisors: ?[]const f32) error{OutOfMemory}!Angles {
    const frequencies = try arena.alloc(f64, rope.dimensions / 2);
    for (frequencies, 0..) |*frequency, pair| {
        const dimension: f64 = @floatFromInt(2 * pair);
        const own = std.math.pow(f64, base, -dimension / @as(f64, @floatFromInt(rope.dimensions)));
        const stretched = own / rope.factor;
        frequency.* = if (!is_scaled) own else switch (rope.scaling) {
            .none => own,
            .linear => stretched,
            .yarn => blk: {
                const kept = yarnKept(rope, base, @floatFromInt(pair));
                break :blk own * kept + stretched * (1 - kept);
            },
        };
        if (divisors) |list| frequency.* /= list[pair];
    }
    return .{ .frequencies = frequencies, .magnitude = if (is_scaled) rope.attention_factor else 1 };
}

/// How much of a pair's own frequency YaRN keeps (Peng et al., 2023, "NTK-by-parts"): 1 for those that turn more than `beta_fast` times in
/// the original context, 0 for those that turn less than `beta_slow` times, a ramp over the pairs between.
fn yarnKept(rope: *const Rope, base: f64, pair: f64) f64 {
    const dimensions: f64 = @floatFromInt(rope.dimensions);
    const low = @max(0, @floor(pairOfTurns(rope, base, rope.beta_fast)));
    const high = @min(dimensions - 1, @ceil(pairOfTurns(rope, base, rope.beta_slow)));
    return 1 - std.math.clamp((pair - low) / @max(0.001, high - low), 0, 1);
}

/// The pair, as a real number, that turns `turns` times in the original context.
fn pairOfTurns(rope: *const Rope, base: f64, turns: f64) f64 {
    const dimensions: f64 = @floatFromInt(rope.dimensions);
    const context: f64 = @floatFromInt(rope.original_context);
    return dimensions * @log(context / (turns * 2 * std.math.pi)) / (2 * @log(base));
}

const plain: Rope = .{
    .dimensions = 8,
    .pairing = .halves,
    .base = 10000,
    .base_local = 10000,
    .scaling = .none,
    .factor = 4,
    .original_context = 4096,
    .attention_factor = 1.5,
    .beta_fast = 32,
    .beta_slow = 1,
};

fn expectFrequencies(expected: []const f64, rope: *const Rope, is_scaled: bool, divisors: ?[]const f32) !void {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    const actual = try angles(arena.allocator(), rope, rope.base, is_scaled, divisors);
    for (expected, actual.frequencies) |a, b| try std.testing.expectApproxEqRel(a, b, 1e-12);
}

test "frequencies without and with each scaling" {
    var rope = plain;
    try expectFrequencies(&.{ 1, 0.1, 0.01, 0.001 }, &rope, true, null);
    try expectFrequencies(&.{ 1, 0.05, 0.01, 0.0001 }, &rope, true, &.{ 1, 2, 1, 10 });
    rope.scaling = .linear;
    try expectFrequencies(&.{ 0.25, 0.025, 0.0025, 0.00025 }, &rope, true, null);
    try expectFrequencies(&.{ 1, 0.1, 0.01, 0.001 }, &rope, false, null);
    // Turns of the pairs: 651.9, 65.19, 6.519, 0.6519. The pair of 32 turns is 1.309, of 1 turn 2.814: the ramp goes from 1 to 3.
    rope.scaling = .yarn;
    try expectFrequencies(&.{ 1, 0.1, 0.01 * 0.5 + 0.0025 * 0.5, 0.00025 }, &rope, true, null);
}

test "the table grows and keeps its rows" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var table = try angles(arena.allocator(), &plain, plain.base, true, null);
    try table.extend(arena.allocator(), 3);
    try table.extend(arena.allocator(), 100);
    for ([_]usize{ 0, 2, 3, 99 }) |position| {
        for (0..4) |pair| {
            const angle = @as(f64, @floatFromInt(position)) * table.frequencies[pair];
            try std.testing.expectApproxEqAbs(1.5 * @cos(angle), table.at(position)[pair], 1e-6);
            try std.testing.expectApproxEqAbs(1.5 * @sin(angle), table.at(position)[4 + pair], 1e-6);
        }
    }
}
