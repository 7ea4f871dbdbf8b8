//! The signs of an alphabet: characters beyond ASCII by the classes that it has them in, and the tokens that begin with each sign or have it
//! later. Alphabets that tell the characters of the vocabulary's tokens apart alike have the same signs, and those last used are kept:
//! they are of the vocabulary alone, and outlive programs.
const std = @import("std");
const builtin = @import("builtin");
const Allocator = std.mem.Allocator;
const words = @import("../stdx.zig").words;
const signs_room = @import("../vocabulary.zig").signs;
const Signs = signs_room.Signs;
const Sign = signs_room.Sign;
const Characters = signs_room.Characters;
const Strings = signs_room.Strings;
const alphabet_room = @import("alphabet.zig");
const Alphabet = alphabet_room.Alphabet;

const Error = error{OutOfMemory};

/// Classes that have a sign of their own: those that tokens have most, if it is so often. All others share the last sign, as a set of tokens
/// takes more time to fill than it takes to read a few tokens.
const own_max = if (builtin.is_test) 2 else signs_room.beyond_count - 1;
const own_min = if (builtin.is_test) 2 else 256;
const shared: Sign = signs_room.beyond + own_max;

/// Characters of one sign, as indices of `Characters.chars`: from `begin` to where the next run begins.
const Run = struct {
    begin: u32,
    sign: u32,

    fn order(at: u32, run: Run) std.math.Order {
        return std.math.order(at, run.begin);
    }
};

pub const AlphabetSigns = struct {
    /// No others have it, neither now nor later.
    id: u32,
    runs: []Run,
    /// The memory of the sets of signs beyond ASCII.
    bits: []u32,
    /// The signs beyond ASCII.
    beyond: signs_room.Set,
    /// (signs) tokens whose first character is this one, as bit sets; empty if there are none.
    first: [signs_room.count][]const u32 = @splat(&.{}),
    /// (signs) tokens that have it after their first character.
    later: [signs_room.count][]const u32 = @splat(&.{}),
    /// (signs) members of `first` and, nearly, of `later`.
    first_counts: [signs_room.count]u32 = @splat(0),
    weights: [signs_room.count]u32 = @splat(0),

    /// Of a character beyond ASCII that some token has.
    pub fn signOf(self: *const AlphabetSigns, characters: *const Characters, char: u21) Sign {
        const at = std.sort.upperBound(Run, self.runs, characters.find(0, char), Run.order);
        return @intCast(self.runs[at - 1].sign);
    }
};

