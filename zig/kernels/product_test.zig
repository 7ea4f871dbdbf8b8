//! Formats, repacking and products at every level of this CPU, against reference.zig.
const std = @import("std");
const kernels = @import("../kernels.zig");
const reference = @import("reference.zig");
const Format = kernels.Format;
const Kernels = kernels.Kernels;
const Level = kernels.Level;
const Matrix = kernels.Matrix;
const gpa = std.testing.allocator;

test "a row is dequantised to what the formula says" {
    for (std.enums.values(Level)) |level| for (std.enums.values(Format)) |format| {
        const k = kernels.forLevel(level) orelse continue;
        var case: Case = try .create(k, format, .{ .rows = 3, .columns = 512, .count = 0 });
        defer case.destroy();
        const out = try gpa.alloc(f32, 512);
        defer gpa.free(out);
        for (0..3) |row| {
            k.dequantizeRow(&case.matrix, @intCast(row), out.ptr);
            // The product of numbers with few bits is exact, and the minimum adds a rounding; values are below 1000.
            for (out, 0..) |each, column|
                try expectNear(reference.weight(&case.matrix, row, column), each, 1e-4, level, format);
        }
    };
}

const Shape = struct { rows: u32, columns: u32, count: u32 };

test "products are the reference's, for odd shapes" {
    const shapes = [_]Shape{
        .{ .rows = 1, .columns = 256, .count = 1 },
        .{ .rows = 37, .columns = 256, .count = 3 },
        .{ .rows = 64, .columns = 768, .count = 13 },
        .{ .rows = 17, .columns = 768, .count = 101 },
    };
    for (std.enums.values(Level)) |level| for (std.enums.values(Format)) |format| for (shapes) |shape| {
        const k = kernels.forLevel(level) orelse continue;
        var case: Case = try .create(k, format, shape);
        defer case.destroy();
        try case.expectProducts(level);
    };
}

test "products of one block of columns, and of none of its whole multiples" {
    for (std.enums.values(Level)) |level| for (std.enums.values(Format)) |format| {
        const k = kernels.forLevel(level) orelse continue;
        const elements = kernels.blockElements(format);
        const widths: []const u32 = if (elements == 1) &.{ 1, 7, 33, 77 } else if (elements == 32) &.{ 32, 96, 608 } else &.{256};
        for (widths) |columns| {
            var case: Case = try .create(k, format, .{ .rows = 19, .columns = columns, .count = 5 });
            defer case.destroy();
            try case.expectProducts(level);
        }
    };
}

test "the largest weights and activations do not overflow" {
    for (std.enums.values(Level)) |level| for (std.enums.values(Format)) |format| for ([_]u8{ 0x00, 0x7f, 0x80, 0xff }) |fill| {
        if (!kernels.isQuantized(format)) continue;
        const k = kernels.forLevel(level) orelse continue;
        var case: Case = try .create(k, format, .{ .rows = 16, .columns = 512, .count = 2 });
        defer case.destroy();
        case.fill(fill);
        @memset(case.x[0..512], 3);
        @memset(case.x[512..], -3);
        case.prepare();
        try case.expectProducts(level);
    };
}

test "an element does not depend on count or range" {
    for (std.enums.values(Level)) |level| for (std.enums.values(Format)) |format| {
        const k = kernels.forLevel(level) orelse continue;
        const shape: Shape = .{ .rows = 53, .columns = 768, .count = 101 };
        var case: Case = try .create(k, format, shape);
        defer case.destroy();
        const all = try gpa.alloc(f32, shape.rows * shape.count);
        defer gpa.free(all);
        const part = try gpa.alloc(f32, shape.rows * shape.count);
        defer gpa.free(part);
        k.matmul(&case.matrix, case.activations.ptr, shape.count, all.ptr, shape.rows, 0, shape.rows);
        const stride = k.activationBytes(format, shape.columns);
        for ([_]u32{ 1, 2, 3, 4, 5, 6, 7, 11, 64 }) |count| for ([_][2]u32{ .{ 0, 53 }, .{ 16, 32 }, .{ 5, 6 }, .{ 31, 50 }, .{ 48, 53 } }) |range| {
            const first = shape.count - count;
            @memset(part, 7);
            k.matmul(&case.matrix, case.activations.ptr + first * stride, count, part.ptr, shape.rows, range[0], range[1]);
            for (0..count) |i| for (0..shape.rows) |row| {
                const inside = row >= range[0] and row < range[1];
                const expected = if (inside) all[(first + i) * shape.rows + row] else 7;
                try std.testing.expectEqual(expected, part[i * shape.rows + row]);
            };
        };
    };
}

