//! Products of repacked weights and 8-bit activations. One unit of 32 columns adds to an output element, in this order:
//!     fma(sum of byte products, weight scale * activation scale); with minimums fma(minimum, activation scale * activation sum)
//! and units follow each other from the first to the last column, whatever the shape of the call: results do not depend on it.
const lanes = @import("lanes.zig");
const blocks = @import("blocks.zig");
const formats = @import("format.zig");
const activation = @import("activation.zig");
const Layout = @import("packed.zig").Layout;
const Format = formats.Format;
const Matrix = @import("table.zig").Matrix;
const F = lanes.F;
const I = lanes.I;
const W = lanes.W;

const rows = lanes.lanes;
const quads = blocks.quads;

/// Row blocks and activation rows of a register tile, from the number of vector registers.
const tile_blocks = if (lanes.vnni) 2 else 1;
const tile_count = if (lanes.vnni) 6 else 4;
/// Activation rows that meet a piece of weights after its bits were spread to bytes once.
const panel_count = 16 * tile_count;
/// Units of such a piece: with `panel_count` rows of sums it fills a good half of the first-level cache (48 KiB where there is AVX-512,
/// a quarter of 32 KiB with AVX2).
const piece_units = 16;

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
    if (row_begin >= row_end) return;
    if (count == 1) return single(format, matrix, activations, out, row_begin, row_end);
    const block_end = (row_end + rows - 1) / rows;
    const stride = activation.rowBytes(format, matrix.columns);
    var begin: u32 = 0;
    while (begin < count) : (begin += panel_count) {
        const panel: Panel = .{
            .activations = activations + begin * stride,
            .stride = stride,
            .count = @min(panel_count, count - begin),
            .out = out + begin * out_stride,
            .out_stride = out_stride,
            .row_begin = row_begin,
            .row_end = row_end,
        };
        var block = row_begin / rows;
        while (block + tile_blocks <= block_end) : (block += tile_blocks) panelBlocks(format, tile_blocks, matrix, block, &panel);
        if (tile_blocks > 1) while (block < block_end) : (block += 1) panelBlocks(format, 1, matrix, block, &panel);
    }
}

/// One activation row: weights are used as they come from memory.
fn single(comptime format: Format, matrix: *const Matrix, row: [*]const u8, out: [*]f32, row_begin: u32, row_end: u32) void {
    const units = matrix.columns / blocks.unit_columns;
    const bytes = Layout(format).rowBlockBytes(matrix.columns);
    var block = row_begin / rows;
    while (block * rows < row_end) : (block += 1) {
        const weights: Layout(format) = .init(matrix.repacked.? + block * bytes, matrix.columns);
        var sums: [1][1]F = .{.{@splat(0)}};
        for (0..units) |unit| {
            weights.prefetch(unit);
            addUnit(format, 1, 1, &sums, .{weights}, unit, row, 0, units, unit);
        }
        store(out, block, row_begin, row_end, sums[0][0]);
    }
}

const Panel = struct {
    activations: [*]const u8,
    stride: usize,
    count: u32,
    out: [*]f32,
    out_stride: usize,
    row_begin: u32,
    row_end: u32,
};

/// A few row blocks times all activation rows of a panel.
fn panelBlocks(comptime format: Format, comptime R: u32, matrix: *const Matrix, block: u32, panel: *const Panel) void {
    const units = matrix.columns / blocks.unit_columns;
    const bytes = Layout(format).rowBlockBytes(matrix.columns);
    // The first piece begins from zero and later ones from what is here.
    var sums: [panel_count][R]F = undefined;
    var pieces: [R]Piece(format) = undefined;
    // Pieces of equal size, none larger than piece_units.
    const pieces_count = (units + piece_units - 1) / piece_units;
    const step = (units + pieces_count - 1) / pieces_count;
    var first: u32 = 0;
    while (first < units) : (first += step) {
        const length = @min(step, units - first);
        inline for (0..R) |r|
            pieces[r].spread(.init(matrix.repacked.? + (block + r) * bytes, matrix.columns), first, length);
        var i: u32 = 0;
        while (i + tile_count <= panel.count) : (i += tile_count)
            addPiece(format, R, tile_count, sums[i..][0..tile_count], &pieces, first, length, panel.activations + i * panel.stride, panel.stride, units);
        switch (panel.count - i) {
            inline 1...tile_count - 1 => |N| addPiece(format, R, N, sums[i..][0..N], &pieces, first, length, panel.activations + i * panel.stride, panel.stride, units),
            else => {},
        }
    }
    for (sums[0..panel.count], 0..) |each, i| inline for (0..R) |r|
        store(panel.out + i * panel.out_stride, block + r, panel.row_begin, panel.row_end, each[r]);
}

