//! The scheduler on a noise model, ticked by hand, so that every interleaving is chosen by the test.
const std = @import("std");
const gpa = std.testing.allocator;
const event = @import("event.zig");
const limits = @import("../limits.zig").scheduler;
const noise = @import("noise.zig");
const Options = @import("loop.zig").Options;
const Request = @import("request.zig").Request;
const logprobs = @import("sampler.zig").logprobs;
const Scheduler = @import("loop.zig").Scheduler;
const Vocabulary = @import("../vocabulary.zig").Vocabulary;

/// A noise model over the 256 bytes, 254 of them printable by their hexadecimal number, one control and one unused.
const World = struct {
    vocabulary: *Vocabulary,
    noise: *noise.Noise,
    scheduler: *Scheduler,

    const control = 254;
    const unused = 255;

    fn init(options: Options) !World {
        return .initWith(gpa, options);
    }

    /// With another allocator for the scheduler.
    fn initWith(scheduler_gpa: std.mem.Allocator, options: Options) !World {
        var bytes: [512]u8 = undefined;
        var offsets: [257]u32 = undefined;
        var kinds: [256]u8 = @splat(0);
        kinds[control] = 1;
        kinds[unused] = 2;
        for (0..257) |i| offsets[i] = @intCast(2 * i);
        for (0..256) |i| _ = try std.fmt.bufPrint(bytes[2 * i ..], "{x:0>2}", .{i});
        const vocabulary: *Vocabulary = try .create(gpa, &bytes, &offsets, &kinds);
        const model: *noise.Noise = try .create(gpa, .{ .vocabulary_count = 256, .context_max = 2048, .seed = 1, .shape = .flat });
        return .{ .vocabulary = vocabulary, .noise = model, .scheduler = try .create(scheduler_gpa, .{ .noise = model }, vocabulary, options) };
    }

    fn deinit(world: World) void {
        world.scheduler.destroy();
        std.testing.expectEqual(0, world.noise.sequences) catch @panic("a sequence was left behind");
        world.noise.destroy();
        world.vocabulary.destroy(gpa);
    }

    /// Ticks until nothing goes on, reading events after each.
    fn settle(world: World, log: *Log) !void {
        while (world.scheduler.tick()) try log.read(world.scheduler);
        try log.read(world.scheduler);
    }
};

fn requestOf(handle: u32, prompt: []const u32) Request {
    return .{
        .handle = handle,
        .tokens = prompt,
        .program = null,
        .params = .{ .temperature = 1, .seed = handle },
        .biases = &.{},
        .stop_tokens = &.{},
        .tokens_max = 20,
        .logprobs = null,
        .step = false,
    };
}

/// What a reader of the ring has seen of each request, by handle.
const Log = struct {
    seen: [256]Seen = @splat(.{}),

    const Seen = struct {
        text: std.ArrayList(u8) = .empty,
        tokens: std.ArrayList(u32) = .empty,
        logprobs: std.ArrayList(f32) = .empty,
        /// Of the prompt.
        scored: std.ArrayList(event.Logprob) = .empty,
        progress: u32 = 0,
        parked: ?event.Parked = null,
        finish: ?event.Finish = null,
        message: std.ArrayList(u8) = .empty,
    };

    fn deinit(log: *Log) void {
        for (&log.seen) |*seen| {
            seen.text.deinit(gpa);
            seen.tokens.deinit(gpa);
            seen.logprobs.deinit(gpa);
            seen.scored.deinit(gpa);
            seen.message.deinit(gpa);
        }
    }

    fn read(log: *Log, scheduler: *Scheduler) !void {
        var buffer: [8192]u8 align(4) = undefined;
        while (true) {
            const bytes = scheduler.drain(&buffer);
            if (bytes == 0) return;
            var at: usize = 0;
            while (at < bytes) {
                const record: []align(4) const u8 = @alignCast(buffer[at..]);
                const head = std.mem.bytesAsValue(event.Head, record[0..@sizeOf(event.Head)]).*;
                try log.note(head, record[0..head.bytes]);
                at += head.bytes;
            }
        }
    }

    fn note(log: *Log, head: event.Head, record: []align(4) const u8) !void {
        const seen = &log.seen[head.request];
        try std.testing.expectEqual(null, seen.finish);
        switch (head.kind) {
            .progress => seen.progress += 1,
            .text => {
                const text = view(event.Text, record);
                try seen.text.appendSlice(gpa, record[@sizeOf(event.Text)..][0..text.length]);
            },
            .token => {
                const token = view(event.Token, record);
                try seen.tokens.append(gpa, token.token);
                try seen.logprobs.append(gpa, token.logprob);
            },
            .prompt_token => {
                const token = view(event.Token, record);
                try seen.scored.append(gpa, .{ .token = token.token, .logprob = token.logprob });
            },
            .embedding => unreachable, // Noise has none.
            .parked => seen.parked = view(event.Parked, record),
            .finish => {
                seen.finish = view(event.Finish, record);
                try seen.message.appendSlice(gpa, record[@sizeOf(event.Finish)..][0..seen.finish.?.length]);
            },
        }
    }

    fn view(comptime T: type, record: []align(4) const u8) T {
        return std.mem.bytesAsValue(T, record[0..@sizeOf(T)]).*;
    }
};

