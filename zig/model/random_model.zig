//! Tiny models with random weights on disk, for tests: every option of the manifest can be set, every format of weights used.
const std = @import("std");
const kernels = @import("../kernels.zig");
const manifests = @import("manifest.zig");
const Manifest = manifests.Manifest;
const Tensor = manifests.Tensor;
const Format = kernels.Format;

pub const RandomModel = struct {
    arena: std.heap.ArenaAllocator,
    directory: std.testing.TmpDir,
    json: []const u8,

    pub const Options = struct {
        seed: u64 = 1,
        /// Matrices take these in turn.
        formats: []const Format = &.{.f32},
        is_tied: bool = true,
        has_rope_divisors: bool = false,
        /// Of a tensor that is left out, and of one that has a row too few.
        missing: ?[]const u8 = null,
        short: ?[]const u8 = null,
        /// Bytes that the file lacks at its end.
        cut_bytes: usize = 0,
    };

    /// Sizes that are multiples of nothing.
    pub const odd: Manifest = .{
        .architecture = .llama,
        .files = &.{},
        .context_max = 700,
        .vocabulary = 53,
        .layers = 3,
        .embedding = 44,
        .feed_forward = 70,
        .heads = 6,
        .heads_kv = 2,
        .key_length = 10,
        .value_length = 7,
        .norm_epsilon = 1e-5,
        .rope = .{
            .dimensions = 6,
            .pairing = .adjacent,
            .base = 500,
            .base_local = 500,
            .scaling = .none,
            .factor = 1,
            .original_context = 0,
            .attention_factor = 1,
            .beta_fast = 32,
            .beta_slow = 1,
        },
        .window = 0,
        .window_pattern = 1,
        .attention_scale = 0.3,
        .attention_softcap = 0,
        .logits_softcap = 0,
        .embedding_scale = 1,
        .causal = true,
        .pooling = .none,
        .tensors = &.{},
    };

    /// `shape` without files and tensors.
    pub fn create(gpa: std.mem.Allocator, shape: Manifest, options: Options) !RandomModel {
        var model: RandomModel = .{ .arena = .init(gpa), .directory = std.testing.tmpDir(.{}), .json = undefined };
        errdefer model.destroy();
        const arena = model.arena.allocator();
        var writer: Writer = .{ .arena = arena, .options = options, .prng = .init(options.seed) };
        try writer.addModel(&shape);

        const io = std.testing.io;
        try model.directory.dir.writeFile(io, .{ .sub_path = "weights", .data = writer.bytes.items[0 .. writer.bytes.items.len - options.cut_bytes] });
        const path = try arena.print(".zig-cache/tmp/{s}/weights", .{model.directory.sub_path});
        var manifest = shape;
        manifest.files = &.{path};
        manifest.tensors = writer.tensors.items;
        model.json = try std.json.Stringify.valueAlloc(arena, manifest, .{});
        return model;
    }

    pub fn destroy(model: *RandomModel) void {
        model.directory.cleanup();
        model.arena.deinit();
    }
};

