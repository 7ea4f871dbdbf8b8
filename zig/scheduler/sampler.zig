//! From logits and a mask to a token. Everything here is a function of its arguments: the random number of a token depends
//! on seed, position and token alone, so a text does not depend on what runs beside it.
const std = @import("std");
const assert = std.debug.assert;
const lanes = @import("sampler/lanes.zig");
const cuts = @import("sampler/cut.zig");
pub const logprobs = @import("sampler/logprobs.zig");

pub const Bias = extern struct { token: u32, bias: f32 };

pub const Params = struct {
    /// 0 takes the most likely token, of equal ones the lowest.
    temperature: f32,
    limits: cuts.Limits = .{},
    /// Divides positive logits and multiplies negative ones of every token in prompt or output, as in Hugging Face's
    /// transformers; 1 is off.
    repeat_penalty: f32 = 1,
    /// Taken from a token's logit for each time it stands in the output, and once if it does, as OpenAI's API defines them; 0 is off.
    frequency_penalty: f32 = 0,
    presence_penalty: f32 = 0,
    seed: u64 = 0,

    pub fn hasPenalties(params: Params) bool {
        return params.repeat_penalty != 1 or params.frequency_penalty != 0 or params.presence_penalty != 0;
    }
};

/// Scratch memory for rows of one vocabulary; used by one thread.
pub const Sampler = struct {
    weights: []f32, // (tokens)
    /// Zero between calls.
    counts: []u32, // (tokens)

    pub fn init(gpa: std.mem.Allocator, vocabulary_count: u32) error{OutOfMemory}!Sampler {
        const weights = try gpa.alloc(f32, std.mem.alignForward(u32, vocabulary_count, lanes.count));
        errdefer gpa.free(weights);
        const counts = try gpa.alloc(u32, vocabulary_count);
        @memset(counts, 0);
        return .{ .weights = weights, .counts = counts };
    }

    pub fn deinit(self: *Sampler, gpa: std.mem.Allocator) void {
        gpa.free(self.weights);
        gpa.free(self.counts);
    }

    /// Applies penalties, then biases, to the row itself.
    pub fn adjust(self: *Sampler, row: []f32, params: Params, biases: []const Bias, prompt: []const u32, output: []const u32) void {
        if (params.hasPenalties()) {
            const in_prompt = 1 << 31;
            for (prompt) |token| self.counts[token] = in_prompt;
            for (output) |token| self.counts[token] += 1;
            for ([_][]const u32{ prompt, output }) |tokens| for (tokens) |token| {
                if (self.counts[token] == 0) continue; // Seen already.
                const times: f32 = @floatFromInt(self.counts[token] & ~@as(u32, in_prompt));
                self.counts[token] = 0;
                const logit = if (row[token] > 0) row[token] / params.repeat_penalty else row[token] * params.repeat_penalty;
                row[token] = logit - times * params.frequency_penalty - @min(times, 1) * params.presence_penalty;
            };
        }
        for (biases) |bias| row[bias.token] += bias.bias;
    }

    /// The token for this position among those that the mask allows and whose logit is above minus infinity. The mask comes first,
    /// then temperature, then the limits. A draw is an exponential race: of all tokens the one with the smallest
    /// Eₜ / pₜ wins, Eₜ exponential with mean 1. So a mask changes nothing but the draws it forbids.
    pub fn choose(self: *Sampler, row: []const f32, mask: []const u32, params: Params, position: u32) error{NothingAllowed}!u32 {
        assert(mask.len * 32 >= row.len and row.len <= self.weights.len);
        const best = highest(row, mask) orelse return error.NothingAllowed;
        if (params.temperature == 0 or row[best] == std.math.inf(f32)) return best;
        const key = lanes.drawKey(params.seed, position);
        var race: Race = .{};
        const scale: lanes.Floats = @splat(1 / @max(params.temperature, std.math.floatMin(f32)));
        const max: lanes.Floats = @splat(row[best]);
        const whole = params.limits.isOff();
        var token: usize = 0;
        while (token < row.len) : (token += lanes.count) {
            const weights = lanes.exp((masked(row, mask, token) - max) * scale);
            if (whole) race.run(key, token, weights) else self.weights[token..][0..lanes.count].* = weights;
        }
        if (!whole) race.runCut(key, self.weights[0..token], cuts.find(self.weights[0..row.len], params.limits));
        return race.winner();
    }
};