test "the same seed gives the same text, whatever runs beside it" {
    const prompt: [700]u32 = @splat(3);
    var alone: Log = .{};
    defer alone.deinit();
    {
        const world: World = try .init(.{});
        defer world.deinit();
        var request = requestOf(7, prompt[0..300]);
        try world.scheduler.submit(&request);
        try world.settle(&alone);
    }
    var beside: Log = .{};
    defer beside.deinit();
    const world: World = try .init(.{ .slots = 3 });
    defer world.deinit();
    var requests: [9]Request = undefined;
    for (&requests, 1..) |*request, i| {
        request.* = requestOf(@intCast(i), prompt[0..if (i == 7) 300 else 50 * i]);
        try world.scheduler.submit(request);
        if (i % 2 == 0) _ = world.scheduler.tick();
    }
    try world.settle(&beside);
    try std.testing.expectEqual(40, alone.seen[7].text.items.len);
    try std.testing.expectEqualStrings(alone.seen[7].text.items, beside.seen[7].text.items);
    for (beside.seen[1..10]) |seen| {
        try std.testing.expectEqual(event.Reason.length, seen.finish.?.reason);
        try std.testing.expectEqual(20, seen.finish.?.completion_tokens);
    }
    try std.testing.expect(!std.mem.eql(u8, beside.seen[6].text.items, beside.seen[7].text.items));
}

test "streams go on while a long prompt is read" {
    const world: World = try .init(.{});
    defer world.deinit();
    var log: Log = .{};
    defer log.deinit();
    const prompt: [1024]u32 = @splat(1);
    var short = requestOf(1, prompt[0..1]);
    var long = requestOf(2, &prompt);
    short.tokens_max = 500;
    try world.scheduler.submit(&short);
    _ = world.scheduler.tick();
    try world.scheduler.submit(&long);
    var ticks: usize = 0;
    var written: usize = 0;
    while (log.seen[2].text.items.len == 0) : (ticks += 1) {
        try std.testing.expect(world.scheduler.tick());
        try log.read(world.scheduler);
        try std.testing.expect(log.seen[1].text.items.len > written);
        written = log.seen[1].text.items.len;
    }
    try std.testing.expectEqual(prompt.len / limits.chunk_shared_tokens, ticks);
    try std.testing.expectEqual(ticks - 1, log.seen[2].progress);
    world.scheduler.cancel(&short);
    try world.settle(&log);
    try std.testing.expectEqual(event.Reason.cancelled, log.seen[1].finish.?.reason);
    try std.testing.expectEqual(event.Reason.length, log.seen[2].finish.?.reason);
}

test "cancelled while waiting, reading and writing" {
    const world: World = try .init(.{ .slots = 2 });
    defer world.deinit();
    var log: Log = .{};
    defer log.deinit();
    const prompt: [1024]u32 = @splat(1);
    var writing = requestOf(1, prompt[0..1]);
    var reading = requestOf(2, &prompt);
    var waiting = requestOf(3, prompt[0..1]);
    for ([_]*Request{ &writing, &reading, &waiting }) |request| try world.scheduler.submit(request);
    _ = world.scheduler.tick();
    _ = world.scheduler.tick();
    for ([_]*Request{ &writing, &reading, &waiting }) |request| world.scheduler.cancel(request);
    try world.settle(&log);
    for (log.seen[1..4]) |seen| try std.testing.expectEqual(event.Reason.cancelled, seen.finish.?.reason);
    try std.testing.expect(log.seen[1].finish.?.completion_tokens > 0);
    try std.testing.expectEqual(0, log.seen[2].finish.?.completion_tokens);
    try std.testing.expectEqual(0, world.scheduler.cache_bytes.load(.monotonic));
    try std.testing.expectEqual(0, world.scheduler.running.load(.monotonic));
}

