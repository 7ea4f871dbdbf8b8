//! The inside of a JSON string, byte by byte: UTF-8, escapes and the closing quote (RFC 8259 §7, RFC 3629 §4).
const std = @import("std");

/// Which spellings of a string are accepted.
pub const Spelling = enum(u8) {
    /// Raw characters, the short escapes without `\/`, and `\uXXXX` for control characters only.
    plain,
    /// As `plain`, and every character in one way: its short escape if it has one, lower-case hexadecimal otherwise.
    fixed,
    /// Everything that JSON allows; a surrogate only as half of a pair.
    spec,
};

pub const Phase = enum(u8) {
    /// Between two characters.
    text,
    /// In a character of several bytes, named by what may follow: one to three continuation bytes, of which the first may be limited.
    more1,
    more2,
    more2_e0,
    more2_ed,
    more3,
    more3_f0,
    more3_f4,
    /// After a backslash.
    escape,
    /// After `\u` and so many digits.
    hex0,
    hex1,
    hex2,
    hex3,
    /// After the first half of a surrogate pair: before the second half's backslash, u, and digits.
    low_escape,
    low_u,
    low0,
    low1,
    low2,
    low3,
};

/// The phases of a character of several bytes, `text` included, come first.
pub const utf8_phases = @backingInt(Phase.more3_f4) + 1;

pub const State = packed struct(u32) {
    phase: Phase = .text,
    /// The digits read so far; in the second half of a pair also, above them, the first half's ten bits.
    value: u24 = 0,

    pub const start: State = .{};
};

pub const Step = union(enum) {
    dead,
    /// Inside an escape.
    inside: State,
    /// The byte is text itself; a character is complete if the state's phase is `text`.
    raw: State,
    /// An escape is complete and stands for this code point.
    char: u21,
    /// The closing quote.
    close,
};

pub fn step(state: State, byte: u8, spelling: Spelling) Step {
    return switch (state.phase) {
        .text => switch (byte) {
            '"' => .close,
            '\\' => .{ .inside = .{ .phase = .escape } },
            0...0x1f => .dead,
            else => rawStep(.text, byte),
        },
        .more1, .more2, .more2_e0, .more2_ed, .more3, .more3_f0, .more3_f4 => rawStep(state.phase, byte),
        .escape => switch (byte) {
            '"', '\\' => .{ .char = byte },
            'n' => .{ .char = '\n' },
            't' => .{ .char = '\t' },
            'r' => .{ .char = '\r' },
            'b' => .{ .char = 0x08 },
            'f' => .{ .char = 0x0c },
            '/' => if (spelling == .spec) .{ .char = '/' } else .dead,
            'u' => .{ .inside = .{ .phase = .hex0 } },
            else => .dead,
        },
        .hex0, .hex1, .hex2, .hex3 => hexStep(state, byte, spelling),
        .low_escape => if (byte == '\\') .{ .inside = .{ .phase = .low_u, .value = state.value } } else .dead,
        .low_u => if (byte == 'u') .{ .inside = .{ .phase = .low0, .value = state.value << 12 } } else .dead,
        .low0, .low1, .low2, .low3 => lowStep(state, byte),
    };
}

/// Whether it stands for itself between two characters, and is one.
pub fn isPlain(byte: u8) bool {
    return byte >= 0x20 and byte < 0x80 and byte != '"' and byte != '\\';
}

/// The next phase of UTF-8, or null where the byte cannot stand. Surrogates, overlong forms and what lies above U+10FFFF are excluded.
pub fn utf8Step(phase: Phase, byte: u8) ?Phase {
    return switch (phase) {
        .text => switch (byte) {
            0...0x7f => .text,
            0xc2...0xdf => .more1,
            0xe0 => .more2_e0,
            0xe1...0xec, 0xee...0xef => .more2,
            0xed => .more2_ed,
            0xf0 => .more3_f0,
            0xf1...0xf3 => .more3,
            0xf4 => .more3_f4,
            else => null,
        },
        .more1 => if (byte & 0xc0 == 0x80) .text else null,
        .more2 => if (byte & 0xc0 == 0x80) .more1 else null,
        .more2_e0 => if (byte & 0xe0 == 0xa0) .more1 else null,
        .more2_ed => if (byte & 0xe0 == 0x80) .more1 else null,
        .more3 => if (byte & 0xc0 == 0x80) .more2 else null,
        .more3_f0 => if (byte >= 0x90 and byte <= 0xbf) .more2 else null,
        .more3_f4 => if (byte & 0xf0 == 0x80) .more2 else null,
        else => null,
    };
}

