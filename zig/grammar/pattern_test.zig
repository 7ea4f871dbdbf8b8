//! Patterns against the definitions: which texts match, which can be completed, and by how many characters at least.
const std = @import("std");
const vocabulary_room = @import("../vocabulary.zig");
const ir = @import("ir.zig");
const limits = @import("../limits.zig").grammar;
const Speller = @import("spelling.zig").Speller;
const oracle = @import("oracle_regex.zig");
const Pattern = @import("pattern.zig").Pattern;
const Source = @import("pattern.zig").Source;
const Patterns = @import("patterns.zig").Patterns;

const none = ir.none;
const gpa = std.testing.allocator;

const Workshop = struct {
    vocabulary: *vocabulary_room.Vocabulary,
    named: []u32,
    writable: [256]bool,
    refusal: ir.Refusal = .{},
    budget: ir.Budget,
    speller: Speller,

    fn create() !*Workshop {
        const self = try gpa.create(Workshop);
        var texts: std.ArrayList([]const u8) = .empty;
        defer texts.deinit(gpa);
        for (0..256) |byte| try texts.append(gpa, all_bytes[byte..][0..1]);
        const vocabulary = try vocabulary_room.forTest(gpa, texts.items, &.{});
        const named = try gpa.alloc(u32, vocabulary.words());
        @memset(named, 0);
        self.* = .{ .vocabulary = vocabulary, .named = named, .writable = @splat(true), .budget = undefined, .speller = undefined };
        self.budget = .{ .refusal = &self.refusal };
        self.speller = .{ .vocabulary = vocabulary, .named = named, .budget = &self.budget };
        return self;
    }

    fn destroy(self: *Workshop) void {
        self.vocabulary.destroy(gpa);
        gpa.free(self.named);
        gpa.destroy(self);
    }

    fn source(self: *Workshop) Source {
        return .{ .vocabulary = self.vocabulary, .speller = &self.speller, .writable = &self.writable, .escapes = true, .writing = .raw, .budget = &self.budget };
    }

    const all_bytes: [256]u8 = table: {
        var table: [256]u8 = undefined;
        for (&table, 0..) |*byte, value| byte.* = value;
        break :table table;
    };
};

test "random patterns are what the definitions say" {
    const seed = std.testing.random_seed;
    errdefer std.debug.print("seed {d}\n", .{seed});
    const workshop = try Workshop.create();
    defer workshop.destroy();
    var live: usize = 0;
    for (0..400) |round| {
        var prng: std.Random.DefaultPrng = .init(seed +% round *% 7919);
        const random = prng.random();
        errdefer std.debug.print("round {d}\n", .{round});
        var arena_state: std.heap.ArenaAllocator = .init(gpa);
        defer arena_state.deinit();
        const arena = arena_state.allocator();
        var maker: oracle.RegexMaker = .{ .arena = arena, .random = random, .ranges = &.{ .{ .first = 'a', .last = 'a' }, .{ .first = 'b', .last = 'c' } } };
        const root = try maker.make(2 + random.uintLessThan(usize, 9));
        const language = try oracle.Language.create(arena, maker.list.items, root, depth) orelse continue;
        const min: u32 = if (random.boolean()) 0 else random.uintLessThan(u32, 4);
        const max: u32 = if (random.boolean()) none else random.uintLessThan(u32, 7);
        errdefer for (maker.list.items, 0..) |regex, id| std.debug.print("regex {d} {any} (of {d} to {d})\n", .{ id, regex, min, max });

        workshop.budget.left = 10_000_000;
        const source = workshop.source();
        const pattern: Pattern = try .create(arena, arena, &source, maker.list.items, root, min, max);
        var patterns: Patterns = try .create(gpa, &.{pattern});
        defer patterns.deinit();
        const writable: [8]bool = @splat(true);
        const start = try patterns.start(0);
        const possible = language.begins(&.{}, min, max, &writable);
        if (!possible and start != Patterns.dead and patterns.cost(start) > depth) continue;
        try std.testing.expectEqual(possible, start != Patterns.dead);
        if (!possible) continue;
        live += 1;
        for (0..60) |_| {
            var state = start;
            var text: std.ArrayList(usize) = .empty;
            // Beyond this length a text might be completed that the oracle does not know.
            for (0..depth - 3) |_| {
                const char: u21 = "abcdé"[random.uintLessThan(usize, 4)];
                try text.append(arena, language.symbolOf(char));
                state = try patterns.afterChar(state, char);
                errdefer std.debug.print("after {any}\n", .{text.items});
                const in_bounds = text.items.len >= min and text.items.len <= max;
                try std.testing.expectEqual(language.has(text.items) and in_bounds, patterns.accepts(state));
                const shortest = for (0..depth - text.items.len + 1) |more| {
                    const length = text.items.len + more;
                    if (length >= min and length <= max and language.begins(text.items, length, length, &writable)) break more;
                } else null;
                if (shortest == null and state != Patterns.dead and patterns.cost(state) > depth - text.items.len) break;
                try std.testing.expectEqual(shortest != null, state != Patterns.dead);
                if (state == Patterns.dead) break;
                // Every character of these costs one token.
                try std.testing.expectEqual(shortest.?, patterns.cost(state));
            }
        }
    }
    try std.testing.expect(live > 150);
}

