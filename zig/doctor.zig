//! What this machine can do, and whether it does it right: the CPU's kernels and the GPU's, each against its slow twin.
const std = @import("std");
const kernels = @import("kernels.zig");
const metal = @import("metal.zig");
const proof = metal.proof;

/// Writes a line for each finding; a bad one begins with FAIL.
pub fn examine(gpa: std.mem.Allocator, out: *std.Io.Writer) std.Io.Writer.Error!void {
    const best = kernels.best();
    for (std.enums.values(kernels.Level)) |level| {
        const table = kernels.forLevel(level) orelse {
            try out.print("      CPU kernels {t}: not for this CPU\n", .{level});
            continue;
        };
        const use = if (table == best) ", in use" else "";
        const worst = measure(gpa, table) catch |err| {
            try out.print("FAIL  CPU kernels {t}{s}: {t}\n", .{ level, use, err });
            continue;
        };
        const mark = if (worst <= quantisation_tolerance) "ok  " else "FAIL";
        try out.print("{s}  CPU kernels {t}{s}: error {e:.1} of {e:.0}\n", .{ mark, level, use, worst, quantisation_tolerance });
    }
    try metal.doctor.examine(gpa, out);
}

/// Activations are rounded to 127 steps of the largest of 32, which a product of many terms mostly evens out.
const quantisation_tolerance = 5e-3;

fn measure(gpa: std.mem.Allocator, table: *const kernels.Kernels) !f64 {
    var random: std.Random.DefaultPrng = .init(1);
    const cpu: Cpu = .{ .gpa = gpa, .table = table };
    var worst: f64 = 0;
    for (proof.RmsNorm.shapes) |shape|
        worst = proof.larger(worst, try proof.RmsNorm.measure(gpa, cpu, shape, random.random()));
    for (proof.Multiply.shapes) |shape|
        worst = proof.larger(worst, try proof.Multiply.measure(gpa, cpu, .q4_1, shape, random.random()));
    return worst;
}

/// Runs the cases of a proof with the kernels of one CPU level.
const Cpu = struct {
    gpa: std.mem.Allocator,
    table: *const kernels.Kernels,

    pub fn rmsNorm(cpu: Cpu, case: *const proof.RmsNorm) error{}!void {
        for (0..case.rows) |row| {
            const start = row * case.columns;
            cpu.table.rmsNorm(case.x[start..].ptr, case.weight.ptr, case.epsilon, case.out[start..].ptr, case.columns);
        }
    }

    pub fn multiply(cpu: Cpu, case: *const proof.Multiply) error{OutOfMemory}!void {
        var matrix = case.matrix;
        const repacked = try cpu.gpa.alignedAlloc(
            u8,
            .@"64",
            cpu.table.repackedBytes(matrix.format, matrix.rows, matrix.columns),
        );
        defer cpu.gpa.free(repacked);
        if (repacked.len > 0) {
            cpu.table.repack(&matrix, repacked.ptr, 0, matrix.rows);
            matrix.repacked = repacked.ptr;
        }
        const row_bytes = cpu.table.activationBytes(matrix.format, matrix.columns);
        const activations = try cpu.gpa.alignedAlloc(u8, .@"64", case.count * row_bytes);
        defer cpu.gpa.free(activations);
        for (0..case.count) |i|
            cpu.table.quantize(matrix.format, case.x[i * matrix.columns ..].ptr, matrix.columns, activations[i * row_bytes ..].ptr);
        cpu.table.matmul(&matrix, activations.ptr, case.count, case.out.ptr, case.out_stride, 0, matrix.rows);
    }
};

test "the kernels of this CPU are found right" {
    var buffer: [4096]u8 = undefined;
    var out: std.Io.Writer = .fixed(&buffer);
    try examine(std.testing.allocator, &out);
    try std.testing.expectEqual(null, std.mem.find(u8, out.buffered(), "FAIL"));
    try std.testing.expectEqual(1, std.mem.count(u8, out.buffered(), ", in use"));
}
