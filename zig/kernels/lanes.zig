//! The vectors of this CPU level and the few instructions that Zig has no words for.
const builtin = @import("builtin");
const std = @import("std");

const level = @import("options").level;
pub const vnni = std.mem.eql(u8, level, "avx512vnni");
pub const avx2 = std.mem.eql(u8, level, "avx2");
const dotprod = builtin.cpu.arch == .aarch64 and builtin.cpu.has(.aarch64, .dotprod);

/// Lanes of 32 bits. In products a lane is a weight row.
pub const lanes = if (vnni) 16 else 8;
pub const F = @Vector(lanes, f32);
pub const I = @Vector(lanes, i32);
pub const W = @Vector(lanes, u32);
const SignedBytes = @Vector(lanes * 4, i8);
const Shorts = @Vector(lanes * 2, i16);

const x86 = struct {
    extern fn @"llvm.x86.avx2.pmadd.ub.sw"(@Vector(32, u8), @Vector(32, i8)) @Vector(16, i16);
    extern fn @"llvm.x86.avx2.pmadd.wd"(@Vector(16, i16), @Vector(16, i16)) @Vector(8, i32);
    extern fn @"llvm.x86.avx2.psign.b"(@Vector(32, i8), @Vector(32, i8)) @Vector(32, i8);
    extern fn @"llvm.x86.avx512.vpdpbusd.512"(@Vector(16, i32), @Vector(64, u8), @Vector(64, i8)) @Vector(16, i32);
};

const arm = struct {
    extern fn @"llvm.aarch64.neon.sdot.v4i32.v16i8"(@Vector(4, i32), @Vector(16, i8), @Vector(16, i8)) @Vector(4, i32);
};

/// 8-bit weights: where products take an unsigned operand that may use all 8 bits they are stored with 128 added, else as they are.
pub const bytes_unsigned = vnni;

/// The sum of products of one group of columns, lane by lane. Weights come as 4 columns of a row per lane: unsigned numbers of
/// `bits` bits, or for 8 bits see `bytes_unsigned`. The sums are exact, so their order is nobody's business.
pub fn Dot(comptime bits: u4) type {
    return struct {
        sum: I,
        pending: if (short_run == 0) void else Shorts = if (short_run == 0) {} else @splat(0),

        const Self = @This();
        /// Steps whose pair sums fit 16 bits together: 2 * (2^bits - 1) * 127 each.
        const short_run: u8 = if (!avx2) 0 else switch (bits) {
            2, 3, 4 => 8,
            5 => 4,
            6 => 2,
            else => 0,
        };

        pub inline fn init(start: I) Self {
            return .{ .sum = start };
        }

        /// Adds step `step` of `steps`: four columns; the activations of all lanes are the same four bytes.
        pub inline fn add(self: *Self, comptime step: u8, comptime steps: u8, weights: W, activations: I) void {
            const a: SignedBytes = @bitCast(activations);
            if (vnni) {
                self.sum = x86.@"llvm.x86.avx512.vpdpbusd.512"(self.sum, @bitCast(weights), a);
            } else if (avx2 and bits == 8) {
                // |w| <= 128 and |a| <= 127, so that pair sums stay below 2^15.
                const w: SignedBytes = @bitCast(weights);
                const pairs = x86.@"llvm.x86.avx2.pmadd.ub.sw"(@abs(w), x86.@"llvm.x86.avx2.psign.b"(a, w));
                self.sum += x86.@"llvm.x86.avx2.pmadd.wd"(pairs, @splat(1));
            } else if (avx2) {
                const pairs = x86.@"llvm.x86.avx2.pmadd.ub.sw"(@bitCast(weights), a);
                self.pending = if (step % short_run == 0) pairs else self.pending + pairs;
                if (step % short_run == short_run - 1 or step == steps - 1)
                    self.sum += x86.@"llvm.x86.avx2.pmadd.wd"(self.pending, @splat(1));
            } else if (dotprod) {
                const w: SignedBytes = @bitCast(weights);
                self.sum = std.simd.join(
                    arm.@"llvm.aarch64.neon.sdot.v4i32.v16i8"(half(self.sum, 0), half(w, 0), half(a, 0)),
                    arm.@"llvm.aarch64.neon.sdot.v4i32.v16i8"(half(self.sum, 1), half(w, 1), half(a, 1)),
                );
            } else {
                const w: I = @bitCast(weights);
                inline for (.{ 24, 16, 8, 0 }) |shift|
                    self.sum += ((w << @splat(shift)) >> @splat(24)) * ((activations << @splat(shift)) >> @splat(24));
            }
        }
    };
}

