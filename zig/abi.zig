//! The native boundary: every function and struct that crosses it, and nothing else. abi_table.zig exports public functions of the C
//! calling convention under their names in snake case with the prefix `tenon_`, and writes the TypeScript side of it. Only u32, i32,
//! f32, f64 and pointers cross; memory behind a pointer is borrowed for the call. A call returns a `Status` or a count; `errorText` tells
//! why the calling thread's last one failed.
const std = @import("std");
const doctor = @import("doctor.zig");
const engine = @import("engine.zig");
const grammar = @import("grammar.zig");
const limits = @import("limits.zig");
const scheduler = @import("scheduler.zig");
const vocabulary = @import("vocabulary.zig");

pub const Status = enum(i32) {
    ok = 0,
    invalid = -1,
    stale = -2,
    out_of_memory = -3,
    too_many = -4,
    refused = -5,
    overloaded = -6,
    context = -7,
    failed = -8,
};

pub const Channel = grammar.Channel;
pub const EventEmbedding = scheduler.event.Embedding;
pub const EventFinish = scheduler.event.Finish;
pub const EventHead = scheduler.event.Head;
pub const EventKind = scheduler.event.Kind;
pub const EventParked = scheduler.event.Parked;
pub const EventProgress = scheduler.event.Progress;
pub const EventText = scheduler.event.Text;
pub const EventToken = scheduler.event.Token;
pub const FinishReason = scheduler.event.Reason;
pub const LogitBias = scheduler.sampler.Bias;
pub const Logprob = scheduler.event.Logprob;
pub const NoiseShape = scheduler.noise.Shape;
pub const RequestTask = scheduler.Task;
pub const RefusalKind = enum(u32) { invalid = 0, unsatisfiable = 1, limit = 2 };
pub const TokenKind = vocabulary.Kind;

/// Stands for a number that there is not.
pub const none = scheduler.event.none;

pub const VocabularyReport = extern struct {
    /// Address of the mask arena of its matchers, (matchers, words).
    masks: f64,
    handle: u32,
    matchers_max: u32,
    words: u32,
    unused: u32 = 0,
};

pub const GrammarReport = extern struct {
    handle: u32,
    cost_min: u32,
    /// With `refused`: why, and the `origin` of the value to blame, or none.
    refusal: RefusalKind,
    origin: u32,
};

pub const MatcherReport = extern struct {
    handle: u32,
    /// Its row of the vocabulary's mask arena.
    row: u32,
};

/// What a matcher has made certain: this, then the bytes, padded to four.
pub const Segment = extern struct {
    channel: u32,
    call: u32,
    length: u32,
};

pub const NoiseOptions = extern struct {
    seed: f64,
    /// A `NoiseShape`.
    shape: u32,
    phrases: u32,
};

/// 0 is the default of each.
pub const ModelOptions = extern struct {
    /// Requests that run at once, and that wait.
    slots: u32,
    queue_max: u32,
    /// Tokens of a sequence.
    context_max: u32,
    /// Threads that compute.
    threads: u32,
};

pub const ModelReport = extern struct {
    /// Addresses of the arenas: (slots, vocabulary) f32 and (slots, words) u32.
    logits: f64,
    masks: f64,
    handle: u32,
    /// A socket, the caller's from now on: a byte arrives on it when there are events.
    wake: i32,
    vocabulary_count: u32,
    context_max: u32,
    slots: u32,
    words: u32,
};

pub const ModelCounts = extern struct {
    /// Bytes of keys and values.
    cache_bytes: f64,
    running: u32,
    queued: u32,
};

/// Handles that name something, in the whole process.
pub const LiveCounts = extern struct {
    vocabularies: u32,
    grammars: u32,
    matchers: u32,
    models: u32,
    requests: u32,
};

pub const RequestOptions = extern struct {
    /// Any number; its bits are the seed.
    seed: f64,
    /// A `RequestTask`.
    task: u32,
    /// 0 is free text.
    grammar: u32,
    tokens: u32,
    stop_tokens: u32,
    biases: u32,
    tokens_max: u32,
    /// Alternatives, or none.
    logprobs: u32,
    step: u32,
    drafts: u32,
    top_k: u32,
    top_p: f32,
    min_p: f32,
    temperature: f32,
    repeat_penalty: f32,
    frequency_penalty: f32,
    presence_penalty: f32,
};

pub const RequestReport = extern struct {
    handle: u32,
    /// With `context`.
    needed: u32,
    context_max: u32,
};

