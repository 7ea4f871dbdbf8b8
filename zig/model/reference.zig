//! The slow truth: whole models in f64, written from the published definitions (RoFormer, RMSNorm, GQA, SwiGLU, the Gemma 3 report, YaRN) over whole
//! sequences without cache, threads or quantised activations. Shares with the fast path only the manifest, the mapped tensors and the formulas
//! of the block formats. Not for serving.
const std = @import("std");
const kernels = @import("../kernels.zig");
const manifests = @import("manifest.zig");
const weights = @import("weights.zig");
const Manifest = manifests.Manifest;
const Matrix = kernels.Matrix;
const formula = kernels.reference;

/// Logits of every position from `first` on, (tokens - first, vocabulary).
pub fn logits(gpa: std.mem.Allocator, source: *weights.Weights, manifest: *const Manifest, tokens: []const u32, first: usize) weights.Error![]f64 {
    var arena: std.heap.ArenaAllocator = .init(gpa);
    defer arena.deinit();
    const reader: Reader = .{ .arena = arena.allocator(), .source = source, .manifest = manifest };
    const width = manifest.embedding;
    const x = try hiddenStates(reader, tokens, first);
    const name = if (source.has("output.weight")) "output.weight" else "token_embd.weight";
    const out = try gpa.alloc(f64, (tokens.len - first) * manifest.vocabulary);
    errdefer gpa.free(out);
    try reader.product(x, try source.table(name, manifest.vocabulary, width), out);
    if (manifest.logits_softcap > 0) for (out) |*logit| {
        logit.* = formula.softcap(logit.*, manifest.logits_softcap);
    };
    return out;
}

/// The vector of a text, (embedding): mean, first or last of its hidden states, of length one.
pub fn embedding(gpa: std.mem.Allocator, source: *weights.Weights, manifest: *const Manifest, tokens: []const u32) weights.Error![]f64 {
    var arena: std.heap.ArenaAllocator = .init(gpa);
    defer arena.deinit();
    const reader: Reader = .{ .arena = arena.allocator(), .source = source, .manifest = manifest };
    const width = manifest.embedding;
    const x = try hiddenStates(reader, tokens, 0);
    const out = try gpa.alloc(f64, width);
    for (out, 0..) |*element, column| {
        var sum: f64 = 0;
        for (0..tokens.len) |i| sum += x[i * width + column];
        element.* = switch (manifest.pooling) {
            .none => unreachable, // No embedding model.
            .mean => sum / @as(f64, @floatFromInt(tokens.len)),
            .cls => x[column],
            .last => x[(tokens.len - 1) * width + column],
        };
    }
    var square: f64 = 0;
    for (out) |element| square += element * element;
    for (out) |*element| element.* /= @sqrt(square);
    return out;
}

/// Of the tokens from `first` on, after the last layer and its norm.
fn hiddenStates(reader: Reader, tokens: []const u32, first: usize) weights.Error![]f64 {
    const manifest = reader.manifest;
    const width = manifest.embedding;
    const x = try reader.rows(tokens.len, width);
    const table = try reader.source.table("token_embd.weight", manifest.vocabulary, width);
    for (tokens, 0..) |token, i| for (0..width) |column| {
        x[i * width + column] = formula.weight(&table, token, column) * manifest.embedding_scale;
    };
    for (0..manifest.layers) |layer| try addLayer(reader, x, layer);
    return reader.normalized(x[first * width ..], "output_norm.weight");
}

/// x += attention(norm(x)); x += feedForward(norm(x)), each under a second norm where the architecture has one.
fn addLayer(reader: Reader, x: []f64, layer: usize) weights.Error!void {
    const attended = try attention(reader, try reader.layerNormalized(x, layer, "attn_norm.weight"), layer);
    const post_attention = try reader.layerNormalized(attended, layer, "post_attention_norm.weight");
    for (x, post_attention) |*to, from| to.* += from;
    const fed = try feedForward(reader, try reader.layerNormalized(x, layer, "ffn_norm.weight"), layer);
    const post_feed_forward = try reader.layerNormalized(fed, layer, "post_ffw_norm.weight");
    for (x, post_feed_forward) |*to, from| to.* += from;
}

