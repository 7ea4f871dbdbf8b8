//! The threads that compute. All run the same function (single program, multiple data) and meet at barriers; between barriers
//! they claim units of work one by one, so that a slow thread does less. Waiting spins briefly, then sleeps: a thread that
//! spins on a core which another process needs would slow down the one it waits for.
const std = @import("std");
const limits = @import("../limits.zig").model;

pub const Team = struct {
    threads: []std.Thread,
    job: Job = undefined,
    /// Counts jobs in the upper bits; the lanes of the current one are in the lower bits.
    generation: std.atomic.Value(u32) align(std.atomic.cache_line) = .init(0),
    generation_sleepers: std.atomic.Value(u32) = .init(0),
    /// Counts barriers passed.
    phase: std.atomic.Value(u32) align(std.atomic.cache_line) = .init(0),
    phase_sleepers: std.atomic.Value(u32) = .init(0),
    /// Written by the last lane to reach a barrier, before it opens it: all lanes see the same value until the next one.
    is_stopped: bool = false,
    arrived: std.atomic.Value(u32) align(std.atomic.cache_line) = .init(0),
    next: std.atomic.Value(u32) align(std.atomic.cache_line) = .init(0),
    /// Nanoseconds that lanes slept at barriers of the current job.
    slept_ns: std.atomic.Value(u64) align(std.atomic.cache_line) = .init(0),
    spins: []Spin,

    const Job = struct { function: *const fn (context: *anyopaque, lane: u32) void, context: *anyopaque, cancel: *const std.atomic.Value(bool) };
    const Spin = struct { pauses: u32 align(std.atomic.cache_line) = limits.spin_pauses_max };
    const lane_bits = 10;
    const lane_mask = (1 << lane_bits) - 1;
    const job_end = lane_mask;

    comptime {
        std.debug.assert(limits.threads_max < job_end);
    }

    /// The caller of `run` is lane 0; `lanes - 1` threads are started.
    pub fn create(gpa: std.mem.Allocator, lanes: u32) error{ OutOfMemory, ThreadsUnavailable }!*Team {
        std.debug.assert(lanes >= 1 and lanes <= limits.threads_max);
        const team = try gpa.create(Team);
        errdefer gpa.destroy(team);
        const threads = try gpa.alloc(std.Thread, lanes - 1);
        errdefer gpa.free(threads);
        const spins = try gpa.alloc(Spin, lanes);
        errdefer gpa.free(spins);
        @memset(spins, .{});
        team.* = .{ .threads = threads, .spins = spins };
        for (threads, 1..) |*thread, lane| {
            thread.* = std.Thread.spawn(.{ .stack_size = 1 << 20 }, work, .{ team, @as(u32, @intCast(lane)) }) catch {
                team.threads.len = lane - 1;
                team.end();
                return error.ThreadsUnavailable;
            };
        }
        return team;
    }

    pub fn destroy(team: *Team, gpa: std.mem.Allocator) void {
        team.end();
        gpa.free(team.threads);
        gpa.free(team.spins);
        gpa.destroy(team);
    }

    pub fn size(team: *const Team) u32 {
        return @intCast(team.threads.len + 1);
    }

    /// Runs `function(context, lane)` on `lanes` threads and returns when all have returned.
    pub fn run(
        team: *Team,
        lanes: u32,
        context: anytype,
        comptime function: fn (context: @TypeOf(context), lane: u32) void,
        cancel: *const std.atomic.Value(bool),
    ) void {
        std.debug.assert(lanes >= 1 and lanes <= team.size());
        const Call = struct {
            fn call(pointer: *anyopaque, lane: u32) void {
                function(@ptrCast(@alignCast(pointer)), lane);
            }
        };
        team.job = .{ .function = Call.call, .context = context, .cancel = cancel };
        team.is_stopped = cancel.load(.monotonic);
        team.next.store(lanes, .monotonic);
        team.slept_ns.store(0, .monotonic);
        team.publish(lanes);
        Call.call(context, 0);
        team.barrier(0);
    }

    /// The first unit of a lane is its own number, the following ones are claimed.
    pub fn claim(team: *Team) u32 {
        return team.next.fetchAdd(1, .monotonic);
    }

    /// Returns when all lanes of the job have come here; then units are claimed from the start again.
    pub fn barrier(team: *Team, lane: u32) void {
        const lanes = team.active();
        if (lanes == 1) {
            team.next.store(1, .monotonic);
            team.is_stopped = team.job.cancel.load(.monotonic);
            return;
        }
        const phase = team.phase.load(.monotonic);
        if (team.arrived.fetchAdd(1, .acq_rel) + 1 < lanes) {
            team.await(&team.phase, &team.phase_sleepers, phase, lane, &team.slept_ns);
            return;
        }
        team.arrived.store(0, .monotonic);
        team.next.store(lanes, .monotonic);
        team.is_stopped = team.job.cancel.load(.monotonic);
        // Ordered with the sleeper's count: either it sees the new phase, or we see it sleeping.
        team.phase.store(phase +% 1, .seq_cst);
        wake(&team.phase, &team.phase_sleepers);
    }

    /// Lanes of the current job.
    pub fn active(team: *const Team) u32 {
        return team.generation.load(.monotonic) & lane_mask;
    }

    fn publish(team: *Team, lanes: u32) void {
        const count = (team.generation.load(.monotonic) >> lane_bits) +% 1;
        team.generation.store(count << lane_bits | lanes, .seq_cst);
        if (lanes > 1) wake(&team.generation, &team.generation_sleepers);
    }

    fn end(team: *Team) void {
        team.publish(job_end);
        for (team.threads) |thread| thread.join();
    }

    fn work(team: *Team, lane: u32) void {
        var seen: u32 = 0;
        while (true) {
            team.await(&team.generation, &team.generation_sleepers, seen, lane, null);
            seen = team.generation.load(.acquire);
            const lanes = seen & lane_mask;
            if (lanes == job_end) return;
            if (lane >= lanes) continue;
            team.job.function(team.job.context, lane);
            team.barrier(lane);
        }
    }

    /// Returns when `word` is no longer `seen`.
    fn await(
        team: *Team,
        word: *std.atomic.Value(u32),
        sleepers: *std.atomic.Value(u32),
        seen: u32,
        lane: u32,
        slept_ns: ?*std.atomic.Value(u64),
    ) void {
        const spin = &team.spins[lane].pauses;
        for (0..spin.*) |_| {
            if (word.load(.acquire) != seen) {
                spin.* = @min(spin.* + spin.* / 4, limits.spin_pauses_max);
                return;
            }
            std.atomic.spinLoopHint();
        }
        spin.* = @max(spin.* / 2, limits.spin_pauses_min);
        const begin_ns = if (slept_ns != null) now() else 0;
        _ = sleepers.fetchAdd(1, .seq_cst);
        while (word.load(.seq_cst) == seen) io.futexWaitUncancelable(u32, &word.raw, seen);
        _ = sleepers.fetchSub(1, .monotonic);
        if (slept_ns) |total| _ = total.fetchAdd(now() - begin_ns, .monotonic);
    }

    fn wake(word: *std.atomic.Value(u32), sleepers: *std.atomic.Value(u32)) void {
        if (sleepers.load(.seq_cst) != 0) io.futexWake(u32, &word.raw, std.math.maxInt(u32));
    }
};

