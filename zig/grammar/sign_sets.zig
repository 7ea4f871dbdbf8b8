//! Which tokens begin with some characters, and which go on with no others: what every state of a pattern asks for, mostly for the same few
//! sets of characters, as the same patterns come again. They are of the vocabulary alone, and outlive programs.
const std = @import("std");
const Allocator = std.mem.Allocator;
const words = @import("../stdx.zig").words;
const signs_room = @import("../vocabulary.zig").signs;
const Signs = signs_room.Signs;
const alphabet_signs = @import("alphabet_signs.zig");
const AlphabetSigns = alphabet_signs.AlphabetSigns;

pub const SignSets = struct {
    known: [known_max]Known = @splat(.{}),
    /// The one that gives way to the next.
    oldest: usize = 0,

    const known_max = 16;
    const Part = enum { none, beginning, continuing };
    /// `alphabet`: whose signs they are, or `any` if it has all that is beyond ASCII, or none of it: then the key has one sign for that.
    const Known = struct { part: Part = .none, alphabet: u32 = any, of: signs_room.Set = .empty, tokens: []u32 = &.{} };
    const any: u32 = 0;

    pub fn deinit(self: *SignSets, gpa: Allocator) void {
        for (&self.known) |*known| gpa.free(known.tokens);
    }

    pub fn bytes(self: *const SignSets) usize {
        var total: usize = 0;
        for (&self.known) |*known| total += known.tokens.len * @sizeOf(u32);
        return total;
    }

    /// (words) tokens that begin with one of these; valid until others are asked for.
    pub fn beginning(self: *SignSets, gpa: Allocator, signs: *const Signs, own: *const AlphabetSigns, of: signs_room.Set) error{OutOfMemory}![]const u32 {
        const tokens, const isKnown = try self.find(gpa, .beginning, own, of, signs.begun.len);
        if (isKnown) return tokens;
        const most = of.count() > (ascii_count + own.beyond.count()) / 2;
        if (most) @memcpy(tokens, signs.begun) else @memset(tokens, 0);
        for (own.first, 0..) |set, sign| {
            if (set.len == 0 or !signs_room.isInside(@intCast(sign)) or of.isSet(sign) == most) continue;
            if (most) words.without(tokens, set) else words.orInto(tokens, set);
        }
        return tokens;
    }

    /// (words) tokens all of whose characters after the first are some of these; valid until others are asked for.
    pub fn continuing(self: *SignSets, gpa: Allocator, signs: *const Signs, own: *const AlphabetSigns, of: signs_room.Set) error{OutOfMemory}![]const u32 {
        const tokens, const isKnown = try self.find(gpa, .continuing, own, of, signs.begun.len);
        if (isKnown) return tokens;
        @memcpy(tokens, signs.begun);
        words.without(tokens, signs.outside);
        var left = of.complement();
        if (of.intersectWith(own.beyond).eql(.empty)) {
            words.without(tokens, signs.characters.later.all);
            left = left.differenceWith(own.beyond);
        }
        for (signs_room.groups, signs.later_groups) |group, set| {
            if (!group.subsetOf(left)) continue;
            words.without(tokens, set);
            left = left.differenceWith(group);
        }
        var each = left.iterator(.{});
        while (each.next()) |sign| if (own.later[sign].len > 0 and signs_room.isInside(@intCast(sign))) words.without(tokens, own.later[sign]);
        return tokens;
    }

    /// The tokens, or where they are to be put.
    fn find(self: *SignSets, gpa: Allocator, part: Part, own: *const AlphabetSigns, of: signs_room.Set, length: usize) error{OutOfMemory}!struct { []u32, bool } {
        const told = of.intersectWith(own.beyond);
        const alphabet = if (told.eql(.empty) or told.eql(own.beyond)) any else own.id;
        var key = of;
        if (alphabet == any) {
            key.setRangeValue(.{ .start = signs_room.beyond, .end = signs_room.count }, false);
            key.setValue(signs_room.beyond, !told.eql(.empty));
        }
        for (&self.known) |*known| if (known.part == part and known.alphabet == alphabet and known.of.eql(key)) return .{ known.tokens, true };
        const known = &self.known[self.oldest];
        if (known.tokens.len == 0) known.tokens = try gpa.alloc(u32, length);
        self.oldest = (self.oldest + 1) % known_max;
        known.part = part;
        known.alphabet = alphabet;
        known.of = key;
        return .{ known.tokens, false };
    }
};

/// Those that stand for themselves in a JSON string.
const ascii_count = 94;

test "tokens by the characters that they begin and go on with, however many were asked for before" {
    const gpa = std.testing.allocator;
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const texts = "aababbba\"éжaж";
    const signs: Signs = try .create(arena_state.allocator(), gpa, .{ .bytes = texts, .offsets = &.{ 0, 1, 3, 5, 6, 8, 9, 11, 13, 16 } }, &.{ 0, 1, 2, 3, 4, 5, 6, 7, 8 }, 1, 4);
    var alphabets: [2]alphabet_signs.Cache = @splat(.{});
    defer for (&alphabets) |*cache| cache.deinit(gpa);
    var classes: [2]signs_room.Set = undefined;
    const own = try alphabets[0].of(gpa, &signs, &alphabet_signs.alphabetForTest(&.{ .{ .first = 0, .class = 0 }, .{ .first = 0x400, .class = 1 } }, 2), &classes);
    const latin = own.signOf(&signs.characters, 0xe9);
    const one = try alphabets[1].of(gpa, &signs, &alphabet_signs.alphabetForTest(&.{.{ .first = 0, .class = 0 }}, 1), classes[0..1]);
    var sets: SignSets = .{};
    defer sets.deinit(gpa);
    var a: signs_room.Set = .empty;
    a.set('a');
    const all = a.complement();
    var some = a;
    some.set(latin);
    // "a", "ab", "ab", "b", "ba", a quote, "é", "ж", and "aж".
    for (0..3) |_| {
        for ([_]*const AlphabetSigns{ own, one }) |each| {
            try std.testing.expectEqual(0b100000111, (try sets.beginning(gpa, &signs, each, a))[0]);
            try std.testing.expectEqual(0b011011000, (try sets.beginning(gpa, &signs, each, all))[0]);
            try std.testing.expectEqual(0b011011001, (try sets.continuing(gpa, &signs, each, a))[0]);
            try std.testing.expectEqual(0b111001111, (try sets.continuing(gpa, &signs, each, all))[0]);
        }
        try std.testing.expectEqual(0b101000111, (try sets.beginning(gpa, &signs, own, some))[0]);
        try std.testing.expectEqual(0b011011001, (try sets.continuing(gpa, &signs, own, some))[0]);
        try std.testing.expectEqual(0b111001111, (try sets.continuing(gpa, &signs, own, some.complement()))[0]);
        for (0..SignSets.known_max) |sign| {
            var other = a;
            other.set(sign);
            _ = try sets.continuing(gpa, &signs, own, other);
        }
    }
}
