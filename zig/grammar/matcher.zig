//! One output as it is written: where the grammar is, which tokens may come, and what each byte was for.
const std = @import("std");
const Allocator = std.mem.Allocator;
const words = @import("../stdx.zig").words;
const ir = @import("ir.zig");
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const Node = graph_room.Node;
const StateId = graph_room.StateId;
const Transition = graph_room.Transition;
const Program = @import("program.zig").Program;
const Tracks = @import("unique.zig").Tracks;
const json_string = @import("../vocabulary.zig").json_string;
const mask_room = @import("mask.zig");
const takesAll = @import("takes_all.zig").takesAll;
const walk = @import("walk.zig");
const forced_room = @import("forced.zig");

const none = ir.none;
const Error = error{OutOfMemory};

pub const unlimited = mask_room.unlimited;

pub const Segment = struct {
    channel: ir.Channel,
    /// Index of the current call, counted by call_name segments starting; `none` before the first.
    call: u32,
    bytes: []const u8,
};

pub const Matcher = struct {
    gpa: Allocator,
    program: *const Program,
    graph: *Graph,
    /// Sorted.
    stop_tokens: []const u32,
    /// What is live, in order of preference; each with what its bytes since the last segment are for. Several only while it is not decided.
    readings: std.ArrayList(Reading) = .empty,
    spare: std.ArrayList(Reading) = .empty,
    /// All readings together.
    state: StateId = Graph.dead_state,
    spent: u32 = 0,
    /// The output, as far as keys may have to be read again.
    output: std.ArrayList(u8) = .empty,
    ended: bool = false,
    calls: u32 = 0,
    last_channel: ?ir.Channel = null,
    segment_list: std.ArrayList(Segment) = .empty,
    segment_bytes: std.ArrayList(u8) = .empty,
    /// Forks follow one graph, all on one thread: a ring of those that do.
    next_fork: *Matcher = undefined,
    /// Tokens that `rollback` may take back.
    history_max: u32 = 0,
    history: std.ArrayList(Past) = .empty,

    /// The program has to outlive the matcher.
    pub fn create(gpa: Allocator, program: *const Program, stop_tokens: []const u32) Error!*Matcher {
        const self = try gpa.create(Matcher);
        errdefer gpa.destroy(self);
        const stops = try gpa.dupe(u32, stop_tokens);
        errdefer gpa.free(stops);
        std.mem.sortUnstable(u32, stops, {}, std.sort.asc(u32));
        const graph = try program.graphs.acquire(program);
        errdefer program.graphs.release(graph);
        self.* = .{ .gpa = gpa, .program = program, .graph = graph, .stop_tokens = stops };
        self.next_fork = self;
        try self.readings.append(gpa, .{ .state = graph.initial.state });
        self.state = graph.initial.state;
        return self;
    }

    /// Another output with the same beginning. It shares the tables, so both belong to one thread, and goes back no further than here.
    pub fn fork(self: *Matcher) Error!*Matcher {
        const gpa = self.gpa;
        const other = try gpa.create(Matcher);
        errdefer gpa.destroy(other);
        other.* = .{
            .gpa = gpa,
            .program = self.program,
            .graph = self.graph,
            .stop_tokens = &.{},
            .state = self.state,
            .spent = self.spent,
            .ended = self.ended,
            .calls = self.calls,
            .last_channel = self.last_channel,
            .history_max = self.history_max,
        };
        errdefer other.deinit();
        other.stop_tokens = try gpa.dupe(u32, self.stop_tokens);
        try other.output.appendSlice(gpa, self.output.items);
        try other.readings.ensureTotalCapacity(gpa, self.readings.items.len);
        for (self.readings.items) |reading| {
            const labels = try other.copyLabels(reading.labels.items);
            other.readings.appendAssumeCapacity(.{ .state = reading.state, .spent = reading.spent, .labels = labels });
        }
        other.next_fork = self.next_fork;
        self.next_fork = other;
        return other;
    }

    pub fn destroy(self: *Matcher) void {
        if (self.next_fork == self) {
            self.program.graphs.release(self.graph);
        } else {
            var before = self.next_fork;
            while (before.next_fork != self) before = before.next_fork;
            before.next_fork = self.next_fork;
        }
        self.deinit();
        self.gpa.destroy(self);
    }

    fn deinit(self: *Matcher) void {
        const gpa = self.gpa;
        gpa.free(self.stop_tokens);
        for (self.history.items) |*past| past.deinit(gpa);
        self.history.deinit(gpa);
        for (self.readings.items) |*reading| reading.labels.deinit(gpa);
        for (self.spare.items) |*reading| reading.labels.deinit(gpa);
        self.readings.deinit(gpa);
        self.spare.deinit(gpa);
        self.output.deinit(gpa);
        self.segment_list.deinit(gpa);
        self.segment_bytes.deinit(gpa);
    }

    /// Writes bit (t & 31) of out[t >> 5] for every token allowed next, `vocabulary.words()` words; stop tokens exactly when `acceptsEnd()`.
    /// `tokens_left` counts the token to be chosen now: one is allowed only if what remains after it can be finished in the others.
    pub fn mask(self: *Matcher, out: []u32, tokens_left: u32) Error!void {
        std.debug.assert(out.len == self.program.vocabulary.words());
        if (self.ended or tokens_left == 0) {
            @memset(out, 0);
            return;
        }
        try self.makeRoom();
        try mask_room.fill(self.graph, self.state, self.spent, limitOf(tokens_left), out, Verifier{ .matcher = self });
        const end = self.acceptsEnd();
        for (self.stop_tokens) |token| {
            if (token >= self.program.vocabulary.count) continue;
            if (end) words.set(out, token) else words.unset(out, token);
        }
    }

    /// Whether `mask` has this token's bit.
    pub fn allowed(self: *Matcher, token: u32, tokens_left: u32) Error!bool {
        if (self.ended or tokens_left == 0 or token >= self.program.vocabulary.count) return false;
        if (self.isStop(token)) return self.acceptsEnd();
        try self.makeRoom();
        return (Verifier{ .matcher = self }).allowed(token, limitOf(tokens_left));
    }

    /// Takes a token; false, and nothing changed, when it is not allowed. A stop token ends the output.
    pub fn accept(self: *Matcher, token: u32) Error!bool {
        if (self.ended or token >= self.program.vocabulary.count) return false;
        if (self.isStop(token)) {
            if (!self.acceptsEnd()) return false;
            if (self.history_max > 0) {
                var past = self.present(self.output.items.len);
                past.readings = .empty;
                try self.remember(past);
            }
            self.ended = true;
            self.segment_list.clearRetainingCapacity();
            return true;
        }
        try self.makeRoom();
        const output_length = self.output.items.len;
        var next = try self.readToken(token);
        try self.endToken(&next);
        if (next.items.len == 0) {
            next.deinit(self.gpa);
            self.output.shrinkRetainingCapacity(output_length);
            return false;
        }
        if (self.history_max > 0) {
            try self.remember(self.present(output_length));
        } else {
            for (self.readings.items) |*reading| try self.discard(reading.labels);
            self.readings.deinit(self.gpa);
        }
        self.readings = next;
        try self.joinReadings();
        try self.settle(false);
        return true;
    }

    /// Takes back the last `count` accepted tokens; false, and nothing changed, when `history_max` or the output does not reach so far.
    /// Segments that were told stay told.
    pub fn rollback(self: *Matcher, count: u32) bool {
        if (count > self.history.items.len or count > self.history_max) return false;
        for (0..count) |_| {
            const past = self.history.pop().?;
            // The end of the output changes no reading.
            if (past.readings.items.len > 0) {
                for (self.readings.items) |*reading| reading.labels.deinit(self.gpa);
                self.readings.deinit(self.gpa);
                self.readings = past.readings;
            }
            self.state = past.state;
            self.spent = past.spent;
            self.output.shrinkRetainingCapacity(past.output_length);
            self.ended = past.ended;
            self.calls = past.calls;
            self.last_channel = past.last_channel;
        }
        if (count > 0) self.segment_list.clearRetainingCapacity();
        return true;
    }

    /// Writes the bytes that have to come next into `out` and returns their number: those that are, at their place, the only one that may
    /// follow. Whitespace is no choice: one space after a comma or a colon is taken, all other is left out. Ends where tokens may come by
    /// their id, and where `out` does.
    pub fn forced(self: *Matcher, out: []u8) Error!u32 {
        if (self.ended) return 0;
        try self.makeRoom();
        return forced_room.bytes(self, out);
    }

    /// Writes the tokens that this text would usually be written with into `out` and returns their number.
    pub fn draft(self: *Matcher, out: []u32) Error!u32 {
        var bytes: [forced_room.draft_bytes]u8 = undefined;
        return forced_room.tokens(self.program, bytes[0..try self.forced(&bytes)], out);
    }

    /// The present, with the readings moved out of it.
    fn present(self: *Matcher, output_length: usize) Past {
        return .{
            .state = self.state,
            .spent = self.spent,
            .readings = self.readings,
            .output_length = @intCast(output_length),
            .ended = self.ended,
            .calls = self.calls,
            .last_channel = self.last_channel,
        };
    }

    fn remember(self: *Matcher, past: Past) Error!void {
        // Forgotten in blocks, so that the list moves rarely.
        if (self.history.items.len >= 2 * @as(usize, self.history_max)) {
            for (self.history.items[0..self.history_max]) |*old| old.deinit(self.gpa);
            self.history.replaceRangeAssumeCapacity(0, self.history_max, &.{});
        }
        try self.history.append(self.gpa, past);
    }

    pub fn acceptsEnd(self: *const Matcher) bool {
        return !self.ended and self.graph.states.items[self.state].accepts_end;
    }

    /// Nothing but the end may follow.
    pub fn isComplete(self: *const Matcher) bool {
        if (self.ended) return true;
        const state = &self.graph.states.items[self.state];
        return state.accepts_end and state.len == 1;
    }

    /// Tokens of the shortest completion from here, at most, without a stop token.
    pub fn cost(self: *const Matcher) u32 {
        return if (self.ended) 0 else self.graph.states.items[self.state].cost;
    }

    /// What the last accept made certain; bytes whose channel is not decided come later. Valid until the next call.
    pub fn segments(self: *const Matcher) []const Segment {
        return self.segment_list.items;
    }

    /// At the end: everything still held back, as the first reading has it.
    pub fn flush(self: *Matcher) Error![]const Segment {
        try self.settle(true);
        return self.segment_list.items;
    }

    fn isStop(self: *const Matcher, token: u32) bool {
        return std.mem.findScalar(u32, self.stop_tokens, token) != null;
    }

    fn makeRoom(self: *Matcher) Error!void {
        if (self.graph.needsCompaction()) try self.compact();
    }

    /// Forgets all that no output needs any more which follows the same graph.
    pub fn compact(self: *Matcher) Error!void {
        var roots: std.ArrayList(StateId) = .empty;
        defer roots.deinit(self.gpa);
        var fork_ = self;
        while (true) {
            try fork_.eachState(&roots, .list);
            fork_ = fork_.next_fork;
            if (fork_ == self) break;
        }
        try self.graph.compact(roots.items);
        var moved: std.ArrayList(StateId) = .initBuffer(roots.items);
        moved.items.len = roots.items.len;
        std.mem.reverse(StateId, moved.items);
        while (true) {
            try fork_.eachState(&moved, .take);
            fork_ = fork_.next_fork;
            if (fork_ == self) break;
        }
    }

    /// Appends every state that is still needed, or takes the same back in their order from the end of the list.
    fn eachState(self: *Matcher, list: *std.ArrayList(StateId), way: enum { list, take }) Error!void {
        var states: StateIterator = .{ .matcher = self };
        while (states.next()) |state| switch (way) {
            .list => try list.append(self.gpa, state.*),
            .take => state.* = list.pop().?,
        };
    }

    // Reading a token

    /// The readings after a token; none if it is not allowed. Its bytes are appended to the output.
    fn readToken(self: *Matcher, token: u32) Error!std.ArrayList(Reading) {
        const graph = self.graph;
        const vocabulary = self.program.vocabulary;
        const text = vocabulary.text(token);
        const named = self.program.isNamed(token);
        const start = self.output.items.len;
        var next: std.ArrayList(Reading) = .empty;
        errdefer {
            for (next.items) |*reading| reading.labels.deinit(self.gpa);
            next.deinit(self.gpa);
        }
        const is_text = vocabulary.kinds[token] == .normal and !named;
        if (is_text and text.len == 0) return next;
        if (is_text and !self.graph.states.items[self.state].any_token) {
            for (self.readings.items) |reading| try next.append(self.gpa, .{ .state = reading.state, .spent = reading.spent, .labels = try self.copyLabels(reading.labels.items) });
            try self.readBytes(&next, text);
            return next;
        }
        if (vocabulary.kinds[token] == .unused) return next;
        for (self.readings.items) |reading| {
            const known = graph.states.items[reading.state];
            if (!known.edges and !is_text) continue;
            for (known.start..known.start + known.len) |at| {
                const id = graph.state_items.items[at];
                const node = graph.nodes.items[id];
                const single = try graph.internState(&.{id});
                const after = try graph.stepper.stepToken(graph, single, token);
                if (after.state != Graph.dead_state) {
                    var labels = try self.copyLabels(reading.labels.items);
                    // A control token that passes in free text has no bytes.
                    if (node.kind != .text) for (text) |byte| try labels.append(self.gpa, .{ .channel = node.channel, .byte = byte });
                    try next.append(self.gpa, .{ .state = after.state, .spent = walk.spentAfter(reading.spent, after), .labels = labels });
                } else if (is_text or passesAsText(graph, &node, token)) {
                    var inner: std.ArrayList(Reading) = .empty;
                    defer inner.deinit(self.gpa);
                    try inner.append(self.gpa, .{ .state = single, .spent = reading.spent, .labels = try self.copyLabels(reading.labels.items) });
                    try self.readBytes(&inner, text);
                    self.output.shrinkRetainingCapacity(start);
                    try next.appendSlice(self.gpa, inner.items);
                }
            }
        }
        if (is_text) try self.output.appendSlice(self.gpa, text);
        try self.dropRepeats(&next);
        return next;
    }

    /// Replaces the readings by what they become. Text goes to the output byte by byte, as keys are read again from it.
    fn readBytes(self: *Matcher, readings: *std.ArrayList(Reading), text: []const u8) Error!void {
        const graph = self.graph;
        for (text) |byte| {
            try self.output.append(self.gpa, byte);
            var next: std.ArrayList(Reading) = .empty;
            errdefer {
                for (next.items) |*reading| reading.labels.deinit(self.gpa);
                next.deinit(self.gpa);
            }
            for (readings.items) |*reading| {
                if (!graph.states.items[reading.state].mixed) {
                    const channel = self.channelOf(reading.state);
                    const after = try self.stepFrom(reading.state, reading.spent, byte);
                    if (after.state != Graph.dead_state) {
                        var labels = reading.labels;
                        reading.labels = .empty;
                        try labels.append(self.gpa, .{ .channel = channel, .byte = byte });
                        try next.append(self.gpa, .{ .state = after.state, .spent = after.spent, .labels = labels });
                    }
                } else try self.splitReading(&next, reading, byte);
                try self.discard(reading.labels);
                reading.labels = .empty;
            }
            readings.deinit(self.gpa);
            readings.* = next;
            next = .empty;
            if (readings.items.len > 1) try self.dropRepeats(readings);
            if (readings.items.len == 0) return;
        }
    }

    /// A reading whose nodes differ in channel becomes one for each run of nodes of one channel. The last of these takes its labels.
    fn splitReading(self: *Matcher, next: *std.ArrayList(Reading), reading: *Reading, byte: u8) Error!void {
        const graph = self.graph;
        const ids = try self.gpa.dupe(u32, graph.nodesOf(reading.state));
        defer self.gpa.free(ids);
        const first = next.items.len;
        var from: usize = 0;
        while (from < ids.len) {
            const channel = graph.nodes.items[ids[from]].channel;
            var end = from + 1;
            while (end < ids.len and graph.nodes.items[ids[end]].channel == channel) end += 1;
            const after = try self.stepFrom(try graph.internState(ids[from..end]), reading.spent, byte);
            from = end;
            if (after.state == Graph.dead_state) continue;
            var labels: std.ArrayList(Label) = .empty;
            if (next.items.len > first) {
                // Not the last one after all.
                labels = next.items[next.items.len - 1].labels;
                next.items[next.items.len - 1].labels = try self.copyLabels(labels.items);
                labels.items.len -= 1;
            } else {
                labels = reading.labels;
                reading.labels = .empty;
            }
            errdefer labels.deinit(self.gpa);
            try labels.append(self.gpa, .{ .channel = channel, .byte = byte });
            try next.append(self.gpa, .{ .state = after.state, .spent = after.spent, .labels = labels });
        }
    }

    pub const Reached = struct { state: StateId, spent: u32 };

    /// The byte is the output's last.
    pub fn stepFrom(self: *Matcher, state: StateId, spent: u32, byte: u8) Error!Reached {
        const graph = self.graph;
        const transition = try graph.step(state, byte);
        const total = walk.spentAfter(spent, transition);
        var next: StateId = transition.state;
        if (transition.whitespace != 0 and transition.whitespace != Transition.reset) next = try graph.withinWhitespace(next, total);
        if (graph.states.items[next].unresolved) {
            var text: std.ArrayList(u8) = .empty;
            defer text.deinit(self.gpa);
            var item: std.ArrayList(u8) = .empty;
            defer item.deinit(self.gpa);
            if (byte == '"') {
                const complete = try json_string.decode(self.gpa, &text, lastKey(self.output.items), .spec);
                std.debug.assert(complete);
            }
            try Tracks.keyOf(self.gpa, &item, if (byte == '"') text.items else lastScalar(self.output.items), byte == '"');
            next = try graph.stepper.resolve(graph, next, text.items, item.items);
        }
        return .{ .state = next, .spent = total };
    }

    /// Where two readings come to the same, the first one stays.
    fn dropRepeats(self: *Matcher, readings: *std.ArrayList(Reading)) Error!void {
        const graph = self.graph;
        var kept: usize = 0;
        var ids: std.ArrayList(u32) = .empty;
        defer ids.deinit(self.gpa);
        for (readings.items, 0..) |*reading, index| {
            ids.clearRetainingCapacity();
            next_node: for (graph.nodesOf(reading.state)) |id| {
                for (readings.items[0..kept]) |earlier| {
                    const same_count = earlier.spent == reading.spent or graph.slackOf(&graph.nodes.items[id]) == none;
                    if (same_count and std.mem.findScalar(u32, graph.nodesOf(earlier.state), id) != null) continue :next_node;
                }
                try ids.append(self.gpa, id);
            }
            if (ids.items.len == 0) {
                try self.discard(reading.labels);
                continue;
            }
            const state = try graph.internState(ids.items);
            const last: ?*Reading = if (kept > 0) &readings.items[kept - 1] else null;
            if (last) |earlier| if (earlier.spent == reading.spent and Label.eqlSlices(earlier.labels.items, reading.labels.items)) {
                // The same bytes for the same ends: one reading again.
                const joined = try std.mem.concat(self.gpa, u32, &.{ graph.nodesOf(earlier.state), ids.items });
                defer self.gpa.free(joined);
                earlier.state = try graph.internState(joined);
                try self.discard(reading.labels);
                continue;
            };
            reading.state = state;
            if (kept != index) readings.items[kept] = reading.*;
            kept += 1;
        }
        readings.shrinkRetainingCapacity(kept);
    }

    /// Takes out what cannot be finished from the end of a token, and what comes after a reading that never fails: nobody will ask for it.
    fn endToken(self: *Matcher, readings: *std.ArrayList(Reading)) Error!void {
        var kept: usize = 0;
        for (readings.items) |*reading| {
            const state = try self.graph.atTokenEnd(reading.state);
            if (state == Graph.dead_state) {
                try self.discard(reading.labels);
                continue;
            }
            readings.items[kept] = reading.*;
            readings.items[kept].state = state;
            kept += 1;
        }
        readings.shrinkRetainingCapacity(kept);
        if (kept < 2) return;
        const needed = for (readings.items, 1..) |reading, count| {
            if (try takesAll(self.graph, reading.state)) break count;
        } else return;
        for (readings.items[needed..]) |reading| try self.discard(reading.labels);
        readings.shrinkRetainingCapacity(needed);
    }

    fn joinReadings(self: *Matcher) Error!void {
        const graph = self.graph;
        self.state = self.readings.items[0].state;
        self.spent = self.readings.items[0].spent;
        if (self.readings.items.len == 1) return;
        for (self.readings.items) |reading| self.spent = @min(self.spent, reading.spent);
        var ids: std.ArrayList(u32) = .empty;
        defer ids.deinit(self.gpa);
        for (self.readings.items) |reading| {
            const known = graph.states.items[reading.state];
            for (known.start..known.start + known.len) |at| {
                const id = graph.state_items.items[at];
                var node = graph.nodes.items[id];
                if (graph.slackOf(&node) != none) node.whitespace += reading.spent - self.spent;
                const moved = (try graph.internNode(node)) orelse continue;
                if (std.mem.findScalar(u32, ids.items, moved) == null) try ids.append(self.gpa, moved);
            }
        }
        self.state = try graph.internState(ids.items);
    }

    /// The channel of a state whose nodes agree.
    fn channelOf(self: *const Matcher, state: StateId) ir.Channel {
        const ids = self.graph.nodesOf(state);
        for (ids) |id| if (self.graph.nodes.items[id].kind != .end) return self.graph.nodes.items[id].channel;
        return .text;
    }

    // Segments

    /// Makes segments of what all readings agree on, or of all that the first one has.
    fn settle(self: *Matcher, all: bool) Error!void {
        self.segment_list.clearRetainingCapacity();
        self.segment_bytes.clearRetainingCapacity();
        if (self.readings.items.len == 0) return;
        // At the end only readings that may end there are right; where none may, the output was cut off.
        const chosen = for (self.readings.items) |reading| {
            if (all and self.graph.states.items[reading.state].accepts_end) break reading;
        } else self.readings.items[0];
        const first = chosen.labels.items;
        var agreed = first.len;
        if (!all) for (self.readings.items[1..]) |reading| {
            const length = @min(agreed, reading.labels.items.len);
            agreed = for (first[0..length], reading.labels.items[0..length], 0..) |a, b, index| {
                if (a != b) break index;
            } else length;
        };
        try self.segment_bytes.ensureTotalCapacity(self.gpa, agreed);
        var at: usize = 0;
        while (at < agreed) {
            const channel = first[at].channel;
            const start = self.segment_bytes.items.len;
            while (at < agreed and first[at].channel == channel) : (at += 1) self.segment_bytes.appendAssumeCapacity(first[at].byte);
            if (channel == .call_name and self.last_channel != .call_name) self.calls += 1;
            self.last_channel = channel;
            try self.segment_list.append(self.gpa, .{
                .channel = channel,
                .call = if (self.calls == 0) none else self.calls - 1,
                .bytes = self.segment_bytes.items[start..],
            });
        }
        for (self.readings.items) |*reading| {
            const length = @min(agreed, reading.labels.items.len);
            reading.labels.replaceRangeAssumeCapacity(0, length, &.{});
        }
    }

    fn copyLabels(self: *Matcher, labels: []const Label) Error!std.ArrayList(Label) {
        var copy: std.ArrayList(Label) = .empty;
        if (self.spare.pop()) |old| copy = old.labels;
        copy.clearRetainingCapacity();
        errdefer copy.deinit(self.gpa);
        try copy.appendSlice(self.gpa, labels);
        return copy;
    }

    fn discard(self: *Matcher, labels: std.ArrayList(Label)) Error!void {
        var list = labels;
        if (list.capacity == 0) return;
        if (self.spare.items.len >= 16) return list.deinit(self.gpa);
        errdefer list.deinit(self.gpa);
        try self.spare.append(self.gpa, .{ .state = Graph.dead_state, .labels = list });
    }
};

