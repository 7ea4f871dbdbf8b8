//! Models: weights on disk, the graph of each architecture, the cache of keys and values, and the threads that compute.
//!
//! A model is used by one thread at a time; it owns the others that compute.
const std = @import("std");
const kernels = @import("kernels.zig");
const limits = @import("limits.zig").model;
const backend = @import("model/backend.zig");
const cache = @import("model/cache.zig");
const reference = @import("model/reference.zig");
const rope = @import("model/rope.zig");
const weights = @import("model/weights.zig");
const Cpu = @import("model/cpu.zig").Cpu;
const Gemma3 = @import("model/gemma3.zig").Gemma3;
const Llama = @import("model/llama.zig").Llama;
const Manifest = @import("model/manifest.zig").Manifest;
const Qwen2 = @import("model/qwen2.zig").Qwen2;
const Take = @import("model/take.zig").Take;
const Team = @import("model/team.zig").Team;

pub const Diagnostic = @import("model/diagnostic.zig").Diagnostic;
pub const Pool = @import("model/pool.zig").Pool;
/// For tests.
pub const RandomModel = @import("model/random_model.zig").RandomModel;
pub const Sequence = cache.Sequence;
/// Nanoseconds of the monotonic clock.
pub const now = @import("model/team.zig").now;
pub const LoadError = weights.Error || error{ThreadsUnavailable};

pub const Options = struct {
    /// Threads that compute, the caller's included.
    threads: u32,
    /// Bytes of keys and values that all sequences may hold together.
    cache_bytes: usize = limits.cache_bytes_default,
    /// The kernels to use; null for the best of this CPU.
    kernels: ?*const kernels.Kernels = null,
};

pub const Item = struct {
    /// Another one than those of the other items.
    sequence: *Sequence,
    /// At least one.
    tokens: []const u32,
    /// f32 (outputs, vocabulary_count), for the last tokens; null when nobody asks.
    logits: ?[*]f32,
    outputs: u32 = 1,
    /// Takes the hidden states of the tokens.
    pool: ?*Pool = null,
};

