//! How few tokens of a vocabulary write a given text, and every end of it.
const std = @import("std");
const Allocator = std.mem.Allocator;
const Vocabulary = @import("../vocabulary.zig").Vocabulary;
const Budget = @import("ir.zig").Budget;

/// No tokens write it.
pub const unreachable_cost: u32 = 0xffffffff;

/// Costs add up without passing for unreachable.
pub fn add(a: u32, b: u32) u32 {
    if (a == unreachable_cost or b == unreachable_cost) return unreachable_cost;
    return @min(a +| b, unreachable_cost - 1);
}

pub fn times(count: u32, each: u32) u32 {
    if (count == 0) return 0;
    if (each == unreachable_cost) return unreachable_cost;
    return @intCast(@min(@as(u64, count) * each, unreachable_cost - 1));
}

pub const Speller = struct {
    vocabulary: *const Vocabulary,
    /// (words) tokens that are not text in this grammar.
    named: []const u32,
    budget: *Budget,

    /// result[i] is the least number of tokens that write text[i..] exactly, for 0 ≤ i ≤ text.len.
    pub fn costs(self: *const Speller, arena: Allocator, text: []const u8) error{ OutOfMemory, Refused }![]const u32 {
        const result = try arena.alloc(u32, text.len + 1);
        try self.fill(text, result);
        return result;
    }

    /// Of a short text.
    pub fn cost(self: *const Speller, text: []const u8) error{Refused}!u32 {
        var buffer: [64]u32 = undefined;
        try self.fill(text, buffer[0 .. text.len + 1]);
        return buffer[0];
    }

    pub fn fill(self: *const Speller, text: []const u8, result: []u32) error{Refused}!void {
        try self.budget.spend(text.len * 4);
        result[text.len] = 0;
        var at = text.len;
        while (at > 0) {
            at -= 1;
            result[at] = self.costBefore(text[at..], result[at..]);
        }
    }

    /// Of all of a text, when `after[i]` is what text[i..] costs, for 0 < i.
    pub fn costBefore(self: *const Speller, text: []const u8, after: []const u32) u32 {
        var best: Best = .{ .speller = self, .after = after };
        self.vocabulary.trie.prefixes(text, &best);
        return best.cost;
    }

    pub fn isText(self: *const Speller, entry: u32) bool {
        var token = entry;
        while (token != unreachable_cost) : (token = self.vocabulary.twins[token]) {
            if (self.named[token >> 5] >> @intCast(token & 31) & 1 == 0) return true;
        }
        return false;
    }
};

const Best = struct {
    speller: *const Speller,
    after: []const u32,
    cost: u32 = unreachable_cost,

    pub fn found(self: *Best, entry: u32, length: u32) void {
        const total = add(1, self.after[length]);
        if (total < self.cost and self.speller.isText(entry)) self.cost = total;
    }
};
