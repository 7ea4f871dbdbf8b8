//! Speed of products: `zig build bench-kernels -- [level] [format] [threads]`. Prints one JSON line per format and number of
//! activation rows: gigabytes of weights and billions of multiply-adds per second.
const std = @import("std");
const builtin = @import("builtin");
const kernels = @import("kernels");
const Format = kernels.Format;
const Kernels = kernels.Kernels;

const rows = 2048;
const columns = 1024;
/// Weights that one pass reads: decode must come from memory, and prefill need not.
const decode_bytes = 128 << 20;
const prefill_bytes = 8 << 20;
const seconds_min = 0.15;
const threads_max = 64;

pub fn main(init: std.process.Init) !void {
    const gpa = init.gpa;
    var chosen_format: ?Format = null;
    var levels: []const kernels.Level = std.enums.values(kernels.Level);
    var threads: u32 = 2;
    const arguments = try init.minimal.args.toSlice(init.arena.allocator());
    for (arguments[1..]) |argument| {
        if (std.meta.stringToEnum(kernels.Level, argument)) |level| {
            levels = levels[@backingInt(level)..][0..1];
        } else if (std.meta.stringToEnum(Format, argument)) |format| {
            chosen_format = format;
        } else threads = @min(threads_max, try std.fmt.parseInt(u32, argument, 10));
    }
    try benchMemory();
    for (levels) |level| for (std.enums.values(Format)) |format| {
        if (chosen_format) |chosen| if (chosen != format) continue;
        const k = kernels.forLevel(level) orelse continue;
        try benchFormat(gpa, k, level, format, threads);
    };
}

/// How fast one thread reads memory: what decode can reach.
fn benchMemory() !void {
    const V = @Vector(8, u32);
    const bytes = try reserve(decode_bytes);
    defer std.posix.munmap(bytes);
    const words: []V = @ptrCast(bytes);
    @memset(words, @splat(1));
    var best_seconds = std.math.inf(f64);
    for (0..5) |_| {
        const start = seconds();
        var sums: [4]V = @splat(@splat(0));
        var i: usize = 0;
        while (i < words.len) : (i += sums.len) inline for (&sums, 0..) |*sum, part| {
            sum.* +%= words[i + part];
        };
        std.mem.doNotOptimizeAway(&sums);
        best_seconds = @min(best_seconds, seconds() - start);
    }
    std.debug.print("{{\"read_gigabytes_per_s\":{d:.1}}}\n", .{gigas(decode_bytes, best_seconds)});
}

