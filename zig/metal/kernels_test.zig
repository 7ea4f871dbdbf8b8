//! The kernels on the machine of kernels/shim, under several orders of threads, and that machine itself.
const std = @import("std");
const arguments = @import("arguments.zig");
const kernels = @import("../kernels.zig");
const proof = @import("proof.zig");
const gpa = std.testing.allocator;

/// Orders of threads that each case is run in; a missing barrier goes unnoticed in one order, not in all of these.
const schedules = 6;

test "rms_norm computes what its CPU twin does, in any order of threads" {
    var random: std.Random.DefaultPrng = .init(11);
    for (proof.RmsNorm.shapes) |shape| for (0..schedules) |seed| {
        const machine: Machine = .{ .seed = seed, .rms_norm_entry = tenon_shim_rms_norm };
        try expectRight(try proof.RmsNorm.measure(gpa, machine, shape, random.random()), shape, seed);
    };
}

test "mul_mv_q4_1 computes what its CPU twin does, in any order of threads" {
    var random: std.Random.DefaultPrng = .init(12);
    for (proof.Multiply.shapes) |shape| for (0..schedules) |seed| {
        const machine: Machine = .{ .seed = seed };
        try expectRight(try proof.Multiply.measure(gpa, machine, .q4_1, shape, random.random()), shape, seed);
    };
}

test "a barrier taken out is found in every order of threads" {
    var random: std.Random.DefaultPrng = .init(13);
    for (0..schedules) |seed| {
        const machine: Machine = .{ .seed = seed, .rms_norm_entry = tenon_shim_rms_norm_without_barrier };
        const worst = try proof.RmsNorm.measure(gpa, machine, .{ .rows = 2, .columns = 576 }, random.random());
        try std.testing.expect(!(worst <= proof.tolerance));
    }
}

test "the machine refuses threads that do not meet, and memory that is not there" {
    var out: [64]f32 = undefined;
    const buffers = [_]?*anyopaque{&out};
    const launch: Launch = .{ .entry = undefined, .buffers = &buffers, .threads = 64, .shared_bytes = 256, .seed = 1 };
    try std.testing.expectError(error.Diverged, launch.with(tenon_shim_divergent_barrier).run());
    try std.testing.expectError(error.Diverged, launch.with(tenon_shim_divergent_sum).run());
    try std.testing.expectError(error.SharedOverrun, launch.with(tenon_shim_shared_overrun).run());
}

fn expectRight(worst: f64, shape: anytype, seed: u64) !void {
    if (worst <= proof.tolerance) return;
    std.debug.print("{any}, order {d}: error {e:.1}\n", .{ shape, seed, worst });
    return error.TestUnexpectedResult;
}

/// Runs the cases of proof.zig.
const Machine = struct {
    seed: u64,
    rms_norm_entry: Entry = undefined,

    pub fn rmsNorm(machine: Machine, case: *const proof.RmsNorm) !void {
        var own: arguments.RmsNormArguments = .{ .columns = case.columns, .epsilon = case.epsilon };
        const buffers = [_]?*anyopaque{ &own, @constCast(case.x.ptr), @constCast(case.weight.ptr), case.out.ptr };
        const launch: Launch = .{
            .entry = machine.rms_norm_entry,
            .buffers = &buffers,
            .groups_x = case.rows,
            .threads = arguments.rms_norm_threads,
            .shared_bytes = arguments.rms_norm_threads / arguments.simd_width * @sizeOf(f32),
            .seed = machine.seed,
        };
        try launch.run();
    }

    pub fn multiply(machine: Machine, case: *const proof.Multiply) !void {
        const matrix = &case.matrix;
        var own: arguments.MulMvArguments = .{
            .rows = matrix.rows,
            .columns = matrix.columns,
            .out_stride = case.out_stride,
        };
        const buffers = [_]?*anyopaque{ &own, @constCast(matrix.data), @constCast(case.x.ptr), case.out.ptr };
        const launch: Launch = .{
            .entry = tenon_shim_mul_mv_q4_1,
            .buffers = &buffers,
            .groups_x = arguments.mulMvGroups(matrix.rows),
            .groups_y = case.count,
            .threads = arguments.mul_mv_simdgroups * arguments.simd_width,
            .seed = machine.seed,
        };
        try launch.run();
    }
};

/// kernels/shim/machine.h.
const Entry = *const anyopaque;
const Launch = extern struct {
    entry: Entry,
    buffers: [*]const ?*anyopaque,
    groups_x: u32 = 1,
    groups_y: u32 = 1,
    threads: u32,
    shared_bytes: u32 = 0,
    seed: u64,

    fn with(launch: Launch, entry: Entry) Launch {
        var other = launch;
        other.entry = entry;
        return other;
    }

    fn run(launch: *const Launch) error{ Diverged, SharedOverrun, OutOfMemory, Invalid, UnknownStatus }!void {
        return switch (tenon_shim_run(launch)) {
            0 => {},
            1 => error.Diverged,
            2 => error.SharedOverrun,
            3 => error.OutOfMemory,
            4 => error.Invalid,
            else => error.UnknownStatus,
        };
    }
};

extern fn tenon_shim_run(launch: *const Launch) i32;
extern const tenon_shim_rms_norm: Entry;
extern const tenon_shim_rms_norm_without_barrier: Entry;
extern const tenon_shim_mul_mv_q4_1: Entry;
extern const tenon_shim_divergent_barrier: Entry;
extern const tenon_shim_divergent_sum: Entry;
extern const tenon_shim_shared_overrun: Entry;
