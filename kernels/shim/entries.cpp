// The kernels as the machine calls them: one line per argument, in the order of the kernel's own.
#include "../prelude.h"
#include "../arguments.gen.h"
#include "../mul_mv_q4_1.metal"
#include "../rms_norm.metal"

using shim::Position;

// The same kernel with its barrier taken out, to show that a run finds that.
namespace without_barrier {
#define threadgroup_barrier(flags)
#include "../rms_norm.metal"
#undef threadgroup_barrier
} // namespace without_barrier

typedef void RmsNorm(const RmsNormArguments &, const float *, const float *, float *, float *, uint, uint, uint, uint);

template <RmsNorm function>
static void rmsNorm(void *const *buffers, void *shared, const Position &p) {
    function(
        *(const RmsNormArguments *)buffers[0],
        (const float *)buffers[1],
        (const float *)buffers[2],
        (float *)buffers[3],
        (float *)shared,
        p.group_x, p.thread_index, p.lane, p.simdgroup);
}

static void mulMvQ41(void *const *buffers, void *, const Position &p) {
    mul_mv_q4_1(
        *(const MulMvArguments *)buffers[0],
        (const uchar *)buffers[1],
        (const float *)buffers[2],
        (float *)buffers[3],
        {p.group_x, p.group_y}, p.lane, p.simdgroup);
}

// Half of the threads miss the barrier.
static void divergentBarrier(void *const *, void *, const Position &p) {
    if (p.lane < 16) threadgroup_barrier(mem_flags::mem_threadgroup);
}

// The lanes of a SIMD group meet at two different operations.
static void divergentSum(void *const *buffers, void *, const Position &p) {
    float sum;
    if (p.lane < 16)
        sum = simd_sum(1);
    else
        sum = simd_sum(2);
    ((float *)buffers[0])[p.thread_index] = sum;
}

// One element more than there is shared memory for.
static void sharedOverrun(void *const *, void *shared, const Position &p) {
    ((float *)shared)[p.thread_index + 1] = 0;
}

extern "C" {
extern const shim::Entry tenon_shim_rms_norm = rmsNorm<rms_norm>;
extern const shim::Entry tenon_shim_rms_norm_without_barrier = rmsNorm<without_barrier::rms_norm>;
extern const shim::Entry tenon_shim_mul_mv_q4_1 = mulMvQ41;
extern const shim::Entry tenon_shim_divergent_barrier = divergentBarrier;
extern const shim::Entry tenon_shim_divergent_sum = divergentSum;
extern const shim::Entry tenon_shim_shared_overrun = sharedOverrun;
}
