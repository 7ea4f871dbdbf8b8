//! What a CPU level offers: one table of functions, filled by level.zig and read through kernels.zig. The layout is C's because
//! every level is a compilation of its own.
const Format = @import("format.zig").Format;

/// A weight matrix, (rows, columns), row after row.
pub const Matrix = extern struct {
    format: Format,
    rows: u32,
    columns: u32,
    /// As in the file, at any alignment; read by dequantizeRow, repack, and by matmul of formats that are not repacked.
    data: [*]const u8,
    /// What `repack` wrote, 64-byte aligned; required by matmul where repackedBytes is not 0.
    repacked: ?[*]const u8 = null,
};

/// How RoPE pairs the elements of a head: (2i, 2i + 1) or (i, i + dims / 2).
pub const Pairing = enum(u32) { adjacent, halves };

/// Tokens whose keys and values lie together, so that the scores of a row fill a few vectors.
pub const page_tokens = 32;
/// Elements; a multiple of every level's vector.
pub const value_alignment = 16;

/// Rows of queries against a page. Rows go through the pages that they see from the first to the last; before the first one
/// `maxima` is minus infinity, `sums` and `out` are 0; after the last one a row's attention is out / sum.
pub const AttentionPage = extern struct {
    /// (count, key_length), already scaled.
    queries: [*]const f32,
    /// (key_length, page_tokens).
    keys: [*]const f16,
    /// (page_tokens, value_stride); finite also where no row sees them.
    values: [*]const f16,
    /// The tokens that each row sees; none where begin >= end.
    visible: [*]const VisibleTokens,
    count: u32,
    key_length: u32,
    /// A multiple of value_alignment.
    value_stride: u32,
    /// 0 for none.
    softcap: f32,
    maxima: [*]f32,
    sums: [*]f32,
    /// (count, value_stride).
    out: [*]f32,
};

pub const VisibleTokens = extern struct { begin: u32, end: u32 };

/// Functions over ranges: no threads, no allocation, no state. Pointers of f32 and f16 need the alignment of their type only.
/// Inputs and outputs may be the same memory where that is said, and must not overlap otherwise.
pub const Kernels = extern struct {
    /// Rows that are computed together; ranges that begin and end at multiples of it waste nothing.
    row_block: u32,

    /// Bytes of one activation row in the form that weights of this format are multiplied with, a multiple of 64. All quantised
    /// formats share one form and all float formats share another (f32), so a row can be converted once for several matrices.
    activationBytes: *const fn (format: Format, columns: u32) callconv(.c) usize,
    /// One row of f32 to the activation form; `out` is 64-byte aligned.
    quantize: *const fn (format: Format, x: [*]const f32, columns: u32, out: [*]u8) callconv(.c) void,

    /// Bytes of the layout that matmul reads, or 0 if that is the file's own.
    repackedBytes: *const fn (format: Format, rows: u32, columns: u32) callconv(.c) usize,
    /// Writes the rows of the range into the repacked layout; `out` is the start of the whole layout. Bounds are multiples of
    /// `row_block`, except that the last may be `rows`: threads may share the work.
    repack: *const fn (matrix: *const Matrix, out: [*]u8, row_begin: u32, row_end: u32) callconv(.c) void,

    /// out[i * out_stride + r] = activation row i times weight row r, for i < count and row_begin <= r < row_end. Activation rows
    /// follow each other at activationBytes. An element's value depends on nothing but its two rows.
    matmul: *const fn (
        matrix: *const Matrix,
        activations: [*]const u8,
        count: u32,
        out: [*]f32,
        out_stride: usize,
        row_begin: u32,
        row_end: u32,
    ) callconv(.c) void,

    dequantizeRow: *const fn (matrix: *const Matrix, row: u32, out: [*]f32) callconv(.c) void,

    /// out = x / sqrt(mean(x²) + epsilon) * weight; out may be x.
    rmsNorm: *const fn (x: [*]const f32, weight: [*]const f32, epsilon: f32, out: [*]f32, n: usize) callconv(.c) void,
    /// out = a + b; out may be a or b.
    add: *const fn (a: [*]const f32, b: [*]const f32, out: [*]f32, n: usize) callconv(.c) void,
    /// x *= factor.
    scale: *const fn (x: [*]f32, factor: f32, n: usize) callconv(.c) void,
    /// out = silu(gate) * up; out may be gate or up.
    siluMul: *const fn (gate: [*]const f32, up: [*]const f32, out: [*]f32, n: usize) callconv(.c) void,
    /// out = gelu(gate) * up in the tanh form; out may be gate or up.
    geluMul: *const fn (gate: [*]const f32, up: [*]const f32, out: [*]f32, n: usize) callconv(.c) void,
    /// x = cap * tanh(x / cap).
    softcap: *const fn (x: [*]f32, cap: f32, n: usize) callconv(.c) void,
    /// Rotates the first `dims` elements of each of `heads` heads, `head_dim` apart. `cos_sin` holds dims / 2 cosines, then
    /// dims / 2 sines, of one position.
    rope: *const fn (x: [*]f32, cos_sin: [*]const f32, pairing: Pairing, heads: u32, head_dim: u32, dims: u32) callconv(.c) void,
    /// x = exp(x - max) / sum. Minus infinity gives 0; a row of nothing else is not allowed.
    softmax: *const fn (x: [*]f32, n: usize) callconv(.c) void,
    dotF16: *const fn (q: [*]const f32, k: [*]const f16, n: usize) callconv(.c) f32,
    /// out += weight * v.
    axpyF16: *const fn (weight: f32, v: [*]const f16, out: [*]f32, n: usize) callconv(.c) void,
    /// Rounds to nearest even.
    toF16: *const fn (x: [*]const f32, out: [*]f16, n: usize) callconv(.c) void,
    /// One page of attention; the formula is in attention.zig.
    attend: *const fn (page: *const AttentionPage) callconv(.c) void,
};