test "a reader that stops parks the streams, and loses nothing" {
    var expected: Log = .{};
    defer expected.deinit();
    const prompt = [_]u32{1};
    for ([_]u32{ limits.ring_bytes, 256 }) |ring_bytes| {
        const world: World = try .init(.{ .slots = 4, .ring_bytes = ring_bytes });
        defer world.deinit();
        var log: Log = .{};
        defer if (ring_bytes == 256) log.deinit();
        var requests: [8]Request = undefined;
        for (&requests, 1..) |*request, i| {
            request.* = requestOf(@intCast(i), &prompt);
            request.logprobs = 5;
            try world.scheduler.submit(request);
        }
        if (ring_bytes == limits.ring_bytes) {
            try world.settle(&log);
            expected = log;
        } else {
            // Nobody reads: the streams stop when the ring is full, and each reading lets them go on for a little.
            var readings: u32 = 0;
            while (true) : (readings += 1) {
                while (world.scheduler.tick()) {}
                const seen = world.scheduler.signal.load(.monotonic);
                try log.read(world.scheduler);
                if (seen == world.scheduler.signal.load(.monotonic)) break;
            }
            try std.testing.expect(readings > 20);
            for (log.seen[1..9], expected.seen[1..9]) |found, wanted| {
                try std.testing.expectEqualStrings(wanted.text.items, found.text.items);
                try std.testing.expectEqualSlices(u32, wanted.tokens.items, found.tokens.items);
                try std.testing.expectEqual(event.Reason.length, found.finish.?.reason);
            }
        }
    }
}

test "a prompt that begins as an earlier conversation is not computed again, and its text is the same" {
    var prompt: [200]u32 = undefined;
    for (&prompt, 0..) |*token, i| token.* = @intCast(i % 200);
    for ([_]usize{ 0, 1 << 20 }) |kept_bytes| {
        var log: Log = .{};
        defer log.deinit();
        const world: World = try .init(.{ .kept_bytes = kept_bytes });
        defer world.deinit();
        var first = requestOf(1, prompt[0..120]);
        try world.scheduler.submit(&first);
        try world.settle(&log);
        var next_turn: [160]u32 = undefined;
        @memcpy(next_turn[0..120], prompt[0..120]);
        for (next_turn[120..140], 0..) |*token, i| token.* = try std.fmt.parseInt(u32, log.seen[1].text.items[2 * i ..][0..2], 16);
        @memcpy(next_turn[140..], prompt[0..20]);
        // The next turn, the same question again (beside it), one that begins alike, and one that does not.
        var requests = [_]Request{ requestOf(2, &next_turn), requestOf(3, prompt[0..120]), requestOf(4, prompt[0..100]), requestOf(5, prompt[1..100]) };
        for (&requests) |*request| {
            request.params.seed = 1;
            try world.scheduler.submit(request);
        }
        try world.settle(&log);
        const expected: [4]u32 = if (kept_bytes == 0) .{ 0, 0, 0, 0 } else .{ 139, 119, 99, 0 };
        for (expected, 2..) |cached, handle| {
            try std.testing.expectEqual(cached, log.seen[handle].finish.?.cached_tokens);
            try std.testing.expectEqual(20, log.seen[handle].finish.?.completion_tokens);
        }
        try std.testing.expectEqualStrings(log.seen[1].text.items, log.seen[3].text.items);
        try std.testing.expectEqual(0, world.scheduler.cache_bytes.load(.monotonic));
        try std.testing.expectEqual(kept_bytes == 0, world.scheduler.cache_total_bytes.load(.monotonic) == 0);
    }
}