const Label = packed struct(u16) {
    channel: ir.Channel,
    byte: u8,

    fn eqlSlices(a: []const Label, b: []const Label) bool {
        return std.mem.eql(u16, @ptrCast(a), @ptrCast(b));
    }
};

/// One way to read the output so far.
const Reading = struct {
    state: StateId,
    /// Characters of whitespace spent in the JSON text it is in.
    spent: u32 = 0,
    /// What the bytes are for that no segment has had yet.
    labels: std.ArrayList(Label) = .empty,
};

/// What accepting a token changes.
const Past = struct {
    state: StateId,
    spent: u32,
    /// Empty where the output ended.
    readings: std.ArrayList(Reading),
    output_length: u32,
    ended: bool,
    calls: u32,
    last_channel: ?ir.Channel,

    fn deinit(self: *Past, gpa: Allocator) void {
        for (self.readings.items) |*reading| reading.labels.deinit(gpa);
        self.readings.deinit(gpa);
    }
};

/// Every place in a matcher that holds a state.
const StateIterator = struct {
    matcher: *Matcher,
    /// Into the history, then the present.
    past: usize = 0,
    /// Of its readings; the state of all together comes first.
    reading: ?usize = null,

    fn next(self: *StateIterator) ?*StateId {
        const history = self.matcher.history.items;
        while (self.past <= history.len) {
            const is_present = self.past == history.len;
            const index = self.reading orelse {
                self.reading = 0;
                return if (is_present) &self.matcher.state else &history[self.past].state;
            };
            const readings = if (is_present) self.matcher.readings.items else history[self.past].readings.items;
            if (index < readings.len) {
                self.reading = index + 1;
                return &readings[index].state;
            }
            self.past += 1;
            self.reading = null;
        }
        return null;
    }
};

