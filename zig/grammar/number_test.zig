//! Numbers against what they mean: tables of forms, and exact integers.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");
const number_room = @import("number.zig");

const all_writable: [256]bool = @splat(true);

fn acceptsText(automaton: *const number_room.Automaton, text: []const u8) bool {
    var state = number_room.Automaton.start;
    for (text) |byte| state = automaton.step(state, byte) orelse return false;
    return automaton.accepts[state];
}

fn forTest(arena: Allocator, number: ir.Number, spelling: ir.Style.Spelling) !number_room.Automaton {
    var refusal: ir.Refusal = .{};
    var budget: ir.Budget = .{ .refusal = &refusal };
    return number_room.build(arena, std.testing.allocator, number, spelling, &all_writable, &budget);
}

fn boundOf(decimal: []const u8, exclusive: bool) ir.Bound {
    return .{ .decimal = decimal, .exclusive = exclusive };
}

test "forms of numbers" {
    const Case = struct { number: ir.Number, spelling: ir.Style.Spelling = .canonical, yes: []const []const u8, no: []const []const u8 };
    const cases = [_]Case{
        .{
            .number = .{ .integer = false, .low = null, .high = null },
            .yes = &.{ "0", "-0", "1.5", "-12.50", "1e5", "0e0", "12.5E-0007", "1e+9999" },
            .no = &.{ "", "-", "01", ".5", "5.", "1e", "1e+", "+1", "1e12345", "--1" },
        },
        .{
            .number = .{ .integer = true, .low = null, .high = null },
            .yes = &.{ "0", "-7", "1234567890123456789012345678901234567890" },
            .no = &.{ "-0", "1.0", "1e2", "12345678901234567890123456789012345678901" },
        },
        .{
            .number = .{ .integer = true, .low = null, .high = null },
            .spelling = .spec,
            .yes = &.{ "0", "-0", "1.0", "1e2", "1.000E+2", "1e-0" },
            .no = &.{ "1.5", "1e-1", "10e-1", "1.0e-0001" },
        },
        .{
            .number = .{ .integer = true, .plain = true, .low = boundOf("-5", false), .high = null },
            .yes = &.{ "0", "-0", "-5", "12" },
            .no = &.{ "-6", "1.0", "1e2", "-01" },
        },
        .{
            .number = .{ .integer = true, .low = boundOf("-5", false), .high = boundOf("120", true) },
            .yes = &.{ "-5", "0", "9", "99", "119" },
            .no = &.{ "-6", "-50", "120", "121", "1190", "-0" },
        },
        .{
            .number = .{ .integer = false, .low = boundOf("0", true), .high = null },
            .yes = &.{ "0.1", "1", "1e-50", "3.25e-9999", "10" },
            .no = &.{ "0", "-0.1", "0.0", "-0", "0e0" },
        },
        .{
            .number = .{ .integer = false, .low = boundOf("1", false), .high = boundOf("5", false) },
            .yes = &.{ "1", "5", "5.0", "4.999", "1.0000", "1e0", "5.00e0", "4.9E+00" },
            .no = &.{ "5.7", "0.9", "5.0001", "10", "1e1", "5.1e0", "9e-1" },
        },
        .{
            .number = .{ .integer = false, .low = boundOf("0.1", false), .high = boundOf("0.1", false) },
            .yes = &.{ "0.1", "0.10", "1e-1", "1.0e-01" },
            .no = &.{ "0.11", "0", "1", "1e-2", "-0.1" },
        },
        .{
            .number = .{ .integer = false, .low = boundOf("-1.5", true), .high = boundOf("-0.25", false) },
            .yes = &.{ "-0.25", "-1", "-1.4999", "-2.5e-1", "-1.4e0" },
            .no = &.{ "-1.5", "-0.2", "0.5", "-2", "-0" },
        },
        .{
            .number = .{ .integer = false, .low = boundOf("1000000000000000000000000000000000000000000000", false), .high = null },
            .yes = &.{ "1e45", "9.5e45", "1e46" },
            .no = &.{ "1e44", "9.99e44", "1" },
        },
        .{
            .number = .{ .integer = true, .low = boundOf("2.5", false), .high = boundOf("2.9", false) },
            .yes = &.{},
            .no = &.{ "2", "3" },
        },
        .{
            .number = .{ .integer = true, .multiple_of = "7", .low = boundOf("-10000000000", false) },
            .spelling = .spec,
            .yes = &.{ "0", "-0", "7", "-7", "14.0", "9999999996", "-9999999996", "7000000000000000000000" },
            .no = &.{ "8", "1", "-10000000003", "7e1", "14.5" },
        },
        .{ .number = .{ .integer = true, .multiple_of = "7", .low = boundOf("8", false), .high = boundOf("13", false) }, .yes = &.{}, .no = &.{ "8", "7", "14" } },
        .{
            .number = .{ .multiple_of = "0.01" },
            .yes = &.{ "1.25", "0", "-3.1", "100", "0.010", "2.50000" },
            .no = &.{ "1.255", "0.001", "1e2" },
        },
        .{
            .number = .{ .multiple_of = "2.5", .multiple_of_none = &.{ "5", "7.5" }, .except = &.{ "2.5", "-12.50" } },
            .yes = &.{ "-2.5", "12.5", "17.50" },
            .no = &.{ "0", "-0", "5", "2.5", "2.500", "-12.5", "7.5", "3" },
        },
        .{
            .number = .{ .integer = true, .low = boundOf("0", false), .high = boundOf("12", false), .except = &.{ "0", "1", "11" } },
            .spelling = .spec,
            .yes = &.{ "2", "10", "12", "10.0" },
            .no = &.{ "0", "-0", "1", "1.0", "11", "11.00", "13" },
        },
        .{ .number = .{ .integer = true, .low = boundOf("1", false), .high = boundOf("2", false), .except = &.{ "1", "2" } }, .yes = &.{}, .no = &.{ "1", "2" } },
        .{ .number = .{ .multiple_of_none = &.{"1"} }, .yes = &.{ "0.5", "-1.01", "0.10" }, .no = &.{ "0", "1", "1.0", "-7.000" } },
    };
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    for (cases) |case| {
        const automaton = try forTest(arena.allocator(), case.number, case.spelling);
        for (case.yes) |text| if (!acceptsText(&automaton, text)) {
            std.debug.print("refused {s} in {?s}..{?s}\n", .{ text, if (case.number.low) |b| b.decimal else null, if (case.number.high) |b| b.decimal else null });
            return error.Refused;
        };
        for (case.no) |text| if (acceptsText(&automaton, text)) {
            std.debug.print("accepted {s} in {?s}..{?s}\n", .{ text, if (case.number.low) |b| b.decimal else null, if (case.number.high) |b| b.decimal else null });
            return error.Accepted;
        };
        try std.testing.expectEqual(case.yes.len == 0, automaton.cost[0] == number_room.unreachable_cost);
    }
}

