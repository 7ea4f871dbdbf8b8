//! Operations in which each element of the output depends on its own inputs only.
const lanes = @import("lanes.zig");
const F = lanes.F;

pub fn add(a: [*]const f32, b: [*]const f32, out: [*]f32, n: usize) callconv(.c) void {
    binary(plus, a, b, out, n);
}

pub fn siluMul(gate: [*]const f32, up: [*]const f32, out: [*]f32, n: usize) callconv(.c) void {
    binary(silu, gate, up, out, n);
}

pub fn geluMul(gate: [*]const f32, up: [*]const f32, out: [*]f32, n: usize) callconv(.c) void {
    binary(gelu, gate, up, out, n);
}

inline fn plus(a: F, b: F) F {
    return a + b;
}

/// silu(x) = x / (1 + e^-x).
inline fn silu(gate: F, up: F) F {
    return gate / (one + lanes.exp(-gate)) * up;
}

/// gelu(x) = x / 2 * (1 + tanh(u)), u = sqrt(2 / pi) * (x + 0.044715 x³); (1 + tanh u) / 2 = 1 / (1 + e^-2u).
inline fn gelu(gate: F, up: F) F {
    const u = gate * @mulAdd(F, gate * gate, @splat(0.7978845608 * 0.044715), @splat(0.7978845608));
    return gate / (one + lanes.exp(u * @as(F, @splat(-2)))) * up;
}

inline fn binary(comptime op: fn (F, F) callconv(.@"inline") F, a: [*]const f32, b: [*]const f32, out: [*]f32, n: usize) void {
    var i: usize = 0;
    while (i + lanes.lanes <= n) : (i += lanes.lanes)
        lanes.save(out + i, op(lanes.loadF(a + i), lanes.loadF(b + i)));
    if (i < n)
        lanes.storePart(f32, out + i, n - i, op(lanes.loadPart(f32, a + i, n - i), lanes.loadPart(f32, b + i, n - i)));
}

pub fn scale(x: [*]f32, factor: f32, n: usize) callconv(.c) void {
    unary(scaled, x, factor, n);
}

pub fn softcap(x: [*]f32, cap: f32, n: usize) callconv(.c) void {
    unary(capped, x, cap, n);
}

inline fn scaled(x: F, factor: F) F {
    return x * factor;
}

/// tanh(y) = 1 - 2 / (1 + e^2y).
pub inline fn capped(x: F, cap: F) F {
    const two: F = @splat(2);
    return cap * (one - two / (one + lanes.exp(x / cap * two)));
}

inline fn unary(comptime op: fn (F, F) callconv(.@"inline") F, x: [*]f32, argument: f32, n: usize) void {
    var i: usize = 0;
    while (i + lanes.lanes <= n) : (i += lanes.lanes)
        lanes.save(x + i, op(lanes.loadF(x + i), @splat(argument)));
    if (i < n) lanes.storePart(f32, x + i, n - i, op(lanes.loadPart(f32, x + i, n - i), @splat(argument)));
}

pub fn toF16(x: [*]const f32, out: [*]f16, n: usize) callconv(.c) void {
    var i: usize = 0;
    while (i + lanes.lanes <= n) : (i += lanes.lanes)
        lanes.save(out + i, @as(@Vector(lanes.lanes, f16), @floatCast(lanes.loadF(x + i))));
    if (i < n) lanes.storePart(f16, out + i, n - i, @floatCast(lanes.loadPart(f32, x + i, n - i)));
}

const one: F = @splat(1);
