//! Which tokens begin with some characters, and which go on with no others: what every state of a pattern asks for, mostly for the same few
//! sets of characters, as the same patterns come again. They are of the vocabulary alone, and outlive programs.
const std = @import("std");
const Allocator = std.mem.Allocator;
const words = @import("../stdx.zig").words;
const signs_room = @import("../vocabulary.zig").signs;
const Signs = signs_room.Signs;

pub const SignSets = struct {
    known: [known_max]Known = @splat(.{}),
    /// The one that gives way to the next.
    oldest: usize = 0,

    const known_max = 16;
    const Part = enum { none, beginning, continuing };
    const Known = struct { part: Part = .none, of: signs_room.Set = .empty, tokens: []u32 = &.{} };

    pub fn deinit(self: *SignSets, gpa: Allocator) void {
        for (&self.known) |*known| gpa.free(known.tokens);
    }

    pub fn bytes(self: *const SignSets) usize {
        var total: usize = 0;
        for (&self.known) |*known| total += known.tokens.len * @sizeOf(u32);
        return total;
    }

    /// (words) tokens that begin with one of these; valid until others are asked for.
    pub fn beginning(self: *SignSets, gpa: Allocator, signs: *const Signs, of: signs_room.Set) error{OutOfMemory}![]const u32 {
        const tokens, const isKnown = try self.find(gpa, .beginning, of, signs.begun.len);
        if (isKnown) return tokens;
        const most = of.count() > signs_room.count / 2;
        if (most) @memcpy(tokens, signs.begun) else @memset(tokens, 0);
        for (signs.first, 0..) |set, sign| {
            if (set.len == 0 or !signs_room.isInside(@intCast(sign)) or of.isSet(sign) == most) continue;
            if (most) words.without(tokens, set) else words.orInto(tokens, set);
        }
        return tokens;
    }

    /// (words) tokens all of whose characters after the first are some of these; valid until others are asked for.
    pub fn continuing(self: *SignSets, gpa: Allocator, signs: *const Signs, of: signs_room.Set) error{OutOfMemory}![]const u32 {
        const tokens, const isKnown = try self.find(gpa, .continuing, of, signs.begun.len);
        if (isKnown) return tokens;
        @memcpy(tokens, signs.begun);
        words.without(tokens, signs.outside);
        for (signs.later, 0..) |set, sign| {
            if (set.len > 0 and signs_room.isInside(@intCast(sign)) and !of.isSet(sign)) words.without(tokens, set);
        }
        return tokens;
    }

    /// The tokens, or where they are to be put.
    fn find(self: *SignSets, gpa: Allocator, part: Part, of: signs_room.Set, length: usize) error{OutOfMemory}!struct { []u32, bool } {
        for (&self.known) |*known| if (known.part == part and known.of.eql(of)) return .{ known.tokens, true };
        const known = &self.known[self.oldest];
        if (known.tokens.len == 0) known.tokens = try gpa.alloc(u32, length);
        self.oldest = (self.oldest + 1) % known_max;
        known.part = part;
        known.of = of;
        return .{ known.tokens, false };
    }
};

test "tokens by the characters that they begin and go on with, however many were asked for before" {
    const gpa = std.testing.allocator;
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const texts = "aababbba\"";
    const signs: Signs = try .create(arena_state.allocator(), .{ .bytes = texts, .offsets = &.{ 0, 1, 3, 5, 6, 8, 9 } }, &.{ 0, 1, 2, 3, 4, 5 }, 1, 4);
    var sets: SignSets = .{};
    defer sets.deinit(gpa);
    var a: signs_room.Set = .empty;
    a.set('a');
    const all = a.complement();
    // "a", "ab", "ab", "b", "ba", and a quote.
    for (0..3) |_| {
        try std.testing.expectEqual(0b000111, (try sets.beginning(gpa, &signs, a))[0]);
        try std.testing.expectEqual(0b011000, (try sets.beginning(gpa, &signs, all))[0]);
        try std.testing.expectEqual(0b011001, (try sets.continuing(gpa, &signs, a))[0]);
        try std.testing.expectEqual(0b001111, (try sets.continuing(gpa, &signs, all))[0]);
        for (0..SignSets.known_max) |sign| {
            var other = a;
            other.set(sign);
            _ = try sets.continuing(gpa, &signs, other);
        }
    }
}
