//! The activation forms. Float weights are multiplied with f32 as it is. Quantised weights are multiplied with bytes: groups of 32
//! columns x ~ scale * byte, |byte| <= 127, and with sums over the bytes, by which products of unsigned weights are corrected.
//!
//! A row is a sequence of arrays: i8[columns], then for each unit of 32 columns f32 scale, and one array for each correction.
const std = @import("std");
const lanes = @import("lanes.zig");
const blocks = @import("blocks.zig");
const formats = @import("format.zig");
const Format = formats.Format;
const F = lanes.F;

const unit_columns = blocks.unit_columns;
/// Rows begin at cache lines.
const row_alignment = 64;

/// What is added to a group's integer product, or to its real one: a fixed multiple of the sum of the group's bytes, so that
/// kernels need no more than to load it. Order and size in memory as here; a full row has 4 bytes per correction and group.
pub const Correction = enum {
    /// f32 scale * sum: multiplied with the weights' minimum.
    sum32,
    sum16,
    /// i32 -offset * sum.
    offset8,
    offset16,
    offset128,
    offset4x16,
    offset32x16,

    pub fn of(comptime form: blocks.Form) Correction {
        if (form.minimums) return if (form.groups == 1) .sum32 else .sum16;
        return switch (form.offset) {
            8 => .offset8,
            16 => .offset16,
            128 => .offset128,
            4 => .offset4x16,
            32 => .offset32x16,
            else => comptime unreachable,
        };
    }

    fn groups(self: Correction) usize {
        return switch (self) {
            .sum32, .offset8, .offset16, .offset128 => 1,
            .sum16, .offset4x16, .offset32x16 => 2,
        };
    }

    /// Bytes from the start of a row, as a multiple of its units: the arrays have a whole number of bytes for each unit.
    pub fn offsetPerUnit(comptime self: Correction) usize {
        comptime {
            var offset: usize = unit_columns + 4;
            for (std.enums.values(Correction)) |each| {
                if (each == self) return offset;
                offset += 4 * each.groups();
            }
            unreachable;
        }
    }
};

const unit_bytes = Correction.offsetPerUnit(.offset32x16) + 8;

pub fn rowBytes(format: Format, columns: u32) callconv(.c) usize {
    const bytes: usize = if (formats.isQuantized(format)) columns / unit_columns * unit_bytes else @as(usize, columns) * 4;
    return std.mem.alignForward(usize, bytes, row_alignment);
}

/// The bytes of unit `unit`, 4 at `quad`, in all lanes.
pub inline fn quadOf(row: [*]const u8, unit: usize, quad: usize) lanes.I {
    return @splat(@as(*align(1) const i32, @ptrCast(row + unit * unit_columns + quad * 4)).*);
}

/// The scale of `unit` in a row of `units`.
pub inline fn scaleOf(row: [*]const u8, units: usize, unit: usize) f32 {
    return @as([*]align(1) const f32, @ptrCast(row + units * unit_columns))[unit];
}

pub inline fn correctionOf(
    comptime correction: Correction,
    comptime T: type,
    row: [*]const u8,
    units: usize,
    unit: usize,
    comptime group: usize,
) T {
    const array: [*]align(1) const T = @ptrCast(row + units * comptime correction.offsetPerUnit());
    return array[unit * (comptime correction.groups()) + group];
}

pub fn quantize(format: Format, x: [*]const f32, columns: u32, out: [*]u8) callconv(.c) void {
    if (!formats.isQuantized(format)) {
        @memcpy(out[0 .. @as(usize, columns) * 4], @as([*]const u8, @ptrCast(x)));
        return;
    }
    const units = columns / unit_columns;
    const scales: [*]align(1) f32 = @ptrCast(out + @as(usize, units) * unit_columns);
    for (0..units) |unit| {
        const parts = unit_columns / lanes.lanes;
        var v: [parts]F = undefined;
        // The bits of numbers without sign are ordered as the numbers are, and integers have a fast maximum.
        var top: lanes.I = @splat(0);
        inline for (0..parts) |i| {
            v[i] = lanes.loadF(x + unit * unit_columns + i * lanes.lanes);
            top = @max(top, @as(lanes.I, @bitCast(@abs(v[i]))));
        }
        const largest: f32 = @bitCast(@reduce(.Max, top));
        const scale = largest / 127;
        // A group below the normal numbers is zero: its inverse would be infinite.
        const inverse: F = @splat(if (largest < 1e-30) 0 else 127 / largest);
        var sums: [2]i32 = .{ 0, 0 };
        inline for (0..parts) |i| {
            const rounded = lanes.roundToInt(v[i] * inverse);
            lanes.save(out + unit * unit_columns + i * lanes.lanes, @as(@Vector(lanes.lanes, i8), @truncate(rounded)));
            sums[i * 2 / parts] += @reduce(.Add, rounded);
        }
        scales[unit] = scale;
        inline for (comptime std.enums.values(Correction)) |correction| {
            const array = out + @as(usize, units) * comptime correction.offsetPerUnit();
            const groups = comptime correction.groups();
            inline for (0..groups) |group| {
                const sum = if (groups == 1) sums[0] + sums[1] else sums[group];
                const bytes: [4]u8 = switch (correction) {
                    .sum32, .sum16 => @bitCast(scale * @as(f32, @floatFromInt(sum))),
                    .offset8 => @bitCast(-8 * sum),
                    .offset16 => @bitCast(-16 * sum),
                    .offset128 => @bitCast(-128 * sum),
                    .offset4x16 => @bitCast(-4 * sum),
                    .offset32x16 => @bitCast(-32 * sum),
                };
                array[(unit * groups + group) * 4 ..][0..4].* = bytes;
            }
        }
    }
}
