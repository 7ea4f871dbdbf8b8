//! One regex with bounds on its length, compiled for one way of writing: the terms it begins with, and all that cannot be found out while it
//! is followed. Immutable; what is followed grows in a `Patterns`.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");
const spelling = @import("spelling.zig");
const alphabet_room = @import("alphabet.zig");
const Alphabet = alphabet_room.Alphabet;
const terms_room = @import("terms.zig");
const Terms = terms_room.Terms;
const limits = @import("../limits.zig").grammar;

pub const Writing = alphabet_room.Writing;
pub const Source = alphabet_room.Source;
pub const unreachable_cost = spelling.unreachable_cost;

const none = ir.none;
const Error = ir.Error;

/// Bytes of a short token, and so its characters at most.
pub const short_bytes = @import("../vocabulary.zig").string_tables.short_bytes;

pub const Pattern = struct {
    alphabet: *const Alphabet,
    terms: Terms,
    writing: Writing,
    /// Escapes can be written.
    escapes: bool,
    root: u32,
    /// Characters of the whole text.
    min: u32,
    max: u32,
    bounds: Bounds,
    /// Tokens that a character takes at most on the way to a nearest end, where `bounds` count characters.
    unit: u32,
    lengths: Lengths,
    /// Some counter counts farther than a short token reads.
    counts: bool,
    /// Tokens that write its cheapest text, without quotes; `unreachable_cost`: it has none.
    cost: u32,

    pub const Bounds = enum {
        /// The regex keeps them by itself.
        none,
        /// Only the maximum matters, and the shortest rest decides.
        shortest,
        /// A class repeated without bounds: every length is possible.
        loop,
        /// The lengths possible from every state are known.
        table,
    };

    /// `regexes[root]`, matched as a whole by `min` to `max` (or `none`) characters.
    pub fn create(arena: Allocator, scratch: Allocator, source: *const Source, regexes: []const ir.Regex, root: u32, min: u32, max: u32) Error!Pattern {
        var builder: Builder = .{ .arena = arena, .scratch = scratch, .source = source, .min = min, .max = max };
        return builder.run(regexes, root);
    }

    /// Characters of the shortest rest that keeps the bounds, `count` characters after the beginning; null if there is none.
    pub fn nearest(self: *const Pattern, terms: *const Terms, term: u32, count: u32) ?u32 {
        const needed = self.min -| count;
        const allowed = if (self.max == none) none else if (count <= self.max) self.max - count else return null;
        const found = switch (self.bounds) {
            .none, .shortest => terms.terms.items[term].shortest,
            .loop => needed,
            // Of what was not explored only the shortest text is known.
            .table => self.lengths.next(term, needed, allowed) orelse terms.terms.items[term].shortest,
        };
        return if (found >= needed and found <= allowed and found != none) found else null;
    }

    /// Whether the bounds have nothing more to say.
    pub fn isSettled(self: *const Pattern, terms: *const Terms, term: u32, count: u32) bool {
        if (self.bounds == .none) return true;
        if (self.max != none) {
            const longest = terms.terms.items[term].longest;
            if (count > self.max or longest == none or longest > self.max - count) return false;
        }
        const needed = self.min -| count;
        return needed == 0 or self.bounds != .loop and needed <= terms.terms.items[term].shortest;
    }

    pub fn hasEmpty(self: *const Pattern) bool {
        return self.min == 0 and self.terms.terms.items[self.root].nullable;
    }

    /// Whether a text matches, decoded. The bounds may be the regex's own, so they count here, too.
    pub fn matches(self: *Pattern, text: []const u8) Error!bool {
        if (self.root == Terms.nothing) return false;
        var at = self.root;
        var view = std.unicode.Utf8View.initUnchecked(text).iterator();
        var count: u32 = 0;
        while (view.nextCodepoint()) |char| : (count += 1) {
            at = try self.terms.after(at, self.alphabet.classOf(char));
            if (at == Terms.nothing) return false;
        }
        return count >= self.min and count <= self.max and self.terms.terms.items[at].nullable;
    }
};

