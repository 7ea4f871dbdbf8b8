//! The weight formats: their numbers in a GGUF file and the size of their blocks (ggml-common.h).

pub const Format = enum(u32) {
    f32 = 0,
    f16 = 1,
    q4_0 = 2,
    q4_1 = 3,
    q5_0 = 6,
    q5_1 = 7,
    q8_0 = 8,
    q2_k = 10,
    q3_k = 11,
    q4_k = 12,
    q5_k = 13,
    q6_k = 14,
    iq4_nl = 20,
    bf16 = 30,
};

/// Elements of one row that share a block. A row is a whole number of blocks.
pub fn blockElements(format: Format) u32 {
    return switch (format) {
        .f32, .f16, .bf16 => 1,
        .q4_0, .q4_1, .q5_0, .q5_1, .q8_0, .iq4_nl => 32,
        .q2_k, .q3_k, .q4_k, .q5_k, .q6_k => 256,
    };
}

pub fn blockBytes(format: Format) u32 {
    return switch (format) {
        .f32 => 4,
        .f16, .bf16 => 2,
        .q4_0, .iq4_nl => 18,
        .q4_1 => 20,
        .q5_0 => 22,
        .q5_1 => 24,
        .q8_0 => 34,
        .q2_k => 84,
        .q3_k => 110,
        .q4_k => 144,
        .q5_k => 176,
        .q6_k => 210,
    };
}

/// Bytes of one row as it is in the file; `columns` is a multiple of `blockElements`.
pub fn rowBytes(format: Format, columns: u32) usize {
    return @as(usize, columns / blockElements(format)) * blockBytes(format);
}

/// Whether rows are multiplied with activations quantised to 8 bits; the others are multiplied with f32.
pub fn isQuantized(format: Format) bool {
    return blockElements(format) != 1;
}

/// IQ4_NL's sixteen values, in units of the block's scale.
pub const iq4_nl_values = [16]i8{ -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };
