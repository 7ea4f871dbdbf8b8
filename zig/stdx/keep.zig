//! A few items for everybody, each under a key: made once, and kept until all end.
const std = @import("std");

pub fn Keep(comptime Item: type, comptime capacity: usize) type {
    return struct {
        const Self = @This();

        lock: std.atomic.Mutex = .unlocked,
        hashes: [capacity]u64 = undefined,
        keys: [capacity][]const u8 = undefined,
        items: [capacity]Item = undefined,
        count: usize = 0,

        pub fn find(self: *Self, key: []const u8) ?Item {
            const hash = std.hash.Wyhash.hash(0, key);
            self.wait();
            defer self.lock.unlock();
            return if (self.indexOf(hash, key)) |index| self.items[index] else null;
        }

        /// Whether there is room for one more beside so many others.
        pub fn hasRoom(self: *Self, others: usize) bool {
            self.wait();
            defer self.lock.unlock();
            return self.count + others < capacity;
        }

        /// Borrows the key as long as the item is kept. False where there would be no room for so many others, or another one has the key.
        pub fn add(self: *Self, key: []const u8, item: Item, others: usize) bool {
            const hash = std.hash.Wyhash.hash(0, key);
            self.wait();
            defer self.lock.unlock();
            if (self.count + others >= capacity or self.indexOf(hash, key) != null) return false;
            self.hashes[self.count] = hash;
            self.keys[self.count] = key;
            self.items[self.count] = item;
            self.count += 1;
            return true;
        }

        /// Those that are left, one after the other, in the end.
        pub fn take(self: *Self) ?Item {
            if (self.count == 0) return null;
            self.count -= 1;
            return self.items[self.count];
        }

        fn indexOf(self: *const Self, hash: u64, key: []const u8) ?usize {
            for (self.hashes[0..self.count], self.keys[0..self.count], 0..) |known, text, index| {
                if (known == hash and std.mem.eql(u8, text, key)) return index;
            }
            return null;
        }

        /// Held for a short search only.
        fn wait(self: *Self) void {
            while (!self.lock.tryLock()) std.atomic.spinLoopHint();
        }
    };
}

test "what is added first under a key stays, as far as there is room" {
    var keep: Keep(u32, 2) = .{};
    try std.testing.expectEqual(null, keep.find("a"));
    try std.testing.expect(keep.add("a", 1, 1));
    try std.testing.expect(!keep.add("a", 2, 0));
    try std.testing.expect(!keep.hasRoom(1) and keep.hasRoom(0));
    try std.testing.expect(!keep.add("b", 3, 1));
    try std.testing.expect(keep.add("b", 3, 0));
    try std.testing.expect(!keep.add("c", 4, 0));
    try std.testing.expectEqual(1, keep.find("a"));
    try std.testing.expectEqual(3, keep.find("b"));
    try std.testing.expectEqual(null, keep.find("c"));
    try std.testing.expectEqual(3, keep.take());
    try std.testing.expectEqual(1, keep.take());
    try std.testing.expectEqual(null, keep.take());
}
