//! One thread that owns the model and runs the sequences: takes requests, steps them, writes events.
pub const Sampler = @import("scheduler/sampler.zig").Sampler;

test {
    _ = @import("scheduler/queue.zig");
    _ = @import("scheduler/ring.zig");
    _ = @import("scheduler/sampler.zig");
}
