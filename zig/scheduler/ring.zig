const std = @import("std");
const assert = std.debug.assert;

/// A ring of bytes between one writer thread and one reader thread. Records go in whole or not at all, and come out in order.
/// The reader sleeps until the writer rings: `publish` says whether it has to be woken.
pub const Ring = struct {
    bytes: []u8,
    /// Bytes ever read and ever written; they wrap around and differ by at most `bytes.len`.
    head: std.atomic.Value(u32) = .init(0),
    tail: std.atomic.Value(u32) = .init(0),
    /// The reader found nothing and waits to be woken.
    armed: std.atomic.Value(bool) = .init(true),
    /// The writer found no room and waits for the reader.
    starved: std.atomic.Value(bool) = .init(false),

    /// The length is a power of two.
    pub fn init(bytes: []u8) Ring {
        assert(std.math.isPowerOfTwo(bytes.len) and bytes.len <= 1 << 31);
        return .{ .bytes = bytes };
    }

    /// False, and nothing written, when there is no room; then `starved` is set and the reader's next `read` reports it.
    pub fn write(self: *Ring, record: []const u8) bool {
        assert(record.len <= self.bytes.len);
        if (!self.hasRoom(record.len)) {
            self.starved.store(true, .seq_cst);
            // The reader may have made room before it could see the flag.
            if (!self.hasRoom(record.len)) return false;
            self.starved.store(false, .seq_cst);
        }
        const tail = self.tail.load(.monotonic);
        const at = tail & (self.bytes.len - 1);
        const first = @min(record.len, self.bytes.len - at);
        @memcpy(self.bytes[at..][0..first], record[0..first]);
        @memcpy(self.bytes[0 .. record.len - first], record[first..]);
        self.tail.store(tail +% @as(u32, @intCast(record.len)), .seq_cst);
        return true;
    }

    /// After a group of writes: true when the reader sleeps and has to be woken, at most once for each sleep.
    pub fn publish(self: *Ring) bool {
        return self.head.load(.seq_cst) != self.tail.load(.monotonic) and self.armed.swap(false, .seq_cst);
    }

    /// The sizes of records are in their first four bytes. Copies as many whole records as fit and returns their bytes;
    /// zero means empty, and the reader is then armed to be woken.
    pub fn read(self: *Ring, out: []u8) u32 {
        while (true) {
            const bytes = self.take(out);
            if (bytes != 0) return bytes;
            self.armed.store(true, .seq_cst);
            // A record written before the flag was up has woken nobody.
            if (self.tail.load(.seq_cst) == self.head.load(.monotonic)) return 0;
            self.armed.store(false, .seq_cst);
        }
    }

    /// True once after the writer ran out of room and some was made.
    pub fn takeStarved(self: *Ring) bool {
        return self.starved.load(.seq_cst) and self.starved.swap(false, .seq_cst);
    }

    fn hasRoom(self: *const Ring, bytes: usize) bool {
        return self.bytes.len - (self.tail.load(.monotonic) -% self.head.load(.seq_cst)) >= bytes;
    }

    fn take(self: *Ring, out: []u8) u32 {
        const tail = self.tail.load(.acquire);
        const begin = self.head.load(.monotonic);
        var head = begin;
        while (head != tail) {
            var size_bytes: [4]u8 = undefined;
            self.copyOut(head, &size_bytes);
            const size = std.mem.readInt(u32, &size_bytes, .native);
            const used = head -% begin;
            if (used + size > out.len) break;
            self.copyOut(head, out[used..][0..size]);
            head +%= size;
        }
        self.head.store(head, .seq_cst);
        return head -% begin;
    }

    fn copyOut(self: *const Ring, from: u32, out: []u8) void {
        const at = from & (self.bytes.len - 1);
        const first = @min(out.len, self.bytes.len - at);
        @memcpy(out[0..first], self.bytes[at..][0..first]);
        @memcpy(out[first..], self.bytes[0 .. out.len - first]);
    }
};

fn testRecord(buffer: *[32]u8, size: u32, value: u32) []const u8 {
    @memset(buffer, 0xaa);
    std.mem.writeInt(u32, buffer[0..4], size, .native);
    std.mem.writeInt(u32, buffer[4..8], value, .native);
    return buffer[0..size];
}

