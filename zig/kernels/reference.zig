//! The slow truth: every operation in f64, straight from its formula, element by element. It shares nothing with the kernels but
//! the size of blocks. Sources: ggml-quants.c for the block formats, the operations' papers for the rest.
const std = @import("std");
const formats = @import("format.zig");
const Format = formats.Format;
const Matrix = @import("table.zig").Matrix;
const Pairing = @import("table.zig").Pairing;

/// One weight of a matrix.
pub fn weight(matrix: *const Matrix, row: usize, column: usize) f64 {
    const elements = formats.blockElements(matrix.format);
    const start = row * formats.rowBytes(matrix.format, matrix.columns) + column / elements * formats.blockBytes(matrix.format);
    return blockElement(matrix.format, matrix.data[start..][0..formats.blockBytes(matrix.format)], column % elements);
}

/// Element `i` of a block.
pub fn blockElement(format: Format, b: []const u8, i: usize) f64 {
    switch (format) {
        .f32 => return @as(f32, @bitCast(std.mem.readInt(u32, b[0..4], .little))),
        .f16 => return half(b, 0),
        .bf16 => return @as(f32, @bitCast(@as(u32, std.mem.readInt(u16, b[0..2], .little)) << 16)),
        .q4_0 => return half(b, 0) * (nibble(b[2..], i) - 8),
        .q4_1 => return half(b, 0) * nibble(b[4..], i) + half(b, 2),
        .q5_0 => return half(b, 0) * (nibble(b[6..], i) + 16 * bit(b[2..], i) - 16),
        .q5_1 => return half(b, 0) * (nibble(b[8..], i) + 16 * bit(b[4..], i)) + half(b, 2),
        .q8_0 => return half(b, 0) * signed(b[2 + i]),
        .iq4_nl => return half(b, 0) * @as(f64, @floatFromInt(formats.iq4_nl_values[@trunc(nibble(b[2..], i))])),
        .q2_k => {
            const q: f64 = @floatFromInt((b[16 + i / 128 * 32 + i % 32] >> @intCast(i % 128 / 32 * 2)) & 3);
            const group = b[i / 16];
            return half(b, 80) * low(group) * q - half(b, 82) * high(group);
        },
        .q3_k => {
            const q: f64 = @floatFromInt((b[32 + i / 128 * 32 + i % 32] >> @intCast(i % 128 / 32 * 2)) & 3);
            const is_high = (b[i % 32] >> @intCast(i / 32)) & 1 == 1;
            const k = i / 16;
            const low_bits = if (k < 8) low(b[96 + k]) else high(b[96 + k - 8]);
            const high_bits: f64 = @floatFromInt((b[104 + k % 4] >> @intCast(2 * (k / 4))) & 3);
            return half(b, 108) * (low_bits + 16 * high_bits - 32) * (if (is_high) q else q - 4);
        },
        .q4_k => return superBlock(b, i, nibbleOfPair(b[16..], i)),
        .q5_k => return superBlock(b, i, nibbleOfPair(b[48..], i) + 16 * @as(f64, @floatFromInt((b[16 + i % 32] >> @intCast(i / 32)) & 1))),
        .q6_k => {
            const l = i % 32;
            const quarter = i % 128 / 32;
            const ql = b[i / 128 * 64 + quarter % 2 * 32 + l];
            const qh: f64 = @floatFromInt((b[128 + i / 128 * 32 + l] >> @intCast(2 * quarter)) & 3);
            return half(b, 208) * signed(b[192 + i / 16]) * ((if (quarter < 2) low(ql) else high(ql)) + 16 * qh - 32);
        },
    }
}

/// Q4_K and Q5_K: eight groups of 32, their 6-bit scales and minimums in 12 bytes.
fn superBlock(b: []const u8, i: usize, q: f64) f64 {
    const j = i / 32;
    const s = b[4..16];
    const scale: u8 = if (j < 4) s[j] & 63 else (s[j + 4] & 15) | (s[j - 4] >> 6) << 4;
    const minimum: u8 = if (j < 4) s[j + 4] & 63 else s[j + 4] >> 4 | (s[j] >> 6) << 4;
    return half(b, 0) * @as(f64, @floatFromInt(scale)) * q - half(b, 2) * @as(f64, @floatFromInt(minimum));
}

