//! Attention over one page of keys and values: a step of the running softmax (Milakov and Gimelshein, "Online normalizer
//! calculation for softmax"; Dao et al., FlashAttention), for several rows of queries that share a key head.
//!     s[t] = cap(q · k[t]);  m' = max(m, s);  p[t] = e^(s[t] - m');  c = e^(m - m')
//!     sum' = c sum + Σ p[t];  out' = c out + Σ p[t] v[t]
//! over the tokens t that the row sees. A row's result depends on nothing but its own numbers: sums over elements of a key and over tokens
//! go from the first to the last, whatever rows are computed together.
const std = @import("std");
const lanes = @import("lanes.zig");
const table = @import("table.zig");
const elementwise = @import("elementwise.zig");
const F = lanes.F;

const tokens = table.page_tokens;
/// Vectors of the scores of one row.
const columns = tokens / lanes.lanes;
/// Rows whose scores or outputs are in registers together.
const tile_rows = if (lanes.vnni) 6 else 2;
/// Vectors of one row's outputs that are in registers together.
const tile_columns = if (lanes.vnni) 4 else 2;

comptime {
    std.debug.assert(tokens % lanes.lanes == 0);
    std.debug.assert(table.value_alignment % lanes.lanes == 0);
}

pub fn attend(page: *const table.AttentionPage) callconv(.c) void {
    std.debug.assert(page.value_stride % table.value_alignment == 0);
    var row: u32 = 0;
    while (row < page.count) : (row += tile_rows) {
        switch (@min(tile_rows, page.count - row)) {
            inline 1...tile_rows => |rows| attendRows(rows, page, row),
            else => unreachable,
        }
    }
}

inline fn attendRows(comptime rows: u32, page: *const table.AttentionPage, row: u32) void {
    var begin: u32 = tokens;
    var end: u32 = 0;
    for (page.visible[row..][0..rows]) |visible| {
        if (visible.begin >= visible.end) continue;
        begin = @min(begin, visible.begin);
        end = @max(end, visible.end);
    }
    if (begin >= end) return;
    var weights: [rows][tokens]f32 = undefined;
    var corrections: [rows]f32 = undefined;
    const all = scores(rows, page, row);
    inline for (0..rows) |r| corrections[r] = normalize(page, row + r, all[r], &weights[r]);
    var column: u32 = 0;
    while (column + tile_columns * lanes.lanes <= page.value_stride) : (column += tile_columns * lanes.lanes)
        mix(rows, tile_columns, page, row, column, &weights, &corrections, begin, end);
    while (column < page.value_stride) : (column += lanes.lanes)
        mix(rows, 1, page, row, column, &weights, &corrections, begin, end);
}

inline fn scores(comptime rows: u32, page: *const table.AttentionPage, row: u32) [rows][columns]F {
    var sums: [rows][columns]F = @splat(@splat(@splat(0)));
    const queries = page.queries + @as(usize, row) * page.key_length;
    for (0..page.key_length) |element| {
        const keys = page.keys + element * tokens;
        var k: [columns]F = undefined;
        inline for (0..columns) |c| k[c] = lanes.loadHalf(keys + c * lanes.lanes);
        inline for (0..rows) |r| {
            const q: F = @splat(queries[r * page.key_length + element]);
            inline for (0..columns) |c| sums[r][c] = @mulAdd(F, q, k[c], sums[r][c]);
        }
    }
    return sums;
}

/// Updates a row's maximum and sum, writes p to `weights` (0 for tokens that it does not see), and returns c.
fn normalize(page: *const table.AttentionPage, row: usize, all: [columns]F, weights: *[tokens]f32) f32 {
    const visible = page.visible[row];
    if (visible.begin >= visible.end) {
        weights.* = @splat(0);
        return 1;
    }
    var s = all;
    if (page.softcap > 0) inline for (0..columns) |c| {
        s[c] = elementwise.capped(s[c], @splat(page.softcap));
    };
    if (visible.begin > 0 or visible.end < tokens) hide(&s, visible);
    var largest = s[0];
    inline for (1..columns) |c| largest = @max(largest, s[c]);
    const old = page.maxima[row];
    const new = @max(old, @reduce(.Max, largest));
    var sum: F = @splat(0);
    inline for (0..columns) |c| {
        const p = lanes.exp(s[c] - @as(F, @splat(new)));
        weights[c * lanes.lanes ..][0..lanes.lanes].* = p;
        sum += p;
    }
    const correction = if (new == old) 1 else lanes.exp(@as(F, @splat(old - new)))[0];
    page.maxima[row] = new;
    page.sums[row] = page.sums[row] * correction + lanes.sum(sum);
    return correction;
}

/// Makes the scores of tokens that the row does not see minus infinity.
inline fn hide(s: *[columns]F, visible: table.VisibleTokens) void {
    const hidden: F = @splat(-std.math.inf(f32));
    inline for (0..columns) |c| {
        const index = std.simd.iota(u32, lanes.lanes) + @as(lanes.W, @splat(c * lanes.lanes));
        s[c] = @select(f32, index >= @as(lanes.W, @splat(visible.begin)), s[c], hidden);
        s[c] = @select(f32, index < @as(lanes.W, @splat(visible.end)), s[c], hidden);
    }
}

inline fn mix(
    comptime rows: u32,
    comptime vectors: u32,
    page: *const table.AttentionPage,
    row: u32,
    column: u32,
    weights: *const [rows][tokens]f32,
    corrections: *const [rows]f32,
    begin: u32,
    end: u32,
) void {
    var sums: [rows][vectors]F = undefined;
    const out = page.out + @as(usize, row) * page.value_stride + column;
    inline for (0..rows) |r| inline for (0..vectors) |v| {
        sums[r][v] = lanes.loadF(out + r * page.value_stride + v * lanes.lanes) * @as(F, @splat(corrections[r]));
    };
    for (begin..end) |token| {
        const values = page.values + token * page.value_stride + column;
        inline for (0..vectors) |v| {
            const value = lanes.loadHalf(values + v * lanes.lanes);
            inline for (0..rows) |r| sums[r][v] = @mulAdd(F, @splat(weights[r][token]), value, sums[r][v]);
        }
    }
    inline for (0..rows) |r| inline for (0..vectors) |v| {
        lanes.save(out + r * page.value_stride + v * lanes.lanes, sums[r][v]);
    };
}
