//! The CPU backend: every thread of a team runs the graph, and each operation divides its units of work among them. Few rows (decoding) keep
//! their residual once per thread: each adds, norms and converts all of it for itself, so that an operation costs one meeting at its end. Many rows
//! (prefill) are divided by rows. No unit's numbers depend on how the work was divided.
const std = @import("std");
const kernels = @import("../kernels.zig");
const limits = @import("../limits.zig").model;
const stdx = @import("../stdx.zig");
const backend = @import("backend.zig");
const cache = @import("cache.zig");
const rope = @import("rope.zig");
const Manifest = @import("manifest.zig").Manifest;
const Team = @import("team.zig").Team;
const Matrix = kernels.Matrix;
const Step = backend.Step;

pub const Cpu = struct {
    kernels: *const kernels.Kernels,
    manifest: *const Manifest,
    shape: cache.Shape,
    team: *Team,
    lanes: []Lane,
    /// Indexed by backend.Rotation.
    angles: *const [2]rope.Angles,
    /// All rows, when they are divided among the threads: (rows, embedding), and two forms of (rows, widest).
    residual: []f32,
    activations: Activations,
    queries: []f32,
    attention: []f32,
    hidden: []f32,
    product: []f32,
    step: *const Step = undefined,

    /// `manifest` and `angles` outlive it; what is allocated here belongs to `arena`.
    pub fn init(
        arena: std.mem.Allocator,
        level: *const kernels.Kernels,
        manifest: *const Manifest,
        angles: *const [2]rope.Angles,
        team: *Team,
    ) error{OutOfMemory}!Cpu {
        const rows = manifest.passRowsMax();
        const mixed = manifest.heads * manifest.value_length;
        const widest = @max(manifest.embedding, mixed, manifest.feed_forward);
        const shape: cache.Shape = .{
            .layers = manifest.layers,
            .heads_kv = manifest.heads_kv,
            .key_length = manifest.key_length,
            .value_length = manifest.value_length,
        };
        const lanes = try arena.alloc(Lane, team.size());
        for (lanes, 0..) |*lane, index| {
            const attention_rows = limits.attention_rows_max;
            lane.* = .{
                .cpu = undefined,
                .index = @intCast(index),
                .residual = try floats(arena, limits.replicated_rows_max, manifest.embedding),
                .activations = try .init(arena, level, &.{
                    .{ limits.replicated_rows_max, widest },
                    .{ limits.outputs_max, manifest.embedding },
                }),
                .row = try floats(arena, 1, @max(widest, manifest.key_length)),
                .products = try floats(arena, 1, limits.product_scratch_elements),
                .half = try arena.alloc(f16, manifest.key_length),
                .queries = try floats(arena, attention_rows, manifest.key_length),
                .mixed = try floats(arena, attention_rows, shape.valueStride()),
                .maxima = try arena.alloc(f32, attention_rows),
                .sums = try arena.alloc(f32, attention_rows),
                .visible = try arena.alloc(kernels.VisibleTokens, attention_rows),
            };
        }
        return .{
            .kernels = level,
            .manifest = manifest,
            .shape = shape,
            .team = team,
            .lanes = lanes,
            .angles = angles,
            .residual = try floats(arena, rows, manifest.embedding),
            .activations = try .init(arena, level, &.{.{ rows, widest }}),
            .queries = try floats(arena, rows, manifest.heads * manifest.key_length),
            .attention = try floats(arena, rows, mixed),
            .hidden = try floats(arena, rows, manifest.feed_forward),
            .product = try floats(arena, rows, manifest.embedding),
        };
    }

    /// Runs `graph` over the step; false when `cancel` was seen before its end.
    pub fn run(cpu: *Cpu, graph: anytype, step: *const Step, lanes: u32, cancel: *const std.atomic.Value(bool)) bool {
        std.debug.assert(step.tokens.len <= cpu.manifest.passRowsMax() and step.outputs.len <= limits.outputs_max);
        const Run = struct {
            cpu: *Cpu,
            graph: @TypeOf(graph),

            fn job(self: *@This(), index: u32) void {
                const lane = &self.cpu.lanes[index];
                lane.cpu = self.cpu;
                self.graph.run(lane);
            }
        };
        cpu.step = step;
        var job: Run = .{ .cpu = cpu, .graph = graph };
        cpu.team.run(lanes, &job, Run.job, cancel);
        return !cpu.team.is_stopped;
    }
};

