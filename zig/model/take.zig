//! Takes tensors by their role, under the names that GGUF has for them and with the shape that the architecture gives them.
const std = @import("std");
const kernels = @import("../kernels.zig");
const backend = @import("backend.zig");
const weights = @import("weights.zig");
const Manifest = @import("manifest.zig").Manifest;
const Matrix = kernels.Matrix;
const Error = weights.Error;

pub const Take = struct {
    weights: *weights.Weights,
    manifest: *const Manifest,

    pub fn allocLayers(take: Take, comptime Layer: type) Error![]Layer {
        return take.weights.arena.alloc(Layer, take.manifest.layers);
    }

    pub fn layer(take: Take, index: usize) TakeLayer {
        return .{ .take = take, .index = index };
    }

    pub fn embedding(take: Take) Error!Matrix {
        return take.weights.table("token_embd.weight", take.manifest.vocabulary, take.manifest.embedding);
    }

    pub fn outputNorm(take: Take) Error![]const f32 {
        return take.weights.vector("output_norm.weight", take.manifest.embedding);
    }

    /// A model without an output matrix uses its embeddings.
    pub fn output(take: Take) Error!Matrix {
        const name = if (take.weights.has("output.weight")) "output.weight" else "token_embd.weight";
        return take.weights.matrix(name, take.manifest.vocabulary, take.manifest.embedding);
    }

    /// Divisors of RoPE frequencies, where the model scales them so.
    pub fn ropeDivisors(take: Take) Error!?[]const f32 {
        const name = "rope_freqs.weight";
        return if (take.weights.has(name)) try take.weights.vector(name, take.manifest.rope.dimensions / 2) else null;
    }
};

pub const TakeLayer = struct {
    take: Take,
    index: usize,

    pub fn norm(of: TakeLayer, comptime role: []const u8) Error![]const f32 {
        return of.vector(role ++ ".weight", of.take.manifest.embedding);
    }

    /// Which of the parts that not every architecture has are there.
    pub const Parts = struct { bias: Presence = .absent, head_norm: Presence = .absent };
    pub const Presence = enum { absent, optional, required };

    pub fn projections(of: TakeLayer, parts: Parts) Error!backend.Projections {
        const manifest = of.take.manifest;
        const queries = manifest.heads * manifest.key_length;
        const keys = manifest.heads_kv * manifest.key_length;
        const values = manifest.heads_kv * manifest.value_length;
        return .{
            .query = try of.matrix("attn_q.weight", queries, manifest.embedding),
            .key = try of.matrix("attn_k.weight", keys, manifest.embedding),
            .value = try of.matrix("attn_v.weight", values, manifest.embedding),
            .query_bias = try of.part(parts.bias, "attn_q.bias", queries),
            .key_bias = try of.part(parts.bias, "attn_k.bias", keys),
            .value_bias = try of.part(parts.bias, "attn_v.bias", values),
            .query_norm = try of.part(parts.head_norm, "attn_q_norm.weight", manifest.key_length),
            .key_norm = try of.part(parts.head_norm, "attn_k_norm.weight", manifest.key_length),
        };
    }

    pub fn attentionOutput(of: TakeLayer) Error!Matrix {
        const manifest = of.take.manifest;
        return of.matrix("attn_output.weight", manifest.embedding, manifest.heads * manifest.value_length);
    }

    /// (feed_forward, embedding)
    pub fn widening(of: TakeLayer, comptime role: []const u8) Error!Matrix {
        return of.matrix(role ++ ".weight", of.take.manifest.feed_forward, of.take.manifest.embedding);
    }

    /// (embedding, feed_forward)
    pub fn narrowing(of: TakeLayer, comptime role: []const u8) Error!Matrix {
        return of.matrix(role ++ ".weight", of.take.manifest.embedding, of.take.manifest.feed_forward);
    }

    fn matrix(of: TakeLayer, role: []const u8, rows: u32, columns: u32) Error!Matrix {
        var buffer: [name_bytes_max]u8 = undefined;
        return of.take.weights.matrix(of.name(&buffer, role), rows, columns);
    }

    fn vector(of: TakeLayer, role: []const u8, count: u32) Error![]const f32 {
        var buffer: [name_bytes_max]u8 = undefined;
        return of.take.weights.vector(of.name(&buffer, role), count);
    }

    fn part(of: TakeLayer, presence: Presence, role: []const u8, count: u32) Error!?[]const f32 {
        var buffer: [name_bytes_max]u8 = undefined;
        const full = of.name(&buffer, role);
        const is_taken = switch (presence) {
            .absent => false,
            .optional => of.take.weights.has(full),
            .required => true,
        };
        return if (is_taken) try of.take.weights.vector(full, count) else null;
    }

    const name_bytes_max = 64;

    fn name(of: TakeLayer, buffer: *[name_bytes_max]u8, role: []const u8) []const u8 {
        var writer: std.Io.Writer = .fixed(buffer);
        writer.print("blk.{d}.{s}", .{ of.index, role }) catch |err| switch (err) {
            error.WriteFailed => unreachable, // Roles are literals of this room and shorter.
        };
        return writer.buffered();
    }
};
