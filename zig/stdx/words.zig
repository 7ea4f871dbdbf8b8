//! Bit sets as slices of u32, of any length; in vectors, because the compiler makes none.
const std = @import("std");

const lanes = 16;
const Vector = @Vector(lanes, u32);

/// target |= source; of equal length.
pub fn orInto(target: []u32, source: []const u32) void {
    std.debug.assert(target.len == source.len);
    var at: usize = 0;
    while (at + lanes <= target.len) : (at += lanes) {
        target[at..][0..lanes].* = @as(Vector, target[at..][0..lanes].*) | @as(Vector, source[at..][0..lanes].*);
    }
    for (target[at..], source[at..]) |*word, bits| word.* |= bits;
}

/// target &= ~source; of equal length.
pub fn without(target: []u32, source: []const u32) void {
    std.debug.assert(target.len == source.len);
    var at: usize = 0;
    while (at + lanes <= target.len) : (at += lanes) {
        target[at..][0..lanes].* = @as(Vector, target[at..][0..lanes].*) & ~@as(Vector, source[at..][0..lanes].*);
    }
    for (target[at..], source[at..]) |*word, bits| word.* &= ~bits;
}

/// target &= source; of equal length.
pub fn andInto(target: []u32, source: []const u32) void {
    std.debug.assert(target.len == source.len);
    var at: usize = 0;
    while (at + lanes <= target.len) : (at += lanes) {
        target[at..][0..lanes].* = @as(Vector, target[at..][0..lanes].*) & @as(Vector, source[at..][0..lanes].*);
    }
    for (target[at..], source[at..]) |*word, bits| word.* &= bits;
}

/// target |= a & b; of equal length.
pub fn orAnd(target: []u32, a: []const u32, b: []const u32) void {
    std.debug.assert(target.len == a.len and target.len == b.len);
    var at: usize = 0;
    while (at + lanes <= target.len) : (at += lanes) {
        const both = @as(Vector, a[at..][0..lanes].*) & @as(Vector, b[at..][0..lanes].*);
        target[at..][0..lanes].* = @as(Vector, target[at..][0..lanes].*) | both;
    }
    for (target[at..], a[at..], b[at..]) |*word, x, y| word.* |= x & y;
}

/// target |= a & ~b; of equal length.
pub fn orWithout(target: []u32, a: []const u32, b: []const u32) void {
    std.debug.assert(target.len == a.len and target.len == b.len);
    var at: usize = 0;
    while (at + lanes <= target.len) : (at += lanes) {
        const some = @as(Vector, a[at..][0..lanes].*) & ~@as(Vector, b[at..][0..lanes].*);
        target[at..][0..lanes].* = @as(Vector, target[at..][0..lanes].*) | some;
    }
    for (target[at..], a[at..], b[at..]) |*word, x, y| word.* |= x & ~y;
}

pub fn countOf(words: []const u32) u32 {
    var totals: Vector = @splat(0);
    var at: usize = 0;
    while (at + lanes <= words.len) : (at += lanes) totals += @popCount(@as(Vector, words[at..][0..lanes].*));
    var total = @reduce(.Add, totals);
    for (words[at..]) |word| total += @popCount(word);
    return total;
}

/// The members, rising.
pub fn iterate(words: []const u32) Iterator {
    return .{ .words = words };
}

pub const Iterator = struct {
    words: []const u32,
    at: u32 = 0,
    /// What is left of the word before `at`.
    rest: u32 = 0,

    pub fn next(self: *Iterator) ?u32 {
        while (self.rest == 0) {
            if (self.at == self.words.len) return null;
            self.rest = self.words[self.at];
            self.at += 1;
        }
        defer self.rest &= self.rest - 1;
        return (self.at - 1) * 32 + @ctz(self.rest);
    }
};

pub fn set(words: []u32, index: u32) void {
    words[index >> 5] |= bitOf(index);
}

pub fn unset(words: []u32, index: u32) void {
    words[index >> 5] &= ~bitOf(index);
}

pub fn isSet(words: []const u32, index: u32) bool {
    return words[index >> 5] & bitOf(index) != 0;
}

/// The lowest member.
pub fn first(words: []const u32) ?u32 {
    for (words, 0..) |word, index| if (word != 0) return @intCast(index * 32 + @ctz(word));
    return null;
}

fn bitOf(index: u32) u32 {
    return @as(u32, 1) << @intCast(index & 31);
}

test "sets of any length" {
    for ([_]usize{ 0, 1, 15, 16, 17, 50 }) |length| {
        var target: [50]u32 = undefined;
        var source: [50]u32 = undefined;
        var expected: [50]u32 = undefined;
        var indices: [50]u32 = undefined;
        for (&target, &source, &expected, 0..) |*a, *b, *c, index| {
            a.* = @intCast(index * 0x01010101);
            b.* = @intCast(index * 7 + 1);
            c.* = a.* | b.*;
        }
        orInto(target[0..length], source[0..length]);
        try std.testing.expectEqualSlices(u32, expected[0..length], target[0..length]);
        for (expected[0..length], source[0..length]) |*c, b| c.* &= ~b;
        without(target[0..length], source[0..length]);
        try std.testing.expectEqualSlices(u32, expected[0..length], target[0..length]);
        for (expected[0..length], source[0..length], 0..) |*c, b, index| c.* |= b & @as(u32, @intCast(index));
        for (&indices, 0..) |*word, index| word.* = @intCast(index);
        orAnd(target[0..length], source[0..length], indices[0..length]);
        try std.testing.expectEqualSlices(u32, expected[0..length], target[0..length]);
        for (expected[0..length], source[0..length], 0..) |*c, b, index| c.* |= b & ~@as(u32, @intCast(index));
        orWithout(target[0..length], source[0..length], indices[0..length]);
        try std.testing.expectEqualSlices(u32, expected[0..length], target[0..length]);
        for (expected[0..length], source[0..length]) |*c, b| c.* &= b << 1;
        for (source[0..length]) |*b| b.* <<= 1;
        andInto(target[0..length], source[0..length]);
        try std.testing.expectEqualSlices(u32, expected[0..length], target[0..length]);
        var total: u32 = 0;
        for (expected[0..length]) |word| total += @popCount(word);
        try std.testing.expectEqual(total, countOf(target[0..length]));
    }
    var words: [2]u32 = @splat(0);
    set(&words, 33);
    try std.testing.expect(isSet(&words, 33) and !isSet(&words, 1));
    try std.testing.expectEqual(33, first(&words));
    set(&words, 63);
    var members = iterate(&words);
    for ([_]?u32{ 33, 63, null }) |member| try std.testing.expectEqual(member, members.next());
    try std.testing.expectEqual(2, countOf(&words));
    unset(&words, 63);
    unset(&words, 33);
    try std.testing.expectEqual(0, words[1]);
    try std.testing.expectEqual(null, first(&words));
}
