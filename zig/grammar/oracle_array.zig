//! The slow truth about arrays: every item may be any of its options, and all ways to go on are tried.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");
const Oracle = @import("oracle.zig").Oracle;
const none = ir.none;
const inBounds = Oracle.inBounds;
const bit = Oracle.bit;
const Found = Oracle.Found;
const ReadKey = Oracle.ReadKey;
const contains = Oracle.contains;

/// Counters of an array or object, as they are.
pub const Counted = [4]u8;

/// An array after some of its items.
pub const Progress = struct {
    at: usize = 0,
    counted: Counted = @splat(0),
    /// What its items are, by value; only where they have to differ.
    seen: []const []const u8 = &.{},

    fn eql(a: Progress, b: Progress) bool {
        if (a.at != b.at or !std.meta.eql(a.counted, b.counted) or a.seen.len != b.seen.len) return false;
        for (a.seen, b.seen) |left, right| if (!std.mem.eql(u8, left, right)) return false;
        return true;
    }
};

pub fn arrayAt(self: *Oracle, of: ir.Array, start: usize, style: ir.Style) Found {
    if (self.text[start] != '[') return .{};
    var found: Found = .{};
    var states: std.ArrayList(Progress) = .empty;
    states.append(self.arena, .{ .at = start + 1 }) catch return .{};
    var count: usize = 0;
    while (states.items.len > 0) : (count += 1) {
        var next: std.ArrayList(Progress) = .empty;
        for (states.items) |state| {
            const here = self.skipSpace(bit(state.at), style);
            if (here & bit(self.text.len) != 0) found.open = true;
            if (closes(of, count, state)) found.ends |= self.after(here, ']');
            if (count >= of.items_max) continue;
            const before = if (count == 0) here else self.skipSpace(self.after(here, ','), style);
            for (of.options(count)) |option| {
                const counted = countOf(of.counters, state.counted, option.counts) orelse continue;
                if (of.unique) {
                    for (0..self.text.len + 1) |at| if (before & bit(at) != 0) {
                        const known: Progress = .{ .at = at, .counted = counted, .seen = state.seen };
                        if (self.differentItem(of, count + 1, option.value, known, style, &next)) found.open = true;
                    };
                    continue;
                }
                if (!self.finishable(of, count + 1, .{ .counted = counted })) continue;
                for (0..self.text.len + 1) |at| if (before & bit(at) != 0) {
                    const part = self.valueAt(option.value, at, style);
                    if (part.open) found.open = true;
                    for (0..self.text.len + 1) |end| if (part.ends & bit(end) != 0) {
                        addProgress(self.arena, &next, .{ .at = end, .counted = counted });
                    };
                };
            }
        }
        states = next;
    }
    return found;
}

pub fn addProgress(arena: Allocator, list: *std.ArrayList(Progress), state: Progress) void {
    for (list.items) |known| if (known.eql(state)) return;
    list.append(arena, state) catch return;
}

/// An item unlike those before it, from `known.at` on: adds what comes after its ends; whether it can go on where the text runs out.
pub fn differentItem(self: *Oracle, of: ir.Array, count: usize, value: u32, known: Progress, style: ir.Style, next: *std.ArrayList(Progress)) bool {
    const part = self.valueAt(value, known.at, style);
    for (known.at..self.text.len + 1) |end| if (part.ends & bit(end) != 0) {
        const more = self.withItem(known, self.keyOf(known.at, end)) orelse continue;
        if (!self.finishable(of, count, more)) continue;
        var after_item = more;
        after_item.at = end;
        addProgress(self.arena, next, after_item);
    };
    if (!part.open) return false;
    for (self.source.values[value].cases) |case| switch (case) {
        .string => |string| if (string.among == null) {
            if (self.freshString(of, count, string, known, style)) return true;
            continue;
        },
        else => {},
    };
    for (self.domainOf(value).keys) |key| {
        if (!self.begins_with(value, known.at, key, style)) continue;
        const more = self.withItem(known, key) orelse continue;
        if (self.finishable(of, count, more)) return true;
    }
    return false;
}

pub fn withItem(self: *const Oracle, known: Progress, key: []const u8) ?Progress {
    if (contains(known.seen, key)) return null;
    var more = known;
    more.seen = self.with(known.seen, key);
    return more;
}