/// Its futexes work from any thread and it starts none.
const io = std.Io.Threaded.global_single_threaded.io();

pub fn now() u64 {
    var time: std.posix.timespec = undefined;
    _ = std.posix.system.clock_gettime(.MONOTONIC, &time);
    return @as(u64, @intCast(time.sec)) * std.time.ns_per_s + @as(u64, @intCast(time.nsec));
}

test "every unit of every round is done once, and rounds are in order" {
    const rounds = 500;
    const units = 37;
    const Context = struct {
        team: *Team,
        done: [rounds][units]std.atomic.Value(u32),
        early: std.atomic.Value(u32) = .init(0),

        fn job(self: *@This(), lane: u32) void {
            for (0..rounds) |round| {
                var unit = lane;
                while (unit < units) : (unit = self.team.claim()) {
                    if (round > 0 and self.done[round - 1][unit].load(.monotonic) != 1) _ = self.early.fetchAdd(1, .monotonic);
                    _ = self.done[round][unit].fetchAdd(1, .monotonic);
                }
                self.team.barrier(lane);
            }
        }
    };
    const gpa = std.testing.allocator;
    const cancel: std.atomic.Value(bool) = .init(false);
    for ([_]u32{ 1, 2, 5 }) |lanes| {
        const team = try Team.create(gpa, lanes);
        defer team.destroy(gpa);
        const context = try gpa.create(Context);
        defer gpa.destroy(context);
        var active: u32 = lanes;
        while (active > 0) : (active -= 1) {
            context.* = .{ .team = team, .done = @splat(@splat(.init(0))) };
            team.run(active, context, Context.job, &cancel);
            try std.testing.expectEqual(0, context.early.load(.monotonic));
            for (&context.done) |*round| for (round) |*count| try std.testing.expectEqual(1, count.load(.monotonic));
        }
    }
}

test "all lanes agree on when a job was stopped" {
    const Context = struct {
        team: *Team,
        cancel: std.atomic.Value(bool) = .init(false),
        rounds: [4]u32 = @splat(0),

        fn job(self: *@This(), lane: u32) void {
            while (!self.team.is_stopped) {
                self.rounds[lane] += 1;
                if (lane == 3 and self.rounds[lane] == 100) self.cancel.store(true, .monotonic);
                self.team.barrier(lane);
            }
        }
    };
    const team = try Team.create(std.testing.allocator, 4);
    defer team.destroy(std.testing.allocator);
    var context: Context = .{ .team = team };
    team.run(4, &context, Context.job, &context.cancel);
    try std.testing.expectEqual([4]u32{ 100, 100, 100, 100 }, context.rounds);
}
