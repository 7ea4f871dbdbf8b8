const std = @import("std");
const assert = std.debug.assert;
const Allocator = std.mem.Allocator;
const lanes = @import("sampler/lanes.zig");
const limits = @import("../limits.zig").noise;

/// How the logits of a noise model are spread.
pub const Shape = enum(u32) {
    /// Every token about as likely as any other.
    flat = 0,
    /// A few tokens hold most of the mass, as with a trained model.
    peaked = 1,
    /// Peaked, and drawn to the phrases it was given: it begins one now and then, and mostly goes on with what it began.
    pulled = 2,
};

pub const Options = struct {
    vocabulary_count: u32,
    context_max: u32,
    seed: u64,
    shape: Shape,
    /// What a pulled model likes to write, as tokens: markers, calls, ends.
    phrases: []const []const u32 = &.{},
};

/// A model without weights: the logit of a token is a hash of seed, position and token. It is run by the same mask, sampler,
/// scheduler and streams as a real one, and no promise may depend on its good will.
pub const Noise = struct {
    gpa: Allocator,
    options: Options,
    /// Owned copy, with `options.phrases` pointing into it.
    phrases: [][]const u32,
    sequences: u32 = 0,
    cached_tokens: u64 = 0,

    pub const Sequence = struct {
        tokens: std.ArrayList(u32) = .empty,
    };

    pub const Item = struct { sequence: *Sequence, tokens: []const u32, logits: ?[*]f32, outputs: u32 = 1 };

    pub fn create(gpa: Allocator, options: Options) error{OutOfMemory}!*Noise {
        assert(options.phrases.len <= limits.phrases);
        const noise = try gpa.create(Noise);
        errdefer gpa.destroy(noise);
        const phrases = try gpa.alloc([]const u32, options.phrases.len);
        errdefer gpa.free(phrases);
        var copied: usize = 0;
        errdefer for (phrases[0..copied]) |phrase| gpa.free(phrase);
        for (phrases, options.phrases) |*own, phrase| {
            assert(phrase.len > 0 and phrase.len <= limits.phrase_tokens);
            for (phrase) |token| assert(token < options.vocabulary_count);
            own.* = try gpa.dupe(u32, phrase);
            copied += 1;
        }
        noise.* = .{ .gpa = gpa, .options = options, .phrases = phrases };
        noise.options.phrases = phrases;
        return noise;
    }

    pub fn destroy(noise: *Noise) void {
        const gpa = noise.gpa;
        for (noise.phrases) |phrase| gpa.free(phrase);
        gpa.free(noise.phrases);
        gpa.destroy(noise);
    }

    pub fn sequenceCreate(noise: *Noise) error{OutOfMemory}!*Sequence {
        const sequence = try noise.gpa.create(Sequence);
        sequence.* = .{};
        noise.sequences += 1;
        return sequence;
    }

    pub fn sequenceShare(noise: *Noise, sequence: *const Sequence, len: u32) error{OutOfMemory}!*Sequence {
        const other = try noise.sequenceCreate();
        errdefer noise.sequenceDestroy(other);
        try other.tokens.appendSlice(noise.gpa, sequence.tokens.items[0..len]);
        noise.cached_tokens += len;
        return other;
    }

    pub fn sequenceDestroy(noise: *Noise, sequence: *Sequence) void {
        noise.cached_tokens -= sequence.tokens.items.len;
        sequence.tokens.deinit(noise.gpa);
        noise.gpa.destroy(sequence);
        noise.sequences -= 1;
    }

    pub fn drop(noise: *Noise, sequence: *Sequence, tokens: u32) void {
        sequence.tokens.shrinkRetainingCapacity(sequence.tokens.items.len - tokens);
        noise.cached_tokens -= tokens;
    }

    pub fn cacheBytes(noise: *const Noise) usize {
        return @intCast(noise.cached_tokens * @sizeOf(u32));
    }

    /// As `Model.forward`: on failure every sequence is as long as it was. A pass is so short that the flag is looked at once.
    pub fn forward(noise: *Noise, items: []const Item, cancel: *const std.atomic.Value(bool)) error{ Cancelled, ContextFull, OutOfMemory }!void {
        if (cancel.load(.monotonic)) return error.Cancelled;
        for (items) |item| {
            if (item.sequence.tokens.items.len + item.tokens.len > noise.options.context_max) return error.ContextFull;
            try item.sequence.tokens.ensureUnusedCapacity(noise.gpa, item.tokens.len);
        }
        for (items) |item| {
            item.sequence.tokens.appendSliceAssumeCapacity(item.tokens);
            noise.cached_tokens += item.tokens.len;
            const logits = item.logits orelse continue;
            const written = item.sequence.tokens.items;
            const count = noise.options.vocabulary_count;
            for (0..item.outputs) |row| noise.write(logits[row * count ..][0..count], written[0 .. written.len - (item.outputs - 1 - row)]);
        }
    }

    fn write(noise: *const Noise, row: []f32, tokens: []const u32) void {
        const key = lanes.drawKey(noise.options.seed, tokens.len);
        var token: usize = 0;
        while (token < row.len) : (token += lanes.count) {
            const hash = lanes.hash(key, lanes.indices +% @as(lanes.Words, @splat(@intCast(token))));
            const logits: [lanes.count]f32 = switch (noise.options.shape) {
                .flat => @as(lanes.Floats, @floatFromInt(hash >> @splat(8))) * @as(lanes.Floats, @splat(0x1p-24)),
                // e^(2E) has a tail so heavy that the largest of any number of draws rivals all others together.
                .peaked, .pulled => lanes.exponential(hash) * @as(lanes.Floats, @splat(2)),
            };
            const size = @min(lanes.count, row.len - token);
            @memcpy(row[token..][0..size], logits[0..size]);
        }
        if (noise.options.shape == .pulled) if (noise.pulled(tokens, key)) |likely| {
            row[likely] += pull;
        };
    }

    /// The next token of the phrase of which the sequence's end is the longest beginning; else, now and then, the first of one.
    fn pulled(noise: *const Noise, tokens: []const u32, key: u64) ?u32 {
        const phrases = noise.phrases;
        if (phrases.len == 0) return null;
        const draw: u32 = @truncate(lanes.drawKey(key, 1));
        const first = draw % phrases.len;
        var longest: usize = 0;
        var next = phrases[first][0];
        for (0..phrases.len) |i| {
            const phrase = phrases[(first + i) % phrases.len];
            var length = @min(phrase.len - 1, tokens.len);
            while (length > longest) : (length -= 1) if (std.mem.endsWith(u32, tokens, phrase[0..length])) {
                longest = length;
                next = phrase[length];
            };
        }
        const chance = draw >> 16;
        return if (chance % 64 < (if (longest == 0) begin_of_64 else continue_of_64)) next else null;
    }
};

