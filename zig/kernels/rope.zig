//! Rotary position embedding: pairs (a, b) of a head become (a cos - b sin, a sin + b cos), the angle being the pair's.
const std = @import("std");
const lanes = @import("lanes.zig");
const Pairing = @import("table.zig").Pairing;
const F = lanes.F;

pub fn rope(x: [*]f32, cos_sin: [*]const f32, pairing: Pairing, heads: u32, head_dim: u32, dims: u32) callconv(.c) void {
    const pairs = dims / 2;
    for (0..heads) |head| {
        const at = x + head * head_dim;
        switch (pairing) {
            .adjacent => adjacent(at, cos_sin, cos_sin + pairs, pairs),
            .halves => halves(at, at + pairs, cos_sin, cos_sin + pairs, pairs),
        }
    }
}

fn halves(a: [*]f32, b: [*]f32, cos: [*]const f32, sin: [*]const f32, pairs: usize) void {
    var i: usize = 0;
    while (i + lanes.lanes <= pairs) : (i += lanes.lanes) {
        const r = rotated(lanes.loadF(a + i), lanes.loadF(b + i), lanes.loadF(cos + i), lanes.loadF(sin + i));
        lanes.save(a + i, r[0]);
        lanes.save(b + i, r[1]);
    }
    while (i < pairs) : (i += 1) {
        const r = rotated(a[i..][0..1].*, b[i..][0..1].*, cos[i..][0..1].*, sin[i..][0..1].*);
        a[i] = r[0][0];
        b[i] = r[1][0];
    }
}

fn adjacent(x: [*]f32, cos: [*]const f32, sin: [*]const f32, pairs: usize) void {
    var i: usize = 0;
    while (i + lanes.lanes <= pairs) : (i += lanes.lanes) {
        const v: [2]F = std.simd.deinterlace(2, lanes.load(@Vector(2 * lanes.lanes, f32), x + 2 * i));
        const r = rotated(v[0], v[1], lanes.loadF(cos + i), lanes.loadF(sin + i));
        lanes.save(x + 2 * i, std.simd.interlace(r));
    }
    while (i < pairs) : (i += 1) {
        const r = rotated(x[2 * i ..][0..1].*, x[2 * i + 1 ..][0..1].*, cos[i..][0..1].*, sin[i..][0..1].*);
        x[2 * i] = r[0][0];
        x[2 * i + 1] = r[1][0];
    }
}

inline fn rotated(a: anytype, b: anytype, cos: anytype, sin: anytype) [2]@Vector(vectorLength(@TypeOf(a)), f32) {
    const V = @Vector(vectorLength(@TypeOf(a)), f32);
    const av: V, const bv: V, const c: V, const s: V = .{ a, b, cos, sin };
    return .{ @mulAdd(V, av, c, -(bv * s)), @mulAdd(V, av, s, bv * c) };
}

fn vectorLength(comptime T: type) comptime_int {
    return switch (@typeInfo(T)) {
        .vector => |v| v.len,
        .array => |a| a.len,
        else => comptime unreachable,
    };
}
