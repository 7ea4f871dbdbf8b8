//! Qwen 2: Llama's graph with biases on queries, keys and values.
const llama = @import("llama.zig");

pub const Qwen2 = llama.Graph(.{ .bias = .required });
