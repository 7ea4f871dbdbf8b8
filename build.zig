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
const Room = struct { name: []const u8, kernels: bool = false, metal: bool = false, llvm: bool = false };
const rooms = [_]Room{
    .{ .name = "stdx" },
    .{ .name = "vocabulary" },
    .{ .name = "grammar" },
    .{ .name = "kernels", .kernels = true, .llvm = true },
    .{ .name = "model", .kernels = true, .llvm = true },
    .{ .name = "scheduler", .kernels = true, .llvm = true },
    .{ .name = "engine", .kernels = true, .llvm = true },
    .{ .name = "metal", .metal = true },
    .{ .name = "doctor", .kernels = true, .metal = true, .llvm = true },
};

/// Sources of the Metal kernels, which the library carries and compiles on the GPU's machine.
const metal_sources = [_][]const u8{ "prelude.h", "arguments.gen.h", "rms_norm.metal", "mul_mv_q4_1.metal" };

/// A file in the source tree that a program prints: `zig build generate` writes it, `zig build check-generated` compares it.
const Generated = struct { program: []const u8, path: []const u8 };
const generated_files = [_]Generated{
    .{ .program = "zig/abi_table.zig", .path = "src/engine/abi.gen.ts" },
    .{ .program = "zig/metal/arguments_header.zig", .path = "kernels/arguments.gen.h" },
};

/// Everything outside the kernels runs on any CPU of the last decade that can hold a model.
const default_target: std.Target.Query = if (builtin.cpu.arch == .x86_64)
    .{ .cpu_model = .{ .explicit = &std.Target.x86.cpu.x86_64_v3 } }
else
    .{ .cpu_model = .baseline };

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{ .default_target = default_target });
    const filters = b.option([]const []const u8, "test-filter", "Run only tests whose name contains this");
    const fast_tests = b.option(bool, "fast-tests", "Build tests with optimisation (slower to build, faster to run)") orelse false;

    const quick_library = b.option(bool, "quick-library", "Build the library without optimisation (quick to build, slow to run)") orelse false;

    // Grammar, scheduler and abi keep their safety checks; kernels do not (they are objects of their own).
    const library_module = b.createModule(.{
        .root_source_file = b.path("zig/abi_table.zig"),
        .target = target,
        .optimize = if (quick_library) .debug else .safe,
        .pic = true,
        .link_libc = true,
    });
    const kernels = kernelObjects(b, target);
    for (kernels) |object| library_module.addObject(object);
    addMetalSources(b, library_module);
    const library = b.addLibrary(.{
        .name = "tenon",
        .linkage = .dynamic,
        .root_module = library_module,
        .use_llvm = if (quick_library) null else true,
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
        if (room.kernels) for (kernels) |object| module.addObject(object);
        if (room.metal) addMetalSources(b, module);
        const tests = b.addTest(.{
            .name = room.name,
            .root_module = module,
            // Not the tests of the rooms that this one imports.
            .filters = filters orelse &.{room.name ++ "."},
            .use_llvm = room.llvm or fast_tests,
        });
        const run = b.addRunArtifact(tests);
        // A cached run is in no count.
        run.has_side_effects = true;
        if (room.metal) run.step.dependOn(addShim(b, module, target));
        b.step("test-" ++ room.name, "Run the tests of zig/" ++ room.name).dependOn(&run.step);
        test_all.dependOn(&run.step);
    }
    addGenerated(b);
    const run_kernels = b.addRunArtifact(addBench(b, target, kernels, "kernels"));
    run_kernels.addPassthruArgs();
    b.step("bench-kernels", "Measure the kernels: [level] [format] [threads]").dependOn(&run_kernels.step);
    const run_grammar = b.addRunArtifact(addBench(b, target, &.{}, "grammar"));
    run_grammar.addPassthruArgs();
    b.step("bench-grammar", "Measure masks: PREFIX, as `bun run bench mask --dump PREFIX` wrote it").dependOn(&run_grammar.step);
    const bench_model = b.addInstallArtifact(addBench(b, target, kernels, "model"), .{});
    b.step("bench-model", "Build zig-out/bin/bench-model, which `bun run bench` runs").dependOn(&bench_model.step);
}