fn half(b: []const u8, at: usize) f64 {
    return @as(f16, @bitCast(std.mem.readInt(u16, b[at..][0..2], .little)));
}

fn signed(byte: u8) f64 {
    return @floatFromInt(@as(i8, @bitCast(byte)));
}

fn low(byte: u8) f64 {
    return @floatFromInt(byte & 15);
}

fn high(byte: u8) f64 {
    return @floatFromInt(byte >> 4);
}

/// Elements 0 to 15 are the low nibbles of 16 bytes, 16 to 31 the high ones.
fn nibble(b: []const u8, i: usize) f64 {
    return if (i < 16) low(b[i]) else high(b[i - 16]);
}

/// The same in 32 bytes, for each pair of groups of 32.
fn nibbleOfPair(b: []const u8, i: usize) f64 {
    const byte = b[i / 64 * 32 + i % 32];
    return if (i % 64 < 32) low(byte) else high(byte);
}

fn bit(b: []const u8, i: usize) f64 {
    return @floatFromInt((b[i / 8] >> @intCast(i % 8)) & 1);
}

/// What is left of one activation row after its quantisation for weights of this format: multiples of a scale, which is the
/// largest magnitude of 32 elements divided by 127.
pub fn quantized(format: Format, x: []const f32, out: []f64) void {
    if (!formats.isQuantized(format)) {
        for (x, out) |from, *to| to.* = from;
        return;
    }
    var start: usize = 0;
    while (start < x.len) : (start += 32) {
        var largest: f32 = 0;
        for (x[start..][0..32]) |each| largest = @max(largest, @abs(each));
        const inverse: f32 = if (largest < 1e-30) 0 else 127 / largest;
        for (x[start..][0..32], out[start..][0..32]) |from, *to| to.* = roundEven(from * inverse) * (largest / 127);
    }
}

fn roundEven(x: f64) f64 {
    const nearest = @floor(x + 0.5);
    return if (nearest - x == 0.5 and @mod(nearest, 2) != 0) nearest - 1 else nearest;
}

/// One output element and the sum of the magnitudes of its terms, to which errors are relative.
pub const Dot = struct { value: f64, magnitude: f64 };

pub fn dot(matrix: *const Matrix, row: usize, x: []const f64) Dot {
    var result: Dot = .{ .value = 0, .magnitude = 0 };
    for (x, 0..) |each, column| {
        const term = weight(matrix, row, column) * each;
        result.value += term;
        result.magnitude += @abs(term);
    }
    return result;
}

pub fn rmsNorm(x: []const f32, weights: []const f32, epsilon: f64, out: []f64) void {
    var sum: f64 = 0;
    for (x) |each| sum += @as(f64, each) * each;
    const factor = 1 / @sqrt(sum / @as(f64, @floatFromInt(x.len)) + epsilon);
    for (x, weights, out) |each, w, *to| to.* = each * factor * w;
}

pub fn silu(x: f64) f64 {
    return x / (1 + @exp(-x));
}

pub fn gelu(x: f64) f64 {
    return 0.5 * x * (1 + std.math.tanh(@sqrt(2.0 / std.math.pi) * (x + 0.044715 * x * x * x)));
}

pub fn softcap(x: f64, cap: f64) f64 {
    return cap * std.math.tanh(x / cap);
}

/// Rotates the first 2 * cos.len elements of one head.
pub fn rope(x: []f64, cos: []const f32, sin: []const f32, pairing: Pairing) void {
    for (cos, sin, 0..) |c, s, i| {
        const a = if (pairing == .adjacent) 2 * i else i;
        const b = if (pairing == .adjacent) 2 * i + 1 else i + cos.len;
        const turned = .{ x[a] * c - x[b] * s, x[a] * s + x[b] * c };
        x[a] = turned[0];
        x[b] = turned[1];
    }
}

pub fn softmax(x: []const f32, out: []f64) void {
    var largest = -std.math.inf(f64);
    for (x) |each| largest = @max(largest, each);
    var sum: f64 = 0;
    for (x, out) |each, *to| {
        to.* = @exp(each - largest);
        sum += to.*;
    }
    for (out) |*each| each.* /= sum;
}
