//! Products of f32, f16 and bf16 weights, as in the file, and f32 activations. Lane l of two accumulators, used in turn, sums the
//! columns l, l + 2 lanes, … and l + lanes, …; the accumulators are added and halved until one number is left.
const lanes = @import("lanes.zig");
const formats = @import("format.zig");
const activation = @import("activation.zig");
const Format = formats.Format;
const Matrix = @import("table.zig").Matrix;
const F = lanes.F;

const width = lanes.lanes;
const tile_count = 4;

pub fn matmul(
    comptime format: Format,
    matrix: *const Matrix,
    activations: [*]const u8,
    count: u32,
    out: [*]f32,
    out_stride: usize,
    row_begin: u32,
    row_end: u32,
) void {
    const columns = matrix.columns;
    const stride = activation.rowBytes(format, columns);
    for (row_begin..row_end) |row| {
        const weights = matrix.data + row * formats.rowBytes(format, columns);
        var i: u32 = 0;
        while (i + tile_count <= count) : (i += tile_count)
            dots(format, tile_count, weights, activations + i * stride, stride, columns, out + i * out_stride + row, out_stride);
        switch (count - i) {
            inline 1...tile_count - 1 => |N| dots(format, N, weights, activations + i * stride, stride, columns, out + i * out_stride + row, out_stride),
            else => {},
        }
    }
}

inline fn dots(
    comptime format: Format,
    comptime N: u32,
    weights: [*]const u8,
    activations: [*]const u8,
    stride: usize,
    columns: u32,
    out: [*]f32,
    out_stride: usize,
) void {
    var sums: [N][2]F = @splat(@splat(@splat(0)));
    var i: usize = 0;
    while (i + 2 * width <= columns) : (i += 2 * width) {
        inline for (0..2) |part| {
            const w = load(format, weights, i + part * width);
            inline for (0..N) |n| sums[n][part] = @mulAdd(F, w, lanes.loadF(rowOf(activations, n * stride) + i + part * width), sums[n][part]);
        }
    }
    var part: u1 = 0;
    while (i < columns) : (i += width) {
        const left = @min(width, columns - i);
        const w = loadPart(format, weights, i, left);
        inline for (0..N) |n| {
            const a = lanes.loadPart(f32, rowOf(activations, n * stride) + i, left);
            if (part == 0) sums[n][0] = @mulAdd(F, w, a, sums[n][0]) else sums[n][1] = @mulAdd(F, w, a, sums[n][1]);
        }
        part +%= 1;
    }
    inline for (0..N) |n| out[n * out_stride] = lanes.sum(sums[n][0] + sums[n][1]);
}

inline fn rowOf(activations: [*]const u8, offset: usize) [*]const f32 {
    return @ptrCast(@alignCast(activations + offset));
}

fn Element(comptime format: Format) type {
    return switch (format) {
        .f32 => f32,
        .f16 => f16,
        .bf16 => u16,
        else => comptime unreachable,
    };
}

inline fn load(comptime format: Format, weights: [*]const u8, index: usize) F {
    const T = Element(format);
    return widen(format, lanes.load(@Vector(width, T), weights + index * @sizeOf(T)));
}

inline fn loadPart(comptime format: Format, weights: [*]const u8, index: usize, n: usize) F {
    const T = Element(format);
    var bytes: [width * @sizeOf(T)]u8 = @splat(0);
    @memcpy(bytes[0 .. n * @sizeOf(T)], weights[index * @sizeOf(T) ..]);
    return widen(format, lanes.load(@Vector(width, T), &bytes));
}

inline fn widen(comptime format: Format, v: @Vector(width, Element(format))) F {
    if (format == .bf16) return @bitCast(@as(lanes.W, v) << @splat(16));
    return v;
}
