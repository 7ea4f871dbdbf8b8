const std = @import("std");
const assert = std.debug.assert;
const Allocator = std.mem.Allocator;
const grammar = @import("../grammar.zig");
const limits = @import("../limits.zig").scheduler;
const Vocabulary = @import("../vocabulary.zig").Vocabulary;
const Backend = @import("backend.zig").Backend;
const event = @import("event.zig");
const Kept = @import("kept.zig").Kept;
const Request = @import("request.zig").Request;
const Ring = @import("ring.zig").Ring;
const Sampler = @import("sampler.zig").Sampler;
const logprobs = @import("sampler.zig").logprobs;

/// What the slots of a scheduler share.
pub const Shared = struct {
    gpa: Allocator,
    backend: Backend,
    vocabulary: *const Vocabulary,
    /// Tokens of a sequence.
    context_max: u32,
    sampler: Sampler,
    kept: Kept,
    /// Two masks of scratch. (2, words)
    scratch: [2][]u32,

    pub fn init(gpa: Allocator, backend: Backend, vocabulary: *const Vocabulary, context_max: u32, kept_bytes: usize) error{OutOfMemory}!Shared {
        var sampler: Sampler = try .init(gpa, vocabulary.count);
        errdefer sampler.deinit(gpa);
        const words = vocabulary.words();
        const masks = try gpa.alloc(u32, 2 * words);
        return .{
            .gpa = gpa,
            .backend = backend,
            .vocabulary = vocabulary,
            .context_max = context_max,
            .sampler = sampler,
            .kept = .{ .gpa = gpa, .backend = backend, .bytes_max = kept_bytes },
            .scratch = .{ masks[0..words], masks[words..] },
        };
    }

    pub fn deinit(shared: *Shared) void {
        shared.kept.deinit();
        shared.gpa.free(shared.scratch[0].ptr[0 .. 2 * shared.scratch[0].len]);
        shared.sampler.deinit(shared.gpa);
    }
};

