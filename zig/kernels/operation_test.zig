//! The operations between the products, at every level of this CPU, against reference.zig, over sizes around the vector width.
const std = @import("std");
const kernels = @import("../kernels.zig");
const reference = @import("reference.zig");
const Level = kernels.Level;

const sizes = [_]usize{ 1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 77, 100 };
const size_max = 100;

test "elementwise operations" {
    for (std.enums.values(Level)) |level| for (sizes) |n| {
        const k = kernels.forLevel(level) orelse continue;
        const a, const b = .{ &normals(n, 4), &normals(n + 1, 1) };
        var out: [size_max]f32 = undefined;

        k.add(a, b, &out, n);
        for (0..n) |i| try std.testing.expectEqual(a[i] + b[i], out[i]);

        out = a.*;
        k.scale(&out, 3, n);
        for (0..n) |i| try std.testing.expectEqual(a[i] * 3, out[i]);

        k.siluMul(a, b, &out, n);
        for (0..n) |i| try expectNear(reference.silu(a[i]) * b[i], out[i], 1e-6 * (1 + @abs(a[i] * b[i])), level);

        k.geluMul(a, b, &out, n);
        for (0..n) |i| try expectNear(reference.gelu(a[i]) * b[i], out[i], 1e-6 * (1 + @abs(a[i] * b[i])), level);

        out = a.*;
        k.softcap(&out, 5, n);
        for (0..n) |i| try expectNear(reference.softcap(a[i], 5), out[i], 5e-6, level);

        var half: [size_max]f16 = @splat(7);
        k.toF16(a, &half, n);
        for (0..n) |i| try std.testing.expectEqual(@as(f16, @floatCast(a[i])), half[i]);
        for (half[n..]) |each| try std.testing.expectEqual(7, each);
    };
}

test "gates far from zero" {
    const gates = [_]f32{ -1e4, -200, -90, -88, -30, 30, 90, 1e4 };
    for (std.enums.values(Level)) |level| {
        const k = kernels.forLevel(level) orelse continue;
        var out: [gates.len]f32 = undefined;
        const up: [gates.len]f32 = @splat(1);
        k.siluMul(&gates, &up, &out, gates.len);
        for (gates, out) |x, each| try expectNear(reference.silu(x), each, 1e-6 * @max(1, x), level);
        k.geluMul(&gates, &up, &out, gates.len);
        for (gates, out) |x, each| try expectNear(reference.gelu(x), each, 1e-6 * @max(1, x), level);
        out = gates;
        k.softcap(&out, 50, gates.len);
        for (gates, out) |x, each| try expectNear(reference.softcap(x, 50), each, 5e-5, level);
    }
}

test "results of a chunk do not depend on where it begins" {
    for (std.enums.values(Level)) |level| {
        const k = kernels.forLevel(level) orelse continue;
        const a, const b = .{ normals(5, 3), normals(6, 3) };
        var whole: [size_max]f32 = undefined;
        var parts: [size_max]f32 = undefined;
        inline for (.{ "siluMul", "geluMul", "add" }) |name| {
            const op = @field(k, name);
            op(&a, &b, &whole, size_max);
            op(&a, &b, &parts, 13);
            op(a[13..].ptr, b[13..].ptr, parts[13..].ptr, size_max - 13);
            try std.testing.expectEqualSlices(f32, &whole, &parts);
        }
    }
}

test "rms norm" {
    for (std.enums.values(Level)) |level| for (sizes) |n| {
        const k = kernels.forLevel(level) orelse continue;
        const x, const weight = .{ normals(n, 2), normals(n + 7, 1) };
        var expected: [size_max]f64 = undefined;
        reference.rmsNorm(x[0..n], weight[0..n], 1e-5, expected[0..n]);
        var out = x;
        k.rmsNorm(&out, &weight, 1e-5, &out, n);
        for (expected[0..n], out[0..n]) |e, each| try expectNear(e, each, 1e-6 * (1 + @abs(e)), level);
        try std.testing.expectEqualSlices(f32, x[n..], out[n..]);
    };
}

test "rope in both pairings, of a part of the head" {
    for (std.enums.values(Level)) |level| for ([_]kernels.Pairing{ .adjacent, .halves }) |pairing| for ([_]u32{ 2, 6, 18, 32, 40 }) |dims| {
        const k = kernels.forLevel(level) orelse continue;
        const head_dim = 44;
        const x = normals(dims, 1);
        var table: [size_max]f32 = undefined;
        for (0..dims / 2) |i| {
            const angle: f32 = @floatFromInt(i * i + 1);
            table[i] = @cos(angle);
            table[dims / 2 + i] = @sin(angle);
        }
        var out = x;
        k.rope(&out, &table, pairing, 2, head_dim, dims);
        var expected: [size_max]f64 = undefined;
        for (&expected, x) |*to, from| to.* = from;
        for (0..2) |head| reference.rope(expected[head * head_dim ..][0..dims], table[0 .. dims / 2], table[dims / 2 .. dims], pairing);
        for (expected, out) |e, each| try expectNear(e, each, 1e-6, level);
    };
}

test "softmax" {
    for (std.enums.values(Level)) |level| for (sizes) |n| {
        const k = kernels.forLevel(level) orelse continue;
        var x = normals(n, 10);
        if (n > 2) x[1] = -std.math.inf(f32);
        if (n > 3) x[2] = -3e38;
        var expected: [size_max]f64 = undefined;
        reference.softmax(x[0..n], expected[0..n]);
        k.softmax(&x, n);
        // x - max is up to 60 with an error of 60 / 2^24, which e^x makes a relative one.
        for (expected[0..n], x[0..n]) |e, each| try expectNear(e, each, 5e-6 * e + 1e-30, level);
        if (n > 2) try std.testing.expectEqual(0, x[1]);
    };
}

test "dot and axpy with f16" {
    for (std.enums.values(Level)) |level| for (sizes) |n| {
        const k = kernels.forLevel(level) orelse continue;
        const q = normals(n, 1);
        var half: [size_max]f16 = undefined;
        k.toF16(&normals(n + 1, 1), &half, size_max);
        var exact: f64 = 0;
        for (q[0..n], half[0..n]) |a, b| exact += @as(f64, a) * b;
        try expectNear(exact, k.dotF16(&q, &half, n), 1e-5, level);
        var out = q;
        k.axpyF16(0.7, &half, &out, n);
        for (0..n) |i| try expectNear(@as(f64, q[i]) + @as(f64, @as(f32, 0.7)) * half[i], out[i], 1e-6, level);
        try std.testing.expectEqualSlices(f32, q[n..], out[n..]);
    };
}

fn normals(seed: u64, deviation: f32) [size_max]f32 {
    var prng: std.Random.DefaultPrng = .init(seed);
    var out: [size_max]f32 = undefined;
    for (&out) |*each| each.* = prng.random().floatNorm(f32) * deviation;
    return out;
}

fn expectNear(expected: f64, actual: f32, tolerance: f64, level: Level) !void {
    if (@abs(expected - actual) <= tolerance) return;
    std.debug.print("level {t}: expected {d}, found {d}, tolerance {d}\n", .{ level, expected, actual, tolerance });
    return error.TestUnexpectedResult;
}