pub const Cache = struct {
    /// In the order in which they were made.
    known: std.ArrayList(AlphabetSigns) = .empty,
    last_id: u32 = 0,
    /// Of the alphabet that is asked for.
    runs: std.ArrayList(Run) = .empty,
    /// Its classes that have characters which tokens have, in their order.
    found: std.ArrayList(Found) = .empty,
    /// (class_count) indices of `found`.
    places: std.ArrayList(u32) = .empty,

    const known_max = 8;
    /// Of all sets together, where there are several alphabets.
    const bits_bytes_max = 2 << 20;
    const none: u32 = 0xffffffff;
    const Found = struct {
        class: u16,
        sign: Sign = shared,
        first_count: u32 = 0,
        later_count: u32 = 0,

        fn total(self: *const Found) u32 {
            return self.first_count + self.later_count;
        }
    };

    pub fn deinit(self: *Cache, gpa: Allocator) void {
        while (self.known.items.len > 0) gpa.free(self.forgetOldest(gpa));
        self.known.deinit(gpa);
        self.runs.deinit(gpa);
        self.found.deinit(gpa);
        self.places.deinit(gpa);
    }

    pub fn bytes(self: *const Cache) usize {
        var total: usize = 0;
        for (self.known.items) |*known| total += known.bits.len * @sizeOf(u32) + known.runs.len * @sizeOf(Run);
        return total;
    }

    /// Valid until others are asked for. `classes`: (class_count) gets the signs that characters of each class have.
    pub fn of(self: *Cache, gpa: Allocator, signs: *const Signs, alphabet: *const Alphabet, classes: []signs_room.Set) Error!*const AlphabetSigns {
        try self.read(gpa, signs, alphabet);
        self.nameSigns();
        @memset(classes, .empty);
        for (alphabet.ascii, 0..) |class, char| classes[class].set(char);
        for (alphabet.segments) |segment| {
            if (segment.first >= 0x80 and segment.class != alphabet_room.no_class) classes[segment.class].set(signs_room.broken);
        }
        for (self.found.items) |found| classes[found.class].set(found.sign);
        for (self.known.items) |*known| if (areEqual(known.runs, self.runs.items)) return known;
        return self.make(gpa, signs);
    }

    /// Finds the runs of an alphabet, their signs yet as indices of `found`.
    fn read(self: *Cache, gpa: Allocator, signs: *const Signs, alphabet: *const Alphabet) Error!void {
        const characters = &signs.characters;
        self.runs.clearRetainingCapacity();
        self.found.clearRetainingCapacity();
        try self.places.resize(gpa, alphabet.class_count);
        @memset(self.places.items, none);
        var at: u32 = 0;
        for (alphabet.segments, 0..) |segment, index| {
            if (at == characters.chars.len) break;
            const after: u32 = if (index + 1 < alphabet.segments.len) alphabet.segments[index + 1].first else 0x110000;
            if (after <= characters.chars[at]) continue;
            const end = characters.find(at, after);
            const place = &self.places.items[segment.class];
            if (place.* == none) {
                place.* = @intCast(self.found.items.len);
                try self.found.append(gpa, .{ .class = segment.class });
            }
            const found = &self.found.items[place.*];
            found.first_count += characters.first.countIn(at, end);
            found.later_count += characters.later.countIn(at, end);
            if (self.runs.items.len == 0 or self.runs.getLast().sign != place.*) try self.runs.append(gpa, .{ .begin = at, .sign = place.* });
            at = end;
        }
    }

    /// Gives each class that was found its sign.
    fn nameSigns(self: *Cache) void {
        const found = self.found.items;
        for (signs_room.beyond..shared) |sign| {
            var most: ?*Found = null;
            for (found) |*item| {
                if (item.sign == shared and item.total() >= own_min and (most == null or item.total() > most.?.total())) most = item;
            }
            if (most) |item| item.sign = @intCast(sign) else break;
        }
        for (self.runs.items) |*run| run.sign = found[run.sign].sign;
    }

    fn make(self: *Cache, gpa: Allocator, signs: *const Signs) Error!*const AlphabetSigns {
        const characters = &signs.characters;
        const word_count = signs.begun.len;
        var beyond: signs_room.Set = .empty;
        for (self.found.items) |found| beyond.set(found.sign);
        // Those of one sign are known.
        const whole = beyond.count() == 1;
        const needed = if (whole) 0 else 2 * beyond.count() * word_count;
        const bits = try self.takeBits(gpa, needed);
        errdefer gpa.free(bits);
        const runs = try gpa.dupe(Run, self.runs.items);
        errdefer gpa.free(runs);
        const known = try self.known.addOne(gpa);
        self.last_id += 1;
        known.* = .{ .id = self.last_id, .runs = runs, .bits = bits, .beyond = beyond };
        known.first[0..signs_room.beyond].* = signs.first.*;
        known.later[0..signs_room.beyond].* = signs.later.*;
        known.first_counts[0..signs_room.beyond].* = signs.first_counts.*;
        known.weights[0..signs_room.beyond].* = signs.weights.*;
        for (self.found.items) |found| {
            known.first_counts[found.sign] += found.first_count;
            known.weights[found.sign] += found.later_count;
        }
        if (whole) {
            const sign = self.found.items[0].sign;
            known.first[sign] = characters.first.all;
            known.later[sign] = characters.later.all;
            return known;
        }
        @memset(bits[0..needed], 0);
        var rest = bits[0..needed];
        var sets: [signs_room.count][2][]u32 = undefined;
        var each = beyond.iterator(.{});
        while (each.next()) |sign| {
            sets[sign] = .{ rest[0..word_count], rest[word_count..][0..word_count] };
            known.first[sign], known.later[sign] = .{ sets[sign][0], sets[sign][1] };
            rest = rest[2 * word_count ..];
        }
        for (runs, 0..) |run, index| {
            const end: u32 = if (index + 1 < runs.len) runs[index + 1].begin else @intCast(characters.chars.len);
            characters.add(sets[run.sign][0], sets[run.sign][1], run.begin, end);
        }
        return known;
    }

    /// Memory for the sets of another one, which may be that of one that is forgotten.
    fn takeBits(self: *Cache, gpa: Allocator, needed: usize) Error![]u32 {
        var bits: []u32 = &.{};
        while (self.known.items.len == known_max or self.known.items.len > 0 and self.bytes() + needed * @sizeOf(u32) > bits_bytes_max) {
            gpa.free(bits);
            bits = self.forgetOldest(gpa);
        }
        if (bits.len >= needed) return bits;
        gpa.free(bits);
        return gpa.alloc(u32, needed);
    }

    /// The memory of its sets.
    fn forgetOldest(self: *Cache, gpa: Allocator) []u32 {
        const oldest = self.known.orderedRemove(0);
        gpa.free(oldest.runs);
        return oldest.bits;
    }
};

