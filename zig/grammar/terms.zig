//! Regular languages over the classes of an alphabet, as hash-consed terms. Reading a character turns a term into its derivative
//! (Brzozowski 1964), so a term is the state of an automaton that is made as far as it is read, and a counter is a number in a term.
//! Of a term without intersections and complements it is known by its parts what it needs to be finished; the others are explored.
const std = @import("std");
const Allocator = std.mem.Allocator;
const stdx = @import("../stdx.zig");
const ir = @import("ir.zig");
const spelling = @import("spelling.zig");
const Alphabet = @import("alphabet.zig").Alphabet;
const limits = @import("../limits.zig").grammar;

const none = ir.none;
const unreachable_cost = spelling.unreachable_cost;

pub const Kind = enum(u8) {
    nothing,
    /// The empty text.
    empty,
    /// a: set of classes.
    class,
    /// a: head, which is no concatenation, b: tail.
    concat,
    /// a: start in `lists`, b: length.
    @"union",
    intersection,
    /// a: operand.
    complement,
    /// a: item, b: min, c: max or `none`.
    repeat,
};

pub const Term = struct {
    kind: Kind,
    /// Has the empty text.
    nullable: bool,
    /// Has intersections or complements, so that `cost`, `shortest` and `longest` are known only if it was explored.
    mixed: bool,
    a: u32 = 0,
    b: u32 = 0,
    c: u32 = 0,
    /// Tokens that write a text of it, at least as counted by characters; `unreachable_cost`: there is none.
    cost: u32,
    /// Characters of its shortest and longest text; `none`: unbounded.
    shortest: u32,
    longest: u32,
    /// Where its derivatives stand in `rows`, by class, or `none`.
    row: u32 = none,
    lasting: Lasting = .{},

    /// A term whose every text is a text of what is left of this one, whatever characters of a set were read: a loop over the set, or what
    /// begins with one.
    pub const Lasting = struct {
        /// `none`: there is none.
        term: u32 = none,
        set: u32 = 0,
    };
};

pub const Error = error{ OutOfMemory, Refused };