fn attention(reader: Reader, x: []const f64, layer: usize) weights.Error![]f64 {
    const m = reader.manifest;
    const tokens = x.len / m.embedding;
    const queries = try reader.heads(x, layer, "attn_q", m.heads, m.key_length);
    const keys = try reader.heads(x, layer, "attn_k", m.heads_kv, m.key_length);
    const values = try reader.heads(x, layer, "attn_v", m.heads_kv, m.value_length);
    const is_windowed = m.isWindowed(@intCast(layer));
    const angles = try reader.angles(is_windowed);
    for (0..tokens) |position| {
        for (0..m.heads) |head| reader.rotate(queries[(position * m.heads + head) * m.key_length ..][0..m.key_length], angles, position, is_windowed);
        for (0..m.heads_kv) |head| reader.rotate(keys[(position * m.heads_kv + head) * m.key_length ..][0..m.key_length], angles, position, is_windowed);
    }

    const mixed = try reader.rows(tokens, m.heads * m.value_length);
    const scores = try reader.arena.alloc(f64, tokens);
    for (0..tokens) |i| for (0..m.heads) |head| {
        const head_kv = head / (m.heads / m.heads_kv);
        const query = queries[(i * m.heads + head) * m.key_length ..][0..m.key_length];
        const begin = if (is_windowed) (i + 1) -| m.window else 0;
        const end = if (m.causal) i + 1 else tokens;
        var largest = -std.math.inf(f64);
        for (begin..end) |j| {
            var dot: f64 = 0;
            for (query, keys[(j * m.heads_kv + head_kv) * m.key_length ..][0..m.key_length]) |q, k| dot += q * k;
            scores[j] = dot * m.attention_scale;
            if (m.attention_softcap > 0) scores[j] = formula.softcap(scores[j], m.attention_softcap);
            largest = @max(largest, scores[j]);
        }
        var sum: f64 = 0;
        for (scores[begin..end]) |*score| {
            score.* = @exp(score.* - largest);
            sum += score.*;
        }
        const out = mixed[(i * m.heads + head) * m.value_length ..][0..m.value_length];
        for (begin..end) |j| {
            const value = values[(j * m.heads_kv + head_kv) * m.value_length ..][0..m.value_length];
            for (out, value) |*to, v| to.* += scores[j] / sum * v;
        }
    };
    return reader.layerProduct(mixed, layer, "attn_output.weight", m.embedding, m.heads * m.value_length);
}

fn feedForward(reader: Reader, x: []const f64, layer: usize) weights.Error![]f64 {
    const m = reader.manifest;
    const gate = try reader.layerProduct(x, layer, "ffn_gate.weight", m.feed_forward, m.embedding);
    const up = try reader.layerProduct(x, layer, "ffn_up.weight", m.feed_forward, m.embedding);
    for (gate, up) |*g, u| g.* = u * switch (m.architecture) {
        .llama, .qwen2 => formula.silu(g.*),
        .gemma3 => formula.gelu(g.*),
    };
    return reader.layerProduct(gate, layer, "ffn_down.weight", m.embedding, m.feed_forward);
}

