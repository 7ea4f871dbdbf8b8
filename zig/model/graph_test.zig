//! Whole graphs on the CPU: against the f64 reference, and against themselves under every way of dividing the same work.
const std = @import("std");
const kernels = @import("../kernels.zig");
const limits = @import("../limits.zig").model;
const models = @import("../model.zig");
const manifests = @import("manifest.zig");
const Manifest = manifests.Manifest;
const RandomModel = @import("random_model.zig").RandomModel;
const odd = RandomModel.odd;

const gpa = std.testing.allocator;

/// Sizes that quantised blocks need.
const even = blk: {
    var shape = odd;
    shape.vocabulary = 67;
    shape.embedding = 256;
    shape.feed_forward = 512;
    shape.heads = 8;
    shape.key_length = 32;
    shape.value_length = 32;
    shape.rope.dimensions = 32;
    break :blk shape;
};

fn gemma(comptime base: Manifest) Manifest {
    var shape = base;
    shape.architecture = .gemma3;
    shape.rope.pairing = .halves;
    shape.rope.base_local = 50;
    shape.rope.scaling = .linear;
    shape.rope.factor = 4;
    shape.window = 9;
    shape.window_pattern = 3;
    shape.embedding_scale = @sqrt(@as(f32, base.embedding));
    return shape;
}

fn qwen(comptime base: Manifest) Manifest {
    var shape = base;
    shape.architecture = .qwen2;
    shape.rope.pairing = .halves;
    shape.rope.scaling = .yarn;
    shape.rope.factor = 4;
    shape.rope.original_context = 64;
    shape.rope.attention_factor = 1.2;
    shape.rope.beta_fast = 4;
    return shape;
}

fn capped(comptime base: Manifest) Manifest {
    var shape = base;
    shape.window = 40;
    shape.attention_softcap = 2;
    shape.logits_softcap = 3;
    return shape;
}

fn embedder(comptime base: Manifest, comptime pooling: manifests.Pooling, comptime causal: bool) Manifest {
    var shape = base;
    shape.pooling = pooling;
    shape.causal = causal;
    return shape;
}

const Case = struct { name: []const u8, shape: Manifest, options: RandomModel.Options = .{}, tolerance: f64 };

/// Of a logit, relative to the range of all at its position. Keys and values are f16: 2^-11 of each is lost. Quantised weights meet activations
/// of 8 bits, which loses about 1 % of each, and random layers pass on what was lost; a wrong graph is wrong by half the range.
const tolerance_float = 2e-3;
const tolerance_quantized = 0.1;
const cases = [_]Case{
    .{ .name = "llama", .shape = odd, .options = .{ .is_tied = false }, .tolerance = tolerance_float },
    .{ .name = "llama, frequencies divided", .shape = odd, .options = .{ .has_rope_divisors = true }, .tolerance = tolerance_float },
    .{ .name = "llama, window and caps", .shape = capped(odd), .tolerance = tolerance_float },
    .{ .name = "qwen2, yarn", .shape = qwen(odd), .tolerance = tolerance_float },
    .{ .name = "gemma3, windows and linear scaling", .shape = gemma(odd), .tolerance = tolerance_float },
    .{ .name = "llama, Q4_1", .shape = even, .options = .{ .formats = &.{ .q4_1, .q8_0 } }, .tolerance = tolerance_quantized },
    .{ .name = "qwen2, Q4_K_M", .shape = qwen(even), .options = .{ .formats = &.{ .q5_0, .q4_k, .q6_k }, .is_tied = false }, .tolerance = tolerance_quantized },
    .{ .name = "gemma3, quantised and not", .shape = gemma(even), .options = .{ .formats = &.{ .q4_0, .f32, .q6_k, .q8_0 } }, .tolerance = tolerance_quantized },
};

const never: std.atomic.Value(bool) = .init(false);

fn load(random: *const RandomModel, options: models.Options) !*models.Model {
    var diagnostic: models.Diagnostic = .{};
    return models.Model.load(gpa, random.json, options, &diagnostic) catch |err| {
        std.debug.print("{s}\n", .{diagnostic.text()});
        return err;
    };
}

fn randomTokens(comptime count: usize, vocabulary: u32, seed: u64) [count]u32 {
    var prng: std.Random.DefaultPrng = .init(seed);
    var tokens: [count]u32 = undefined;
    for (&tokens) |*token| token.* = prng.random().uintLessThan(u32, vocabulary);
    return tokens;
}

