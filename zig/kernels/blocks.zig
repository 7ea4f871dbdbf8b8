//! Reads the quantised blocks of the file (layouts: ggml-common.h, ggml-quants.c) in one form for all formats: a block is a number
//! of units of 32 columns, a unit is eight quads of 4 columns as bytes and one or two groups, each with a scale and a minimum:
//!     weight = scale * (byte - offset) - minimum
const std = @import("std");
const Format = @import("format.zig").Format;
const formats = @import("format.zig");

pub const unit_columns = 32;
pub const quads = 8;

/// What differs between the quantised formats after their bits are in bytes.
pub const Form = struct {
    /// Bits of a byte that are used.
    bits: u4,
    /// Groups, each with a scale of its own, in a unit.
    groups: u8,
    offset: i32,
    minimums: bool,
    /// Scales are small integers times one f16 per block of 256 columns, else f16 per unit.
    nested: bool,
};

pub fn formOf(comptime format: Format) Form {
    return switch (format) {
        .q4_0 => .{ .bits = 4, .groups = 1, .offset = 8, .minimums = false, .nested = false },
        .q4_1 => .{ .bits = 4, .groups = 1, .offset = 0, .minimums = true, .nested = false },
        .q5_0 => .{ .bits = 5, .groups = 1, .offset = 16, .minimums = false, .nested = false },
        .q5_1 => .{ .bits = 5, .groups = 1, .offset = 0, .minimums = true, .nested = false },
        .q8_0, .iq4_nl => .{ .bits = 8, .groups = 1, .offset = 128, .minimums = false, .nested = false },
        .q2_k => .{ .bits = 2, .groups = 2, .offset = 0, .minimums = true, .nested = true },
        .q3_k => .{ .bits = 3, .groups = 2, .offset = 4, .minimums = false, .nested = true },
        .q4_k => .{ .bits = 4, .groups = 1, .offset = 0, .minimums = true, .nested = true },
        .q5_k => .{ .bits = 5, .groups = 1, .offset = 0, .minimums = true, .nested = true },
        .q6_k => .{ .bits = 6, .groups = 2, .offset = 32, .minimums = false, .nested = true },
        .f32, .f16, .bf16 => @compileError("not a quantised format"),
    };
}

pub fn blockUnits(comptime format: Format) u32 {
    return formats.blockElements(format) / unit_columns;
}

/// The bytes of a unit for several rows at once, a row per lane: quad j holds columns 4j to 4j + 3, the first in the low byte.
pub fn unitQuads(
    comptime format: Format,
    comptime rows: u32,
    blocks: *const [rows][*]const u8,
    unit: u32,
) [quads]@Vector(rows, u32) {
    const V = @Vector(rows, u32);
    const one: V = @splat(0x01010101);
    const two: V = @splat(0x03030303);
    const four: V = @splat(0x0f0f0f0f);
    var out: [quads]V = undefined;
    switch (format) {
        .q4_0, .q4_1, .q5_0, .q5_1 => {
            const nibbles = switch (format) {
                .q4_0 => 2,
                .q4_1 => 4,
                .q5_0 => 6,
                else => 8,
            };
            inline for (0..4) |j| {
                const w = words(rows, blocks, nibbles + 4 * j);
                out[j] = w & four;
                out[j + 4] = (w >> @splat(4)) & four;
            }
            if (format == .q5_0 or format == .q5_1) {
                const fifth = words(rows, blocks, nibbles - 4);
                // The product spreads 4 bits over 4 bytes: bit i is wanted at 8i, and 2^(7i) of the factor takes it there.
                inline for (0..quads) |j| {
                    const bits = (fifth >> @splat(4 * j)) & @as(V, @splat(0xf));
                    out[j] |= ((bits *% @as(V, @splat(0x00204081))) & one) << @splat(4);
                }
            }
        },
        .q8_0 => inline for (0..quads) |j| {
            out[j] = words(rows, blocks, 2 + 4 * j) ^ @as(V, @splat(0x80808080));
        },
        .iq4_nl => inline for (0..rows) |row| {
            const nibbles = blocks[row] + 2;
            var values: [unit_columns]u8 = undefined;
            for (0..16) |i| {
                values[i] = iq4_nl_bytes[nibbles[i] & 15];
                values[i + 16] = iq4_nl_bytes[nibbles[i] >> 4];
            }
            inline for (0..quads) |j| out[j][row] = std.mem.readInt(u32, values[4 * j ..][0..4], .little);
        },
        .q2_k, .q3_k => {
            const low: usize = (if (format == .q2_k) 16 else 32) + 32 * (unit / 4);
            const shift: @Vector(rows, u5) = @splat(@intCast(2 * (unit % 4)));
            inline for (0..quads) |j| {
                out[j] = (words(rows, blocks, low + 4 * j) >> shift) & two;
                if (format == .q3_k)
                    out[j] |= ((words(rows, blocks, 4 * j) >> @splat(@intCast(unit))) & one) << @splat(2);
            }
        },
        .q4_k, .q5_k => {
            const low: usize = (if (format == .q4_k) 16 else 48) + 32 * (unit / 2);
            const shift: @Vector(rows, u5) = @splat(@intCast(4 * (unit % 2)));
            inline for (0..quads) |j| {
                out[j] = (words(rows, blocks, low + 4 * j) >> shift) & four;
                if (format == .q5_k)
                    out[j] |= ((words(rows, blocks, 16 + 4 * j) >> @splat(@intCast(unit))) & one) << @splat(4);
            }
        },
        .q6_k => {
            const half = unit / 4;
            const quarter = unit % 4;
            const low_shift: @Vector(rows, u5) = @splat(@intCast(4 * (quarter / 2)));
            const high_shift: @Vector(rows, u5) = @splat(@intCast(2 * quarter));
            inline for (0..quads) |j| {
                const low = words(rows, blocks, 64 * half + 32 * (quarter % 2) + 4 * j) >> low_shift;
                const high = words(rows, blocks, 128 + 32 * half + 4 * j) >> high_shift;
                out[j] = (low & four) | ((high & two) << @splat(4));
            }
        },
        else => comptime unreachable,
    }
    return out;
}

