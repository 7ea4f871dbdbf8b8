//! What TypeScript says about a model's files: hyper-parameters and where each tensor lies. The fields, their units and meanings
//! are those of `Manifest` in src/models/card.ts.
const std = @import("std");
const limits = @import("../limits.zig");
const Diagnostic = @import("diagnostic.zig").Diagnostic;

pub const Manifest = struct {
    architecture: Architecture,
    files: []const []const u8,
    context_max: u32,
    vocabulary: u32,
    layers: u32,
    embedding: u32,
    feed_forward: u32,
    heads: u32,
    heads_kv: u32,
    key_length: u32,
    value_length: u32,
    norm_epsilon: f32,
    rope: Rope,
    window: u32,
    window_pattern: u32,
    attention_scale: f32,
    attention_softcap: f32,
    logits_softcap: f32,
    embedding_scale: f32,
    causal: bool,
    pooling: Pooling,
    tensors: []const Tensor,

    /// Reads and checks a manifest. What it points to lives in `arena`, or is `json` itself.
    pub fn parse(arena: std.mem.Allocator, json: []const u8, diagnostic: *Diagnostic) error{ OutOfMemory, Invalid }!Manifest {
        const manifest = std.json.parseFromSliceLeaky(Manifest, arena, json, .{ .ignore_unknown_fields = true }) catch |err| switch (err) {
            error.OutOfMemory => return error.OutOfMemory,
            else => |other| {
                diagnostic.set("the model manifest cannot be read: {t}", .{other});
                return error.Invalid;
            },
        };
        if (manifest.fault()) |what| {
            diagnostic.set("the model manifest is wrong: {s}", .{what});
            return error.Invalid;
        }
        return manifest;
    }

    /// The first rule that the numbers break.
    fn fault(self: *const Manifest) ?[]const u8 {
        const Size = struct { []const u8, u32, u32 };
        const sizes = [_]Size{
            .{ "context_max must be 1 to the limit", self.context_max, limits.model.context_max },
            .{ "vocabulary must be 1 to the limit", self.vocabulary, limits.model.vocabulary_max },
            .{ "layers must be 1 to the limit", self.layers, limits.model.layers_max },
            .{ "embedding must be 1 to the limit", self.embedding, limits.model.width_max },
            .{ "feed_forward must be 1 to the limit", self.feed_forward, limits.model.width_max },
            .{ "heads must be 1 to the limit", self.heads, limits.model.heads_max },
            .{ "heads_kv must be 1 to the limit", self.heads_kv, limits.model.heads_max },
            .{ "key_length must be 1 to the limit", self.key_length, limits.model.head_length_max },
            .{ "value_length must be 1 to the limit", self.value_length, limits.model.head_length_max },
        };
        for (sizes) |size| {
            if (size[1] == 0 or size[1] > size[2]) return size[0];
        }
        if (self.heads % self.heads_kv != 0) return "heads must be a multiple of heads_kv";
        if (self.rope.dimensions % 2 != 0 or self.rope.dimensions > self.key_length)
            return "rope.dimensions must be even and no more than key_length";
        if (self.window > 0 and self.window_pattern == 0) return "a window needs a window_pattern";
        const positive = [_]struct { []const u8, f64 }{
            .{ "norm_epsilon must be positive", self.norm_epsilon },
            .{ "attention_scale must be positive", self.attention_scale },
            .{ "embedding_scale must be positive", self.embedding_scale },
            .{ "rope.base must be positive", self.rope.base },
            .{ "rope.base_local must be positive", self.rope.base_local },
            .{ "rope.factor must be positive", self.rope.factor },
            .{ "rope.attention_factor must be positive", self.rope.attention_factor },
        };
        for (positive) |number| {
            if (!(number[1] > 0)) return number[0];
        }
        if (!self.causal and self.pooling == .none) return "a model that is not causal needs a pooling";
        if (!(self.attention_softcap >= 0)) return "attention_softcap must not be negative";
        if (!(self.logits_softcap >= 0)) return "logits_softcap must not be negative";
        if (self.rope.scaling == .yarn and (self.rope.original_context == 0 or !(self.rope.beta_fast > 0) or !(self.rope.beta_slow > 0)))
            return "yarn needs original_context, beta_fast and beta_slow";
        return null;
    }

    /// Tokens of a sequence. Where each token sees all others they are computed together, in one pass.
    pub fn contextMax(self: *const Manifest) u32 {
        return if (self.causal) self.context_max else @min(self.context_max, limits.model.uncausal_rows_max);
    }

    /// Rows of a pass at most.
    pub fn passRowsMax(self: *const Manifest) u32 {
        return if (self.causal) limits.model.pass_rows_max else self.contextMax();
    }

    pub fn isWindowed(self: *const Manifest, layer: u32) bool {
        return self.window > 0 and (self.window_pattern == 1 or (layer + 1) % self.window_pattern != 0);
    }
};

