const std = @import("std");
const assert = std.debug.assert;

/// A bounded queue that any thread may push to and one thread pops from, without locks: neither side ever waits for the other.
/// Each cell carries the turn in which it may be written (turn = position) or read (turn = position + 1).
/// The algorithm is Dmitry Vyukov's bounded MPMC queue with a single consumer.
pub fn Queue(comptime T: type, comptime capacity: u32) type {
    comptime assert(std.math.isPowerOfTwo(capacity));
    return struct {
        const Self = @This();
        const Cell = struct { turn: std.atomic.Value(u32), item: T };

        cells: [capacity]Cell,
        tail: std.atomic.Value(u32) = .init(0),
        head: std.atomic.Value(u32) = .init(0),

        pub fn init(self: *Self) void {
            self.tail = .init(0);
            self.head = .init(0);
            for (&self.cells, 0..) |*cell, i| cell.turn = .init(@intCast(i));
        }

        pub fn push(self: *Self, item: T) error{Full}!void {
            var tail = self.tail.load(.monotonic);
            while (true) {
                const cell = &self.cells[tail % capacity];
                const lead: i32 = @bitCast(cell.turn.load(.acquire) -% tail);
                if (lead < 0) return error.Full;
                if (lead == 0) {
                    tail = self.tail.cmpxchgWeak(tail, tail +% 1, .monotonic, .monotonic) orelse {
                        cell.item = item;
                        cell.turn.store(tail +% 1, .release);
                        return;
                    };
                } else tail = self.tail.load(.monotonic);
            }
        }

        pub fn pop(self: *Self) ?T {
            const head = self.head.load(.monotonic);
            const cell = &self.cells[head % capacity];
            if (cell.turn.load(.acquire) != head +% 1) return null;
            const item = cell.item;
            cell.turn.store(head +% capacity, .release);
            self.head.store(head +% 1, .monotonic);
            return item;
        }

        /// A count for reports: exact only while nobody pushes.
        pub fn len(self: *const Self) u32 {
            const head = self.head.load(.monotonic);
            return self.tail.load(.monotonic) -% head;
        }
    };
}

test "first in, first out, and full at its bound" {
    var queue: Queue(u32, 4) = undefined;
    queue.init();
    for (0..10) |round| {
        for (0..4) |i| try queue.push(@intCast(round * 4 + i));
        try std.testing.expectError(error.Full, queue.push(99));
        try std.testing.expectEqual(4, queue.len());
        for (0..4) |i| try std.testing.expectEqual(@as(u32, @intCast(round * 4 + i)), queue.pop());
        try std.testing.expectEqual(null, queue.pop());
    }
}

test "nothing is lost or doubled between threads, and each thread's order is kept" {
    const Shared = Queue(u32, 8);
    const threads_count = 4;
    const each = 5000;
    var queue: Shared = undefined;
    queue.init();
    const Pusher = struct {
        fn run(target: *Shared, id: u32) void {
            var i: u32 = 0;
            while (i < each) {
                target.push(id << 16 | i) catch {
                    std.atomic.spinLoopHint();
                    continue;
                };
                i += 1;
            }
        }
    };
    var threads: [threads_count]std.Thread = undefined;
    for (&threads, 0..) |*thread, id| thread.* = try std.Thread.spawn(.{}, Pusher.run, .{ &queue, @as(u32, @intCast(id)) });
    var next: [threads_count]u32 = @splat(0);
    var popped: u32 = 0;
    while (popped < threads_count * each) {
        const item = queue.pop() orelse continue;
        const id = item >> 16;
        try std.testing.expectEqual(next[id], item & 0xffff);
        next[id] += 1;
        popped += 1;
    }
    for (threads) |thread| thread.join();
    try std.testing.expectEqual(null, queue.pop());
}
