const std = @import("std");
const Allocator = std.mem.Allocator;
const limits = @import("../limits.zig").scheduler;
const stdx = @import("../stdx.zig");
const Vocabulary = @import("../vocabulary.zig").Vocabulary;
const Backend = @import("backend.zig").Backend;
const Queue = @import("queue.zig").Queue;
const Request = @import("request.zig").Request;
const Ring = @import("ring.zig").Ring;
const slots = @import("slot.zig");
const Slot = slots.Slot;
const Wake = @import("wake.zig").Wake;
const io = std.Io.Threaded.global_single_threaded.io();

pub const Options = struct {
    /// Requests that run at once, and that wait at most.
    slots: u32 = limits.slots_default,
    queue_max: u32 = limits.queue_requests,
    /// Tokens of a sequence, where the model's own context is to be cut.
    context_max: u32 = std.math.maxInt(u32),
    /// Bytes of cache that sequences of finished requests may fill; 0 keeps none.
    kept_bytes: usize = limits.kept_bytes_default,
    /// A power of two.
    ring_bytes: u32 = limits.ring_bytes,
};

/// Runs requests on one thread: each tick admits, computes one step of all that decode in one pass and one chunk of one prompt, and sends
/// what came of it. Everything else may be called from any thread, and never waits.
pub const Scheduler = struct {
    gpa: Allocator,
    shared: slots.Shared,
    slots: []Slot,
    /// (slots, tokens); a row is one slot's, which writes it before anybody reads it.
    logits: []align(std.heap.page_size_min) f32,
    /// (slots, words), likewise.
    masks: []align(std.heap.page_size_min) u32,
    /// (slots, draft_tokens + 1, tokens) of passes with drafts; pages that no slot drafted in take no memory.
    draft_logits: []align(std.heap.page_size_min) f32,
    ring: Ring,
    wake: Wake,
    queue_max: u32,
    queue: Queue(*Request, limits.queue_requests),
    thread: ?std.Thread = null,
    stopping: std.atomic.Value(bool) = .init(false),
    /// Changes whenever there may be work again.
    signal: std.atomic.Value(u32) = .init(0),
    /// The slot whose prompt had the last chunk.
    prompted: usize = 0,
    running: std.atomic.Value(u32) = .init(0),
    /// Of the running requests, and of all sequences.
    cache_bytes: std.atomic.Value(usize) = .init(0),
    cache_total_bytes: std.atomic.Value(usize) = .init(0),

    /// Does not run yet. Borrows backend and vocabulary, which have the same number of tokens.
    pub fn create(gpa: Allocator, backend: Backend, vocabulary: *const Vocabulary, options: Options) error{ OutOfMemory, NoSockets }!*Scheduler {
        std.debug.assert(backend.vocabularyCount() == vocabulary.count);
        std.debug.assert(options.slots > 0 and options.slots <= limits.slots_max);
        const self = try gpa.create(Scheduler);
        errdefer gpa.destroy(self);
        var shared: slots.Shared = try .init(gpa, backend, vocabulary, @min(options.context_max, backend.contextMax()), options.kept_bytes);
        errdefer shared.deinit();
        const words = vocabulary.words();
        const logits = try stdx.allocPages(f32, gpa, options.slots * @as(usize, vocabulary.count));
        errdefer stdx.freePages(gpa, logits);
        const masks = try stdx.allocPages(u32, gpa, options.slots * @as(usize, words));
        errdefer stdx.freePages(gpa, masks);
        const draft_rows = limits.draft_tokens + 1;
        const draft_logits = try stdx.allocPages(f32, gpa, options.slots * draft_rows * @as(usize, vocabulary.count));
        errdefer stdx.freePages(gpa, draft_logits);
        const ring_bytes = try gpa.alloc(u8, options.ring_bytes);
        errdefer gpa.free(ring_bytes);
        const own_slots = try gpa.alloc(Slot, options.slots);
        errdefer gpa.free(own_slots);
        self.* = .{
            .gpa = gpa,
            .shared = shared,
            .slots = own_slots,
            .logits = logits,
            .masks = masks,
            .draft_logits = draft_logits,
            .ring = .init(ring_bytes),
            .wake = try .init(),
            .queue_max = options.queue_max,
            .queue = undefined,
        };
        self.queue.init();
        for (self.slots, 0..) |*slot, i| slot.* = .{
            .shared = &self.shared,
            .index = @intCast(i),
            .logits = logits[i * vocabulary.count ..][0..vocabulary.count],
            .mask = masks[i * words ..][0..words],
            .row = logits[i * vocabulary.count ..][0..vocabulary.count],
            .draft_logits = draft_logits[i * draft_rows * vocabulary.count ..][0 .. draft_rows * vocabulary.count],
        };
        return self;
    }

    pub fn start(self: *Scheduler) std.Thread.SpawnError!void {
        self.thread = try std.Thread.spawn(.{}, run, .{self});
    }

    /// Stops after the pass that is running: whoever wants it shorter cancels the requests first. They get no more events.
    pub fn destroy(self: *Scheduler) void {
        self.stopping.store(true, .release);
        self.nudge();
        if (self.thread) |thread| thread.join();
        for (self.slots) |*slot| slot.deinit();
        self.wake.deinit();
        self.gpa.free(self.slots);
        self.gpa.free(self.ring.bytes);
        stdx.freePages(self.gpa, self.draft_logits);
        stdx.freePages(self.gpa, self.masks);
        stdx.freePages(self.gpa, self.logits);
        self.shared.deinit();
        self.gpa.destroy(self);
    }

    /// The request fits (see `Misfit`) and stays alive until its finish event was drained.
    pub fn submit(self: *Scheduler, request: *Request) error{Full}!void {
        if (self.queue.len() >= self.queue_max) return error.Full;
        try self.queue.push(request);
        self.nudge();
    }

    pub fn cancel(self: *Scheduler, request: *Request) void {
        request.cancelled.store(true, .monotonic);
        self.nudge();
    }

    /// Step mode: what JavaScript wrote into the rows is seen by the draw.
    pub fn release(self: *Scheduler, request: *Request) void {
        request.released.store(true, .release);
        self.nudge();
    }

    /// Copies whole event records; none means that there are none, and a byte will come when there are. One thread at a time.
    pub fn drain(self: *Scheduler, out: []u8) u32 {
        const bytes = self.ring.read(out);
        if (self.ring.takeStarved()) self.nudge();
        return bytes;
    }

    fn nudge(self: *Scheduler) void {
        _ = self.signal.fetchAdd(1, .release);
        io.futexWake(u32, &self.signal.raw, 1);
    }

    fn run(self: *Scheduler) void {
        while (!self.stopping.load(.acquire)) {
            const seen = self.signal.load(.acquire);
            if (!self.tick()) io.futexWaitUncancelable(u32, &self.signal.raw, seen);
        }
    }

    /// One round. False when nothing can go on before `signal` changes.
    pub fn tick(self: *Scheduler) bool {
        var progress = false;
        for (self.slots) |*slot| {
            if (slot.settle(&self.ring)) progress = true;
            if (slot.phase == .free) if (self.queue.pop()) |request| {
                slot.begin(request);
                progress = true;
            };
        }
        if (self.decode()) progress = true;
        if (self.prefill()) progress = true;
        var running: u32 = 0;
        var cache_bytes: usize = 0;
        for (self.slots) |*slot| {
            _ = slot.settle(&self.ring);
            if (slot.phase != .free) running += 1;
            if (slot.sequence) |sequence| cache_bytes += self.shared.backend.sequenceBytes(sequence);
        }
        self.running.store(running, .monotonic);
        self.cache_bytes.store(cache_bytes, .monotonic);
        self.cache_total_bytes.store(self.shared.backend.cacheBytes(), .monotonic);
        if (self.ring.publish()) self.wake.ring();
        return progress;
    }

    fn decode(self: *Scheduler) bool {
        var items: [limits.slots_max]Backend.Item = undefined;
        var members: [limits.slots_max]*Slot = undefined;
        var count: usize = 0;
        for (self.slots) |*slot| if (slot.waitsFor(.decode)) {
            members[count] = slot;
            count += 1;
        };
        if (count == 0) return false;
        var spare = limits.draft_rows -| count;
        for (members[0..count], items[0..count]) |slot, *item| {
            item.* = slot.next(@intCast(spare));
            spare -= item.outputs - 1;
        }
        // One step is shorter than anyone waits for a cancelled one.
        if (self.forward(items[0..count], &never)) |_| {
            for (members[0..count]) |slot| slot.decoded();
        } else |_| {
            // One sequence may have no room left; it must not end the others.
            for (members[0..count], items[0..count]) |slot, item|
                if (self.forward(&.{item}, &never)) |_| slot.decoded() else |err| slot.fail(reasonOf(err));
        }
        return true;
    }

    fn prefill(self: *Scheduler) bool {
        var others = false;
        for (self.slots) |*slot| if (slot.phase == .decode) {
            others = true;
        };
        for (1..self.slots.len + 1) |step| {
            const at = (self.prompted + step) % self.slots.len;
            const slot = &self.slots[at];
            if (!slot.waitsFor(.prefill)) continue;
            self.prompted = at;
            const item = slot.chunk(if (others) limits.chunk_shared_tokens else limits.chunk_alone_tokens);
            if (self.forward(&.{item}, &slot.request.cancelled)) |_| slot.prefilled(@intCast(item.tokens.len)) else |err| switch (err) {
                // The next round finds the flag and finishes the request.
                error.Cancelled => {},
                else => slot.fail(reasonOf(err)),
            }
            return true;
        }
        return false;
    }

    /// What is kept for others makes room for those that run.
    fn forward(self: *Scheduler, items: []const Backend.Item, stop: *const std.atomic.Value(bool)) Backend.Error!void {
        while (true) return self.shared.backend.forward(items, stop) catch |err| {
            if (err == error.OutOfMemory and self.shared.kept.dropOldest()) continue;
            return err;
        };
    }

    fn reasonOf(err: Backend.Error) []const u8 {
        return switch (err) {
            error.OutOfMemory => "out of memory for the model's cache",
            error.ContextFull => "the model's context is full",
            error.Cancelled => "cancelled",
        };
    }
};

const never: std.atomic.Value(bool) = .init(false);