test "records wrap around the end and a full ring takes none" {
    var storage: [64]u8 = undefined;
    var ring: Ring = .init(&storage);
    var record: [32]u8 = undefined;
    var out: [64]u8 = undefined;
    for (0..40) |i| {
        const value: u32 = @intCast(i);
        try std.testing.expect(ring.write(testRecord(&record, 24, value)));
        try std.testing.expect(ring.write(testRecord(&record, 20, value + 1)));
        try std.testing.expect(!ring.write(testRecord(&record, 24, value + 2)));
        try std.testing.expect(ring.starved.load(.monotonic));
        try std.testing.expectEqual(44, ring.read(&out));
        try std.testing.expect(ring.takeStarved());
        try std.testing.expect(!ring.takeStarved());
        try std.testing.expectEqual(value, std.mem.readInt(u32, out[4..8], .native));
        try std.testing.expectEqual(value + 1, std.mem.readInt(u32, out[28..32], .native));
        try std.testing.expectEqual(0, ring.read(&out));
    }
}

test "a reader with little space gets whole records" {
    var storage: [64]u8 = undefined;
    var ring: Ring = .init(&storage);
    var record: [32]u8 = undefined;
    var out: [30]u8 = undefined;
    try std.testing.expect(ring.write(testRecord(&record, 20, 1)));
    try std.testing.expect(ring.write(testRecord(&record, 12, 2)));
    try std.testing.expectEqual(20, ring.read(&out));
    try std.testing.expectEqual(12, ring.read(&out));
}

test "the reader is woken once for each sleep" {
    var storage: [64]u8 = undefined;
    var ring: Ring = .init(&storage);
    var record: [32]u8 = undefined;
    var out: [64]u8 = undefined;
    try std.testing.expect(!ring.publish());
    try std.testing.expect(ring.write(testRecord(&record, 8, 1)));
    try std.testing.expect(ring.publish());
    try std.testing.expect(!ring.publish());
    try std.testing.expectEqual(8, ring.read(&out));
    try std.testing.expect(!ring.publish());
    try std.testing.expectEqual(0, ring.read(&out));
    try std.testing.expect(ring.write(testRecord(&record, 8, 2)));
    try std.testing.expect(ring.publish());
}

test "no wake-up is lost between a writer and a reader that sleep" {
    const Shared = struct {
        ring: Ring,
        bell: std.atomic.Value(u32) = .init(0),
        room: std.atomic.Value(u32) = .init(0),
        const io = std.Io.Threaded.global_single_threaded.io();

        fn write(self: *@This()) void {
            var record: [32]u8 = undefined;
            var i: u32 = 0;
            while (i < 20_000) {
                const seen = self.room.load(.acquire);
                const written = self.ring.write(testRecord(&record, 8 + i % 4 * 8, i));
                if (self.ring.publish()) {
                    _ = self.bell.fetchAdd(1, .release);
                    io.futexWake(u32, &self.bell.raw, 1);
                }
                if (written) i += 1 else io.futexWaitUncancelable(u32, &self.room.raw, seen);
            }
        }
    };
    var storage: [256]u8 = undefined;
    var shared: Shared = .{ .ring = .init(&storage) };
    const writer = try std.Thread.spawn(.{}, Shared.write, .{&shared});
    var out: [96]u8 = undefined;
    var expected: u32 = 0;
    while (expected < 20_000) {
        const seen = shared.bell.load(.acquire);
        const bytes = shared.ring.read(&out);
        if (shared.ring.takeStarved()) {
            _ = shared.room.fetchAdd(1, .release);
            Shared.io.futexWake(u32, &shared.room.raw, 1);
        }
        if (bytes == 0) Shared.io.futexWaitUncancelable(u32, &shared.bell.raw, seen);
        var at: u32 = 0;
        while (at < bytes) : (expected += 1) {
            try std.testing.expectEqual(expected, std.mem.readInt(u32, out[at + 4 ..][0..4], .native));
            at += std.mem.readInt(u32, out[at..][0..4], .native);
        }
    }
    writer.join();
}