fn masked(row: []const f32, mask: []const u32, token: usize) lanes.Floats {
    return @select(f32, lanes.allowed(mask, token), lanes.load(row, token), lanes.minus_infinity);
}

fn highest(row: []const f32, mask: []const u32) ?u32 {
    var values = lanes.minus_infinity;
    var tokens: lanes.Words = @splat(0);
    var token: usize = 0;
    while (token < row.len) : (token += lanes.count) {
        const candidates = masked(row, mask, token);
        const better = candidates > values;
        values = @select(f32, better, candidates, values);
        tokens = @select(u32, better, lanes.indices +% @as(lanes.Words, @splat(@intCast(token))), tokens);
    }
    const best = @reduce(.Max, values);
    if (best == -std.math.inf(f32)) return null;
    return lowestWhere(values == @as(lanes.Floats, @splat(best)), tokens);
}

fn lowestWhere(condition: lanes.Bits, tokens: lanes.Words) u32 {
    return @reduce(.Min, @select(u32, condition, tokens, @as(lanes.Words, @splat(std.math.maxInt(u32)))));
}

/// The running winner of each lane.
const Race = struct {
    times: lanes.Floats = @splat(std.math.inf(f32)),
    tokens: lanes.Words = @splat(0),

    fn run(race: *Race, key: u64, token: usize, weights: lanes.Floats) void {
        if (@reduce(.Max, weights) == 0) return;
        const tokens = lanes.indices +% @as(lanes.Words, @splat(@intCast(token)));
        const draws = lanes.hash(key, tokens);
        // −ln(1 − v) is at least v, so that most lanes have lost before their logarithm is taken.
        const least = lanes.uniform(draws) * @as(lanes.Floats, @splat(0.999));
        if (!@reduce(.Or, least < race.times * weights)) return;
        const times = lanes.exponential(draws) / weights;
        const earlier = times < race.times;
        race.times = @select(f32, earlier, times, race.times);
        race.tokens = @select(u32, earlier, tokens, race.tokens);
    }

    fn runCut(race: *Race, key: u64, weights: []const f32, cut: cuts.Cut) void {
        const edge: lanes.Floats = @splat(@bitCast(cut.bits));
        var ties = cut.ties;
        var token: usize = 0;
        while (token < weights.len) : (token += lanes.count) {
            const all: lanes.Floats = weights[token..][0..lanes.count].*;
            var kept = @select(f32, all > edge, all, lanes.zero);
            if (ties > 0 and @reduce(.Or, all == edge)) {
                var each: [lanes.count]f32 = kept;
                for (&each, @as([lanes.count]f32, all)) |*slot, weight| if (@as(u32, @bitCast(weight)) == cut.bits and ties > 0) {
                    slot.* = weight;
                    ties -= 1;
                };
                kept = each;
            }
            race.run(key, token, kept);
        }
    }

    fn winner(race: Race) u32 {
        return lowestWhere(race.times == @as(lanes.Floats, @splat(@reduce(.Min, race.times))), race.tokens);
    }
};

test {
    _ = lanes;
    _ = cuts;
    _ = logprobs;
}

