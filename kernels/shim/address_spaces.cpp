// Compiled, never linked: the kernels with each memory in an address space of its own, so that a pointer into the wrong one is an error.
#define SHIM_ADDRESS_SPACES
#include "../prelude.h"
#include "../arguments.gen.h"
#include "../mul_mv_q4_1.metal"
#include "../rms_norm.metal"
