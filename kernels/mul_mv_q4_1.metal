// out[v][r] = Σ_c weight[r][c] · x[v][c], the weights in blocks of Q4_1
//
//   weights  (R, C) Q4_1: 32 columns in 20 bytes: f16 d, f16 m, 16 bytes; w = d·q + m, where q of column j is the low
//            nibble of byte j, and of column 16 + j the high nibble (ggml-common.h); C is a multiple of 32, R is any
//   x        (V, C) f32
//   out      (V, R) f32, rows out_stride elements apart
//
// Grid: (ceil(R / rows of a threadgroup), V). A SIMD group takes mul_mv_rows rows; two lanes share a block, one its bytes 0…7 and
// one its bytes 8…15, so a step of 32 lanes takes 512 columns. The 16 values of x that belong to a lane's bytes are read once for
// all rows, and their sum once for all m.

kernel void mul_mv_q4_1(
    constant MulMvArguments &arguments [[buffer(0)]],
    device const uchar *weights [[buffer(1)]],
    device const float *x [[buffer(2)]],
    device float *out [[buffer(3)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    const uint block_columns = 32;
    const uint block_bytes = 20;
    const uint blocks = arguments.columns / block_columns;
    const uint first_row = (group.x * mul_mv_simdgroups + simdgroup) * mul_mv_rows;
    const uint first_byte = lane % 2 * 8;
    const ulong x_start = ulong(group.y) * arguments.columns;

    float sums[mul_mv_rows] = {};
    for (uint block = lane / 2; block < blocks; block += simd_width / 2) {
        device const float *values = x + x_start + block * block_columns + first_byte;
        float low[8], high[8];
        float total = 0;
        for (uint i = 0; i < 8; i++) {
            low[i] = values[i];
            high[i] = values[16 + i];
            total += low[i] + high[i];
        }
        for (uint r = 0; r < mul_mv_rows; r++) {
            // Beyond the last row it is computed again, and not written.
            const uint row = min(first_row + r, arguments.rows - 1);
            device const uchar *bytes = weights + (ulong(row) * blocks + block) * block_bytes;
            device const half *scales = (device const half *)bytes;
            float dot = 0;
            for (uint i = 0; i < 8; i++) {
                const uint pair = bytes[4 + first_byte + i];
                dot += low[i] * float(pair & 15) + high[i] * float(pair >> 4);
            }
            sums[r] += float(scales[0]) * dot + float(scales[1]) * total;
        }
    }
    for (uint r = 0; r < mul_mv_rows; r++) {
        const float sum = simd_sum(sums[r]);
        if (lane == 0 && first_row + r < arguments.rows)
            out[ulong(group.y) * arguments.out_stride + first_row + r] = sum;
    }
}