const Case = struct {
    row: []f32,
    mask: []u32,
    params: Params,
    position: u32,

    fn random(source: std.Random, row: []f32, mask: []u32) Case {
        for (row) |*logit| logit.* = source.floatNorm(f32) * 4;
        for (row) |*logit| if (source.uintLessThan(u32, 10) == 0) {
            logit.* = -std.math.inf(f32);
        };
        for (mask) |*word| word.* = source.int(u32) & source.int(u32);
        return .{ .row = row, .mask = mask, .position = source.int(u32), .params = .{
            .temperature = if (source.uintLessThan(u32, 5) == 0) 0 else source.float(f32) * 2,
            .seed = source.int(u64),
            .limits = .{
                .top_k = if (source.boolean()) 0 else source.intRangeAtMost(u32, 1, 50),
                .top_p = if (source.boolean()) 1 else source.float(f32),
                .min_p = if (source.boolean()) 0 else source.float(f32) * 0.2,
            },
        } };
    }

    /// By the definition, token by token, on a sorted list.
    fn bruteForce(case: Case, gpa: std.mem.Allocator) !?u32 {
        const weights = try gpa.alloc(f32, case.row.len);
        defer gpa.free(weights);
        var best: ?u32 = null;
        for (case.row, 0..) |logit, i| {
            if (case.mask[i / 32] >> @intCast(i % 32) & 1 == 0 or logit == -std.math.inf(f32)) continue;
            if (best == null or logit > case.row[best.?]) best = @intCast(i);
        }
        const max = case.row[best orelse return null];
        if (case.params.temperature == 0) return best;
        for (weights, case.row, 0..) |*weight, logit, i| {
            const allowed = case.mask[i / 32] >> @intCast(i % 32) & 1 == 1;
            const scaled: lanes.Floats = @splat((logit - max) * (1 / case.params.temperature));
            weight.* = if (allowed) @as([lanes.count]f32, lanes.exp(scaled))[0] else 0;
        }
        const kept = try cuts.sortedKept(gpa, weights, case.params.limits);
        defer gpa.free(kept);
        const key = lanes.drawKey(case.params.seed, case.position);
        var winner: u32 = kept[0];
        var time = std.math.inf(f32);
        for (kept) |token| {
            const draw: [lanes.count]f32 = lanes.exponential(lanes.hash(key, @splat(token)));
            if (draw[0] / weights[token] < time) {
                time = draw[0] / weights[token];
                winner = token;
            }
        }
        return winner;
    }
};

test "the choice equals brute force over a sorted list" {
    const gpa = std.testing.allocator;
    const seed = 0x5a3;
    errdefer std.debug.print("seed {x}\n", .{seed});
    var prng: std.Random.DefaultPrng = .init(seed);
    const source = prng.random();
    for ([_]u32{ 1, 5, 8, 33, 257 }) |count| {
        var sampler: Sampler = try .init(gpa, count);
        defer sampler.deinit(gpa);
        var storage: [257]f32 = undefined;
        var words: [9]u32 = undefined;
        for (0..2000) |_| {
            const case: Case = .random(source, storage[0..count], words[0 .. (count + 31) / 32]);
            const expected = try case.bruteForce(gpa);
            if (expected) |token| {
                try std.testing.expectEqual(token, try sampler.choose(case.row, case.mask, case.params, case.position));
            } else try std.testing.expectError(error.NothingAllowed, sampler.choose(case.row, case.mask, case.params, case.position));
        }
    }
}

test "frequencies follow the softmax" {
    const gpa = std.testing.allocator;
    const row = [_]f32{ 0, 1, 2, -1, 0.5, 1.5, -3, 2.5, 0, 1 };
    const mask = [_]u32{0b1101111111};
    var sampler: Sampler = try .init(gpa, row.len);
    defer sampler.deinit(gpa);
    const temperature = 0.8;
    const draws = 40_000;
    var found: [row.len]u32 = @splat(0);
    for (0..draws) |position| {
        const token = try sampler.choose(&row, &mask, .{ .temperature = temperature, .seed = 11 }, @intCast(position));
        found[token] += 1;
    }
    var total: f64 = 0;
    for (row, 0..) |logit, i| if (mask[0] >> @intCast(i) & 1 == 1) {
        total += @exp(@as(f64, logit) / temperature);
    };
    var chi: f64 = 0;
    for (row, found, 0..) |logit, times, i| {
        if (mask[0] >> @intCast(i) & 1 == 0) {
            try std.testing.expectEqual(0, times);
            continue;
        }
        const expected = draws * @exp(@as(f64, logit) / temperature) / total;
        chi += std.math.pow(f64, @as(f64, @floatFromInt(times)) - expected, 2) / expected;
    }
    try std.testing.expect(chi < 26); // 8 degrees of freedom: p ≈ 0.001
}