test "repacking in parts is repacking at once" {
    for (std.enums.values(Level)) |level| for (std.enums.values(Format)) |format| {
        const k = kernels.forLevel(level) orelse continue;
        var case: Case = try .create(k, format, .{ .rows = 53, .columns = 256, .count = 0 });
        defer case.destroy();
        const parts = try gpa.alignedAlloc(u8, .@"64", case.repacked.len);
        defer gpa.free(parts);
        @memset(parts, 0);
        k.repack(&case.matrix, parts.ptr, 32, 53);
        k.repack(&case.matrix, parts.ptr, 0, 32);
        try std.testing.expectEqualSlices(u8, case.repacked, parts);
    };
}

test "quantised activations stay near, and products with them" {
    // Relative to the length of the vectors: 8 bits for 32 elements of a normal distribution lose about 0.6 %.
    for (std.enums.values(Level)) |level| for ([_]Format{ .q8_0, .q4_1, .q6_k }) |format| {
        const k = kernels.forLevel(level) orelse continue;
        const columns = 2048;
        var case: Case = try .create(k, format, .{ .rows = 32, .columns = columns, .count = 1 });
        defer case.destroy();
        var out: [32]f32 = undefined;
        k.matmul(&case.matrix, case.activations.ptr, 1, &out, 32, 0, 32);
        for (out, 0..) |each, row| {
            var exact: f64 = 0;
            var squares: f64 = 0;
            for (case.x, 0..) |x, column| {
                const w = reference.weight(&case.matrix, row, column);
                exact += w * x;
                squares += w * w * x * x;
            }
            try expectNear(exact, each, 0.03 * @sqrt(squares), level, format);
        }
    };
}

