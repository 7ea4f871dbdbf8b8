#include "machine.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Saves the registers that a callee must keep on the current stack, stores the stack pointer to *from, and continues on `to`.
extern "C" void tenon_shim_switch(void **from, void *to);

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define SWITCH TEXT(__USER_LABEL_PREFIX__) "tenon_shim_switch"
#if defined(__x86_64__)
__asm__(".text\n.globl " SWITCH "\n" SWITCH ":\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl " SWITCH "\n" SWITCH ":\n"
        "sub sp, sp, #160\n"
        "stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
        "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
        "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
        "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
        "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
        "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
        "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
        "add sp, sp, #160\nret\n");
#else
#error "tenon_shim_switch is not written for this CPU"
#endif

namespace shim {
namespace {

const unsigned simd_width = 32;
const unsigned threads_max = 1024;
const unsigned shared_bytes_max = 32 * 1024;
const size_t stack_bytes = 64 * 1024;
const size_t guard_bytes = 256; // behind shared memory
const unsigned char untouched = 0xff; // four of them are a NaN: what is read before it was written spoils the result

enum class State { ready, at_barrier, at_simd, ended };

struct Fiber {
    void *stack_pointer;
    Position position;
    State state;
    int line; // where it waits
    float value; // what it brought to a SIMD operation, then what it takes from there
};

struct Machine {
    const Launch *launch;
    unsigned char *shared;
    unsigned char *stacks;
    Fiber fibers[threads_max];
    Fiber *running;
    void *scheduler_stack_pointer;
    uint64_t random;
};

Machine *machine; // of this run; a run is one thread of the system, and tests run one after the other

uint64_t nextRandom() {
    // SplitMix64 (Steele, Lea, Flood 2014).
    uint64_t z = machine->random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

void leave(State state) {
    Fiber *self = machine->running;
    self->state = state;
    tenon_shim_switch(&self->stack_pointer, machine->scheduler_stack_pointer);
}

void fiberMain() {
    const Launch *launch = machine->launch;
    launch->entry(launch->buffers, machine->shared, machine->running->position);
    leave(State::ended);
}

void prepare(Fiber *fiber, unsigned char *stack, const Position &position) {
    *fiber = {nullptr, position, State::ready, 0, 0};
    void **top = (void **)(stack + stack_bytes);
#if defined(__x86_64__)
    // What the switch pops: six registers, the address it returns to; then the stack is as after a call.
    *--top = nullptr;
    *--top = (void *)fiberMain;
    for (int i = 0; i < 6; i++) *--top = nullptr;
#else
    top -= 160 / sizeof(void *);
    memset(top, 0, 160);
    top[11] = (void *)fiberMain; // x30
#endif
    fiber->stack_pointer = top;
}

// Continues the lanes of a SIMD group when all that still run have come to the same operation.
bool releaseSimdgroup(Fiber *lanes) {
    int line = 0;
    for (unsigned i = 0; i < simd_width; i++) {
        if (lanes[i].state == State::ended) continue;
        if (lanes[i].state != State::at_simd || (line != 0 && lanes[i].line != line)) return false;
        line = lanes[i].line;
    }
    if (line == 0) return false;
    // Halves are added to halves, as hardware does it; a lane that has ended adds nothing.
    float sums[simd_width];
    for (unsigned i = 0; i < simd_width; i++) sums[i] = lanes[i].state == State::ended ? 0 : lanes[i].value;
    for (unsigned width = simd_width / 2; width > 0; width /= 2)
        for (unsigned i = 0; i < width; i++) sums[i] += sums[i + width];
    for (unsigned i = 0; i < simd_width; i++) {
        if (lanes[i].state == State::ended) continue;
        lanes[i].value = sums[0];
        lanes[i].state = State::ready;
    }
    return true;
}

// Continues the threadgroup when all its threads have come to the same barrier.
bool releaseThreadgroup(unsigned threads) {
    const int line = machine->fibers[0].line;
    for (unsigned i = 0; i < threads; i++)
        if (machine->fibers[i].state != State::at_barrier || machine->fibers[i].line != line) return false;
    for (unsigned i = 0; i < threads; i++) machine->fibers[i].state = State::ready;
    return true;
}

// A thread that can go on, or null: drawn at random among all that can.
Fiber *drawReady(unsigned threads) {
    unsigned ready[threads_max];
    unsigned count = 0;
    for (unsigned i = 0; i < threads; i++)
        if (machine->fibers[i].state == State::ready) ready[count++] = i;
    return count == 0 ? nullptr : &machine->fibers[ready[nextRandom() % count]];
}

int runGroup(unsigned x, unsigned y) {
    const unsigned threads = machine->launch->threads;
    memset(machine->shared, untouched, machine->launch->shared_bytes + guard_bytes);
    for (unsigned i = 0; i < threads; i++) {
        const Position position = {x, y, i, i % simd_width, i / simd_width};
        prepare(&machine->fibers[i], machine->stacks + i * stack_bytes, position);
    }
    unsigned ended = 0;
    while (ended < threads) {
        Fiber *fiber = drawReady(threads);
        if (fiber == nullptr) {
            if (!releaseThreadgroup(threads)) return status_diverged;
            continue;
        }
        machine->running = fiber;
        tenon_shim_switch(&machine->scheduler_stack_pointer, fiber->stack_pointer);
        if (fiber->state == State::ended) ended++;
        if (fiber->state != State::at_barrier) releaseSimdgroup(&machine->fibers[fiber->position.simdgroup * simd_width]);
    }
    for (size_t i = 0; i < guard_bytes; i++)
        if (machine->shared[machine->launch->shared_bytes + i] != untouched) return status_shared_overrun;
    return status_ok;
}

int runGroups() {
    for (unsigned y = 0; y < machine->launch->groups_y; y++)
        for (unsigned x = 0; x < machine->launch->groups_x; x++)
            if (const int status = runGroup(x, y)) return status;
    return status_ok;
}

} // namespace

void waitForThreadgroup(int line) {
    machine->running->line = line;
    leave(State::at_barrier);
}

float sumOfSimdgroup(float value, int line) {
    Fiber *self = machine->running;
    self->line = line;
    self->value = value;
    leave(State::at_simd);
    return self->value;
}

} // namespace shim

extern "C" int tenon_shim_run(const shim::Launch *launch) {
    using namespace shim;
    if (launch->threads == 0 || launch->threads > threads_max || launch->threads % simd_width != 0 ||
        launch->shared_bytes > shared_bytes_max)
        return status_invalid;
    machine = (Machine *)calloc(1, sizeof(Machine));
    int status = status_out_of_memory;
    if (machine != nullptr) {
        machine->launch = launch;
        machine->random = launch->seed;
        machine->shared = (unsigned char *)malloc(launch->shared_bytes + guard_bytes);
        machine->stacks = (unsigned char *)malloc(launch->threads * stack_bytes);
        if (machine->shared != nullptr && machine->stacks != nullptr) status = runGroups();
        free(machine->shared);
        free(machine->stacks);
        free(machine);
    }
    return status;
}