inline fn half(v: anytype, comptime index: comptime_int) @Vector(@typeInfo(@TypeOf(v)).vector.len / 2, @typeInfo(@TypeOf(v)).vector.child) {
    const n = @typeInfo(@TypeOf(v)).vector.len / 2;
    return std.simd.extract(v, index * n, n);
}

/// A vector at any address. Through a pointer, for the value of an array becomes a vector element by element.
pub inline fn load(comptime V: type, p: anytype) V {
    return @as(*align(1) const V, @ptrCast(p)).*;
}

pub inline fn save(p: anytype, v: anytype) void {
    @as(*align(1) @TypeOf(v), @ptrCast(p)).* = v;
}

pub inline fn loadF(p: [*]const f32) F {
    return load(F, p);
}

pub inline fn loadHalf(p: [*]const f16) F {
    return load(@Vector(lanes, f16), p);
}

/// The first n < lanes elements, then zeros.
pub inline fn loadPart(comptime T: type, p: [*]const T, n: usize) @Vector(lanes, T) {
    var buffer: [lanes]T = @splat(0);
    @memcpy(buffer[0..n], p[0..n]);
    return load(@Vector(lanes, T), &buffer);
}

pub inline fn storePart(comptime T: type, p: [*]T, n: usize, v: @Vector(lanes, T)) void {
    const buffer: [lanes]T = v;
    @memcpy(p[0..n], buffer[0..n]);
}

/// Rounds to the nearest integer, ties to even, for |x| < 2^22: adding 1.5 * 2^23 leaves the integer in the low bits.
pub inline fn roundToInt(x: anytype) @Vector(@typeInfo(@TypeOf(x)).vector.len, i32) {
    const n = @typeInfo(@TypeOf(x)).vector.len;
    const magic: @Vector(n, f32) = @splat(12582912.0);
    return @as(@Vector(n, i32), @bitCast(x + magic)) - @as(@Vector(n, i32), @bitCast(magic));
}

/// e^x with a relative error below 2e-7 on [-87.3, 88.3]; 0 below, and 2.2e38 above.
pub inline fn exp(x: F) F {
    const low: F = @splat(-87.3);
    const clamped = @min(@max(x, low), @as(F, @splat(88.3)));
    const n = roundToInt(clamped * @as(F, @splat(std.math.log2e)));
    const nf: F = @floatFromInt(n);
    // ln 2 in two parts, the first exact in few bits, so that the reduction loses nothing.
    var r = @mulAdd(F, nf, @splat(-0.693359375), clamped);
    r = @mulAdd(F, nf, @splat(2.12194440e-4), r);
    // Cephes expf.
    var p: F = @splat(1.9875691500e-4);
    p = @mulAdd(F, p, r, @splat(1.3981999507e-3));
    p = @mulAdd(F, p, r, @splat(8.3334519073e-3));
    p = @mulAdd(F, p, r, @splat(4.1665795894e-2));
    p = @mulAdd(F, p, r, @splat(1.6666665459e-1));
    p = @mulAdd(F, p, r, @splat(5.0000001201e-1));
    p = @mulAdd(F, p, r * r, r + @as(F, @splat(1)));
    const power: F = @bitCast((n + @as(I, @splat(127))) << @splat(23));
    return @select(f32, x < low, @as(F, @splat(0)), p * power);
}

/// The sum of all lanes: halves are added to each other until one lane is left. Not @reduce, which would add one by one.
pub inline fn sum(v: F) f32 {
    var folded = v;
    inline for (fold_masks) |mask| folded += @shuffle(f32, folded, undefined, mask);
    return folded[0];
}

/// The largest lane, in the same way.
pub inline fn max(v: F) f32 {
    var folded = v;
    inline for (fold_masks) |mask| folded = @max(folded, @shuffle(f32, folded, undefined, mask));
    return folded[0];
}

const fold_masks = masks: {
    var masks: [std.math.log2_int(u32, lanes)][lanes]i32 = undefined;
    for (&masks, 0..) |*mask, step| {
        for (mask, 0..) |*from, lane| from.* = @intCast(lane ^ (lanes >> (step + 1)));
    }
    break :masks masks;
};