/// Rows that are never used take no memory.
fn floats(arena: std.mem.Allocator, rows: usize, columns: usize) error{OutOfMemory}![]align(64) f32 {
    return stdx.allocPages(f32, arena, rows * columns);
}

/// Rows in the forms that weights are multiplied with; which of the two a matrix reads depends on its format.
const Activations = struct {
    quantized: [*]align(64) u8,
    float: [*]align(64) u8,

    fn init(arena: std.mem.Allocator, level: *const kernels.Kernels, sizes: []const struct { u32, u32 }) error{OutOfMemory}!Activations {
        var quantized: usize = 0;
        var float: usize = 0;
        for (sizes) |size| {
            const columns = std.mem.alignForward(u32, size[1], kernels.blockElements(.q4_k));
            quantized = @max(quantized, size[0] * level.activationBytes(.q8_0, columns));
            float = @max(float, size[0] * level.activationBytes(.f32, columns));
        }
        return .{
            .quantized = (try stdx.allocPages(u8, arena, quantized)).ptr,
            .float = (try stdx.allocPages(u8, arena, float)).ptr,
        };
    }

    fn of(self: *const Activations, format: kernels.Format) [*]align(64) u8 {
        return if (kernels.isQuantized(format)) self.quantized else self.float;
    }
};

