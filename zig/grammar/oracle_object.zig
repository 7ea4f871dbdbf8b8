//! The slow truth about objects: every key that could stand there, in every spelling, and all ways to go on.
const std = @import("std");
const ir = @import("ir.zig");
const Oracle = @import("oracle.zig").Oracle;
const Language = @import("oracle_regex.zig").Language;
const none = ir.none;
const spell = Oracle.spell;
const either = Oracle.either;
const bit = Oracle.bit;
const Found = Oracle.Found;
const Writing = Oracle.Writing;
const Counted = Oracle.Counted;
const isMet = Oracle.isMet;
const countOf = Oracle.countOf;

pub const Place = enum { first, after_member };

/// The rest of an object, with the keys so far and what they counted.
pub fn members(self: *Oracle, object: ir.Object, start: usize, style: ir.Style, keys: []const []const u8, counted: Counted, place: Place) Found {
    var found: Found = .{};
    const here = self.skipSpace(bit(start), style);
    if (here & bit(self.text.len) != 0) found.open = true;
    if (isComplete(object, keys, counted)) found.ends |= self.after(here, '}');
    const before = if (place == .first) here else self.skipSpace(self.after(here, ','), style);
    for (0..self.text.len + 1) |at| if (before & bit(at) != 0) {
        if (at == self.text.len) {
            // After a comma there has to be a next key.
            if (place == .after_member) found.open = found.open or self.anyKey(object, keys, counted);
            continue;
        }
        if (self.text[at] != '"') continue;
        found = either(found, self.member(object, at, style, keys, counted));
    };
    return found;
}

pub fn member(self: *Oracle, object: ir.Object, start: usize, style: ir.Style, keys: []const []const u8, counted: Counted) Found {
    var found: Found = .{};
    for (object.properties, 0..) |property, index| {
        if (!self.canSpell(property.key) or !mayCome(object, keys, index)) continue;
        const more = self.with(keys, property.key);
        for (property.options) |option| {
            const next = countOf(object.counters, counted, option.counts) orelse continue;
            if (!self.isPossible(option) or !self.objectFinishable(object, more, next)) continue;
            const key = self.stringAt(start, style, property.key, 0, none);
            if (key.open) found.open = true;
            for (0..self.text.len + 1) |end| if (key.ends & bit(end) != 0) {
                found = either(found, self.memberValue(object, end, style, more, next, option.value));
            };
        }
    }
    if (!extrasMayCome(object, keys)) return found;
    // A key that is not declared: read whatever stands there, in one spelling or in any.
    const key = self.readKey(start, style) orelse return found;
    for (object.others) |class| for (class.options) |option| {
        const next = countOf(object.counters, counted, option.counts) orelse continue;
        if (!self.isPossible(option) or !self.keyFits(object, class.keys, key, keys, style)) continue;
        if (key.end == null) {
            if (self.objectFinishable(object, self.with(keys, new_key), next)) found.open = true;
            continue;
        }
        const declared = for (object.properties) |property| {
            if (std.mem.eql(u8, property.key, key.text)) break true;
        } else false;
        const more = self.with(keys, key.text);
        if (declared or contains(keys, key.text) or !self.objectFinishable(object, more, next)) continue;
        found = either(found, self.memberValue(object, key.end.?, style, more, next, option.value));
    };
    return found;
}

/// Whether a key as far as it was read is of a class, or can become one that is not known yet.
pub fn keyFits(self: *Oracle, object: ir.Object, regex: u32, key: ReadKey, keys: []const []const u8, style: ir.Style) bool {
    if (regex == none) return true;
    const language = &(self.languages[regex] orelse return false);
    var buffer: [64]usize = undefined;
    const symbols = symbolsOf(language, key.text, &buffer);
    if (symbols.len + 3 > language.depth) {
        self.unsure = true;
        return false;
    }
    if (key.end != null) return language.has(symbols);
    const how: Writing = if (style.spelling == .spec) .spec else .canonical;
    var known: std.ArrayList([]const usize) = .empty;
    for (keys) |seen| self.addKnown(&known, language, key.text, seen);
    for (object.properties) |property| if (!contains(keys, property.key)) self.addKnown(&known, language, key.text, property.key);
    if (key.begun) |at| {
        var next: [16]bool = @splat(false);
        self.completions(language, at, how, &next);
        // Which of the known keys the character could still lead to is not looked into.
        if (known.items.len > 0) self.unsure = true;
        for (next[0..language.symbols], 0..) |is_next, symbol| {
            buffer[symbols.len] = symbol;
            if (is_next and self.begins(regex, buffer[0 .. symbols.len + 1], 0, none, how)) return true;
        }
        return false;
    }
    var sizes: [16]usize = @splat(0);
    for (0..128) |char| if (self.writable[char] or char < 0x20) {
        sizes[language.symbolOf(@intCast(char))] += 1;
    };
    for (self.characters.keys()) |char| sizes[language.symbolOf(char)] += 1;
    // With escapes all can be written beyond ASCII.
    if (how == .spec) for (language.stretches, 1..) |stretch, index| {
        const end = if (index < language.stretches.len) language.stretches[index].first else 0x110000;
        if (stretch.first == 0xd800) continue;
        sizes[stretch.symbol] += end -| @max(stretch.first, 0x80);
    };
    return language.beginsNew(symbols, sizes[0..language.symbols], known.items);
}

