//! CPU kernels: weights in their quantised formats, products with activations, and the operations between them. Every CPU level
//! is compiled on its own (kernels/level.zig) and fills one table; `best` picks the table for the CPU at hand.
const std = @import("std");
const builtin = @import("builtin");
const cpu = @import("kernels/cpu.zig");
const formats = @import("kernels/format.zig");
const table = @import("kernels/table.zig");

pub const Format = formats.Format;
pub const blockElements = formats.blockElements;
pub const blockBytes = formats.blockBytes;
pub const rowBytes = formats.rowBytes;
pub const isQuantized = formats.isQuantized;
pub const Matrix = table.Matrix;
pub const Pairing = table.Pairing;
pub const Kernels = table.Kernels;
pub const AttentionPage = table.AttentionPage;
pub const VisibleTokens = table.VisibleTokens;
pub const page_tokens = table.page_tokens;
pub const value_alignment = table.value_alignment;
pub const reference = @import("kernels/reference.zig");

/// From the slowest to the fastest.
pub const Level = enum { baseline, avx2, avx512vnni };

/// The fastest kernels that this CPU runs.
pub fn best() *const Kernels {
    const levels = comptime std.enums.values(Level);
    inline for (0..levels.len) |i| if (forLevel(levels[levels.len - 1 - i])) |kernels| return kernels;
    unreachable; // The baseline is always there.
}

/// The kernels of a level, or null where the CPU lacks it.
pub fn forLevel(level: Level) ?*const Kernels {
    const is_x86 = builtin.cpu.arch == .x86_64;
    return switch (level) {
        .baseline => @extern(*const Kernels, .{ .name = "tenon_kernels_baseline" }),
        .avx2 => if (is_x86 and cpu.hasAvx2()) @extern(*const Kernels, .{ .name = "tenon_kernels_avx2" }) else null,
        .avx512vnni => if (is_x86 and cpu.hasAvx512Vnni()) @extern(*const Kernels, .{ .name = "tenon_kernels_avx512vnni" }) else null,
    };
}

test {
    _ = @import("kernels/product_test.zig");
    _ = @import("kernels/operation_test.zig");
    _ = @import("kernels/attention_test.zig");
}