pub const Model = struct {
    vocabulary_count: u32,
    context_max: u32,
    gpa: std.mem.Allocator,
    arena: std.heap.ArenaAllocator,
    manifest: Manifest,
    weights: weights.Weights,
    graph: Graph,
    angles: [2]rope.Angles,
    cache: cache.Cache,
    team: *Team,
    cpu: Cpu,

    /// Maps the files that the manifest names and makes the model ready to run. On Invalid, `diagnostic` says what is wrong with which file or tensor.
    pub fn load(gpa: std.mem.Allocator, manifest_json: []const u8, options: Options, diagnostic: *Diagnostic) LoadError!*Model {
        const model = try gpa.create(Model);
        errdefer gpa.destroy(model);
        model.gpa = gpa;
        model.arena = .init(gpa);
        errdefer model.arena.deinit();
        const arena = model.arena.allocator();
        model.manifest = try .parse(arena, try arena.dupe(u8, manifest_json), diagnostic);
        const manifest = &model.manifest;
        const level = options.kernels orelse kernels.best();

        model.weights = try .open(arena, level, manifest, diagnostic);
        errdefer model.weights.close();
        const take: Take = .{ .weights = &model.weights, .manifest = manifest };
        model.graph = switch (manifest.architecture) {
            .llama => .{ .llama = try .init(take) },
            .qwen2 => .{ .qwen2 = try .init(take) },
            .gemma3 => .{ .gemma3 = try .init(take) },
        };
        const divisors = try take.ropeDivisors();
        // A layer that rotates with a base of its own is not stretched.
        const has_local = manifest.rope.base_local != manifest.rope.base;
        model.angles = .{
            try rope.angles(arena, &manifest.rope, manifest.rope.base, true, divisors),
            try rope.angles(arena, &manifest.rope, manifest.rope.base_local, !has_local, divisors),
        };
        errdefer for (&model.angles) |*angles| angles.deinit(gpa);

        model.team = try .create(gpa, std.math.clamp(options.threads, 1, limits.threads_max));
        errdefer model.team.destroy(gpa);
        model.cpu = try .init(arena, level, manifest, &model.angles, model.team);
        model.cache = .init(gpa, model.cpu.shape, options.cache_bytes);
        model.repack();
        model.vocabulary_count = manifest.vocabulary;
        model.context_max = manifest.contextMax();
        return model;
    }

    /// All sequences are destroyed by now.
    pub fn destroy(model: *Model) void {
        model.team.destroy(model.gpa);
        model.cache.deinit();
        for (&model.angles) |*angles| angles.deinit(model.gpa);
        model.weights.close();
        model.arena.deinit();
        model.gpa.destroy(model);
    }

    pub fn sequenceCreate(model: *Model) error{OutOfMemory}!*Sequence {
        return .create(&model.cache);
    }

    /// See `Sequence.share`.
    pub fn sequenceShare(_: *Model, sequence: *const Sequence, len: u32) error{OutOfMemory}!*Sequence {
        return sequence.share(len);
    }

    pub fn sequenceDestroy(_: *Model, sequence: *Sequence) void {
        sequence.destroy();
    }

    /// Logits of every position from `first` on, (tokens - first, vocabulary), by the slow reference in f64. Nothing of the fast path takes
    /// part. On Invalid, `diagnostic` names a tensor that the reference cannot use.
    pub fn referenceLogits(model: *Model, gpa: std.mem.Allocator, tokens: []const u32, first: usize, diagnostic: *Diagnostic) weights.Error![]f64 {
        model.weights.diagnostic = diagnostic;
        return reference.logits(gpa, &model.weights, &model.manifest, tokens, first);
    }

    /// The vector of a text, (embedding), by the same reference; of an embedding model.
    pub fn referenceEmbedding(model: *Model, gpa: std.mem.Allocator, tokens: []const u32, diagnostic: *Diagnostic) weights.Error![]f64 {
        model.weights.diagnostic = diagnostic;
        return reference.embedding(gpa, &model.weights, &model.manifest, tokens);
    }

    /// Whether it is an embedding model.
    pub fn embeds(model: *const Model) bool {
        return model.manifest.pooling != .none;
    }

    /// Whether no token sees one after it.
    pub fn isCausal(model: *const Model) bool {
        return model.manifest.causal;
    }

    /// A vector to be, for the hidden states of one sequence. Of an embedding model.
    pub fn poolCreate(model: *const Model, gpa: std.mem.Allocator) error{OutOfMemory}!Pool {
        return .init(gpa, model.manifest.pooling, model.manifest.embedding);
    }

    /// Bytes of keys and values that sequences hold.
    pub fn cacheBytes(model: *const Model) usize {
        return model.cache.bytes();
    }

    pub const ForwardError = error{ Cancelled, ContextFull, OutOfMemory };

    /// Appends each item's tokens to its sequence, all items in one pass (or several, when there are very many tokens), and writes the logits that are
    /// asked for. After an error all sequences are as before. A token's results depend on its sequence only, not on what it
    /// is computed together with. `cancel` is looked at between layers. Where the model is not causal, an item is all of its sequence. A pool is of no use
    /// after an error.
    pub fn forward(model: *Model, items: []const Item, cancel: *const std.atomic.Value(bool)) ForwardError!void {
        std.debug.assert(items.len > 0 and items.len <= limits.items_max);
        var longest: u32 = 0;
        errdefer for (items) |item| item.sequence.releaseUnused();
        for (items) |item| {
            std.debug.assert(item.outputs > 0 and item.tokens.len >= item.outputs);
            for (item.tokens) |token| std.debug.assert(token < model.vocabulary_count);
            if (item.tokens.len > model.context_max - item.sequence.len) return error.ContextFull;
            std.debug.assert(model.manifest.causal or item.sequence.len == 0);
            const len = item.sequence.len + @as(u32, @intCast(item.tokens.len));
            try item.sequence.reserve(len);
            longest = @max(longest, len);
        }
        for (&model.angles) |*angles| try angles.extend(model.gpa, longest);

        var rest: Rest = .{ .items = items, .vocabulary = model.vocabulary_count, .manifest = &model.manifest };
        var pass: Pass = undefined;
        while (rest.take(&pass)) try model.runPass(&pass, cancel);
        for (items) |item| item.sequence.len += @intCast(item.tokens.len);
    }

    fn runPass(model: *Model, pass: *const Pass, cancel: *const std.atomic.Value(bool)) error{Cancelled}!void {
        const step = pass.step();
        const is_complete = switch (model.graph) {
            inline else => |*graph| model.cpu.run(graph, &step, model.team.size(), cancel),
        };
        if (!is_complete) return error.Cancelled;
        const width = model.manifest.embedding;
        for (step.spans) |*span| if (span.pool) |pool| {
            for (span.row..span.row + span.count) |row| pool.add(model.cpu.product[row * width ..][0..width]);
        };
    }

    /// Writes the layout that the kernels read, on all threads.
    fn repack(model: *Model) void {
        const Job = struct {
            model: *const Model,

            const rows_max = 512;

            fn run(job: *@This(), lane: u32) void {
                const team = job.model.team;
                var first: u32 = 0;
                var unit = lane;
                for (job.model.weights.pending.items) |*matrix| {
                    const units = (matrix.rows + rows_max - 1) / rows_max;
                    while (unit < first + units) : (unit = team.claim()) {
                        const begin = (unit - first) * rows_max;
                        job.model.cpu.kernels.repack(matrix, @constCast(matrix.repacked.?), begin, @min(begin + rows_max, matrix.rows));
                    }
                    first += units;
                }
            }
        };
        const never: std.atomic.Value(bool) = .init(false);
        var job: Job = .{ .model = model };
        model.team.run(model.team.size(), &job, Job.run, &never);
        model.weights.forgetSources();
    }
};

