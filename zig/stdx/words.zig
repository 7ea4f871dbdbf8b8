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
        for (&target, &source, &expected, 0..) |*a, *b, *c, index| {
            a.* = @intCast(index * 0x01010101);
            b.* = @intCast(index * 7 + 1);
            c.* = a.* | b.*;
        }
        orInto(target[0..length], source[0..length]);
        try std.testing.expectEqualSlices(u32, expected[0..length], target[0..length]);
    }
    var words: [2]u32 = @splat(0);
    set(&words, 33);
    try std.testing.expect(isSet(&words, 33) and !isSet(&words, 1));
    try std.testing.expectEqual(33, first(&words));
    unset(&words, 33);
    try std.testing.expectEqual(0, words[1]);
    try std.testing.expectEqual(null, first(&words));
}
