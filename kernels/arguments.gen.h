// Generated from zig/metal/arguments.zig by `bun run abi`.

enum : unsigned {
    simd_width = 32,
    rms_norm_threads = 256,
    mul_mv_rows = 4,
    mul_mv_simdgroups = 2,
};

struct RmsNormArguments {
    uint columns;
    float epsilon;
};
static_assert(sizeof(RmsNormArguments) == 8, "layout");

struct MulMvArguments {
    uint rows;
    uint columns;
    uint out_stride;
};
static_assert(sizeof(MulMvArguments) == 12, "layout");
