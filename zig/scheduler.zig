//! One thread that owns the model and runs the sequences: takes requests, steps them, writes events.
pub const Backend = @import("scheduler/backend.zig").Backend;
pub const Misfit = @import("scheduler/request.zig").Misfit;
pub const Options = @import("scheduler/loop.zig").Options;
pub const Request = @import("scheduler/request.zig").Request;
pub const Scheduler = @import("scheduler/loop.zig").Scheduler;
pub const Task = @import("scheduler/request.zig").Task;
pub const event = @import("scheduler/event.zig");
pub const noise = @import("scheduler/noise.zig");
pub const sampler = @import("scheduler/sampler.zig");

test {
    _ = @import("scheduler/backend.zig");
    _ = @import("scheduler/embed_test.zig");
    _ = @import("scheduler/event.zig");
    _ = @import("scheduler/kept.zig");
    _ = @import("scheduler/loop.zig");
    _ = @import("scheduler/loop_test.zig");
    _ = @import("scheduler/noise.zig");
    _ = @import("scheduler/queue.zig");
    _ = @import("scheduler/request.zig");
    _ = @import("scheduler/ring.zig");
    _ = @import("scheduler/sampler.zig");
    _ = @import("scheduler/slot.zig");
    _ = @import("scheduler/wake.zig");
}