/// Tries single tokens, stop tokens like all others.
const Verifier = struct {
    matcher: *Matcher,

    pub fn allowed(self: Verifier, token: u32, limit: u32) Error!bool {
        const matcher = self.matcher;
        const graph = matcher.graph;
        const vocabulary = matcher.program.vocabulary;
        switch (vocabulary.kinds[token]) {
            .unused => return false,
            .normal => if (!matcher.program.isNamed(token)) {
                if (matcher.program.vocabulary.text(token).len == 0) return false;
                if (try self.reads(matcher.state, token, limit)) return true;
            },
            .control => {},
        }
        if (!graph.states.items[matcher.state].edges) return false;
        const after = try graph.stepper.stepToken(graph, matcher.state, token);
        if (mask_room.isWithin(graph.states.items[after.state].cost, limit)) return true;
        const known = graph.states.items[matcher.state];
        for (known.start..known.start + known.len) |at| {
            const id = graph.state_items.items[at];
            if (!passesAsText(graph, &graph.nodes.items[id], token)) continue;
            if (try self.reads(try graph.internState(&.{id}), token, limit)) return true;
        }
        return false;
    }

    fn reads(self: Verifier, start: StateId, token: u32, limit: u32) Error!bool {
        const matcher = self.matcher;
        const text = matcher.program.vocabulary.text(token);
        if (text.len == 0) return false;
        const length = matcher.output.items.len;
        defer matcher.output.shrinkRetainingCapacity(length);
        var at: Matcher.Reached = .{ .state = start, .spent = matcher.spent };
        for (text) |byte| {
            try matcher.output.append(matcher.gpa, byte);
            at = try matcher.stepFrom(at.state, at.spent, byte);
            if (at.state == Graph.dead_state) return false;
        }
        return mask_room.isWithin(matcher.graph.states.items[at.state].cost, limit);
    }
};

