//! The slow truth about regexes, for tests: the language of each as the set of all its texts up to some length, by the definitions. Code
//! points that no class of the regex tells apart are one symbol.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");

const none = ir.none;

pub const Language = struct {
    arena: Allocator,
    /// First code point of each stretch, and its symbol.
    stretches: []const Stretch,
    symbols: usize,
    /// Symbols of the longest texts that are known.
    depth: usize,
    /// [n]: index of the first text of n symbols; texts of one length follow each other in the order of their symbols.
    offsets: []const usize,
    texts: []const bool,

    const Stretch = struct { first: u32, symbol: usize };

    /// Null if so many texts cannot be kept.
    pub fn create(arena: Allocator, regexes: []const ir.Regex, root: u32, depth: usize) !?Language {
        const stretches, const symbols = try cut(arena, regexes);
        const offsets = try arena.alloc(usize, depth + 2);
        offsets[0] = 0;
        var size: usize = 1;
        for (offsets[1..], offsets[0 .. depth + 1]) |*offset, before| {
            offset.* = before + size;
            size *= symbols;
            if (offset.* > 100_000) return null;
        }
        var self: Language = .{ .arena = arena, .stretches = stretches, .symbols = symbols, .depth = depth, .offsets = offsets, .texts = &.{} };
        const sets = try arena.alloc([]bool, root + 1);
        const needed = try arena.alloc(bool, root + 1);
        @memset(needed, false);
        needed[root] = true;
        var at: usize = root + 1;
        while (at > 0) {
            at -= 1;
            if (needed[at]) switch (regexes[at]) {
                .class => {},
                .concat, .@"union", .intersection => |items| for (items) |item| {
                    needed[item] = true;
                },
                .complement => |item| needed[item] = true,
                .repeat => |repeat| needed[repeat.item] = true,
            };
        }
        for (sets, regexes[0 .. root + 1], needed) |*set, regex, is_needed| if (is_needed) {
            set.* = try self.setOf(regex, sets);
        };
        self.texts = sets[root];
        return self;
    }

    /// Characters that a text may need to get through the regex once, more or less: where a language does not know so many, a text that
    /// it does not know says nothing.
    pub fn needs(arena: Allocator, regexes: []const ir.Regex, root: u32) !u32 {
        const needed = try arena.alloc(u32, root + 1);
        for (needed, regexes[0 .. root + 1]) |*length, regex| {
            length.* = switch (regex) {
                .class => 1,
                .concat, .intersection => |items| sum: {
                    var sum: u32 = 0;
                    for (items) |item| sum +|= needed[item];
                    break :sum sum;
                },
                .@"union" => |items| most: {
                    var most: u32 = 0;
                    for (items) |item| most = @max(most, needed[item]);
                    break :most most;
                },
                .complement => |item| needed[item],
                .repeat => |repeat| if (repeat.max == 0) 0 else needed[repeat.item] *| @max(1, repeat.min),
            };
        }
        return needed[root];
    }

    /// Code points by which classes they are in.
    fn cut(arena: Allocator, regexes: []const ir.Regex) !struct { []const Stretch, usize } {
        var cuts: std.ArrayList(u32) = .empty;
        try cuts.append(arena, 0);
        for (regexes) |regex| if (regex == .class) for (regex.class) |range| try cuts.appendSlice(arena, &.{ range.first, @as(u32, range.last) + 1 });
        std.mem.sort(u32, cuts.items, {}, std.sort.asc(u32));
        var seen: std.StringArrayHashMapUnmanaged(void) = .empty;
        var list: std.ArrayList(Stretch) = .empty;
        for (cuts.items) |first| {
            if (first > 0x10ffff) break;
            var name: std.ArrayList(u8) = .empty;
            for (regexes) |regex| if (regex == .class) {
                const inside = for (regex.class) |range| {
                    if (range.first <= first and first <= range.last) break true;
                } else false;
                try name.append(arena, if (inside) '1' else '0');
            };
            const slot = try seen.getOrPut(arena, name.items);
            try list.append(arena, .{ .first = first, .symbol = slot.index });
        }
        return .{ list.items, seen.count() };
    }

    pub fn symbolOf(self: *const Language, char: u21) usize {
        var symbol: usize = 0;
        for (self.stretches) |stretch| {
            if (stretch.first > char) break;
            symbol = stretch.symbol;
        }
        return symbol;
    }

    pub fn has(self: *const Language, text: []const usize) bool {
        return self.texts[self.indexOf(text)];
    }

    /// Whether some text of `min` to `max` symbols begins so and goes on with writable symbols only.
    pub fn begins(self: *const Language, text: []const usize, min: usize, max: usize, writable: []const bool) bool {
        for (text.len..self.depth + 1) |length| {
            if (length < min or length > max) continue;
            const rest = power(self.symbols, length - text.len);
            const first = (self.indexOf(text) - self.offsets[text.len]) * rest;
            next: for (first..first + rest) |value| {
                if (!self.texts[self.offsets[length] + value]) continue;
                var digits = value;
                for (0..length - text.len) |_| {
                    if (!writable[digits % self.symbols]) continue :next;
                    digits /= self.symbols;
                }
                return true;
            }
        }
        return false;
    }

    /// Whether some text begins so and is none of `known`, which begin so, too. `sizes`: how many characters can be written of each symbol.
    pub fn beginsNew(self: *const Language, text: []const usize, sizes: []const usize, known: []const []const usize) bool {
        for (text.len..self.depth + 1) |length| {
            const rest = power(self.symbols, length - text.len);
            const first = (self.indexOf(text) - self.offsets[text.len]) * rest;
            for (first..first + rest) |value| {
                if (!self.texts[self.offsets[length] + value]) continue;
                var count: usize = 1;
                var digits = value;
                for (0..length - text.len) |_| {
                    count = @min(count *| sizes[digits % self.symbols], 1 << 20);
                    digits /= self.symbols;
                }
                for (known) |other| if (other.len == length and self.indexOf(other) == self.offsets[length] + value) {
                    count -|= 1;
                };
                if (count > 0) return true;
            }
        }
        return false;
    }

    fn indexOf(self: *const Language, text: []const usize) usize {
        var value: usize = 0;
        for (text) |symbol| value = value * self.symbols + symbol;
        return self.offsets[text.len] + value;
    }

    fn setOf(self: *const Language, regex: ir.Regex, sets: []const []bool) ![]bool {
        const set = try self.arena.alloc(bool, self.offsets[self.depth + 1]);
        @memset(set, false);
        switch (regex) {
            .class => |ranges| if (self.depth > 0) for (ranges) |range| for (self.stretches) |stretch| {
                if (range.first <= stretch.first and stretch.first <= range.last) set[self.offsets[1] + stretch.symbol] = true;
            },
            .concat => |items| {
                set[0] = true;
                for (items) |item| @memcpy(set, try self.joined(set, sets[item]));
            },
            .@"union" => |items| for (items) |item| for (set, sets[item]) |*a, b| {
                a.* = a.* or b;
            },
            .intersection => |items| {
                @memset(set, true);
                for (items) |item| for (set, sets[item]) |*a, b| {
                    a.* = a.* and b;
                };
            },
            .complement => |item| for (set, sets[item]) |*a, b| {
                a.* = !b;
            },
            .repeat => |repeat| {
                const times = try self.arena.dupe(bool, set);
                times[0] = true;
                var count: usize = 0;
                while (count <= repeat.max) : (count += 1) {
                    if (count >= repeat.min) for (set, times) |*a, b| {
                        a.* = a.* or b;
                    };
                    const more = try self.joined(times, sets[repeat.item]);
                    // More of the same changes nothing once it is all or nothing.
                    if (std.mem.eql(bool, times, more)) {
                        if (repeat.min > count and repeat.min <= repeat.max) for (set, times) |*a, b| {
                            a.* = a.* or b;
                        };
                        break;
                    }
                    @memcpy(times, more);
                }
            },
        }
        return set;
    }

    /// Every text that is one of the first and then one of the second.
    fn joined(self: *const Language, first: []const bool, second: []const bool) ![]bool {
        const set = try self.arena.alloc(bool, first.len);
        @memset(set, false);
        for (0..self.depth + 1) |length| for (0..self.offsets[length + 1] - self.offsets[length]) |value| {
            for (0..length + 1) |at| {
                const rest = power(self.symbols, length - at);
                if (!first[self.offsets[at] + value / rest] or !second[self.offsets[length - at] + value % rest]) continue;
                set[self.offsets[length] + value] = true;
                break;
            }
        };
        return set;
    }

    fn power(base: usize, exponent: usize) usize {
        var result: usize = 1;
        for (0..exponent) |_| result *= base;
        return result;
    }
};