pub const Architecture = enum { llama, qwen2, gemma3 };

/// What becomes of the hidden states of an embedding model, the mean of all or that of one token; none with every other model.
pub const Pooling = enum { none, mean, cls, last };

pub const Rope = struct {
    dimensions: u32,
    pairing: enum { adjacent, halves },
    base: f64,
    base_local: f64,
    scaling: enum { none, linear, yarn },
    factor: f64,
    original_context: u32,
    attention_factor: f64,
    beta_fast: f64,
    beta_slow: f64,
};

pub const Tensor = struct {
    name: []const u8,
    format: u32,
    /// Contiguous dimension first: (columns, rows).
    shape: []const u64,
    file: u32,
    /// Bytes from the start of the file.
    offset: u64,
};

const example =
    \\{ "architecture": "llama", "files": ["m.gguf"], "context_max": 64, "vocabulary": 10, "layers": 2, "embedding": 8, "feed_forward": 12,
    \\  "heads": 4, "heads_kv": 2, "key_length": 2, "value_length": 2, "norm_epsilon": 1e-5,
    \\  "rope": { "dimensions": 2, "pairing": "adjacent", "base": 10000, "base_local": 10000, "scaling": "none", "factor": 1,
    \\            "original_context": 0, "attention_factor": 1, "beta_fast": 32, "beta_slow": 1 },
    \\  "window": 4, "window_pattern": 2, "attention_scale": 0.7, "attention_softcap": 0, "logits_softcap": 0, "embedding_scale": 1,
    \\  "causal": true, "pooling": "none",
    \\  "tensors": [{ "name": "token_embd.weight", "format": 8, "shape": [8, 10], "file": 0, "offset": 5000000000 }] }
;

test "a manifest reads as card.ts writes it" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var diagnostic: Diagnostic = .{};
    const manifest = try Manifest.parse(arena.allocator(), example, &diagnostic);
    try std.testing.expectEqual(.llama, manifest.architecture);
    try std.testing.expectEqualStrings("m.gguf", manifest.files[0]);
    try std.testing.expectEqual(.adjacent, manifest.rope.pairing);
    try std.testing.expectEqual(5_000_000_000, manifest.tensors[0].offset);
    try std.testing.expectEqualSlices(u64, &.{ 8, 10 }, manifest.tensors[0].shape);
    try std.testing.expect(manifest.isWindowed(0));
    try std.testing.expect(!manifest.isWindowed(1));
}

test "a manifest that breaks a rule is refused with the rule" {
    const cases = [_]struct { []const u8, []const u8, []const u8 }{
        .{ "\"heads_kv\": 2", "\"heads_kv\": 3", "the model manifest is wrong: heads must be a multiple of heads_kv" },
        .{ "\"layers\": 2", "\"layers\": 0", "the model manifest is wrong: layers must be 1 to the limit" },
        .{ "\"window_pattern\": 2", "\"window_pattern\": 0", "the model manifest is wrong: a window needs a window_pattern" },
        .{ "\"dimensions\": 2", "\"dimensions\": 3", "the model manifest is wrong: rope.dimensions must be even and no more than key_length" },
        .{ "\"llama\"", "\"llamb\"", "the model manifest cannot be read: InvalidEnumTag" },
        .{ "\"vocabulary\": 10,", "", "the model manifest cannot be read: MissingField" },
        .{ "\"causal\": true", "\"causal\": false", "the model manifest is wrong: a model that is not causal needs a pooling" },
        .{ "\"embedding_scale\": 1", "\"embedding_scale\": 0", "the model manifest is wrong: embedding_scale must be positive" },
    };
    for (cases) |case| {
        var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
        defer arena.deinit();
        const json = try std.mem.replaceOwned(u8, arena.allocator(), example, case[0], case[1]);
        var diagnostic: Diagnostic = .{};
        try std.testing.expectError(error.Invalid, Manifest.parse(arena.allocator(), json, &diagnostic));
        try std.testing.expectEqualStrings(case[2], diagnostic.text());
    }
}
