const std = @import("std");
const lanes = @import("lanes.zig");

pub const Logprob = extern struct { token: u32, logprob: f32 };

/// ln Σ e^logit over the whole row, such that a token's log-probability is its logit minus this. Minus infinity for a row
/// without any finite logit. Sums in f64.
pub fn logSum(row: []const f32) f64 {
    var highest = lanes.minus_infinity;
    var token: usize = 0;
    while (token < row.len) : (token += lanes.count) highest = @max(highest, lanes.load(row, token));
    const max = @reduce(.Max, highest);
    if (!std.math.isFinite(max)) return max;
    var sums: @Vector(lanes.count, f64) = @splat(0);
    token = 0;
    while (token < row.len) : (token += lanes.count)
        sums += lanes.exp(lanes.load(row, token) - @as(lanes.Floats, @splat(max)));
    return max + @log(@reduce(.Add, sums));
}

/// Fills `out` with the most likely tokens, largest first and equal ones by id, none of them impossible; returns how many there were.
pub fn top(row: []const f32, log_sum: f64, out: []Logprob) usize {
    var found: usize = 0;
    if (out.len == 0) return 0;
    var token: usize = 0;
    while (token < row.len) : (token += lanes.count) {
        const values = lanes.load(row, token);
        const bar: lanes.Floats = @splat(if (found < out.len) -std.math.inf(f32) else out[found - 1].logprob);
        if (!@reduce(.Or, values > bar)) continue;
        for (@as([lanes.count]f32, values), token..) |logit, id| {
            if (logit == -std.math.inf(f32) or (found == out.len and logit <= out[found - 1].logprob)) continue;
            if (found < out.len) found += 1;
            var at = found - 1;
            while (at > 0 and out[at - 1].logprob < logit) : (at -= 1) out[at] = out[at - 1];
            out[at] = .{ .token = @intCast(id), .logprob = logit };
        }
    }
    for (out[0..found]) |*item| item.logprob = of(item.logprob, log_sum);
    return found;
}

pub fn of(logit: f32, log_sum: f64) f32 {
    return @floatCast(@as(f64, logit) - log_sum);
}

test "log-probabilities against a sum in f64 and a sorted list" {
    const seed = 0x10b;
    errdefer std.debug.print("seed {x}\n", .{seed});
    var prng: std.Random.DefaultPrng = .init(seed);
    const random = prng.random();
    for ([_]usize{ 1, 7, 8, 9, 1000, 4099 }) |size| {
        var storage: [4099]f32 = undefined;
        const row = storage[0..size];
        for (row) |*logit| logit.* = @round(random.floatNorm(f32) * 40) / 4; // ties on purpose
        if (size > 8) row[3] = -std.math.inf(f32);
        var sum: f64 = 0;
        for (row) |logit| sum += @exp(@as(f64, logit));
        const log_sum = logSum(row);
        try std.testing.expectApproxEqAbs(@log(sum), log_sum, 1e-6);

        var order: [4099]u32 = undefined;
        for (order[0..size], 0..) |*id, i| id.* = @intCast(i);
        std.mem.sort(u32, order[0..size], row, struct {
            fn before(context: []f32, a: u32, b: u32) bool {
                return context[a] > context[b] or (context[a] == context[b] and a < b);
            }
        }.before);
        var best: [20]Logprob = undefined;
        const found = top(row, log_sum, &best);
        try std.testing.expectEqual(@min(20, size - @intFromBool(size > 8)), found);
        for (best[0..found], order[0..found]) |item, id|
            try std.testing.expectEqual(Logprob{ .token = id, .logprob = of(row[id], log_sum) }, item);
    }
}
