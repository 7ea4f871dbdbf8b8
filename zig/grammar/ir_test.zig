//! The decoder and the compiler on bytes that nobody meant: whatever comes in, it is refused or it becomes a program whose masks work.
const std = @import("std");
const vocabulary_room = @import("../vocabulary.zig");
const ir = @import("ir.zig");
const encode = @import("encode.zig").encode;
const Program = @import("program.zig").Program;
const Matcher = @import("matcher.zig").Matcher;

const none = ir.none;
const gpa = std.testing.allocator;

/// Every kind of node and case.
const sample: ir.Ir = .{
    .nodes = &.{
        .{ .sequence = &.{ 1, 2, 3, 5, 6, 7 } },
        .{ .text = .{ .controls = false, .until = &.{.{ .token = 3, .bytes = "<" }}, .barred = &.{"ab"} } },
        .{ .marker = .{ .token = 3, .bytes = "<" } },
        .{ .repeat = .{ .item = 4, .min = 1, .max = 3 } },
        .{ .choice = &.{ 5, 6 } },
        .{ .channel = .{ .channel = .markup, .item = 6 } },
        .{ .bytes = "ab" },
        .{ .json = .{ .value = 0, .style = .{ .free_space = true, .whitespace_max = 3, .spelling = .spec } } },
        .{ .token = 2 },
    },
    .values = &.{
        .{ .origin = 1, .cases = &.{
            .null,
            .true,
            .false,
            .{ .number = .{ .integer = false, .low = .{ .decimal = "-1.5", .exclusive = true }, .high = .{ .decimal = "20", .exclusive = false } } },
            .{ .string = .{ .length_min = 1, .length_max = 4 } },
            .{ .string = .{ .among = &.{ "a", "ab", "é" } } },
        } },
        .{ .origin = 2, .cases = &.{
            .{ .array = .{ .prefix = &.{ &.{.{ .value = 0 }}, &.{.{ .value = 1 }} }, .rest = &.{.{ .value = 0 }}, .items_min = 1, .items_max = 9 } },
            .{ .object = .{ .properties = &.{ .{ .key = "a", .required = true, .options = &.{.{ .value = 0 }} }, .{ .key = "b", .required = false, .options = &.{.{ .value = 1 }} } }, .others = &.{.{ .options = &.{.{ .value = 1 }} }}, .ordered = true } },
        } },
    },
    .root = 0,
};

const Outcome = enum { refused, compiled };

/// Compiles and takes a few steps.
fn attempt(vocabulary: *const vocabulary_room.Vocabulary, bytes: []const u8, random: std.Random) !Outcome {
    var refusal: ir.Refusal = .{};
    const program = Program.create(gpa, vocabulary, bytes, &refusal) catch |err| switch (err) {
        error.OutOfMemory => return err,
        error.Refused => {
            try std.testing.expect(refusal.message.len > 0);
            return .refused;
        },
    };
    defer program.destroy();
    const matcher = try Matcher.create(gpa, program, &.{});
    defer matcher.destroy();
    var mask: [8]u32 = undefined;
    const out = mask[0..vocabulary.words()];
    for (0..8) |_| {
        try matcher.mask(out, if (random.boolean()) matcher.cost() +| 2 else std.math.maxInt(u32));
        var choices: [256]u32 = undefined;
        var count: usize = 0;
        for (0..vocabulary.count) |token| if (out[token >> 5] >> @intCast(token & 31) & 1 != 0) {
            choices[count] = @intCast(token);
            count += 1;
        };
        if (count == 0) {
            try std.testing.expect(matcher.acceptsEnd());
            break;
        }
        try std.testing.expect(try matcher.accept(choices[random.uintLessThan(usize, count)]));
    }
    return .compiled;
}

test "damaged grammars are refused or work" {
    const seed = std.testing.random_seed;
    errdefer std.debug.print("seed {d}\n", .{seed});
    var prng: std.Random.DefaultPrng = .init(seed);
    const random = prng.random();
    var texts: [128][]const u8 = undefined;
    const ascii: [128]u8 = comptime table: {
        var table: [128]u8 = undefined;
        for (&table, 0..) |*byte, value| byte.* = value;
        break :table table;
    };
    for (&texts, 0..) |*text, byte| text.* = ascii[byte..][0..1];
    const vocabulary = try vocabulary_room.forTest(gpa, &texts, &.{});
    defer vocabulary.destroy(gpa);
    const whole = try encode(gpa, sample);
    defer gpa.free(whole);
    // The canary: undamaged, it compiles and is followed.
    try std.testing.expectEqual(.compiled, try attempt(vocabulary, whole, random));
    for (0..whole.len) |length| try std.testing.expectEqual(.refused, try attempt(vocabulary, whole[0..length], random));

    const damaged = try gpa.dupe(u8, whole);
    defer gpa.free(damaged);
    var outcomes: std.EnumArray(Outcome, usize) = .initFill(0);
    for (0..2000) |_| {
        @memcpy(damaged, whole);
        for (0..random.intRangeAtMost(usize, 1, 3)) |_| {
            const word = damaged[random.uintLessThan(usize, damaged.len / 4) * 4 ..][0..4];
            const values = [_]u32{ 0, 1, 2, none, none - 1, 1 << 31, random.int(u32), random.uintLessThan(u32, 16) };
            std.mem.writeInt(u32, word, values[random.uintLessThan(usize, values.len)], .little);
        }
        const outcome = try attempt(vocabulary, damaged, random);
        outcomes.getPtr(outcome).* += 1;
    }
    // Damage is felt, and does not always reach what matters.
    try std.testing.expect(outcomes.get(.refused) > 200);
    try std.testing.expect(outcomes.get(.compiled) > 50);
}