/// A random matrix and random activations, in every form that kernels take.
const Case = struct {
    kernels: *const Kernels,
    shape: Shape,
    matrix: Matrix,
    data: []u8,
    repacked: []align(64) u8,
    x: []f32,
    activations: []align(64) u8,

    fn create(k: *const Kernels, format: Format, shape: Shape) error{OutOfMemory}!Case {
        const data = try gpa.alloc(u8, shape.rows * kernels.rowBytes(format, shape.columns));
        errdefer gpa.free(data);
        const repacked = try gpa.alignedAlloc(u8, .@"64", k.repackedBytes(format, shape.rows, shape.columns));
        errdefer gpa.free(repacked);
        const x = try gpa.alloc(f32, shape.count * shape.columns);
        errdefer gpa.free(x);
        const activations = try gpa.alignedAlloc(u8, .@"64", shape.count * k.activationBytes(format, shape.columns));
        var self: Case = .{
            .kernels = k,
            .shape = shape,
            .matrix = .{ .format = format, .rows = shape.rows, .columns = shape.columns, .data = data.ptr },
            .data = data,
            .repacked = repacked,
            .x = x,
            .activations = activations,
        };
        if (repacked.len > 0) self.matrix.repacked = repacked.ptr;
        self.fill(null);
        var prng: std.Random.DefaultPrng = .init(shape.columns);
        // The second unit is zero, as padding is, to divide by nothing.
        for (x, 0..) |*each, i| each.* = if (shape.columns > 64 and i % shape.columns / 32 == 1) 0 else prng.random().floatNorm(f32);
        self.prepare();
        return self;
    }

    fn destroy(self: *Case) void {
        gpa.free(self.data);
        gpa.free(self.repacked);
        gpa.free(self.x);
        gpa.free(self.activations);
    }

    /// Random bits, or the same byte, everywhere, except that floats are finite and of ordinary size.
    fn fill(self: *Case, byte: ?u8) void {
        var prng: std.Random.DefaultPrng = .init(self.shape.rows + 1000 * @as(u64, @backingInt(self.matrix.format)));
        const random = prng.random();
        if (byte) |each| @memset(self.data, each) else random.bytes(self.data);
        const block_bytes = kernels.blockBytes(self.matrix.format);
        const halves: []const u32 = switch (self.matrix.format) {
            .f32, .bf16 => &.{},
            .f16, .q4_0, .q5_0, .q8_0, .iq4_nl => &.{0},
            .q4_1, .q5_1, .q4_k, .q5_k => &.{ 0, 2 },
            .q2_k => &.{ 80, 82 },
            .q3_k => &.{108},
            .q6_k => &.{208},
        };
        var start: usize = 0;
        while (start < self.data.len) : (start += block_bytes) {
            for (halves) |at| {
                const value: f16 = @floatCast(random.floatNorm(f32) * 0.1);
                std.mem.writeInt(u16, self.data[start + at ..][0..2], @bitCast(value), .little);
            }
            const value: u32 = @bitCast(random.floatNorm(f32) * 0.1);
            switch (self.matrix.format) {
                .f32 => std.mem.writeInt(u32, self.data[start..][0..4], value, .little),
                .bf16 => std.mem.writeInt(u16, self.data[start..][0..2], @intCast(value >> 16), .little),
                else => {},
            }
        }
    }

    fn prepare(self: *Case) void {
        const k = self.kernels;
        const format = self.matrix.format;
        // Stale memory must not show through.
        @memset(self.repacked, 0xa5);
        @memset(self.activations, 0xa5);
        k.repack(&self.matrix, self.repacked.ptr, 0, self.shape.rows);
        const stride = k.activationBytes(format, self.shape.columns);
        for (0..self.shape.count) |i|
            k.quantize(format, self.x.ptr + i * self.shape.columns, self.shape.columns, self.activations.ptr + i * stride);
    }

    /// Integer sums are exact and a few hundred f32 steps follow: 1e-5 of the sum of magnitudes; plain f32 the same.
    fn expectProducts(self: *Case, level: Level) !void {
        const shape = self.shape;
        const stride = shape.rows + 3;
        const out = try gpa.alloc(f32, stride * shape.count);
        defer gpa.free(out);
        @memset(out, 7);
        self.kernels.matmul(&self.matrix, self.activations.ptr, shape.count, out.ptr, stride, 0, shape.rows);
        const a = try gpa.alloc(f64, shape.columns);
        defer gpa.free(a);
        for (0..shape.count) |i| {
            reference.quantized(self.matrix.format, self.x[i * shape.columns ..][0..shape.columns], a);
            for (0..shape.rows) |row| {
                const expected = reference.dot(&self.matrix, row, a);
                try expectNear(expected.value, out[i * stride + row], 1e-5 * expected.magnitude + 1e-6, level, self.matrix.format);
            }
            // What lies between the rows of the output is nobody's.
            for (out[i * stride + shape.rows ..][0..3]) |each| try std.testing.expectEqual(7, each);
        }
    }
};

fn expectNear(expected: f64, actual: f32, tolerance: f64, level: Level, format: Format) !void {
    if (@abs(expected - actual) <= tolerance) return;
    std.debug.print("{t} at level {t}: expected {d}, found {d}, tolerance {d}\n", .{ format, level, expected, actual, tolerance });
    return error.TestUnexpectedResult;
}