/// Copies as much of the text as fits and returns how much that was.
pub fn errorText(out: ?[*]u8, capacity: u32) callconv(.c) u32 {
    const text = report.text();
    const length = @min(text.len, if (out == null) 0 else capacity);
    if (out) |to| @memcpy(to[0..length], text[0..length]);
    return @intCast(length);
}

/// Writes what this machine can do, a line for each finding, a bad one beginning with FAIL. The bytes written; too long a text is cut.
pub fn examine(out: ?[*]u8, capacity: u32) callconv(.c) i32 {
    var writer: std.Io.Writer = .fixed((out orelse return missing("buffer"))[0..capacity]);
    doctor.examine(live.gpa, &writer) catch |err| switch (err) {
        error.WriteFailed => {}, // Full: the text is cut.
    };
    return @intCast(writer.end);
}

/// `offsets` has one entry more than `kinds`, which has `count`.
pub fn vocabularyCreate(
    bytes: ?[*]const u8,
    bytes_length: u32,
    offsets: ?[*]const u32,
    kinds: ?[*]const u8,
    count: u32,
    out: ?*VocabularyReport,
) callconv(.c) i32 {
    const to = out orelse return missing("report");
    if (count == 0 or count > limits.engine.vocabulary_tokens) return refuse("a vocabulary of {d} tokens", .{count});
    if (bytes_length > limits.engine.vocabulary_bytes) return refuse("a vocabulary of {d} bytes", .{bytes_length});
    const view = live.vocabularyCreate(
        slice(u8, bytes, bytes_length) orelse return missing("bytes"),
        slice(u32, offsets, count + 1) orelse return missing("offsets"),
        slice(u8, kinds, count) orelse return missing("kinds"),
        &report,
    ) catch |err| return failed(err);
    to.* = .{
        .masks = address(view.masks),
        .handle = view.handle,
        .matchers_max = limits.engine.matchers,
        .words = (count + 31) / 32,
    };
    return ok;
}

pub fn vocabularyDestroy(handle: u32) callconv(.c) i32 {
    live.vocabularyDestroy(handle) catch |err| return failed(err);
    return ok;
}

/// `work_units`: what the compilation may take before it is refused by `limit`; 0 stands for the most there is.
pub fn grammarCreate(vocabulary_handle: u32, ir: ?[*]const u8, ir_length: u32, work_units: u32, out: ?*GrammarReport) callconv(.c) i32 {
    const to = out orelse return missing("report");
    if (ir_length > limits.engine.ir_bytes) return refuse("a grammar of {d} bytes", .{ir_length});
    const bytes = slice(u8, ir, ir_length) orelse return missing("grammar");
    var refusal: grammar.Refusal = .{};
    const units = if (work_units == 0) limits.grammar.work_units else work_units;
    const view = live.grammarCreate(vocabulary_handle, bytes, units, &refusal, &report) catch |err| {
        to.* = .{ .handle = 0, .cost_min = 0, .origin = refusal.origin, .refusal = switch (refusal.kind) {
            .invalid => .invalid,
            .unsatisfiable => .unsatisfiable,
            .limit => .limit,
        } };
        return failed(err);
    };
    to.* = .{ .handle = view.handle, .cost_min = view.cost_min, .refusal = .invalid, .origin = none };
    return ok;
}

pub fn grammarDestroy(handle: u32) callconv(.c) i32 {
    live.grammarDestroy(handle) catch |err| return failed(err);
    return ok;
}

pub fn matcherCreate(grammar_handle: u32, stop_tokens: ?[*]const u32, count: u32, out: ?*MatcherReport) callconv(.c) i32 {
    const to = out orelse return missing("report");
    if (count > limits.scheduler.stop_tokens) return refuse("{d} stop tokens", .{count});
    const tokens = slice(u32, stop_tokens, count) orelse return missing("stop tokens");
    const view = live.matcherCreate(grammar_handle, tokens, &report) catch |err| return failed(err);
    to.* = .{ .handle = view.handle, .row = view.row };
    return ok;
}

pub fn matcherDestroy(handle: u32) callconv(.c) i32 {
    live.matcherDestroy(handle) catch |err| return failed(err);
    return ok;
}

/// Writes the mask of the next token into the matcher's row.
pub fn matcherMask(handle: u32, tokens_left: u32) callconv(.c) i32 {
    const entry = live.matcherGet(handle) catch |err| return failed(err);
    entry.matcher.mask(entry.mask(), tokens_left) catch |err| return failed(err);
    return ok;
}

