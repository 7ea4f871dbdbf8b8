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
const Terms = @import("terms.zig").Terms;

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

    pub const dead: u32 = 0;
    const unknown: u32 = none;

    pub fn create(gpa: Allocator, patterns: []const Pattern) Error!Patterns {
        var self: Patterns = .{ .gpa = gpa, .patterns = patterns };
        errdefer self.deinit();
        self.terms = try gpa.alloc(?Terms, patterns.len);
        @memset(self.terms, null);
        if (patterns.len > 0) try self.states.append(gpa, .{ .pattern = none, .term = Terms.nothing, .count = none, .cost = unreachable_cost });
        return self;
    }

    pub fn deinit(self: *Patterns) void {
        for (self.terms) |*own| if (own.*) |*terms| terms.deinit();
        self.gpa.free(self.terms);
        self.states.deinit(self.gpa);
        self.rows.deinit(self.gpa);
        self.table.deinit(self.gpa);
    }

    pub fn bytes(self: *const Patterns) usize {
        var total = self.states.items.len * @sizeOf(State) + self.rows.items.len * 4 + self.table.bytes();
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

    /// The state after a character of a class; `dead` if there is none.
    pub fn after(self: *Patterns, state: u32, class: u16) Error!u32 {
        const pattern = self.of(state);
        const row = self.states.items[state].row;
        if (row != none) {
            const known = self.rows.items[row + class];
            if (known != unknown) return known;
        } else {
            self.states.items[state].row = @intCast(self.rows.items.len);
            try self.rows.appendNTimes(self.gpa, unknown, pattern.alphabet.class_count);
        }
        const known = self.states.items[state];
        const terms = &self.terms[known.pattern].?;
        const term = try unrefused(terms.after(known.term, class));
        const next = if (term == Terms.nothing) dead else try self.intern(known.pattern, term, if (known.count == none) none else known.count +| 1);
        self.rows.items[self.states.items[state].row + class] = next;
        return next;
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
            pub fn hashOf(context: @This(), id: u32) u64 {
                return stdx.hashWords(&key(context.patterns, id), 0);
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
        try self.table.insert(self.gpa, hash, id, context);
        return id;
    }
};

/// Terms without a budget refuse nothing.
fn unrefused(result: @import("terms.zig").Error!u32) Error!u32 {
    return result catch |failure| switch (failure) {
        error.OutOfMemory => error.OutOfMemory,
        error.Refused => unreachable,
    };
}
