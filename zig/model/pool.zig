//! One vector for a text: the hidden states of its tokens, normed as for the logits, pooled in the way that the model was trained for and brought
//! to length one, as llama.cpp has it (build_pooling in llama-graph.cpp, common_embd_normalize in common.cpp).
const std = @import("std");
const Pooling = @import("manifest.zig").Pooling;

pub const Pool = struct {
    pooling: Pooling,
    /// What the states seen so far give, before it is brought to length. (embedding)
    sum: []f64,
    count: u32 = 0,

    /// Of states of so many elements. `pooling` is not none.
    pub fn init(gpa: std.mem.Allocator, pooling: Pooling, embedding: u32) error{OutOfMemory}!Pool {
        std.debug.assert(pooling != .none);
        const sum = try gpa.alloc(f64, embedding);
        @memset(sum, 0);
        return .{ .pooling = pooling, .sum = sum };
    }

    pub fn deinit(pool: *Pool, gpa: std.mem.Allocator) void {
        gpa.free(pool.sum);
    }

    /// The state of the next token. In the order of tokens, so that the sum does not depend on what was computed together.
    pub fn add(pool: *Pool, state: []const f32) void {
        switch (pool.pooling) {
            .none => unreachable,
            .mean => for (pool.sum, state) |*to, element| {
                to.* += element;
            },
            .cls => if (pool.count == 0) for (pool.sum, state) |*to, element| {
                to.* = element;
            },
            .last => for (pool.sum, state) |*to, element| {
                to.* = element;
            },
        }
        pool.count += 1;
    }

    /// The vector, of length one, or of zeros. How many states there were is no matter: a mean has the direction of its sum.
    pub fn write(pool: *const Pool, out: []f32) void {
        std.debug.assert(pool.count > 0);
        var square: f64 = 0;
        for (pool.sum) |element| square += element * element;
        const length = @sqrt(square);
        for (out, pool.sum) |*to, element| to.* = if (length > 0) @floatCast(element / length) else 0;
    }
};

test "states are pooled in each way, to length one" {
    const states = [_][2]f32{ .{ 3, 4 }, .{ 0, -2 }, .{ 9, 10 } };
    const Case = struct { Pooling, [2]f32 };
    for ([_]Case{
        .{ .mean, .{ 12.0 / @sqrt(288.0), 12.0 / @sqrt(288.0) } },
        .{ .cls, .{ 0.6, 0.8 } },
        .{ .last, .{ 9.0 / @sqrt(181.0), 10.0 / @sqrt(181.0) } },
    }) |case| {
        var pool: Pool = try .init(std.testing.allocator, case[0], 2);
        defer pool.deinit(std.testing.allocator);
        for (&states) |*state| pool.add(state);
        var out: [2]f32 = undefined;
        pool.write(&out);
        for (case[1], out) |expected, found| try std.testing.expectApproxEqAbs(expected, found, 1e-7);
    }
}

test "a text of no direction has a vector of zeros" {
    var pool: Pool = try .init(std.testing.allocator, .mean, 2);
    defer pool.deinit(std.testing.allocator);
    pool.add(&.{ 1, -1 });
    pool.add(&.{ -1, 1 });
    var out: [2]f32 = undefined;
    pool.write(&out);
    try std.testing.expectEqual([2]f32{ 0, 0 }, out);
}
