//! Runs a model for `bun run bench`: `bench-model MANIFEST THREADS COMMAND …`, one JSON value on standard output.
//!     score INPUT                     what the model says along given tokens
//!     truth INPUT                     the same from the f64 reference
//!     compare INPUT                   the fast path against the f64 reference along one list of tokens
//!     embed INPUT                     how far the vector of one list of tokens is from the f64 reference's
//!     speed PREFILL DECODE ROUNDS     tokens per second, one value per round
const std = @import("std");
const models = @import("model");

pub fn main(init: std.process.Init) !void {
    const arena = init.arena.allocator();
    const arguments = try init.minimal.args.toSlice(arena);
    if (arguments.len < 4) return error.Usage;
    const manifest = try std.Io.Dir.cwd().readFileAlloc(init.io, arguments[1], arena, .unlimited);
    var diagnostic: models.Diagnostic = .{};
    const options: models.Options = .{ .threads = try std.fmt.parseInt(u32, arguments[2], 10) };
    const model = models.Model.load(init.gpa, manifest, options, &diagnostic) catch |err| {
        std.debug.print("{t}: {s}\n", .{ err, diagnostic.text() });
        return err;
    };
    defer model.destroy();

    var buffer: [4096]u8 = undefined;
    var file = std.Io.File.stdout().writerStreaming(init.io, &buffer);
    const command = arguments[3];
    if (std.mem.eql(u8, command, "speed")) {
        try speed(arena, model, try number(arguments, 4), try number(arguments, 5), try number(arguments, 6), &file.interface);
    } else if (arguments.len == 5) {
        const text = try std.Io.Dir.cwd().readFileAlloc(init.io, arguments[4], arena, .unlimited);
        if (std.mem.eql(u8, command, "score")) {
            try std.json.Stringify.value(try score(arena, model, try std.json.parseFromSliceLeaky([]Given, arena, text, .{})), .{}, &file.interface);
        } else if (std.mem.eql(u8, command, "truth")) {
            try std.json.Stringify.value(try truthOf(arena, model, try std.json.parseFromSliceLeaky([]Given, arena, text, .{})), .{}, &file.interface);
        } else if (std.mem.eql(u8, command, "compare")) {
            try std.json.Stringify.value(try compare(arena, model, try std.json.parseFromSliceLeaky([]u32, arena, text, .{})), .{}, &file.interface);
        } else if (std.mem.eql(u8, command, "embed")) {
            try std.json.Stringify.value(try embed(arena, model, try std.json.parseFromSliceLeaky([]u32, arena, text, .{})), .{}, &file.interface);
        } else return error.Usage;
    } else return error.Usage;
    try file.interface.writeByte('\n');
    try file.interface.flush();
}

fn number(arguments: []const [:0]const u8, index: usize) !u32 {
    return if (index < arguments.len) std.fmt.parseInt(u32, arguments[index], 10) else error.Usage;
}

const never: std.atomic.Value(bool) = .init(false);

/// A prompt, the tokens that follow it one by one, and at each of them the tokens whose log-probabilities are asked for.
const Given = struct { prompt: []const u32, tokens: []const u32, top: []const []const u32 };
/// At one step: the most probable token, how far ahead of the next one it is, and the log-probabilities asked for.
const Said = struct { best: usize, gap: f64, log_probabilities: []const f64 };

fn score(arena: std.mem.Allocator, model: *models.Model, given: []const Given) ![]const []const Said {
    const all = try arena.alloc([]const Said, given.len);
    const logits = try arena.alloc(f32, model.vocabulary_count);
    for (given, all) |each, *out| {
        const sequence = try model.sequenceCreate();
        defer model.sequenceDestroy(sequence);
        const said = try arena.alloc(Said, each.tokens.len);
        for (said, each.top, 0..) |*step, top, i| {
            const tokens = if (i == 0) each.prompt else each.tokens[i - 1 ..][0..1];
            try model.forward(&.{.{ .sequence = sequence, .tokens = tokens, .logits = logits.ptr }}, &never);
            step.* = try sayingOf(arena, logits, top);
        }
        out.* = said;
    }
    return all;
}

fn truthOf(arena: std.mem.Allocator, model: *models.Model, given: []const Given) ![]const []const Said {
    const all = try arena.alloc([]const Said, given.len);
    var diagnostic: models.Diagnostic = .{};
    for (given, all) |each, *out| {
        const tokens = try std.mem.concat(arena, u32, &.{ each.prompt, each.tokens[0 .. each.tokens.len - 1] });
        const truth = try model.referenceLogits(arena, tokens, each.prompt.len - 1, &diagnostic);
        const said = try arena.alloc(Said, each.tokens.len);
        for (said, each.top, 0..) |*step, top, i| step.* = try sayingOf(arena, truth[i * model.vocabulary_count ..][0..model.vocabulary_count], top);
        out.* = said;
    }
    return all;
}

