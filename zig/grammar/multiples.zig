//! Whether a written decimal is a multiple of a factor, digit by digit. With k digits after the factor's point, a value is a multiple if
//! it ends there and, read as whole number up to there, is divisible by the factor's digits. Remainders from which the same digits lead to
//! a multiple are one class: few, where the factor ends in zeros.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");
const limits = @import("../limits.zig").grammar;

pub const Factor = struct {
    /// Digits that count after the point.
    places: u8,
    /// (classes, digits): the class after one more digit.
    next: []const [10]u16,
    /// Classes of multiples.
    zero: []const bool,
    /// The class before any digit.
    start: u16,

    /// A digit other than zero was read beyond the factor's last place: no multiple any more.
    pub const never: u16 = 0xffff;

    /// After one more digit before the point.
    pub fn whole(self: *const Factor, class: u16, digit: u8) u16 {
        return self.next[class][digit];
    }

    /// After the digit at `place` behind the point, from 0.
    pub fn fraction(self: *const Factor, class: u16, digit: u8, place: u8) u16 {
        if (class == never) return never;
        if (place < self.places) return self.next[class][digit];
        return if (digit == 0) class else never;
    }

    /// Whether a number that ends after so many places is a multiple.
    pub fn divides(self: *const Factor, class: u16, places: u8) bool {
        if (class == never) return false;
        var last = class;
        for (@min(places, self.places)..self.places) |_| last = self.next[last][0];
        return self.zero[last];
    }
};

/// `decimal` is positive, without exponent.
pub fn factorOf(arena: Allocator, scratch: Allocator, decimal: []const u8, budget: *ir.Budget) ir.Error!Factor {
    const whole, const written = std.mem.cutScalar(u8, decimal, '.') orelse .{ decimal, "" };
    const fraction = std.mem.trimEnd(u8, written, "0");
    var modulus: u32 = 0;
    for ([_][]const u8{ whole, fraction }) |digits| for (digits) |digit| {
        modulus = modulus * 10 + (digit - '0');
        if (modulus > limits.number_modulus) return budget.refuse(.limit, "a number's multiples need too many states", ir.none);
    };
    if (fraction.len > limits.number_frac_digits) return budget.refuse(.limit, "a number's multiples have too many digits", ir.none);
    if (modulus == 0) return budget.invalid("a number is to be a multiple of zero");

    // Moore's partition: classes are told apart by whether they are zero, then by where each digit leads.
    var classes = try scratch.alloc(u16, modulus);
    defer scratch.free(classes);
    var refined = try scratch.alloc(u16, modulus);
    defer scratch.free(refined);
    for (classes, 0..) |*class, remainder| class.* = @intFromBool(remainder != 0);
    var count: usize = @min(modulus, 2);
    var rows: std.AutoArrayHashMapUnmanaged(Row, void) = .empty;
    defer rows.deinit(scratch);
    while (true) {
        try budget.spend(@as(usize, modulus) * 10);
        rows.clearRetainingCapacity();
        for (refined, 0..) |*class, remainder| {
            var row: Row = .{ .zero = remainder == 0, .next = undefined };
            for (&row.next, 0..) |*next, digit| next.* = classes[(remainder * 10 + digit) % modulus];
            class.* = @intCast((try rows.getOrPut(scratch, row)).index);
            if (rows.count() == Factor.never) return budget.refuse(.limit, "a number's multiples need too many states", ir.none);
        }
        std.mem.swap([]u16, &classes, &refined);
        if (rows.count() == count) break;
        count = rows.count();
    }
    const next = try arena.alloc([10]u16, count);
    const zero = try arena.alloc(bool, count);
    for (classes, 0..) |class, remainder| {
        for (&next[class], 0..) |*after, digit| after.* = classes[(remainder * 10 + digit) % modulus];
        zero[class] = remainder == 0;
    }
    return .{ .places = @intCast(fraction.len), .next = next, .zero = zero, .start = classes[0] };
}

const Row = struct { zero: bool, next: [10]u16 };

test "multiples of decimals against whole numbers" {
    const Case = struct { decimal: []const u8, thousandths: i64, classes_max: usize };
    const cases = [_]Case{
        .{ .decimal = "1", .thousandths = 1000, .classes_max = 1 },
        .{ .decimal = "7", .thousandths = 7000, .classes_max = 7 },
        .{ .decimal = "1000", .thousandths = 1_000_000, .classes_max = 4 },
        .{ .decimal = "60", .thousandths = 60_000, .classes_max = 12 },
        .{ .decimal = "0.01", .thousandths = 10, .classes_max = 1 },
        .{ .decimal = "0.05", .thousandths = 50, .classes_max = 2 },
        .{ .decimal = "2.50", .thousandths = 2500, .classes_max = 25 },
    };
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    for (cases) |case| {
        var refusal: ir.Refusal = .{};
        var budget: ir.Budget = .{ .refusal = &refusal };
        const factor = try factorOf(arena.allocator(), std.testing.allocator, case.decimal, &budget);
        try std.testing.expect(factor.next.len <= case.classes_max);
        for (0..13_000) |value| {
            const whole = value / 1000;
            const last = value % 1000;
            const digits = [_]u8{ @intCast(last / 100), @intCast(last / 10 % 10), @intCast(last % 10) };
            var buffer: [8]u8 = undefined;
            var class = factor.start;
            for (try std.fmt.bufPrint(&buffer, "{d}", .{whole})) |digit| class = factor.whole(class, digit - '0');
            if (last == 0) try std.testing.expectEqual(@rem(@as(i64, @intCast(value)), case.thousandths) == 0, factor.divides(class, 0));
            for (digits, 0..) |digit, place| class = factor.fraction(class, digit, @intCast(place));
            try std.testing.expectEqual(@rem(@as(i64, @intCast(value)), case.thousandths) == 0, factor.divides(class, 3));
        }
    }
}
