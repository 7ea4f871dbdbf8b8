//! The repacked weights. A row block is `lanes` rows side by side, so that a vector register holds the same 4 columns of each of
//! them and products need no horizontal sums. Its bytes are one stream: first the bits of all units, then the scales.
//!
//! Bits of a unit (32 columns), as vectors of one u32 per row, from the form's bits: the low 4 of quads j and j + 4 as the two
//! nibbles of vector j; 2 bits of quads 4i to 4i + 3 as the four pairs of vector i; 1 bit of quad j as bit j; or bytes. IQ4_NL is kept as
//! bytes, its values looked up.
//!
//! Scales: per unit f16[lanes] and, with minimums, f16[lanes]; or, where they are nested, per block of 256 columns
//! i8[groups][lanes], with minimums u8[groups][lanes], then f16[lanes] scales and, with minimums, f16[lanes].
const std = @import("std");
const lanes = @import("lanes.zig");
const blocks = @import("blocks.zig");
const formats = @import("format.zig");
const Format = formats.Format;
const Form = blocks.Form;
const Matrix = @import("table.zig").Matrix;
const F = lanes.F;
const W = lanes.W;

const rows = lanes.lanes;
const quads = blocks.quads;
const vector_bytes = rows * 4;
const alignment = 64;
/// How far ahead of its use memory is asked for. Measured with the weights in memory: 4096 reads 10 to 40 % faster than nothing, 1024 half
/// of that; hardware does not see past the end of a page.
const prefetch_bytes = 4096;

/// Which bits of a byte are stored how.
const Planes = struct { nibble: bool, pair: ?u5, single: ?u5 };

fn planesOf(comptime bits: u4) Planes {
    return switch (bits) {
        2 => .{ .nibble = false, .pair = 0, .single = null },
        3 => .{ .nibble = false, .pair = 0, .single = 2 },
        4 => .{ .nibble = true, .pair = null, .single = null },
        5 => .{ .nibble = true, .pair = null, .single = 4 },
        6 => .{ .nibble = true, .pair = 4, .single = null },
        else => comptime unreachable,
    };
}

