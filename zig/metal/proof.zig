//! Shows that kernels compute what their CPU twins in kernels/reference.zig do: odd sizes, random inputs, a stated tolerance. What
//! runs the kernels is a parameter: a GPU (doctor.zig) or, anywhere, the machine of kernels/shim (kernels_test.zig).
const std = @import("std");
const kernels = @import("../kernels.zig");
const reference = kernels.reference;

/// Of the sum of magnitudes of an element's terms: f32 sums in another order, and a GPU's rsqrt, stay far below.
pub const tolerance = 1e-5;

pub const RmsNorm = struct {
    x: []const f32,
    weight: []const f32,
    out: []f32,
    rows: u32,
    columns: u32,
    epsilon: f32,

    pub const Shape = struct { rows: u32, columns: u32 };
    pub const shapes = [_]Shape{
        .{ .rows = 1, .columns = 1 },
        .{ .rows = 2, .columns = 31 },
        .{ .rows = 3, .columns = 32 },
        .{ .rows = 1, .columns = 257 },
        .{ .rows = 5, .columns = 576 },
        .{ .rows = 2, .columns = 2049 },
    };

    /// The largest error, relative as `tolerance` is. `runner` has `fn rmsNorm(runner, *const RmsNorm) !void`.
    pub fn measure(gpa: std.mem.Allocator, runner: anytype, shape: Shape, random: std.Random) !f64 {
        const x = try floats(gpa, shape.rows * shape.columns, random);
        defer gpa.free(x);
        const weight = try floats(gpa, shape.columns, random);
        defer gpa.free(weight);
        const out = try gpa.alloc(f32, x.len);
        defer gpa.free(out);
        @memset(out, std.math.nan(f32));
        const case: RmsNorm = .{
            .x = x,
            .weight = weight,
            .out = out,
            .rows = shape.rows,
            .columns = shape.columns,
            .epsilon = 1e-5,
        };
        try runner.rmsNorm(&case);

        const expected = try gpa.alloc(f64, shape.columns);
        defer gpa.free(expected);
        var worst: f64 = 0;
        for (0..shape.rows) |row| {
            const start = row * shape.columns;
            reference.rmsNorm(x[start..][0..shape.columns], weight, case.epsilon, expected);
            for (expected, out[start..][0..shape.columns]) |value, got| worst = larger(worst, @abs(got - value) / @abs(value));
        }
        return worst;
    }
};

pub const Multiply = struct {
    matrix: kernels.Matrix,
    x: []const f32,
    out: []f32,
    count: u32,
    out_stride: u32,

    pub const Shape = struct { rows: u32, columns: u32, count: u32 };
    pub const shapes = [_]Shape{
        .{ .rows = 1, .columns = 32, .count = 1 },
        .{ .rows = 3, .columns = 64, .count = 2 },
        .{ .rows = 8, .columns = 512, .count = 1 },
        .{ .rows = 17, .columns = 544, .count = 3 },
        .{ .rows = 40, .columns = 1536, .count = 1 },
    };

    /// As RmsNorm.measure; `runner` has `fn multiply(runner, *const Multiply) !void`.
    pub fn measure(gpa: std.mem.Allocator, runner: anytype, format: kernels.Format, shape: Shape, random: std.Random) !f64 {
        const data = try blocks(gpa, format, shape, random);
        defer gpa.free(data);
        const x = try floats(gpa, shape.count * shape.columns, random);
        defer gpa.free(x);
        const out_stride = shape.rows + 3;
        const out = try gpa.alloc(f32, shape.count * out_stride);
        defer gpa.free(out);
        @memset(out, unwritten);
        const case: Multiply = .{
            .matrix = .{ .format = format, .rows = shape.rows, .columns = shape.columns, .data = data.ptr },
            .x = x,
            .out = out,
            .count = shape.count,
            .out_stride = out_stride,
        };
        try runner.multiply(&case);

        const wide = try gpa.alloc(f64, shape.columns);
        defer gpa.free(wide);
        var worst: f64 = 0;
        for (0..shape.count) |i| {
            for (wide, x[i * shape.columns ..][0..shape.columns]) |*to, from| to.* = from;
            for (out[i * out_stride ..][0..out_stride], 0..) |got, row| {
                if (row >= shape.rows) {
                    if (got != unwritten) return error.WroteBeyondTheRows;
                    continue;
                }
                const expected = reference.dot(&case.matrix, row, wide);
                worst = larger(worst, @abs(got - expected.value) / expected.magnitude);
            }
        }
        return worst;
    }
};

const unwritten: f32 = -12345;

/// Of two errors; one that is not a number is worse than any.
pub fn larger(a: f64, b: f64) f64 {
    return if (b > a or std.math.isNan(b)) b else a;
}

fn floats(gpa: std.mem.Allocator, count: usize, random: std.Random) ![]f32 {
    const values = try gpa.alloc(f32, count);
    for (values) |*value| value.* = random.floatNorm(f32);
    return values;
}

/// Rows of random blocks whose scales are ordinary numbers.
fn blocks(gpa: std.mem.Allocator, format: kernels.Format, shape: Multiply.Shape, random: std.Random) ![]u8 {
    const block_bytes = kernels.blockBytes(format);
    const data = try gpa.alloc(u8, shape.rows * kernels.rowBytes(format, shape.columns));
    random.bytes(data);
    var start: usize = 0;
    while (start < data.len) : (start += block_bytes) for (scaleOffsets(format)) |offset| {
        const scale: f16 = @floatCast(random.floatNorm(f32) * 0.05);
        std.mem.writeInt(u16, data[start + offset ..][0..2], @bitCast(scale), .little);
    };
    return data;
}

/// Where the f16 numbers of a block are.
fn scaleOffsets(format: kernels.Format) []const usize {
    return switch (format) {
        .q4_1 => &.{ 0, 2 },
        else => unreachable, // One line more with each format that gets a kernel.
    };
}
