//! Elementary functions over vectors of eight. The width and the order of every operation are fixed, so that a draw
//! is the same on every CPU.
const std = @import("std");

pub const count = 8;
pub const Floats = @Vector(count, f32);
pub const Words = @Vector(count, u32);
pub const Bits = @Vector(count, bool);

pub const indices: Words = std.simd.iota(u32, count);
pub const minus_infinity: Floats = @splat(-std.math.inf(f32));
pub const zero: Floats = @splat(0);

/// Eight bits of a mask, from `token` on, which is a multiple of eight.
pub fn allowed(mask: []const u32, token: usize) Bits {
    const byte: u8 = @truncate(mask[token / 32] >> @intCast(token % 32));
    return (@as(Words, @splat(byte)) >> @as(@Vector(count, u5), @intCast(indices))) & @as(Words, @splat(1)) != @as(Words, @splat(0));
}

/// The rows's values from `token` on; beyond its end, and where it is not a number, minus infinity.
pub fn load(row: []const f32, token: usize) Floats {
    const values: Floats = if (token + count <= row.len) row[token..][0..count].* else tail: {
        var padded: [count]f32 = @splat(-std.math.inf(f32));
        @memcpy(padded[0 .. row.len - token], row[token..]);
        break :tail padded;
    };
    return @select(f32, values == values, values, minus_infinity);
}

/// e^x for x ≤ 0 within 2 units in the last place; 0 below the smallest normal number. Cody-Waite reduction by ln 2 in two
/// parts, then the Taylor series of e^r on |r| ≤ ln 2 / 2.
pub fn exp(x: Floats) Floats {
    const lowest: Floats = @splat(-87.33654); // ln of the smallest normal f32
    const clamped = @max(x, lowest);
    // 1.5 · 2²³ leaves no bits for a fraction, so adding it rounds, and the low bits of the sum are the integer.
    const rounder = splat(12582912.0);
    const rounded = @mulAdd(Floats, clamped, splat(std.math.log2e), rounder);
    const halves = rounded - rounder;
    const r = @mulAdd(Floats, halves, splat(-1.42860677e-6), @mulAdd(Floats, halves, splat(-0.693145752), clamped));
    var series = splat(1.0 / 5040.0);
    inline for (.{ 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0 }) |factorial| series = @mulAdd(Floats, series, r, splat(1.0 / factorial));
    const power: Floats = @bitCast((@as(Words, @bitCast(rounded)) +% @as(Words, @splat(127))) << @splat(23));
    return @select(f32, x < lowest, zero, series * power);
}

/// (h + ½) / 2³²
pub fn uniform(h: Words) Floats {
    return @mulAdd(Floats, @as(Floats, @floatFromInt(h)), splat(0x1p-32), splat(0x1p-33));
}

/// −ln(1 − (h + ½) / 2³²): a uniformly drawn h gives an exponential variable of mean 1. Its relative error is below 2⁻²⁰ also
/// near zero, where races between many tokens are decided.
pub fn exponential(h: Words) Floats {
    const v = uniform(h);
    const u = uniform(~h);
    // u = m · 2^e with m in [¾, 1½), by adding ¼'s worth of mantissa before the exponent is cut out.
    const bits: Words = @bitCast(u);
    const shifted = bits +% @as(Words, @splat(0x3f800000 - 0x3f400000));
    const e: @Vector(count, i32) = @bitCast((shifted >> @splat(23)) -% @as(Words, @splat(127)));
    const m: Floats = @bitCast((shifted & @as(Words, @splat(0x007fffff))) +% @as(Words, @splat(0x3f400000)));
    const x = @select(f32, u >= splat(0.75), -v, m - splat(1));
    const s = x / (splat(2) + x);
    const square = s * s;
    var series = splat(1.0 / 11.0);
    inline for (.{ 9.0, 7.0, 5.0, 3.0, 1.0 }) |odd| series = @mulAdd(Floats, series, square, splat(1.0 / odd));
    const log = @mulAdd(Floats, @as(Floats, @floatFromInt(e)), splat(std.math.ln2), splat(2) * s * series);
    return -log;
}

