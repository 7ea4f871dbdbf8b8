//! Operations over one vector whose elements share a sum or a maximum. Sums are made lane by lane, then across lanes.
const std = @import("std");
const lanes = @import("lanes.zig");
const F = lanes.F;

pub fn rmsNorm(x: [*]const f32, weight: [*]const f32, epsilon: f32, out: [*]f32, n: usize) callconv(.c) void {
    var sums: [2]F = @splat(@splat(0));
    var i: usize = 0;
    while (i + 2 * lanes.lanes <= n) : (i += 2 * lanes.lanes) inline for (0..2) |part| {
        const v = lanes.loadF(x + i + part * lanes.lanes);
        sums[part] = @mulAdd(F, v, v, sums[part]);
    };
    while (i < n) : (i += lanes.lanes) {
        const v = lanes.loadPart(f32, x + i, @min(lanes.lanes, n - i));
        sums[0] = @mulAdd(F, v, v, sums[0]);
    }
    const mean = lanes.sum(sums[0] + sums[1]) / @as(f32, @floatFromInt(n));
    const factor: F = @splat(1 / @sqrt(mean + epsilon));
    i = 0;
    while (i + lanes.lanes <= n) : (i += lanes.lanes)
        lanes.save(out + i, lanes.loadF(x + i) * factor * lanes.loadF(weight + i));
    if (i < n)
        lanes.storePart(f32, out + i, n - i, lanes.loadPart(f32, x + i, n - i) * factor * lanes.loadPart(f32, weight + i, n - i));
}

pub fn softmax(x: [*]f32, n: usize) callconv(.c) void {
    const low = -std.math.inf(f32);
    var top: F = @splat(low);
    var i: usize = 0;
    while (i + lanes.lanes <= n) : (i += lanes.lanes) top = @max(top, lanes.loadF(x + i));
    var largest = lanes.max(top);
    for (x[i..n]) |each| largest = @max(largest, each);

    const shift: F = @splat(largest);
    var sums: F = @splat(0);
    i = 0;
    while (i + lanes.lanes <= n) : (i += lanes.lanes) {
        const v = lanes.exp(lanes.loadF(x + i) - shift);
        lanes.save(x + i, v);
        sums += v;
    }
    if (i < n) {
        var rest: [lanes.lanes]f32 = @splat(low);
        @memcpy(rest[0 .. n - i], x[i..n]);
        const v = lanes.exp(@as(F, rest) - shift);
        lanes.storePart(f32, x + i, n - i, v);
        sums += v;
    }

    const factor: F = @splat(1 / lanes.sum(sums));
    i = 0;
    while (i + lanes.lanes <= n) : (i += lanes.lanes) lanes.save(x + i, lanes.loadF(x + i) * factor);
    if (i < n) lanes.storePart(f32, x + i, n - i, lanes.loadPart(f32, x + i, n - i) * factor);
}

pub fn dotF16(q: [*]const f32, k: [*]const f16, n: usize) callconv(.c) f32 {
    var sums: [2]F = @splat(@splat(0));
    var i: usize = 0;
    while (i + 2 * lanes.lanes <= n) : (i += 2 * lanes.lanes) inline for (0..2) |part| {
        const at = i + part * lanes.lanes;
        sums[part] = @mulAdd(F, lanes.loadF(q + at), lanes.loadHalf(k + at), sums[part]);
    };
    while (i < n) : (i += lanes.lanes) {
        const left = @min(lanes.lanes, n - i);
        sums[0] = @mulAdd(F, lanes.loadPart(f32, q + i, left), lanes.loadPart(f16, k + i, left), sums[0]);
    }
    return lanes.sum(sums[0] + sums[1]);
}

pub fn axpyF16(weight: f32, v: [*]const f16, out: [*]f32, n: usize) callconv(.c) void {
    const factor: F = @splat(weight);
    var i: usize = 0;
    while (i + lanes.lanes <= n) : (i += lanes.lanes)
        lanes.save(out + i, @mulAdd(F, factor, lanes.loadHalf(v + i), lanes.loadF(out + i)));
    if (i < n)
        lanes.storePart(f32, out + i, n - i, @mulAdd(F, factor, lanes.loadPart(f16, v + i, n - i), lanes.loadPart(f32, out + i, n - i)));
}