/// One thread's view of the backend.
pub const Lane = struct {
    cpu: *Cpu align(std.atomic.cache_line),
    index: u32,
    /// (replicated_rows_max, embedding)
    residual: []f32,
    activations: Activations,
    /// One row of any width.
    row: []f32,
    /// Results of a product that the same unit uses up.
    products: []f32,
    half: []f16,
    /// (attention_rows_max, key_length) and (attention_rows_max, value_stride)
    queries: []f32,
    mixed: []f32,
    maxima: []f32,
    sums: []f32,
    visible: []kernels.VisibleTokens,

    pub fn isStopped(lane: *Lane) bool {
        return lane.cpu.team.is_stopped;
    }

    pub fn embed(lane: *Lane, table: *const Matrix, scale: f32) void {
        const cpu = lane.cpu;
        const own = lane.ownRows();
        for (own.begin..own.end) |row| {
            const residual = lane.residualRow(row);
            cpu.kernels.dequantizeRow(table, cpu.step.tokens[row], residual);
            if (scale != 1) cpu.kernels.scale(residual, scale, cpu.manifest.embedding);
        }
    }

    pub fn project(lane: *Lane, layer: u32, norm: []const f32, with: *const backend.Projections, rotation: backend.Rotation) void {
        const cpu = lane.cpu;
        const manifest = cpu.manifest;
        const rows = lane.rowCount();
        const activations = lane.prepareResidual(norm, &.{ &with.query, &with.key, &with.value });
        const heads = manifest.heads + 2 * manifest.heads_kv;
        const longest = @max(manifest.key_length, manifest.value_length);
        const block = countBlock(rows, lane.activationStride(&with.query), limits.product_scratch_elements / longest);
        const blocks = divCeil(rows, block);
        var unit = lane.index;
        while (unit < heads * blocks) : (unit = cpu.team.claim()) {
            const head = unit / blocks;
            const first = unit % blocks * block;
            const count = @min(block, rows - first);
            if (head < manifest.heads) {
                lane.projectQuery(head, first, count, with, &activations, rotation);
            } else if (head < manifest.heads + manifest.heads_kv) {
                lane.projectKey(layer, head - manifest.heads, first, count, with, &activations, rotation);
            } else {
                lane.projectValue(layer, head - manifest.heads - manifest.heads_kv, first, count, with, &activations);
            }
        }
        lane.meet();
    }

    fn projectQuery(
        lane: *Lane,
        head: u32,
        first: u32,
        count: u32,
        with: *const backend.Projections,
        activations: *const Activations,
        rotation: backend.Rotation,
    ) void {
        const cpu = lane.cpu;
        const manifest = cpu.manifest;
        const begin = head * manifest.key_length;
        const stride = manifest.heads * manifest.key_length;
        lane.matmul(&with.query, activations, first, count, cpu.queries.ptr + first * stride, stride, begin, begin + manifest.key_length);
        var positions = lane.walk(first);
        for (first..first + count) |row| {
            const query = cpu.queries.ptr + row * stride + begin;
            lane.finishHead(query, head, with.query_bias, with.query_norm, rotation, positions.next().position);
            cpu.kernels.scale(query, manifest.attention_scale, manifest.key_length);
        }
    }

    fn projectKey(
        lane: *Lane,
        layer: u32,
        head: u32,
        first: u32,
        count: u32,
        with: *const backend.Projections,
        activations: *const Activations,
        rotation: backend.Rotation,
    ) void {
        const cpu = lane.cpu;
        const length = cpu.manifest.key_length;
        lane.matmulHead(&with.key, activations, first, count, head, length);
        var positions = lane.walk(first);
        for (0..count) |i| {
            const key = lane.products.ptr + i * length;
            const at = positions.next();
            lane.finishHead(key, head, with.key_bias, with.key_norm, rotation, at.position);
            cpu.kernels.toF16(key, lane.half.ptr, length);
            const keys = cpu.shape.keys(at.page(), layer, head) + at.slot();
            for (lane.half[0..length], 0..) |element, index| keys[index * cache.page_tokens] = element;
        }
    }

    fn projectValue(
        lane: *Lane,
        layer: u32,
        head: u32,
        first: u32,
        count: u32,
        with: *const backend.Projections,
        activations: *const Activations,
    ) void {
        const cpu = lane.cpu;
        const length = cpu.manifest.value_length;
        lane.matmulHead(&with.value, activations, first, count, head, length);
        var positions = lane.walk(first);
        for (0..count) |i| {
            const value = lane.products.ptr + i * length;
            const at = positions.next();
            if (with.value_bias) |bias| cpu.kernels.add(value, bias.ptr + head * length, value, length);
            cpu.kernels.toF16(value, cpu.shape.values(at.page(), layer, head) + at.slot() * cpu.shape.valueStride(), length);
        }
    }

    /// The rows of one head, (count, length), into `products`.
    fn matmulHead(lane: *Lane, matrix: *const Matrix, activations: *const Activations, first: u32, count: u32, head: u32, length: u32) void {
        lane.matmul(matrix, activations, first, count, lane.products.ptr - head * length, length, head * length, (head + 1) * length);
    }

    fn finishHead(
        lane: *Lane,
        x: [*]f32,
        head: u32,
        bias: ?[]const f32,
        norm: ?[]const f32,
        rotation: backend.Rotation,
        position: u32,
    ) void {
        const cpu = lane.cpu;
        const length = cpu.manifest.key_length;
        if (bias) |list| cpu.kernels.add(x, list.ptr + head * length, x, length);
        if (norm) |weights| cpu.kernels.rmsNorm(x, weights.ptr, cpu.manifest.norm_epsilon, x, length);
        const pairing: kernels.Pairing = switch (cpu.manifest.rope.pairing) {
            .adjacent => .adjacent,
            .halves => .halves,
        };
        const angles = cpu.angles[@backingInt(rotation)].at(position);
        cpu.kernels.rope(x, angles, pairing, 1, length, cpu.manifest.rope.dimensions);
    }

    pub fn attend(lane: *Lane, layer: u32, window: u32) void {
        const cpu = lane.cpu;
        const manifest = cpu.manifest;
        const group = manifest.heads / manifest.heads_kv;
        // Heads that share keys go together as long as there are units enough for all threads.
        const wanted = divCeil(manifest.heads * lane.rowCount(), units_per_lane * cpu.team.active());
        const heads = @min(group, wanted, limits.attention_rows_max);
        const queries = limits.attention_rows_max / heads;
        const parts = divCeil(group, heads);
        var first: u32 = 0;
        var unit = lane.index;
        for (cpu.step.spans) |*span| {
            const blocks = divCeil(span.count, queries);
            const units = manifest.heads_kv * parts * blocks;
            while (unit < first + units) : (unit = cpu.team.claim()) {
                const local = unit - first;
                // Later rows see more: the longest units come first.
                const block = blocks - 1 - local / (manifest.heads_kv * parts);
                const head_kv = local / parts % manifest.heads_kv;
                const head = local % parts * heads;
                lane.attendUnit(layer, span, .{
                    .head_kv = head_kv,
                    .head = head_kv * group + head,
                    .heads = @min(heads, group - head),
                    .query = block * queries,
                    .queries = @min(queries, span.count - block * queries),
                    .window = window,
                });
            }
            first += units;
        }
        lane.meet();
    }

    const AttentionUnit = struct { head_kv: u32, head: u32, heads: u32, query: u32, queries: u32, window: u32 };

    /// Rows are (queries, heads).
    fn attendUnit(lane: *Lane, layer: u32, span: *const backend.Span, unit: AttentionUnit) void {
        const cpu = lane.cpu;
        const manifest = cpu.manifest;
        const rows = unit.queries * unit.heads;
        const stride = cpu.shape.valueStride();
        const wide = unit.heads * manifest.key_length;
        for (0..unit.queries) |i| {
            const row = span.row + unit.query + i;
            const queries = cpu.queries[(row * manifest.heads + unit.head) * manifest.key_length ..];
            @memcpy(lane.queries[i * wide ..][0..wide], queries[0..wide]);
        }
        @memset(lane.maxima[0..rows], -std.math.inf(f32));
        @memset(lane.sums[0..rows], 0);
        @memset(lane.mixed[0 .. rows * stride], 0);

        const position = span.position + unit.query;
        const begin = seenFrom(position, unit.window);
        const len = span.position + span.count;
        const end = if (manifest.causal) position + unit.queries else len;
        for (begin / cache.page_tokens..divCeil(end, cache.page_tokens)) |index| {
            const base: u32 = @intCast(index * cache.page_tokens);
            for (0..unit.queries) |i| {
                const own: u32 = position + @as(u32, @intCast(i));
                const visible: kernels.VisibleTokens = .{
                    .begin = seenFrom(own, unit.window) -| base,
                    .end = @min((if (manifest.causal) own + 1 else len) -| base, cache.page_tokens),
                };
                @memset(lane.visible[i * unit.heads ..][0..unit.heads], visible);
            }
            const page = span.sequence.pages.items[index];
            cpu.kernels.attend(&.{
                .queries = lane.queries.ptr,
                .keys = cpu.shape.keys(page, layer, unit.head_kv),
                .values = cpu.shape.values(page, layer, unit.head_kv),
                .visible = lane.visible.ptr,
                .count = rows,
                .key_length = manifest.key_length,
                .value_stride = stride,
                .softcap = manifest.attention_softcap,
                .maxima = lane.maxima.ptr,
                .sums = lane.sums.ptr,
                .out = lane.mixed.ptr,
            });
        }

        for (0..unit.queries) |i| for (0..unit.heads) |j| {
            const from = lane.mixed[(i * unit.heads + j) * stride ..][0..manifest.value_length];
            cpu.kernels.scale(from.ptr, 1 / lane.sums[i * unit.heads + j], from.len);
            const to = cpu.attention[((span.row + unit.query + i) * manifest.heads + unit.head + j) * manifest.value_length ..];
            @memcpy(to[0..from.len], from);
        };
    }

    pub fn multiply(lane: *Lane, matrix: *const Matrix, source: backend.Source) void {
        const cpu = lane.cpu;
        const rows = lane.rowCount();
        const from = switch (source) {
            .attention => cpu.attention.ptr,
            .hidden => cpu.hidden.ptr,
        };
        const activations = lane.prepare(null, from, matrix.columns, &.{matrix});
        const split = lane.divide(matrix, rows, std.math.maxInt(u32));
        var unit = lane.index;
        while (unit < split.units()) : (unit = cpu.team.claim()) {
            const part = split.part(unit);
            const out = cpu.product.ptr + @as(usize, part.first) * matrix.rows;
            lane.matmul(matrix, &activations, part.first, part.count, out, matrix.rows, part.begin, part.end);
        }
        lane.meet();
    }

    pub fn add(lane: *Lane, norm: ?[]const f32) void {
        const cpu = lane.cpu;
        const width = cpu.manifest.embedding;
        const own = lane.ownRows();
        for (own.begin..own.end) |row| {
            var product = cpu.product.ptr + row * width;
            if (norm) |weights| {
                cpu.kernels.rmsNorm(product, weights.ptr, cpu.manifest.norm_epsilon, lane.row.ptr, width);
                product = lane.row.ptr;
            }
            const residual = lane.residualRow(row);
            cpu.kernels.add(residual, product, residual, width);
        }
    }

    pub fn gate(lane: *Lane, norm: []const f32, gate_matrix: *const Matrix, up: *const Matrix, function: backend.Gate) void {
        const cpu = lane.cpu;
        const rows = lane.rowCount();
        const width = gate_matrix.rows;
        const activations = lane.prepareResidual(norm, &.{ gate_matrix, up });
        const split = lane.divide(gate_matrix, rows, limits.product_scratch_elements);
        const act = switch (function) {
            .silu => cpu.kernels.siluMul,
            .gelu => cpu.kernels.geluMul,
        };
        var unit = lane.index;
        while (unit < split.units()) : (unit = cpu.team.claim()) {
            const part = split.part(unit);
            const hidden = cpu.hidden.ptr + @as(usize, part.first) * width;
            const length = part.end - part.begin;
            lane.matmul(gate_matrix, &activations, part.first, part.count, hidden, width, part.begin, part.end);
            lane.matmul(up, &activations, part.first, part.count, lane.products.ptr - part.begin, length, part.begin, part.end);
            for (0..part.count) |i| {
                const row = hidden + i * width + part.begin;
                act(row, lane.products.ptr + i * length, row, length);
            }
        }
        lane.meet();
    }

    pub fn states(lane: *Lane, norm: []const f32) void {
        const cpu = lane.cpu;
        if (!cpu.step.hasPools()) return;
        const width = cpu.manifest.embedding;
        // Where every lane has all rows, each norms some of them for all; else its own.
        const share = lane.shareOf(lane.rowCount());
        for (share.begin..share.end) |row|
            cpu.kernels.rmsNorm(lane.residualRow(row), norm.ptr, cpu.manifest.norm_epsilon, cpu.product.ptr + row * width, width);
        // Whoever reads them waits for the end of the run.
    }

    pub fn logits(lane: *Lane, norm: []const f32, matrix: *const Matrix) void {
        const cpu = lane.cpu;
        const outputs = cpu.step.outputs;
        const count: u32 = @intCast(outputs.len);
        if (count == 0) return;
        if (!lane.isReplicated()) lane.meet(); // The residual of the output rows is other lanes' work.
        for (outputs, 0..) |output, i|
            lane.convert(norm, lane.residualRow(output.row), matrix.columns, formsOf(&.{matrix}), &lane.activations, i);
        const split = lane.divide(matrix, count, limits.product_scratch_elements);
        var unit = lane.index;
        while (unit < split.units()) : (unit = cpu.team.claim()) {
            const part = split.part(unit);
            const length = part.end - part.begin;
            lane.matmul(matrix, &lane.activations, part.first, part.count, lane.products.ptr - part.begin, length, part.begin, part.end);
            for (outputs[part.first..][0..part.count], 0..) |output, i| {
                const values = lane.products[i * length ..][0..length];
                if (cpu.manifest.logits_softcap > 0) cpu.kernels.softcap(values.ptr, cpu.manifest.logits_softcap, length);
                @memcpy(output.logits[part.begin..part.end], values);
            }
        }
        lane.meet();
    }

    /// The residual under its norm, as `matrices` read it.
    fn prepareResidual(lane: *Lane, norm: []const f32, matrices: []const *const Matrix) Activations {
        const residual = if (lane.isReplicated()) lane.residual.ptr else lane.cpu.residual.ptr;
        return lane.prepare(norm, residual, lane.cpu.manifest.embedding, matrices);
    }

    /// Rows of `source` as `matrices` read them, for every lane to use.
    fn prepare(lane: *Lane, norm: ?[]const f32, source: [*]const f32, columns: u32, matrices: []const *const Matrix) Activations {
        const target = if (lane.isReplicated()) lane.activations else lane.cpu.activations;
        const own = lane.ownRows();
        for (own.begin..own.end) |row| lane.convert(norm, source + row * columns, columns, formsOf(matrices), &target, row);
        if (!lane.isReplicated()) lane.meet();
        return target;
    }

    const Forms = struct { quantized: bool, float: bool };

    fn formsOf(matrices: []const *const Matrix) Forms {
        var forms: Forms = .{ .quantized = false, .float = false };
        for (matrices) |matrix| {
            if (kernels.isQuantized(matrix.format)) forms.quantized = true else forms.float = true;
        }
        return forms;
    }

    fn convert(lane: *Lane, norm: ?[]const f32, source: [*]const f32, columns: u32, forms: Forms, target: *const Activations, row: usize) void {
        const cpu = lane.cpu;
        var x = source;
        if (norm) |weights| {
            cpu.kernels.rmsNorm(x, weights.ptr, cpu.manifest.norm_epsilon, lane.row.ptr, columns);
            x = lane.row.ptr;
        }
        if (forms.quantized) cpu.kernels.quantize(.q8_0, x, columns, target.quantized + row * cpu.kernels.activationBytes(.q8_0, columns));
        if (forms.float) cpu.kernels.quantize(.f32, x, columns, target.float + row * cpu.kernels.activationBytes(.f32, columns));
    }

    fn matmul(
        lane: *Lane,
        matrix: *const Matrix,
        activations: *const Activations,
        first: u32,
        count: u32,
        out: [*]f32,
        stride: usize,
        begin: u32,
        end: u32,
    ) void {
        const source = activations.of(matrix.format) + first * lane.activationStride(matrix);
        lane.cpu.kernels.matmul(matrix, source, count, out, stride, begin, end);
    }

    fn activationStride(lane: *const Lane, matrix: *const Matrix) usize {
        return lane.cpu.kernels.activationBytes(matrix.format, matrix.columns);
    }

    /// Divides a product of `count` rows of activations into units of no more than `elements_max` results.
    fn divide(lane: *const Lane, matrix: *const Matrix, count: u32, elements_max: u32) Split {
        const granule = 2 * lane.cpu.kernels.row_block;
        const block = countBlock(count, lane.activationStride(matrix), elements_max / granule);
        const blocks = divCeil(count, block);
        const wanted = divCeil(matrix.rows * blocks, units_per_lane * lane.cpu.team.active());
        const chunk = @min(std.mem.alignForward(u32, wanted, granule), elements_max / block / granule * granule, chunk_rows_max);
        return .{ .rows = matrix.rows, .count = count, .chunk = chunk, .block = block };
    }

    /// From a row of the step on.
    fn walk(lane: *const Lane, row: u32) Positions {
        return .init(lane.cpu.step.spans, row);
    }

    fn rowCount(lane: *const Lane) u32 {
        return @intCast(lane.cpu.step.tokens.len);
    }

    fn isReplicated(lane: *const Lane) bool {
        return lane.rowCount() <= limits.replicated_rows_max;
    }

    /// The rows whose small work is this lane's.
    fn ownRows(lane: *const Lane) Rows {
        const rows: usize = lane.rowCount();
        return if (lane.isReplicated()) .{ .begin = 0, .end = rows } else lane.shareOf(rows);
    }

    const Rows = struct { begin: usize, end: usize };

    fn shareOf(lane: *const Lane, rows: usize) Rows {
        const lanes = lane.cpu.team.active();
        return .{ .begin = rows * lane.index / lanes, .end = rows * (lane.index + 1) / lanes };
    }

    fn residualRow(lane: *const Lane, row: usize) [*]f32 {
        const residual = if (lane.isReplicated()) lane.residual else lane.cpu.residual;
        return residual.ptr + row * lane.cpu.manifest.embedding;
    }

    fn meet(lane: *Lane) void {
        lane.cpu.team.barrier(lane.index);
    }
};

