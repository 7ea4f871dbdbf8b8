//! The root of one CPU level: its table of kernels, under a name that kernels.zig knows.
const lanes = @import("lanes.zig");
const activation = @import("activation.zig");
const attention = @import("attention.zig");
const dequantize = @import("dequantize.zig");
const elementwise = @import("elementwise.zig");
const float_product = @import("float_product.zig");
const formats = @import("format.zig");
const norm = @import("norm.zig");
const packed_weights = @import("packed.zig");
const product = @import("product.zig");
const rope = @import("rope.zig");
const table = @import("table.zig");

const kernels: table.Kernels = .{
    .row_block = lanes.lanes,
    .activationBytes = activation.rowBytes,
    .quantize = activation.quantize,
    .repackedBytes = packed_weights.repackedBytes,
    .repack = packed_weights.repack,
    .matmul = matmul,
    .dequantizeRow = dequantize.dequantizeRow,
    .rmsNorm = norm.rmsNorm,
    .add = elementwise.add,
    .scale = elementwise.scale,
    .siluMul = elementwise.siluMul,
    .geluMul = elementwise.geluMul,
    .softcap = elementwise.softcap,
    .rope = rope.rope,
    .softmax = norm.softmax,
    .dotF16 = norm.dotF16,
    .axpyF16 = norm.axpyF16,
    .toF16 = elementwise.toF16,
    .attend = attention.attend,
};

comptime {
    @export(&kernels, .{ .name = "tenon_kernels_" ++ @import("options").level, .visibility = .hidden });
}

fn matmul(
    matrix: *const table.Matrix,
    activations: [*]const u8,
    count: u32,
    out: [*]f32,
    out_stride: usize,
    row_begin: u32,
    row_end: u32,
) callconv(.c) void {
    switch (matrix.format) {
        inline else => |format| {
            const implementation = if (comptime formats.isQuantized(format)) product else float_product;
            implementation.matmul(format, matrix, activations, count, out, out_stride, row_begin, row_end);
        },
    }
}
