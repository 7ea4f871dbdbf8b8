//! What a graph is written against. A backend computes one step: the rows of a few sequences through the whole model. It keeps
//! between its operations
//!     residual  (rows, embedding)               queries (rows, heads × key_length), rotated and scaled
//!     attention (rows, heads × value_length)    hidden  (rows, feed_forward)    product (rows, embedding)
//! and fuses in each operation what needs no meeting of threads or dispatch of its own. Graphs are generic over it (`anytype`):
//! the CPU runs a graph on every thread at once, a GPU backend runs it once to encode its commands.
const kernels = @import("../kernels.zig");
const Sequence = @import("cache.zig").Sequence;
const Pool = @import("pool.zig").Pool;
const Matrix = kernels.Matrix;

/// What one run of a graph computes. Rows are tokens; those of a sequence follow each other.
pub const Step = struct {
    tokens: []const u32,
    spans: []const Span,
    outputs: []const Output,

    pub fn hasPools(step: *const Step) bool {
        for (step.spans) |*span| if (span.pool != null) return true;
        return false;
    }
};

/// The rows of one sequence, which has room for them.
pub const Span = struct { sequence: *Sequence, row: u32, count: u32, position: u32, pool: ?*Pool };

/// A row whose logits are wanted, f32 (vocabulary). Ordered by row.
pub const Output = struct { row: u32, logits: [*]f32 };

/// How queries, keys and values are made from the normalised residual. Norms are per head, before rotation.
pub const Projections = struct {
    query: Matrix,
    key: Matrix,
    value: Matrix,
    query_bias: ?[]const f32 = null,
    key_bias: ?[]const f32 = null,
    value_bias: ?[]const f32 = null,
    query_norm: ?[]const f32 = null,
    key_norm: ?[]const f32 = null,
};

/// Whether a layer rotates with the model's base and scaling or with its local base.
pub const Rotation = enum { global, local };
pub const Source = enum { attention, hidden };
pub const Gate = enum { silu, gelu };

/// Refuses a backend that lacks an operation.
pub fn check(comptime Backend: type) void {
    const operations = .{
        // All threads agree on it between two operations.
        .{ "isStopped", fn (*Backend) bool },
        // residual = scale * table[token]
        .{ "embed", fn (*Backend, *const Matrix, f32) void },
        // queries = scaled, rotated; keys and values of `layer` into the cache; from the residual under RMS norm
        .{ "project", fn (*Backend, u32, []const f32, *const Projections, Rotation) void },
        // attention = softmax over the tokens that a row sees: up to itself, or all where the model is not causal, of those before it the
        // last `window` (0: all)
        .{ "attend", fn (*Backend, u32, u32) void },
        // product = matrix × source
        .{ "multiply", fn (*Backend, *const Matrix, Source) void },
        // residual += product, under RMS norm where weights are given
        .{ "add", fn (*Backend, ?[]const f32) void },
        // hidden = act(gate × x) * (up × x), x the residual under RMS norm
        .{ "gate", fn (*Backend, []const f32, *const Matrix, *const Matrix, Gate) void },
        // product = x, the residual under RMS norm, where a span of the step is pooled
        .{ "states", fn (*Backend, []const f32) void },
        // logits = cap(matrix × x), x the residual of the output rows under RMS norm
        .{ "logits", fn (*Backend, []const f32, *const Matrix) void },
    };
    inline for (operations) |operation| {
        if (@TypeOf(@field(Backend, operation[0])) != operation[1])
            @compileError(@typeName(Backend) ++ "." ++ operation[0] ++ " must be a " ++ @typeName(operation[1]));
    }
}