const depth = 7;

/// Regexes by hand.
const Hand = struct {
    arena: std.mem.Allocator,
    list: std.ArrayList(ir.Regex) = .empty,

    fn add(self: *Hand, regex: ir.Regex) !u32 {
        try self.list.append(self.arena, regex);
        return @intCast(self.list.items.len - 1);
    }

    fn class(self: *Hand, first: u21, last: u21) !u32 {
        return self.add(.{ .class = try self.arena.dupe(ir.Regex.Range, &.{.{ .first = first, .last = last }}) });
    }

    fn repeat(self: *Hand, item: u32, min: u32, max: u32) !u32 {
        return self.add(.{ .repeat = .{ .item = item, .min = min, .max = max } });
    }

    fn concat(self: *Hand, items: []const u32) !u32 {
        return self.add(.{ .concat = try self.arena.dupe(u32, items) });
    }

    fn either(self: *Hand, items: []const u32) !u32 {
        return self.add(.{ .@"union" = try self.arena.dupe(u32, items) });
    }

    fn all(self: *Hand, items: []const u32) !u32 {
        return self.add(.{ .intersection = try self.arena.dupe(u32, items) });
    }

    fn text(self: *Hand, chars: []const u8) !u32 {
        const items = try self.arena.alloc(u32, chars.len);
        for (items, chars) |*item, char| item.* = try self.class(char, char);
        return self.concat(items);
    }
};

test "a text that ends with the regex may still be too long" {
    const workshop = try Workshop.create();
    defer workshop.destroy();
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var hand: Hand = .{ .arena = arena };
    const optional_a = try hand.repeat(try hand.class('a', 'a'), 0, 1);
    const optional_b = try hand.repeat(try hand.class('b', 'b'), 0, 1);
    const root = try hand.concat(&.{ optional_a, optional_b });
    workshop.budget.left = limits.work_units;
    const source = workshop.source();
    var patterns: Patterns = try .create(gpa, &.{try Pattern.create(arena, arena, &source, hand.list.items, root, 0, 1)});
    defer patterns.deinit();
    const start = try patterns.start(0);
    const after_a = try patterns.afterChar(start, 'a');
    try std.testing.expect(patterns.accepts(after_a));
    try std.testing.expectEqual(Patterns.dead, try patterns.afterChar(after_a, 'b'));
    try std.testing.expect(patterns.accepts(try patterns.afterChar(start, 'b')));
}