fn sayingOf(arena: std.mem.Allocator, logits: anytype, top: []const u32) !Said {
    const best = std.mem.indexOfMax(std.meta.Elem(@TypeOf(logits)), logits);
    var second = -std.math.inf(f64);
    var sum: f64 = 0;
    for (logits, 0..) |logit, token| {
        sum += @exp(@as(f64, logit) - logits[best]);
        if (token != best) second = @max(second, logit);
    }
    const log_probabilities = try arena.alloc(f64, top.len);
    for (top, log_probabilities) |token, *out| out.* = @as(f64, logits[token]) - logits[best] - @log(sum);
    return .{ .best = best, .gap = logits[best] - second, .log_probabilities = log_probabilities };
}

/// At one position: the largest difference of a logit, the range of the true ones, and the divergence of the fast path's distribution
/// from the true one, in nats.
const Difference = struct { difference_max: f64, range: f64, divergence: f64 };

fn compare(arena: std.mem.Allocator, model: *models.Model, tokens: []const u32) ![]const Difference {
    var diagnostic: models.Diagnostic = .{};
    const truth = try model.referenceLogits(arena, tokens, 0, &diagnostic);
    const logits = try arena.alloc(f32, model.vocabulary_count);
    const sequence = try model.sequenceCreate();
    defer model.sequenceDestroy(sequence);
    const all = try arena.alloc(Difference, tokens.len);
    for (all, 0..) |*out, i| {
        try model.forward(&.{.{ .sequence = sequence, .tokens = tokens[i..][0..1], .logits = logits.ptr }}, &never);
        out.* = differenceOf(truth[i * logits.len ..][0..logits.len], logits);
    }
    return all;
}

fn differenceOf(truth: []const f64, logits: []const f32) Difference {
    const low, const high = std.mem.minMax(f64, truth);
    const fast_high: f64 = std.mem.max(f32, logits);
    var difference_max: f64 = 0;
    var sum: f64 = 0;
    var fast_sum: f64 = 0;
    for (truth, logits) |a, b| {
        difference_max = @max(difference_max, @abs(a - b));
        sum += @exp(a - high);
        fast_sum += @exp(b - fast_high);
    }
    var divergence: f64 = 0;
    for (truth, logits) |a, b| {
        const log_p = a - high - @log(sum);
        divergence += @exp(log_p) * (log_p - (b - fast_high - @log(fast_sum)));
    }
    return .{ .difference_max = difference_max, .range = high - low, .divergence = divergence };
}

/// Of vectors of length one, so that half of its square is what their cosine lacks.
fn embed(arena: std.mem.Allocator, model: *models.Model, tokens: []const u32) !f64 {
    var diagnostic: models.Diagnostic = .{};
    const truth = try model.referenceEmbedding(arena, tokens, &diagnostic);
    const sequence = try model.sequenceCreate();
    defer model.sequenceDestroy(sequence);
    var pool = try model.poolCreate(arena);
    try model.forward(&.{.{ .sequence = sequence, .tokens = tokens, .logits = null, .pool = &pool }}, &never);
    const vector = try arena.alloc(f32, truth.len);
    pool.write(vector);
    var square: f64 = 0;
    for (truth, vector) |a, b| square += (a - b) * (a - b);
    return @sqrt(square);
}

/// As llama-bench measures: random tokens, logits of the last one; decoding starts from an empty context.
fn speed(arena: std.mem.Allocator, model: *models.Model, prefill: u32, decode: u32, rounds: u32, writer: *std.Io.Writer) !void {
    var prng: std.Random.DefaultPrng = .init(1);
    const tokens = try arena.alloc(u32, @max(prefill, decode));
    for (tokens) |*token| token.* = prng.random().uintLessThan(u32, model.vocabulary_count);
    const logits = try arena.alloc(f32, model.vocabulary_count);
    const Rates = struct { prefill: f64, decode: f64 };
    const rates = try arena.alloc(Rates, rounds);
    for (0..rounds + 1) |round| {
        // The first round only warms caches and memory.
        const rate: Rates = .{
            .prefill = try rateOf(model, tokens[0..prefill], prefill, logits),
            .decode = try rateOf(model, tokens[0..decode], 1, logits),
        };
        if (round > 0) rates[round - 1] = rate;
    }
    try std.json.Stringify.value(rates, .{}, writer);
}

fn rateOf(model: *models.Model, tokens: []const u32, chunk: u32, logits: []f32) !f64 {
    const sequence = try model.sequenceCreate();
    defer model.sequenceDestroy(sequence);
    const begin_ns = models.now();
    var i: usize = 0;
    while (i < tokens.len) : (i += chunk)
        try model.forward(&.{.{ .sequence = sequence, .tokens = tokens[i..][0..chunk], .logits = logits.ptr }}, &never);
    const seconds = @as(f64, @floatFromInt(models.now() - begin_ns)) / std.time.ns_per_s;
    return @as(f64, @floatFromInt(tokens.len)) / seconds;
}
