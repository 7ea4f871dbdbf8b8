//! The code points of one regex, in classes that all its parts treat alike: what each costs to write, and how bytes become them.
const std = @import("std");
const Allocator = std.mem.Allocator;
const json_string = @import("../vocabulary.zig").json_string;
const Vocabulary = @import("../vocabulary.zig").Vocabulary;
const ir = @import("ir.zig");
const Speller = @import("spelling.zig").Speller;
const spelling = @import("spelling.zig");

pub const unreachable_cost = spelling.unreachable_cost;

/// How characters are written: in one of the spellings of a JSON string, or as they are.
pub const Writing = enum(u2) {
    plain,
    fixed,
    spec,
    raw,

    pub fn spellingOf(self: Writing) json_string.Spelling {
        std.debug.assert(self != .raw);
        return @fromBackingInt(@as(u8, @backingInt(self)));
    }
};

/// What a byte of a character leads to: a class, a `Half`, or nothing.
pub const Next = enum(u32) {
    dead = 0xffffffff,
    _,

    const half_bit: u32 = 1 << 31;

    fn ofClass(id: u16) Next {
        return @fromBackingInt(@as(u32, id));
    }

    fn ofHalf(id: u32) Next {
        return @fromBackingInt(id | half_bit);
    }

    pub fn class(self: Next) ?u16 {
        const word = @backingInt(self);
        return if (word & half_bit == 0) @intCast(word) else null;
    }

    /// Of neither a class nor nothing.
    pub fn half(self: Next) u32 {
        return @backingInt(self) & ~half_bit;
    }
};

/// The bytes of a character read so far, as far as they matter.
pub const Half = struct {
    phase: json_string.Phase,
    /// By the low six bits of the next byte.
    next: [64]Next,
    /// The classes it can become, with the tokens that takes.
    finish: []const Finish,
};
pub const Finish = struct { class: u16, cost: u32 };

/// Code points from `first` on, up to the next segment's.
pub const Segment = struct { first: u21, class: u16 };

pub const no_class: u16 = 0xffff;

pub const Alphabet = struct {
    /// At most `no_class`.
    class_count: u32,
    ascii: [128]u16,
    /// Tokens that write each.
    ascii_costs: [128]u32,
    /// The printable characters of the class that has most of them.
    usual: std.bit_set.Static(128),
    writable: *const [256]bool,
    /// Every character can be written as an escape.
    escapes_all: bool,
    /// From U+0000 to beyond U+10FFFF; surrogates are in no class.
    segments: []const Segment,
    /// (class_count) tokens that write some character of the class.
    costs: []const u32,
    /// By byte, from 0x80 on.
    leads: [128]Next,
    halves: []const Half,

    pub fn classOf(self: *const Alphabet, char: u21) u16 {
        return if (char < 128) self.ascii[char] else self.segments[find(self.segments, char)].class;
    }

    /// Tokens that write some character of a class other than these, byte by byte beyond ASCII.
    pub fn costWithout(self: *const Alphabet, class: u16, excluded: []const u21) u32 {
        var least = unreachable_cost;
        for (self.ascii, self.ascii_costs, 0..) |of, cost, char| {
            if (of == class and std.mem.findScalar(u21, excluded, @intCast(char)) == null) least = @min(least, cost);
        }
        if (least != unreachable_cost) return least;
        for (self.segments, 0..) |segment, index| {
            if (segment.class != class or segment.first < 0x80) continue;
            const end: u32 = if (index + 1 < self.segments.len) self.segments[index + 1].first else 0x110000;
            // Of a segment longer than what is excluded, one is left that can be written, if any can.
            for (segment.first..@min(end, segment.first + 64 * (excluded.len + 1))) |char| {
                if (std.mem.findScalar(u21, excluded, @intCast(char)) != null) continue;
                const cost = self.costOf(@intCast(char));
                if (cost < least) least = cost;
            }
        }
        return least;
    }

    pub fn costOf(self: *const Alphabet, char: u21) u32 {
        var buffer: [4]u8 = undefined;
        const length = json_string.encodeUtf8(char, &buffer);
        for (buffer[0..length]) |byte| if (!self.writable[byte]) return if (self.escapes_all) @as(u32, if (char > 0xffff) 12 else 6) else unreachable_cost;
        return length;
    }
};

fn find(segments: []const Segment, char: u21) usize {
    var low: usize = 0;
    var high = segments.len;
    while (high - low > 1) {
        const middle = (low + high) / 2;
        if (segments[middle].first <= char) low = middle else high = middle;
    }
    return low;
}