/// 1, or 0 when the token is not allowed; then nothing has changed.
pub fn matcherAccept(handle: u32, token: u32) callconv(.c) i32 {
    const entry = live.matcherGet(handle) catch |err| return failed(err);
    if (token >= entry.grammar.vocabulary.vocabulary.count) return 0;
    if (!(entry.matcher.accept(token) catch |err| return failed(err))) return 0;
    entry.segments = entry.matcher.segments();
    return 1;
}

/// 1 or 0.
pub fn matcherAllowed(handle: u32, token: u32, tokens_left: u32) callconv(.c) i32 {
    const entry = live.matcherGet(handle) catch |err| return failed(err);
    if (token >= entry.grammar.vocabulary.vocabulary.count) return 0;
    return @intFromBool(entry.matcher.allowed(token, tokens_left) catch |err| return failed(err));
}

/// 1 or 0.
pub fn matcherAcceptsEnd(handle: u32) callconv(.c) i32 {
    const entry = live.matcherGet(handle) catch |err| return failed(err);
    return @intFromBool(entry.matcher.acceptsEnd());
}

/// 1 when nothing but the end may follow, else 0.
pub fn matcherIsComplete(handle: u32) callconv(.c) i32 {
    const entry = live.matcherGet(handle) catch |err| return failed(err);
    return @intFromBool(entry.matcher.isComplete());
}

/// Tokens of the shortest completion.
pub fn matcherCost(handle: u32) callconv(.c) i32 {
    const entry = live.matcherGet(handle) catch |err| return failed(err);
    return std.math.lossyCast(i32, entry.matcher.cost());
}

/// A second output with the same beginning, with a row of its own. Both are called by one thread.
pub fn matcherFork(handle: u32, out: ?*MatcherReport) callconv(.c) i32 {
    const to = out orelse return missing("report");
    const view = live.matcherFork(handle, &report) catch |err| return failed(err);
    to.* = .{ .handle = view.handle, .row = view.row };
    return ok;
}

/// 1, or 0 when fewer tokens can be taken back; then nothing has changed.
pub fn matcherRollback(handle: u32, count: u32) callconv(.c) i32 {
    const entry = live.matcherGet(handle) catch |err| return failed(err);
    if (!entry.matcher.rollback(count)) return 0;
    entry.segments = entry.matcher.segments();
    return 1;
}

/// Writes the bytes that have to come next, at most `capacity`, and returns their number.
pub fn matcherForced(handle: u32, out: ?[*]u8, capacity: u32) callconv(.c) i32 {
    const entry = live.matcherGet(handle) catch |err| return failed(err);
    const to = slice(u8, out, capacity) orelse return missing("buffer");
    return @intCast(entry.matcher.forced(@constCast(to)) catch |err| return failed(err));
}

/// At the end: what is still held back becomes certain, for `matcherSegments` to fetch.
pub fn matcherFlush(handle: u32) callconv(.c) i32 {
    const entry = live.matcherGet(handle) catch |err| return failed(err);
    entry.segments = entry.matcher.flush() catch |err| return failed(err);
    return ok;
}

/// Copies what the last `matcherAccept` or `matcherFlush` made certain, as `Segment`s. Returns the bytes that this takes; when
/// that is more than `capacity`, nothing was copied.
pub fn matcherSegments(handle: u32, out: ?[*]u8, capacity: u32) callconv(.c) i32 {
    const entry = live.matcherGet(handle) catch |err| return failed(err);
    var size: usize = 0;
    for (entry.segments) |segment| size += @sizeOf(Segment) + std.mem.alignForward(usize, segment.bytes.len, 4);
    if (size > capacity) return std.math.lossyCast(i32, size);
    const to = slice(u8, out, capacity) orelse return missing("buffer");
    var at: usize = 0;
    for (entry.segments) |segment| {
        const head: Segment = .{ .channel = @backingInt(segment.channel), .call = segment.call, .length = @intCast(segment.bytes.len) };
        @memcpy(@constCast(to)[at..][0..@sizeOf(Segment)], std.mem.asBytes(&head));
        @memcpy(@constCast(to)[at + @sizeOf(Segment) ..][0..segment.bytes.len], segment.bytes);
        at += @sizeOf(Segment) + std.mem.alignForward(usize, segment.bytes.len, 4);
    }
    return @intCast(size);
}

