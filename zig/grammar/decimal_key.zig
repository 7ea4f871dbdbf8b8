//! Numbers by value: one text for all the forms of a number. Zero is `#0`; others are `#`, a minus if they have one, their digits without
//! zeros at either end, `e` and the power of ten that goes with the last digit.
const std = @import("std");
const Allocator = std.mem.Allocator;
const limits = @import("../limits.zig").grammar;
const Seen = @import("seen.zig").Seen;

/// Bytes of a number as long as it may be written.
pub const text_bytes = limits.number_int_digits + limits.number_frac_digits + limits.number_exp_digits + 4;
/// Room for a key.
pub const Buffer = [limits.number_int_digits + limits.number_frac_digits + 16]u8;

pub fn of(arena: Allocator, text: []const u8) error{OutOfMemory}![]const u8 {
    var buffer: Buffer = undefined;
    return arena.dupe(u8, write(&buffer, text));
}

/// Of a whole number in JSON's notation, as long as it may be.
pub fn write(buffer: *Buffer, text: []const u8) []const u8 {
    const read: Digits = .of(text);
    const digits = std.mem.trimEnd(u8, read.slice(), "0");
    if (digits.len == 0) return "#0";
    const power = read.power + @as(i64, @intCast(read.count - digits.len)) + read.exponent;
    var writer: std.Io.Writer = .fixed(buffer);
    // It fits: the digits are no more than may be written.
    writer.print("#{s}{s}e{d}", .{ if (read.negative) "-" else "", digits, power }) catch return "#";
    return writer.buffered();
}

/// Whether a number that begins so can still become one of a set: the digits so far, but for zeros before and after, are its first ones.
pub fn leadsInto(seen: *const Seen, set: u32, text: []const u8) bool {
    const numbers = seen.child(set, '#');
    if (numbers == Seen.empty) return false;
    const read: Digits = .of(text);
    const digits = std.mem.trimEnd(u8, read.slice(), "0");
    if (digits.len == 0) return true;
    var node = if (read.negative) seen.child(numbers, '-') else numbers;
    for (digits) |digit| node = seen.child(node, digit);
    if (seen.child(node, 'e') != Seen.empty) return true;
    for (digits.len..read.count) |_| node = seen.child(node, '0');
    return node != Seen.empty;
}

/// The digits of a number or of its beginning, without zeros before them.
const Digits = struct {
    negative: bool = false,
    buffer: [limits.number_int_digits + limits.number_frac_digits]u8 = undefined,
    count: usize = 0,
    /// Of ten, with the last digit.
    power: i64 = 0,
    exponent: i64 = 0,

    fn slice(self: *const Digits) []const u8 {
        return self.buffer[0..self.count];
    }

    fn of(text: []const u8) Digits {
        var self: Digits = .{};
        var fraction = false;
        for (text, 0..) |byte, at| switch (byte) {
            '-' => self.negative = true,
            '.' => fraction = true,
            'e', 'E' => {
                self.exponent = std.fmt.parseInt(i64, text[at + 1 ..], 10) catch 0;
                break;
            },
            else => {
                if (fraction) self.power -= 1;
                if (self.count == 0 and byte == '0' or self.count == self.buffer.len) continue;
                self.buffer[self.count] = byte;
                self.count += 1;
            },
        };
        return self;
    }
};

test "forms of one value have one key" {
    const Row = struct { []const u8, []const u8 };
    for ([_]Row{
        .{ "0", "#0" },         .{ "-0.00e5", "#0" },    .{ "1", "#1e0" },        .{ "1.0", "#1e0" },
        .{ "1e0", "#1e0" },     .{ "100", "#1e2" },      .{ "0.01e4", "#1e2" },   .{ "-12.50", "#-125e-1" },
        .{ "12e-1", "#12e-1" }, .{ "1.2E+0", "#12e-1" }, .{ "0.0012", "#12e-4" },
    }) |row| {
        var buffer: Buffer = undefined;
        try std.testing.expectEqualStrings(row[1], write(&buffer, row[0]));
    }
}
