//! Work for the GPU: a queue (MTLCommandQueue), and one batch of dispatches for it (MTLCommandBuffer with its encoder).
const std = @import("std");
const objc = @import("objc.zig");
const Buffer = @import("buffer.zig").Buffer;
const Device = @import("device.zig").Device;
const Diagnostic = @import("diagnostic.zig").Diagnostic;
const Pipeline = @import("pipeline.zig").Pipeline;

pub const Queue = struct {
    device: *const Device,
    object: objc.Object,

    pub fn create(device: *const Device) error{OutOfMemory}!Queue {
        const object = device.runtime.send(?objc.Object, device.object, "newCommandQueue", .{}) orelse return error.OutOfMemory;
        return .{ .device = device, .object = object };
    }

    pub fn destroy(queue: *Queue) void {
        queue.device.runtime.release(queue.object);
        queue.* = undefined;
    }
};

/// Bytes of a buffer from `offset`.
pub const Place = struct { buffer: *const Buffer, offset: usize = 0 };

pub const Grid = struct { x: u32, y: u32 = 1 };

/// MTLSize.
const Size = extern struct { width: u64, height: u64, depth: u64 };

/// Begun and finished by one thread, in a function that lives as long: its objects are in a pool of that thread.
pub const Command = struct {
    runtime: *const objc.Runtime,
    pool: objc.Pool,
    object: objc.Object,
    encoder: objc.Object,

    /// MTLDispatchTypeConcurrent: what depends on another dispatch says so by `barrier`.
    const dispatch_concurrent: u64 = 1;
    /// MTLBarrierScopeBuffers.
    const barrier_buffers: u64 = 1;
    /// MTLCommandBufferStatusCompleted.
    const status_completed: u64 = 4;

    pub fn begin(queue: *const Queue) error{OutOfMemory}!Command {
        const runtime = &queue.device.runtime;
        const pool: objc.Pool = .push(runtime);
        errdefer pool.pop();
        const object = runtime.send(?objc.Object, queue.object, "commandBuffer", .{}) orelse return error.OutOfMemory;
        const encoder = runtime.send(?objc.Object, object, "computeCommandEncoderWithDispatchType:", .{dispatch_concurrent}) orelse
            return error.OutOfMemory;
        return .{ .runtime = runtime, .pool = pool, .object = object, .encoder = encoder };
    }

    /// `arguments` become buffer 0, copied; `places` buffers 1 and on; `shared_bytes` threadgroup memory 0, where there is any.
    pub fn dispatch(
        command: *const Command,
        pipeline: *const Pipeline,
        arguments: anytype,
        places: []const Place,
        shared_bytes: u32,
        grid: Grid,
    ) void {
        comptime std.debug.assert(@sizeOf(@TypeOf(arguments)) <= 4096);
        const runtime = command.runtime;
        runtime.send(void, command.encoder, "setComputePipelineState:", .{pipeline.object});
        runtime.send(void, command.encoder, "setBytes:length:atIndex:", .{
            @as(*const anyopaque, &arguments),
            @as(u64, @sizeOf(@TypeOf(arguments))),
            @as(u64, 0),
        });
        for (places, 1..) |place, index| runtime.send(void, command.encoder, "setBuffer:offset:atIndex:", .{
            place.buffer.object,
            @as(u64, place.offset),
            @as(u64, index),
        });
        // The encoder takes multiples of 16 bytes.
        if (shared_bytes > 0) runtime.send(void, command.encoder, "setThreadgroupMemoryLength:atIndex:", .{
            @as(u64, std.mem.alignForward(u32, shared_bytes, 16)),
            @as(u64, 0),
        });
        runtime.send(void, command.encoder, "dispatchThreadgroups:threadsPerThreadgroup:", .{
            Size{ .width = grid.x, .height = grid.y, .depth = 1 },
            Size{ .width = pipeline.threads, .height = 1, .depth = 1 },
        });
    }

    /// What follows sees what was written before.
    pub fn barrier(command: *const Command) void {
        command.runtime.send(void, command.encoder, "memoryBarrierWithScope:", .{barrier_buffers});
    }

    /// Runs the batch and waits for its end. On Failed, `diagnostic` says why.
    pub fn finish(command: *const Command, diagnostic: *Diagnostic) error{Failed}!void {
        defer command.pool.pop();
        const runtime = command.runtime;
        runtime.send(void, command.encoder, "endEncoding", .{});
        runtime.send(void, command.object, "commit", .{});
        runtime.send(void, command.object, "waitUntilCompleted", .{});
        if (runtime.send(u64, command.object, "status", .{}) == status_completed) return;
        diagnostic.setError(runtime, "the GPU did not finish", runtime.send(?objc.Object, command.object, "error", .{}));
        return error.Failed;
    }
};
