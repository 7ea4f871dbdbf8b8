//! Llama and what shares its graph (Mistral, SmolLM): RMS norm before attention and before a SwiGLU feed-forward layer.
const kernels = @import("../kernels.zig");
const backend = @import("backend.zig");
const weights = @import("weights.zig");
const Manifest = @import("manifest.zig").Manifest;
const takes = @import("take.zig");
const Take = takes.Take;
const Matrix = kernels.Matrix;

pub const Llama = Graph(.{ .bias = .optional });

pub fn Graph(comptime parts: takes.TakeLayer.Parts) type {
    return struct {
        manifest: *const Manifest,
        embedding: Matrix,
        layers: []const Layer,
        output_norm: []const f32,
        output: Matrix,

        const Self = @This();
        const Layer = struct {
            attention_norm: []const f32,
            attention: backend.Projections,
            attention_output: Matrix,
            feed_forward_norm: []const f32,
            gate: Matrix,
            up: Matrix,
            down: Matrix,
        };

        pub fn init(take: Take) weights.Error!Self {
            const layers = try take.allocLayers(Layer);
            for (layers, 0..) |*layer, index| {
                const of = take.layer(index);
                layer.* = .{
                    .attention_norm = try of.norm("attn_norm"),
                    .attention = try of.projections(parts),
                    .attention_output = try of.attentionOutput(),
                    .feed_forward_norm = try of.norm("ffn_norm"),
                    .gate = try of.widening("ffn_gate"),
                    .up = try of.widening("ffn_up"),
                    .down = try of.narrowing("ffn_down"),
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

        pub fn run(model: *const Self, b: anytype) void {
            b.embed(&model.embedding, model.manifest.embedding_scale);
            for (model.layers, 0..) |*layer, index| {
                if (b.isStopped()) return;
                const number: u32 = @intCast(index);
                const is_windowed = model.manifest.isWindowed(number);
                b.project(number, layer.attention_norm, &layer.attention, if (is_windowed) .local else .global);
                b.attend(number, if (is_windowed) model.manifest.window else 0);
                b.multiply(&layer.attention_output, .attention);
                b.add(null);
                b.gate(layer.feed_forward_norm, &layer.gate, &layer.up, .silu);
                b.multiply(&layer.down, .hidden);
                b.add(null);
            }
            b.states(model.output_norm);
            b.logits(model.output_norm, &model.output);
        }
    };
}
