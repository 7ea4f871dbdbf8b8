// Stands before every kernel. On a GPU <metal_stdlib> is Apple's; on a CPU it is shim/metal_stdlib, which says what the
// dialect that is both MSL and C++ may use.
#include <metal_stdlib>
using namespace metal;

// Marks an argument as memory that the threadgroup shares. Not written out in the kernels, since under the shim the word
// `threadgroup` is a macro and would be replaced inside the attribute too.
#ifndef SHARED
#define SHARED(index) [[threadgroup(index)]]
#endif
