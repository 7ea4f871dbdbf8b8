//! The records that go through the event ring, as JavaScript reads them: fixed fields, then a payload, padded to four bytes.
//! Part of the ABI.
const std = @import("std");
const Allocator = std.mem.Allocator;
const Ring = @import("ring.zig").Ring;
const limits = @import("../limits.zig").scheduler;
pub const Logprob = @import("sampler/logprobs.zig").Logprob;

pub const Kind = enum(u32) {
    progress = 0,
    text = 1,
    token = 2,
    parked = 3,
    finish = 4,
    /// A `Token` of the prompt.
    prompt_token = 5,
    embedding = 6,
};

pub const Reason = enum(u32) { stop_token = 0, complete = 1, length = 2, context = 3, cancelled = 4, failed = 5 };

/// Stands for a token or call that there is not.
pub const none: u32 = 0xffffffff;

pub const Head = extern struct {
    /// Of the whole record.
    bytes: u32,
    /// Handle of the request.
    request: u32,
    kind: Kind,
};

/// So much of the prompt has been computed.
pub const Progress = extern struct {
    head: Head,
    done: u32,
    total: u32,
};

/// Followed by the bytes. A longer text comes in several records.
pub const Text = extern struct {
    head: Head,
    channel: u32,
    call: u32,
    length: u32,
};

/// Followed by `alternatives` pairs of token and log-probability.
pub const Token = extern struct {
    head: Head,
    token: u32,
    logprob: f32,
    alternatives: u32,
};

/// The rows of this slot in both arenas are JavaScript's until it releases the request.
pub const Parked = extern struct {
    head: Head,
    slot: u32,
    /// The token chosen in the step before, or `none`.
    previous: u32,
};

/// Followed by the next `count` elements of the vector, f32. A longer one comes in several records.
pub const Embedding = extern struct {
    head: Head,
    count: u32,
};

/// The last record of a request; when it is drained its handle dies. Followed by the reason of a failure, as text.
pub const Finish = extern struct {
    head: Head,
    reason: Reason,
    closed_by_rule: u32,
    prompt_tokens: u32,
    cached_tokens: u32,
    completion_tokens: u32,
    prompt_ms: f32,
    completion_ms: f32,
    /// Over all tokens written, the one that ended the answer included; zero where no log-probabilities are asked for.
    logprob_sum: f32,
    length: u32,
};

/// Records of one request on their way to the ring. They go in order and whole; what does not fit waits here, and its
/// request with it.
pub const Outbox = struct {
    bytes: std.ArrayList(u8) = .empty,
    sent: usize = 0,

    /// So that steps need no memory of their own.
    pub fn reserve(outbox: *Outbox, gpa: Allocator) error{OutOfMemory}!void {
        try outbox.bytes.ensureTotalCapacity(gpa, limits.outbox_bytes);
    }

    pub fn deinit(outbox: *Outbox, gpa: Allocator) void {
        outbox.bytes.deinit(gpa);
    }

    pub fn isEmpty(outbox: *const Outbox) bool {
        return outbox.sent == outbox.bytes.items.len;
    }

    /// Fills in the record's head.
    pub fn add(outbox: *Outbox, gpa: Allocator, request: u32, kind: Kind, record: anytype, payload: []const u8) error{OutOfMemory}!void {
        std.debug.assert(payload.len <= limits.event_payload_bytes);
        const size = std.mem.alignForward(usize, @sizeOf(@TypeOf(record)) + payload.len, 4);
        try outbox.bytes.ensureUnusedCapacity(gpa, size);
        var filled = record;
        filled.head = .{ .bytes = @intCast(size), .request = request, .kind = kind };
        outbox.bytes.appendSliceAssumeCapacity(std.mem.asBytes(&filled));
        outbox.bytes.appendSliceAssumeCapacity(payload);
        outbox.bytes.appendNTimesAssumeCapacity(0, size - @sizeOf(@TypeOf(record)) - payload.len);
    }

    pub fn addText(outbox: *Outbox, gpa: Allocator, request: u32, channel: u32, call: u32, bytes: []const u8) error{OutOfMemory}!void {
        var rest = bytes;
        while (true) {
            const piece = rest[0..@min(rest.len, limits.event_payload_bytes)];
            try outbox.add(gpa, request, .text, Text{
                .head = undefined,
                .channel = channel,
                .call = call,
                .length = @intCast(piece.len),
            }, piece);
            rest = rest[piece.len..];
            if (rest.len == 0) return;
        }
    }

    pub fn addEmbedding(outbox: *Outbox, gpa: Allocator, request: u32, vector: []const f32) error{OutOfMemory}!void {
        var pieces = std.mem.window(f32, vector, limits.event_payload_bytes / @sizeOf(f32), limits.event_payload_bytes / @sizeOf(f32));
        while (pieces.next()) |piece|
            try outbox.add(gpa, request, .embedding, Embedding{ .head = undefined, .count = @intCast(piece.len) }, std.mem.sliceAsBytes(piece));
    }

    /// True when everything is in the ring.
    pub fn flush(outbox: *Outbox, ring: *Ring) bool {
        const bytes = outbox.bytes.items;
        while (outbox.sent < bytes.len) {
            const size = std.mem.readInt(u32, bytes[outbox.sent..][0..4], .native);
            if (!ring.write(bytes[outbox.sent..][0..size])) return false;
            outbox.sent += size;
        }
        outbox.bytes.clearRetainingCapacity();
        outbox.sent = 0;
        return true;
    }
};