/// Which lengths the rest of a text can have, from every term: as sets of terms by length, until these repeat or the maximum is reached.
pub const Lengths = struct {
    places: std.AutoHashMapUnmanaged(u32, u32) = .empty,
    words: usize = 0,
    /// (count × words)
    sets: []const u64 = &.{},
    count: u32 = 0,
    /// What follows the last set; `none`: nothing is asked about it.
    again: u32 = none,

    fn next(self: *const Lengths, term: u32, from: u32, to: u32) ?u32 {
        const place = self.places.get(term) orelse return null;
        // Beyond one round nothing new comes.
        const last = @min(to, if (self.again == none) self.count - 1 else @max(from, self.count) +| self.count);
        var length = from;
        while (length <= last) : (length += 1) {
            const at = if (length < self.count) length else self.again + (length - self.again) % (self.count - self.again);
            if (self.sets[at * self.words + place / 64] >> @intCast(place % 64) & 1 != 0) return length;
        }
        return null;
    }
};

const Builder = struct {
    arena: Allocator,
    scratch: Allocator,
    source: *const Source,
    min: u32,
    max: u32,
    terms: Terms = undefined,

    fn run(self: *Builder, regexes: []const ir.Regex, root: u32) Error!Pattern {
        const made = try self.readRegexes(regexes, root);
        var start = try self.takeBounds(made.root);
        const terms = &self.terms;
        try self.limitSpread(if (terms.terms.items[start].mixed) try self.explore(start, false) else &.{start});
        if (terms.terms.items[start].cost == unreachable_cost) start = Terms.nothing;
        const first = terms.terms.items[start];
        if (self.min > self.max or first.shortest > self.max or first.longest < self.min) start = Terms.nothing;
        var result: Pattern = .{
            .alphabet = made.alphabet,
            .terms = undefined,
            .writing = self.source.writing,
            .escapes = self.source.escapes and self.source.writing != .raw,
            .root = start,
            .min = self.min,
            .max = self.max,
            .bounds = .none,
            .unit = 1,
            .lengths = .{},
            .counts = for (terms.terms.items) |*term| {
                if (term.kind == .repeat and term.c != none and terms.isFar(term, short_bytes)) break true;
            } else false,
            .cost = unreachable_cost,
        };
        const holds = self.min <= first.shortest;
        const capped = self.max != none and (first.longest == none or first.longest > self.max);
        if (start != Terms.nothing and (!holds or capped)) {
            result.unit = self.unitCost(first.mixed);
            result.bounds = if (terms.isLoop(start)) .loop else if (holds) .shortest else .table;
            if (result.bounds == .table) result.lengths = try self.tabulate(start);
        }
        if (start != Terms.nothing) {
            const nearest = result.nearest(terms, start, 0);
            if (nearest == null) {
                result.root = Terms.nothing;
            } else result.cost = if (result.isSettled(terms, start, 0)) first.cost else spelling.times(nearest.?, result.unit);
        }
        result.terms = try terms.clone(self.arena);
        return result;
    }

    const Read = struct { alphabet: *const Alphabet, root: u32 };

    /// The terms of a regex and all it refers to.
    fn readRegexes(self: *Builder, regexes: []const ir.Regex, root: u32) Error!Read {
        const budget = self.source.budget;
        const reached = try self.scratch.alloc(bool, root + 1);
        @memset(reached, false);
        reached[root] = true;
        var left: usize = 1;
        var lowest: usize = root;
        var classes: std.ArrayList([]const ir.Regex.Range) = .empty;
        var at: usize = root + 1;
        while (left > 0) {
            at -= 1;
            if (!reached[at]) continue;
            left -= 1;
            lowest = at;
            try budget.spend(1);
            switch (regexes[at]) {
                .class => |ranges| try classes.append(self.scratch, ranges),
                .concat, .@"union", .intersection => |items| for (items) |item| {
                    left += @intFromBool(!reached[item]);
                    reached[item] = true;
                },
                .complement => |item| {
                    left += @intFromBool(!reached[item]);
                    reached[item] = true;
                },
                .repeat => |repeat| {
                    left += @intFromBool(!reached[repeat.item]);
                    reached[repeat.item] = true;
                },
            }
        }
        std.mem.reverse([]const ir.Regex.Range, classes.items);
        const made = try alphabet_room.create(self.arena, self.scratch, self.source, classes.items);
        const alphabet = try self.arena.create(Alphabet);
        alphabet.* = made.alphabet;
        self.terms = try .create(self.scratch, alphabet, made.words, budget);
        const terms = &self.terms;
        const ids = try self.scratch.alloc(u32, root + 1 - lowest);
        var class: usize = 0;
        var list: std.ArrayList(u32) = .empty;
        for (regexes[lowest .. root + 1], ids, reached[lowest..]) |regex, *id, is_reached| {
            if (!is_reached) continue;
            id.* = switch (regex) {
                .class => class: {
                    defer class += 1;
                    break :class try terms.class(made.sets[class * made.words ..][0..made.words]);
                },
                .concat => |items| concat: {
                    var joined: u32 = Terms.empty;
                    var index = items.len;
                    while (index > 0) {
                        index -= 1;
                        joined = try terms.concat(ids[items[index] - lowest], joined);
                    }
                    break :concat joined;
                },
                .@"union", .intersection => |items| join: {
                    list.clearRetainingCapacity();
                    for (items) |item| try list.append(self.scratch, ids[item - lowest]);
                    break :join if (regex == .@"union") try terms.join(.@"union", list.items) else try terms.join(.intersection, list.items);
                },
                .complement => |item| try terms.complement(ids[item - lowest]),
                .repeat => |repeat| try terms.repeat(ids[repeat.item - lowest], repeat.min, repeat.max),
            };
        }
        return .{ .alphabet = alphabet, .root = ids[root - lowest] };
    }

    /// Takes the bounds out of a class repeated so many times, and of such among the parts of an intersection: they are kept by counting.
    fn takeBounds(self: *Builder, root: u32) Error!u32 {
        const terms = &self.terms;
        const term = terms.terms.items[root];
        if (term.kind == .repeat) return self.unbounded(root);
        if (term.kind != .intersection) return root;
        const parts = try self.scratch.dupe(u32, terms.listOf(&term));
        for (parts) |*part| part.* = try self.unbounded(part.*);
        const joined = try terms.join(.intersection, parts);
        return if (terms.terms.items[joined].kind == .repeat) self.unbounded(joined) else joined;
    }

    fn unbounded(self: *Builder, id: u32) Error!u32 {
        const term = self.terms.terms.items[id];
        if (term.kind != .repeat or self.terms.terms.items[term.a].kind != .class) return id;
        self.min = @max(self.min, term.b);
        self.max = @min(self.max, term.c);
        return self.terms.repeat(term.a, 0, none);
    }

    fn unitCost(self: *const Builder, mixed: bool) u32 {
        var unit: u32 = 1;
        if (mixed) {
            for (self.terms.alphabet.costs) |cost| if (cost != unreachable_cost) {
                unit = @max(unit, cost);
            };
        } else for (self.terms.terms.items) |term| if (term.kind == .class) {
            unit = @max(unit, term.cost);
        };
        return unit;
    }

    /// Refuses what could come to be followed in too many ways at once. Begun anew at every character, a counter without slack holds as many
    /// numbers as it counts, and so does one whose item varies in length. What was explored is as wide as it was found to be.
    fn limitSpread(self: *Builder, list: []const u32) Error!void {
        const terms = &self.terms;
        // Ways to follow a term begun once, and begun anew at every character; never too few.
        const Spread = struct { once: u64 = 1, always: u64 = 1 };
        const spreads = try self.scratch.alloc(Spread, terms.terms.items.len);
        var total: u64 = 0;
        // Parts come before what they are part of.
        for (terms.terms.items, spreads) |*term, *spread| {
            try self.source.budget.spend(1);
            spread.* = switch (term.kind) {
                .nothing, .empty, .class, .complement, .intersection => .{},
                .@"union" => sum: {
                    var all: Spread = .{ .once = 0, .always = 0 };
                    for (terms.listOf(term)) |item| {
                        all.once +|= spreads[item].once;
                        all.always +|= spreads[item].always;
                    }
                    break :sum all;
                },
                .concat => .{
                    // Where the head has one length, the tail begins once, when the head is over.
                    .once = if (terms.terms.items[term.a].shortest == terms.terms.items[term.a].longest)
                        @max(spreads[term.a].once, spreads[term.b].once)
                    else
                        spreads[term.a].once +| spreads[term.b].always,
                    .always = spreads[term.a].always +| spreads[term.b].always,
                },
                .repeat => repeat: {
                    const item = terms.terms.items[term.a];
                    const counts: u64 = @max(1, if (term.c == none) term.b else term.c);
                    // Overlapping counts of one class are one.
                    if (item.kind == .class) break :repeat .{ .always = if (term.c == none or term.b <= 1) 1 else 1 + counts / (term.c - term.b + 2) };
                    break :repeat .{
                        .once = if (item.shortest == item.longest) spreads[term.a].once else spreads[term.a].always *| counts,
                        .always = spreads[term.a].always *| counts,
                    };
                },
            };
        }
        // A nested part is gone through again at every level. What is only in terms that were explored is in none of them.
        const followed = try self.scratch.alloc(bool, terms.terms.items.len);
        @memset(followed, false);
        var parts: std.ArrayList(u32) = .empty;
        for (list) |id| if (!terms.terms.items[id].mixed) {
            total = @max(total, spreads[id].once);
            try parts.append(self.scratch, id);
        };
        while (parts.pop()) |id| {
            if (followed[id]) continue;
            followed[id] = true;
            try self.source.budget.spend(1);
            total +|= if (spreads[id].once > 1) spreads[id].once else 0;
            const term = &terms.terms.items[id];
            switch (term.kind) {
                .nothing, .empty, .class => {},
                .@"union", .intersection => try parts.appendSlice(self.scratch, terms.listOf(term)),
                .complement, .repeat => try parts.append(self.scratch, term.a),
                .concat => try parts.appendSlice(self.scratch, &.{ term.a, term.b }),
            }
        }
        if (total > limits.regex_spread) return self.source.budget.refuse(.limit, "a pattern can be followed in too many ways at once", none);
    }

    /// Terms reached from one, itself first: those with intersections or complements, and what they lead to, or all. Fills in what these need
    /// to be finished, and takes out of their rows what nothing finishes.
    fn explore(self: *Builder, start: u32, all: bool) Error![]const u32 {
        const terms = &self.terms;
        const budget = self.source.budget;
        var seen: std.AutoHashMapUnmanaged(u32, void) = .empty;
        var list: std.ArrayList(u32) = .empty;
        try list.append(self.scratch, start);
        try seen.put(self.scratch, start, {});
        var at: usize = 0;
        var steps: usize = 0;
        while (at < list.items.len) : (at += 1) {
            if (!all and !terms.terms.items[list.items[at]].mixed) continue;
            if (!all) steps += terms.alphabet.class_count;
            if (list.items.len > limits.regex_states or steps > limits.regex_steps) return budget.refuse(.limit, "a pattern with look-around, negation or several conditions has too many states", none);
            try terms.derive(list.items[at]);
            var last: u32 = Terms.nothing;
            for (0..terms.alphabet.class_count) |class| {
                const next = terms.rows.items[terms.terms.items[list.items[at]].row + class];
                if (next == last or next == Terms.nothing) continue;
                last = next;
                try budget.spend(1);
                if (!(try seen.getOrPut(self.scratch, next)).found_existing) try list.append(self.scratch, next);
            }
        }
        try self.settle(list.items);
        return list.items;
    }

    /// Least fixed points over the mixed terms of a closed list.
    fn settle(self: *Builder, list: []const u32) Error!void {
        const terms = &self.terms;
        const budget = self.source.budget;
        const costs = terms.alphabet.costs;
        for (list) |id| {
            const term = &terms.terms.items[id];
            if (!term.mixed) continue;
            term.cost = if (term.nullable) 0 else unreachable_cost;
            term.shortest = if (term.nullable) 0 else none;
        }
        var changed = true;
        while (changed) {
            changed = false;
            var at = list.len;
            while (at > 0) {
                at -= 1;
                const term = &terms.terms.items[list[at]];
                if (!term.mixed) continue;
                try budget.spend(costs.len);
                for (terms.rows.items[term.row..][0..costs.len], costs) |next_id, cost| {
                    const next = &terms.terms.items[next_id];
                    if (cost == unreachable_cost) continue;
                    const total = spelling.add(cost, next.cost);
                    const length = terms_room.addLength(next.shortest, 1);
                    if (total >= term.cost and length >= term.shortest) continue;
                    term.cost = @min(term.cost, total);
                    term.shortest = @min(term.shortest, length);
                    changed = true;
                }
            }
        }
        for (list) |id| {
            const term = terms.terms.items[id];
            if (!term.mixed) continue;
            for (terms.rows.items[term.row..][0..costs.len], costs) |*next, cost| {
                if (cost == unreachable_cost or terms.terms.items[next.*].cost == unreachable_cost) next.* = Terms.nothing;
            }
        }
        try self.findLongest(list);
    }

    /// The longest text of each mixed term: unbounded as long as what it leads to is not known to be bounded.
    fn findLongest(self: *Builder, list: []const u32) Error!void {
        const terms = &self.terms;
        const classes = terms.alphabet.class_count;
        const Edge = struct { to: u32, from: u32 };
        var edges: std.ArrayList(Edge) = .empty;
        var open: std.AutoHashMapUnmanaged(u32, u32) = .empty;
        var ready: std.ArrayList(u32) = .empty;
        for (list) |id| {
            const term = &terms.terms.items[id];
            if (!term.mixed) continue;
            term.longest = 0;
            var count: u32 = 0;
            for (terms.rows.items[term.row..][0..classes]) |next| {
                if (next == Terms.nothing or !terms.terms.items[next].mixed) continue;
                try edges.append(self.scratch, .{ .to = next, .from = id });
                count += 1;
            }
            try open.put(self.scratch, id, count);
            if (count == 0) try ready.append(self.scratch, id);
        }
        std.mem.sortUnstable(Edge, edges.items, {}, struct {
            fn lessThan(_: void, a: Edge, b: Edge) bool {
                return a.to < b.to;
            }
        }.lessThan);
        while (ready.pop()) |id| {
            try self.source.budget.spend(classes);
            const term = &terms.terms.items[id];
            for (terms.rows.items[term.row..][0..classes]) |next| if (next != Terms.nothing) {
                const length = terms_room.addLength(terms.terms.items[next].longest, 1);
                term.longest = @max(term.longest, length);
            };
            _ = open.remove(id);
            var at = std.sort.lowerBound(Edge, edges.items, id, struct {
                fn order(sought: u32, edge: Edge) std.math.Order {
                    return std.math.order(sought, edge.to);
                }
            }.order);
            while (at < edges.items.len and edges.items[at].to == id) : (at += 1) {
                const count = open.getPtr(edges.items[at].from) orelse continue;
                count.* -= 1;
                if (count.* == 0) try ready.append(self.scratch, edges.items[at].from);
            }
        }
        var cyclic = open.keyIterator();
        while (cyclic.next()) |id| terms.terms.items[id.*].longest = none;
    }

    fn tabulate(self: *Builder, start: u32) Error!Lengths {
        const budget = self.source.budget;
        const terms = &self.terms;
        const list = try self.explore(start, true);
        const classes = terms.alphabet.class_count;
        var lengths: Lengths = .{ .words = (list.len + 63) / 64 };
        try lengths.places.ensureTotalCapacity(self.arena, @intCast(list.len));
        for (list, 0..) |id, place| lengths.places.putAssumeCapacity(id, @intCast(place));
        var sets: std.ArrayList(u64) = .empty;
        try sets.appendNTimes(self.arena, 0, lengths.words);
        for (list, 0..) |id, place| if (terms.terms.items[id].nullable) {
            sets.items[place / 64] |= @as(u64, 1) << @intCast(place % 64);
        };
        var known: std.AutoHashMapUnmanaged(u64, u32) = .empty;
        lengths.count = 1;
        try known.put(self.scratch, hashOf(sets.items), 0);
        while (lengths.count <= self.max) {
            if (sets.items.len > limits.regex_length_words) return budget.refuse(.limit, "the lengths of a pattern take too long to repeat", none);
            try sets.appendNTimes(self.arena, 0, lengths.words);
            const before = sets.items[(lengths.count - 1) * lengths.words ..][0..lengths.words];
            const next = sets.items[lengths.count * lengths.words ..][0..lengths.words];
            for (list, 0..) |id, place| {
                try budget.spend(1 + classes / 16);
                const row = terms.rows.items[terms.terms.items[id].row..][0..classes];
                var last: u32 = Terms.nothing;
                for (row) |after| {
                    if (after == last or after == Terms.nothing) continue;
                    last = after;
                    const target = lengths.places.get(after) orelse continue;
                    if (before[target / 64] >> @intCast(target % 64) & 1 == 0) continue;
                    next[place / 64] |= @as(u64, 1) << @intCast(place % 64);
                    break;
                }
            }
            const slot = try known.getOrPut(self.scratch, hashOf(next));
            if (slot.found_existing and std.mem.eql(u64, next, sets.items[slot.value_ptr.* * lengths.words ..][0..lengths.words])) {
                lengths.again = slot.value_ptr.*;
                break;
            }
            slot.value_ptr.* = lengths.count;
            lengths.count += 1;
        }
        lengths.sets = sets.items;
        return lengths;
    }

    fn hashOf(set: []const u64) u64 {
        return std.hash.Wyhash.hash(0, std.mem.sliceAsBytes(set));
    }
};