/// Above every other logit at any temperature that is sampled with.
const pull = 200;
const begin_of_64: u32 = 8;
const continue_of_64: u32 = 63;

const not_cancelled: std.atomic.Value(bool) = .init(false);

fn testRow(noise: *Noise, prompt: []const u32, row: []f32) !void {
    const sequence = try noise.sequenceCreate();
    defer noise.sequenceDestroy(sequence);
    try noise.forward(&.{.{ .sequence = sequence, .tokens = prompt, .logits = row.ptr }}, &not_cancelled);
}

test "logits depend on seed, position and token only, and fill the row exactly" {
    const gpa = std.testing.allocator;
    for (std.enums.values(Shape)) |shape| {
        const options: Options = .{ .vocabulary_count = 1001, .context_max = 8, .seed = 5, .shape = shape };
        const noise: *Noise = try .create(gpa, options);
        defer noise.destroy();
        var a: [1002]f32 = @splat(-7);
        var b: [1002]f32 = @splat(-7);
        try testRow(noise, &.{ 1, 2, 3 }, &a);
        try testRow(noise, &.{ 9, 8, 7 }, &b);
        try std.testing.expectEqualSlices(f32, &a, &b);
        try std.testing.expectEqual(-7, a[1001]);
        for (a[0..1001]) |logit| try std.testing.expect(logit >= 0 and logit < 60);
        try testRow(noise, &.{ 9, 8 }, &b);
        try std.testing.expect(!std.mem.eql(f32, a[0..1001], b[0..1001]));
        try std.testing.expectEqual(0, noise.cacheBytes());
    }
}

test "a failed pass leaves sequences as they were" {
    const gpa = std.testing.allocator;
    const noise: *Noise = try .create(gpa, .{ .vocabulary_count = 8, .context_max = 4, .seed = 0, .shape = .flat });
    defer noise.destroy();
    const sequence = try noise.sequenceCreate();
    defer noise.sequenceDestroy(sequence);
    const cancelled: std.atomic.Value(bool) = .init(true);
    try std.testing.expectError(error.Cancelled, noise.forward(&.{.{ .sequence = sequence, .tokens = &.{1}, .logits = null }}, &cancelled));
    try std.testing.expectError(error.ContextFull, noise.forward(&.{.{ .sequence = sequence, .tokens = &.{ 1, 2, 3, 4, 5 }, .logits = null }}, &not_cancelled));
    try std.testing.expectEqual(0, sequence.tokens.items.len);
}

test "a pulled model begins phrases and goes on with them; a peaked one has a few likely tokens" {
    const gpa = std.testing.allocator;
    const phrase = [_]u32{ 40, 41, 42, 43 };
    const noise: *Noise = try .create(gpa, .{ .vocabulary_count = 1000, .context_max = 4096, .seed = 1, .shape = .pulled, .phrases = &.{&phrase} });
    defer noise.destroy();
    const sequence = try noise.sequenceCreate();
    defer noise.sequenceDestroy(sequence);
    var row: [1000]f32 = undefined;
    var next: u32 = 0;
    var begun: u32 = 0;
    var finished: u32 = 0;
    for (0..4000) |_| {
        try noise.forward(&.{.{ .sequence = sequence, .tokens = &.{next}, .logits = &row }}, &not_cancelled);
        next = @intCast(std.mem.findMax(f32, &row));
        const written = sequence.tokens.items;
        if (std.mem.endsWith(u32, written, phrase[0..1])) begun += 1;
        if (std.mem.endsWith(u32, written, &phrase)) finished += 1;
    }
    try std.testing.expect(begun > 250 and begun < 500);
    try std.testing.expect(finished > begun * 8 / 10);
}