/// The measuring program of a room.
fn addBench(
    b: *std.Build,
    target: std.Build.ResolvedTarget,
    kernels: []const *std.Build.Step.Compile,
    comptime room: []const u8,
) *std.Build.Step.Compile {
    const module = b.createModule(.{
        .root_source_file = b.path("zig/" ++ room ++ ".zig"),
        .target = target,
        .optimize = .safe,
        .link_libc = true,
    });
    for (kernels) |object| module.addObject(object);
    return b.addExecutable(.{
        .name = "bench-" ++ room,
        .use_llvm = true,
        .root_module = b.createModule(.{
            .root_source_file = b.path("zig/" ++ room ++ "/bench.zig"),
            .target = target,
            .optimize = .safe,
            .link_libc = true,
            .imports = &.{.{ .name = room, .module = module }},
        }),
    });
}

fn addGenerated(b: *std.Build) void {
    const update = b.addUpdateSourceFiles();
    b.step("generate", "Write the generated files").dependOn(&update.step);
    const check = b.step("check-generated", "Compare the generated files with what would be written");
    for (generated_files) |file| {
        const program = b.addExecutable(.{
            .name = std.fs.path.stem(file.program),
            .root_module = b.createModule(.{
                .root_source_file = b.path(file.program),
                .target = b.graph.host,
                .optimize = .debug,
            }),
        });
        const printed = b.addRunArtifact(program).captureStdOut(.{});
        update.addCopyFileToSource(printed, file.path);
        const compare = b.addSystemCommand(&.{ "diff", "-u" });
        compare.addFileArg(b.path(file.path));
        compare.addFileArg(printed);
        compare.expectExitCode(0);
        check.dependOn(&compare.step);
    }
}

fn addMetalSources(b: *std.Build, module: *std.Build.Module) void {
    for (metal_sources) |name| {
        module.addAnonymousImport(name, .{ .root_source_file = b.path(b.fmt("kernels/{s}", .{name})) });
    }
}

/// The Metal kernels for the CPU, as the tests run them. The step compiles them once more, with their address spaces checked.
fn addShim(b: *std.Build, module: *std.Build.Module, target: std.Build.ResolvedTarget) *std.Build.Step {
    const flags = [_][]const u8{
        // The kernels' attributes mean something to Metal only.
        "-std=c++17",        "-fno-exceptions", "-fno-rtti", "-Wall", "-Werror", "-Wno-unknown-attributes",
        // As Metal does by default: no wider intermediate results, no fused multiply-add of our choosing.
        "-ffp-contract=off",
    };
    module.addIncludePath(b.path("kernels/shim"));
    module.addCSourceFiles(.{
        .root = b.path("kernels/shim"),
        .files = &.{ "machine.cpp", "entries.cpp" },
        .flags = &flags,
    });
    const address_spaces = b.createModule(.{ .target = target, .optimize = .debug, .link_libc = true });
    address_spaces.addIncludePath(b.path("kernels/shim"));
    address_spaces.addCSourceFile(.{
        .file = b.path("kernels/shim/address_spaces.cpp"),
        .flags = &(flags ++ .{"-Wno-unused-function"}),
    });
    return &b.addObject(.{ .name = "address_spaces", .root_module = address_spaces }).step;
}

/// One object per level that the target's CPUs may have; whatever links kernels links all of them.
fn kernelObjects(b: *std.Build, target: std.Build.ResolvedTarget) []const *std.Build.Step.Compile {
    const levels: []const Level = if (target.result.cpu.arch == .x86_64) &levels_x86 else &.{};
    const objects = b.allocator.alloc(*std.Build.Step.Compile, levels.len + 1) catch @panic("out of memory");
    for (levels, objects[0..levels.len]) |level, *object| {
        var query = target.query;
        query.cpu_model = .baseline;
        query.cpu_features_add = std.Target.x86.featureSet(level.features);
        object.* = kernelObject(b, b.resolveTargetQuery(query), level.name);
    }
    objects[levels.len] = kernelObject(b, target, "baseline");
    return objects;
}

fn kernelObject(b: *std.Build, target: std.Build.ResolvedTarget, name: []const u8) *std.Build.Step.Compile {
    const options = b.addOptions();
    options.addOption([]const u8, "level", name);
    return b.addObject(.{
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
    });
}
