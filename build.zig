//! Builds the native library (`zig build`), runs the tests of one room (`zig build test-grammar`) or of all (`zig build test`),
//! and cross-compiles for Apple silicon (`zig build -Dtarget=aarch64-macos`).
const std = @import("std");
const builtin = @import("builtin");

comptime {
    if (!std.mem.eql(u8, builtin.zig_version_string, "0.17.1"))
        @compileError("Tenon needs Zig 0.17.1, this is " ++ builtin.zig_version_string);
}

/// The kernels are compiled once per level, and the best one that the CPU has is chosen when the library starts.
const Level = struct { name: []const u8, features: []const std.Target.x86.Feature };
const levels_x86 = [_]Level{
    .{ .name = "avx2", .features = &.{ .avx2, .fma, .f16c, .bmi, .bmi2, .lzcnt, .popcnt, .movbe } },
    .{ .name = "avx512vnni", .features = &.{
        .avx2,     .fma,      .f16c,       .bmi, .bmi2, .lzcnt, .popcnt, .movbe, .avx512f, .avx512bw, .avx512vl,
        .avx512dq, .avx512cd, .avx512vnni,
    } },
};

/// A room is a file of this name under zig/ with a folder beside it.
const Room = struct { name: []const u8, kernels: bool = false, llvm: bool = false };
const rooms = [_]Room{
    .{ .name = "stdx" },
    .{ .name = "vocabulary" },
    .{ .name = "grammar" },
    .{ .name = "kernels", .kernels = true, .llvm = true },
    .{ .name = "model", .kernels = true, .llvm = true },
    .{ .name = "scheduler", .kernels = true, .llvm = true },
    .{ .name = "metal" },
};

/// Everything outside the kernels runs on any CPU of the last decade that can hold a model.
const default_target: std.Target.Query = if (builtin.cpu.arch == .x86_64)
    .{ .cpu_model = .{ .explicit = &std.Target.x86.cpu.x86_64_v3 } }
else
    .{ .cpu_model = .baseline };

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{ .default_target = default_target });
    const filters = b.option([]const []const u8, "test-filter", "Run only tests whose name contains this") orelse &.{};
    const fast_tests = b.option(bool, "fast-tests", "Build tests with optimisation (slower to build, faster to run)") orelse false;

    // Grammar, scheduler and abi keep their safety checks; kernels do not (they are objects of their own).
    const library_module = b.createModule(.{
        .root_source_file = b.path("zig/abi.zig"),
        .target = target,
        .optimize = .safe,
        .pic = true,
        .link_libc = true,
    });
    addKernels(b, library_module, target);
    const library = b.addLibrary(.{
        .name = "tenon",
        .linkage = .dynamic,
        .root_module = library_module,
        .use_llvm = true,
    });
    b.installArtifact(library);

    const test_all = b.step("test", "Run the tests of every room");
    inline for (rooms) |room| {
        const module = b.createModule(.{
            .root_source_file = b.path("zig/" ++ room.name ++ ".zig"),
            .target = target,
            .optimize = if (fast_tests) .safe else .debug,
            .link_libc = true,
        });
        if (room.kernels) addKernels(b, module, target);
        const tests = b.addTest(.{
            .name = room.name,
            .root_module = module,
            .filters = filters,
            .use_llvm = room.llvm or fast_tests,
        });
        const run = &b.addRunArtifact(tests).step;
        b.step("test-" ++ room.name, "Run the tests of zig/" ++ room.name).dependOn(run);
        test_all.dependOn(run);
    }
}

fn addKernels(b: *std.Build, module: *std.Build.Module, target: std.Build.ResolvedTarget) void {
    if (target.result.cpu.arch == .x86_64) {
        for (levels_x86) |level| {
            var query = target.query;
            query.cpu_model = .baseline;
            query.cpu_features_add = std.Target.x86.featureSet(level.features);
            addLevel(b, module, b.resolveTargetQuery(query), level.name);
        }
    }
    addLevel(b, module, target, "baseline");
}

fn addLevel(b: *std.Build, module: *std.Build.Module, target: std.Build.ResolvedTarget, name: []const u8) void {
    const options = b.addOptions();
    options.addOption([]const u8, "level", name);
    module.addObject(b.addObject(.{
        .name = b.fmt("kernels_{s}", .{name}),
        .use_llvm = true,
        .root_module = b.createModule(.{
            .root_source_file = b.path("zig/kernels/level.zig"),
            .target = target,
            .optimize = .fast,
            .pic = true,
            .omit_frame_pointer = true,
            .imports = &.{.{ .name = "options", .module = options.createModule() }},
        }),
    }));
}