/// Whether a free string that begins so can become one that was not there: one of two characters more always is.
pub fn freshString(self: *Oracle, of: ir.Array, count: usize, string: ir.String, known: Progress, style: ir.Style) bool {
    if (known.at < self.text.len and self.text[known.at] != '"') return false;
    if (known.at < self.text.len and !self.stringAt(known.at, style, null, string.length_min, string.length_max).open) return false;
    const begun: ReadKey = if (known.at == self.text.len) .{ .text = "" } else self.readString(known.at, style) orelse return false;
    const length = std.unicode.utf8CountCodepoints(begun.text) catch return false;
    if (begun.begun != null and length + 2 > string.length_max) {
        if (known.seen.len > 0) self.unsure = true;
        return self.finishable(of, count, self.withItem(known, "\x01") orelse return false);
    }
    if (string.length_max == none or length + 2 <= string.length_max) {
        const key = self.arena.print("\x01{d}", .{known.seen.len}) catch return false;
        return self.finishable(of, count, self.withItem(known, key) orelse return false);
    }
    for (0x20..0x80) |byte| {
        const end: []const u8 = if (byte == 0x7f) "" else &.{@intCast(byte)};
        if (length + end.len > string.length_max or length + end.len < string.length_min) continue;
        const key = std.mem.concat(self.arena, u8, &.{ "\"", begun.text, end }) catch return false;
        const more = self.withItem(known, key) orelse continue;
        if (self.finishable(of, count, more)) return true;
    }
    return false;
}

/// A string as far as it goes, whatever its spelling.
pub fn readString(self: *Oracle, start: usize, style: ir.Style) ?ReadKey {
    var text: std.ArrayList(u8) = .empty;
    var at = start + 1;
    while (at < self.text.len) switch (self.character(at, style, false, null)) {
        .no => return null,
        .begun => return .{ .text = text.items, .begun = at },
        .whole => |length| {
            var buffer: [4]u8 = undefined;
            const char = self.decode(at, length) orelse return null;
            text.appendSlice(self.arena, buffer[0 .. std.unicode.utf8Encode(char, &buffer) catch return null]) catch return null;
            at += length;
        },
    };
    return .{ .text = text.items };
}

/// Whether a value of this key, in some spelling, begins with the rest of the text.
pub fn begins_with(self: *Oracle, value: u32, at: usize, key: []const u8, style: ir.Style) bool {
    if (at == self.text.len) return true;
    for (self.source.values[value].cases) |case| {
        const only: ir.Case = switch (case) {
            .null, .true, .false => if (std.mem.eql(u8, @tagName(case), key)) case else continue,
            .string => if (key[0] == '"') .{ .string = .{ .among = self.arena.dupe([]const u8, &.{key[1..]}) catch return false } } else continue,
            .number => if (key[0] == '#') .{ .number = .{ .integer = true, .low = .{ .decimal = key[1..], .exclusive = false }, .high = .{ .decimal = key[1..], .exclusive = false } } } else continue,
            else => continue,
        };
        if (self.caseAt(only, at, style).open) return true;
    }
    return false;
}

pub const Domain = struct { keys: []const []const u8, others: bool };

/// The values of a place, if they are few, and whether there are others.
pub fn domainOf(self: *Oracle, value: u32) Domain {
    var keys: std.ArrayList([]const u8) = .empty;
    var others = false;
    for (self.source.values[value].cases) |case| switch (case) {
        .null, .true, .false => add(self, &keys, @tagName(case)),
        .string => |string| if (string.among) |texts| {
            for (texts) |text| if (self.canSpell(text)) add(self, &keys, std.mem.concat(self.arena, u8, &.{ "\"", text }) catch "");
        } else if (string.length_max == 0) {
            if (string.length_min == 0) add(self, &keys, "\"");
        } else if (string.length_min <= string.length_max) {
            others = true;
        },
        .number => |number| {
            var candidate: i64 = -30;
            while (candidate <= 130) : (candidate += 1) if (inBounds(number, candidate)) {
                add(self, &keys, self.arena.print("#{d}", .{candidate}) catch "");
            };
        },
        .array, .object => {},
    };
    return .{ .keys = keys.items, .others = others };
}

fn add(self: *Oracle, keys: *std.ArrayList([]const u8), key: []const u8) void {
    keys.append(self.arena, key) catch |err| switch (err) {
        error.OutOfMemory => @panic("out of memory"),
    };
}