const Writer = struct {
    arena: std.mem.Allocator,
    options: RandomModel.Options,
    prng: std.Random.DefaultPrng,
    bytes: std.ArrayList(u8) = .empty,
    tensors: std.ArrayList(Tensor) = .empty,
    matrices: usize = 0,

    fn addModel(writer: *Writer, m: *const Manifest) !void {
        try writer.addMatrix("token_embd.weight", m.vocabulary, m.embedding);
        if (!writer.options.is_tied) try writer.addMatrix("output.weight", m.vocabulary, m.embedding);
        try writer.addVector("output_norm.weight", m.embedding, 1);
        if (writer.options.has_rope_divisors) try writer.addVector("rope_freqs.weight", m.rope.dimensions / 2, 4);
        for (0..m.layers) |layer| {
            const Role = struct { []const u8, u32, u32 };
            const matrices = [_]Role{
                .{ "attn_q.weight", m.heads * m.key_length, m.embedding },
                .{ "attn_k.weight", m.heads_kv * m.key_length, m.embedding },
                .{ "attn_v.weight", m.heads_kv * m.value_length, m.embedding },
                .{ "attn_output.weight", m.embedding, m.heads * m.value_length },
                .{ "ffn_gate.weight", m.feed_forward, m.embedding },
                .{ "ffn_up.weight", m.feed_forward, m.embedding },
                .{ "ffn_down.weight", m.embedding, m.feed_forward },
            };
            for (matrices) |role| try writer.addMatrix(try writer.name(layer, role[0]), role[1], role[2]);
            for ([_][]const u8{ "attn_norm.weight", "ffn_norm.weight" }) |role|
                try writer.addVector(try writer.name(layer, role), m.embedding, 1);
            switch (m.architecture) {
                .llama => {},
                .qwen2 => {
                    try writer.addVector(try writer.name(layer, "attn_q.bias"), m.heads * m.key_length, 0);
                    try writer.addVector(try writer.name(layer, "attn_k.bias"), m.heads_kv * m.key_length, 0);
                    try writer.addVector(try writer.name(layer, "attn_v.bias"), m.heads_kv * m.value_length, 0);
                },
                .gemma3 => {
                    for ([_][]const u8{ "attn_q_norm.weight", "attn_k_norm.weight" }) |role|
                        try writer.addVector(try writer.name(layer, role), m.key_length, 1);
                    for ([_][]const u8{ "post_attention_norm.weight", "post_ffw_norm.weight" }) |role|
                        try writer.addVector(try writer.name(layer, role), m.embedding, 1);
                },
            }
        }
    }

    fn name(writer: *Writer, layer: usize, role: []const u8) ![]const u8 {
        return writer.arena.print("blk.{d}.{s}", .{ layer, role });
    }

    /// Numbers around `mean`.
    fn addVector(writer: *Writer, tensor: []const u8, count: u32, mean: f32) !void {
        try writer.begin(tensor, .f32, &.{count});
        for (0..count) |_| try writer.addFloat(mean + 0.2 * writer.prng.random().floatNorm(f32));
    }

    fn addMatrix(writer: *Writer, tensor: []const u8, rows: u32, columns: u32) !void {
        const format = writer.options.formats[writer.matrices % writer.options.formats.len];
        writer.matrices += 1;
        try writer.begin(tensor, format, &.{ columns, rows });
        const deviation = 1 / @sqrt(@as(f32, @floatFromInt(columns)));
        if (format == .f32) {
            for (0..rows * columns) |_| try writer.addFloat(deviation * writer.prng.random().floatNorm(f32));
            return;
        }
        const block = blockOf(format);
        for (0..rows * (columns / kernels.blockElements(format))) |_| {
            const start = writer.bytes.items.len;
            writer.prng.random().bytes(try writer.bytes.addManyAsSlice(writer.arena, kernels.blockBytes(format)));
            for (block.scales) |scale| {
                const value: f16 = @floatCast(scale.factor * deviation * (0.5 + writer.prng.random().float(f32)));
                std.mem.writeInt(u16, writer.bytes.items[start + scale.offset ..][0..2], @bitCast(value), .little);
            }
        }
    }

    fn begin(writer: *Writer, tensor: []const u8, format: Format, shape: []const u64) !void {
        while (writer.bytes.items.len % 32 != 0) try writer.bytes.append(writer.arena, 0);
        if (isNamed(writer.options.missing, tensor)) return;
        const declared = try writer.arena.dupe(u64, shape);
        if (isNamed(writer.options.short, tensor)) declared[declared.len - 1] -= 1;
        try writer.tensors.append(writer.arena, .{
            .name = tensor,
            .format = @backingInt(format),
            .shape = declared,
            .file = 0,
            .offset = writer.bytes.items.len,
        });
    }

    fn isNamed(option: ?[]const u8, tensor: []const u8) bool {
        return if (option) |named| std.mem.eql(u8, named, tensor) else false;
    }

    fn addFloat(writer: *Writer, value: f32) !void {
        var four: [4]u8 = undefined;
        std.mem.writeInt(u32, &four, @bitCast(value), .little);
        try writer.bytes.appendSlice(writer.arena, &four);
    }
};

/// Where a block keeps its f16 scales, and what makes random bits of the rest into weights of about unit deviation.
const Block = struct { scales: []const Scale };
const Scale = struct { offset: usize, factor: f32 };

fn blockOf(format: Format) Block {
    return .{
        .scales = switch (format) {
            .q4_0 => &.{.{ .offset = 0, .factor = 0.2 }},
            .q4_1 => &.{ .{ .offset = 0, .factor = 0.2 }, .{ .offset = 2, .factor = -1.5 } },
            .q5_0 => &.{.{ .offset = 0, .factor = 0.1 }},
            .q8_0 => &.{.{ .offset = 0, .factor = 0.014 }},
            .q4_k => &.{ .{ .offset = 0, .factor = 0.007 }, .{ .offset = 2, .factor = 0.05 } },
            .q6_k => &.{.{ .offset = 208, .factor = 0.0008 }},
            else => unreachable, // No test uses it.
        },
    };
}
