const std = @import("std");
const Allocator = std.mem.Allocator;
const sampler = @import("sampler.zig");
const Program = @import("../grammar.zig").Program;
const limits = @import("../limits.zig").scheduler;

/// What is wanted of a prompt.
pub const Task = enum(u32) {
    /// An answer.
    generate = 0,
    /// An answer, and before it the log-probability of each token of the prompt but the first.
    score = 1,
    /// A vector, and nothing else: what embedding models are for.
    embed = 2,
};

/// What is asked of the scheduler. Made by the submitting thread, which keeps it alive until its finish event is drained; between
/// submit and finish the scheduler thread reads it, and only the two flags change.
pub const Request = struct {
    /// Names the request in its events.
    handle: u32,
    task: Task = .generate,
    /// The prompt, not empty.
    tokens: []const u32,
    /// Borrowed; null is free text.
    program: ?*const Program,
    params: sampler.Params,
    biases: []const sampler.Bias,
    stop_tokens: []const u32,
    /// Tokens of output at most; with zero the prompt is all there is.
    tokens_max: u32,
    /// Alternatives wanted with each token's log-probability; null wants none at all.
    logprobs: ?u32,
    step: bool,
    /// Compute what has to come together with what comes before it.
    drafts: bool = true,
    cancelled: std.atomic.Value(bool) = .init(false),
    released: std.atomic.Value(bool) = .init(false),

    /// Copies what the slices point to.
    pub fn init(gpa: Allocator, from: Request) error{OutOfMemory}!Request {
        var request = from;
        request.tokens = try gpa.dupe(u32, from.tokens);
        errdefer gpa.free(request.tokens);
        request.biases = try gpa.dupe(sampler.Bias, from.biases);
        errdefer gpa.free(request.biases);
        request.stop_tokens = try gpa.dupe(u32, from.stop_tokens);
        return request;
    }

    pub fn deinit(request: *Request, gpa: Allocator) void {
        gpa.free(request.tokens);
        gpa.free(request.biases);
        gpa.free(request.stop_tokens);
    }

    pub fn isStop(request: *const Request, token: u32) bool {
        return std.mem.findScalar(u32, request.stop_tokens, token) != null;
    }
};

/// Why a request cannot be taken. Tokens.
pub const Misfit = union(enum) {
    /// Prompt and shortest answer need more than the context has.
    context: struct { needed: u64, context_max: u32 },
    /// The shortest answer is longer than the caller's limit.
    limit: struct { cost_min: u32, tokens_max: u32 },
    invalid: []const u8,

    /// Null for a request that the scheduler can run. `embeds`: the model gives vectors, and nothing else.
    pub fn find(request: *const Request, vocabulary_count: u32, context_max: u32, embeds: bool) ?Misfit {
        if (embeds != (request.task == .embed))
            return .{ .invalid = if (embeds) "the model gives nothing but embeddings" else "the model gives no embeddings" };
        if (request.task == .embed and (request.tokens_max > 0 or request.program != null)) return .{ .invalid = "an embedding is no answer" };
        if (request.tokens.len == 0) return .{ .invalid = "the prompt is empty" };
        if (request.stop_tokens.len > limits.stop_tokens) return .{ .invalid = "too many stop tokens" };
        if (request.biases.len > limits.biases) return .{ .invalid = "too many logit biases" };
        if (request.logprobs orelse 0 > limits.logprobs_top) return .{ .invalid = "too many alternatives asked for" };
        if (request.task == .score and request.logprobs == null) return .{ .invalid = "a prompt is scored where log-probabilities are asked for" };
        for ([_][]const u32{ request.tokens, request.stop_tokens }) |tokens| for (tokens) |token|
            if (token >= vocabulary_count) return .{ .invalid = "a token is outside the vocabulary" };
        for (request.biases) |bias| {
            if (bias.token >= vocabulary_count) return .{ .invalid = "a biased token is outside the vocabulary" };
            if (!std.math.isFinite(bias.bias)) return .{ .invalid = "a logit bias is not a number" };
        }
        const params = request.params;
        for ([_]f32{
            params.temperature,    params.limits.top_p,      params.limits.min_p,
            params.repeat_penalty, params.frequency_penalty, params.presence_penalty,
        }) |value| if (!std.math.isFinite(value)) return .{ .invalid = "a sampling parameter is not a number" };
        if (params.temperature < 0) return .{ .invalid = "the temperature is negative" };
        if (params.repeat_penalty <= 0) return .{ .invalid = "the repeat penalty is not positive" };
        const cost_min = if (request.program) |program| @max(1, program.cost_min) else @min(1, request.tokens_max);
        const needed = @as(u64, request.tokens.len) + cost_min;
        if (needed > context_max) return .{ .context = .{ .needed = needed, .context_max = context_max } };
        if (cost_min > request.tokens_max) return .{ .limit = .{ .cost_min = cost_min, .tokens_max = request.tokens_max } };
        return null;
    }
};