/// A state inside an escape, of those that go on alike under `spec` where it does not matter which character it becomes.
pub fn anyCharacter(state: State) State {
    const digits: u24 = switch (state.phase) {
        .hex1 => if (state.value == 0xd) 0xd else 0,
        .hex2 => if (isHighHalf(state.value)) 0xd8 else 0,
        .hex3 => if (isHighHalf(state.value >> 4)) 0xd80 else 0,
        .low1 => 0xd,
        .low2 => 0xdc,
        .low3 => 0xdc0,
        else => 0,
    };
    return .{ .phase = state.phase, .value = digits };
}

/// Whether two hexadecimal digits begin the first half of a surrogate pair.
fn isHighHalf(digits: u24) bool {
    return digits >= 0xd8 and digits <= 0xdb;
}

/// Whether an escape begun can become a character whose UTF-8 begins with one of these bytes.
pub fn becomesOne(state: State, spelling: Spelling, bytes: *const std.bit_set.Static(256)) bool {
    var ways: Completions = .of(state, spelling);
    while (ways.next()) |way| {
        var each = bytes.iterator(.{});
        while (each.next()) |byte| {
            const first, const last = charactersBehind(@intCast(byte));
            if (first <= way.last and last >= way.first) return true;
        }
    }
    return false;
}

/// The least and the greatest character whose UTF-8 begins with a byte.
fn charactersBehind(byte: u8) struct { u21, u21 } {
    // No form is longer than it has to be.
    const bits: u21, const more: u5, const least: u21 = switch (byte) {
        0...0xbf => return .{ byte, byte },
        0xc0...0xdf => .{ byte & 0x1f, 6, 0x80 },
        0xe0...0xef => .{ byte & 0x0f, 12, 0x800 },
        else => .{ byte & 0x07, 18, 0x10000 },
    };
    return .{ @max(least, bits << more), (bits + 1 << more) - 1 };
}

/// Bytes that an escape still needs, at least; 0 between characters and inside characters of several bytes.
pub fn escapeBytesLeft(state: State) u32 {
    return switch (state.phase) {
        .escape => 1,
        .hex0 => 4,
        // `\ud8`… is the first half of a pair.
        .hex1, .hex2, .hex3 => {
            const digits: u5 = @intCast(@backingInt(state.phase) - @backingInt(Phase.hex0));
            const pair = digits >= 2 and isHighHalf(state.value >> (4 * (digits - 2)));
            return 4 - @as(u32, digits) + if (pair) @as(u32, 6) else 0;
        },
        .low_escape => 6,
        .low_u => 5,
        .low0 => 4,
        .low1 => 3,
        .low2 => 2,
        .low3 => 1,
        else => 0,
    };
}

/// What an escape begun can still stand for: ranges of code points, each with the bytes it takes at least. Surrogates are in none of them.
pub const Completions = struct {
    list: [max]Way = undefined,
    count: usize = 0,
    at: usize = 0,

    pub const Way = struct { first: u21, last: u21, bytes: u32 };
    const max = 16;

    /// `state` is inside an escape.
    pub fn of(state: State, spelling: Spelling) Completions {
        var self: Completions = .{};
        const position: u32 = @backingInt(state.phase);
        switch (state.phase) {
            .escape => {
                for ([_]u21{ '"', '\\', '\n', '\t', '\r', 0x08, 0x0c }) |char| self.add(char, char, 1);
                if (spelling == .spec) self.add('/', '/', 1);
                self.addHex(0, 4, 5, spelling);
            },
            .hex0, .hex1, .hex2, .hex3 => {
                const left: u5 = @intCast(4 - (position - @backingInt(Phase.hex0)));
                self.addHex(state.value, left, left, spelling);
            },
            .low_escape => self.addLow(state.value, 0, 4, 6),
            .low_u => self.addLow(state.value, 0, 4, 5),
            .low0, .low1, .low2, .low3 => {
                const left: u5 = @intCast(4 - (position - @backingInt(Phase.low0)));
                self.addLow(state.value >> 12, state.value & 0xfff, left, left);
            },
            else => unreachable,
        }
        return self;
    }

    pub fn next(self: *Completions) ?Way {
        if (self.at == self.count) return null;
        defer self.at += 1;
        return self.list[self.at];
    }

    fn add(self: *Completions, first: u32, last: u32, bytes: u32) void {
        if (first > last) return;
        self.list[self.count] = .{ .first = @intCast(first), .last = @intCast(last), .bytes = bytes };
        self.count += 1;
    }

    /// `left` more digits after those of `value`.
    fn addHex(self: *Completions, value: u24, left: u5, bytes: u32, spelling: Spelling) void {
        const low = @as(u32, value) << (4 * left);
        const high = low | (@as(u32, 1) << (4 * left)) - 1;
        switch (spelling) {
            .plain => self.add(low, @min(high, 0x1f), bytes),
            .fixed => for ([_][2]u32{ .{ 0, 7 }, .{ 0x0b, 0x0b }, .{ 0x0e, 0x1f } }) |range| {
                self.add(@max(low, range[0]), @min(high, range[1]), bytes);
            },
            .spec => {
                self.add(low, @min(high, 0xd7ff), bytes);
                self.add(@max(low, 0xe000), high, bytes);
                const first: u32 = @max(low, 0xd800);
                const last: u32 = @min(high, 0xdbff);
                if (first <= last) self.add(0x10000 + ((first - 0xd800) << 10), 0x10000 + ((last - 0xd800) << 10) + 0x3ff, bytes + 6);
            },
        }
    }

    fn addLow(self: *Completions, half: u24, value: u24, left: u5, bytes: u32) void {
        const low: u32 = @max(@as(u32, value) << (4 * left), 0xdc00);
        const high: u32 = @min(@as(u32, value) << (4 * left) | (@as(u32, 1) << (4 * left)) - 1, 0xdfff);
        const base = 0x10000 + (@as(u32, half) << 10);
        if (low <= high) self.add(base + (low - 0xdc00), base + (high - 0xdc00), bytes);
    }
};