test "every architecture says what its reference says" {
    for (cases) |case| for (std.enums.values(kernels.Level)) |level| {
        var random: RandomModel = try .create(gpa, case.shape, case.options);
        defer random.destroy();
        const model = try load(&random, .{ .threads = 2, .kernels = kernels.forLevel(level) orelse continue });
        defer model.destroy();
        const tokens = randomTokens(75, model.vocabulary_count, 7);
        var diagnostic: models.Diagnostic = .{};
        const truth = try model.referenceLogits(gpa, &tokens, 0, &diagnostic);
        defer gpa.free(truth);

        const sequence = try model.sequenceCreate();
        defer model.sequenceDestroy(sequence);
        var logits: [100]f32 = undefined;
        // A prompt, then token by token.
        for (39..tokens.len) |last| {
            const begin = if (last == 39) 0 else last;
            try model.forward(&.{.{ .sequence = sequence, .tokens = tokens[begin .. last + 1], .logits = &logits }}, &never);
            const expected = truth[last * model.vocabulary_count ..][0..model.vocabulary_count];
            const low, const high = std.mem.minMax(f64, expected);
            for (expected, logits[0..expected.len]) |a, b| {
                if (@abs(a - b) <= case.tolerance * (high - low)) continue;
                std.debug.print("{s}, {t}, position {d}: {d} is not {d}, range {d}\n", .{ case.name, level, last, b, a, high - low });
                return error.TestUnexpectedResult;
            }
        }
    };
}

/// Logits of the last of `tokens`, which come in `chunks` (the rest in one).
fn logitsOf(model: *models.Model, tokens: []const u32, chunks: []const u32, out: []f32) !void {
    const sequence = try model.sequenceCreate();
    defer model.sequenceDestroy(sequence);
    var rest = tokens;
    for (chunks) |chunk| {
        try model.forward(&.{.{ .sequence = sequence, .tokens = rest[0..chunk], .logits = null }}, &never);
        rest = rest[chunk..];
    }
    try model.forward(&.{.{ .sequence = sequence, .tokens = rest, .logits = out.ptr }}, &never);
}

test "logits do not depend on threads, chunks or company" {
    for (cases) |case| {
        var random: RandomModel = try .create(gpa, case.shape, case.options);
        defer random.destroy();
        // More than one pass.
        const long = randomTokens(limits.pass_rows_max + 40, case.shape.vocabulary, 8);
        const short = randomTokens(33, case.shape.vocabulary, 9);
        var expected_long: [100]f32 = @splat(0);
        var expected_short: [100]f32 = @splat(0);
        for ([_]u32{ 1, 2, 3 }) |threads| {
            const model = try load(&random, .{ .threads = threads });
            defer model.destroy();
            var a: [100]f32 = @splat(0);
            var b: [100]f32 = @splat(0);
            if (threads == 1) {
                try logitsOf(model, &long, &.{}, &expected_long);
                try logitsOf(model, &short, &.{}, &expected_short);
            }
            try logitsOf(model, &long, &.{ 1, 2, 40, 5, 300 }, &a);
            try std.testing.expectEqualSlices(f32, &expected_long, &a);

            const one = try model.sequenceCreate();
            defer model.sequenceDestroy(one);
            const two = try model.sequenceCreate();
            defer model.sequenceDestroy(two);
            try model.forward(&.{
                .{ .sequence = one, .tokens = long[0 .. long.len - 1], .logits = &b },
                .{ .sequence = two, .tokens = short[0..10], .logits = null },
            }, &never);
            try model.forward(&.{
                .{ .sequence = two, .tokens = short[10..], .logits = &b },
                .{ .sequence = one, .tokens = long[long.len - 1 ..], .logits = &a },
            }, &never);
            try std.testing.expectEqualSlices(f32, &expected_long, &a);
            try std.testing.expectEqualSlices(f32, &expected_short, &b);

            // Logits of several rows, over the end of a pass too.
            const several = try gpa.alloc(f32, 3 * model.vocabulary_count);
            defer gpa.free(several);
            const pass_end = limits.pass_rows_max + 1;
            const three = try model.sequenceCreate();
            defer model.sequenceDestroy(three);
            try model.forward(&.{.{ .sequence = three, .tokens = long[0..pass_end], .logits = several.ptr, .outputs = 3 }}, &never);
            for (0..3) |row| {
                var expected: [100]f32 = @splat(0);
                try logitsOf(model, long[0 .. pass_end - 2 + row], &.{}, &expected);
                try std.testing.expectEqualSlices(f32, expected[0..model.vocabulary_count], several[row * model.vocabulary_count ..][0..model.vocabulary_count]);
            }

            // What was cut off leaves nothing behind.
            two.truncate(20);
            try model.forward(&.{.{ .sequence = two, .tokens = short[0..5], .logits = null }}, &never);
            two.truncate(20);
            try model.forward(&.{.{ .sequence = two, .tokens = short[20..], .logits = &b }}, &never);
            try std.testing.expectEqualSlices(f32, &expected_short, &b);
        }
    }
}

