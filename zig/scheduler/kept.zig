const std = @import("std");
const Allocator = std.mem.Allocator;
const limits = @import("../limits.zig").scheduler;
const Backend = @import("backend.zig").Backend;

/// Sequences of requests that are over, for those whose prompts begin alike: the next turn of a conversation, another question about the
/// same tools. The least recently used go first.
pub const Kept = struct {
    gpa: Allocator,
    backend: Backend,
    /// Bytes of cache beyond which the oldest are given up; 0 keeps nothing.
    bytes_max: usize,
    /// The most recently used last.
    entries: std.ArrayList(Entry) = .empty,

    const Entry = struct { sequence: Backend.Sequence, tokens: []const u32 };

    pub fn deinit(kept: *Kept) void {
        while (kept.dropOldest()) {}
        kept.entries.deinit(kept.gpa);
    }

    /// Takes over a sequence with the tokens that it has computed. What begins it adds nothing any more.
    pub fn put(kept: *Kept, sequence: Backend.Sequence, tokens: []const u32) void {
        if (kept.bytes_max == 0 or tokens.len < limits.kept_tokens_min) return kept.backend.sequenceDestroy(sequence);
        var at: usize = 0;
        while (at < kept.entries.items.len) {
            const older = kept.entries.items[at].tokens;
            if (older.len <= tokens.len and common(older, tokens) == older.len) kept.drop(at) else at += 1;
        }
        while (kept.entries.items.len >= limits.kept_sequences) _ = kept.dropOldest();
        kept.insert(sequence, tokens) catch kept.backend.sequenceDestroy(sequence);
        // At least one stays, or the next turn of a long conversation would always begin anew.
        while (kept.entries.items.len > 1 and kept.backend.cacheBytes() > kept.bytes_max) _ = kept.dropOldest();
    }

    fn insert(kept: *Kept, sequence: Backend.Sequence, tokens: []const u32) error{OutOfMemory}!void {
        try kept.entries.ensureUnusedCapacity(kept.gpa, 1);
        kept.entries.appendAssumeCapacity(.{ .sequence = sequence, .tokens = try kept.gpa.dupe(u32, tokens) });
    }

    /// A sequence that has computed the longest known beginning of a prompt, but for its last token, whose logits are wanted.
    pub fn begin(kept: *Kept, prompt: []const u32) error{OutOfMemory}!Backend.Sequence {
        var best: usize = 0;
        var length: usize = 0;
        for (kept.entries.items, 0..) |entry, at| {
            const shared = common(entry.tokens, prompt[0 .. prompt.len - 1]);
            if (shared >= length) {
                best = at;
                length = shared;
            }
        }
        if (length < limits.kept_tokens_min) return kept.backend.sequenceCreate();
        const entry = kept.entries.orderedRemove(best);
        kept.entries.appendAssumeCapacity(entry);
        return kept.backend.sequenceShare(entry.sequence, @intCast(length));
    }

    /// False when there is none.
    pub fn dropOldest(kept: *Kept) bool {
        if (kept.entries.items.len == 0) return false;
        kept.drop(0);
        return true;
    }

    fn drop(kept: *Kept, at: usize) void {
        const entry = kept.entries.orderedRemove(at);
        kept.gpa.free(entry.tokens);
        kept.backend.sequenceDestroy(entry.sequence);
    }
};

fn common(a: []const u32, b: []const u32) usize {
    return std.mem.findDiff(u32, a, b) orelse @min(a.len, b.len);
}