/// The one spelling of a text under `fixed`, without quotes. `text` is UTF-8.
pub fn spell(gpa: std.mem.Allocator, out: *std.ArrayList(u8), text: []const u8) error{OutOfMemory}!void {
    for (text) |byte| {
        if (shortEscape(byte)) |letter| {
            try out.appendSlice(gpa, &.{ '\\', letter });
        } else if (byte < 0x20) {
            try out.appendSlice(gpa, &.{ '\\', 'u', '0', '0', "01"[byte >> 4], "0123456789abcdef"[byte & 15] });
        } else {
            try out.append(gpa, byte);
        }
    }
}

pub fn shortEscape(char: u21) ?u8 {
    return switch (char) {
        '"' => '"',
        '\\' => '\\',
        '\n' => 'n',
        '\t' => 't',
        '\r' => 'r',
        0x08 => 'b',
        0x0c => 'f',
        else => null,
    };
}

fn rawStep(phase: Phase, byte: u8) Step {
    return .{ .raw = .{ .phase = utf8Step(phase, byte) orelse return .dead } };
}

fn hexStep(state: State, byte: u8, spelling: Spelling) Step {
    const digit = hexDigit(byte) orelse return .dead;
    const value = state.value << 4 | digit;
    const position = @backingInt(state.phase) - @backingInt(Phase.hex0);
    if (spelling != .spec and (position < 2 and value != 0 or position == 2 and value > 1)) return .dead;
    if (spelling == .fixed and byte >= 'A' and byte <= 'F') return .dead;
    if (position == 1 and value >= 0xdc and value <= 0xdf) return .dead; // a second half without a first
    if (position < 3) return .{ .inside = .{ .phase = @fromBackingInt(@backingInt(state.phase) + 1), .value = value } };
    if (value >= 0xd800 and value <= 0xdbff) return .{ .inside = .{ .phase = .low_escape, .value = value & 0x3ff } };
    if (spelling == .fixed and shortEscape(@intCast(value)) != null) return .dead;
    return .{ .char = @intCast(value) };
}

fn lowStep(state: State, byte: u8) Step {
    const digit = hexDigit(byte) orelse return .dead;
    const high = state.value >> 12;
    const low = (state.value & 0xfff) << 4 | digit;
    switch (state.phase) {
        .low0 => if (low != 0xd) return .dead,
        .low1 => if (low < 0xdc) return .dead,
        .low3 => return .{ .char = @intCast(0x10000 + (@as(u32, high) << 10) + (@as(u32, low) & 0x3ff)) },
        else => {},
    }
    return .{ .inside = .{ .phase = @fromBackingInt(@backingInt(state.phase) + 1), .value = high << 12 | (low & 0xfff) } };
}

fn hexDigit(byte: u8) ?u24 {
    return switch (byte) {
        '0'...'9' => byte - '0',
        'a'...'f' => byte - 'a' + 10,
        'A'...'F' => byte - 'A' + 10,
        else => null,
    };
}

