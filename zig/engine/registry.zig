const std = @import("std");
const Allocator = std.mem.Allocator;
const grammar = @import("../grammar.zig");
const limits = @import("../limits.zig");
const models = @import("../model.zig");
const scheduling = @import("../scheduler.zig");
const stdx = @import("../stdx.zig");
const Vocabulary = @import("../vocabulary.zig").Vocabulary;
const io = std.Io.Threaded.global_single_threaded.io();

pub const Failure = error{
    /// An argument that no caller should pass.
    Invalid,
    /// A handle that names nothing (any more).
    Stale,
    OutOfMemory,
    /// A bound of limits.zig is reached.
    TooMany,
    /// A grammar that cannot be enforced.
    Refused,
    /// The queue is full: to be tried again later.
    Overloaded,
    /// Prompt and shortest answer are longer than the model's context.
    Context,
    /// The operating system or a file did not do its part.
    Failed,
};

/// Why the last call failed, in words.
pub const Report = struct {
    buffer: [limits.scheduler.message_bytes]u8 = undefined,
    length: usize = 0,

    pub fn text(report: *const Report) []const u8 {
        return report.buffer[0..report.length];
    }

    /// Cut where it does not fit.
    pub fn set(report: *Report, comptime format: []const u8, arguments: anytype) void {
        var writer: std.Io.Writer = .fixed(&report.buffer);
        writer.print(format, arguments) catch |err| switch (err) {
            error.WriteFailed => {}, // The beginning is there.
        };
        report.length = writer.end;
    }

    pub fn fail(report: *Report, failure: Failure, comptime format: []const u8, arguments: anytype) Failure {
        report.set(format, arguments);
        return failure;
    }
};

const VocabularyEntry = struct {
    vocabulary: *Vocabulary,
    /// The handle and everything that was made from it.
    references: u32 = 1,
    /// (matchers, words): each matcher's mask.
    masks: []align(std.heap.page_size_min) u32,
    rows: std.bit_set.Static(limits.engine.matchers) = .empty,
};

const GrammarEntry = struct {
    program: *grammar.Program,
    vocabulary: *VocabularyEntry,
    references: u32 = 1,
};

const MatcherEntry = struct {
    matcher: *grammar.Matcher,
    grammar: *GrammarEntry,
    row: u32,
    /// What the last `accept` or `flush` made certain.
    segments: []const grammar.Segment = &.{},

    pub fn mask(entry: *const MatcherEntry) []u32 {
        const words = entry.grammar.vocabulary.vocabulary.words();
        return entry.grammar.vocabulary.masks[entry.row * words ..][0..words];
    }
};

const ModelEntry = struct {
    scheduler: *scheduling.Scheduler,
    backend: scheduling.Backend,
    vocabulary: *VocabularyEntry,
};

const RequestEntry = struct {
    request: scheduling.Request,
    model: *ModelEntry,
    grammar: ?*GrammarEntry,
};