/// Of texts of these lengths: one token, rows that every thread has, a window and a page and more of them, more than a pass where one is enough.
const text_lengths = [_]u32{ 1, 3, 20, 75 };

const embedders = [_]Case{
    .{ .name = "llama, mean", .shape = embedder(odd, .mean, true), .tolerance = 2e-3 },
    .{ .name = "llama, first token, both directions", .shape = embedder(odd, .cls, false), .tolerance = 2e-3 },
    .{ .name = "qwen2, last token", .shape = embedder(qwen(odd), .last, true), .tolerance = 2e-3 },
    .{ .name = "gemma3, mean, both directions, windows", .shape = embedder(gemma(odd), .mean, false), .tolerance = 2e-3 },
    .{ .name = "llama, mean, both directions, a window and caps", .shape = embedder(capped(odd), .mean, false), .tolerance = 2e-3 },
    .{ .name = "qwen2, Q4_K_M, both directions", .shape = embedder(qwen(even), .mean, false), .options = .{ .formats = &.{ .q5_0, .q4_k, .q6_k } }, .tolerance = 0.1 },
};

/// The vector of `tokens`, which come in `chunks` (the rest in one).
fn vectorOf(model: *models.Model, tokens: []const u32, chunks: []const u32, out: []f32) !void {
    const sequence = try model.sequenceCreate();
    defer model.sequenceDestroy(sequence);
    var pool = try model.poolCreate(gpa);
    defer pool.deinit(gpa);
    var rest = tokens;
    for (chunks) |chunk| {
        try model.forward(&.{.{ .sequence = sequence, .tokens = rest[0..chunk], .logits = null, .pool = &pool }}, &never);
        rest = rest[chunk..];
    }
    try model.forward(&.{.{ .sequence = sequence, .tokens = rest, .logits = null, .pool = &pool }}, &never);
    pool.write(out);
}

test "the vector of a text is its reference's" {
    for (embedders) |case| for (std.enums.values(kernels.Level)) |level| {
        var random: RandomModel = try .create(gpa, case.shape, case.options);
        defer random.destroy();
        const model = try load(&random, .{ .threads = 2, .kernels = kernels.forLevel(level) orelse continue });
        defer model.destroy();
        const tokens = randomTokens(text_lengths[text_lengths.len - 1], model.vocabulary_count, 11);
        for (text_lengths) |length| {
            var diagnostic: models.Diagnostic = .{};
            const truth = try model.referenceEmbedding(gpa, tokens[0..length], &diagnostic);
            defer gpa.free(truth);
            var vector: [256]f32 = undefined;
            try vectorOf(model, tokens[0..length], &.{}, vector[0..truth.len]);
            var distance: f64 = 0;
            for (truth, vector[0..truth.len]) |a, b| distance += (a - b) * (a - b);
            if (@sqrt(distance) <= case.tolerance) continue;
            std.debug.print("{s}, {t}, {d} tokens: a distance of {d}\n", .{ case.name, level, length, @sqrt(distance) });
            return error.TestUnexpectedResult;
        }
    };
}

test "a vector does not depend on threads, chunks or company" {
    for (embedders) |case| {
        var random: RandomModel = try .create(gpa, case.shape, case.options);
        defer random.destroy();
        const long = randomTokens(limits.pass_rows_max + 40, case.shape.vocabulary, 8);
        const short = randomTokens(170, case.shape.vocabulary, 9);
        const width = case.shape.embedding;
        var expected: [2][256]f32 = undefined;
        for ([_]u32{ 1, 2, 3 }) |threads| {
            const model = try load(&random, .{ .threads = threads });
            defer model.destroy();
            if (threads == 1) {
                try vectorOf(model, &long, &.{}, expected[0][0..width]);
                try vectorOf(model, &short, &.{}, expected[1][0..width]);
            }
            var vector: [256]f32 = undefined;
            if (case.shape.causal) {
                try vectorOf(model, &long, &.{ 1, 2, 40, 300 }, vector[0..width]);
                try std.testing.expectEqualSlices(f32, expected[0][0..width], vector[0..width]);
            }
            // Together they have more tokens than a pass.
            var pools: [2]models.Pool = undefined;
            var sequences: [2]*models.Sequence = undefined;
            for (&pools, &sequences) |*pool, *sequence| {
                pool.* = try model.poolCreate(gpa);
                sequence.* = try model.sequenceCreate();
            }
            defer for (&pools, sequences) |*pool, sequence| {
                pool.deinit(gpa);
                model.sequenceDestroy(sequence);
            };
            try model.forward(&.{
                .{ .sequence = sequences[1], .tokens = &short, .logits = null, .pool = &pools[1] },
                .{ .sequence = sequences[0], .tokens = &long, .logits = null, .pool = &pools[0] },
            }, &never);
            for (&pools, &expected) |*pool, *each| {
                pool.write(vector[0..width]);
                try std.testing.expectEqualSlices(f32, each[0..width], vector[0..width]);
            }
        }
    }
}

