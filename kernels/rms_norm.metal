// out[r][c] = x[r][c] / sqrt(mean(x[r]²) + epsilon) * weight[c]
//
//   x, out  (R, C) f32, any R and C; out may be x
//   weight  (C) f32
//
// Grid: one threadgroup a row, of rms_norm_threads threads. A thread takes every rms_norm_threads-th column. Sums of squares are
// joined inside a SIMD group, put into shared memory, and joined again by every thread for itself.

kernel void rms_norm(
    constant RmsNormArguments &arguments [[buffer(0)]],
    device const float *x [[buffer(1)]],
    device const float *weight [[buffer(2)]],
    device float *out [[buffer(3)]],
    threadgroup float *sums SHARED(0), // (SIMD groups)
    uint row [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    const uint columns = arguments.columns;
    const ulong start = ulong(row) * columns;

    float sum = 0;
    for (uint c = thread_index; c < columns; c += rms_norm_threads)
        sum += x[start + c] * x[start + c];
    sum = simd_sum(sum);
    if (lane == 0)
        sums[simdgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);

    sum = 0;
    for (uint i = 0; i < rms_norm_threads / simd_width; i++)
        sum += sums[i];
    const float factor = rsqrt(sum / float(columns) + arguments.epsilon);
    for (uint c = thread_index; c < columns; c += rms_norm_threads)
        out[start + c] = x[start + c] * factor * weight[c];
}