pub fn addKnown(self: *const Oracle, known: *std.ArrayList([]const usize), language: *const Language, start: []const u8, key: []const u8) void {
    if (!std.mem.startsWith(u8, key, start) or !self.canSpell(key)) return;
    const buffer = self.arena.alloc(usize, 64) catch return;
    known.append(self.arena, symbolsOf(language, key, buffer)) catch return;
}

pub fn symbolsOf(language: *const Language, text: []const u8, buffer: []usize) []usize {
    var count: usize = 0;
    var view = std.unicode.Utf8View.initUnchecked(text).iterator();
    while (view.nextCodepoint()) |char| : (count += 1) buffer[count] = language.symbolOf(char);
    return buffer[0..count];
}

/// Stands for a key that is unlike all others.
const new_key = "\x00";

pub fn with(self: *const Oracle, keys: []const []const u8, key: []const u8) []const []const u8 {
    return std.mem.concat(self.arena, []const u8, &.{ keys, &.{key} }) catch &.{};
}

pub fn memberValue(self: *Oracle, object: ir.Object, key_end: usize, style: ir.Style, keys: []const []const u8, counted: Counted, item: u32) Found {
    var found: Found = .{};
    const colon = self.skipSpace(bit(key_end), style);
    if (colon & bit(self.text.len) != 0) found.open = true;
    const before = self.skipSpace(self.after(colon, ':'), style);
    for (0..self.text.len + 1) |at| if (before & bit(at) != 0) {
        const part = self.valueAt(item, at, style);
        if (part.open) found.open = true;
        for (0..self.text.len + 1) |end| if (part.ends & bit(end) != 0) {
            found = either(found, self.members(object, end, style, keys, counted, .after_member));
        };
    };
    return found;
}

pub fn isComplete(object: ir.Object, keys: []const []const u8, counted: Counted) bool {
    if (keys.len < object.members_min or keys.len > object.members_max or !isMet(object.counters, counted)) return false;
    for (object.properties) |property| if (property.required and !contains(keys, property.key)) return false;
    return true;
}

/// Whether members can be added so that the object may be closed: all ways are tried.
pub fn objectFinishable(self: *Oracle, object: ir.Object, keys: []const []const u8, counted: Counted) bool {
    if (isComplete(object, keys, counted)) return true;
    if (keys.len >= object.members_max) return false;
    // What a text of this length may have of others already, and what has to come.
    var most = object.members_min + object.properties.len + 10;
    for (object.counters) |counter| most += counter.min;
    var id: std.ArrayList(u8) = .empty;
    var extras: usize = keys.len;
    id.print(self.arena, "{*} {*} {*} {any} ", .{ object.properties.ptr, object.others.ptr, object.counters.ptr, counted }) catch return false;
    for (object.properties) |property| {
        id.append(self.arena, if (contains(keys, property.key)) '1' else '0') catch return false;
        extras -= @intFromBool(contains(keys, property.key));
    }
    id.print(self.arena, " {d} {d} {d}", .{ extras, object.members_min, object.members_max }) catch return false;
    if (self.finishes.get(id.items)) |known| return known;
    const result = self.tryMembers(object, keys, counted, extras > most);
    self.finishes.put(self.arena, id.items, result) catch return false;
    return result;
}