test "a scored prompt tells how likely each of its tokens was, and its answer stays the same" {
    const world: World = try .init(.{});
    defer world.deinit();
    var log: Log = .{};
    defer log.deinit();
    var prompt: [100]u32 = undefined;
    for (&prompt, 0..) |*token, i| token.* = @intCast(i * 37 % 250);
    var plain = requestOf(7, &prompt);
    plain.logprobs = 2;
    try world.scheduler.submit(&plain);
    try world.settle(&log);
    // The first turn is kept by now, and is no help: its logits are gone.
    for ([_]u32{ 1, 2 }, [_]u32{ 20, 0 }) |handle, tokens_max| {
        var request = requestOf(handle, &prompt);
        request.task = .score;
        request.params.seed = 7;
        request.logprobs = 2;
        request.tokens_max = tokens_max;
        try world.scheduler.submit(&request);
        try world.settle(&log);
        const seen = &log.seen[handle];
        try std.testing.expectEqual(event.Reason.length, seen.finish.?.reason);
        try std.testing.expectEqual(0, seen.finish.?.cached_tokens);
        try std.testing.expectEqual(tokens_max, seen.finish.?.completion_tokens);
        try std.testing.expectEqualSlices(u32, log.seen[7].tokens.items[0..tokens_max], seen.tokens.items);
        try std.testing.expectEqualSlices(f32, log.seen[7].logprobs.items[0..tokens_max], seen.logprobs.items);
        try std.testing.expectEqual(prompt.len - 1, seen.scored.items.len);
        const sequence = try world.noise.sequenceCreate();
        defer world.noise.sequenceDestroy(sequence);
        var row: [256]f32 = undefined;
        for (seen.scored.items, prompt[0 .. prompt.len - 1], prompt[1..]) |found, before, token| {
            try world.noise.forward(&.{.{ .sequence = sequence, .tokens = &.{before}, .logits = &row }}, &.init(false));
            try std.testing.expectEqual(token, found.token);
            try std.testing.expectEqual(logprobs.of(row[token], logprobs.logSum(&row)), found.logprob);
        }
        var sum: f64 = 0;
        for (seen.logprobs.items) |logprob| sum += logprob;
        try std.testing.expectApproxEqAbs(sum, seen.finish.?.logprob_sum, 1e-3);
    }
}

test "the queue is bounded" {
    const world: World = try .init(.{ .slots = 1 });
    defer world.deinit();
    var log: Log = .{};
    defer log.deinit();
    var requests: [limits.queue_requests + 1]Request = undefined;
    for (&requests) |*request| {
        request.* = requestOf(1, &.{1});
        request.cancelled.store(true, .monotonic);
    }
    for (requests[0..limits.queue_requests]) |*request| try world.scheduler.submit(request);
    try std.testing.expectError(error.Full, world.scheduler.submit(&requests[limits.queue_requests]));
    while (world.scheduler.tick()) log.seen[1].finish = null;
    try std.testing.expectEqual(0, world.scheduler.queue.len());
}

test "stop tokens end, control tokens have no text, unused ones are never drawn, biases work" {
    const world: World = try .init(.{});
    defer world.deinit();
    var log: Log = .{};
    defer log.deinit();
    var request = requestOf(1, &.{1});
    request.biases = &.{ .{ .token = World.unused, .bias = 90 }, .{ .token = World.control, .bias = 80 }, .{ .token = 9, .bias = 10 } };
    request.logprobs = 0;
    request.tokens_max = 3;
    try world.scheduler.submit(&request);
    try world.settle(&log);
    try std.testing.expectEqualSlices(u32, &.{ World.control, World.control, World.control }, log.seen[1].tokens.items);
    try std.testing.expectEqualStrings("", log.seen[1].text.items);
    // The model's own log-probability, not the biased one: flat noise gives every token about 1/256.
    for (log.seen[1].logprobs.items) |logprob| try std.testing.expect(logprob < -4);

    request = requestOf(2, &.{1});
    request.biases = &.{.{ .token = 9, .bias = 90 }};
    request.stop_tokens = &.{ 5, 9 };
    try world.scheduler.submit(&request);
    try world.settle(&log);
    try std.testing.expectEqual(event.Reason.stop_token, log.seen[2].finish.?.reason);
    try std.testing.expectEqual(1, log.seen[2].finish.?.completion_tokens);
    try std.testing.expectEqual(0, log.seen[2].finish.?.logprob_sum);
    try std.testing.expectEqualStrings("", log.seen[2].text.items);
    // The token that ends an answer is told of in the sum alone.
    request.handle = 3;
    request.logprobs = 0;
    try world.scheduler.submit(&request);
    try world.settle(&log);
    try std.testing.expectEqual(0, log.seen[3].tokens.items.len);
    try std.testing.expect(log.seen[3].finish.?.logprob_sum < -4);
}

test "the context ends what the limit does not" {
    const world: World = try .init(.{});
    defer world.deinit();
    var log: Log = .{};
    defer log.deinit();
    const prompt: [2040]u32 = @splat(1);
    var request = requestOf(1, &prompt);
    request.tokens_max = 100;
    try world.scheduler.submit(&request);
    try world.settle(&log);
    try std.testing.expectEqual(event.Reason.context, log.seen[1].finish.?.reason);
    try std.testing.expectEqual(8, log.seen[1].finish.?.completion_tokens);
}

