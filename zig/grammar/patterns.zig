//! Patterns being followed: states that are made as they are reached, for one graph. A state is between two characters; how far the next one
//! is read is a `json_string.State` beside it, whose value inside a character of several bytes is a half of the pattern's alphabet.
//!
//! For what follows a pattern byte by byte (a string, a key class, raw text):
//!
//!     state = try patterns.start(pattern)                  // `Patterns.dead` if nothing matches; at = json_string.State.start
//!     switch (try patterns.read(state, at, byte)) {        // in the pattern's own spelling, escapes included
//!         .dead => …, .close => if (patterns.accepts(state)) …, .inside => |next| next.state, next.at }
//!     patterns.accepts(state)                              // it may end here
//!     try patterns.costInside(state, at)                   // tokens that finish it, without a closing quote, or `unreachable_cost`
//!     try patterns.costWithout(state, excluded)            // the same if the next character is none of these
//!     try patterns.goesOn(state)                           // some character may follow
//!
//! Every state but `dead` can be finished. Inside a character of several bytes (`costInside` is unreachable) a token may pass and not end.
const std = @import("std");
const Allocator = std.mem.Allocator;
const stdx = @import("../stdx.zig");
const json_string = @import("../vocabulary.zig").json_string;
const ir = @import("ir.zig");
const spelling = @import("spelling.zig");
const alphabet_room = @import("alphabet.zig");
const pattern_room = @import("pattern.zig");
const Pattern = pattern_room.Pattern;
const terms_room = @import("terms.zig");
const Term = terms_room.Term;
const Terms = terms_room.Terms;
const Scratch = @import("pattern_walk.zig").Scratch;

const none = ir.none;
const unreachable_cost = spelling.unreachable_cost;
const Error = error{OutOfMemory};

pub const State = struct {
    pattern: u32,
    term: u32,
    /// Characters read, or `none` where that does not matter any more.
    count: u32,
    /// Tokens that finish it, without a closing quote.
    cost: u32,
    /// Where the states after each class stand in `rows`, or `none`.
    row: u32 = none,
    /// The state that reads short tokens as this one does, or `none` as long as it was not asked for.
    view: u32 = none,
    /// Nearly all tokens do what they do in a free string; null as long as it was not asked for.
    near_free: ?bool = null,
};

pub const Read = union(enum) {
    dead,
    /// A quote that is not escaped.
    close,
    inside: struct { state: u32, at: json_string.State },
};