/// One running request: its sequence, its place in the grammar, its rows of the two arenas. Owned by the scheduler thread,
/// except that JavaScript writes the rows while the request is parked.
pub const Slot = struct {
    shared: *Shared,
    index: u32,
    logits: []f32, // (tokens)
    mask: []u32, // (words)
    /// The logits that the next token is drawn from: this slot's row of the arena, or one of a draft's.
    row: []f32, // (tokens)
    draft_logits: []f32, // (draft_tokens + 1, tokens)
    /// Logits after each token of a chunk, where the prompt is scored. (chunk_scored_tokens, tokens)
    scored_logits: ?[]f32 = null,
    /// Where the prompt is embedded.
    pool: ?Backend.Pool = null,

    phase: Phase = .free,
    /// Set outside `free`.
    request: *Request = undefined,
    sequence: ?Backend.Sequence = null,
    matcher: ?*grammar.Matcher = null,
    /// The model's own logits, kept where log-probabilities are asked for and the row may be changed before the draw.
    model_logits: ?[]f32 = null,
    /// Tokens written.
    output: std.ArrayList(u32) = .empty,
    /// Prompt tokens computed, and how many of them had been before.
    computed: u32 = 0,
    cached: u32 = 0,
    /// Tokens written, the last of them, and how many there may be.
    generated: u32 = 0,
    last: u32 = event.none,
    /// `last`, then what has to come after it if a draft is right.
    pending: [limits.draft_tokens + 1]u32 = undefined,
    pending_count: u32 = 0,
    /// Tokens that the next draft may have: fewer after wrong ones.
    draft_max: u32 = limits.draft_tokens,
    generated_max: u32 = 0,
    closed_by_rule: bool = false,
    log_sum: f64 = 0,
    /// Of the log-probabilities of all tokens written.
    logprob_sum: f64 = 0,
    alternatives: [limits.logprobs_top]event.Logprob = undefined,
    alternatives_count: usize = 0,
    begun_ms: f64 = 0,
    prompted_ms: f64 = 0,
    outbox: event.Outbox = .{},
    finish_record: [@sizeOf(event.Finish) + limits.message_bytes]u8 = undefined,
    finish_bytes: u32 = 0,

    pub const Phase = enum {
        free,
        /// The prompt is being computed.
        prefill,
        /// `last` waits to be computed.
        decode,
        /// Logits and mask are JavaScript's.
        parked,
        /// Nothing is left but to send events.
        finishing,
    };

    /// Starts a request in a free slot. A failure is the request's: it is then already finishing.
    pub fn begin(slot: *Slot, request: *Request) void {
        assert(slot.phase == .free and slot.outbox.isEmpty());
        slot.* = .{
            .shared = slot.shared,
            .index = slot.index,
            .logits = slot.logits,
            .mask = slot.mask,
            .row = slot.logits,
            .draft_logits = slot.draft_logits,
            .outbox = slot.outbox,
            .phase = .prefill,
            .request = request,
            .begun_ms = nowMs(),
            .generated_max = @min(request.tokens_max, slot.shared.context_max - @as(u32, @intCast(request.tokens.len))),
        };
        slot.prompted_ms = slot.begun_ms;
        if (request.cancelled.load(.monotonic)) return slot.finish(.cancelled);
        slot.acquire() catch slot.fail("out of memory");
    }

    fn acquire(slot: *Slot) error{OutOfMemory}!void {
        const gpa = slot.shared.gpa;
        const request = slot.request;
        try slot.outbox.reserve(gpa);
        // What was computed before has no logits any more.
        const sequence = switch (request.task) {
            .generate => try slot.shared.kept.begin(request.tokens),
            .score, .embed => try slot.shared.backend.sequenceCreate(),
        };
        slot.sequence = sequence;
        slot.cached = slot.shared.backend.sequenceLen(sequence);
        slot.computed = slot.cached;
        if (request.program) |program| slot.matcher = try .create(gpa, program, request.stop_tokens);
        try slot.output.ensureTotalCapacity(gpa, @min(slot.generated_max, limits.output_tokens));
        if (request.task == .score) slot.scored_logits = try gpa.alloc(f32, limits.chunk_scored_tokens * slot.logits.len);
        if (request.task == .embed) slot.pool = try slot.shared.backend.poolCreate(gpa);
        const changes = request.step or request.biases.len > 0 or request.params.hasPenalties();
        if (request.logprobs != null and changes) slot.model_logits = try gpa.alloc(f32, slot.logits.len);
    }

    fn discard(slot: *Slot) void {
        const gpa = slot.shared.gpa;
        if (slot.sequence) |sequence| if (slot.pool == null) slot.keep(sequence) else slot.shared.backend.sequenceDestroy(sequence);
        if (slot.pool) |*pool| pool.deinit(gpa);
        if (slot.matcher) |matcher| matcher.destroy();
        if (slot.model_logits) |row| gpa.free(row);
        if (slot.scored_logits) |rows| gpa.free(rows);
        slot.output.deinit(gpa);
        slot.sequence = null;
        slot.matcher = null;
        slot.model_logits = null;
        slot.scored_logits = null;
        slot.pool = null;
        slot.output = .empty;
    }

    /// Leaves the sequence to those whose prompt begins as this conversation does.
    fn keep(slot: *Slot, sequence: Backend.Sequence) void {
        const shared = slot.shared;
        const prompt = slot.request.tokens[0..slot.computed];
        // The last token written has not been computed, or as part of a draft, which is as good as not.
        const written = slot.output.items[0..slot.output.items.len -| 1];
        const tokens = std.mem.concat(shared.gpa, u32, &.{ prompt, written }) catch return shared.backend.sequenceDestroy(sequence);
        defer shared.gpa.free(tokens);
        const len = shared.backend.sequenceLen(sequence);
        // After a failure in between it may be shorter.
        if (len < tokens.len) return shared.backend.sequenceDestroy(sequence);
        shared.backend.sequenceDrop(sequence, len - @as(u32, @intCast(tokens.len)));
        shared.kept.put(sequence, tokens);
    }

    pub fn deinit(slot: *Slot) void {
        slot.discard();
        slot.outbox.deinit(slot.shared.gpa);
    }

    /// Sends what waits and looks at the request's flags. True when the slot changed in a way that lets work go on.
    pub fn settle(slot: *Slot, ring: *Ring) bool {
        if (slot.phase == .free) return false;
        if (slot.phase != .finishing and slot.request.cancelled.load(.monotonic)) slot.finish(.cancelled);
        if (!slot.outbox.flush(ring)) return false;
        switch (slot.phase) {
            .free => unreachable,
            .prefill, .decode => return false,
            .parked => {
                if (!slot.request.released.swap(false, .acquire)) return false;
                slot.choose();
            },
            .finishing => {
                // The request is not touched any more once this record is out.
                if (!ring.write(slot.finish_record[0..slot.finish_bytes])) return false;
                slot.phase = .free;
            },
        }
        return true;
    }

    /// Whether the next pass may take this slot along.
    pub fn waitsFor(slot: *const Slot, phase: Phase) bool {
        return slot.phase == phase and slot.outbox.isEmpty();
    }

    /// What of the prompt the next pass computes.
    pub fn chunk(slot: *Slot, tokens_max: u32) Backend.Item {
        const sequence = slot.sequence.?;
        const rest = slot.request.tokens[slot.computed..];
        if (slot.pool) |*pool| {
            const count = if (slot.shared.backend.isCausal()) @min(rest.len, tokens_max) else rest.len;
            return .{ .sequence = sequence, .tokens = rest[0..count], .logits = null, .pool = pool };
        }
        if (slot.scored_logits) |rows| {
            const count: u32 = @intCast(@min(rest.len, tokens_max, limits.chunk_scored_tokens));
            return .{ .sequence = sequence, .tokens = rest[0..count], .logits = rows.ptr, .outputs = count };
        }
        const tokens = rest[0..@min(rest.len, tokens_max)];
        return .{ .sequence = sequence, .tokens = tokens, .logits = if (tokens.len == rest.len) slot.logits.ptr else null };
    }

    /// The next tokens of the prompt have been computed, as `chunk` had them; with the last one, the logits are in the row.
    pub fn prefilled(slot: *Slot, tokens: u32) void {
        const total: u32 = @intCast(slot.request.tokens.len);
        if (slot.scored_logits) |rows| slot.score(rows[0 .. tokens * slot.logits.len]) catch return slot.fail("out of memory");
        slot.computed += tokens;
        if (slot.computed == total) {
            slot.prompted_ms = nowMs();
            // A grammar of nothing but the empty text.
            if (slot.matcher) |matcher| if (matcher.isComplete()) return slot.finish(.complete);
            if (slot.pool) |*pool| return slot.embed(pool) catch slot.fail("out of memory");
            if (slot.generated_max == 0) return slot.finish(.length);
            return slot.ready();
        }
        slot.outbox.add(slot.shared.gpa, slot.request.handle, .progress, event.Progress{
            .head = undefined,
            .done = slot.computed,
            .total = total,
        }, "") catch slot.fail("out of memory");
    }

    fn embed(slot: *Slot, pool: *const Backend.Pool) error{OutOfMemory}!void {
        const gpa = slot.shared.gpa;
        const vector = try gpa.alloc(f32, pool.sum.len);
        defer gpa.free(vector);
        pool.write(vector);
        try slot.outbox.addEmbedding(gpa, slot.request.handle, vector);
        slot.finish(.complete);
    }

    /// Tells how likely each token was that follows one of the chunk, and leaves the last logits of all in the row.
    fn score(slot: *Slot, rows: []const f32) error{OutOfMemory}!void {
        const request = slot.request;
        const width = slot.logits.len;
        for (0..rows.len / width) |index| {
            const row = rows[index * width ..][0..width];
            const at = slot.computed + index + 1;
            if (at == request.tokens.len) return @memcpy(slot.logits, row);
            const log_sum = logprobs.logSum(row);
            const count = logprobs.top(row, log_sum, slot.alternatives[0..request.logprobs.?]);
            try slot.outbox.add(slot.shared.gpa, request.handle, .prompt_token, event.Token{
                .head = undefined,
                .token = request.tokens[at],
                .logprob = logprobs.of(row[request.tokens[at]], log_sum),
                .alternatives = @intCast(count),
            }, std.mem.sliceAsBytes(slot.alternatives[0..count]));
        }
    }

    /// What the next pass computes: the last token, and up to `rows` that have to come after it.
    pub fn next(slot: *Slot, rows: u32) Backend.Item {
        slot.pending[0] = slot.last;
        slot.pending_count = 1 + slot.draft(slot.pending[1..][0..@min(rows, slot.draft_max)]);
        const drafts = slot.pending_count > 1;
        return .{
            .sequence = slot.sequence.?,
            .tokens = slot.pending[0..slot.pending_count],
            .logits = if (drafts) slot.draft_logits.ptr else slot.logits.ptr,
            .outputs = slot.pending_count,
        };
    }

    fn draft(slot: *Slot, out: []u32) u32 {
        const request = slot.request;
        const matcher = slot.matcher orelse return 0;
        if (!request.drafts or request.step) return 0;
        // The last token that there may be is followed by nothing.
        const left = slot.generated_max - slot.generated - 1;
        // Without memory for it there is no draft; what needs the memory will say so.
        return matcher.draft(out[0..@min(out.len, left)]) catch 0;
    }

    /// The logits after each token of `next` are there. A draft is kept as far as the draw agrees with it, so that it changes nothing
    /// but the time.
    pub fn decoded(slot: *Slot) void {
        const count = slot.pending_count;
        if (count == 1) return slot.ready();
        defer slot.row = slot.logits;
        for (0..count) |index| {
            slot.row = slot.draft_logits[index * slot.logits.len ..][0..slot.logits.len];
            slot.ready();
            if (slot.phase != .decode) return;
            const is_last = index + 1 == count;
            if (is_last or slot.last != slot.pending[index + 1]) {
                const wrong: u32 = @intCast(count - index - 1);
                if (wrong > 0) slot.shared.backend.sequenceDrop(slot.sequence.?, wrong);
                slot.draft_max = if (wrong == 0) limits.draft_tokens else @max(1, slot.draft_max / 2);
                return;
            }
        }
    }

    /// The logits of the next token are in the row.
    fn ready(slot: *Slot) void {
        const request = slot.request;
        if (request.logprobs) |count| {
            slot.log_sum = logprobs.logSum(slot.row);
            slot.alternatives_count = logprobs.top(slot.row, slot.log_sum, slot.alternatives[0..count]);
            if (slot.model_logits) |row| @memcpy(row, slot.row);
        }
        slot.writeMask(slot.mask, slot.generated_max - slot.generated) catch return slot.fail("out of memory");
        if (!request.step) return slot.choose();
        slot.outbox.add(slot.shared.gpa, request.handle, .parked, event.Parked{
            .head = undefined,
            .slot = slot.index,
            .previous = slot.last,
        }, "") catch return slot.fail("out of memory");
        slot.phase = .parked;
    }

    fn writeMask(slot: *const Slot, out: []u32, tokens_left: u32) error{OutOfMemory}!void {
        if (slot.matcher) |matcher| try matcher.mask(out, tokens_left) else @memcpy(out, slot.shared.vocabulary.producible);
    }

    fn choose(slot: *Slot) void {
        const request = slot.request;
        slot.shared.sampler.adjust(slot.row, request.params, request.biases, request.tokens, slot.output.items);
        const token = slot.sample() catch |err| switch (err) {
            error.NothingAllowed => {
                // Where there is no stop token to choose, the end is not in the mask.
                const ends = if (slot.matcher) |matcher| matcher.acceptsEnd() else false;
                return if (ends) slot.finish(.complete) else slot.fail("no token is allowed");
            },
            error.OutOfMemory => return slot.fail("out of memory"),
        };
        slot.accept(token) catch slot.fail("out of memory");
    }

    fn sample(slot: *Slot) error{ NothingAllowed, OutOfMemory }!u32 {
        const request = slot.request;
        const shared = slot.shared;
        const left = slot.generated_max - slot.generated;
        const position: u32 = @intCast(request.tokens.len + slot.generated);
        var mask = slot.mask;
        if (request.step) {
            // JavaScript narrows what the grammar allows, and never widens it.
            mask = shared.scratch[0];
            try slot.writeMask(mask, left);
            for (mask, slot.mask) |*word, own| word.* &= own;
        }
        const token = try shared.sampler.choose(slot.row, mask, request.params, position);
        const matcher = slot.matcher orelse return token;
        if (slot.closed_by_rule or left -| matcher.cost() > limits.closing_spare_tokens) return token;
        const unlimited = shared.scratch[1];
        try matcher.mask(unlimited, grammar.unlimited);
        if (request.step) for (unlimited, slot.mask) |*word, own| {
            word.* &= own;
        };
        if (!std.mem.eql(u32, unlimited, mask))
            slot.closed_by_rule = try shared.sampler.choose(slot.row, unlimited, request.params, position) != token;
        return token;
    }

    fn accept(slot: *Slot, token: u32) error{OutOfMemory}!void {
        const request = slot.request;
        const gpa = slot.shared.gpa;
        slot.generated += 1;
        slot.last = token;
        try slot.output.append(gpa, token);
        const logprob = if (request.logprobs == null) 0 else logprobs.of((slot.model_logits orelse slot.row)[token], slot.log_sum);
        slot.logprob_sum += logprob;
        if (request.isStop(token) and (if (slot.matcher) |matcher| matcher.acceptsEnd() else true)) return slot.finish(.stop_token);
        if (request.logprobs != null) try slot.outbox.add(gpa, request.handle, .token, event.Token{
            .head = undefined,
            .token = token,
            .logprob = logprob,
            .alternatives = @intCast(slot.alternatives_count),
        }, std.mem.sliceAsBytes(slot.alternatives[0..slot.alternatives_count]));
        if (slot.matcher) |matcher| {
            if (!try matcher.accept(token)) return slot.fail("the grammar refused a token that its mask allowed");
            try slot.send(matcher.segments());
            if (matcher.isComplete()) return slot.finish(.complete);
        } else if (slot.shared.vocabulary.kinds[token] == .normal) {
            const text = slot.shared.vocabulary.text(token);
            if (text.len > 0) try slot.outbox.addText(gpa, request.handle, @backingInt(grammar.Channel.text), event.none, text);
        }
        if (slot.generated == slot.generated_max) return slot.finish(if (slot.generated == request.tokens_max) .length else .context);
        slot.phase = .decode;
    }

    fn send(slot: *Slot, segments: []const grammar.Segment) error{OutOfMemory}!void {
        for (segments) |segment|
            try slot.outbox.addText(slot.shared.gpa, slot.request.handle, @backingInt(segment.channel), segment.call, segment.bytes);
    }

    fn finish(slot: *Slot, reason: event.Reason) void {
        if (slot.matcher) |matcher| if (reason != .cancelled) {
            const rest = matcher.flush() catch return slot.fail("out of memory");
            slot.send(rest) catch return slot.fail("out of memory");
        };
        slot.finishWith(reason, "");
    }

    /// Ends this request for a reason that is no fault of the others.
    pub fn fail(slot: *Slot, message: []const u8) void {
        slot.finishWith(.failed, message);
    }

    fn finishWith(slot: *Slot, reason: event.Reason, message: []const u8) void {
        assert(message.len <= limits.message_bytes);
        const size = std.mem.alignForward(usize, @sizeOf(event.Finish) + message.len, 4);
        const record: event.Finish = .{
            .head = .{ .bytes = @intCast(size), .request = slot.request.handle, .kind = .finish },
            .reason = reason,
            .closed_by_rule = @intFromBool(slot.closed_by_rule),
            .prompt_tokens = @intCast(slot.request.tokens.len),
            .cached_tokens = slot.cached,
            .completion_tokens = slot.generated,
            .prompt_ms = @floatCast(slot.prompted_ms - slot.begun_ms),
            .completion_ms = @floatCast(nowMs() - slot.prompted_ms),
            .logprob_sum = @floatCast(slot.logprob_sum),
            .length = @intCast(message.len),
        };
        @memcpy(slot.finish_record[0..@sizeOf(event.Finish)], std.mem.asBytes(&record));
        @memcpy(slot.finish_record[@sizeOf(event.Finish)..][0..message.len], message);
        @memset(slot.finish_record[@sizeOf(event.Finish) + message.len .. size], 0);
        slot.finish_bytes = @intCast(size);
        slot.discard();
        slot.phase = .finishing;
    }
};

fn nowMs() f64 {
    const now = std.Io.Clock.awake.now(std.Io.Threaded.global_single_threaded.io());
    return @as(f64, @floatFromInt(now.nanoseconds)) / std.time.ns_per_ms;
}