pub const Terms = struct {
    gpa: Allocator,
    alphabet: *const Alphabet,
    /// u64 words of a set.
    words: u32,
    /// At compile: what is spent. Null once the terms are part of a program: then nothing is refused.
    budget: ?*ir.Budget,
    terms: std.ArrayList(Term) = .empty,
    lists: std.ArrayList(u32) = .empty,
    sets: std.ArrayList(u64) = .empty,
    rows: std.ArrayList(u32) = .empty,
    table: stdx.IdTable = .{},
    set_table: stdx.IdTable = .{},
    /// Every text.
    everything: u32 = 0,
    // Stacks, used from a mark on.
    scratch: std.ArrayList(u32) = .empty,
    pending: std.ArrayList(u32) = .empty,
    row_scratch: std.ArrayList(u32) = .empty,
    runs: std.ArrayList(Run) = .empty,
    set_scratch: std.ArrayList(u64) = .empty,

    pub const nothing: u32 = 0;
    pub const empty: u32 = 1;

    /// An item repeated before a tail: what a union of such is simplified by.
    const Run = struct { item: u32, tail: u32, min: u32, max: u32 };

    pub fn create(gpa: Allocator, alphabet: *const Alphabet, words: u32, budget: *ir.Budget) Error!Terms {
        var self: Terms = .{ .gpa = gpa, .alphabet = alphabet, .words = words, .budget = budget };
        try self.terms.append(gpa, .{ .kind = .nothing, .nullable = false, .mixed = false, .cost = unreachable_cost, .shortest = none, .longest = 0 });
        try self.terms.append(gpa, .{ .kind = .empty, .nullable = true, .mixed = false, .cost = 0, .shortest = 0, .longest = 0 });
        const all = try gpa.alloc(u64, words);
        defer gpa.free(all);
        @memset(all, ~@as(u64, 0));
        self.everything = try self.repeat(try self.class(all), 0, none);
        return self;
    }

    /// The same terms in other memory, without their budget.
    pub fn clone(self: *const Terms, gpa: Allocator) error{OutOfMemory}!Terms {
        var copy: Terms = .{ .gpa = gpa, .alphabet = self.alphabet, .words = self.words, .budget = null, .everything = self.everything };
        errdefer copy.deinit();
        try copy.terms.appendSlice(gpa, self.terms.items);
        try copy.lists.appendSlice(gpa, self.lists.items);
        try copy.sets.appendSlice(gpa, self.sets.items);
        try copy.rows.appendSlice(gpa, self.rows.items);
        copy.table = try self.table.clone(gpa);
        copy.set_table = try self.set_table.clone(gpa);
        return copy;
    }

    pub fn deinit(self: *Terms) void {
        const gpa = self.gpa;
        self.terms.deinit(gpa);
        self.lists.deinit(gpa);
        self.sets.deinit(gpa);
        self.rows.deinit(gpa);
        self.table.deinit(gpa);
        self.set_table.deinit(gpa);
        self.scratch.deinit(gpa);
        self.pending.deinit(gpa);
        self.row_scratch.deinit(gpa);
        self.runs.deinit(gpa);
        self.set_scratch.deinit(gpa);
    }

    pub fn bytes(self: *const Terms) usize {
        return self.terms.items.len * @sizeOf(Term) + (self.lists.items.len + self.rows.items.len) * 4 + self.table.bytes();
    }

    fn spend(self: *Terms, units: usize) error{Refused}!void {
        if (self.budget) |budget| try budget.spend(units);
    }

    pub fn listOf(self: *const Terms, term: *const Term) []const u32 {
        return self.lists.items[term.a..][0..term.b];
    }

    pub fn setOf(self: *const Terms, set: u32) []const u64 {
        return self.sets.items[set * self.words ..][0..self.words];
    }

    pub fn inSet(self: *const Terms, set: u32, index: usize) bool {
        return self.sets.items[set * self.words + index / 64] >> @intCast(index % 64) & 1 != 0;
    }

    // Making terms

    /// One character of these classes, as far as any can be written.
    pub fn class(self: *Terms, bits: []const u64) Error!u32 {
        self.set_scratch.clearRetainingCapacity();
        try self.set_scratch.appendSlice(self.gpa, bits);
        return self.classOfScratch();
    }

    fn classOfScratch(self: *Terms) Error!u32 {
        var cost = unreachable_cost;
        for (self.alphabet.costs, 0..) |each, index| {
            const bit = @as(u64, 1) << @intCast(index % 64);
            const word = &self.set_scratch.items[index / 64];
            if (word.* & bit == 0) continue;
            if (each == unreachable_cost) word.* &= ~bit;
            cost = @min(cost, each);
        }
        const count = self.alphabet.costs.len;
        if (count % 64 != 0) self.set_scratch.items[count / 64] &= (@as(u64, 1) << @intCast(count % 64)) - 1;
        if (cost == unreachable_cost) return nothing;
        const set = try self.internSet();
        return self.intern(.{ .kind = .class, .nullable = false, .mixed = false, .a = set, .cost = cost, .shortest = 1, .longest = 1 });
    }

    fn internSet(self: *Terms) Error!u32 {
        const Context = struct {
            terms: *const Terms,
            pub fn eql(context: @This(), id: u32) bool {
                return std.mem.eql(u64, context.terms.setOf(id), context.terms.set_scratch.items);
            }
            fn hashSet(set: []const u64) u64 {
                return stdx.hashWords(@as([]const u32, @ptrCast(set)), 0);
            }
        };
        const context: Context = .{ .terms = self };
        const hash = Context.hashSet(self.set_scratch.items);
        if (self.set_table.find(hash, context)) |known| return known;
        const id: u32 = @intCast(self.sets.items.len / self.words);
        try self.sets.appendSlice(self.gpa, self.set_scratch.items);
        try self.set_table.insert(self.gpa, hash, id);
        return id;
    }

    pub fn concat(self: *Terms, first: u32, second: u32) Error!u32 {
        if (first == nothing or second == nothing) return nothing;
        if (first == empty) return second;
        if (second == empty) return first;
        // Heads from the last to the first, so that a head is never a concatenation.
        const mark = self.scratch.items.len;
        defer self.scratch.shrinkRetainingCapacity(mark);
        var at = first;
        while (self.terms.items[at].kind == .concat) : (at = self.terms.items[at].b) {
            try self.spend(1);
            try self.scratch.append(self.gpa, self.terms.items[at].a);
        }
        var result = try self.joinHead(at, second);
        while (self.scratch.items.len > mark) result = try self.joinHead(self.scratch.pop().?, result);
        return result;
    }

    /// x{a,b} x{c,d} is x{a+c,b+d}.
    fn joinHead(self: *Terms, start: u32, end: u32) Error!u32 {
        var head = start;
        var tail = end;
        while (true) {
            const next = self.terms.items[tail];
            const first = self.runOf(head);
            const second = self.runOf(if (next.kind == .concat) next.a else tail);
            if (first.item != second.item or first.min > none - 1 - second.min) break;
            head = try self.repeat(first.item, first.min + second.min, addLength(first.max, second.max));
            if (next.kind != .concat) return head;
            tail = next.b;
        }
        const a = self.terms.items[head];
        const b = self.terms.items[tail];
        return self.intern(.{
            .kind = .concat,
            .nullable = a.nullable and b.nullable,
            .mixed = a.mixed or b.mixed,
            .a = head,
            .b = tail,
            .cost = spelling.add(a.cost, b.cost),
            .shortest = addLength(a.shortest, b.shortest),
            .longest = addLength(a.longest, b.longest),
        });
    }

    /// A term as a repeat of something.
    fn runOf(self: *const Terms, id: u32) Run {
        const term = self.terms.items[id];
        return if (term.kind == .repeat)
            .{ .item = term.a, .tail = empty, .min = term.b, .max = term.c }
        else
            .{ .item = id, .tail = empty, .min = 1, .max = 1 };
    }

    pub fn repeat(self: *Terms, of: u32, from: u32, to: u32) Error!u32 {
        var item = of;
        var min = from;
        var max = to;
        while (true) {
            if (min > max) return nothing;
            if (max == 0 or item == empty) return empty;
            if (item == nothing) return if (min == 0) empty else nothing;
            if (min == 1 and max == 1) return item;
            const inner = self.terms.items[item];
            if (inner.nullable) min = 0;
            if (inner.kind != .repeat) break;
            // (x{a,b}){c,d} is x{ac,bd} where no number between is left out.
            const gapless = min == max or inner.c == none and (min > 0 or inner.b <= 1) or
                @as(u64, min) * inner.c + 1 >= (@as(u64, min) + 1) * inner.b;
            const low = @as(u64, inner.b) * min;
            const high = if (inner.c == none or max == none) none else @as(u64, inner.c) * max;
            if (!gapless or low >= none or high > none or high == none and inner.c != none and max != none) break;
            item = inner.a;
            min = @intCast(low);
            max = @intCast(high);
        }
        const inner = self.terms.items[item];
        return self.intern(.{
            .kind = .repeat,
            .nullable = min == 0,
            .mixed = inner.mixed,
            .a = item,
            .b = min,
            .c = max,
            .cost = spelling.times(min, inner.cost),
            .shortest = timesLength(min, inner.shortest),
            .longest = timesLength(max, inner.longest),
        });
    }

    pub fn complement(self: *Terms, operand: u32) Error!u32 {
        const term = self.terms.items[operand];
        if (operand == nothing) return self.everything;
        if (operand == self.everything) return nothing;
        const any = self.terms.items[self.everything].a;
        if (operand == empty) return self.repeat(any, 1, none);
        if (term.kind == .complement) return term.a;
        if (term.kind == .repeat and term.a == any) {
            if (term.c == none) return self.repeat(any, 0, term.b - 1);
            if (term.b == 0) return self.repeat(any, term.c + 1, none);
        }
        return self.intern(.{
            .kind = .complement,
            .nullable = !term.nullable,
            .mixed = true,
            .a = operand,
            .cost = unreachable_cost,
            .shortest = none,
            .longest = none,
        });
    }

    /// Of the terms in `scratch` from the mark on, which are taken off.
    fn unionOf(self: *Terms, mark: usize) Error!u32 {
        defer self.scratch.shrinkRetainingCapacity(mark);
        try self.flatten(mark, .@"union");
        if (std.mem.findScalar(u32, self.scratch.items[mark..], self.everything) != null) return self.everything;
        if (self.scratch.items.len - mark > 1) try self.mergeRuns(mark);
        if (self.scratch.items.len - mark > 1 and self.scratch.items[mark] == empty) {
            for (self.scratch.items[mark + 1 ..]) |item| if (self.terms.items[item].nullable) {
                _ = self.scratch.orderedRemove(mark);
                break;
            };
        }
        const left = self.scratch.items[mark..];
        if (left.len == 0) return nothing;
        if (left.len == 1) return left[0];
        return self.internList(.@"union", left);
    }

    fn intersectionOf(self: *Terms, mark: usize) Error!u32 {
        defer self.scratch.shrinkRetainingCapacity(mark);
        try self.flatten(mark, .intersection);
        try self.intersectSets(mark, .class);
        try self.intersectSets(mark, .repeat);
        try self.sortFrom(mark);
        const all = self.scratch.items[mark..];
        if (all.len > 0 and all[0] == nothing) return nothing;
        if (std.mem.findScalar(u32, all, empty) != null) {
            return for (all) |item| {
                if (!self.terms.items[item].nullable) break nothing;
            } else empty;
        }
        for (all) |item| {
            const term = self.terms.items[item];
            if (term.kind == .complement and std.sort.binarySearch(u32, all, term.a, order) != null) return nothing;
        }
        if (std.sort.binarySearch(u32, all, self.everything, order)) |at| _ = self.scratch.orderedRemove(mark + at);
        const left = self.scratch.items[mark..];
        if (left.len == 0) return self.everything;
        if (left.len == 1) return left[0];
        return self.internList(.intersection, left);
    }

    /// Makes one of all classes, or one of all unbounded repeats of classes.
    fn intersectSets(self: *Terms, mark: usize, kind: Kind) Error!void {
        var kept = mark;
        var first: ?usize = null;
        for (mark..self.scratch.items.len) |at| {
            const id = self.scratch.items[at];
            const term = self.terms.items[id];
            const takes = if (kind == .class) term.kind == .class else self.isLoop(id);
            if (takes) {
                const set = if (kind == .class) term.a else self.terms.items[term.a].a;
                if (first != null) {
                    for (self.set_scratch.items, self.setOf(set)) |*word, bits| word.* &= bits;
                    continue;
                }
                first = kept;
                self.set_scratch.clearRetainingCapacity();
                try self.set_scratch.appendSlice(self.gpa, self.setOf(set));
            }
            self.scratch.items[kept] = id;
            kept += 1;
        }
        self.scratch.shrinkRetainingCapacity(kept);
        const at = first orelse return;
        const joined = try self.classOfScratch();
        self.scratch.items[at] = if (kind == .class) joined else try self.repeat(joined, 0, none);
    }

    fn order(a: u32, b: u32) std.math.Order {
        return std.math.order(a, b);
    }

    /// Whether a repeat is not over after so many characters, each time of its item taking some of them.
    pub fn isFar(self: *const Terms, repeated: *const Term, characters: u32) bool {
        const each = @max(1, self.terms.items[repeated.a].shortest);
        return repeated.c > (characters - 1) / each + 1;
    }

    pub fn isLoop(self: *const Terms, id: u32) bool {
        const term = self.terms.items[id];
        return term.kind == .repeat and term.b == 0 and term.c == none and self.terms.items[term.a].kind == .class;
    }

    /// Replaces unions by their items (or intersections by theirs), sorts, and leaves out what stands there twice.
    fn flatten(self: *Terms, mark: usize, kind: Kind) Error!void {
        var at = mark;
        while (at < self.scratch.items.len) {
            const term = self.terms.items[self.scratch.items[at]];
            if (term.kind != kind and !(term.kind == .nothing and kind == .@"union")) {
                at += 1;
                continue;
            }
            _ = self.scratch.swapRemove(at);
            if (term.kind == .nothing) continue;
            try self.spend(term.b);
            // Its items are no unions themselves.
            try self.scratch.ensureUnusedCapacity(self.gpa, term.b);
            self.scratch.appendSliceAssumeCapacity(self.listOf(&term));
        }
        try self.sortFrom(mark);
    }

    fn sortFrom(self: *Terms, mark: usize) Error!void {
        const items = self.scratch.items[mark..];
        try self.spend(items.len);
        // Most lists are short, and what sorts long ones well begins with a kilobyte of its own.
        const isShort = items.len <= 16;
        if (isShort) std.sort.insertion(u32, items, {}, std.sort.asc(u32)) else std.mem.sortUnstable(u32, items, {}, std.sort.asc(u32));
        var kept: usize = 0;
        for (items) |item| {
            if (kept > 0 and items[kept - 1] == item) continue;
            items[kept] = item;
            kept += 1;
        }
        self.scratch.shrinkRetainingCapacity(mark + kept);
    }

    /// Makes one of classes, and one of x{a,b}t and x{c,d}t where no number of x between them is left out. That keeps counters that are
    /// begun again and again from piling up.
    fn mergeRuns(self: *Terms, mark: usize) Error!void {
        self.runs.clearRetainingCapacity();
        var changed = false;
        var classes: u32 = 0;
        try self.spend((self.scratch.items.len - mark) / 4);
        for (self.scratch.items[mark..]) |id| {
            const term = self.terms.items[id];
            if (term.kind == .class) classes += 1;
            var run = self.runOf(if (term.kind == .concat) term.a else id);
            run.tail = if (term.kind == .concat) term.b else empty;
            try self.runs.append(self.gpa, run);
        }
        const runs = self.runs.items;
        std.mem.sortUnstable(Run, runs, {}, struct {
            fn lessThan(_: void, a: Run, b: Run) bool {
                if (a.tail != b.tail) return a.tail < b.tail;
                if (a.item != b.item) return a.item < b.item;
                return a.min < b.min;
            }
        }.lessThan);
        var kept: usize = 0;
        for (runs) |run| {
            if (kept > 0) {
                const last = &runs[kept - 1];
                if (last.item == run.item and last.tail == run.tail and run.min <= addLength(last.max, 1)) {
                    if (run.max > last.max) last.max = run.max;
                    changed = true;
                    continue;
                }
            }
            runs[kept] = run;
            kept += 1;
        }
        self.runs.shrinkRetainingCapacity(kept);
        // x{1,b}t beside t is x{0,b}t.
        const items = self.scratch.items[mark..];
        for (self.runs.items) |*run| {
            if (run.min != 1 or run.item == nothing or run.item == empty) continue;
            const at = std.sort.binarySearch(u32, items, run.tail, order) orelse continue;
            // Once taken over, it is there no more for others.
            if (self.dropRun(items[at])) {
                run.min = 0;
                changed = true;
            }
        }
        if (!changed and classes < 2) return;
        self.scratch.shrinkRetainingCapacity(mark);
        self.set_scratch.clearRetainingCapacity();
        try self.set_scratch.appendNTimes(self.gpa, 0, self.words);
        for (self.runs.items) |*run| {
            if (!self.isCharacter(run)) continue;
            for (self.set_scratch.items, self.setOf(self.terms.items[run.item].a)) |*word, bits| word.* |= bits;
            run.item = nothing;
        }
        const characters = try self.classOfScratch();
        if (characters != nothing) try self.scratch.append(self.gpa, characters);
        // This makes no unions, so the runs stay.
        for (self.runs.items) |run| {
            if (run.item == nothing) continue;
            const term = try self.concat(try self.repeat(run.item, run.min, run.max), run.tail);
            try self.scratch.append(self.gpa, term);
        }
        try self.sortFrom(mark);
    }

    /// One character and nothing more.
    fn isCharacter(self: *const Terms, run: *const Run) bool {
        return self.terms.items[run.item].kind == .class and run.tail == empty and run.min == 1 and run.max == 1;
    }

    /// Takes the run that is this very term out of `runs`.
    fn dropRun(self: *Terms, id: u32) bool {
        const term = self.terms.items[id];
        var sought = self.runOf(if (term.kind == .concat) term.a else id);
        sought.tail = if (term.kind == .concat) term.b else empty;
        for (self.runs.items) |*run| if (std.meta.eql(run.*, sought)) {
            run.item = nothing;
            return true;
        };
        return false;
    }

    pub fn join(self: *Terms, comptime kind: Kind, items: []const u32) Error!u32 {
        const mark = self.scratch.items.len;
        try self.scratch.appendSlice(self.gpa, items);
        return if (kind == .@"union") self.unionOf(mark) else self.intersectionOf(mark);
    }

    fn internList(self: *Terms, comptime kind: Kind, items: []const u32) Error!u32 {
        var term: Term = .{
            .kind = kind,
            .nullable = kind == .intersection,
            .mixed = kind == .intersection,
            .a = @intCast(self.lists.items.len),
            .b = @intCast(items.len),
            .cost = unreachable_cost,
            .shortest = none,
            .longest = if (kind == .@"union") 0 else none,
        };
        for (items) |item| {
            const each = self.terms.items[item];
            term.mixed = term.mixed or each.mixed;
            if (kind == .intersection) {
                term.nullable = term.nullable and each.nullable;
                continue;
            }
            term.nullable = term.nullable or each.nullable;
            term.cost = @min(term.cost, each.cost);
            term.shortest = @min(term.shortest, each.shortest);
            term.longest = @max(term.longest, each.longest);
        }
        try self.lists.appendSlice(self.gpa, items);
        const id = try self.intern(term);
        // One that was known has its list elsewhere.
        if (self.terms.items[id].a != term.a) self.lists.shrinkRetainingCapacity(term.a);
        return id;
    }

    fn intern(self: *Terms, term: Term) Error!u32 {
        const Context = struct {
            terms: *const Terms,
            sought: *const Term,
            pub fn eql(context: @This(), id: u32) bool {
                const known = &context.terms.terms.items[id];
                const sought = context.sought;
                if (known.kind != sought.kind) return false;
                if (known.kind != .@"union" and known.kind != .intersection) return known.a == sought.a and known.b == sought.b and known.c == sought.c;
                return std.mem.eql(u32, context.terms.listOf(known), context.terms.listOf(sought));
            }
            fn hash(terms: *const Terms, of: *const Term) u64 {
                const kind: u64 = @backingInt(of.kind);
                return switch (of.kind) {
                    .@"union", .intersection => stdx.hashWords(terms.listOf(of), kind),
                    else => stdx.hashWords(&.{ of.a, of.b, of.c }, kind),
                };
            }
        };
        const context: Context = .{ .terms = self, .sought = &term };
        const hash = Context.hash(self, &term);
        if (self.table.find(hash, context)) |known| return known;
        if (self.budget) |budget| {
            try budget.spend(term_units);
            if (self.terms.items.len >= limits.regex_terms) return budget.refuse(.limit, "a pattern is too large", none);
        }
        const id: u32 = @intCast(self.terms.items.len);
        try self.terms.append(self.gpa, term);
        try self.table.insert(self.gpa, hash, id);
        self.terms.items[id].lasting = try self.lastingOf(id);
        return id;
    }

    fn lastingOf(self: *Terms, id: u32) Error!Term.Lasting {
        const term = self.terms.items[id];
        switch (term.kind) {
            .nothing, .empty, .class, .complement => return .{},
            .repeat => {
                const item = self.terms.items[term.a];
                return if (term.c == none and item.kind == .class) .{ .term = id, .set = item.a } else .{};
            },
            .concat => {
                const head = self.terms.items[term.a];
                if (head.lasting.term == term.a) return .{ .term = id, .set = head.lasting.set };
                return if (head.nullable) self.terms.items[term.b].lasting else .{};
            },
            .@"union" => {
                var best: Term.Lasting = .{};
                for (self.listOf(&term)) |item| {
                    const lasting = self.terms.items[item].lasting;
                    if (lasting.term == none) continue;
                    if (best.term == none or self.sizeOf(lasting.set) > self.sizeOf(best.set)) best = lasting;
                }
                return best;
            },
            .intersection => return self.lastingOfAll(id),
        }
    }

    /// Of an intersection: that of what lasts of its parts, if it is a term that was met before.
    fn lastingOfAll(self: *Terms, id: u32) Error!Term.Lasting {
        const term = self.terms.items[id];
        const mark = self.scratch.items.len;
        defer self.scratch.shrinkRetainingCapacity(mark);
        self.set_scratch.clearRetainingCapacity();
        try self.set_scratch.appendNTimes(self.gpa, ~@as(u64, 0), self.words);
        for (0..term.b) |index| {
            const lasting = self.terms.items[self.lists.items[term.a + index]].lasting;
            if (lasting.term == none) return .{};
            try self.scratch.append(self.gpa, lasting.term);
            for (self.set_scratch.items, self.setOf(lasting.set)) |*word, bits| word.* &= bits;
        }
        if (std.mem.allEqual(u64, self.set_scratch.items, 0)) return .{};
        try self.sortFrom(mark);
        const known = self.knownIntersection(self.scratch.items[mark..]) orelse return .{};
        return .{ .term = known, .set = try self.internSet() };
    }

    fn knownIntersection(self: *const Terms, items: []const u32) ?u32 {
        if (items.len == 1) return items[0];
        const Context = struct {
            terms: *const Terms,
            items: []const u32,
            pub fn eql(context: @This(), id: u32) bool {
                const known = &context.terms.terms.items[id];
                return known.kind == .intersection and std.mem.eql(u32, context.terms.listOf(known), context.items);
            }
        };
        const context: Context = .{ .terms = self, .items = items };
        return self.table.find(stdx.hashWords(items, @backingInt(Kind.intersection)), context);
    }

    fn sizeOf(self: *const Terms, set: u32) u32 {
        var size: u32 = 0;
        for (self.setOf(set)) |word| size += @popCount(word);
        return size;
    }

    // Reading characters

    /// The derivative by a class; `nothing` where no text of the term begins with it.
    pub fn after(self: *Terms, term: u32, by: u16) Error!u32 {
        if (self.terms.items[term].row == none) try self.derive(term);
        return self.rows.items[self.terms.items[term].row + by];
    }

    /// Makes the row of a term, and those of the parts it takes, without recursion.
    pub fn derive(self: *Terms, start: u32) Error!void {
        const mark = self.pending.items.len;
        defer self.pending.shrinkRetainingCapacity(mark);
        try self.pending.append(self.gpa, start);
        while (self.pending.items.len > mark) {
            const id = self.pending.items[self.pending.items.len - 1];
            const term = self.terms.items[id];
            const count = self.pending.items.len;
            if (term.row == none) {
                if (self.simpleOf(id) == null) switch (term.kind) {
                    .nothing, .empty, .class => {},
                    .complement, .repeat => try self.need(term.a),
                    .concat => {
                        try self.need(term.a);
                        if (self.terms.items[term.a].nullable) try self.need(term.b);
                    },
                    .@"union", .intersection => for (0..term.b) |index| try self.need(self.lists.items[term.a + index]),
                };
                if (self.pending.items.len > count) continue;
                try self.makeRow(id);
            }
            _ = self.pending.pop();
        }
    }

    fn need(self: *Terms, part: u32) Error!void {
        if (self.terms.items[part].row == none and self.simpleOf(part) == null) try self.pending.append(self.gpa, part);
    }

    /// A term that begins with a character of one class and then goes on in one way: its set, and how it goes on.
    const Simple = struct { set: u32, head_min: u32 = 0, head_max: u32 = 0 };

    fn simpleOf(self: *const Terms, id: u32) ?Simple {
        const term = self.terms.items[id];
        const head = if (term.kind == .concat) self.terms.items[term.a] else term;
        return switch (head.kind) {
            .class => .{ .set = head.a },
            .repeat => {
                const item = self.terms.items[head.a];
                if (item.kind != .class or term.kind == .concat and head.nullable) return null;
                return .{ .set = item.a, .head_min = head.b -| 1, .head_max = if (head.c == none) none else head.c - 1 };
            },
            else => null,
        };
    }

    fn afterSimple(self: *Terms, id: u32, simple: Simple) Error!u32 {
        const term = self.terms.items[id];
        const head = if (term.kind == .concat) term.a else id;
        const tail = if (term.kind == .concat) term.b else empty;
        const rest = if (self.terms.items[head].kind == .repeat) try self.repeat(self.terms.items[head].a, simple.head_min, simple.head_max) else empty;
        return self.concat(rest, tail);
    }

    /// With the rows of its parts known.
    fn makeRow(self: *Terms, id: u32) Error!void {
        const classes = self.alphabet.class_count;
        const mark = self.row_scratch.items.len;
        defer self.row_scratch.shrinkRetainingCapacity(mark);
        try self.row_scratch.appendNTimes(self.gpa, nothing, classes);
        try self.spend(4 * classes);
        const term = self.terms.items[id];
        if (self.simpleOf(id)) |simple| {
            const next = try self.afterSimple(id, simple);
            for (0..classes) |by| if (self.inSet(simple.set, by)) {
                self.row_scratch.items[mark + by] = next;
            };
        } else if (term.kind != .nothing and term.kind != .empty) {
            var alike: Alike = .{};
            for (0..classes) |by| {
                const same = alike.find(self, &term, by);
                self.row_scratch.items[mark + by] = if (same) |other| self.row_scratch.items[mark + other] else try self.partsAfter(&term, by);
            }
        }
        self.terms.items[id].row = @intCast(self.rows.items.len);
        try self.rows.appendSlice(self.gpa, self.row_scratch.items[mark..]);
    }

    /// The derivative by a class, of those of the parts.
    fn partsAfter(self: *Terms, term: *const Term, by: usize) Error!u32 {
        switch (term.kind) {
            .nothing, .empty, .class => return nothing,
            .complement => return self.complement(try self.partAfter(term.a, by)),
            .repeat => {
                const rest = try self.repeat(term.a, term.b -| 1, if (term.c == none) none else term.c - 1);
                return self.concatEach(try self.partAfter(term.a, by), rest);
            },
            .concat => {
                const first = try self.concatEach(try self.partAfter(term.a, by), term.b);
                return if (self.terms.items[term.a].nullable) self.join(.@"union", &.{ first, try self.partAfter(term.b, by) }) else first;
            },
            .@"union", .intersection => {
                try self.spend(term.b / 8);
                const start = self.scratch.items.len;
                for (0..term.b) |index| {
                    const part = try self.partAfter(self.lists.items[term.a + index], by);
                    if (part == nothing) {
                        if (term.kind == .@"union") continue;
                        self.scratch.shrinkRetainingCapacity(start);
                        return nothing;
                    }
                    try self.scratch.append(self.gpa, part);
                }
                return if (term.kind == .@"union") self.unionOf(start) else self.intersectionOf(start);
            },
        }
    }

    /// Of the classes gone through, some after which different things are left of a term's parts. Most classes are like one of them, and to
    /// join the parts takes longest.
    const Alike = struct {
        classes: [count_max]usize = undefined,
        hashes: [count_max]u64 = undefined,
        count: usize = 0,

        const count_max = 16;

        /// A class after which the same is left of all parts; without one, this one may be found next time.
        fn find(self: *Alike, terms: *const Terms, term: *const Term, by: usize) ?usize {
            const parts = terms.partCount(term);
            var hash: u64 = 0;
            for (0..parts) |index| hash = (std.math.rotl(u64, hash, 5) ^ terms.traceOf(terms.partAt(term, index), by)) *% 0x9e3779b97f4a7c15;
            for (self.classes[0..self.count], self.hashes[0..self.count]) |other, known| {
                if (known != hash) continue;
                for (0..parts) |index| {
                    const part = terms.partAt(term, index);
                    if (terms.traceOf(part, by) != terms.traceOf(part, other)) break;
                } else return other;
            }
            if (self.count < count_max) {
                self.classes[self.count] = by;
                self.hashes[self.count] = hash;
                self.count += 1;
            }
            return null;
        }
    };

    /// The parts whose derivatives that of a term is made from.
    fn partCount(self: *const Terms, term: *const Term) usize {
        return switch (term.kind) {
            .nothing, .empty, .class => 0,
            .complement, .repeat => 1,
            .concat => if (self.terms.items[term.a].nullable) 2 else 1,
            .@"union", .intersection => term.b,
        };
    }

    fn partAt(self: *const Terms, term: *const Term, index: usize) u32 {
        return switch (term.kind) {
            .@"union", .intersection => self.lists.items[term.a + index],
            else => if (index == 0) term.a else term.b,
        };
    }

    /// Two classes that leave the same of a part leave the same trace.
    fn traceOf(self: *const Terms, part: u32, by: usize) u32 {
        const row = self.terms.items[part].row;
        if (row != none) return self.rows.items[row + by];
        const simple = self.simpleOf(part) orelse return nothing;
        return @intFromBool(self.inSet(simple.set, by));
    }

    fn partAfter(self: *Terms, part: u32, by: usize) Error!u32 {
        const row = self.terms.items[part].row;
        if (row != none) return self.rows.items[row + by];
        const simple = self.simpleOf(part) orelse return nothing;
        return if (self.inSet(simple.set, by)) self.afterSimple(part, simple) else nothing;
    }

    /// A concatenation whose head is a union: the union of the concatenations, so that what is alike in them is found.
    fn concatEach(self: *Terms, first: u32, second: u32) Error!u32 {
        const term = self.terms.items[first];
        if (term.kind != .@"union") return self.concat(first, second);
        const mark = self.scratch.items.len;
        for (0..term.b) |index| {
            const joined = try self.concat(self.lists.items[term.a + index], second);
            try self.scratch.append(self.gpa, joined);
        }
        return self.unionOf(mark);
    }
};

/// What it costs to make a term, and so bounds the memory of all.
const term_units = 16;

pub fn addLength(a: u32, b: u32) u32 {
    if (a == none or b == none) return none;
    return @min(a +| b, none - 1);
}

fn timesLength(count: u32, each: u32) u32 {
    if (count == 0 or each == 0) return 0;
    if (count == none or each == none) return none;
    return @intCast(@min(@as(u64, count) * each, none - 1));
}
