//! One kernel, ready to be dispatched (MTLComputePipelineState).
const objc = @import("objc.zig");
const arguments = @import("arguments.zig");
const Device = @import("device.zig").Device;
const Diagnostic = @import("diagnostic.zig").Diagnostic;
const Library = @import("library.zig").Library;

pub const Pipeline = struct {
    device: *const Device,
    object: objc.Object,
    /// Of a threadgroup.
    threads: u32,

    /// On Refused, `diagnostic` says why: no such kernel, or this GPU cannot run it with so many threads.
    pub fn create(
        library: *const Library,
        name: [:0]const u8,
        threads: u32,
        diagnostic: *Diagnostic,
    ) error{ Refused, Unavailable }!Pipeline {
        const device = library.device;
        const runtime = &device.runtime;
        const pool: objc.Pool = .push(runtime);
        defer pool.pop();
        const function = runtime.send(?objc.Object, library.object, "newFunctionWithName:", .{try runtime.string(name)}) orelse {
            diagnostic.set(name, "no such kernel");
            return error.Refused;
        };
        defer runtime.release(function);
        var failure: ?objc.Object = null;
        const object = runtime.send(?objc.Object, device.object, "newComputePipelineStateWithFunction:error:", .{
            function,
            &failure,
        }) orelse {
            diagnostic.setError(runtime, name, failure);
            return error.Refused;
        };
        errdefer runtime.release(object);
        if (runtime.send(u64, object, "threadExecutionWidth", .{}) != arguments.simd_width) {
            diagnostic.set(name, "SIMD groups of this GPU have another width");
            return error.Refused;
        }
        if (runtime.send(u64, object, "maxTotalThreadsPerThreadgroup", .{}) < threads) {
            diagnostic.set(name, "needs larger threadgroups than this GPU has for it");
            return error.Refused;
        }
        return .{ .device = device, .object = object, .threads = threads };
    }

    pub fn destroy(pipeline: *Pipeline) void {
        pipeline.device.runtime.release(pipeline.object);
        pipeline.* = undefined;
    }
};