fn benchFormat(gpa: std.mem.Allocator, k: *const Kernels, level: kernels.Level, format: Format, threads: u32) !void {
    const file_bytes = rows * kernels.rowBytes(format, columns);
    const repacked_bytes = k.repackedBytes(format, rows, columns);
    const matrix_bytes = if (repacked_bytes > 0) repacked_bytes else file_bytes;
    const matrices_count = @max(1, decode_bytes / matrix_bytes);

    const data = try gpa.alignedAlloc(u8, .@"64", file_bytes * if (repacked_bytes > 0) 1 else matrices_count);
    defer gpa.free(data);
    var prng: std.Random.DefaultPrng = .init(1);
    prng.random().bytes(data);
    // No NaN wherever a scale may be, and no product of weights that is too small to be fast.
    for (data, 0..) |*byte, i| {
        const is_top = (i + 1) % kernels.blockBytes(format) == 0;
        byte.* = if (is_top and !kernels.isQuantized(format)) 0x3c else byte.* & 0xbf;
    }
    const repacked = try reserve(repacked_bytes * matrices_count + 1);
    defer std.posix.munmap(repacked);
    const matrices = try gpa.alloc(kernels.Matrix, matrices_count);
    defer gpa.free(matrices);
    const repack_start = seconds();
    for (matrices, 0..) |*matrix, i| {
        matrix.* = .{ .format = format, .rows = rows, .columns = columns, .data = data.ptr };
        if (repacked_bytes > 0) {
            matrix.repacked = repacked.ptr + i * repacked_bytes;
            k.repack(matrix, repacked.ptr + i * repacked_bytes, 0, rows);
        } else matrix.data = data.ptr + i * file_bytes;
    }
    const repack_seconds = seconds() - repack_start;

    const counts = [_]u32{ 1, 4, 32, 256 };
    const stride = k.activationBytes(format, columns);
    const activations = try gpa.alignedAlloc(u8, .@"64", stride * counts[counts.len - 1]);
    defer gpa.free(activations);
    const x = try gpa.alloc(f32, columns);
    defer gpa.free(x);
    for (x) |*each| each.* = prng.random().floatNorm(f32);
    var quantize_seconds = std.math.inf(f64);
    for (0..5) |_| {
        const quantize_start = seconds();
        for (0..counts[counts.len - 1]) |i| k.quantize(format, x.ptr, columns, activations.ptr + i * stride);
        quantize_seconds = @min(quantize_seconds, seconds() - quantize_start);
    }
    const out = try gpa.alloc(f32, rows * counts[counts.len - 1]);
    defer gpa.free(out);

    std.debug.print("{{\"level\":\"{t}\",\"format\":\"{t}\",\"threads\":{d},\"repack_gigabytes_per_s\":{d:.2},\"quantize_gigacolumns_per_s\":{d:.2}", .{
        level,                                                     format, threads, gigas(file_bytes * matrices_count, repack_seconds),
        gigas(counts[counts.len - 1] * columns, quantize_seconds),
    });
    for (counts) |count| {
        const used = if (count <= 4) matrices else matrices[0..@min(matrices_count, @max(1, prefill_bytes / matrix_bytes))];
        const work: Work = .{ .k = k, .matrices = used, .activations = activations.ptr, .count = count, .out = out.ptr, .threads = threads };
        var best_seconds = std.math.inf(f64);
        var spent: f64 = 0;
        while (spent < seconds_min) {
            const duration = try pass(&work);
            best_seconds = @min(best_seconds, duration);
            spent += duration;
        }
        std.debug.print(",\"n{d}\":{{\"gigabytes_per_s\":{d:.1},\"gigamacs_per_s\":{d:.1}}}", .{
            count,
            gigas(matrix_bytes * used.len, best_seconds),
            gigas(@as(u64, rows) * columns * count * used.len, best_seconds),
        });
    }
    std.debug.print("}}\n", .{});
}

/// Memory for weights, in large pages where the system has them.
fn reserve(bytes: usize) std.posix.MMapError![]align(std.heap.page_size_min) u8 {
    const memory = try std.posix.mmap(null, bytes, .{ .READ = true, .WRITE = true }, .{ .TYPE = .PRIVATE, .ANONYMOUS = true }, -1, 0);
    if (builtin.os.tag == .linux) std.posix.madvise(memory.ptr, memory.len, std.posix.MADV.HUGEPAGE) catch |err| {
        std.debug.print("no large pages: {t}\n", .{err});
    };
    return memory;
}

const Work = struct {
    k: *const Kernels,
    matrices: []const kernels.Matrix,
    activations: [*]const u8,
    count: u32,
    out: [*]f32,
    threads: u32,

    fn part(self: *const Work, thread: u32, duration: *f64) void {
        const step = rows / self.k.row_block / self.threads * self.k.row_block;
        const end = if (thread + 1 == self.threads) rows else (thread + 1) * step;
        const start = seconds();
        for (self.matrices) |*matrix|
            self.k.matmul(matrix, self.activations, self.count, self.out, rows, thread * step, end);
        duration.* = seconds() - start;
    }
};

/// Seconds of the slowest thread's work over all matrices.
fn pass(work: *const Work) !f64 {
    var others: [threads_max]std.Thread = undefined;
    var durations: [threads_max]f64 = undefined;
    const used = durations[0..work.threads];
    for (others[1..work.threads], used[1..], 1..) |*other, *duration, thread|
        other.* = try std.Thread.spawn(.{}, Work.part, .{ work, @as(u32, @intCast(thread)), duration });
    work.part(0, &used[0]);
    for (others[1..work.threads]) |other| other.join();
    return std.mem.max(f64, used);
}

/// Processor time of the calling thread: what else runs on the machine counts only as far as it takes memory bandwidth.
fn seconds() f64 {
    var now: std.c.timespec = undefined;
    std.debug.assert(std.c.clock_gettime(.THREAD_CPUTIME_ID, &now) == 0);
    return @as(f64, @floatFromInt(now.sec)) + @as(f64, @floatFromInt(now.nsec)) * 1e-9;
}

fn gigas(amount: u64, duration: f64) f64 {
    return @as(f64, @floatFromInt(amount)) / duration * 1e-9;
}
