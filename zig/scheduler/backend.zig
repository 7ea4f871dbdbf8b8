const std = @import("std");
const limits = @import("../limits.zig").scheduler;
const models = @import("../model.zig");
pub const Model = models.Model;
pub const Noise = @import("noise.zig").Noise;

/// What computes logits. Used by the scheduler thread only.
pub const Backend = union(enum) {
    noise: *Noise,
    model: *Model,

    pub const Sequence = union(enum) { noise: *Noise.Sequence, model: *models.Sequence };

    pub const Pool = models.Pool;

    /// Tokens to append to a sequence, where the logits of the last `outputs` of them go, and what their hidden states become part of, if anything.
    pub const Item = struct { sequence: Sequence, tokens: []const u32, logits: ?[*]f32, outputs: u32 = 1, pool: ?*Pool = null };

    pub const Error = error{ Cancelled, ContextFull, OutOfMemory };

    pub fn vocabularyCount(backend: Backend) u32 {
        return switch (backend) {
            .noise => |noise| noise.options.vocabulary_count,
            .model => |model| model.vocabulary_count,
        };
    }

    /// Tokens.
    pub fn contextMax(backend: Backend) u32 {
        return switch (backend) {
            .noise => |noise| noise.options.context_max,
            .model => |model| model.context_max,
        };
    }

    /// Whether it gives vectors of texts, and nothing else.
    pub fn embeds(backend: Backend) bool {
        return switch (backend) {
            .noise => false,
            .model => |model| model.embeds(),
        };
    }

    /// Whether a text may be computed in chunks.
    pub fn isCausal(backend: Backend) bool {
        return switch (backend) {
            .noise => true,
            .model => |model| model.isCausal(),
        };
    }

    /// Only where it embeds.
    pub fn poolCreate(backend: Backend, gpa: std.mem.Allocator) error{OutOfMemory}!Pool {
        return backend.model.poolCreate(gpa);
    }

    pub fn cacheBytes(backend: Backend) usize {
        return switch (backend) {
            inline else => |own| own.cacheBytes(),
        };
    }

    pub fn sequenceCreate(backend: Backend) error{OutOfMemory}!Sequence {
        return switch (backend) {
            .noise => |noise| .{ .noise = try noise.sequenceCreate() },
            .model => |model| .{ .model = try model.sequenceCreate() },
        };
    }

    pub fn sequenceDestroy(backend: Backend, sequence: Sequence) void {
        switch (backend) {
            .noise => |noise| noise.sequenceDestroy(sequence.noise),
            .model => |model| model.sequenceDestroy(sequence.model),
        }
    }

    /// A sequence of its own that begins with the first `len` tokens of another, or somewhat fewer.
    pub fn sequenceShare(backend: Backend, sequence: Sequence, len: u32) error{OutOfMemory}!Sequence {
        return switch (backend) {
            .noise => |noise| .{ .noise = try noise.sequenceShare(sequence.noise, len) },
            .model => |model| .{ .model = try model.sequenceShare(sequence.model, len) },
        };
    }

    /// Tokens.
    pub fn sequenceLen(_: Backend, sequence: Sequence) u32 {
        return switch (sequence) {
            .noise => |own| @intCast(own.tokens.items.len),
            .model => |own| own.len,
        };
    }

    pub fn sequenceBytes(_: Backend, sequence: Sequence) usize {
        return switch (sequence) {
            .noise => |own| own.tokens.items.len * @sizeOf(u32),
            .model => |own| own.bytes(),
        };
    }

    /// Forgets the last tokens of a sequence.
    pub fn sequenceDrop(backend: Backend, sequence: Sequence, tokens: u32) void {
        switch (backend) {
            .noise => |noise| noise.drop(sequence.noise, tokens),
            .model => sequence.model.truncate(sequence.model.len - tokens),
        }
    }

    /// Computes all items in one pass. On failure every sequence is as long as it was.
    pub fn forward(backend: Backend, items: []const Item, cancel: *const std.atomic.Value(bool)) Error!void {
        switch (backend) {
            .noise => |noise| {
                var own: [limits.slots_max]Noise.Item = undefined;
                for (own[0..items.len], items) |*to, from|
                    to.* = .{ .sequence = from.sequence.noise, .tokens = from.tokens, .logits = from.logits, .outputs = from.outputs };
                try noise.forward(own[0..items.len], cancel);
            },
            .model => |model| {
                var own: [limits.slots_max]models.Item = undefined;
                for (own[0..items.len], items) |*to, from| to.* = .{
                    .sequence = from.sequence.model,
                    .tokens = from.tokens,
                    .logits = from.logits,
                    .outputs = from.outputs,
                    .pool = from.pool,
                };
                try model.forward(own[0..items.len], cancel);
            },
        }
    }

    pub fn destroy(backend: Backend) void {
        switch (backend) {
            inline else => |own| own.destroy(),
        }
    }
};
