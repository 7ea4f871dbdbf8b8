//! Attention at every level of this CPU against the softmax of its definition, in f64, over several pages.
const std = @import("std");
const kernels = @import("../kernels.zig");

const pages = 3;
const tokens = kernels.page_tokens;

const Case = struct { count: u32, key_length: u32, value_length: u32, softcap: f32, len: u32, window: u32 };

test "attention over pages" {
    const cases = [_]Case{
        .{ .count = 1, .key_length = 64, .value_length = 64, .softcap = 0, .len = 1, .window = 0 },
        .{ .count = 3, .key_length = 64, .value_length = 64, .softcap = 0, .len = 70, .window = 0 },
        .{ .count = 5, .key_length = 7, .value_length = 19, .softcap = 0, .len = 96, .window = 0 },
        .{ .count = 9, .key_length = 80, .value_length = 112, .softcap = 4, .len = 65, .window = 20 },
        .{ .count = 2, .key_length = 256, .value_length = 256, .softcap = 0, .len = 90, .window = 33 },
    };
    for (std.enums.values(kernels.Level)) |level| for (cases) |case| {
        const level_kernels = kernels.forLevel(level) orelse continue;
        var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
        defer arena.deinit();
        const input: Input = try .random(arena.allocator(), case);
        const together = try input.run(arena.allocator(), level_kernels, 0, case.count);
        for (0..case.count) |row| {
            const alone = try input.run(arena.allocator(), level_kernels, @intCast(row), 1);
            try std.testing.expectEqualSlices(f32, alone, together[row * input.stride ..][0..input.stride]);
            try input.expectTrue(row, alone);
        }
    };
}

const Input = struct {
    case: Case,
    stride: u32,
    queries: []f32,
    keys: []f16,
    values: []f16,

    fn random(arena: std.mem.Allocator, case: Case) !Input {
        var prng: std.Random.DefaultPrng = .init(case.key_length + case.len);
        const stride = std.mem.alignForward(u32, case.value_length, kernels.value_alignment);
        const input: Input = .{
            .case = case,
            .stride = stride,
            .queries = try arena.alloc(f32, case.count * case.key_length),
            .keys = try arena.alloc(f16, pages * tokens * case.key_length),
            .values = try arena.alloc(f16, pages * tokens * stride),
        };
        for (input.queries) |*each| each.* = prng.random().floatNorm(f32);
        for (input.keys) |*each| each.* = @floatCast(prng.random().floatNorm(f32));
        for (input.values) |*each| each.* = @floatCast(prng.random().floatNorm(f32));
        return input;
    }

    /// Row i is the query of token len - count + i.
    fn seen(input: *const Input, row: usize) kernels.VisibleTokens {
        const end: u32 = @intCast(input.case.len -| (input.case.count - 1 - row));
        return .{ .begin = if (input.case.window == 0) 0 else end -| input.case.window, .end = end };
    }

    fn run(input: *const Input, arena: std.mem.Allocator, level: *const kernels.Kernels, first: u32, count: u32) ![]f32 {
        const case = input.case;
        const out = try arena.alloc(f32, count * input.stride);
        const maxima = try arena.alloc(f32, count);
        const sums = try arena.alloc(f32, count);
        const visible = try arena.alloc(kernels.VisibleTokens, count);
        @memset(out, 0);
        @memset(maxima, -std.math.inf(f32));
        @memset(sums, 0);
        for (0..pages) |page| {
            const base: u32 = @intCast(page * tokens);
            for (visible, first..) |*each, row| {
                const all = input.seen(row);
                each.* = .{ .begin = all.begin -| base, .end = @min(all.end -| base, tokens) };
            }
            level.attend(&.{
                .queries = input.queries.ptr + first * case.key_length,
                .keys = input.keys.ptr + page * tokens * case.key_length,
                .values = input.values.ptr + page * tokens * input.stride,
                .visible = visible.ptr,
                .count = count,
                .key_length = case.key_length,
                .value_stride = input.stride,
                .softcap = case.softcap,
                .maxima = maxima.ptr,
                .sums = sums.ptr,
                .out = out.ptr,
            });
        }
        for (sums, 0..) |sum, row| for (out[row * input.stride ..][0..input.stride]) |*each| {
            each.* /= sum;
        };
        return out;
    }

    fn expectTrue(input: *const Input, row: usize, actual: []const f32) !void {
        const case = input.case;
        const visible = input.seen(row);
        var scores: [pages * tokens]f64 = @splat(-std.math.inf(f64));
        for (visible.begin..visible.end) |token| {
            var dot: f64 = 0;
            for (0..case.key_length) |element|
                dot += @as(f64, input.queries[row * case.key_length + element]) * input.keys[(token / tokens * case.key_length + element) * tokens + token % tokens];
            scores[token] = if (case.softcap > 0) kernels.reference.softcap(dot, case.softcap) else dot;
        }
        var largest = scores[0];
        for (scores) |score| largest = @max(largest, score);
        var sum: f64 = 0;
        for (&scores) |*score| {
            score.* = @exp(score.* - largest);
            sum += score.*;
        }
        for (actual[0..case.value_length], 0..) |each, element| {
            var expected: f64 = 0;
            for (scores, 0..) |p, token| expected += p / sum * input.values[token * input.stride + element];
            try std.testing.expectApproxEqAbs(expected, each, 2e-5);
        }
    }
};
