//! The scheduler on small embedding models: what comes through the ring is what the model alone gives.
const std = @import("std");
const gpa = std.testing.allocator;
const event = @import("event.zig");
const models = @import("../model.zig");
const Request = @import("request.zig").Request;
const Scheduler = @import("loop.zig").Scheduler;
const Vocabulary = @import("../vocabulary.zig").Vocabulary;

const odd = models.RandomModel.odd;
const never: std.atomic.Value(bool) = .init(false);

test "vectors do not depend on what runs beside them, and leave nothing behind" {
    for ([_]bool{ true, false }) |causal| {
        var shape = odd;
        shape.causal = causal;
        shape.pooling = .mean;
        var random: models.RandomModel = try .create(gpa, shape, .{});
        defer random.destroy();
        var diagnostic: models.Diagnostic = .{};
        const model = try models.Model.load(gpa, random.json, .{ .threads = 2 }, &diagnostic);
        defer model.destroy();
        const bytes: [odd.vocabulary]u8 = @splat('x');
        var offsets: [odd.vocabulary + 1]u32 = undefined;
        for (&offsets, 0..) |*offset, i| offset.* = @intCast(i);
        const kinds: [odd.vocabulary]u8 = @splat(0);
        const vocabulary: *Vocabulary = try .create(gpa, &bytes, &offsets, &kinds);
        defer vocabulary.destroy(gpa);
        const scheduler: *Scheduler = try .create(gpa, .{ .model = model }, vocabulary, .{ .slots = 2 });
        defer scheduler.destroy();

        // Longer than a chunk, and than a pass of a causal model; the same twice; one that nobody waits for.
        var tokens: [600]u32 = undefined;
        for (&tokens, 0..) |*token, i| token.* = @intCast(i * 31 % odd.vocabulary);
        const texts = [_][]const u32{ tokens[0..1], &tokens, tokens[7..90], &tokens, tokens[0..500] };
        var requests: [texts.len]Request = undefined;
        for (&requests, texts, 0..) |*request, text, handle| {
            request.* = .{
                .handle = @intCast(handle),
                .task = .embed,
                .tokens = text,
                .program = null,
                .params = .{ .temperature = 1 },
                .biases = &.{},
                .stop_tokens = &.{},
                .tokens_max = 0,
                .logprobs = null,
                .step = false,
            };
            try scheduler.submit(request);
        }
        scheduler.cancel(&requests[texts.len - 1]);
        var vectors: [texts.len][odd.embedding]f32 = undefined;
        var reasons: [texts.len]event.Reason = undefined;
        var buffer: [8192]u8 align(4) = undefined;
        while (scheduler.tick()) {
            const length = scheduler.drain(&buffer);
            var at: usize = 0;
            while (at < length) {
                const record: []align(4) const u8 = @alignCast(buffer[at..]);
                const head = std.mem.bytesToValue(event.Head, record[0..@sizeOf(event.Head)]);
                switch (head.kind) {
                    .embedding => @memcpy(std.mem.asBytes(&vectors[head.request]), record[@sizeOf(event.Embedding)..head.bytes]),
                    .finish => {
                        const finish = std.mem.bytesToValue(event.Finish, record[0..@sizeOf(event.Finish)]);
                        reasons[head.request] = finish.reason;
                        try std.testing.expectEqual(texts[head.request].len, finish.prompt_tokens);
                        try std.testing.expectEqual(0, finish.cached_tokens + finish.completion_tokens);
                    },
                    else => try std.testing.expectEqual(.progress, head.kind),
                }
                at += head.bytes;
            }
        }
        try std.testing.expectEqual(0, scheduler.cache_total_bytes.load(.monotonic));
        try std.testing.expectEqual(.cancelled, reasons[texts.len - 1]);
        for (texts[0 .. texts.len - 1], 0..) |text, i| {
            try std.testing.expectEqual(.complete, reasons[i]);
            const sequence = try model.sequenceCreate();
            defer model.sequenceDestroy(sequence);
            var pool = try model.poolCreate(gpa);
            defer pool.deinit(gpa);
            try model.forward(&.{.{ .sequence = sequence, .tokens = text, .logits = null, .pool = &pool }}, &never);
            var expected: [odd.embedding]f32 = undefined;
            pool.write(&expected);
            try std.testing.expectEqualSlices(f32, &expected, &vectors[i]);
        }
    }
}