pub const Patterns = struct {
    gpa: Allocator,
    patterns: []const Pattern,
    /// Each pattern's terms, with what this graph has added; made when first used.
    terms: []?Terms = &.{},
    states: std.ArrayList(State) = .empty,
    rows: std.ArrayList(u32) = .empty,
    table: stdx.IdTable = .{},
    /// (patterns) terms without counters that are far from their end, by the terms with them.
    loosened: []std.AutoHashMapUnmanaged(u32, u32) = &.{},
    scratch: Scratch = .{},

    pub const dead: u32 = 0;
    /// Of a row's entry that has not been asked for.
    pub const unknown: u32 = none;

    pub fn create(gpa: Allocator, patterns: []const Pattern) Error!Patterns {
        var self: Patterns = .{ .gpa = gpa, .patterns = patterns };
        errdefer self.deinit();
        self.terms = try gpa.alloc(?Terms, patterns.len);
        @memset(self.terms, null);
        self.loosened = try gpa.alloc(std.AutoHashMapUnmanaged(u32, u32), patterns.len);
        @memset(self.loosened, .empty);
        if (patterns.len > 0) try self.states.append(gpa, .{ .pattern = none, .term = Terms.nothing, .count = none, .cost = unreachable_cost });
        return self;
    }

    pub fn deinit(self: *Patterns) void {
        for (self.terms) |*own| if (own.*) |*terms| terms.deinit();
        for (self.loosened) |*map| map.deinit(self.gpa);
        self.gpa.free(self.loosened);
        self.gpa.free(self.terms);
        self.scratch.deinit(self.gpa);
        self.states.deinit(self.gpa);
        self.rows.deinit(self.gpa);
        self.table.deinit(self.gpa);
    }

    /// What this one worked with, for another one to use.
    pub fn takeScratch(self: *Patterns) Scratch {
        self.scratch.clear(self.gpa);
        defer self.scratch = .{};
        return self.scratch;
    }

    pub fn bytes(self: *const Patterns) usize {
        var total = self.states.items.len * @sizeOf(State) + self.rows.items.len * 4 + self.table.bytes() + self.scratch.places.bytes() + self.scratch.alphabets.bytes() + self.scratch.signs.bytes();
        for (self.terms) |*own| if (own.*) |*terms| {
            total += terms.bytes();
        };
        return total;
    }

    pub fn of(self: *const Patterns, state: u32) *const Pattern {
        return &self.patterns[self.states.items[state].pattern];
    }

    pub fn start(self: *Patterns, pattern: u32) Error!u32 {
        const known = &self.patterns[pattern];
        if (known.root == Terms.nothing) return dead;
        if (self.terms[pattern] == null) self.terms[pattern] = try known.terms.clone(self.gpa);
        return self.intern(pattern, known.root, 0);
    }

    pub fn accepts(self: *const Patterns, state: u32) bool {
        if (state == dead) return false;
        const known = self.states.items[state];
        if (!self.terms[known.pattern].?.terms.items[known.term].nullable) return false;
        return known.count == none or known.count >= self.patterns[known.pattern].min;
    }

    pub fn cost(self: *const Patterns, state: u32) u32 {
        return self.states.items[state].cost;
    }

    /// Any text may follow, and end anywhere.
    pub fn isFree(self: *const Patterns, state: u32) bool {
        if (state == dead) return false;
        const known = &self.states.items[state];
        return known.count == none and known.term == self.terms[known.pattern].?.everything;
    }

    /// The state after a character of a class; `dead` if there is none.
    pub fn after(self: *Patterns, state: u32, class: u16) Error!u32 {
        const row = try self.rowOf(state);
        if (self.rows.items[row + class] != unknown) return self.rows.items[row + class];
        const known = self.states.items[state];
        const terms = &self.terms[known.pattern].?;
        const term = try unrefused(terms.after(known.term, class));
        const next = if (term == Terms.nothing) dead else try self.intern(known.pattern, term, if (known.count == none) none else known.count +| 1);
        self.rows.items[row + class] = next;
        return next;
    }

    /// Where the states after each class are kept.
    pub fn rowOf(self: *Patterns, state: u32) Error!u32 {
        const known = &self.states.items[state];
        if (known.row == none) {
            known.row = @intCast(self.rows.items.len);
            try self.rows.appendNTimes(self.gpa, unknown, self.of(state).alphabet.class_count);
        }
        return known.row;
    }

    /// Characters that have to come, the one being read included, whatever bounds there are.
    pub fn shortest(self: *Patterns, state: u32, at: json_string.State) Error!u32 {
        const known = self.states.items[state];
        if (at == json_string.State.start) return self.terms[known.pattern].?.terms.items[known.term].shortest;
        const alphabet = self.of(state).alphabet;
        var most: u32 = 0;
        // Whichever character it becomes.
        for (0..alphabet.class_count) |class| {
            const next = try self.after(state, @intCast(class));
            if (next != dead) most = @max(most, 1 + try self.shortest(next, .start));
        }
        return most;
    }

    /// Characters that may still come, or `none`.
    pub fn allowed(self: *const Patterns, state: u32) u32 {
        const known = self.states.items[state];
        const max = self.of(state).max;
        return if (known.count == none or max == none) none else max - known.count;
    }

    /// Characters that have to come for the bounds of the whole text.
    pub fn needed(self: *const Patterns, state: u32) u32 {
        const known = self.states.items[state];
        return if (known.count == none) 0 else self.of(state).min -| known.count;
    }

    /// A state that goes on in the same way for as long as a short token is: its counters without a maximum that is farther away, and
    /// without the bounds of the whole text, if only the maximum is left of them. It costs the same.
    pub fn viewOf(self: *Patterns, state: u32) Error!u32 {
        const known = self.states.items[state];
        if (known.view != none) return known.view;
        const pattern = self.of(state);
        var view = state;
        if (known.count == none or known.count >= pattern.min) {
            const term = if (pattern.counts) try self.loosen(known.pattern, known.term) else known.term;
            view = try self.intern(known.pattern, term, none);
        }
        self.states.items[state].view = view;
        return view;
    }

    /// The state as if the whole text had no bounds.
    pub fn unbounded(self: *Patterns, state: u32) Error!u32 {
        const known = self.states.items[state];
        return if (known.count == none) state else self.intern(known.pattern, known.term, none);
    }

    /// What surely is left of a state, whatever was read of some classes.
    pub const Lasting = struct { term: u32, set: []const u64 };

    pub fn lasting(self: *const Patterns, state: u32) ?Lasting {
        const known = self.states.items[state];
        const terms = &self.terms[known.pattern].?;
        const found = terms.terms.items[known.term].lasting;
        // What was never met was not explored.
        if (found.term == none or terms.terms.items[found.term].cost == unreachable_cost) return null;
        return .{ .term = found.term, .set = terms.setOf(found.set) };
    }

    /// A term of a state's pattern.
    pub fn termAt(self: *const Patterns, state: u32, term: u32) *const Term {
        return &self.terms[self.states.items[state].pattern].?.terms.items[term];
    }

    /// Tokens that finish a text if this term, without the bounds, is left some characters after a state; null if nothing keeps the bounds.
    pub fn costAfter(self: *const Patterns, from: u32, characters: u32, term: u32) ?u32 {
        const known = self.states.items[from];
        const own = self.termAt(from, term).cost;
        if (known.count == none) return own;
        const pattern = &self.patterns[known.pattern];
        const nearest = pattern.nearest(&self.terms[known.pattern].?, term, known.count +| characters) orelse return null;
        return @max(own, spelling.times(nearest, pattern.unit));
    }

    fn loosen(self: *Patterns, pattern: u32, of_term: u32) Error!u32 {
        const terms = &self.terms[pattern].?;
        const map = &self.loosened[pattern];
        const mark = terms.pending.items.len;
        defer terms.pending.shrinkRetainingCapacity(mark);
        try terms.pending.append(self.gpa, of_term);
        while (terms.pending.items.len > mark) {
            const id = terms.pending.items[terms.pending.items.len - 1];
            const term = terms.terms.items[id];
            const waiting = terms.pending.items.len;
            if (!map.contains(id)) {
                // What was explored is as it was found.
                const parts: []const u32 = if (term.mixed) &.{} else switch (term.kind) {
                    .concat => &.{ term.a, term.b },
                    .repeat => &.{term.a},
                    .@"union" => terms.listOf(&term),
                    else => &.{},
                };
                for (parts) |part| if (!map.contains(part)) try terms.pending.append(self.gpa, part);
                if (terms.pending.items.len > waiting) continue;
                const loose = if (parts.len == 0) id else try unrefused(switch (term.kind) {
                    .concat => terms.concat(map.get(term.a).?, map.get(term.b).?),
                    .repeat => terms.repeat(map.get(term.a).?, term.b, if (terms.isFar(&term, pattern_room.short_bytes)) none else term.c),
                    else => joined: {
                        const list = try self.gpa.dupe(u32, parts);
                        defer self.gpa.free(list);
                        for (list) |*part| part.* = map.get(part.*).?;
                        break :joined terms.join(.@"union", list);
                    },
                });
                try map.put(self.gpa, id, loose);
            }
            _ = terms.pending.pop();
        }
        return map.get(of_term).?;
    }

    pub fn afterChar(self: *Patterns, state: u32, char: u21) Error!u32 {
        return self.after(state, self.of(state).alphabet.classOf(char));
    }

    pub fn goesOn(self: *Patterns, state: u32) Error!bool {
        for (0..self.of(state).alphabet.class_count) |class| if (try self.after(state, @intCast(class)) != dead) return true;
        return false;
    }

    /// A byte of the text, or of its spelling in a JSON string.
    pub fn read(self: *Patterns, state: u32, at: json_string.State, byte: u8) Error!Read {
        const pattern = self.of(state);
        const alphabet = pattern.alphabet;
        switch (at.phase) {
            .text => {
                if (byte >= 0x80) return self.readPart(state, alphabet.leads[byte - 0x80]);
                if (pattern.writing != .raw) switch (byte) {
                    '"' => return .close,
                    0...0x1f => return .dead,
                    '\\' => return self.readEscape(state, at, byte),
                    else => {},
                };
                return self.readCharacter(state, alphabet.ascii[byte]);
            },
            .more1, .more2, .more2_e0, .more2_ed, .more3, .more3_f0, .more3_f4 => {
                if (byte & 0xc0 != 0x80) return .dead;
                return self.readPart(state, alphabet.halves[at.value].next[byte & 0x3f]);
            },
            else => return self.readEscape(state, at, byte),
        }
    }

    /// The bytes that may be read of a pattern outside of JSON; never too few.
    pub fn bytesOf(self: *Patterns, state: u32, at: json_string.State) Error!std.bit_set.Static(256) {
        var set: std.bit_set.Static(256) = .empty;
        if (at != json_string.State.start) {
            set.setRangeValue(.{ .start = 0x80, .end = 0xc0 }, true);
            return set;
        }
        const alphabet = self.of(state).alphabet;
        for (alphabet.ascii, 0..) |class, byte| if (try self.after(state, class) != dead) set.set(byte);
        for (alphabet.leads, 0x80..) |next, byte| if (next != .dead) set.set(byte);
        return set;
    }

    fn readPart(self: *Patterns, state: u32, next: alphabet_room.Next) Error!Read {
        if (next == .dead) return .dead;
        if (next.class()) |class| return self.readCharacter(state, class);
        const half = next.half();
        return .{ .inside = .{ .state = state, .at = .{ .phase = self.of(state).alphabet.halves[half].phase, .value = @intCast(half) } } };
    }

    fn readCharacter(self: *Patterns, state: u32, class: u16) Error!Read {
        const next = try self.after(state, class);
        return if (next == dead) .dead else .{ .inside = .{ .state = next, .at = .start } };
    }

    fn readEscape(self: *Patterns, state: u32, at: json_string.State, byte: u8) Error!Read {
        if (!self.of(state).escapes) return .dead;
        switch (json_string.step(at, byte, self.of(state).writing.spellingOf())) {
            .inside => |next| return if (try self.costInside(state, next) == unreachable_cost) .dead else .{ .inside = .{ .state = state, .at = next } },
            .char => |char| return self.readCharacter(state, self.of(state).alphabet.classOf(char)),
            .dead, .close, .raw => return .dead,
        }
    }

    /// Tokens that finish the text from `at`, inside the character after a state.
    pub fn costInside(self: *Patterns, state: u32, at: json_string.State) Error!u32 {
        const alphabet = self.of(state).alphabet;
        var least = unreachable_cost;
        switch (at.phase) {
            .text => return self.cost(state),
            .more1, .more2, .more2_e0, .more2_ed, .more3, .more3_f0, .more3_f4 => {
                for (alphabet.halves[at.value].finish) |finish| {
                    least = @min(least, spelling.add(finish.cost, self.cost(try self.after(state, finish.class))));
                }
            },
            else => {
                var ways: json_string.Completions = .of(at, self.of(state).writing.spellingOf());
                while (ways.next()) |way| {
                    const begin, const end = alphabet_room.segmentsIn(alphabet.segments, way.first, way.last);
                    for (alphabet.segments[begin..end]) |segment| {
                        if (segment.class == alphabet_room.no_class) continue;
                        least = @min(least, spelling.add(way.bytes, self.cost(try self.after(state, segment.class))));
                    }
                }
            },
        }
        return least;
    }

    /// Tokens that finish the text if it goes on, and with a character that is none of these.
    pub fn costWithout(self: *Patterns, state: u32, excluded: []const u21) Error!u32 {
        const pattern = self.of(state);
        var least = unreachable_cost;
        for (pattern.alphabet.costs, 0..) |each, class| {
            const rest = self.cost(try self.after(state, @intCast(class)));
            if (rest == unreachable_cost) continue;
            const touched = for (excluded) |char| {
                if (pattern.alphabet.classOf(char) == class) break true;
            } else false;
            least = @min(least, spelling.add(rest, if (touched) pattern.alphabet.costWithout(@intCast(class), excluded) else each));
        }
        return least;
    }

    fn intern(self: *Patterns, pattern: u32, term: u32, read_count: u32) Error!u32 {
        const Context = struct {
            patterns: *const Patterns,
            sought: [3]u32,
            pub fn eql(context: @This(), id: u32) bool {
                return std.mem.eql(u32, &key(context.patterns, id), &context.sought);
            }
            fn key(patterns: *const Patterns, id: u32) [3]u32 {
                const known = patterns.states.items[id];
                return .{ known.pattern, known.term, known.count };
            }
        };
        const source = &self.patterns[pattern];
        const terms = &self.terms[pattern].?;
        const count = if (read_count == none or source.isSettled(terms, term, read_count)) none else read_count;
        const context: Context = .{ .patterns = self, .sought = .{ pattern, term, count } };
        const hash = stdx.hashWords(&context.sought, 0);
        if (self.table.find(hash, context)) |known| return known;
        var total = terms.terms.items[term].cost;
        if (count != none) {
            const nearest = source.nearest(terms, term, count) orelse return dead;
            total = spelling.times(nearest, source.unit);
        }
        if (total == unreachable_cost) return dead;
        const id: u32 = @intCast(self.states.items.len);
        try self.states.append(self.gpa, .{ .pattern = pattern, .term = term, .count = count, .cost = total });
        try self.table.insert(self.gpa, hash, id);
        return id;
    }
};

/// Terms without a budget refuse nothing.
fn unrefused(result: terms_room.Error!u32) Error!u32 {
    return result catch |failure| switch (failure) {
        error.OutOfMemory => error.OutOfMemory,
        error.Refused => unreachable,
    };
}