test "huge counts cost nothing, and what would cost too much is refused" {
    const workshop = try Workshop.create();
    defer workshop.destroy();
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    const Outcome = enum { made, limit };
    const huge = 2_000_000_000;
    var hand: Hand = .{ .arena = arena };
    const a = try hand.class('a', 'a');
    const ab = try hand.class('a', 'b');
    const any = try hand.class(0, 0x10ffff & 0xd7ff);
    const anything = try hand.repeat(any, 0, none);
    var nested = a;
    for (0..5000) |level| nested = if (level % 2 == 0) try hand.repeat(nested, 1, none) else try hand.concat(&.{ nested, ab });
    var doubled = try hand.either(&.{ a, try hand.text("bab") });
    for (0..60) |_| doubled = try hand.concat(&.{ doubled, doubled });
    var mixed = try hand.concat(&.{ anything, a, try hand.repeat(any, 40, 40) });
    for (0..1001) |_| mixed = try hand.add(.{ .complement = mixed });
    const many = try arena.alloc(u32, 10_000);
    for (many, 0..) |*item, index| item.* = try hand.text(try arena.print("w{d}-{d}", .{ index * 7919 % 10_007, index }));
    const words = try hand.either(many);
    const unlike = try arena.alloc(u32, 30);
    for (unlike, 0..) |*item, index| item.* = try hand.concat(&.{ anything, try hand.text(try arena.print("{d}x", .{index})), anything });
    const Case = struct { regex: u32, min: u32 = 0, max: u32 = none, outcome: Outcome, units: u64 };
    for ([_]Case{
        .{ .regex = try hand.repeat(ab, 0, huge), .outcome = .made, .units = 1000 },
        .{ .regex = try hand.repeat(ab, huge, huge), .outcome = .made, .units = 1000 },
        .{ .regex = try hand.repeat(ab, none - 1, none - 1), .outcome = .made, .units = 1000 },
        .{ .regex = try hand.concat(&.{ try hand.repeat(ab, huge, huge), try hand.repeat(ab, huge, none - 1) }), .outcome = .made, .units = 1000 },
        .{ .regex = try hand.concat(&.{ a, try hand.repeat(ab, 5, huge), a }), .outcome = .made, .units = 1000 },
        .{ .regex = try hand.concat(&.{ a, try hand.repeat(ab, 5, huge), a }), .max = huge, .outcome = .made, .units = 1000 },
        .{ .regex = try hand.repeat(try hand.text("ab"), 3, huge), .outcome = .made, .units = 1000 },
        .{ .regex = try hand.repeat(try hand.text("ab"), 0, none), .min = 1001, .max = huge, .outcome = .made, .units = 3000 },
        .{ .regex = try hand.all(&.{ try hand.repeat(any, 8, huge), try hand.concat(&.{ anything, a, anything }) }), .outcome = .made, .units = 3000 },
        .{ .regex = try hand.concat(&.{ anything, a, try hand.repeat(any, huge, huge) }), .outcome = .limit, .units = 1000 },
        .{ .regex = try hand.concat(&.{ anything, a, try hand.repeat(any, 0, huge) }), .outcome = .made, .units = 1000 },
        .{ .regex = nested, .outcome = .limit, .units = 200_000 },
        .{ .regex = doubled, .outcome = .limit, .units = 5_000_000 },
        .{ .regex = mixed, .outcome = .limit, .units = limits.work_units },
        .{ .regex = words, .outcome = .made, .units = 5_000_000 },
        .{ .regex = words, .min = 5, .max = 6, .outcome = .made, .units = 20_000_000 },
        .{ .regex = try hand.all(unlike), .outcome = .limit, .units = limits.work_units },
    }, 0..) |case, index| {
        errdefer std.debug.print("case {d} of {d} units: {s}\n", .{ index, limits.work_units - workshop.budget.left, workshop.refusal.message });
        var scratch_state: std.heap.ArenaAllocator = .init(gpa);
        defer scratch_state.deinit();
        const scratch = scratch_state.allocator();
        workshop.budget.left = limits.work_units;
        const source = workshop.source();
        const outcome: Outcome = if (Pattern.create(scratch, scratch, &source, hand.list.items, case.regex, case.min, case.max)) |pattern| made: {
            var patterns: Patterns = try .create(gpa, &.{pattern});
            defer patterns.deinit();
            var state = try patterns.start(0);
            try std.testing.expect(state != Patterns.dead);
            for (0..200) |_| {
                const next = try patterns.afterChar(state, 'a');
                if (next == Patterns.dead) break;
                state = next;
            }
            break :made .made;
        } else |failure| switch (failure) {
            error.OutOfMemory => return failure,
            error.Refused => refused: {
                try std.testing.expectEqual(ir.Refusal.Kind.limit, workshop.refusal.kind);
                break :refused .limit;
            },
        };
        try std.testing.expectEqual(case.outcome, outcome);
        if (limits.work_units - workshop.budget.left > case.units) return error.TooMuchWork;
    }
}