fn addPiece(
    comptime format: Format,
    comptime R: u32,
    comptime N: u32,
    out: *[N][R]F,
    pieces: *const [R]Piece(format),
    first: u32,
    length: u32,
    activations: [*]const u8,
    stride: usize,
    units: u32,
) void {
    var sources: [R]*const Piece(format) = undefined;
    inline for (0..R) |r| sources[r] = &pieces[r];
    var sums = if (first == 0) @as([N][R]F, @splat(@splat(@splat(0)))) else out.*;
    for (0..length) |unit| addUnit(format, R, N, &sums, sources, unit, activations, stride, units, first + unit);
    out.* = sums;
}

/// A piece of a row block as bytes and f32, the same numbers that Layout gives.
fn Piece(comptime format: Format) type {
    return struct {
        bytes: [piece_units][quads]W,
        scales: [piece_units][form.groups]F,
        minimums: [piece_units][if (form.minimums) form.groups else 0]F,

        const form: blocks.Form = blocks.formOf(format);
        const Self = @This();

        fn spread(self: *Self, weights: Layout(format), first: usize, length: usize) void {
            for (0..length) |unit| {
                weights.prefetch(first + unit);
                inline for (0..quads) |j| self.bytes[unit][j] = weights.quad(first + unit, j);
                inline for (0..form.groups) |group| {
                    self.scales[unit][group] = weights.scale(first + unit, group);
                    if (form.minimums) self.minimums[unit][group] = weights.minimum(first + unit, group);
                }
            }
        }

        inline fn quad(self: *const Self, unit: usize, comptime j: u5) W {
            return self.bytes[unit][j];
        }

        inline fn scale(self: *const Self, unit: usize, comptime group: u32) F {
            return self.scales[unit][group];
        }

        inline fn minimum(self: *const Self, unit: usize, comptime group: u32) F {
            return self.minimums[unit][group];
        }
    };
}

/// Adds one unit: `weights` are R of Layout or pointers to Piece, read at `unit`; activations are N rows at `stride`, each of
/// `units`, read at `at`.
inline fn addUnit(
    comptime format: Format,
    comptime R: u32,
    comptime N: u32,
    sums: *[N][R]F,
    weights: anytype,
    unit: usize,
    activations: [*]const u8,
    stride: usize,
    units: usize,
    at: usize,
) void {
    @setEvalBranchQuota(10_000);
    const form = comptime blocks.formOf(format);
    const correction = comptime activation.Correction.of(form);
    const steps = quads / form.groups;
    inline for (0..form.groups) |group| {
        var dots: [N][R]lanes.Dot(form.bits) = undefined;
        inline for (0..N) |n| inline for (0..R) |r| {
            const start: I = if (form.minimums or (form.bits == 8 and !lanes.bytes_unsigned))
                @splat(0)
            else
                @splat(activation.correctionOf(correction, i32, activations + n * stride, units, at, group));
            dots[n][r] = .init(start);
        };
        inline for (0..steps) |step| {
            const j = group * steps + step;
            var w: [R]W = undefined;
            inline for (0..R) |r| w[r] = weights[r].quad(unit, j);
            inline for (0..N) |n| {
                const a = activation.quadOf(activations + n * stride, at, j);
                inline for (0..R) |r| dots[n][r].add(step, steps, w[r], a);
            }
        }
        inline for (0..R) |r| {
            const scale = weights[r].scale(unit, group);
            inline for (0..N) |n| {
                const both = scale * @as(F, @splat(activation.scaleOf(activations + n * stride, units, at)));
                sums[n][r] = @mulAdd(F, @floatFromInt(dots[n][r].sum), both, sums[n][r]);
            }
            if (form.minimums) {
                const minimum = weights[r].minimum(unit, group);
                inline for (0..N) |n| {
                    const sum: F = @splat(activation.correctionOf(correction, f32, activations + n * stride, units, at, group));
                    sums[n][r] = @mulAdd(F, minimum, sum, sums[n][r]);
                }
            }
        }
    }
}

/// Writes the rows of a block that are in the range.
inline fn store(out: [*]f32, block: usize, row_begin: u32, row_end: u32, sums: F) void {
    const first = block * rows;
    if (first >= row_begin and first + rows <= row_end) {
        lanes.save(out + first, sums);
        return;
    }
    const values: [rows]f32 = sums;
    for (@max(first, row_begin)..@min(first + rows, row_end)) |row| out[row] = values[row - first];
}