const iq4_nl_bytes = bytes: {
    var bytes: [16]u8 = undefined;
    for (&bytes, formats.iq4_nl_values) |*byte, value| byte.* = @as(u8, @bitCast(value)) ^ 0x80;
    break :bytes bytes;
};

inline fn words(comptime rows: u32, blocks: *const [rows][*]const u8, offset: usize) @Vector(rows, u32) {
    var out: [rows]u32 = undefined;
    inline for (0..rows) |row| out[row] = std.mem.readInt(u32, blocks[row][offset..][0..4], .little);
    // Through a pointer: the value of an array would become a vector element by element.
    return @as(*align(4) const @Vector(rows, u32), @ptrCast(&out)).*;
}

/// The f16 scale of a block, and its f16 minimum where the form has minimums. In Q4_1 and Q5_1 the file's number is added, in
/// K-quants it is subtracted: `minimumSign` says which.
pub fn blockScale(comptime format: Format, block: [*]const u8) f16 {
    return readHalf(block + switch (format) {
        .q2_k => 80,
        .q3_k => 108,
        .q6_k => 208,
        else => 0,
    });
}

pub fn blockMinimum(comptime format: Format, block: [*]const u8) f16 {
    return readHalf(block + if (format == .q2_k) 82 else 2);
}

pub fn minimumSign(comptime format: Format) f32 {
    return if (formOf(format).nested) -1 else 1;
}

pub const Nested = struct { scale: i8, minimum: u8 };

/// The integers by which a group's scale and minimum differ from the block's.
pub fn nestedScale(comptime format: Format, block: [*]const u8, group: u32) Nested {
    switch (format) {
        .q2_k => return .{ .scale = @intCast(block[group] & 15), .minimum = block[group] >> 4 },
        .q3_k => {
            const scales = block + 96;
            const low = if (group < 8) scales[group] & 15 else scales[group - 8] >> 4;
            const high = (scales[8 + group % 4] >> @intCast(2 * (group / 4))) & 3;
            return .{ .scale = @as(i8, @intCast(low | high << 4)) - 32, .minimum = 0 };
        },
        .q4_k, .q5_k => {
            const scales = block + 4;
            if (group < 4) return .{ .scale = @intCast(scales[group] & 63), .minimum = scales[group + 4] & 63 };
            return .{
                .scale = @intCast((scales[group + 4] & 15) | (scales[group - 4] >> 6) << 4),
                .minimum = scales[group + 4] >> 4 | (scales[group] >> 6) << 4,
            };
        },
        .q6_k => return .{ .scale = @bitCast(block[192 + group]), .minimum = 0 },
        else => comptime unreachable,
    }
}

fn readHalf(p: [*]const u8) f16 {
    return @bitCast(std.mem.readInt(u16, p[0..2], .little));
}
