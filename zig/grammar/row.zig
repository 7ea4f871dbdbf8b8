//! Where the transitions of states are kept: which bytes may be read at all, which of these have been asked for, and what they led to.
//! Most states read a few bytes only, and in text most bytes lead to one and the same state, so a row has as many entries as can differ,
//! and those of a word of its bit sets only once one of them was asked for.
const std = @import("std");
const Allocator = std.mem.Allocator;
const graph_room = @import("graph.zig");
const Transition = graph_room.Transition;
const ByteSet = @import("first.zig").ByteSet;

const Row = struct {
    /// Never too few, sometimes too many.
    live: [4]u64,
    /// Bytes with an entry of their own. All others that may be read share the row's first one.
    own: [4]u64,
    /// The entry of the first byte of each word of `own`; 0 before it was asked for.
    starts: [4]u32 = @splat(0),
    /// The shared entry.
    shared: u32 = Transition.unknown,
};

pub const Rows = struct {
    list: std.ArrayList(Row) = .empty,
    /// Transitions.
    entries: std.ArrayList(u32) = .empty,

    const dead: u32 = @bitCast(Transition.dead);

    pub fn deinit(self: *Rows, gpa: Allocator) void {
        self.list.deinit(gpa);
        self.entries.deinit(gpa);
    }

    pub fn clear(self: *Rows) void {
        self.list.clearRetainingCapacity();
        self.entries.clearRetainingCapacity();
    }

    pub fn bytesUsed(self: *const Rows) usize {
        return self.list.items.len * @sizeOf(Row) + self.entries.items.len * @sizeOf(u32);
    }

    pub fn bytesHeld(self: *const Rows) usize {
        return self.list.capacity * @sizeOf(Row) + self.entries.capacity * @sizeOf(u32);
    }

    /// A row of which nothing is known but the bytes that may be read, and those of them after which all is alike.
    pub fn add(self: *Rows, gpa: Allocator, bytes: ByteSet, alike: ByteSet) error{OutOfMemory}!u32 {
        // The first entry is of no row.
        if (self.entries.items.len == 0) try self.entries.append(gpa, Transition.unknown);
        try self.list.append(gpa, .{ .live = bytes.masks, .own = bytes.differenceWith(alike).masks });
        return @intCast(self.list.items.len - 1);
    }

    pub inline fn live(self: *const Rows, row: u32) *const [4]u64 {
        return &self.list.items[row].live;
    }

    /// A transition, or `Transition.unknown`.
    pub inline fn get(self: *const Rows, row: u32, byte: u8) u32 {
        const known = &self.list.items[row];
        const word = byte >> 6;
        const bit = bitOf(byte);
        if (known.live[word] & bit == 0) return dead;
        if (known.own[word] & bit == 0) return known.shared;
        const start = known.starts[word];
        return if (start == 0) Transition.unknown else self.entries.items[start + @popCount(known.own[word] & (bit - 1))];
    }

    /// Of a byte that may be read; also for those after which all is the same.
    pub fn put(self: *Rows, gpa: Allocator, row: u32, byte: u8, transition: Transition) error{OutOfMemory}!void {
        const known = &self.list.items[row];
        const word = byte >> 6;
        const bit = bitOf(byte);
        if (known.own[word] & bit == 0) {
            known.shared = @bitCast(transition);
            if (transition == Transition.dead) for (&known.live, known.own) |*bits, own| {
                bits.* &= own;
            };
        } else if (transition == Transition.dead) {
            known.live[word] &= ~bit;
        } else {
            if (known.starts[word] == 0) {
                known.starts[word] = @intCast(self.entries.items.len);
                try self.entries.appendNTimes(gpa, Transition.unknown, @popCount(known.own[word]));
            }
            self.entries.items[known.starts[word] + @popCount(known.own[word] & (bit - 1))] = @bitCast(transition);
        }
    }

    inline fn bitOf(byte: u8) u64 {
        return @as(u64, 1) << @intCast(byte & 63);
    }
};

test "a row gives back what was put, alike bytes together, and forgets dead ones" {
    const gpa = std.testing.allocator;
    var rows: Rows = .{};
    defer rows.deinit(gpa);
    var bytes: ByteSet = .empty;
    for ("\"abz\xc3") |byte| bytes.set(byte);
    var alike: ByteSet = .empty;
    for ("bz") |byte| alike.set(byte);
    _ = try rows.add(gpa, .full, .empty);
    const row = try rows.add(gpa, bytes, alike);
    try std.testing.expectEqual(Transition.unknown, rows.get(row, 'z'));
    try std.testing.expectEqual(Rows.dead, rows.get(row, 'y'));
    for ("\"ab\xc3", 1..) |byte, state| try rows.put(gpa, row, byte, .{ .state = @intCast(state), .whitespace = 0 });
    for ("\"abz\xc3", [_]u32{ 1, 2, 3, 3, 4 }) |byte, state| try std.testing.expectEqual(state, rows.get(row, byte));
    try rows.put(gpa, row, 'a', .dead);
    try rows.put(gpa, row, 'z', .dead);
    for ("abz") |byte| try std.testing.expectEqual(Rows.dead, rows.get(row, byte));
    for ("\"\xc3", [_]u32{ 1, 4 }) |byte, state| try std.testing.expectEqual(state, rows.get(row, byte));
    for (rows.live(row), [_]u64{ @as(u64, 1) << '"', 0, 0, @as(u64, 1) << (0xc3 - 192) }) |word, want| try std.testing.expectEqual(want, word);
}
