//! One row of a matrix as f32: token embeddings.
const blocks = @import("blocks.zig");
const formats = @import("format.zig");
const Format = formats.Format;
const Matrix = @import("table.zig").Matrix;

pub fn dequantizeRow(matrix: *const Matrix, row: u32, out: [*]f32) callconv(.c) void {
    switch (matrix.format) {
        inline else => |format| {
            const data = matrix.data + row * formats.rowBytes(format, matrix.columns);
            if (comptime formats.isQuantized(format))
                quantizedRow(format, data, matrix.columns, out)
            else for (0..matrix.columns) |i| {
                out[i] = element(format, data, i);
            }
        },
    }
}

fn element(comptime format: Format, data: [*]const u8, index: usize) f32 {
    return switch (format) {
        .f32 => @as([*]align(1) const f32, @ptrCast(data))[index],
        .f16 => @as([*]align(1) const f16, @ptrCast(data))[index],
        .bf16 => @bitCast(@as(u32, @as([*]align(1) const u16, @ptrCast(data))[index]) << 16),
        else => comptime unreachable,
    };
}

fn quantizedRow(comptime format: Format, data: [*]const u8, columns: u32, out: [*]f32) void {
    const form = comptime blocks.formOf(format);
    const units = comptime blocks.blockUnits(format);
    for (0..columns / formats.blockElements(format)) |index| {
        const block = data + index * formats.blockBytes(format);
        const block_scale: f32 = blocks.blockScale(format, block);
        const block_minimum: f32 = if (form.minimums) blocks.minimumSign(format) * blocks.blockMinimum(format, block) else 0;
        for (0..units) |unit| {
            const quads = blocks.unitQuads(format, 1, &.{block}, @intCast(unit));
            for (0..blocks.unit_columns) |i| {
                const group: u32 = @intCast(unit * form.groups + i * form.groups / blocks.unit_columns);
                var scale = block_scale;
                var minimum = block_minimum;
                if (form.nested) {
                    const nested = blocks.nestedScale(format, block, group);
                    scale *= @floatFromInt(nested.scale);
                    minimum *= @floatFromInt(nested.minimum);
                }
                const word: u32 = quads[i / 4][0];
                const byte: i32 = @intCast((word >> @intCast(8 * (i % 4))) & 0xff);
                out[(index * units + unit) * blocks.unit_columns + i] = scale * @as(f32, @floatFromInt(byte - form.offset)) + minimum;
            }
        }
    }
}