const Graph = union(enum) { llama: Llama, qwen2: Qwen2, gemma3: Gemma3 };

/// The rows of one run of the graph.
const Pass = struct {
    tokens: [limits.uncausal_rows_max]u32,
    rows: u32,
    spans: [limits.items_max]backend.Span,
    spans_count: u32,
    outputs: [limits.outputs_max]backend.Output,
    outputs_count: u32,

    fn step(pass: *const Pass) backend.Step {
        return .{
            .tokens = pass.tokens[0..pass.rows],
            .spans = pass.spans[0..pass.spans_count],
            .outputs = pass.outputs[0..pass.outputs_count],
        };
    }
};

/// What of the items no pass has computed yet.
const Rest = struct {
    items: []const Item,
    vocabulary: u32,
    manifest: *const Manifest,
    /// Tokens of the first item that are computed.
    done: u32 = 0,

    /// Fills a pass with the next rows; false when there are none.
    fn take(rest: *Rest, pass: *Pass) bool {
        pass.rows = 0;
        pass.spans_count = 0;
        pass.outputs_count = 0;
        const rows_max = rest.manifest.passRowsMax();
        while (rest.items.len > 0 and pass.rows < rows_max) {
            const item = &rest.items[0];
            const left = item.tokens[rest.done..];
            const count: u32 = @intCast(@min(left.len, rows_max - pass.rows));
            // What every token sees is computed with it; a pass of its own has room for it.
            if (!rest.manifest.causal and count < left.len) break;
            @memcpy(pass.tokens[pass.rows..][0..count], left[0..count]);
            pass.spans[pass.spans_count] = .{
                .sequence = item.sequence,
                .row = pass.rows,
                .count = count,
                .position = item.sequence.len + rest.done,
                .pool = item.pool,
            };
            pass.spans_count += 1;
            pass.rows += count;
            rest.done += count;
            rest.want(pass, item, count);
            if (count < left.len) break;
            rest.items = rest.items[1..];
            rest.done = 0;
        }
        return pass.rows > 0;
    }

    /// Of the item's tokens up to `done`, the last `count` of which are the pass's last rows, those whose logits are asked for.
    fn want(rest: *const Rest, pass: *Pass, item: *const Item, count: u32) void {
        const logits = item.logits orelse return;
        const first = @as(u32, @intCast(item.tokens.len)) - item.outputs;
        for (@max(first, rest.done - count)..@max(first, rest.done)) |token| {
            pass.outputs[pass.outputs_count] = .{
                .row = pass.rows - (rest.done - @as(u32, @intCast(token))),
                .logits = logits + (token - first) * rest.vocabulary,
            };
            pass.outputs_count += 1;
        }
    }
};

test {
    _ = Diagnostic;
    _ = cache;
    _ = rope;
    _ = weights;
    _ = @import("model/cpu.zig");
    _ = @import("model/graph_test.zig");
    _ = @import("model/manifest.zig");
    _ = @import("model/pool.zig");
    _ = @import("model/team.zig");
}