test "bounds hold against exact integers, and no state is a dead end" {
    // Oracle: everything in thousandths, as integers.
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var prng: std.Random.DefaultPrng = .init(std.testing.random_seed);
    const random = prng.random();
    errdefer std.debug.print("seed {d}\n", .{std.testing.random_seed});
    for (0..40) |_| {
        const scale = std.math.pow(i64, 10, random.uintLessThan(u4, 4));
        const low = random.intRangeAtMost(i64, -30, 30) * scale;
        const high = low + random.intRangeAtMost(i64, 0, 40) * scale;
        const low_exclusive = random.boolean();
        const high_exclusive = random.boolean();
        const integer = random.boolean();
        const factors = [_]struct { []const u8, i64 }{ .{ "", 1 }, .{ "3", 3000 }, .{ "0.25", 250 }, .{ "0.7", 700 }, .{ "1.5", 1500 } };
        const multiple_of = factors[random.uintLessThan(usize, factors.len)];
        const other = factors[1 + random.uintLessThan(usize, factors.len - 1)];
        const avoids = random.boolean();
        var buffers: [2][32]u8 = undefined;
        const number: ir.Number = .{
            .integer = integer,
            .multiple_of = multiple_of[0],
            .multiple_of_none = if (avoids) &.{other[0]} else &.{},
            .low = boundOf(try std.fmt.bufPrint(&buffers[0], "{s}{d}.{d:0>3}", .{ if (low < 0) "-" else "", @abs(low) / 1000, @abs(low) % 1000 }), low_exclusive),
            .high = boundOf(try std.fmt.bufPrint(&buffers[1], "{s}{d}.{d:0>3}", .{ if (high < 0) "-" else "", @abs(high) / 1000, @abs(high) % 1000 }), high_exclusive),
        };
        const automaton = try forTest(arena.allocator(), number, .spec);
        for (automaton.next) |row| for (row) |target| {
            if (target != number_room.dead) try std.testing.expect(automaton.cost[target] != number_room.unreachable_cost);
        };
        for (0..400) |_| {
            const value = low + random.intRangeAtMost(i64, -3000, 45_000) * @max(1, @divTrunc(scale, 10));
            const fits = (value > low or value == low and !low_exclusive) and (value < high or value == high and !high_exclusive) and
                (!integer or @rem(value, 1000) == 0) and @rem(value, multiple_of[1]) == 0 and !(avoids and @rem(value, other[1]) == 0);
            var buffer: [32]u8 = undefined;
            const text = try std.fmt.bufPrint(&buffer, "{s}{d}.{d:0>3}", .{ if (value < 0) "-" else "", @abs(value) / 1000, @abs(value) % 1000 });
            if (fits != acceptsText(&automaton, text)) {
                std.debug.print("{s} in {s}..{s} integer {}\n", .{ text, number.low.?.decimal, number.high.?.decimal, integer });
                return error.Differs;
            }
            if (integer or value == 0 or multiple_of[0].len > 0 or avoids) continue;
            // The normalised form of the same value.
            const digits = try std.fmt.bufPrint(buffers[0][20..], "{d}", .{@abs(value)});
            const scaled = try std.fmt.bufPrint(&buffer, "{s}{c}.{s}0e{d}", .{ if (value < 0) "-" else "", digits[0], digits[1..], @as(i64, @intCast(digits.len)) - 4 });
            try std.testing.expectEqual(fits, acceptsText(&automaton, scaled));
        }
    }
}

