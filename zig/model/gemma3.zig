//! Gemma 3: RMS norm before and after attention and before and after a GeGLU feed-forward layer, norms on query and key heads, layers that
//! see a sliding window and rotate with a base of their own between layers that see everything.
const kernels = @import("../kernels.zig");
const backend = @import("backend.zig");
const weights = @import("weights.zig");
const Manifest = @import("manifest.zig").Manifest;
const Take = @import("take.zig").Take;
const Matrix = kernels.Matrix;

pub const Gemma3 = struct {
    manifest: *const Manifest,
    embedding: Matrix,
    layers: []const Layer,
    output_norm: []const f32,
    output: Matrix,

    const Layer = struct {
        attention_norm: []const f32,
        attention: backend.Projections,
        attention_output: Matrix,
        attention_post_norm: []const f32,
        feed_forward_norm: []const f32,
        gate: Matrix,
        up: Matrix,
        down: Matrix,
        feed_forward_post_norm: []const f32,
    };

    pub fn init(take: Take) weights.Error!Gemma3 {
        const layers = try take.allocLayers(Layer);
        for (layers, 0..) |*layer, index| {
            const of = take.layer(index);
            layer.* = .{
                .attention_norm = try of.norm("attn_norm"),
                .attention = try of.projections(.{ .head_norm = .required }),
                .attention_output = try of.attentionOutput(),
                .attention_post_norm = try of.norm("post_attention_norm"),
                .feed_forward_norm = try of.norm("ffn_norm"),
                .gate = try of.widening("ffn_gate"),
                .up = try of.widening("ffn_up"),
                .down = try of.narrowing("ffn_down"),
                .feed_forward_post_norm = try of.norm("post_ffw_norm"),
            };
        }
        return .{
            .manifest = take.manifest,
            .embedding = try take.embedding(),
            .layers = layers,
            .output_norm = try take.outputNorm(),
            .output = try take.output(),
        };
    }

    pub fn run(model: *const Gemma3, b: anytype) void {
        b.embed(&model.embedding, model.manifest.embedding_scale);
        for (model.layers, 0..) |*layer, index| {
            if (b.isStopped()) return;
            const number: u32 = @intCast(index);
            const is_windowed = model.manifest.isWindowed(number);
            b.project(number, layer.attention_norm, &layer.attention, if (is_windowed) .local else .global);
            b.attend(number, if (is_windowed) model.manifest.window else 0);
            b.multiply(&layer.attention_output, .attention);
            b.add(layer.attention_post_norm);
            b.gate(layer.feed_forward_norm, &layer.gate, &layer.up, .gelu);
            b.multiply(&layer.down, .hidden);
            b.add(layer.feed_forward_post_norm);
        }
        b.states(model.output_norm);
        b.logits(model.output_norm, &model.output);
    }
};