/// Random regexes over a few classes, small enough for `Language`.
pub const RegexMaker = struct {
    arena: Allocator,
    random: std.Random,
    /// Classes that are made of these.
    ranges: []const ir.Regex.Range,
    list: std.ArrayList(ir.Regex) = .empty,

    /// Appends a random regex and its parts to the list, and tells its index.
    pub fn make(self: *RegexMaker, size: usize) !u32 {
        const start = self.list.items.len;
        for (0..size) |index| {
            const known = self.list.items.len - start;
            const choice = if (known < 2) 0 else self.random.uintLessThan(u8, 12);
            _ = index;
            try self.list.append(self.arena, switch (choice) {
                0, 1 => .{ .class = try self.class() },
                2, 3, 4 => .{ .concat = try self.parts(start, self.random.uintLessThan(usize, 4)) },
                5, 6 => .{ .@"union" = try self.parts(start, self.random.uintLessThan(usize, 4)) },
                7 => .{ .intersection = try self.parts(start, 1 + self.random.uintLessThan(usize, 2)) },
                8 => .{ .complement = self.part(start) },
                else => repeat: {
                    const min = self.random.uintLessThan(u32, 3);
                    const max = if (self.random.boolean()) none else self.random.uintLessThan(u32, 4);
                    break :repeat .{ .repeat = .{ .item = self.part(start), .min = min, .max = max } };
                },
            });
        }
        return @intCast(self.list.items.len - 1);
    }

    fn class(self: *RegexMaker) ![]const ir.Regex.Range {
        var chosen: std.ArrayList(ir.Regex.Range) = .empty;
        for (self.ranges) |range| if (self.random.uintLessThan(u8, 3) == 0) try chosen.append(self.arena, range);
        return chosen.items;
    }

    fn parts(self: *RegexMaker, start: usize, count: usize) ![]const u32 {
        const list = try self.arena.alloc(u32, count);
        for (list) |*item| item.* = self.part(start);
        return list;
    }

    /// Rather one of the last.
    fn part(self: *RegexMaker, start: usize) u32 {
        const known = self.list.items.len - start;
        const back = @min(self.random.uintLessThan(usize, known), self.random.uintLessThan(usize, known));
        return @intCast(self.list.items.len - 1 - back);
    }
};
