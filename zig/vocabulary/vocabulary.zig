const std = @import("std");
const Allocator = std.mem.Allocator;
const stdx = @import("../stdx.zig");
const limits = @import("../limits.zig").vocabulary;
const trie = @import("trie.zig");
const string_tables_room = @import("string_tables.zig");
const StringTables = string_tables_room.StringTables;
const Signs = @import("signs.zig").Signs;
const Leads = @import("leads.zig").Leads;

/// The same numbers as `tokenKinds` in src/tokenizer/tokenizer.ts.
pub const Kind = enum(u8) {
    /// Text like its bytes.
    normal = 0,
    /// Reachable by id only.
    control = 1,
    /// Never produced.
    unused = 2,
};

/// What another room leaves with the vocabulary.
pub const Spare = struct { item: *anyopaque, destroy: *const fn (item: *anyopaque) void };

/// Immutable once created, but for what is left with it; shared between threads.
pub const Vocabulary = struct {
    /// Holds everything below.
    arena: std.heap.ArenaAllocator.State,
    count: u32,
    strings: trie.Strings,
    /// (count)
    kinds: []const Kind,
    /// The tokens that are text.
    trie: trie.Trie,
    /// (count) the next token with the same bytes, or `none`.
    twins: []const u32,
    /// Tokens that are one byte, for each byte.
    singles: [256]u16,
    string_tables: StringTables,
    signs: Signs,
    leads: Leads,
    /// (words) tokens of kind `control`.
    control: []const u32,
    /// (words) those, and the tokens that are text: all that an output can have.
    producible: []const u32,
    /// For the next user, who takes it.
    spares: *stdx.Pool(Spare, limits.spares),
    /// For everybody, as long as the vocabulary lives.
    kept: *stdx.Keep(Spare, limits.kept),
    /// Empty ones, whose memory serves what is next compiled: fresh pages would take a third of its time.
    arenas: *stdx.Pool(std.heap.ArenaAllocator.State, limits.arenas),

    /// Copies what it is given. `offsets` has one entry more than there are tokens. `Invalid` when lengths, offsets or kinds do not fit
    /// together, or a token is longer than limits allow.
    pub fn create(gpa: Allocator, bytes: []const u8, offsets: []const u32, kinds: []const u8) error{ OutOfMemory, Invalid }!*Vocabulary {
        if (offsets.len == 0 or offsets.len != kinds.len + 1 or offsets[0] != 0 or offsets[offsets.len - 1] != bytes.len) return error.Invalid;
        for (offsets[0..kinds.len], offsets[1..]) |start, end| if (start > end or end - start > limits.token_bytes_max) return error.Invalid;
        for (kinds) |kind| if (kind > @backingInt(Kind.unused)) return error.Invalid;
        if (kinds.len > limits.tokens_max) return error.Invalid;

        const self = try gpa.create(Vocabulary);
        errdefer gpa.destroy(self);
        var arena_state: std.heap.ArenaAllocator = .init(gpa);
        errdefer arena_state.deinit();
        const arena = arena_state.allocator();
        const strings: trie.Strings = .{ .bytes = try arena.dupe(u8, bytes), .offsets = try arena.dupe(u32, offsets) };
        const own_kinds = try arena.alloc(Kind, kinds.len);
        for (own_kinds, kinds) |*own, kind| own.* = @fromBackingInt(kind);
        const word_count: u32 = @intCast((kinds.len + 31) / 32);
        const control = try arena.alloc(u32, word_count);
        @memset(control, 0);
        const producible = try arena.alloc(u32, word_count);
        @memset(producible, 0);
        const texts = try gpa.alloc(u32, kinds.len);
        defer gpa.free(texts);
        var text_count: usize = 0;
        var singles: [256]u16 = @splat(0);
        for (own_kinds, 0..) |kind, index| switch (kind) {
            .control => {
                stdx.words.set(control, @intCast(index));
                stdx.words.set(producible, @intCast(index));
            },
            .unused => {},
            .normal => {
                const token: u32 = @intCast(index);
                const string = strings.get(token);
                if (string.len == 0) continue;
                if (string.len == 1) singles[string[0]] +|= 1;
                stdx.words.set(producible, token);
                texts[text_count] = token;
                text_count += 1;
            },
        };
        const spares = try arena.create(stdx.Pool(Spare, limits.spares));
        spares.* = .{};
        const kept = try arena.create(stdx.Keep(Spare, limits.kept));
        kept.* = .{};
        const arenas = try arena.create(stdx.Pool(std.heap.ArenaAllocator.State, limits.arenas));
        arenas.* = .{};
        const twins = try arena.alloc(u32, kinds.len);
        @memset(twins, trie.none);
        const token_trie = try trie.Trie.create(arena, strings, texts[0..text_count], twins, true);
        const string_tables = try StringTables.create(arena, gpa, strings, texts[0..text_count], word_count);
        const leads = try Leads.create(arena, gpa, strings, texts[0..text_count], &string_tables.finish_cost);
        const signs: Signs = try .create(arena, gpa, strings, texts[0..text_count], word_count, string_tables_room.short_bytes);
        self.* = .{
            .arena = arena_state.state,
            .signs = signs,
            .count = @intCast(kinds.len),
            .strings = strings,
            .kinds = own_kinds,
            .trie = token_trie,
            .twins = twins,
            .singles = singles,
            .string_tables = string_tables,
            .leads = leads,
            .control = control,
            .producible = producible,
            .spares = spares,
            .kept = kept,
            .arenas = arenas,
        };
        return self;
    }

    pub fn destroy(self: *Vocabulary, gpa: Allocator) void {
        while (self.spares.take()) |spare| spare.destroy(spare.item);
        while (self.kept.take()) |spare| spare.destroy(spare.item);
        while (self.arenas.take()) |state| state.promote(gpa).deinit();
        self.arena.promote(gpa).deinit();
        gpa.destroy(self);
    }

    /// An empty arena over `gpa`, the same for all.
    pub fn takeArena(self: *const Vocabulary, gpa: Allocator) std.heap.ArenaAllocator {
        const state = self.arenas.take() orelse return .init(gpa);
        return state.promote(gpa);
    }

    /// Frees what is in it.
    pub fn giveArena(self: *const Vocabulary, given: std.heap.ArenaAllocator) void {
        var arena = given;
        // Without memory for a part that is large enough it is just empty.
        _ = arena.reset(.{ .retain_with_limit = limits.arena_bytes });
        if (!self.arenas.give(arena.state)) arena.deinit();
    }

    pub fn text(self: *const Vocabulary, token: u32) []const u8 {
        return self.strings.get(token);
    }

    /// u32 words of one mask.
    pub fn words(self: *const Vocabulary) u32 {
        return (self.count + 31) / 32;
    }
};