test "an outbox sends whole records in order and keeps what does not fit" {
    const gpa = std.testing.allocator;
    var storage: [64]u8 = undefined;
    var ring: Ring = .init(&storage);
    var outbox: Outbox = .{};
    defer outbox.deinit(gpa);
    try outbox.addText(gpa, 7, 2, 1, "hello");
    try outbox.addText(gpa, 7, 0, none, "");
    try outbox.add(gpa, 7, .progress, Progress{ .head = undefined, .done = 1, .total = 2 }, "");
    try std.testing.expect(!outbox.flush(&ring));
    try std.testing.expect(!outbox.isEmpty());
    var out: [64]u8 = undefined;
    try std.testing.expectEqual(32 + 24, ring.read(&out));
    const first: *align(1) const Text = @ptrCast(&out);
    try std.testing.expectEqual(Text{ .head = .{ .bytes = 32, .request = 7, .kind = .text }, .channel = 2, .call = 1, .length = 5 }, first.*);
    try std.testing.expectEqualStrings("hello\x00\x00\x00", out[@sizeOf(Text)..32]);
    try std.testing.expect(outbox.flush(&ring));
    try std.testing.expect(outbox.isEmpty());
    try std.testing.expectEqual(20, ring.read(&out));
}

test "a long vector is sent in pieces" {
    const gpa = std.testing.allocator;
    var outbox: Outbox = .{};
    defer outbox.deinit(gpa);
    var vector: [1500]f32 = undefined;
    for (&vector, 0..) |*element, i| element.* = @floatFromInt(i);
    try outbox.addEmbedding(gpa, 1, &vector);
    const each = limits.event_payload_bytes / 4;
    try std.testing.expectEqual(2 * @sizeOf(Embedding) + 4 * vector.len, outbox.bytes.items.len);
    const second = outbox.bytes.items[@sizeOf(Embedding) + 4 * each ..];
    try std.testing.expectEqual(1500 - each, std.mem.bytesToValue(Embedding, second[0..@sizeOf(Embedding)]).count);
    try std.testing.expectEqual(@as(f32, each), std.mem.bytesToValue(f32, second[@sizeOf(Embedding)..][0..4]));
}

test "long text is sent in pieces" {
    const gpa = std.testing.allocator;
    var outbox: Outbox = .{};
    defer outbox.deinit(gpa);
    const text: [limits.event_payload_bytes + 10]u8 = @splat('x');
    try outbox.addText(gpa, 1, 0, none, &text);
    try std.testing.expectEqual(2 * @sizeOf(Text) + text.len + 2, outbox.bytes.items.len);
}