test "multiples between near bounds are few states, and too many are seen soon" {
    const gpa = std.testing.allocator;
    var arena: std.heap.ArenaAllocator = .init(gpa);
    defer arena.deinit();
    const near: ir.Number = .{
        .integer = true,
        .low = boundOf("100", true),
        .high = boundOf("1000", true),
        .multiple_of = "13",
        .multiple_of_none = &.{ "2", "3", "5", "7", "11" },
    };
    const automaton = try forTest(arena.allocator(), near, .spec);
    try std.testing.expect(automaton.next.len < 2000);
    for (0..1100) |value| {
        var multiples: usize = @intFromBool(value % 13 != 0);
        for ([_]usize{ 2, 3, 5, 7, 11 }) |factor| multiples += @intFromBool(value % factor == 0);
        const fits = value > 100 and value < 1000 and multiples == 0;
        for ([_][]const u8{ "", ".0", ".000" }) |zeros| {
            var buffer: [16]u8 = undefined;
            try std.testing.expectEqual(fits, acceptsText(&automaton, try std.fmt.bufPrint(&buffer, "{d}{s}", .{ value, zeros })));
        }
        var buffer: [16]u8 = undefined;
        try std.testing.expect(!acceptsText(&automaton, try std.fmt.bufPrint(&buffer, "{d}.1", .{value})));
    }

    var refusal: ir.Refusal = .{};
    var budget: ir.Budget = .{ .refusal = &refusal };
    const given = budget.left;
    const far: ir.Number = .{ .multiple_of = "429", .multiple_of_none = &.{ "8", "6", "5" } };
    try std.testing.expectError(error.Refused, number_room.build(arena.allocator(), gpa, far, .spec, &all_writable, &budget));
    try std.testing.expect(given - budget.left < 500_000);
}