test "step mode: rows are read and changed in place, and the change decides" {
    const world: World = try .init(.{ .slots = 2 });
    defer world.deinit();
    var log: Log = .{};
    defer log.deinit();
    var beside = requestOf(2, &.{1});
    var request = requestOf(1, &.{1});
    request.step = true;
    request.logprobs = 1;
    request.tokens_max = 3;
    try world.scheduler.submit(&beside);
    try world.scheduler.submit(&request);
    for ([_]u32{ event.none, 17, 18 }, [_]u32{ 17, 18, 19 }) |previous, wanted| {
        try world.settle(&log);
        const parked = log.seen[1].parked.?;
        try std.testing.expectEqual(previous, parked.previous);
        world.scheduler.logits[parked.slot * 256 + wanted] = 1000;
        // Bits that were not set before are not obeyed.
        world.scheduler.logits[parked.slot * 256 + World.unused] = 2000;
        world.scheduler.masks[parked.slot * 8 + World.unused / 32] |= 1 << World.unused % 32;
        world.scheduler.release(&request);
    }
    try world.settle(&log);
    try std.testing.expectEqualStrings("111213", log.seen[1].text.items);
    for (log.seen[1].logprobs.items) |logprob| try std.testing.expect(logprob < -4);
    try std.testing.expectEqual(40, log.seen[2].text.items.len);

    request = requestOf(3, &.{1});
    request.step = true;
    try world.scheduler.submit(&request);
    try world.settle(&log);
    const parked = log.seen[3].parked.?;
    @memset(world.scheduler.masks[parked.slot * 8 ..][0..8], 0);
    world.scheduler.release(&request);
    try world.settle(&log);
    try std.testing.expectEqual(event.Reason.failed, log.seen[3].finish.?.reason);
    try std.testing.expectEqualStrings("no token is allowed", log.seen[3].message.items);
}

test "a parked request can be cancelled" {
    const world: World = try .init(.{ .slots = 1 });
    defer world.deinit();
    var log: Log = .{};
    defer log.deinit();
    var request = requestOf(1, &.{1});
    request.step = true;
    try world.scheduler.submit(&request);
    try world.settle(&log);
    try std.testing.expect(log.seen[1].parked != null);
    world.scheduler.cancel(&request);
    try world.settle(&log);
    try std.testing.expectEqual(event.Reason.cancelled, log.seen[1].finish.?.reason);
}

test "a request without memory fails alone" {
    var failing: std.testing.FailingAllocator = .init(gpa, .{});
    const world: World = try .initWith(failing.allocator(), .{});
    defer world.deinit();
    var log: Log = .{};
    defer log.deinit();
    var poor = requestOf(1, &.{1});
    poor.logprobs = 5;
    failing.fail_index = failing.alloc_index;
    try world.scheduler.submit(&poor);
    try world.settle(&log);
    try std.testing.expectEqual(event.Reason.failed, log.seen[1].finish.?.reason);
    try std.testing.expectEqualStrings("out of memory", log.seen[1].message.items);
    failing.fail_index = std.math.maxInt(usize);
    var rich = requestOf(2, &.{1});
    try world.scheduler.submit(&rich);
    try world.settle(&log);
    try std.testing.expectEqual(event.Reason.length, log.seen[2].finish.?.reason);
}

test "on its own thread, with a reader that is woken" {
    const world: World = try .init(.{ .slots = 3, .ring_bytes = 1024 });
    defer world.deinit();
    var log: Log = .{};
    defer log.deinit();
    const theirs = world.scheduler.wake.handOver();
    defer _ = std.posix.system.close(theirs);
    try world.scheduler.start();
    var requests: [100]Request = undefined;
    for (&requests, 1..) |*request, i| {
        request.* = requestOf(@intCast(i), &.{ 1, 2 });
        request.biases = &.{.{ .token = World.control, .bias = -1000 }}; // every token has text
        try world.scheduler.submit(request);
        if (i % 7 == 0) world.scheduler.cancel(request);
    }
    var finished: usize = 0;
    while (finished < requests.len) {
        var polled = [_]std.posix.pollfd{.{ .fd = theirs, .events = std.posix.POLL.IN, .revents = 0 }};
        try std.testing.expectEqual(1, try std.posix.poll(&polled, 10_000));
        var bytes: [16]u8 = undefined;
        _ = try std.posix.read(theirs, &bytes);
        try log.read(world.scheduler);
        finished = 0;
        for (log.seen) |seen| if (seen.finish != null) {
            finished += 1;
        };
    }
    for (log.seen[1..101], 1..) |seen, i| if (i % 7 != 0) {
        try std.testing.expectEqual(event.Reason.length, seen.finish.?.reason);
        try std.testing.expectEqual(40, seen.text.items.len);
    };
}