/// `phrase_ends` has the end of each phrase in `phrase_tokens`.
pub fn modelNoise(
    vocabulary_handle: u32,
    noise: ?*const NoiseOptions,
    phrase_tokens: ?[*]const u32,
    phrase_ends: ?[*]const u32,
    options: ?*const ModelOptions,
    out: ?*ModelReport,
) callconv(.c) i32 {
    const to = out orelse return missing("report");
    const given = noise orelse return missing("noise");
    const general = options orelse return missing("options");
    if (given.phrases > limits.noise.phrases) return refuse("{d} phrases", .{given.phrases});
    const shape = std.enums.fromInt(NoiseShape, given.shape) orelse return refuse("shape {d} of noise", .{given.shape});
    var phrases: [limits.noise.phrases][]const u32 = undefined;
    const ends = slice(u32, phrase_ends, given.phrases) orelse return missing("ends of phrases");
    var begin: u32 = 0;
    for (phrases[0..ends.len], ends) |*phrase, end| {
        if (end <= begin or end - begin > limits.noise.phrase_tokens) return refuse("a phrase that is empty or too long", .{});
        phrase.* = (slice(u32, phrase_tokens, end) orelse return missing("tokens of phrases"))[begin..];
        begin = end;
    }
    const view = live.modelNoise(vocabulary_handle, .{
        .vocabulary_count = 0,
        .context_max = limits.noise.context_tokens,
        .seed = @bitCast(given.seed),
        .shape = shape,
        .phrases = phrases[0..ends.len],
    }, schedulerOptions(general) orelse return invalid, &report) catch |err| return failed(err);
    to.* = modelReport(view);
    return ok;
}

/// `manifest` is JSON text, as src/models/card.ts describes it.
pub fn modelLoad(
    vocabulary_handle: u32,
    manifest: ?[*]const u8,
    manifest_length: u32,
    options: ?*const ModelOptions,
    out: ?*ModelReport,
) callconv(.c) i32 {
    const to = out orelse return missing("report");
    const general = options orelse return missing("options");
    if (manifest_length > limits.engine.manifest_bytes) return refuse("a manifest of {d} bytes", .{manifest_length});
    if (general.threads > limits.engine.threads) return refuse("{d} threads", .{general.threads});
    const json = slice(u8, manifest, manifest_length) orelse return missing("manifest");
    const wanted = schedulerOptions(general) orelse return invalid;
    to.* = modelReport(live.modelLoad(vocabulary_handle, json, general.threads, wanted, &report) catch |err| return failed(err));
    return ok;
}

/// Ends its requests without further events.
pub fn modelDestroy(handle: u32) callconv(.c) i32 {
    live.modelDestroy(handle) catch |err| return failed(err);
    return ok;
}

/// Copies whole event records and returns their bytes. 0: there are none, and a byte will be sent when there are. `capacity` is at least
/// the longest record; a request's handle dies with its finish event.
pub fn modelDrain(handle: u32, out: ?[*]align(4) u8, capacity: u32) callconv(.c) i32 {
    const to = out orelse return missing("buffer");
    if (capacity < event_bytes_max) return refuse("a buffer of {d} bytes", .{capacity});
    const bytes = live.modelDrain(handle, to[0..@min(capacity, std.math.maxInt(i32))]) catch |err| return failed(err);
    return @intCast(bytes);
}

pub fn modelCounts(handle: u32, out: ?*ModelCounts) callconv(.c) i32 {
    const to = out orelse return missing("report");
    const counts = live.modelCounts(handle) catch |err| return failed(err);
    to.* = .{ .cache_bytes = @floatFromInt(counts.cache_bytes), .running = counts.running, .queued = counts.queued };
    return ok;
}

pub fn liveCounts(out: ?*LiveCounts) callconv(.c) i32 {
    const to = out orelse return missing("report");
    const counts = live.liveCounts();
    to.* = .{
        .vocabularies = counts.vocabularies,
        .grammars = counts.grammars,
        .matchers = counts.matchers,
        .models = counts.models,
        .requests = counts.requests,
    };
    return ok;
}