test "what does not fit is named" {
    const base: Request = .{
        .handle = 1,
        .tokens = &.{ 1, 2, 3 },
        .program = null,
        .params = .{ .temperature = 1 },
        .biases = &.{},
        .stop_tokens = &.{0},
        .tokens_max = 4,
        .logprobs = null,
        .step = false,
    };
    try std.testing.expectEqual(null, Misfit.find(&base, 10, 4, false));
    try std.testing.expectEqual(Misfit{ .context = .{ .needed = 4, .context_max = 3 } }, Misfit.find(&base, 10, 3, false).?);
    var prompt = base;
    prompt.tokens_max = 0;
    try std.testing.expectEqual(null, Misfit.find(&prompt, 10, 3, false));
    try std.testing.expect(Misfit.find(&prompt, 10, 3, true).? == .invalid);
    prompt.task = .embed;
    try std.testing.expectEqual(null, Misfit.find(&prompt, 10, 3, true));
    try std.testing.expect(Misfit.find(&prompt, 10, 3, false).? == .invalid);
    try std.testing.expectEqual(Misfit{ .context = .{ .needed = 3, .context_max = 2 } }, Misfit.find(&prompt, 10, 2, true).?);
    prompt.tokens_max = 1;
    try std.testing.expect(Misfit.find(&prompt, 10, 3, true).? == .invalid);
    const Change = struct { []const u8, *const fn (*Request) void };
    inline for (.{
        Change{ "empty prompt", struct {
            fn change(request: *Request) void {
                request.tokens = &.{};
            }
        }.change },
        Change{ "token outside", struct {
            fn change(request: *Request) void {
                request.tokens = &.{10};
            }
        }.change },
        Change{ "stop token outside", struct {
            fn change(request: *Request) void {
                request.stop_tokens = &.{10};
            }
        }.change },
        Change{ "infinite temperature", struct {
            fn change(request: *Request) void {
                request.params.temperature = std.math.inf(f32);
            }
        }.change },
        Change{ "negative temperature", struct {
            fn change(request: *Request) void {
                request.params.temperature = -1;
            }
        }.change },
        Change{ "bias outside", struct {
            fn change(request: *Request) void {
                request.biases = &.{.{ .token = 10, .bias = 1 }};
            }
        }.change },
        Change{ "scores without log-probabilities", struct {
            fn change(request: *Request) void {
                request.task = .score;
            }
        }.change },
        Change{ "too many alternatives", struct {
            fn change(request: *Request) void {
                request.logprobs = limits.logprobs_top + 1;
            }
        }.change },
    }) |case| {
        errdefer std.debug.print("{s}\n", .{case[0]});
        var request = base;
        case[1](&request);
        try std.testing.expect(Misfit.find(&request, 10, 100, false).? == .invalid);
    }
}