/// Decodes a string's inside (without quotes) with the automaton itself; null where it is not one complete inside.
pub fn decode(gpa: std.mem.Allocator, out: *std.ArrayList(u8), inside: []const u8, spelling: Spelling) error{OutOfMemory}!bool {
    var state: State = .start;
    for (inside) |byte| switch (step(state, byte, spelling)) {
        .dead, .close => return false,
        .inside => |next| state = next,
        .raw => |next| {
            try out.append(gpa, byte);
            state = next;
        },
        .char => |char| {
            var buffer: [4]u8 = undefined;
            try out.appendSlice(gpa, buffer[0..encodeUtf8(char, &buffer)]);
            state = .start;
        },
    };
    return state == State.start;
}

/// `char` is not a surrogate.
pub fn encodeUtf8(char: u21, out: *[4]u8) u3 {
    if (char < 0x80) {
        out[0] = @intCast(char);
        return 1;
    }
    const length: u3 = if (char < 0x800) 2 else if (char < 0x10000) 3 else 4;
    var rest = char;
    var at: usize = length - 1;
    while (at > 0) : (at -= 1) {
        out[at] = 0x80 | @as(u8, @intCast(rest & 0x3f));
        rest >>= 6;
    }
    const lead: u8 = switch (length) {
        2 => 0xc0,
        3 => 0xe0,
        else => 0xf0,
    };
    out[0] = lead | @as(u8, @intCast(rest));
    return length;
}

test "spellings are told apart" {
    const gpa = std.testing.allocator;
    const Case = struct { inside: []const u8, plain: ?[]const u8, fixed: ?[]const u8, spec: ?[]const u8 };
    const cases = [_]Case{
        .{ .inside = "a é 😀", .plain = "a é 😀", .fixed = "a é 😀", .spec = "a é 😀" },
        .{ .inside = "\\n\\\"\\\\", .plain = "\n\"\\", .fixed = "\n\"\\", .spec = "\n\"\\" },
        .{ .inside = "\\/", .plain = null, .fixed = null, .spec = "/" },
        .{ .inside = "\\u0041", .plain = null, .fixed = null, .spec = "A" },
        .{ .inside = "\\u000a", .plain = "\n", .fixed = null, .spec = "\n" },
        .{ .inside = "\\u001F", .plain = "\x1f", .fixed = null, .spec = "\x1f" },
        .{ .inside = "\\u001f", .plain = "\x1f", .fixed = "\x1f", .spec = "\x1f" },
        .{ .inside = "\\ud83d\\ude00", .plain = null, .fixed = null, .spec = "😀" },
        .{ .inside = "\\ud83d", .plain = null, .fixed = null, .spec = null },
        .{ .inside = "\\ude00", .plain = null, .fixed = null, .spec = null },
        .{ .inside = "\\ud83d\\u0041", .plain = null, .fixed = null, .spec = null },
        .{ .inside = "a\nb", .plain = null, .fixed = null, .spec = null },
        .{ .inside = "\xed\xa0\x80", .plain = null, .fixed = null, .spec = null },
        .{ .inside = "\xc0\x80", .plain = null, .fixed = null, .spec = null },
        .{ .inside = "\xf4\x90\x80\x80", .plain = null, .fixed = null, .spec = null },
        .{ .inside = "\xe2\x82", .plain = null, .fixed = null, .spec = null },
    };
    for (cases) |case| {
        inline for (.{ Spelling.plain, Spelling.fixed, Spelling.spec }) |spelling| {
            var out: std.ArrayList(u8) = .empty;
            defer out.deinit(gpa);
            const got: ?[]const u8 = if (try decode(gpa, &out, case.inside, spelling)) out.items else null;
            const want = @field(case, @tagName(spelling));
            if (want) |text| try std.testing.expectEqualStrings(text, got orelse return error.Refused) else try std.testing.expectEqual(null, got);
        }
    }
}

test "where the character does not matter, escapes go on alike" {
    const Pair = struct { State, State };
    var open: std.ArrayList(Pair) = .empty;
    defer open.deinit(std.testing.allocator);
    try open.append(std.testing.allocator, .{ .{ .phase = .escape }, .{ .phase = .escape } });
    var seen: usize = 0;
    while (open.pop()) |pair| : (seen += 1) for (0..256) |byte| {
        const exact = step(pair[0], @intCast(byte), .spec);
        const alike = step(pair[1], @intCast(byte), .spec);
        try std.testing.expectEqual(std.meta.activeTag(exact), std.meta.activeTag(alike));
        if (exact != .inside) continue;
        try std.testing.expectEqual(exact.inside.phase, alike.inside.phase);
        try std.testing.expectEqual(escapeBytesLeft(exact.inside), escapeBytesLeft(alike.inside));
        // All values of the second half, for some of the first.
        if (exact.inside.phase == .low_escape and exact.inside.value % 0x155 != 0) continue;
        try open.append(std.testing.allocator, .{ exact.inside, anyCharacter(alike.inside) });
    };
    try std.testing.expect(seen > 10_000);
}

