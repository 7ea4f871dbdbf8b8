// A GPU of one core: runs the threadgroups of a kernel one after the other, each thread as a fiber, in an order drawn from a seed.
//
// It finds what an order of threads can show: a missing barrier, a barrier or SIMD operation that some threads miss, memory shared
// beyond its size. It does not find what only hardware shows: weak memory order, the GPU's own arithmetic, registers running out.
#pragma once

namespace shim {

// Where a thread is; the kernel's attributes name these.
struct Position {
    unsigned group_x, group_y;
    unsigned thread_index;
    unsigned lane, simdgroup;
};

// Calls a kernel with its arguments taken from `buffers`, in the order of their indices.
typedef void (*Entry)(void *const *buffers, void *shared, const Position &position);

struct Launch {
    Entry entry;
    void *const *buffers;
    unsigned groups_x, groups_y;
    unsigned threads; // of a threadgroup; a multiple of 32, at most 1024
    unsigned shared_bytes; // at most 32 KiB
    unsigned long long seed;
};

enum Status {
    status_ok = 0,
    // Threads wait at different places, or for one that has ended.
    status_diverged = 1,
    status_shared_overrun = 2,
    status_out_of_memory = 3,
    status_invalid = 4,
};

// Called by fibers.
void waitForThreadgroup(int line);
float sumOfSimdgroup(float value, int line);

} // namespace shim

extern "C" int tenon_shim_run(const shim::Launch *launch);