comptime {
    backend.check(Lane);
}

/// Units of an operation for each thread: enough that a late one does less, few enough that claiming costs little.
const units_per_lane = 4;
/// Rows of weights of one unit at most.
const chunk_rows_max = 1024;

const Split = struct {
    rows: u32,
    count: u32,
    /// Rows of weights and rows of activations of a unit.
    chunk: u32,
    block: u32,

    const Part = struct { begin: u32, end: u32, first: u32, count: u32 };

    fn units(split: *const Split) u32 {
        return divCeil(split.rows, split.chunk) * divCeil(split.count, split.block);
    }

    fn part(split: *const Split, unit: u32) Part {
        const blocks = divCeil(split.count, split.block);
        const begin = unit / blocks * split.chunk;
        const first = unit % blocks * split.block;
        return .{
            .begin = begin,
            .end = @min(begin + split.chunk, split.rows),
            .first = first,
            .count = @min(split.block, split.count - first),
        };
    }
};

/// Walks the rows of a step with where each one's keys and values are kept.
const Positions = struct {
    spans: []const backend.Span,
    index: u32,

    const Position = struct {
        sequence: *const cache.Sequence,
        position: u32,

        fn page(self: Position) cache.Page {
            return self.sequence.pages.items[self.position / cache.page_tokens];
        }

        fn slot(self: Position) u32 {
            return self.position % cache.page_tokens;
        }
    };

    fn init(spans: []const backend.Span, row: u32) Positions {
        var first: usize = 0;
        while (spans[first].row + spans[first].count <= row) first += 1;
        return .{ .spans = spans[first..], .index = row - spans[first].row };
    }

    fn next(self: *Positions) Position {
        if (self.index == self.spans[0].count) {
            self.spans = self.spans[1..];
            self.index = 0;
        }
        defer self.index += 1;
        return .{ .sequence = self.spans[0].sequence, .position = self.spans[0].position + self.index };
    }
};

/// Equal blocks of activation rows, each of which stays in a core's cache.
fn countBlock(count: u32, stride: usize, count_max: u32) u32 {
    const most: u32 = @intCast(std.math.clamp(limits.product_activation_bytes / stride, 16, count_max));
    return divCeil(count, divCeil(count, most));
}

/// The first token that the token at `position` sees.
fn seenFrom(position: u32, window: u32) u32 {
    return if (window == 0) 0 else (position + 1) -| window;
}

fn divCeil(a: u32, b: u32) u32 {
    return (a + b - 1) / b;
}