test "an escape begun becomes what begins with a byte" {
    for ([_]Spelling{ .plain, .fixed, .spec }) |spelling| for ([_]State{
        .{ .phase = .escape },
        .{ .phase = .hex0 },
        .{ .phase = .hex2, .value = 0x00 },
        .{ .phase = .hex2, .value = 0x0e },
        .{ .phase = .hex3, .value = 0x006 },
        .{ .phase = .hex3, .value = 0x204 },
        .{ .phase = .low0, .value = 0x3d << 12 },
    }) |state| {
        var begins: std.bit_set.Static(256) = .empty;
        var ways: Completions = .of(state, spelling);
        while (ways.next()) |way| for (way.first..@as(u32, way.last) + 1) |char| {
            var buffer: [4]u8 = undefined;
            _ = encodeUtf8(@intCast(char), &buffer);
            begins.set(buffer[0]);
        };
        for (0..256) |byte| {
            var one: std.bit_set.Static(256) = .empty;
            one.set(byte);
            // Bytes that begin no character are never asked for.
            if (utf8Step(.text, @intCast(byte)) != null) try std.testing.expectEqual(begins.isSet(byte), becomesOne(state, spelling, &one));
        }
    };
}

test "an escape begun completes to what it says" {
    inline for (.{ Spelling.plain, Spelling.fixed, Spelling.spec }) |spelling| {
        var states: std.ArrayList(State) = .empty;
        defer states.deinit(std.testing.allocator);
        try states.append(std.testing.allocator, .{ .phase = .escape });
        var at: usize = 0;
        while (at < states.items.len and at < 3000) : (at += 1) {
            // The fewest bytes to each code point, by trying all of them for one more byte.
            var seen: std.AutoHashMapUnmanaged(u21, void) = .empty;
            defer seen.deinit(std.testing.allocator);
            for (0..256) |byte| switch (step(states.items[at], @intCast(byte), spelling)) {
                .inside => |next| try states.append(std.testing.allocator, next),
                .char => |char| try seen.put(std.testing.allocator, char, {}),
                else => {},
            };
            var ways: Completions = .of(states.items[at], spelling);
            var immediate: usize = 0;
            while (ways.next()) |way| {
                if (way.bytes == 1) for (way.first..@as(usize, way.last) + 1) |char| {
                    try std.testing.expect(seen.contains(@intCast(char)));
                    immediate += 1;
                };
            }
            try std.testing.expectEqual(seen.count(), immediate);
        }
    }
}

test "UTF-8 is what the standard library takes it to be" {
    var prng: std.Random.DefaultPrng = .init(std.testing.random_seed);
    const random = prng.random();
    errdefer std.debug.print("seed {d}\n", .{std.testing.random_seed});
    for (0..20_000) |_| {
        var bytes: [5]u8 = undefined;
        const length = random.uintAtMost(usize, bytes.len);
        for (bytes[0..length], 0..) |*byte, at| byte.* = if (at == 0 or random.boolean()) random.int(u8) | 0x80 else 0x80 | random.uintLessThan(u8, 0x40);
        var phase: ?Phase = .text;
        for (bytes[0..length]) |byte| phase = if (phase) |known| utf8Step(known, byte) else null;
        try std.testing.expectEqual(std.unicode.utf8ValidateSlice(bytes[0..length]), phase == .text);
    }
}

test "every code point is spelled in one way, which decodes to it" {
    const gpa = std.testing.allocator;
    for ([_]u21{ 0, 8, 9, 10, 0x1f, '"', '/', '\\', 0x7f, 0x80, 0x7ff, 0xffff, 0x10000, 0x10ffff }) |char| {
        var buffer: [4]u8 = undefined;
        const text = buffer[0..encodeUtf8(char, &buffer)];
        var spelled: std.ArrayList(u8) = .empty;
        defer spelled.deinit(gpa);
        try spell(gpa, &spelled, text);
        var decoded: std.ArrayList(u8) = .empty;
        defer decoded.deinit(gpa);
        try std.testing.expect(try decode(gpa, &decoded, spelled.items, .fixed));
        try std.testing.expectEqualStrings(text, decoded.items);
    }
}