fn areEqual(runs: []const Run, others: []const Run) bool {
    if (runs.len != others.len) return false;
    return for (runs, others) |run, other| {
        if (run.begin != other.begin or run.sign != other.sign) break false;
    } else true;
}

/// Of segments that have all code points; what else an alphabet has is not read for its signs.
pub fn alphabetForTest(segments: []const alphabet_room.Segment, class_count: u32) Alphabet {
    var alphabet: Alphabet = .{
        .class_count = class_count,
        .ascii = undefined,
        .ascii_costs = undefined,
        .usual = .empty,
        .writable = &@splat(true),
        .escapes_all = false,
        .segments = segments,
        .costs = &.{},
        .leads = @splat(.dead),
        .halves = &.{},
    };
    for (&alphabet.ascii, 0..) |*class, char| class.* = alphabet.segments[alphabet_room.segmentsIn(segments, @intCast(char), @intCast(char))[0]].class;
    return alphabet;
}

test "signs by the classes of an alphabet" {
    const gpa = std.testing.allocator;
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const texts = [_][]const u8{ "a", "é", "aé", "éж", "ж", "жa", "山", "山山", "aж山", "🙂", "é\"", "\xd0" };
    var offsets: [texts.len + 1]u32 = undefined;
    offsets[0] = 0;
    for (offsets[1..], offsets[0..texts.len], texts) |*offset, before, text| offset.* = before + @as(u32, @intCast(text.len));
    const strings: Strings = .{ .bytes = try std.mem.concat(arena_state.allocator(), u8, &texts), .offsets = &offsets };
    const tokens: [texts.len]u32 = comptime std.simd.iota(u32, texts.len);
    const signs: Signs = try .create(arena_state.allocator(), gpa, strings, &tokens, 1, 8);
    var cache: Cache = .{};
    defer cache.deinit(gpa);
    const all = [_]alphabet_room.Segment{ .{ .first = 0, .class = 0 }, .{ .first = 0x80, .class = 0 } };
    const alphabets = [_][]const alphabet_room.Segment{
        &all,
        &.{ .{ .first = 0, .class = 1 }, .{ .first = 'a', .class = 0 }, .{ .first = 'b', .class = 1 }, .{ .first = 0x80, .class = 1 } },
        // No token has what is told apart.
        &.{ .{ .first = 0, .class = 0 }, .{ .first = 0x80, .class = 0 }, .{ .first = 0x2028, .class = 1 }, .{ .first = 0x202a, .class = 0 } },
        &.{ .{ .first = 0, .class = 0 }, .{ .first = 0x80, .class = 1 }, .{ .first = 0x400, .class = 0 }, .{ .first = 0x500, .class = 1 } },
        &.{ .{ .first = 0, .class = 0 }, .{ .first = 0x80, .class = 0 }, .{ .first = 0x3000, .class = 1 }, .{ .first = 0x10000, .class = 2 } },
        // More classes than signs.
        &.{ .{ .first = 0, .class = 0 }, .{ .first = 0x80, .class = 3 }, .{ .first = 0x400, .class = 2 }, .{ .first = 0x3000, .class = 1 }, .{ .first = 0x10000, .class = 0 } },
    };
    const beyond_counts = [_]usize{ 1, 1, 1, 2, 3, 3 };
    var ids: [alphabets.len]u32 = undefined;
    // Twice, so that what is kept is asked for, too.
    for (0..2) |round| for (alphabets, beyond_counts, &ids) |segments, beyond_count, *id| {
        const alphabet = alphabetForTest(segments, 4);
        var classes: [4]signs_room.Set = undefined;
        const own = try cache.of(gpa, &signs, &alphabet, &classes);
        if (round > 0) try std.testing.expectEqual(id.*, own.id);
        id.* = own.id;
        try std.testing.expectEqual(beyond_count, own.beyond.count());
        for (texts, 0..) |text, token| {
            const plain = std.unicode.utf8ValidateSlice(text) and text[text.len - 1] != '"';
            var at: usize = 0;
            while (plain and at < text.len) {
                const length = try std.unicode.utf8ByteSequenceLength(text[at]);
                const char = try std.unicode.utf8Decode(text[at..][0..length]);
                const sign = if (char < 0x80) @as(Sign, @intCast(char)) else own.signOf(&signs.characters, char);
                try std.testing.expect(classes[alphabet.classOf(char)].isSet(sign));
                try std.testing.expect(words.isSet(if (at == 0) own.first[sign] else own.later[sign], @intCast(token)));
                at += length;
            }
        }
        var first_total: usize = 0;
        for (own.first, own.first_counts) |set, counted| {
            try std.testing.expectEqual(counted, words.countOf(set));
            first_total += counted;
        }
        try std.testing.expectEqual(texts.len, first_total);
        var later_total: usize = 0;
        for (own.later) |set| later_total += words.countOf(set);
        try std.testing.expectEqual(@as(usize, if (beyond_count == 1) 5 else 6), later_total);
        for (classes, 0..) |set, class| {
            const beyond = set.intersectWith(own.beyond);
            // Of the rarest classes it may be one that several share.
            if (beyond.isSet(shared) and alphabet.class_count > own_max) continue;
            for (classes[class + 1 ..]) |other| try std.testing.expect(other.intersectWith(beyond).eql(.empty));
        }
    };
    try std.testing.expect(ids[0] == ids[1] and ids[0] == ids[2]);
    // Many others come, and those above are forgotten.
    for (0..2 * Cache.known_max) |shift| {
        const segments = [_]alphabet_room.Segment{ .{ .first = 0, .class = 0 }, .{ .first = 0x80, .class = @intCast(shift & 1) }, .{ .first = 0x400, .class = @intCast(shift >> 1 & 1) }, .{ .first = 0x3000, .class = @intCast(shift >> 2 & 1) }, .{ .first = 0x10000, .class = @intCast(shift >> 3) } };
        const alphabet = alphabetForTest(&segments, 2);
        var classes: [2]signs_room.Set = undefined;
        const own = try cache.of(gpa, &signs, &alphabet, &classes);
        try std.testing.expectEqual(classes[shift & 1].isSet(own.signOf(&signs.characters, 0xe9)), true);
        try std.testing.expect(words.isSet(own.first[own.signOf(&signs.characters, 0x1f642)], 9));
    }
    try std.testing.expectEqual(Cache.known_max, cache.known.items.len);
}