/// A word for each index that depends on nothing but key and index: two rounds of MurmurHash3's finaliser, the key mixed in before each.
pub fn hash(key: u64, index: Words) Words {
    const low: Words = @splat(@truncate(key));
    const high: Words = @splat(@truncate(key >> 32));
    return finalise(finalise(index *% @as(Words, @splat(0x9e3779b1)) ^ low) ^ high);
}

fn finalise(words: Words) Words {
    var h = words;
    h = (h ^ h >> @splat(16)) *% @as(Words, @splat(0x85ebca6b));
    h = (h ^ h >> @splat(13)) *% @as(Words, @splat(0xc2b2ae35));
    return h ^ h >> @splat(16);
}

/// SplitMix64's output function over two numbers: the key of one draw.
pub fn drawKey(seed: u64, position: u64) u64 {
    const golden = 0x9e3779b97f4a7c15;
    return mix(mix(seed +% golden) +% position *% golden);
}

fn mix(x: u64) u64 {
    var z = x;
    z = (z ^ z >> 30) *% 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) *% 0x94d049bb133111eb;
    return z ^ z >> 31;
}

fn splat(value: f32) Floats {
    return @splat(value);
}

test "exp against the standard library" {
    var x: f32 = 0;
    while (x > -88) : (x -= 0.0037) {
        const ours: [count]f32 = exp(splat(x));
        const truth = @exp(@as(f64, x));
        if (truth < std.math.floatMin(f32)) {
            try std.testing.expect(ours[0] <= std.math.floatMin(f32));
        } else try std.testing.expect(@abs(ours[0] - truth) <= truth * 3e-7);
    }
    const edge: [count]f32 = exp(.{ 0, -std.math.inf(f32), -1000, -87.4, -1e-30, -0.5, -1, -2 });
    try std.testing.expectEqual([_]f32{ 1, 0, 0, 0, 1 }, edge[0..5].*);
}

test "exponential against the standard library, down to the smallest draw" {
    var h: u64 = 0;
    while (h < 1 << 32) : (h += h / 200 + 1) for ([_]u32{ @intCast(h), ~@as(u32, @intCast(h)) }) |word| {
        const ours: [count]f32 = exponential(@splat(word));
        const truth = -std.math.log1p(-(@as(f64, @floatFromInt(word)) + 0.5) / 4294967296.0);
        try std.testing.expect(@abs(ours[0] - truth) <= truth * 1e-6);
    };
}

test "hashed words are spread evenly and depend on every part of the key" {
    var buckets: [256]u32 = @splat(0);
    for (0..1 << 13) |block| {
        const words: [count]u32 = hash(drawKey(7, 3), indices + @as(Words, @splat(@intCast(block * count))));
        for (words) |word| buckets[word >> 24] += 1;
    }
    var chi: f64 = 0;
    for (buckets) |found| chi += std.math.pow(f64, @as(f64, @floatFromInt(found)) - 256, 2) / 256;
    try std.testing.expect(chi < 330); // 255 degrees of freedom: p ≈ 0.001
    const base: [count]u32 = hash(drawKey(7, 3), indices);
    for ([_]u64{ drawKey(7, 4), drawKey(8, 3), drawKey(7 + (1 << 40), 3) }) |other| {
        const words: [count]u32 = hash(other, indices);
        for (base, words) |a, b| try std.testing.expect(a != b);
    }
}

test "a mask's bits and a row's tail" {
    const mask = [_]u32{ 0x0000_a500, 0x1 };
    try std.testing.expectEqual([_]bool{ true, false, true, false, false, true, false, true }, @as([count]bool, allowed(&mask, 8)));
    try std.testing.expectEqual([_]bool{ true, false, false, false, false, false, false, false }, @as([count]bool, allowed(&mask, 32)));
    const row = [_]f32{ 0, 0, 0, 0, 0, 0, 0, 0, 3, std.math.nan(f32) };
    const values: [count]f32 = load(&row, 8);
    try std.testing.expectEqual(3, values[0]);
    for (values[1..]) |value| try std.testing.expectEqual(-std.math.inf(f32), value);
}