/// Never waits.
pub fn requestSubmit(
    model: u32,
    options: ?*const RequestOptions,
    tokens: ?[*]const u32,
    stop_tokens: ?[*]const u32,
    biases: ?[*]const LogitBias,
    out: ?*RequestReport,
) callconv(.c) i32 {
    const to = out orelse return missing("report");
    const given = options orelse return missing("options");
    to.* = .{ .handle = 0, .needed = 0, .context_max = 0 };
    const task = std.enums.fromInt(RequestTask, given.task) orelse return refuse("task {d} of a request", .{given.task});
    var misfit: engine.Misfit = undefined;
    to.handle = live.requestSubmit(model, if (given.grammar == 0) null else given.grammar, .{
        .handle = 0,
        .task = task,
        .tokens = slice(u32, tokens, given.tokens) orelse return missing("tokens"),
        .program = null,
        .params = .{
            .temperature = given.temperature,
            .limits = .{ .top_k = given.top_k, .top_p = given.top_p, .min_p = given.min_p },
            .repeat_penalty = given.repeat_penalty,
            .frequency_penalty = given.frequency_penalty,
            .presence_penalty = given.presence_penalty,
            .seed = @bitCast(given.seed),
        },
        .biases = slice(LogitBias, biases, given.biases) orelse return missing("biases"),
        .stop_tokens = slice(u32, stop_tokens, given.stop_tokens) orelse return missing("stop tokens"),
        .tokens_max = given.tokens_max,
        .logprobs = if (given.logprobs == none) null else given.logprobs,
        .step = given.step != 0,
        .drafts = given.drafts != 0,
    }, &misfit, &report) catch |err| {
        if (err == error.Context) to.* = .{ .handle = 0, .needed = misfit.needed, .context_max = misfit.context_max };
        return failed(err);
    };
    return ok;
}

/// No failure when the request is over already.
pub fn requestCancel(handle: u32) callconv(.c) i32 {
    live.requestCancel(handle);
    return ok;
}

/// Lets a parked request go on.
pub fn requestRelease(handle: u32) callconv(.c) i32 {
    live.requestRelease(handle) catch |err| return failed(err);
    return ok;
}

var live: engine.Registry = .{ .gpa = std.heap.smp_allocator };
threadlocal var report: engine.Report = .{};

const ok = @backingInt(Status.ok);
const invalid = @backingInt(Status.invalid);
const event_bytes_max = @sizeOf(EventFinish) + limits.scheduler.event_payload_bytes;

fn failed(failure: engine.Failure) i32 {
    const status: Status = switch (failure) {
        error.Invalid => .invalid,
        error.Stale => .stale,
        error.OutOfMemory => .out_of_memory,
        error.TooMany => .too_many,
        error.Refused => .refused,
        error.Overloaded => .overloaded,
        error.Context => .context,
        error.Failed => .failed,
    };
    switch (failure) {
        error.Stale => report.set("the handle names nothing", .{}),
        error.OutOfMemory => report.set("out of memory", .{}),
        else => {},
    }
    return @backingInt(status);
}

fn refuse(comptime format: []const u8, arguments: anytype) i32 {
    return failed(report.fail(error.Invalid, format, arguments));
}

fn missing(comptime what: []const u8) i32 {
    return refuse("no " ++ what ++ " given", .{});
}

/// Null for a null pointer with a length. JavaScript passes null for an empty array.
fn slice(comptime T: type, pointer: ?[*]const T, length: u32) ?[]const T {
    if (length == 0) return &.{};
    return (pointer orelse return null)[0..length];
}

fn address(pointer: anytype) f64 {
    return @floatFromInt(@intFromPtr(pointer));
}

/// Null when a number is out of bounds, and the report says which.
fn schedulerOptions(given: *const ModelOptions) ?scheduler.Options {
    var wanted: scheduler.Options = .{};
    if (given.slots != 0) wanted.slots = given.slots;
    if (given.queue_max != 0) wanted.queue_max = given.queue_max;
    if (given.context_max != 0) wanted.context_max = given.context_max;
    if (wanted.slots > limits.scheduler.slots_max) {
        report.set("{d} slots, at most {d}", .{ wanted.slots, limits.scheduler.slots_max });
        return null;
    }
    if (wanted.queue_max > limits.scheduler.queue_requests) {
        report.set("{d} waiting requests, at most {d}", .{ wanted.queue_max, limits.scheduler.queue_requests });
        return null;
    }
    return wanted;
}

fn modelReport(view: engine.Registry.ModelView) ModelReport {
    const own = view.entry.scheduler;
    return .{
        .logits = address(own.logits.ptr),
        .masks = address(own.masks.ptr),
        .handle = view.handle,
        .wake = own.wake.handOver(),
        .vocabulary_count = own.shared.vocabulary.count,
        .context_max = own.shared.context_max,
        .slots = @intCast(own.slots.len),
        .words = own.shared.vocabulary.words(),
    };
}
