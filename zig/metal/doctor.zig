//! Proves the kernels on the GPU at hand: compiles all of them and compares each with its CPU twin.
const std = @import("std");
const kernels = @import("../kernels.zig");
const proof = @import("proof.zig");
const Backend = @import("backend.zig").Backend;
const Buffer = @import("buffer.zig").Buffer;
const Command = @import("command.zig").Command;
const Device = @import("device.zig").Device;
const Diagnostic = @import("diagnostic.zig").Diagnostic;

/// Writes a line for each finding; a bad one begins with FAIL.
pub fn examine(gpa: std.mem.Allocator, out: *std.Io.Writer) std.Io.Writer.Error!void {
    var device = Device.open() catch |err| switch (err) {
        error.Unavailable => return out.writeAll("      Metal: there is none here\n"),
    };
    defer device.close();
    var name: [64]u8 = undefined;
    try out.print("      Metal: {s}\n", .{device.name(&name)});
    var diagnostic: Diagnostic = .{};
    var backend = Backend.init(&device, &diagnostic) catch |err|
        return out.print("FAIL  Metal kernels: {t}: {s}\n", .{ err, diagnostic.text() });
    defer backend.deinit();

    const gpu: Gpu = .{ .device = &device, .backend = &backend, .diagnostic = &diagnostic };
    var random: std.Random.DefaultPrng = .init(1);
    for (proof.RmsNorm.shapes) |shape| {
        const measured = proof.RmsNorm.measure(gpa, gpu, shape, random.random());
        try tell(out, "rms_norm", shape, measured, &diagnostic);
    }
    for (proof.Multiply.shapes) |shape| {
        const measured = proof.Multiply.measure(gpa, gpu, .q4_1, shape, random.random());
        try tell(out, "mul_mv_q4_1", shape, measured, &diagnostic);
    }
}

fn tell(
    out: *std.Io.Writer,
    operation: []const u8,
    shape: anytype,
    measured: anytype,
    diagnostic: *const Diagnostic,
) std.Io.Writer.Error!void {
    const worst = measured catch |err|
        return out.print("FAIL  {s} {any}: {t}: {s}\n", .{ operation, shape, err, diagnostic.text() });
    const mark = if (worst <= proof.tolerance) "ok  " else "FAIL";
    try out.print("{s}  {s} {any}: error {e:.1} of {e:.0}\n", .{ mark, operation, shape, worst, proof.tolerance });
}

/// Runs a case on the GPU: copies its inputs into buffers, and the result back.
const Gpu = struct {
    device: *const Device,
    backend: *const Backend,
    diagnostic: *Diagnostic,

    pub fn rmsNorm(gpu: Gpu, case: *const proof.RmsNorm) !void {
        var x = try gpu.bufferOf(std.mem.sliceAsBytes(case.x));
        defer x.destroy();
        var weight = try gpu.bufferOf(std.mem.sliceAsBytes(case.weight));
        defer weight.destroy();
        var out = try gpu.bufferOf(std.mem.sliceAsBytes(case.out));
        defer out.destroy();
        const command: Command = try .begin(&gpu.backend.queue);
        gpu.backend.rmsNorm(&command, .{
            .x = .{ .buffer = &x },
            .weight = .{ .buffer = &weight },
            .out = .{ .buffer = &out },
            .rows = case.rows,
            .columns = case.columns,
            .epsilon = case.epsilon,
        });
        try command.finish(gpu.diagnostic);
        @memcpy(std.mem.sliceAsBytes(case.out), out.bytes);
    }

    pub fn multiply(gpu: Gpu, case: *const proof.Multiply) !void {
        const matrix = &case.matrix;
        const row_bytes = kernels.rowBytes(matrix.format, matrix.columns);
        var weights = try gpu.bufferOf(matrix.data[0 .. matrix.rows * row_bytes]);
        defer weights.destroy();
        var x = try gpu.bufferOf(std.mem.sliceAsBytes(case.x));
        defer x.destroy();
        var out = try gpu.bufferOf(std.mem.sliceAsBytes(case.out));
        defer out.destroy();
        const command: Command = try .begin(&gpu.backend.queue);
        const encoded = gpu.backend.multiply(&command, .{
            .format = matrix.format,
            .weights = .{ .buffer = &weights },
            .x = .{ .buffer = &x },
            .out = .{ .buffer = &out },
            .rows = matrix.rows,
            .columns = matrix.columns,
            .count = case.count,
            .out_stride = case.out_stride,
        });
        try command.finish(gpu.diagnostic);
        try encoded;
        @memcpy(std.mem.sliceAsBytes(case.out), out.bytes);
    }

    fn bufferOf(gpu: Gpu, bytes: []const u8) !Buffer {
        const buffer: Buffer = try .create(gpu.device, bytes.len);
        @memcpy(buffer.bytes, bytes);
        return buffer;
    }
};

test "where there is no Metal, that is said and nothing fails" {
    if (@import("builtin").os.tag == .macos) return error.SkipZigTest;
    var buffer: [256]u8 = undefined;
    var out: std.Io.Writer = .fixed(&buffer);
    try examine(std.testing.allocator, &out);
    try std.testing.expectEqualStrings("      Metal: there is none here\n", out.buffered());
}