const Reader = struct {
    arena: std.mem.Allocator,
    source: *weights.Weights,
    manifest: *const Manifest,

    fn rows(reader: Reader, count: usize, columns: usize) weights.Error![]f64 {
        const x = try reader.arena.alloc(f64, count * columns);
        @memset(x, 0);
        return x;
    }

    fn layerName(reader: Reader, layer: usize, role: []const u8) weights.Error![]const u8 {
        return reader.arena.print("blk.{d}.{s}", .{ layer, role });
    }

    /// (tokens, heads, length): a product, its bias, and the norm of each head.
    fn heads(reader: Reader, x: []const f64, layer: usize, comptime role: []const u8, count: u32, length: u32) weights.Error![]f64 {
        const out = try reader.layerProduct(x, layer, role ++ ".weight", count * length, reader.manifest.embedding);
        const bias_name = try reader.layerName(layer, role ++ ".bias");
        if (reader.source.has(bias_name)) {
            const bias = try reader.source.table(bias_name, 1, count * length);
            for (out, 0..) |*each, i| each.* += formula.weight(&bias, 0, i % (count * length));
        }
        const norm_name = try reader.layerName(layer, role ++ "_norm.weight");
        return if (reader.source.has(norm_name)) reader.normalizedBy(out, norm_name, length) else out;
    }

    fn layerProduct(reader: Reader, x: []const f64, layer: usize, role: []const u8, out_width: u32, in_width: u32) weights.Error![]f64 {
        const matrix = try reader.source.table(try reader.layerName(layer, role), out_width, in_width);
        const out = try reader.rows(x.len / in_width, out_width);
        try reader.product(x, matrix, out);
        return out;
    }

    fn product(reader: Reader, x: []const f64, matrix: Matrix, out: []f64) weights.Error!void {
        const row = try reader.arena.alloc(f64, matrix.columns);
        for (0..matrix.rows) |r| {
            for (row, 0..) |*element, column| element.* = formula.weight(&matrix, r, column);
            for (0..x.len / matrix.columns) |i| {
                var sum: f64 = 0;
                for (row, x[i * matrix.columns ..][0..matrix.columns]) |w, element| sum += w * element;
                out[i * matrix.rows + r] = sum;
            }
        }
    }

    /// Under the layer's norm of this name, or as it is where the layer has none.
    fn layerNormalized(reader: Reader, x: []const f64, layer: usize, role: []const u8) weights.Error![]f64 {
        const name = try reader.layerName(layer, role);
        return if (reader.source.has(name)) reader.normalized(x, name) else reader.arena.dupe(f64, x);
    }

    fn normalized(reader: Reader, x: []const f64, name: []const u8) weights.Error![]f64 {
        return reader.normalizedBy(x, name, reader.manifest.embedding);
    }

    fn normalizedBy(reader: Reader, x: []const f64, name: []const u8, width: u32) weights.Error![]f64 {
        const weight = try reader.source.table(name, 1, width);
        const out = try reader.arena.dupe(f64, x);
        for (0..x.len / width) |i| {
            const row = out[i * width ..][0..width];
            var sum: f64 = 0;
            for (row) |each| sum += each * each;
            const root = @sqrt(sum / @as(f64, @floatFromInt(width)) + reader.manifest.norm_epsilon);
            for (row, 0..) |*each, column| each.* = each.* / root * formula.weight(&weight, 0, column);
        }
        return out;
    }

    /// Radians per token of each pair.
    fn angles(reader: Reader, is_windowed: bool) weights.Error![]f64 {
        const r = reader.manifest.rope;
        const base = if (is_windowed) r.base_local else r.base;
        const n: f64 = @floatFromInt(r.dimensions);
        const theta = try reader.arena.alloc(f64, r.dimensions / 2);
        const is_scaled = reader.isScaled(is_windowed);
        for (theta, 0..) |*each, i| {
            each.* = std.math.pow(f64, base, -2 * @as(f64, @floatFromInt(i)) / n);
            if (reader.source.has("rope_freqs.weight"))
                each.* /= formula.weight(&try reader.source.table("rope_freqs.weight", 1, r.dimensions / 2), 0, i);
            if (is_scaled and r.scaling == .linear) each.* /= r.factor;
            if (is_scaled and r.scaling == .yarn) {
                // Peng et al., equations 17 to 22, in the form that transformers gives them.
                const context: f64 = @floatFromInt(r.original_context);
                const low = @floor(n * @log(context / (r.beta_fast * 2 * std.math.pi)) / (2 * @log(base)));
                const high = @ceil(n * @log(context / (r.beta_slow * 2 * std.math.pi)) / (2 * @log(base)));
                const begin = @max(low, 0);
                const ramp = (@as(f64, @floatFromInt(i)) - begin) / @max(@min(high, n - 1) - begin, 0.001);
                const stretched = @min(@max(ramp, 0), 1);
                each.* = each.* / r.factor * stretched + each.* * (1 - stretched);
            }
        }
        return theta;
    }

    fn isScaled(reader: Reader, is_windowed: bool) bool {
        return !is_windowed or reader.manifest.rope.base == reader.manifest.rope.base_local;
    }

    fn rotate(reader: Reader, x: []f64, theta: []const f64, position: usize, is_windowed: bool) void {
        const magnitude = if (reader.isScaled(is_windowed)) reader.manifest.rope.attention_factor else 1;
        for (theta, 0..) |each, i| {
            const a, const b = switch (reader.manifest.rope.pairing) {
                .adjacent => .{ 2 * i, 2 * i + 1 },
                .halves => .{ i, i + theta.len },
            };
            const cos = @cos(@as(f64, @floatFromInt(position)) * each) * magnitude;
            const sin = @sin(@as(f64, @floatFromInt(position)) * each) * magnitude;
            const from = .{ x[a], x[b] };
            x[a] = from[0] * cos - from[1] * sin;
            x[b] = from[1] * cos + from[0] * sin;
        }
    }
};