/// A token that the grammar names elsewhere is text in unconstrained text that does not end at it.
fn passesAsText(graph: *const Graph, node: *const Node, token: u32) bool {
    if (node.kind != .text) return false;
    const text = &graph.program.nodes[node.a].text;
    return text.controls and graph.program.vocabulary.kinds[token] == .normal and !ir.names(text.until, token);
}

fn limitOf(tokens_left: u32) u32 {
    return if (tokens_left == unlimited) unlimited else tokens_left - 1;
}

/// The number or literal that ends with the output's last byte, which other bytes of JSON stand before.
fn lastScalar(output: []const u8) []const u8 {
    var start = output.len;
    while (start > 0) : (start -= 1) switch (output[start - 1]) {
        '0'...'9', 'a'...'z', 'E', '.', '+', '-' => {},
        else => break,
    };
    return output[start..];
}

/// The inside of the string that has just been closed by the output's last byte: in it no quote stands without a backslash, and before its
/// opening quote there is never one.
fn lastKey(output: []const u8) []const u8 {
    const end = output.len - 1;
    var start = end;
    while (start > 0) {
        start -= 1;
        if (output[start] != '"') continue;
        var slashes: usize = 0;
        while (slashes < start and output[start - 1 - slashes] == '\\') slashes += 1;
        if (slashes % 2 == 0) return output[start + 1 .. end];
    }
    return output[0..end];
}
