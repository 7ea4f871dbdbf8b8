//! Patterns against the definitions: which texts match, which can be completed, and by how many characters at least.
const std = @import("std");
const vocabulary_room = @import("../vocabulary.zig");
const ir = @import("ir.zig");
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