/// The value written there.
pub fn keyOf(self: *Oracle, start: usize, end: usize) []const u8 {
    var text: [64]u8 = undefined;
    for (self.text[start..end], text[0 .. end - start]) |symbol, *byte| byte.* = @intCast(symbol);
    const written = text[0 .. end - start];
    if (written[0] == '"') {
        const decoded = std.json.parseFromSliceLeaky([]const u8, self.arena, written, .{}) catch return "?";
        return std.mem.concat(self.arena, u8, &.{ "\"", decoded }) catch "?";
    }
    if (std.ascii.isAlphabetic(written[0])) return self.arena.dupe(u8, written) catch "?";
    const number = std.fmt.parseFloat(f64, written) catch return "?";
    return self.arena.print("#{d}", .{@as(i64, @round(number))}) catch "?";
}

/// All ways to add items are tried, of values that were not there.
pub fn finishableUnique(self: *Oracle, of: ir.Array, count: usize, start: Progress) bool {
    // After the prefix and the least number of items, more are good for nothing but counters.
    var most = @max(count, of.items_min, of.prefix.len) + 1;
    for (of.counters, start.counted[0..of.counters.len]) |counter, counted| most += counter.min -| counted;
    return self.finishableWithin(of, count, start, most);
}

/// With up to so many items.
pub fn finishableWithin(self: *Oracle, of: ir.Array, count: usize, start: Progress, most: usize) bool {
    if (closes(of, count, start)) return true;
    if (count >= of.items_max or count > most or of.items_min > 200) return false;
    const sorted = self.arena.dupe([]const u8, start.seen) catch return false;
    std.mem.sort([]const u8, sorted, {}, struct {
        fn lessThan(_: void, a: []const u8, b: []const u8) bool {
            return std.mem.lessThan(u8, a, b);
        }
    }.lessThan);
    var id: std.ArrayList(u8) = .empty;
    id.print(self.arena, "{*} {*} {*} {d} {d} {d} {d} {any}", .{ of.prefix.ptr, of.rest.ptr, of.counters.ptr, of.items_min, of.items_max, count, most, start.counted }) catch return false;
    for (sorted) |key| id.print(self.arena, " {d}:{s}", .{ key.len, key }) catch return false;
    if (self.finishes.get(id.items)) |known| return known;
    const result = self.tryItems(of, count, start, most);
    self.finishes.put(self.arena, id.items, result) catch return false;
    return result;
}

pub fn tryItems(self: *Oracle, of: ir.Array, count: usize, start: Progress, most: usize) bool {
    for (of.options(count)) |option| if (self.productive_values[option.value]) {
        var next = start;
        next.counted = countOf(of.counters, start.counted, option.counts) orelse continue;
        const domain = self.domainOf(option.value);
        if (domain.others) {
            const key = self.arena.print("\x01{d}", .{start.seen.len}) catch return false;
            if (self.finishableWithin(of, count + 1, self.withItem(next, key) orelse continue, most)) return true;
            continue;
        }
        for (domain.keys) |key| if (self.finishableWithin(of, count + 1, self.withItem(next, key) orelse continue, most)) return true;
    };
    return false;
}

pub fn closes(of: ir.Array, count: usize, state: Progress) bool {
    if (count < of.items_min) return false;
    return isMet(of.counters, state.counted);
}

pub fn isMet(counters: []const ir.Counter, counted: Counted) bool {
    for (counters, counted[0..counters.len]) |counter, number| if (number < counter.min) return false;
    return true;
}

/// Null where a counter gets more than it may.
pub fn countOf(counters: []const ir.Counter, counted: Counted, counts: u32) ?Counted {
    var result = counted;
    for (counters, 0..) |counter, index| if (counts >> @intCast(index) & 1 != 0) {
        result[index] +|= 1;
        if (result[index] > counter.max) return null;
    };
    return result;
}

/// Whether items can be added so that the array may be closed: all ways are tried.
pub fn finishable(self: *Oracle, of: ir.Array, count: usize, start: Progress) bool {
    if (of.unique) return self.finishableUnique(of, count, start);
    var states: std.ArrayList(Progress) = .empty;
    states.append(self.arena, .{ .counted = start.counted }) catch return false;
    // After the prefix and the least number of items, more are good for nothing but counters.
    var most = @max(of.items_min, of.prefix.len) + 1;
    for (of.counters) |counter| most += counter.min;
    if (of.items_min > 200) return false;
    var at = count;
    while (states.items.len > 0) : (at += 1) {
        for (states.items) |state| if (closes(of, at, state)) return true;
        if (at >= of.items_max or at > count + most) return false;
        var next: std.ArrayList(Progress) = .empty;
        for (states.items) |state| for (of.options(at)) |option| if (self.productive_values[option.value]) {
            addProgress(self.arena, &next, .{ .counted = countOf(of.counters, state.counted, option.counts) orelse continue });
        };
        states = next;
    }
    return false;
}