/// Segments that have code points of a range, as indices: from the first one to before the second.
pub fn segmentsIn(segments: []const Segment, first: u21, last: u21) [2]usize {
    const begin = find(segments, first);
    var end = begin + 1;
    while (end < segments.len and segments[end].first <= last) end += 1;
    return .{ begin, end };
}

/// What the alphabet of a regex is made from.
pub const Source = struct {
    vocabulary: *const Vocabulary,
    speller: *const Speller,
    writable: *const [256]bool,
    /// Escapes can be written.
    escapes: bool,
    writing: Writing,
    budget: *ir.Budget,
};

/// An alphabet for these classes, and for each of them, as bits, which classes of the alphabet it consists of.
pub const Made = struct {
    alphabet: Alphabet,
    /// u64 words of one set.
    words: u32,
    /// (classes × words)
    sets: []u64,
};

pub fn create(arena: Allocator, scratch: Allocator, source: *const Source, classes: []const []const ir.Regex.Range) ir.Error!Made {
    var builder: Builder = .{ .arena = arena, .scratch = scratch, .source = source };
    return builder.run(classes);
}

const Builder = struct {
    arena: Allocator,
    scratch: Allocator,
    source: *const Source,
    segments: std.ArrayList(Segment) = .empty,
    class_count: u32 = 0,
    halves: std.ArrayList(Half) = .empty,
    /// Halves all of whose completions are of one class.
    uniform: std.AutoHashMapUnmanaged(u32, u32) = .empty,
    /// (class_count) costs being gathered, and the classes that have one.
    gathered: []u32 = &.{},
    touched: std.ArrayList(u16) = .empty,

    fn run(self: *Builder, classes: []const []const ir.Regex.Range) ir.Error!Made {
        const signatures = try self.split(classes);
        const words: u32 = (self.class_count + 63) / 64;
        const sets = try self.arena.alloc(u64, classes.len * words);
        @memset(sets, 0);
        for (signatures, 0..) |signature, class| for (0..classes.len) |index| {
            if (signature[index / 64] >> @intCast(index % 64) & 1 != 0) sets[index * words + class / 64] |= @as(u64, 1) << @intCast(class % 64);
        };
        self.gathered = try self.scratch.alloc(u32, self.class_count);
        @memset(self.gathered, unreachable_cost);

        var alphabet: Alphabet = .{
            .class_count = self.class_count,
            .ascii = undefined,
            .ascii_costs = undefined,
            .usual = undefined,
            .writable = self.source.writable,
            .escapes_all = self.source.escapes and self.source.writing == .spec,
            .segments = self.segments.items,
            .costs = &.{},
            .leads = @splat(.dead),
            .halves = &.{},
        };
        var at: usize = 0;
        for (&alphabet.ascii, 0..) |*class, char| {
            if (at + 1 < self.segments.items.len and self.segments.items[at + 1].first <= char) at += 1;
            class.* = self.segments.items[at].class;
        }
        alphabet.usual = try self.usual(&alphabet.ascii);
        for (&alphabet.leads, 0x80..) |*lead, byte| {
            const phase = json_string.utf8Step(.text, @intCast(byte)) orelse continue;
            const first: u21 = switch (phase) {
                .more1 => @as(u21, @intCast(byte & 0x1f)) << 6,
                .more2, .more2_e0, .more2_ed => @as(u21, @intCast(byte & 0x0f)) << 12,
                else => @as(u21, @intCast(byte & 0x07)) << 18,
            };
            lead.* = .ofHalf(try self.half(first, phase));
        }
        alphabet.halves = self.halves.items;
        alphabet.costs = try self.costClasses(&alphabet);
        return .{ .alphabet = alphabet, .words = words, .sets = sets };
    }

    fn usual(self: *Builder, ascii: *const [128]u16) error{OutOfMemory}!std.bit_set.Static(128) {
        const counts = try self.scratch.alloc(u8, self.class_count);
        @memset(counts, 0);
        for (ascii[0x20..]) |class| counts[class] += 1;
        const most = std.mem.findMax(u8, counts);
        var set: std.bit_set.Static(128) = .empty;
        for (ascii[0x20..], 0x20..) |class, char| set.setValue(char, class == most);
        return set;
    }

    /// Cuts the code points where any class begins or ends; the signatures (which of the classes given) of the classes made.
    fn split(self: *Builder, classes: []const []const ir.Regex.Range) ir.Error![]const []const u64 {
        const budget = self.source.budget;
        var cuts: std.ArrayList(u21) = .empty;
        try cuts.appendSlice(self.scratch, &.{ 0, 0x80, 0xd800, 0xe000 });
        for (classes) |ranges| for (ranges) |range| {
            try budget.spend(1);
            try cuts.append(self.scratch, range.first);
            if (range.last < 0x10ffff) try cuts.append(self.scratch, range.last + 1);
        };
        std.mem.sortUnstable(u21, cuts.items, {}, std.sort.asc(u21));
        const width = (classes.len + 63) / 64;
        const places = try self.scratch.alloc(usize, classes.len);
        @memset(places, 0);
        const signature = try self.scratch.alloc(u64, width);
        var signatures: std.ArrayList([]const u64) = .empty;
        var known: std.HashMapUnmanaged([]const u64, u16, struct {
            pub fn hash(_: @This(), key: []const u64) u64 {
                return std.hash.Wyhash.hash(0, std.mem.sliceAsBytes(key));
            }
            pub fn eql(_: @This(), a: []const u64, b: []const u64) bool {
                return std.mem.eql(u64, a, b);
            }
        }, 80) = .empty;
        for (cuts.items, 0..) |first, index| {
            if (index > 0 and cuts.items[index - 1] == first) continue;
            try budget.spend(classes.len + 1);
            if (first >= 0xd800 and first < 0xe000) {
                try self.addSegment(first, no_class);
                continue;
            }
            @memset(signature, 0);
            for (classes, places, 0..) |ranges, *place, class| {
                while (place.* < ranges.len and ranges[place.*].last < first) place.* += 1;
                if (place.* < ranges.len and ranges[place.*].first <= first) signature[class / 64] |= @as(u64, 1) << @intCast(class % 64);
            }
            const slot = try known.getOrPut(self.scratch, signature);
            if (!slot.found_existing) {
                if (signatures.items.len == no_class) return budget.refuse(.limit, "a pattern tells too many kinds of characters apart", ir.none);
                slot.key_ptr.* = try self.scratch.dupe(u64, signature);
                slot.value_ptr.* = @intCast(signatures.items.len);
                try signatures.append(self.scratch, slot.key_ptr.*);
            }
            try self.addSegment(first, slot.value_ptr.*);
        }
        self.class_count = @intCast(signatures.items.len);
        return signatures.items;
    }

    fn addSegment(self: *Builder, first: u21, class: u16) ir.Error!void {
        const list = self.segments.items;
        // What is written otherwise is kept apart.
        if (list.len > 0 and list[list.len - 1].class == class and first != 0x80) return;
        try self.segments.append(self.arena, .{ .first = first, .class = class });
    }

    /// The half of a character whose code point begins with the bits of `first`. Characters have at most four bytes, which bounds the depth.
    fn half(self: *Builder, first: u21, phase: json_string.Phase) ir.Error!u32 {
        const low, const high = reach(first, phase);
        const begin, const end = segmentsIn(self.segments.items, low, high);
        const only: ?u32 = if (end - begin == 1) @as(u32, self.segments.items[begin].class) << 8 | @backingInt(phase) else null;
        if (only) |key| if (self.uniform.get(key)) |known| return known;
        try self.source.budget.spend(64);
        var made: Half = .{ .phase = phase, .next = @splat(.dead), .finish = &.{} };
        const bits: u5 = if (phase == .more1) 0 else if (@backingInt(phase) < @backingInt(json_string.Phase.more3)) 6 else 12;
        for (&made.next, 0..) |*next, index| {
            const after = json_string.utf8Step(phase, @intCast(0x80 | index)) orelse continue;
            const point = first | @as(u21, @intCast(index)) << bits;
            next.* = if (after == .text) .ofClass(self.segments.items[find(self.segments.items, point)].class) else .ofHalf(try self.half(point, after));
        }
        made.finish = try self.finish(&made);
        const id: u32 = @intCast(self.halves.items.len);
        try self.halves.append(self.arena, made);
        if (only) |key| try self.uniform.put(self.scratch, key, id);
        return id;
    }

    fn reach(first: u21, phase: json_string.Phase) [2]u21 {
        return switch (phase) {
            .more1 => .{ first, first | 0x3f },
            .more2 => .{ first, first | 0xfff },
            .more2_e0 => .{ 0x800, 0xfff },
            .more2_ed => .{ 0xd000, 0xd7ff },
            .more3 => .{ first, first | 0x3ffff },
            .more3_f0 => .{ 0x10000, 0x3ffff },
            else => .{ 0x100000, 0x10ffff },
        };
    }

    fn finish(self: *Builder, of: *const Half) ir.Error![]const Finish {
        var all = true;
        for (of.next, 0x80..) |next, byte| {
            if (next == .dead) continue;
            if (self.source.writable[byte]) try self.gatherAfter(next, 1) else all = false;
        }
        // Tokens of several bytes matter only where one byte is not enough.
        if (!all) for (self.source.vocabulary.string_tables.continuations) |token| {
            if (!self.source.speller.isText(token)) continue;
            const text = self.source.vocabulary.text(token);
            var next = of.next[text[0] & 0x3f];
            for (text[1..]) |byte| {
                if (next == .dead or next.class() != null) break;
                next = self.halves.items[next.half()].next[byte & 0x3f];
            } else if (next != .dead) try self.gatherAfter(next, 1);
        };
        return self.takeGathered();
    }

    fn gatherAfter(self: *Builder, next: Next, cost: u32) ir.Error!void {
        if (next.class()) |class| return self.gather(class, cost);
        for (self.halves.items[next.half()].finish) |item| try self.gather(item.class, item.cost + cost);
    }

    fn gather(self: *Builder, class: u16, cost: u32) ir.Error!void {
        if (self.gathered[class] == unreachable_cost) try self.touched.append(self.scratch, class);
        self.gathered[class] = @min(self.gathered[class], cost);
    }

    fn takeGathered(self: *Builder) ir.Error![]const Finish {
        const list = try self.arena.alloc(Finish, self.touched.items.len);
        for (list, self.touched.items) |*item, class| {
            item.* = .{ .class = class, .cost = self.gathered[class] };
            self.gathered[class] = unreachable_cost;
        }
        self.touched.clearRetainingCapacity();
        return list;
    }

    fn costClasses(self: *Builder, alphabet: *Alphabet) ir.Error![]const u32 {
        const source = self.source;
        const costs = try self.arena.alloc(u32, self.class_count);
        @memset(costs, unreachable_cost);
        for (alphabet.ascii, &alphabet.ascii_costs, 0..) |class, *cost, char| {
            cost.* = try self.asciiCost(@intCast(char));
            costs[class] = @min(costs[class], cost.*);
        }
        const characters = source.vocabulary.string_tables.characters;
        var open = false;
        for (self.segments.items, 0..) |segment, index| {
            if (segment.first < 0x80 or segment.class == no_class or costs[segment.class] == 1) continue;
            const end: u21 = if (index + 1 < self.segments.items.len) self.segments.items[index + 1].first else 0x110000;
            var at = std.sort.lowerBound(@TypeOf(characters[0]), characters, segment.first, struct {
                fn order(first: u21, item: @TypeOf(characters[0])) std.math.Order {
                    return std.math.order(first, item.char);
                }
            }.order);
            while (at < characters.len and characters[at].char < end) : (at += 1) if (source.speller.isText(characters[at].token)) {
                costs[segment.class] = 1;
                break;
            };
            open = open or costs[segment.class] > 1;
            if (source.writing == .spec and source.escapes) costs[segment.class] = @min(costs[segment.class], @as(u32, if (end > 0x10000 and segment.first >= 0x10000) 12 else 6));
        }
        if (!open) return costs;
        for (source.vocabulary.string_tables.beginnings) |token| {
            if (!source.speller.isText(token)) continue;
            const text = source.vocabulary.text(token);
            try source.budget.spend(text.len);
            var next = alphabet.leads[text[0] - 0x80];
            for (text[1..]) |byte| next = alphabet.halves[next.half()].next[byte & 0x3f];
            for (alphabet.halves[next.half()].finish) |item| costs[item.class] = @min(costs[item.class], item.cost + 1);
        }
        return costs;
    }

    fn asciiCost(self: *const Builder, char: u7) ir.Error!u32 {
        const source = self.source;
        const raw = source.writing == .raw or char >= 0x20 and char != '"' and char != '\\';
        if (raw and source.writable[char]) return 1;
        if (source.writing == .raw or !source.escapes) return unreachable_cost;
        if (json_string.shortEscape(char)) |letter| return source.speller.cost(&.{ '\\', letter });
        // Byte by byte, as the states inside an escape count it.
        return if (char < 0x20 or source.writing == .spec) 6 else unreachable_cost;
    }
};
