//! What the host and the kernels must agree on: the structs of arguments, and the sizes that a kernel's grid is planned with.
//! kernels/arguments.gen.h is this file in the kernels' language.

/// Threads that run together in a SIMD group of every Apple GPU.
pub const simd_width = 32;

/// Threads of a threadgroup of rms_norm, which has one row.
pub const rms_norm_threads = 256;

/// Rows of a SIMD group of mul_mv, and SIMD groups of a threadgroup: small groups keep a GPU busy with few rows.
pub const mul_mv_rows = 4;
pub const mul_mv_simdgroups = 2;

pub const RmsNormArguments = extern struct {
    columns: u32,
    epsilon: f32,
};

pub const MulMvArguments = extern struct {
    rows: u32,
    columns: u32,
    /// Elements between the results of two vectors.
    out_stride: u32,
};

/// Threadgroups of mul_mv for a matrix of so many rows.
pub fn mulMvGroups(rows: u32) u32 {
    const rows_of_group = mul_mv_rows * mul_mv_simdgroups;
    return (rows + rows_of_group - 1) / rows_of_group;
}
