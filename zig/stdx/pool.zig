//! A few idle items for whoever needs one next, on any thread.
const std = @import("std");

pub fn Pool(comptime Item: type, comptime capacity: usize) type {
    return struct {
        const Self = @This();

        lock: std.atomic.Mutex = .unlocked,
        items: [capacity]Item = undefined,
        count: usize = 0,

        pub fn take(self: *Self) ?Item {
            self.wait();
            defer self.lock.unlock();
            if (self.count == 0) return null;
            self.count -= 1;
            return self.items[self.count];
        }

        /// False where there is no room.
        pub fn give(self: *Self, item: Item) bool {
            self.wait();
            defer self.lock.unlock();
            if (self.count == capacity) return false;
            self.items[self.count] = item;
            self.count += 1;
            return true;
        }

        /// Held for a few instructions only.
        fn wait(self: *Self) void {
            while (!self.lock.tryLock()) std.atomic.spinLoopHint();
        }
    };
}

test "what was given last is taken first, as far as there is room" {
    var pool: Pool(u32, 2) = .{};
    try std.testing.expectEqual(null, pool.take());
    try std.testing.expect(pool.give(1));
    try std.testing.expect(pool.give(2));
    try std.testing.expect(!pool.give(3));
    try std.testing.expectEqual(2, pool.take());
    try std.testing.expectEqual(1, pool.take());
    try std.testing.expectEqual(null, pool.take());
}