/// A vocabulary of these texts; the last ones are of the kinds given, all others normal.
pub fn forTest(gpa: Allocator, texts: []const []const u8, last_kinds: []const Kind) !*Vocabulary {
    var bytes: std.ArrayList(u8) = .empty;
    defer bytes.deinit(gpa);
    var offsets: std.ArrayList(u32) = .empty;
    defer offsets.deinit(gpa);
    try offsets.append(gpa, 0);
    for (texts) |item| {
        try bytes.appendSlice(gpa, item);
        try offsets.append(gpa, @intCast(bytes.items.len));
    }
    const kinds = try gpa.alloc(u8, texts.len);
    defer gpa.free(kinds);
    @memset(kinds, @backingInt(Kind.normal));
    for (kinds[texts.len - last_kinds.len ..], last_kinds) |*own, kind| own.* = @backingInt(kind);
    return Vocabulary.create(gpa, bytes.items, offsets.items, kinds);
}

test "what does not fit together is refused" {
    const gpa = std.testing.allocator;
    try std.testing.expectError(error.Invalid, Vocabulary.create(gpa, "ab", &.{ 0, 1 }, &.{0}));
    try std.testing.expectError(error.Invalid, Vocabulary.create(gpa, "ab", &.{ 0, 2, 1, 2 }, &.{ 0, 0, 0 }));
    try std.testing.expectError(error.Invalid, Vocabulary.create(gpa, "ab", &.{ 0, 2 }, &.{3}));
    try std.testing.expectError(error.Invalid, Vocabulary.create(gpa, "", &.{}, &.{}));
}

test "tokens are sorted by what they do inside a string" {
    const gpa = std.testing.allocator;
    const self = try forTest(gpa, &.{ "a", "ab", "a\"", "\",", "\\", "\\n", "\xe2", "\x82", "\xac", "\xf1", "\n", "é\":" }, &.{});
    defer self.destroy(gpa);
    const tables = &self.string_tables;
    try std.testing.expectEqual(0b11, tables.levels[2][0]);
    try std.testing.expectEqual(0b01, tables.levels[1][0]);
    // 0xf1 needs three continuation bytes, which 0x82 and 0xac are.
    try std.testing.expectEqual(0b1001110011, tables.by_spelling[0].interior[0] & ~@as(u32, 1 << 7 | 1 << 8));
    try std.testing.expectEqual(3, tables.suffix_count);
    try std.testing.expectEqual(3, tables.by_spelling[0].closed.len);
    try std.testing.expectEqual(2, tables.finish_cost[@backingInt(@import("json_string.zig").Phase.more2)]);
    try std.testing.expectEqual(3, tables.finish_cost[@backingInt(@import("json_string.zig").Phase.more3)]);
}