pub fn tryMembers(self: *Oracle, object: ir.Object, keys: []const []const u8, counted: Counted, enough: bool) bool {
    for (object.properties, 0..) |property, index| {
        if (!self.canSpell(property.key) or !mayCome(object, keys, index)) continue;
        for (property.options) |option| {
            const next = countOf(object.counters, counted, option.counts) orelse continue;
            if (self.isPossible(option) and self.objectFinishable(object, self.with(keys, property.key), next)) return true;
        }
    }
    // One more of the others is good for nothing then.
    if (enough or !extrasMayCome(object, keys)) return false;
    for (object.others) |class| for (class.options) |option| {
        const next = countOf(object.counters, counted, option.counts) orelse continue;
        if (self.isPossible(option) and self.objectFinishable(object, self.with(keys, new_key), next)) return true;
    };
    return false;
}

pub fn anyKey(self: *Oracle, object: ir.Object, keys: []const []const u8, counted: Counted) bool {
    if (keys.len >= object.members_max) return false;
    for (object.properties, 0..) |property, index| if (self.canSpell(property.key) and mayCome(object, keys, index)) for (property.options) |option| {
        const next = countOf(object.counters, counted, option.counts) orelse continue;
        if (self.isPossible(option) and self.objectFinishable(object, self.with(keys, property.key), next)) return true;
    };
    if (!extrasMayCome(object, keys)) return false;
    for (object.others) |class| for (class.options) |option| {
        const next = countOf(object.counters, counted, option.counts) orelse continue;
        if (self.isPossible(option) and self.objectFinishable(object, self.with(keys, new_key), next)) return true;
    };
    return false;
}

/// A key, decoded as far as it goes; `begun`: where a character begins that is cut off.
pub const ReadKey = struct { text: []const u8, end: ?usize = null, begun: ?usize = null };

pub fn readKey(self: *Oracle, start: usize, style: ir.Style) ?ReadKey {
    var text: std.ArrayList(u8) = .empty;
    var at = start + 1;
    while (at < self.text.len) {
        if (self.text[at] == '"') return .{ .text = text.items, .end = at + 1 };
        // Of a character's spellings only the one is allowed, unless all are.
        const char = self.character(at, style, false, null);
        switch (char) {
            .no => return null,
            .begun => {
                if (style.spelling == .canonical and self.text[at] == '\\' and !self.fixedEscape(at)) return null;
                return .{ .text = text.items, .begun = at };
            },
            .whole => |length| {
                var spelling: [14]u8 = undefined;
                spelling[0] = '"';
                for (self.text[at..][0..length], spelling[1..][0..length]) |symbol, *byte| byte.* = @intCast(symbol);
                spelling[length + 1] = '"';
                const decoded = std.json.parseFromSliceLeaky([]const u8, self.arena, spelling[0 .. length + 2], .{}) catch return null;
                if (style.spelling == .canonical) {
                    var spellings: [8][]const u8 = undefined;
                    var buffer: [64]u8 = undefined;
                    const only = spell(decoded, style, &spellings, &buffer);
                    if (!std.mem.eql(u8, only[0], spelling[1 .. length + 1])) return null;
                }
                text.appendSlice(self.arena, decoded) catch return null;
                at += length;
            },
        }
    }
    return .{ .text = text.items };
}

/// Whether an escape begun at the end of the text can become the one spelling of some character.
pub fn fixedEscape(self: *const Oracle, at: usize) bool {
    var point: u8 = 0;
    while (point < 0x80) : (point += 1) {
        var spellings: [8][]const u8 = undefined;
        var buffer: [64]u8 = undefined;
        const style: ir.Style = .{ .free_space = false, .whitespace_max = 0, .spelling = .canonical };
        const only = spell(&.{point}, style, &spellings, &buffer)[0];
        if (self.spelled(only, at, false) == .begun) return true;
    }
    return false;
}

pub fn mayCome(object: ir.Object, keys: []const []const u8, index: usize) bool {
    if (contains(keys, object.properties[index].key)) return false;
    if (!object.ordered) return true;
    for (object.properties, 0..) |property, at| {
        const seen = contains(keys, property.key);
        if (at > index and seen) return false;
        if (at < index and property.required and !seen) return false;
    }
    // Other keys come last.
    for (keys) |key| {
        const declared = for (object.properties) |property| {
            if (std.mem.eql(u8, property.key, key)) break true;
        } else false;
        if (!declared) return false;
    }
    return true;
}

pub fn extrasMayCome(object: ir.Object, keys: []const []const u8) bool {
    if (!object.ordered) return true;
    for (object.properties) |property| if (property.required and !contains(keys, property.key)) return false;
    return true;
}

pub fn contains(keys: []const []const u8, key: []const u8) bool {
    for (keys) |known| if (std.mem.eql(u8, known, key)) return true;
    return false;
}