test "forbidding a token that was not drawn changes nothing" {
    const gpa = std.testing.allocator;
    var prng: std.Random.DefaultPrng = .init(3);
    const source = prng.random();
    var row: [100]f32 = undefined;
    var mask: [4]u32 = @splat(0xffffffff);
    var sampler: Sampler = try .init(gpa, row.len);
    defer sampler.deinit(gpa);
    for (&row) |*logit| logit.* = source.floatNorm(f32);
    for (0..500) |position| {
        const params: Params = .{ .temperature = 1, .seed = 5 };
        const token = try sampler.choose(&row, &mask, params, @intCast(position));
        var narrow = mask;
        for (0..50) |_| {
            const other = source.uintLessThan(u32, row.len);
            if (other != token) narrow[other / 32] &= ~(@as(u32, 1) << @intCast(other % 32));
        }
        try std.testing.expectEqual(token, try sampler.choose(&row, &narrow, params, @intCast(position)));
    }
}

test "greedy takes the lowest of equals; infinities and what is no number are survived" {
    const gpa = std.testing.allocator;
    const nan = std.math.nan(f32);
    const inf = std.math.inf(f32);
    const full = [_]u32{0xffffffff};
    var sampler: Sampler = try .init(gpa, 10);
    defer sampler.deinit(gpa);
    const Row = struct { [10]f32, f32, ?u32 };
    for ([_]Row{
        .{ .{ 1, 2, 2, 2, 0, 0, 0, 0, 2, 2 }, 0, 1 },
        .{ .{ nan, -inf, 3, nan, 1, 3, 0, 0, 0, 3 }, 0, 2 },
        .{ .{ 0, 0, inf, 0, inf, 0, 0, 0, 0, 0 }, 1, 2 },
        .{ .{ nan, nan, nan, nan, nan, nan, nan, nan, nan, 1 }, 1, 9 },
        .{ @splat(nan), 1, null },
        .{ @splat(-inf), 0, null },
    }) |row| {
        const chosen = sampler.choose(&row[0], &full, .{ .temperature = row[1] }, 0);
        if (row[2]) |token| try std.testing.expectEqual(token, try chosen) else try std.testing.expectError(error.NothingAllowed, chosen);
    }
    try std.testing.expectError(error.NothingAllowed, sampler.choose(&@as([10]f32, @splat(1)), &.{0}, .{ .temperature = 1 }, 0));
}

test "penalties and biases by hand" {
    const gpa = std.testing.allocator;
    var sampler: Sampler = try .init(gpa, 6);
    defer sampler.deinit(gpa);
    for (0..2) |_| { // twice: the scratch counts are clean again
        var row = [_]f32{ 4, -4, 4, -4, 4, 4 };
        sampler.adjust(&row, .{
            .temperature = 1,
            .repeat_penalty = 2,
            .frequency_penalty = 0.5,
            .presence_penalty = 0.25,
        }, &.{ .{ .token = 5, .bias = -100 }, .{ .token = 0, .bias = 1 } }, &.{ 0, 1, 0 }, &.{ 2, 1, 2, 2 });
        try std.testing.expectEqual([_]f32{ 2 + 1, -8 - 0.5 - 0.25, 2 - 1.5 - 0.25, -4, 4, -96 }, row);
    }
}
