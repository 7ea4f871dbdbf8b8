//! The operations of a graph on a GPU: each encodes one dispatch. Buffers hold what the operations say, in rows that follow each other.
const std = @import("std");
const arguments = @import("arguments.zig");
const kernels = @import("../kernels.zig");
const Command = @import("command.zig").Command;
const Device = @import("device.zig").Device;
const Diagnostic = @import("diagnostic.zig").Diagnostic;
const Library = @import("library.zig").Library;
const Pipeline = @import("pipeline.zig").Pipeline;
const Place = @import("command.zig").Place;
const Queue = @import("command.zig").Queue;

pub const Backend = struct {
    queue: Queue,
    library: Library,
    rms_norm: Pipeline,
    mul_mv_q4_1: Pipeline,

    pub const InitError = error{ OutOfMemory, Refused, Unavailable };

    /// Compiles the kernels. The device outlives the backend. On Refused, `diagnostic` says which kernel and why.
    pub fn init(device: *const Device, diagnostic: *Diagnostic) InitError!Backend {
        var queue: Queue = try .create(device);
        errdefer queue.destroy();
        var library: Library = try .compile(device, Library.source, diagnostic);
        errdefer library.destroy();
        var rms_norm: Pipeline = try .create(&library, "rms_norm", arguments.rms_norm_threads, diagnostic);
        errdefer rms_norm.destroy();
        const mul_mv_threads = arguments.mul_mv_simdgroups * arguments.simd_width;
        const mul_mv_q4_1: Pipeline = try .create(&library, "mul_mv_q4_1", mul_mv_threads, diagnostic);
        return .{ .queue = queue, .library = library, .rms_norm = rms_norm, .mul_mv_q4_1 = mul_mv_q4_1 };
    }

    pub fn deinit(backend: *Backend) void {
        backend.mul_mv_q4_1.destroy();
        backend.rms_norm.destroy();
        backend.library.destroy();
        backend.queue.destroy();
        backend.* = undefined;
    }

    pub const RmsNorm = struct {
        /// f32 (rows, columns).
        x: Place,
        /// f32 (columns).
        weight: Place,
        /// f32 (rows, columns); may be x.
        out: Place,
        rows: u32,
        columns: u32,
        epsilon: f32,
    };

    pub fn rmsNorm(backend: *const Backend, command: *const Command, operation: RmsNorm) void {
        command.dispatch(
            &backend.rms_norm,
            arguments.RmsNormArguments{ .columns = operation.columns, .epsilon = operation.epsilon },
            &.{ operation.x, operation.weight, operation.out },
            arguments.rms_norm_threads / arguments.simd_width * @sizeOf(f32),
            .{ .x = operation.rows },
        );
    }

    pub const Multiply = struct {
        format: kernels.Format,
        /// (rows, columns) in `format`.
        weights: Place,
        /// f32 (count, columns).
        x: Place,
        /// f32 (count, out_stride), of which `rows` are written.
        out: Place,
        rows: u32,
        columns: u32,
        count: u32,
        out_stride: u32,
    };

    /// out[i][r] = weights[r] · x[i]. Unsupported: no kernel for this format yet.
    pub fn multiply(backend: *const Backend, command: *const Command, operation: Multiply) error{Unsupported}!void {
        const pipeline = switch (operation.format) {
            .q4_1 => &backend.mul_mv_q4_1,
            else => return error.Unsupported,
        };
        std.debug.assert(operation.columns % kernels.blockElements(operation.format) == 0);
        command.dispatch(
            pipeline,
            arguments.MulMvArguments{
                .rows = operation.rows,
                .columns = operation.columns,
                .out_stride = operation.out_stride,
            },
            &.{ operation.weights, operation.x, operation.out },
            0,
            .{ .x = arguments.mulMvGroups(operation.rows), .y = operation.count },
        );
    }
};
