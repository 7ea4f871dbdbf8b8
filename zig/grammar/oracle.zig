//! The slow truth, for tests: whether some completion of an output exists, by recursive descent over the whole output each time. It reads
//! the IR's own data and shares no code with the engine: no states, no automata, no costs. Small inputs only.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");
const Language = @import("oracle_regex.zig").Language;

const oracle_array = @import("oracle_array.zig");
const oracle_object = @import("oracle_object.zig");
const oracle_record = @import("oracle_record.zig");
const none = ir.none;

/// Bytes, and token ids from 256 on.
pub const Symbol = u32;

pub const Oracle = struct {
    arena: Allocator,
    source: ir.Ir,
    /// What the tokens write that are text.
    tokens: []const []const u8,
    /// Bytes that are tokens.
    writable: [256]bool = @splat(false),
    /// Any spelling of a string will do.
    spec: bool,
    productive_nodes: []bool,
    productive_values: []bool,
    /// (values, their cases)
    productive_cases: [][]bool,
    text: []const Symbol = &.{},
    /// (values × places) what was found in this text already: with many options the same would be read again and again.
    known: []?Found = &.{},
    /// By regex; null where it is not used.
    languages: []?Language,
    /// Some language may have texts too long to be known without which it has others that are.
    lacks_texts: bool = false,
    /// Characters beyond ASCII that tokens write one after another.
    characters: std.AutoArrayHashMapUnmanaged(u21, void) = .empty,
    /// A text has come so near to the longest ones of a language that what is said about it may be wrong.
    unsure: bool = false,
    /// Whether objects can be finished, by what they are and what is in them.
    finishes: std.StringHashMapUnmanaged(bool) = .empty,

    /// Where a part may end (bit p: after p symbols), and whether the text ran out inside it while it could still be completed.
    pub const Found = struct { ends: u64 = 0, open: bool = false };

    pub fn create(arena: Allocator, source: ir.Ir, tokens: []const []const u8, spec: bool) !Oracle {
        var self: Oracle = .{
            .arena = arena,
            .source = source,
            .tokens = tokens,
            .spec = spec,
            .productive_nodes = try arena.alloc(bool, source.nodes.len),
            .productive_values = try arena.alloc(bool, source.values.len),
            .productive_cases = try arena.alloc([]bool, source.values.len),
            .known = try arena.alloc(?Found, source.values.len * 64),
            .languages = try arena.alloc(?Language, source.regexes.len),
        };
        for (source.values, self.productive_cases) |value, *cases| cases.* = try arena.alloc(bool, value.cases.len);
        @memset(self.languages, null);
        for (source.values) |value| for (value.cases) |case| if (case == .string and case.string.regex != none) try self.learn(case.string.regex, 7);
        for (source.values) |value| for (value.cases) |case| if (case == .object) for (case.object.others) |class| {
            if (class.keys != none) try self.learn(class.keys, 6);
        };
        for (source.nodes) |node| if (node == .regex) try self.learn(node.regex, 7);
        try self.findCharacters("");
        for (tokens) |token| if (token.len == 1) {
            self.writable[token[0]] = true;
        };
        @memset(self.productive_nodes, false);
        @memset(self.productive_values, false);
        for (0..source.values.len + source.nodes.len + 1) |_| {
            for (source.values, self.productive_values, self.productive_cases) |value, *known, cases| {
                for (value.cases, cases) |case, *productive| productive.* = self.caseProductive(case);
                known.* = std.mem.findScalar(bool, cases, true) != null;
            }
            self.finishes.clearRetainingCapacity();
            for (source.nodes, self.productive_nodes) |node, *known| known.* = self.nodeProductive(node);
        }
        return self;
    }

    pub fn viable(self: *Oracle, text: []const Symbol) bool {
        std.debug.assert(text.len < 64);
        const found = self.read(text);
        return found.open or self.endsHere(found);
    }

    pub fn accepts(self: *Oracle, text: []const Symbol) bool {
        return self.endsHere(self.read(text));
    }

    pub fn read(self: *Oracle, text: []const Symbol) Found {
        self.text = text;
        @memset(self.known, null);
        return self.nodeAt(self.source.root, 0);
    }

    pub fn endsHere(self: *const Oracle, found: Found) bool {
        return found.ends >> @intCast(self.text.len) & 1 != 0;
    }

    // What can be completed at all

    pub fn nodeProductive(self: *const Oracle, item: ir.Node) bool {
        return switch (item) {
            .bytes => |bytes| self.canWrite(bytes),
            .token => true,
            .texts => |texts| for (texts) |text| {
                if (self.canWrite(text)) break true;
            } else false,
            .record => |record| for (record.items) |part| {
                if (part.required and !self.productive_nodes[part.node]) break false;
            } else record.separator == none or self.productive_nodes[record.separator] or oracle_record.requiredOf(record.items) < 2,
            // Only tests of it with a control token beside use it.
            .any_token => true,
            .regex => |regex| self.begins(regex, &.{}, 0, none, .raw),
            .marker => |marker| marker.token != none or self.canWrite(marker.bytes),
            .sequence => |items| for (items) |child| {
                if (!self.productive_nodes[child]) break false;
            } else true,
            .choice => |items| for (items) |child| {
                if (self.productive_nodes[child]) break true;
            } else false,
            .repeat => |repeat| repeat.min == 0 or self.productive_nodes[repeat.item],
            .channel => |channel| self.productive_nodes[channel.item],
            .text => true,
            .json => |json| self.productive_values[json.value],
        };
    }

    pub fn caseProductive(self: *Oracle, case: ir.Case) bool {
        return switch (case) {
            .null, .true, .false => true,
            .number => |number| integersOf(number) > 0,
            .string => |string| if (string.among) |texts| for (texts) |text| {
                if (self.canSpell(text) and self.matches(string.regex, text)) break true;
            } else false else if (string.regex == none)
                string.length_min <= string.length_max
            else
                self.begins(string.regex, &.{}, string.length_min, string.length_max, self.writing()),
            .array => |array| self.finishable(array, 0, .{}),
            .object => |object| self.objectFinishable(object, &.{}, @splat(0)),
        };
    }

    /// An option can be chosen at all.
    pub fn isPossible(self: *const Oracle, option: ir.Option) bool {
        return self.productive_values[option.value];
    }

    /// Whether tokens write these bytes, one after another.
    pub fn canWrite(self: *const Oracle, bytes: []const u8) bool {
        var reached: u64 = bit(0);
        for (0..bytes.len) |at| if (reached & bit(at) != 0) for (self.tokens) |token| {
            if (std.mem.startsWith(u8, bytes[at..], token)) reached |= bit(at + token.len);
        };
        return reached & bit(bytes.len) != 0;
    }

    pub fn canSpell(self: *const Oracle, text: []const u8) bool {
        if (self.spec) return true;
        var start: usize = 0;
        for (text, 0..) |byte, at| if (byte < 0x80) {
            if (!self.canWrite(text[start..at])) return false;
            start = at + 1;
        };
        return self.canWrite(text[start..]);
    }

    // Regexes

    pub const Writing = enum { canonical, spec, raw };

    pub fn writing(self: *const Oracle) Writing {
        return if (self.spec) .spec else .canonical;
    }

    pub fn learn(self: *Oracle, regex: u32, deepest: usize) !void {
        if (self.languages[regex] != null) return;
        var depth = deepest;
        while (self.languages[regex] == null) : (depth -= 1) self.languages[regex] = try .create(self.arena, self.source.regexes, regex, depth);
        if (try Language.needs(self.arena, self.source.regexes, regex) > self.languages[regex].?.depth) self.lacks_texts = true;
    }

    pub fn matches(self: *const Oracle, regex: u32, text: []const u8) bool {
        if (regex == none) return true;
        const language = &(self.languages[regex] orelse return false);
        var symbols: [64]usize = undefined;
        var count: usize = 0;
        var view = std.unicode.Utf8View.initUnchecked(text).iterator();
        while (view.nextCodepoint()) |char| : (count += 1) symbols[count] = language.symbolOf(char);
        return language.has(symbols[0..count]);
    }

    pub fn begins(self: *const Oracle, regex: u32, text: []const usize, min: u32, max: u32, how: Writing) bool {
        const language = &(self.languages[regex] orelse return false);
        var writable: [16]bool = @splat(false);
        for (0..128) |char| {
            const raw = self.writable[char];
            const can = switch (how) {
                .raw => raw,
                .canonical => raw or char < 0x20,
                .spec => true,
            };
            if (can) writable[language.symbolOf(@intCast(char))] = true;
        }
        for (self.characters.keys()) |char| writable[language.symbolOf(char)] = true;
        if (how == .spec) for (language.stretches) |stretch| {
            if (stretch.first != 0xd800) writable[stretch.symbol] = true;
        };
        return language.begins(text, min, max, writable[0..language.symbols]);
    }

    /// Every character that a concatenation of tokens beyond ASCII is.
    pub fn findCharacters(self: *Oracle, begun: []const u8) !void {
        for (self.tokens) |token| {
            if (token.len == 0 or token[0] < 0x80 or begun.len + token.len > 4) continue;
            const text = try std.mem.concat(self.arena, u8, &.{ begun, token });
            if (oneCharacter(text)) |char| try self.characters.put(self.arena, char, {}) else try self.findCharacters(text);
        }
    }

    pub fn oneCharacter(text: []const u8) ?u21 {
        const length = std.unicode.utf8ByteSequenceLength(text[0]) catch return null;
        return if (length == text.len) std.unicode.utf8Decode(text) catch null else null;
    }

    /// From the first character of a text that matches: up to its closing quote, or to wherever raw text may end.
    pub fn matchAt(self: *Oracle, regex: u32, start: usize, min: u32, max: u32, how: Writing, style: ir.Style) Found {
        const language = &(self.languages[regex] orelse return .{});
        var found: Found = .{};
        var symbols: [65]usize = undefined;
        var count: usize = 0;
        var at = start;
        while (true) {
            if (count + 3 > language.depth) {
                self.unsure = true;
                return found;
            }
            const here = language.has(symbols[0..count]) and count >= min and count <= max;
            if (how == .raw and here) found.ends |= bit(at);
            if (at == self.text.len) {
                found.open = self.begins(regex, symbols[0..count], min, max, how);
                return found;
            }
            if (how != .raw and self.text[at] == '"') {
                if (here) found.ends |= bit(at + 1);
                return found;
            }
            const char: Character = if (how == .raw) self.rawCharacter(at) else self.character(at, style, false, null);
            switch (char) {
                .no => return found,
                .whole => |length| {
                    symbols[count] = language.symbolOf(self.decode(at, length) orelse return found);
                    count += 1;
                    at += length;
                    if (!self.begins(regex, symbols[0..count], min, max, how)) return found;
                },
                .begun => {
                    var next: [16]bool = @splat(false);
                    self.completions(language, at, how, &next);
                    for (next[0..language.symbols], 0..) |is_next, symbol| {
                        symbols[count] = symbol;
                        if (is_next and self.begins(regex, symbols[0 .. count + 1], min, max, how)) found.open = true;
                    }
                    return found;
                },
            }
        }
    }

    pub fn rawCharacter(self: *const Oracle, at: usize) Character {
        if (self.text[at] > 255) return .no;
        for (1..5) |length| {
            if (at + length > self.text.len) return if (self.finishesUtf8(at)) .begun else .no;
            if (self.wholeUtf8(at, at + length)) return .{ .whole = length };
        }
        return .no;
    }

    /// The code point written at a place by so many bytes.
    pub fn decode(self: *const Oracle, at: usize, length: usize) ?u21 {
        var spelling: [14]u8 = undefined;
        for (self.text[at..][0..length], spelling[1..][0..length]) |symbol, *byte| byte.* = @intCast(symbol);
        if (spelling[1] != '\\' or length == 1) return std.unicode.utf8Decode(spelling[1..][0..length]) catch null;
        spelling[0] = '"';
        spelling[length + 1] = '"';
        const decoded = std.json.parseFromSliceLeaky([]const u8, self.arena, spelling[0 .. length + 2], .{}) catch return null;
        return std.unicode.utf8Decode(decoded) catch null;
    }

    /// Symbols that the character begun at the end of the text can become.
    pub fn completions(self: *Oracle, language: *const Language, at: usize, how: Writing, out: *[16]bool) void {
        var bytes: [16]u8 = undefined;
        const begun = bytes[0 .. self.text.len - at];
        for (begun, self.text[at..]) |*byte, symbol| byte.* = @intCast(symbol);
        if (begun[0] != '\\') {
            var more: Oracle = self.*;
            more.characters = .empty;
            more.findCharacters(begun) catch return;
            for (more.characters.keys()) |char| out[language.symbolOf(char)] = true;
            return;
        }
        for ("\"\\/bfnrt", "\"\\/\x08\x0c\n\r\t") |letter, char| {
            if (letter == '/' and how != .spec) continue;
            if (begun.len == 1) out[language.symbolOf(char)] = true;
        }
        if (begun.len > 1 and begun[1] != 'u') return;
        const digits_end = @min(begun.len, 6);
        const high_count: u5 = @intCast(digits_end -| 2);
        const high = if (high_count == 0) 0 else std.fmt.parseInt(u32, begun[2..digits_end], 16) catch return;
        const shift: u5 = 4 * (4 - high_count);
        for ((high << shift)..((high + 1) << shift)) |value| {
            if (value < 0xd800 or value > 0xdfff) {
                if (begun.len <= 6 and (how == .spec or value < 0x20)) out[language.symbolOf(@intCast(value))] = true;
                continue;
            }
            if (value > 0xdbff or how != .spec) continue;
            const base = 0x10000 + ((value - 0xd800) << 10);
            const low_count: u5 = @intCast(begun.len -| 8);
            const low = if (low_count == 0) 0 else std.fmt.parseInt(u32, begun[8..], 16) catch return;
            const low_shift: u5 = 4 * (4 - low_count);
            const first = @max(0xdc00, low << low_shift);
            const last = @min(0xdfff, ((low + 1) << low_shift) - 1);
            if (first > last) continue;
            out[language.symbolOf(@intCast(base + first - 0xdc00))] = true;
            for (language.stretches) |stretch| {
                if (stretch.first >= base + first - 0xdc00 and stretch.first <= base + last - 0xdc00) out[stretch.symbol] = true;
            }
        }
    }

    // Nodes

    pub fn nodeAt(self: *Oracle, id: u32, start: usize) Found {
        var found: Found = .{};
        switch (self.source.nodes[id]) {
            .bytes => |bytes| found = self.literal(bytes, start),
            .token => |token| found = self.byId(token, start),
            .texts => |texts| for (texts) |text| {
                found = either(found, self.literal(text, start));
            },
            .record => |record| found = oracle_record.recordAt(self, record.items, record.separator, start),
            // Every byte stands for a token here, so it is right only where tokens are not counted.
            .any_token => |except| if (start == self.text.len) {
                found.open = true;
            } else {
                const symbol = self.text[start];
                if (symbol < 256 or std.mem.findScalar(u32, except, symbol - 256) == null) found.ends = bit(start + 1);
            },
            .regex => |regex| found = self.matchAt(regex, start, 0, none, .raw, .{ .free_space = false, .whitespace_max = 0, .spelling = .canonical }),
            .marker => |marker| {
                found = self.literal(marker.bytes, start);
                if (marker.bytes.len == 0) found = .{};
                if (marker.token != none) found = either(found, self.byId(marker.token, start));
            },
            .sequence => |items| {
                var here: u64 = bit(start);
                for (items, 0..) |item, index| {
                    var next: u64 = 0;
                    const rest = for (items[index + 1 ..]) |later| {
                        if (!self.productive_nodes[later]) break false;
                    } else true;
                    for (0..self.text.len + 1) |at| if (here & bit(at) != 0) {
                        const part = self.nodeAt(item, at);
                        next |= part.ends;
                        if (part.open and rest) found.open = true;
                    };
                    here = next;
                }
                found.ends = here;
            },
            .choice => |items| for (items) |item| {
                found = either(found, self.nodeAt(item, start));
            },
            .repeat => |repeat| {
                var here: u64 = bit(start);
                var count: usize = 0;
                while (here != 0 and count <= 2 * self.text.len + 3) : (count += 1) {
                    if (count >= repeat.min) found.ends |= here;
                    if (count >= repeat.max) break;
                    var next: u64 = 0;
                    for (0..self.text.len + 1) |at| if (here & bit(at) != 0) {
                        const part = self.nodeAt(repeat.item, at);
                        next |= part.ends;
                        // What is still required are more of the same item, which is open and so can be completed.
                        if (part.open) found.open = true;
                    };
                    here = next;
                }
            },
            .channel => |channel| return self.nodeAt(channel.item, start),
            .text => |text| {
                var at = start;
                while (true) : (at += 1) {
                    if (self.wholeUtf8(start, at)) found.ends |= bit(at);
                    if (at == self.text.len) {
                        found.open = self.finishesUtf8(start);
                        break;
                    }
                    if (self.text[at] > 255) break;
                    const terminated = for (text.until) |marker| {
                        if (marker.bytes.len > 0 and at + 1 >= start + marker.bytes.len and self.equal(marker.bytes, at + 1 - marker.bytes.len)) break true;
                    } else false;
                    if (terminated) break;
                }
            },
            .json => |json| {
                var seen = self.valueAt(json.value, start, json.style);
                // Whitespace counts over the whole value.
                for (start..self.text.len + 1) |end| {
                    if (self.whitespaceIn(start, end, json.style) <= json.style.whitespace_max) continue;
                    seen.ends &= ~bit(end);
                    if (end == self.text.len) seen.open = false;
                }
                found = seen;
            },
        }
        return found;
    }

    pub fn literal(self: *Oracle, bytes: []const u8, start: usize) Found {
        for (bytes, 0..) |byte, index| {
            if (start + index == self.text.len) return .{ .open = self.canWrite(bytes[index..]) };
            if (self.text[start + index] != byte) return .{};
        }
        return .{ .ends = bit(start + bytes.len) };
    }

    pub fn byId(self: *Oracle, token: u32, start: usize) Found {
        if (start == self.text.len) return .{ .open = true };
        return if (self.text[start] == 256 + token) .{ .ends = bit(start + 1) } else .{};
    }

    pub fn equal(self: *const Oracle, bytes: []const u8, start: usize) bool {
        for (bytes, self.text[start..][0..bytes.len]) |byte, symbol| if (byte != symbol) return false;
        return true;
    }

    pub fn wholeUtf8(self: *const Oracle, start: usize, end: usize) bool {
        var buffer: [64]u8 = undefined;
        for (self.text[start..end], 0..) |symbol, index| {
            if (symbol > 255) return false;
            buffer[index] = @intCast(symbol);
        }
        return std.unicode.utf8ValidateSlice(buffer[0 .. end - start]);
    }

    /// Whether up to three writable bytes make the rest of the text valid UTF-8.
    pub fn finishesUtf8(self: *const Oracle, start: usize) bool {
        var buffer: [67]u8 = undefined;
        const length = self.text.len - start;
        for (self.text[start..], buffer[0..length]) |symbol, *byte| byte.* = if (symbol > 255) return false else @intCast(symbol);
        return self.extend(buffer[0 .. length + 3], length);
    }

    pub fn extend(self: *const Oracle, buffer: []u8, length: usize) bool {
        if (std.unicode.utf8ValidateSlice(buffer[0..length])) return true;
        if (length == buffer.len) return false;
        for (0x80..0xc0) |byte| if (self.writable[byte]) {
            buffer[length] = @intCast(byte);
            if (self.extend(buffer, length + 1)) return true;
        };
        return false;
    }

    /// Whitespace outside strings that is not free.
    pub fn whitespaceIn(self: *const Oracle, start: usize, end: usize, style: ir.Style) u32 {
        var count: u32 = 0;
        var inside = false;
        var at = start;
        while (at < end) : (at += 1) {
            const symbol = self.text[at];
            if (inside) {
                if (symbol == '\\') at += 1 else if (symbol == '"') inside = false;
            } else if (symbol == '"') {
                inside = true;
            } else if (isSpace(symbol)) {
                const free = style.free_space and symbol == ' ' and at > start and (self.text[at - 1] == ',' or self.text[at - 1] == ':');
                if (!free) count += 1;
            }
        }
        return count;
    }

    // Values

    pub fn valueAt(self: *Oracle, id: u32, start: usize, style: ir.Style) Found {
        if (!self.productive_values[id]) return .{};
        if (start == self.text.len) return .{ .open = true };
        const known = &self.known[id * 64 + start];
        if (known.*) |found| return found;
        var found: Found = .{};
        for (self.source.values[id].cases, self.productive_cases[id]) |case, productive| {
            if (productive) found = either(found, self.caseAt(case, start, style));
        }
        known.* = found;
        return found;
    }

    pub fn caseAt(self: *Oracle, case: ir.Case, start: usize, style: ir.Style) Found {
        return switch (case) {
            .null => self.literal("null", start),
            .true => self.literal("true", start),
            .false => self.literal("false", start),
            .number => |number| self.integer(number, start, style),
            .string => |string| string: {
                const texts = string.among orelse break :string if (string.regex == none)
                    self.stringAt(start, style, null, string.length_min, string.length_max)
                else if (self.text[start] != '"')
                    .{}
                else
                    self.matchAt(string.regex, start + 1, string.length_min, string.length_max, self.writing(), style);
                var found: Found = .{};
                for (texts) |text| if (self.canSpell(text) and self.matches(string.regex, text)) {
                    found = either(found, self.stringAt(start, style, text, 0, none));
                };
                break :string found;
            },
            .array => |array| self.arrayAt(array, start, style),
            .object => |object| object_at: {
                if (self.text[start] != '{') break :object_at .{};
                break :object_at self.members(object, start + 1, style, &.{}, @splat(0), .first);
            },
        };
    }

    /// Integers from -30 to 130, which is all the tests use; under `spec` with a fraction of zeros, and zero also with a minus.
    pub fn integer(self: *Oracle, number: ir.Number, start: usize, style: ir.Style) Found {
        var found: Found = .{};
        var candidate: i64 = -30;
        while (candidate <= 130) : (candidate += 1) if (inBounds(number, candidate)) {
            var buffer: [8]u8 = undefined;
            const text = std.fmt.bufPrint(&buffer, "{d}", .{candidate}) catch return .{};
            found = either(found, self.decimal(text, start, style));
            if (candidate == 0 and style.spelling == .spec) found = either(found, self.decimal("-0", start, style));
        };
        return found;
    }

    pub fn decimal(self: *Oracle, whole: []const u8, start: usize, style: ir.Style) Found {
        var found = self.literal(whole, start);
        const point = start + whole.len;
        if (style.spelling == .canonical or found.ends == 0) return found;
        if (point == self.text.len) found.open = true;
        if (point >= self.text.len or self.text[point] != '.') return found;
        var at = point + 1;
        if (at == self.text.len) found.open = true;
        while (at < self.text.len and self.text[at] == '0') : (at += 1) found.ends |= bit(at + 1);
        return found;
    }

    pub fn integersOf(number: ir.Number) usize {
        var count: usize = 0;
        var candidate: i64 = -30;
        while (candidate <= 130) : (candidate += 1) count += @intFromBool(inBounds(number, candidate));
        return count;
    }

    pub fn inBounds(number: ir.Number, candidate: i64) bool {
        // Bounds are small integers here.
        if (number.low) |low| {
            const least = std.fmt.parseInt(i64, low.decimal, 10) catch return false;
            if (candidate < least or low.exclusive and candidate == least) return false;
        }
        if (number.high) |high| {
            const most = std.fmt.parseInt(i64, high.decimal, 10) catch return false;
            if (candidate > most or high.exclusive and candidate == most) return false;
        }
        if (number.multiple_of.len > 0 and !isMultiple(candidate, number.multiple_of)) return false;
        for (number.multiple_of_none) |factor| if (isMultiple(candidate, factor)) return false;
        for (number.except) |value| if (candidate == std.fmt.parseInt(i64, value, 10) catch return false) return false;
        return true;
    }

    /// Factors have one digit after the point at most here.
    pub fn isMultiple(candidate: i64, factor: []const u8) bool {
        const point = std.mem.findScalar(u8, factor, '.') orelse factor.len;
        const whole = std.fmt.parseInt(i64, factor[0..point], 10) catch return false;
        const tenths = whole * 10 + if (point == factor.len) 0 else factor[point + 1] - '0';
        return @rem(candidate * 10, tenths) == 0;
    }

    /// A string, free or one known text.
    pub fn stringAt(self: *Oracle, start: usize, style: ir.Style, known: ?[]const u8, min: u32, max: u32) Found {
        if (self.text[start] != '"') return .{};
        var at = start + 1;
        var count: u32 = 0;
        var rest = known;
        while (true) {
            if (at == self.text.len) {
                if (rest) |left| return .{ .open = self.canSpell(left) };
                return .{ .open = true };
            }
            if (self.text[at] == '"') {
                const done = if (rest) |left| left.len == 0 else count >= min;
                return if (done) .{ .ends = bit(at + 1) } else .{};
            }
            const char = self.character(at, style, known != null, if (rest) |left| firstOf(left) else null);
            switch (char) {
                .no => return .{},
                .begun => {
                    if (count + 1 > max) return .{};
                    if (rest) |left| return .{ .open = left.len > 0 and self.canSpell(left[(firstOf(left) orelse return .{}).len..]) };
                    return .{ .open = true };
                },
                .whole => |length| {
                    count += 1;
                    if (count > max) return .{};
                    if (rest) |left| rest = left[(firstOf(left) orelse return .{}).len..];
                    at += length;
                },
            }
        }
    }

    pub const Character = union(enum) { no, begun, whole: usize };

    pub fn firstOf(text: []const u8) ?[]const u8 {
        if (text.len == 0) return null;
        return text[0 .. std.unicode.utf8ByteSequenceLength(text[0]) catch return null];
    }

    /// The character at a place, among all spellings of the one wanted, or of any.
    pub fn character(self: *Oracle, at: usize, style: ir.Style, known: bool, wanted: ?[]const u8) Character {
        if (known) {
            const char = wanted orelse return .no;
            var best: Character = .no;
            var spellings: [8][]const u8 = undefined;
            var buffer: [64]u8 = undefined;
            for (spell(char, style, &spellings, &buffer)) |spelling| {
                const found = self.spelled(spelling, at, style.spelling == .spec);
                if (found == .whole) return found;
                if (found == .begun) best = .begun;
            }
            return best;
        }
        const first = self.text[at];
        if (first > 255 or first < 0x20) return .no;
        if (first == '\\') return self.escape(at, style.spelling == .spec);
        // Raw.
        for (1..5) |length| {
            if (at + length > self.text.len) return if (self.finishesUtf8(at)) .begun else .no;
            if (self.wholeUtf8(at, at + length)) return .{ .whole = length };
        }
        return .no;
    }

    pub fn spelled(self: *const Oracle, spelling: []const u8, at: usize, any_case: bool) Character {
        for (spelling, 0..) |byte, index| {
            if (at + index == self.text.len) return if (index > 0 and self.canWrite(spelling[index..])) .begun else .no;
            const symbol = self.text[at + index];
            if (symbol > 255) return .no;
            const same = symbol == byte or any_case and index >= 2 and spelling[0] == '\\' and spelling[1] == 'u' and byte != 'u' and byte != '\\' and std.ascii.toLower(@intCast(symbol)) == byte;
            if (!same) return .no;
        }
        return .{ .whole = spelling.len };
    }

    pub fn spell(char: []const u8, style: ir.Style, out: *[8][]const u8, buffer: *[64]u8) []const []const u8 {
        const point = std.unicode.utf8Decode(char) catch return out[0..0];
        var count: usize = 0;
        const shorts = "\"\"\\\\/\x2fn\nt\tr\rb\x08f\x0c";
        var short: ?[]const u8 = null;
        var at: usize = 0;
        while (at < shorts.len) : (at += 2) if (shorts[at + 1] == point) {
            short = std.fmt.bufPrint(buffer[0..2], "\\{c}", .{shorts[at]}) catch null;
        };
        const long = if (point > 0xffff)
            std.fmt.bufPrint(buffer[8..], "\\u{x:0>4}\\u{x:0>4}", .{ 0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff) }) catch ""
        else
            std.fmt.bufPrint(buffer[8..], "\\u{x:0>4}", .{point}) catch "";
        const raw = point >= 0x20 and point != '"' and point != '\\';
        if (style.spelling == .spec) {
            out[count] = long;
            count += 1;
            if (short) |text| {
                out[count] = text;
                count += 1;
            }
            if (raw) {
                out[count] = char;
                count += 1;
            }
        } else {
            out[0] = if (raw) char else short orelse long;
            count = 1;
        }
        return out[0..count];
    }

    /// An escape in a free string.
    pub fn escape(self: *const Oracle, at: usize, spec: bool) Character {
        if (at + 1 == self.text.len) return .begun;
        const letter = self.text[at + 1];
        if (letter > 255) return .no;
        if (letter != 'u') return if (std.mem.findScalar(u8, if (spec) "\"\\/nrtbf" else "\"\\nrtbf", @intCast(letter)) != null) .{ .whole = 2 } else .no;
        const high = self.digits(at + 2) orelse return .no;
        if (!spec) {
            // Some number up to 001f has to begin so.
            if (high.value << @intCast(4 * (4 - high.count)) > 0x1f) return .no;
            return if (high.count == 4) .{ .whole = 6 } else .begun;
        }
        if (high.count >= 2 and high.value >> @intCast(4 * (high.count - 2)) >= 0xdc and high.value >> @intCast(4 * (high.count - 2)) <= 0xdf) return .no;
        if (high.count < 4) return .begun;
        if (high.value < 0xd800 or high.value > 0xdbff) return .{ .whole = 6 };
        for ([_]u8{ '\\', 'u' }, at + 6..) |byte, place| {
            if (place == self.text.len) return .begun;
            if (self.text[place] != byte) return .no;
        }
        const low = self.digits(at + 8) orelse return .no;
        if (low.count == 0) return .begun;
        const shift: u5 = @intCast(4 * (4 - low.count));
        // Some number from dc00 to dfff has to begin so.
        if (((low.value + 1) << shift) - 1 < 0xdc00 or low.value << shift > 0xdfff) return .no;
        return if (low.count == 4) .{ .whole = 12 } else .begun;
    }

    /// Up to four hexadecimal digits, fewer only at the end of the text; null if something else stands there.
    pub fn digits(self: *const Oracle, start: usize) ?struct { value: u32, count: usize } {
        var number: u32 = 0;
        for (0..4) |index| {
            if (start + index == self.text.len) return .{ .value = number, .count = index };
            const symbol = self.text[start + index];
            if (symbol > 255) return null;
            number = number * 16 + (std.fmt.charToDigit(@intCast(symbol), 16) catch return null);
        }
        return .{ .value = number, .count = 4 };
    }

    // Arrays and objects have files of their own.
    pub const Counted = oracle_array.Counted;
    pub const Progress = oracle_array.Progress;
    pub const Domain = oracle_array.Domain;
    pub const arrayAt = oracle_array.arrayAt;
    pub const addProgress = oracle_array.addProgress;
    pub const differentItem = oracle_array.differentItem;
    pub const withItem = oracle_array.withItem;
    pub const freshString = oracle_array.freshString;
    pub const readString = oracle_array.readString;
    pub const begins_with = oracle_array.begins_with;
    pub const domainOf = oracle_array.domainOf;
    pub const keyOf = oracle_array.keyOf;
    pub const finishableUnique = oracle_array.finishableUnique;
    pub const finishableWithin = oracle_array.finishableWithin;
    pub const tryItems = oracle_array.tryItems;
    pub const closes = oracle_array.closes;
    pub const isMet = oracle_array.isMet;
    pub const countOf = oracle_array.countOf;
    pub const finishable = oracle_array.finishable;
    pub const Place = oracle_object.Place;
    pub const new_key = oracle_object.new_key;
    pub const ReadKey = oracle_object.ReadKey;
    pub const members = oracle_object.members;
    pub const member = oracle_object.member;
    pub const keyFits = oracle_object.keyFits;
    pub const addKnown = oracle_object.addKnown;
    pub const symbolsOf = oracle_object.symbolsOf;
    pub const with = oracle_object.with;
    pub const memberValue = oracle_object.memberValue;
    pub const isComplete = oracle_object.isComplete;
    pub const objectFinishable = oracle_object.objectFinishable;
    pub const tryMembers = oracle_object.tryMembers;
    pub const anyKey = oracle_object.anyKey;
    pub const readKey = oracle_object.readKey;
    pub const fixedEscape = oracle_object.fixedEscape;
    pub const mayCome = oracle_object.mayCome;
    pub const extrasMayCome = oracle_object.extrasMayCome;
    pub const contains = oracle_object.contains;

    /// Positions, and those after whitespace from them. A text without room for any is told apart where the whole value is counted.
    pub fn skipSpace(self: *const Oracle, positions: u64, style: ir.Style) u64 {
        _ = style;
        var result = positions;
        for (self.text, 0..) |symbol, at| if (result & bit(at) != 0 and isSpace(symbol)) {
            result |= bit(at + 1);
        };
        return result;
    }

    pub fn after(self: *const Oracle, positions: u64, byte: u8) u64 {
        var result: u64 = 0;
        for (self.text, 0..) |symbol, at| if (positions & bit(at) != 0 and symbol == byte) {
            result |= bit(at + 1);
        };
        return result;
    }

    pub fn isSpace(symbol: Symbol) bool {
        return symbol == ' ' or symbol == '\n' or symbol == '\t' or symbol == '\r';
    }

    pub fn either(a: Found, b: Found) Found {
        return .{ .ends = a.ends | b.ends, .open = a.open or b.open };
    }

    pub fn bit(at: usize) u64 {
        return @as(u64, 1) << @intCast(at);
    }
};