pub fn Layout(comptime format: Format) type {
    return struct {
        pub const form: Form = blocks.formOf(format);
        const block_units = blocks.blockUnits(format);
        const groups = block_units * form.groups;
        const unit_bytes = @as(usize, form.bits) * vector_bytes;
        const scale_bytes: usize = rows * (if (form.nested) groups + 2 else 2) * (if (form.minimums) 2 else 1);

        pub fn rowBlockBytes(columns: u32) usize {
            const blocks_count = columns / formats.blockElements(format);
            return std.mem.alignForward(usize, blocks_count * (block_units * unit_bytes + scale_bytes), alignment);
        }

        /// One row block of a matrix.
        bits: [*]const u8,
        scales: [*]const u8,

        const Self = @This();

        pub inline fn init(base: [*]const u8, columns: u32) Self {
            return .{ .bits = base, .scales = base + columns / blocks.unit_columns * unit_bytes };
        }

        /// Asks for the bits that will be read a few units later, be they this row block's or the next one's.
        pub inline fn prefetch(self: Self, unit: usize) void {
            comptime var line = 0;
            inline while (line < unit_bytes) : (line += 64)
                @prefetch(self.bits + unit * unit_bytes + prefetch_bytes + line, .{ .rw = .read, .locality = 3, .cache = .data });
        }

        pub inline fn quad(self: Self, unit: usize, comptime j: u5) W {
            const base = self.bits + unit * unit_bytes;
            if (form.bits == 8) return vector(base, j);
            const planes = comptime planesOf(form.bits);
            var out: W = if (planes.nibble) nibble: {
                const v = vector(base, j % 4);
                break :nibble (if (j < 4) v else v >> @splat(4)) & @as(W, @splat(0x0f0f0f0f));
            } else @splat(0);
            const pairs_at = if (planes.nibble) 4 else 0;
            if (planes.pair) |to|
                out |= moved(vector(base, pairs_at + j / 4), 2 * (j % 4), to) & @as(W, @splat(0x03030303 << to));
            const single_at = pairs_at + if (planes.pair != null) 2 else 0;
            if (planes.single) |to|
                out |= moved(vector(base, single_at), j, to) & @as(W, @splat(0x01010101 << to));
            return out;
        }

        /// Scales of a group of a unit, and minimums with the sign with which they are added.
        pub inline fn scale(self: Self, unit: usize, comptime group: u32) F {
            if (!form.nested) return halves(self.scales + unit * scale_bytes);
            const block = self.scales + unit / block_units * scale_bytes;
            const small = lanes.load(@Vector(rows, i8), block + (unit % block_units * form.groups + group) * rows);
            const whole = halves(block + groups * rows * (if (form.minimums) 2 else 1));
            return whole * @as(F, @floatFromInt(@as(lanes.I, small)));
        }

        pub inline fn minimum(self: Self, unit: usize, comptime group: u32) F {
            if (!form.nested) return halves(self.scales + unit * scale_bytes + 2 * rows);
            const block = self.scales + unit / block_units * scale_bytes;
            const small = lanes.load(@Vector(rows, u8), block + (groups + unit % block_units * form.groups + group) * rows);
            const whole = halves(block + groups * rows * 2 + 2 * rows);
            return whole * @as(F, @floatFromInt(@as(lanes.I, small)));
        }

        /// Writes one row block; rows from `count` on are zero.
        pub fn pack(data: [*]const u8, columns: u32, count: u32, out: [*]u8) void {
            const row_bytes = formats.rowBytes(format, columns);
            const units = columns / blocks.unit_columns;
            const scales = out + units * unit_bytes;
            for (0..columns / formats.blockElements(format)) |index| {
                var sources: [rows][*]const u8 = undefined;
                for (&sources, 0..) |*source, row|
                    source.* = if (row < count) data + row * row_bytes + index * formats.blockBytes(format) else &zero_block;
                for (0..block_units) |unit|
                    packBits(&blocks.unitQuads(format, rows, &sources, @intCast(unit)), out + (index * block_units + unit) * unit_bytes);
                packScales(&sources, scales + index * scale_bytes);
            }
            const used = units * unit_bytes + units / block_units * scale_bytes;
            @memset(out[used..rowBlockBytes(columns)], 0);
        }

        fn packBits(values: *const [quads]W, out: [*]u8) void {
            if (form.bits == 8) {
                inline for (values, 0..) |v, j|
                    setVector(out, j, if (lanes.bytes_unsigned) v else v ^ @as(W, @splat(0x80808080)));
                return;
            }
            const planes = comptime planesOf(form.bits);
            comptime var at = 0;
            if (planes.nibble) inline for (0..4) |j| {
                const mask: W = @splat(0x0f0f0f0f);
                setVector(out, at, (values[j] & mask) | (values[j + 4] & mask) << @splat(4));
                at += 1;
            };
            if (planes.pair) |from| inline for (0..2) |i| {
                var v: W = @splat(0);
                inline for (0..4) |j| v |= ((values[4 * i + j] >> @splat(from)) & @as(W, @splat(0x03030303))) << @splat(2 * j);
                setVector(out, at, v);
                at += 1;
            };
            if (planes.single) |from| {
                var v: W = @splat(0);
                inline for (0..quads) |j| v |= ((values[j] >> @splat(from)) & @as(W, @splat(0x01010101))) << @splat(j);
                setVector(out, at, v);
            }
        }

        fn packScales(sources: *const [rows][*]const u8, out: [*]u8) void {
            var whole = out;
            if (form.nested) for (0..groups) |group| for (sources, 0..) |source, row| {
                const nested = blocks.nestedScale(format, source, @intCast(group));
                out[group * rows + row] = @bitCast(nested.scale);
                if (form.minimums) out[(groups + group) * rows + row] = nested.minimum;
            };
            if (form.nested) whole += groups * rows * @as(usize, if (form.minimums) 2 else 1);
            for (sources, 0..) |source, row| {
                std.mem.writeInt(u16, whole[2 * row ..][0..2], @bitCast(blocks.blockScale(format, source)), .little);
                if (form.minimums) {
                    const least = blocks.blockMinimum(format, source);
                    const signed = if (blocks.minimumSign(format) < 0) -least else least;
                    std.mem.writeInt(u16, whole[2 * rows + 2 * row ..][0..2], @bitCast(signed), .little);
                }
            }
        }

        const zero_block: [formats.blockBytes(format)]u8 = @splat(0);
    };
}

inline fn vector(base: [*]const u8, index: usize) W {
    return lanes.load(W, base + index * vector_bytes);
}

inline fn setVector(base: [*]u8, index: usize, v: W) void {
    lanes.save(base + index * vector_bytes, v);
}

inline fn halves(p: [*]const u8) F {
    return lanes.load(@Vector(rows, f16), p);
}

/// Bit `from` of each byte to bit `to`; neighbours come along, and masks drop them.
inline fn moved(v: W, comptime from: u5, comptime to: u5) W {
    return if (from >= to) v >> @splat(from - to) else v << @splat(to - from);
}

pub fn repackedBytes(format: Format, row_count: u32, columns: u32) callconv(.c) usize {
    switch (format) {
        inline else => |each| {
            if (comptime !formats.isQuantized(each)) return 0;
            return (@as(usize, row_count) + rows - 1) / rows * Layout(each).rowBlockBytes(columns);
        },
    }
}

pub fn repack(matrix: *const Matrix, out: [*]u8, row_begin: u32, row_end: u32) callconv(.c) void {
    switch (matrix.format) {
        inline else => |format| {
            if (comptime !formats.isQuantized(format)) return;
            const bytes = Layout(format).rowBlockBytes(matrix.columns);
            var row = row_begin;
            while (row < row_end) : (row += rows) {
                Layout(format).pack(
                    matrix.data + row * formats.rowBytes(format, matrix.columns),
                    matrix.columns,
                    @min(rows, matrix.rows - row),
                    out + row / rows * bytes,
                );
            }
        },
    }
}
