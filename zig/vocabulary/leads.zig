//! Tokens by what they begin with where JSON stands between two of its parts: whitespace, of which any amount changes nothing, and the
//! opening quote of a string, inside which most of them stay. What is left of them is small.
const std = @import("std");
const Allocator = std.mem.Allocator;
const json_string = @import("json_string.zig");
const readInside = @import("string_tables.zig").readInside;
const trie_room = @import("trie.zig");
const Trie = trie_room.Trie;
const Strings = trie_room.Strings;

/// Token texts without their leading whitespace, or tokens that begin with none.
pub const Lead = struct {
    /// (entries) the token of each.
    tokens: []const u32,
    /// (entries) the next one with the same text, or `none`.
    twins: []const u32,
    /// A quote and nothing that closes it: by `json_string.Spelling`, tokens.
    inside: [3][]const u32,
    /// Of entries: those that begin with a quote; of these, those that close it again in some spelling; and those that begin otherwise.
    quoted: Trie,
    closing: Trie,
    others: Trie,
};

pub const Leads = struct {
    /// Tokens that are whitespace.
    spaces: []const u32,
    /// Without whitespace, `others` is empty: the vocabulary's trie has them.
    plain: Lead,
    /// With whitespace first; only those whose rest begins with one of `begins`.
    spaced: Lead,

    pub const whitespace = " \t\n\r";
    /// What may stand after whitespace in JSON.
    pub const begins = "\"{}[],:-0123456789tfn";

    /// `tokens` are those that are text like their bytes; `finish_cost` as in StringTables.
    pub fn create(arena: Allocator, gpa: Allocator, strings: Strings, tokens: []const u32, finish_cost: []const u32) error{OutOfMemory}!Leads {
        var spaces: std.ArrayList(u32) = .empty;
        var plain: Builder = .{};
        defer plain.deinit(gpa);
        var spaced: Builder = .{};
        defer spaced.deinit(gpa);
        for (tokens) |token| {
            const text = strings.get(token);
            const rest = std.mem.trimStart(u8, text, whitespace);
            if (rest.len == 0) {
                if (text.len > 0) try spaces.append(arena, token);
            } else if (rest.len == text.len) {
                if (rest[0] == '"') try plain.add(gpa, token, rest);
            } else if (std.mem.findScalar(u8, begins, rest[0]) != null) try spaced.add(gpa, token, rest);
        }
        return .{
            .spaces = spaces.items,
            .plain = try plain.finish(arena, gpa, finish_cost),
            .spaced = try spaced.finish(arena, gpa, finish_cost),
        };
    }
};

const Builder = struct {
    tokens: std.ArrayList(u32) = .empty,
    bytes: std.ArrayList(u8) = .empty,
    ends: std.ArrayList(u32) = .empty,

    fn deinit(self: *Builder, gpa: Allocator) void {
        self.tokens.deinit(gpa);
        self.bytes.deinit(gpa);
        self.ends.deinit(gpa);
    }

    fn add(self: *Builder, gpa: Allocator, token: u32, text: []const u8) error{OutOfMemory}!void {
        try self.tokens.append(gpa, token);
        try self.bytes.appendSlice(gpa, text);
        try self.ends.append(gpa, @intCast(self.bytes.items.len));
    }

    fn finish(self: *Builder, arena: Allocator, gpa: Allocator, finish_cost: []const u32) error{OutOfMemory}!Lead {
        var parts: [3]std.ArrayList(u32) = @splat(.empty);
        defer for (&parts) |*part| part.deinit(gpa);
        const quoted, const closing, const others = .{ &parts[0], &parts[1], &parts[2] };
        var inside: [3]std.ArrayList(u32) = @splat(.empty);
        const offsets = try gpa.alloc(u32, self.ends.items.len + 1);
        defer gpa.free(offsets);
        offsets[0] = 0;
        @memcpy(offsets[1..], self.ends.items);
        const strings: Strings = .{ .bytes = self.bytes.items, .offsets = offsets };
        for (self.tokens.items, 0..) |token, index| {
            const entry: u32 = @intCast(index);
            const text = strings.get(entry);
            if (text[0] != '"') {
                try others.append(gpa, entry);
                continue;
            }
            try quoted.append(gpa, entry);
            var closes = false;
            for (std.enums.values(json_string.Spelling), &inside) |spelling, *list| {
                const read = readInside(text[1..], spelling) orelse continue;
                const phase = @backingInt(read.end.phase);
                if (read.quote != null) closes = true else if (phase >= finish_cost.len or finish_cost[phase] != 0xffffffff) try list.append(arena, token);
            }
            if (closes) try closing.append(gpa, entry);
        }
        // Each entry is in one of the first and the last, which chain the same twins as the second.
        const twins = try arena.alloc(u32, self.tokens.items.len);
        @memset(twins, trie_room.none);
        const quoted_trie = try Trie.create(arena, strings, quoted.items, twins, false);
        const others_trie = try Trie.create(arena, strings, others.items, twins, false);
        return .{
            .tokens = try arena.dupe(u32, self.tokens.items),
            .twins = twins,
            .inside = .{ inside[0].items, inside[1].items, inside[2].items },
            .quoted = quoted_trie,
            .closing = try Trie.create(arena, strings, closing.items, null, false),
            .others = others_trie,
        };
    }
};

test "tokens by what they begin with" {
    const gpa = std.testing.allocator;
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const texts = [_][]const u8{ " ", "\n\t", "\"", " \"a", "\"a\"", " \"a\":", "\n\"a", "  {", " x", "x", "\"\\" };
    var bytes: std.ArrayList(u8) = .empty;
    defer bytes.deinit(gpa);
    var offsets: [texts.len + 1]u32 = undefined;
    offsets[0] = 0;
    for (texts, 1..) |text, index| {
        try bytes.appendSlice(gpa, text);
        offsets[index] = @intCast(bytes.items.len);
    }
    const tokens = [_]u32{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
    const finish_cost: [json_string.utf8_phases]u32 = @splat(0);
    const leads = try Leads.create(arena_state.allocator(), gpa, .{ .bytes = bytes.items, .offsets = &offsets }, &tokens, &finish_cost);
    try std.testing.expectEqualSlices(u32, &.{ 0, 1 }, leads.spaces);
    try std.testing.expectEqualSlices(u32, &.{ 2, 10 }, leads.plain.inside[@backingInt(json_string.Spelling.spec)]);
    try std.testing.expectEqualSlices(u32, &.{ 3, 6 }, leads.spaced.inside[@backingInt(json_string.Spelling.spec)]);
    try std.testing.expectEqualSlices(u32, &.{ 3, 5, 6, 7 }, leads.spaced.tokens);
    try std.testing.expectEqual(2, leads.spaced.twins[0]);
    try std.testing.expectEqual(1, leads.spaced.others.nodes.len);
    try std.testing.expectEqual(4, leads.spaced.closing.nodes.len);
}