/// All that is alive. The lock is held to look up, count references and copy, never while a grammar is compiled or a model runs.
pub const Registry = struct {
    gpa: Allocator,
    lock: std.Io.Mutex = .init,
    vocabularies: stdx.Handles(*VocabularyEntry, 1, limits.engine.vocabularies) = .{},
    grammars: stdx.Handles(*GrammarEntry, 2, limits.engine.grammars) = .{},
    matchers: stdx.Handles(*MatcherEntry, 3, limits.engine.vocabularies * limits.engine.matchers) = .{},
    models: stdx.Handles(*ModelEntry, 4, limits.engine.models) = .{},
    requests: stdx.Handles(*RequestEntry, 5, limits.engine.requests) = .{},

    pub const VocabularyView = struct { handle: u32, masks: [*]u32 };

    pub fn vocabularyCreate(self: *Registry, bytes: []const u8, offsets: []const u32, kinds: []const u8, report: *Report) Failure!VocabularyView {
        const vocabulary = Vocabulary.create(self.gpa, bytes, offsets, kinds) catch |err| switch (err) {
            error.OutOfMemory => return error.OutOfMemory,
            error.Invalid => return report.fail(error.Invalid, "bytes, offsets and kinds of the vocabulary do not fit together", .{}),
        };
        errdefer vocabulary.destroy(self.gpa);
        const entry = try self.gpa.create(VocabularyEntry);
        errdefer self.gpa.destroy(entry);
        const masks = try stdx.allocPages(u32, self.gpa, limits.engine.matchers * @as(usize, vocabulary.words()));
        errdefer stdx.freePages(self.gpa, masks);
        entry.* = .{ .vocabulary = vocabulary, .masks = masks };
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        const handle = self.vocabularies.insert(entry) catch
            return report.fail(error.TooMany, "{d} vocabularies are open already", .{limits.engine.vocabularies});
        return .{ .handle = handle, .masks = masks.ptr };
    }

    /// It lives on for what was made from it.
    pub fn vocabularyDestroy(self: *Registry, handle: u32) Failure!void {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        self.dropVocabulary(self.vocabularies.remove(handle) orelse return error.Stale);
    }

    pub const GrammarView = struct { handle: u32, cost_min: u32 };

    /// `refusal` is filled in with `Refused`.
    pub fn grammarCreate(self: *Registry, vocabulary: u32, ir: []const u8, work_units: u64, refusal: *grammar.Refusal, report: *Report) Failure!GrammarView {
        const source = try self.takeVocabulary(vocabulary);
        errdefer self.giveBack(source);
        const program = grammar.Program.createWithin(self.gpa, source.vocabulary, ir, work_units, refusal) catch |err| switch (err) {
            error.OutOfMemory => return error.OutOfMemory,
            error.Refused => return report.fail(error.Refused, "{s}", .{refusal.message}),
        };
        errdefer program.destroy();
        const entry = try self.gpa.create(GrammarEntry);
        errdefer self.gpa.destroy(entry);
        entry.* = .{ .program = program, .vocabulary = source };
        const handle = blk: {
            self.lock.lockUncancelable(io);
            defer self.lock.unlock(io);
            break :blk self.grammars.insert(entry);
        } catch return report.fail(error.TooMany, "{d} grammars are alive already", .{limits.engine.grammars});
        return .{ .handle = handle, .cost_min = program.cost_min };
    }

    /// It lives on for the requests and matchers that use it.
    pub fn grammarDestroy(self: *Registry, handle: u32) Failure!void {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        self.dropGrammar(self.grammars.remove(handle) orelse return error.Stale);
    }

    pub const MatcherView = struct { handle: u32, row: u32 };

    pub fn matcherCreate(self: *Registry, grammar_handle: u32, stop_tokens: []const u32, report: *Report) Failure!MatcherView {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        const source = self.grammars.get(grammar_handle) orelse return error.Stale;
        for (stop_tokens) |token| if (token >= source.vocabulary.vocabulary.count)
            return report.fail(error.Invalid, "stop token {d} is outside the vocabulary", .{token});
        const matcher: *grammar.Matcher = try .create(self.gpa, source.program, stop_tokens);
        errdefer matcher.destroy();
        matcher.history_max = limits.grammar.history_tokens;
        return self.matcherInsert(matcher, source, report);
    }

    pub fn matcherFork(self: *Registry, handle: u32, report: *Report) Failure!MatcherView {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        const entry = self.matchers.get(handle) orelse return error.Stale;
        const matcher = try entry.matcher.fork();
        errdefer matcher.destroy();
        return self.matcherInsert(matcher, entry.grammar, report);
    }

    /// Gives a matcher a handle and a row. The lock is held.
    fn matcherInsert(self: *Registry, matcher: *grammar.Matcher, source: *GrammarEntry, report: *Report) Failure!MatcherView {
        var free = source.vocabulary.rows.complement();
        const row = free.findFirstSet() orelse
            return report.fail(error.TooMany, "{d} matchers of this vocabulary are alive already", .{limits.engine.matchers});
        const entry = try self.gpa.create(MatcherEntry);
        errdefer self.gpa.destroy(entry);
        entry.* = .{ .matcher = matcher, .grammar = source, .row = @intCast(row) };
        const handle = self.matchers.insert(entry) catch return report.fail(error.TooMany, "too many matchers are alive", .{});
        source.references += 1;
        source.vocabulary.rows.set(row);
        return .{ .handle = handle, .row = @intCast(row) };
    }

    pub fn matcherDestroy(self: *Registry, handle: u32) Failure!void {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        const entry = self.matchers.remove(handle) orelse return error.Stale;
        entry.matcher.destroy();
        entry.grammar.vocabulary.rows.unset(entry.row);
        self.dropGrammar(entry.grammar);
        self.gpa.destroy(entry);
    }

    pub fn matcherGet(self: *Registry, handle: u32) Failure!*MatcherEntry {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        return self.matchers.get(handle) orelse error.Stale;
    }

    pub const ModelView = struct { handle: u32, entry: *ModelEntry };

    /// A model without weights over this vocabulary; `wanted.vocabulary_count` is set here.
    pub fn modelNoise(
        self: *Registry,
        vocabulary: u32,
        wanted: scheduling.noise.Options,
        options: scheduling.Options,
        report: *Report,
    ) Failure!ModelView {
        const source = try self.takeVocabulary(vocabulary);
        errdefer self.giveBack(source);
        var complete = wanted;
        complete.vocabulary_count = source.vocabulary.count;
        for (wanted.phrases) |phrase| for (phrase) |token| if (token >= complete.vocabulary_count)
            return report.fail(error.Invalid, "token {d} of a phrase is outside the vocabulary", .{token});
        const backend: scheduling.Backend = .{ .noise = try .create(self.gpa, complete) };
        errdefer backend.destroy();
        return self.modelStart(backend, source, options, report);
    }

    /// A model from the files that the manifest names. `threads` compute, as many as the machine has when 0.
    pub fn modelLoad(
        self: *Registry,
        vocabulary: u32,
        manifest: []const u8,
        threads: u32,
        options: scheduling.Options,
        report: *Report,
    ) Failure!ModelView {
        const source = try self.takeVocabulary(vocabulary);
        errdefer self.giveBack(source);
        const machine: u32 = @intCast(std.Thread.getCpuCount() catch 1);
        var diagnostic: models.Diagnostic = .{};
        const model = models.Model.load(self.gpa, manifest, .{
            .threads = if (threads == 0) machine else threads,
        }, &diagnostic) catch |err| switch (err) {
            error.OutOfMemory => return error.OutOfMemory,
            error.Invalid => return report.fail(error.Failed, "{s}", .{diagnostic.text()}),
            error.ThreadsUnavailable => return report.fail(error.Failed, "threads to compute could not be started", .{}),
        };
        const backend: scheduling.Backend = .{ .model = model };
        errdefer backend.destroy();
        if (model.vocabulary_count != source.vocabulary.count) return report.fail(
            error.Invalid,
            "the vocabulary has {d} tokens, the model {d}",
            .{ source.vocabulary.count, model.vocabulary_count },
        );
        return self.modelStart(backend, source, options, report);
    }

    fn modelStart(
        self: *Registry,
        backend: scheduling.Backend,
        vocabulary: *VocabularyEntry,
        options: scheduling.Options,
        report: *Report,
    ) Failure!ModelView {
        const scheduler = scheduling.Scheduler.create(self.gpa, backend, vocabulary.vocabulary, options) catch |err| switch (err) {
            error.OutOfMemory => return error.OutOfMemory,
            error.NoSockets => return report.fail(error.Failed, "no pair of sockets could be opened", .{}),
        };
        errdefer scheduler.destroy();
        const entry = try self.gpa.create(ModelEntry);
        errdefer self.gpa.destroy(entry);
        entry.* = .{ .scheduler = scheduler, .backend = backend, .vocabulary = vocabulary };
        scheduler.start() catch |err| return report.fail(error.Failed, "the scheduler's thread could not be started: {t}", .{err});
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        const handle = self.models.insert(entry) catch
            return report.fail(error.TooMany, "{d} models are open already", .{limits.engine.models});
        return .{ .handle = handle, .entry = entry };
    }

    /// Its requests end without further events, and their handles with it.
    pub fn modelDestroy(self: *Registry, handle: u32) Failure!void {
        const entry = blk: {
            self.lock.lockUncancelable(io);
            defer self.lock.unlock(io);
            const found = self.models.remove(handle) orelse return error.Stale;
            for (self.requests.all()) |slot| if (slot) |request| if (request.model == found) request.request.cancelled.store(true, .monotonic);
            break :blk found;
        };
        entry.scheduler.destroy();
        entry.backend.destroy();
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        for (self.requests.all()) |slot| if (slot) |request| if (request.model == entry) self.dropRequest(request);
        self.dropVocabulary(entry.vocabulary);
        self.gpa.destroy(entry);
    }

    pub const ModelCounts = struct { running: u32, queued: u32, cache_bytes: usize };

    pub fn modelCounts(self: *Registry, handle: u32) Failure!ModelCounts {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        const scheduler = (self.models.get(handle) orelse return error.Stale).scheduler;
        return .{
            .running = scheduler.running.load(.monotonic),
            .queued = scheduler.queue.len(),
            .cache_bytes = scheduler.cache_bytes.load(.monotonic),
        };
    }

    pub const LiveCounts = struct { vocabularies: u32, grammars: u32, matchers: u32, models: u32, requests: u32 };

    /// Handles that name something, in the whole process.
    pub fn liveCounts(self: *Registry) LiveCounts {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        return .{
            .vocabularies = self.vocabularies.count(),
            .grammars = self.grammars.count(),
            .matchers = self.matchers.count(),
            .models = self.models.count(),
            .requests = self.requests.count(),
        };
    }

    /// Copies events; requests whose finish event is among them are over.
    pub fn modelDrain(self: *Registry, handle: u32, out: []align(4) u8) Failure!u32 {
        const entry = blk: {
            self.lock.lockUncancelable(io);
            defer self.lock.unlock(io);
            break :blk self.models.get(handle) orelse return error.Stale;
        };
        const bytes = entry.scheduler.drain(out);
        var at: usize = 0;
        while (at < bytes) {
            const head = std.mem.bytesAsValue(scheduling.event.Head, out[at..][0..@sizeOf(scheduling.event.Head)]);
            if (head.kind == .finish) {
                self.lock.lockUncancelable(io);
                defer self.lock.unlock(io);
                if (self.requests.get(head.request)) |request| self.dropRequest(request);
            }
            at += head.bytes;
        }
        return bytes;
    }

    pub const Misfit = struct { needed: u32, context_max: u32 };

    /// Copies the request. `wanted.handle` and `wanted.program` are set here; `misfit` is filled in with `Context`.
    pub fn requestSubmit(
        self: *Registry,
        model: u32,
        grammar_handle: ?u32,
        wanted: scheduling.Request,
        misfit: *Misfit,
        report: *Report,
    ) Failure!u32 {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        const target = self.models.get(model) orelse return error.Stale;
        const source = if (grammar_handle) |handle| self.grammars.get(handle) orelse return error.Stale else null;
        var complete = wanted;
        complete.program = if (source) |found| found.program else null;
        if (source) |found| if (found.vocabulary != target.vocabulary)
            return report.fail(error.Invalid, "the grammar was compiled for another vocabulary", .{});
        const context_max = target.scheduler.shared.context_max;
        if (scheduling.Misfit.find(&complete, target.vocabulary.vocabulary.count, context_max, target.backend.embeds())) |found| switch (found) {
            .invalid => |reason| return report.fail(error.Invalid, "{s}", .{reason}),
            .limit => |counts| return report.fail(error.Invalid, "the shortest answer has {d} tokens, the limit is {d}", .{ counts.cost_min, counts.tokens_max }),
            .context => |counts| {
                misfit.* = .{ .needed = std.math.lossyCast(u32, counts.needed), .context_max = counts.context_max };
                return report.fail(error.Context, "prompt and shortest answer have {d} tokens, the context {d}", .{ counts.needed, counts.context_max });
            },
        };
        const entry = try self.gpa.create(RequestEntry);
        errdefer self.gpa.destroy(entry);
        entry.* = .{ .request = try .init(self.gpa, complete), .model = target, .grammar = source };
        errdefer entry.request.deinit(self.gpa);
        const handle = self.requests.insert(entry) catch
            return report.fail(error.Overloaded, "{d} requests are in flight", .{limits.engine.requests});
        errdefer _ = self.requests.remove(handle);
        entry.request.handle = handle;
        target.scheduler.submit(&entry.request) catch
            return report.fail(error.Overloaded, "{d} requests are waiting", .{target.scheduler.queue_max});
        if (source) |found| found.references += 1;
        return handle;
    }

    /// A request that is over is none any more, and that is no failure.
    pub fn requestCancel(self: *Registry, handle: u32) void {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        if (self.requests.get(handle)) |entry| entry.model.scheduler.cancel(&entry.request);
    }

    pub fn requestRelease(self: *Registry, handle: u32) Failure!void {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        const entry = self.requests.get(handle) orelse return error.Stale;
        entry.model.scheduler.release(&entry.request);
    }

    fn takeVocabulary(self: *Registry, handle: u32) Failure!*VocabularyEntry {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        const found = self.vocabularies.get(handle) orelse return error.Stale;
        found.references += 1;
        return found;
    }

    fn giveBack(self: *Registry, entry: *VocabularyEntry) void {
        self.lock.lockUncancelable(io);
        defer self.lock.unlock(io);
        self.dropVocabulary(entry);
    }

    // The rest is called with the lock held.

    fn dropVocabulary(self: *Registry, entry: *VocabularyEntry) void {
        entry.references -= 1;
        if (entry.references > 0) return;
        entry.vocabulary.destroy(self.gpa);
        stdx.freePages(self.gpa, entry.masks);
        self.gpa.destroy(entry);
    }

    fn dropGrammar(self: *Registry, entry: *GrammarEntry) void {
        entry.references -= 1;
        if (entry.references > 0) return;
        entry.program.destroy();
        self.dropVocabulary(entry.vocabulary);
        self.gpa.destroy(entry);
    }

    fn dropRequest(self: *Registry, entry: *RequestEntry) void {
        _ = self.requests.remove(entry.request.handle);
        if (entry.grammar) |source| self.dropGrammar(source);
        entry.request.deinit(self.gpa);
        self.gpa.destroy(entry);
    }
};