test "what cannot be done leaves sequences as they were" {
    var random: RandomModel = try .create(gpa, odd, .{});
    defer random.destroy();
    const page_bytes = 2 * odd.layers * odd.heads_kv * (odd.key_length + 16) * kernels.page_tokens;
    const model = try load(&random, .{ .threads = 2, .cache_bytes = 3 * page_bytes });
    defer model.destroy();
    const tokens = randomTokens(odd.context_max, odd.vocabulary, 10);
    var expected: [odd.vocabulary]f32 = undefined;
    var logits: [odd.vocabulary]f32 = undefined;
    try logitsOf(model, tokens[0..40], &.{}, &expected);

    const sequence = try model.sequenceCreate();
    defer model.sequenceDestroy(sequence);
    try model.forward(&.{.{ .sequence = sequence, .tokens = tokens[0..30], .logits = null }}, &never);
    const bytes = model.cacheBytes();
    try std.testing.expectEqual(page_bytes, bytes);
    const stop: std.atomic.Value(bool) = .init(true);
    const Failure = struct { tokens: []const u32, cancel: *const std.atomic.Value(bool), expected: models.Model.ForwardError };
    for ([_]Failure{
        .{ .tokens = tokens[30..80], .cancel = &stop, .expected = error.Cancelled },
        .{ .tokens = tokens[30..], .cancel = &never, .expected = error.OutOfMemory },
        .{ .tokens = &(tokens ++ tokens), .cancel = &never, .expected = error.ContextFull },
    }) |failure| {
        try std.testing.expectError(
            failure.expected,
            model.forward(&.{.{ .sequence = sequence, .tokens = failure.tokens, .logits = &logits }}, failure.cancel),
        );
        try std.testing.expectEqual(30, sequence.len);
        try std.testing.expectEqual(bytes, model.cacheBytes());
    }
    try model.forward(&.{.{ .sequence = sequence, .tokens = tokens[30..40], .logits = &logits }}, &never);
    try std.testing.expectEqualSlices(f32, &expected, &logits);
}

test "a model that cannot be loaded says which tensor is at fault" {
    const Fault = struct { options: RandomModel.Options, text: []const u8 };
    const faults = [_]Fault{
        .{ .options = .{ .missing = "blk.1.ffn_up.weight" }, .text = "the model has no tensor blk.1.ffn_up.weight" },
        .{
            .options = .{ .short = "blk.2.attn_k.weight" },
            .text = "tensor blk.2.attn_k.weight has 19 × 44 elements (rows × columns), the architecture needs 20 × 44",
        },
    };
    for (faults) |fault| {
        var random: RandomModel = try .create(gpa, odd, fault.options);
        defer random.destroy();
        var diagnostic: models.Diagnostic = .{};
        try std.testing.expectError(error.Invalid, models.Model.load(gpa, random.json, .{ .threads = 1 }, &diagnostic));
        try std.testing.expectEqualStrings(fault.text, diagnostic.text());
    }

    var random: RandomModel = try .create(gpa, odd, .{ .cut_bytes = 1 });
    defer random.destroy();
    var diagnostic: models.Diagnostic = .{};
    try std.testing.expectError(error.Invalid, models.Model.load(gpa, random.json, .{ .threads = 1 }, &diagnostic));
    try std.testing.expectStringStartsWith(diagnostic.text(), "tensor blk.2.ffn_norm.weight ends at byte ");
    try std.testing.expectStringEndsWith(diagnostic.text(), ": the file is incomplete");

    const json = try std.mem.replaceOwned(u8, gpa, random.json, "/weights", "/nothing");
    defer gpa.free(json);
    try std.testing.expectError(error.Invalid, models.Model.load(gpa, json, .{ .threads = 1 }, &diagnostic));
    try std.testing.expectStringEndsWith(diagnostic.text(), "/nothing cannot be opened: FileNotFound");
}
