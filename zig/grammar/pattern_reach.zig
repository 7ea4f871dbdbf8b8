//! What a pattern's state does on many characters: a kind of characters on which the pattern stays alive, whatever order they come in, and
//! those on which it may leave that kind.
const std = @import("std");
const builtin = @import("builtin");
const signs = @import("../vocabulary.zig").signs;
const no_class = @import("alphabet.zig").no_class;
const AlphabetSigns = @import("alphabet_signs.zig").AlphabetSigns;
const pattern_fatal = @import("pattern_fatal.zig");
const Patterns = @import("patterns.zig").Patterns;

const none: u32 = 0xffffffff;
const Error = error{OutOfMemory};

pub const Reach = struct {
    /// After a text of these, of at most `characters`, the pattern is alive.
    kind: signs.Set,
    /// `none`: after a text of any length.
    characters: u32,
    /// What may follow a text of just so many.
    next: signs.Set = .full,
    /// What else may be read after such a text: what leaves the kind and is read, an escape, or the closing quote.
    exits: signs.Set,
    /// The text may end after any of them, if it has no bounds.
    accepts: bool,
    /// Characters that may have to follow such a text.
    shortest: u32,
    /// Sets of classes: after a text that has every class of one, the pattern may not be alive after all.
    fatal: [pattern_fatal.Sets.max]pattern_fatal.Set = undefined,
    fatal_count: usize = 0,
    /// After a text of these, of at most `early_characters`, the pattern is alive, too: of more kinds of characters than `kind`.
    early: signs.Set = .empty,
    early_characters: u32 = 0,

    pub fn fatalSets(self: *const Reach) []const pattern_fatal.Set {
        return self.fatal[0..self.fatal_count];
    }
};

/// The signs that characters of one class of a pattern's alphabet have.
pub const Class = signs.Set;

/// A state that was reached, and a class of characters that led to it from another one. `rest`: the term that is left of it; where that is
/// left whatever follows of the kind, what the state leads to is not looked at.
const State = struct { id: u32, class: u16, from: u32, rest: u32, lasts: bool };

pub const Scratch = struct {
    states: std.ArrayList(State) = .empty,
    /// Those that early texts lead to.
    early: std.ArrayList(State) = .empty,
    classes: std.ArrayList(Class) = .empty,
    /// The round in which each state was reached last.
    reached: std.ArrayList(u32) = .empty,
    round: u32 = 0,
    /// Terms that were met, and those that are yet to be looked at.
    met: std.AutoHashMapUnmanaged(u32, void) = .empty,
    open: std.ArrayList(u32) = .empty,
    /// The pattern that the classes are of, and the signs of its alphabet.
    pattern: u32 = none,
    own: *const AlphabetSigns = undefined,

    pub fn clear(self: *Scratch) void {
        self.pattern = none;
        self.reached.clearRetainingCapacity();
    }

    pub fn deinit(self: *Scratch, gpa: std.mem.Allocator) void {
        self.states.deinit(gpa);
        self.early.deinit(gpa);
        self.classes.deinit(gpa);
        self.reached.deinit(gpa);
        self.met.deinit(gpa);
        self.open.deinit(gpa);
    }

    fn isReached(self: *Scratch, patterns: *const Patterns, state: u32) Error!bool {
        const count = patterns.states.items.len;
        if (self.reached.items.len < count) try self.reached.appendNTimes(patterns.gpa, 0, count - self.reached.items.len);
        return self.reached.items[state] == self.round;
    }
};

/// Where there are more states, or so many steps were made, what lies beyond is not followed.
const states_max = 128;
const steps_max = 4000;

/// The signs of the alphabet of a state's pattern, which is the one that is looked at from now on.
pub fn lookAt(patterns: *Patterns, vocabulary_signs: *const signs.Signs, state: u32) Error!*const AlphabetSigns {
    const scratch = &patterns.scratch.reaches;
    const pattern = patterns.states.items[state].pattern;
    if (scratch.pattern == pattern) return scratch.own;
    const alphabet = patterns.of(state).alphabet;
    scratch.pattern = none;
    try scratch.classes.resize(patterns.gpa, alphabet.class_count);
    scratch.own = try patterns.scratch.alphabets.of(patterns.gpa, vocabulary_signs, alphabet, scratch.classes.items);
    scratch.pattern = pattern;
    return scratch.own;
}

/// (class_count) of the alphabet of a state's pattern, which is looked at.
pub fn classesOf(patterns: *Patterns, state: u32) []const Class {
    const scratch = &patterns.scratch.reaches;
    std.debug.assert(scratch.pattern == patterns.states.items[state].pattern);
    return scratch.classes.items;
}

/// What a text may have from a state on, or more: the characters that are left of its pattern. Null if that may be any.
pub fn possible(patterns: *Patterns, state: u32) Error!?signs.Set {
    const known = patterns.states.items[state];
    const terms = &patterns.terms[known.pattern].?;
    const scratch = &patterns.scratch.reaches;
    var some: signs.Set = .empty;
    scratch.met.clearRetainingCapacity();
    scratch.open.clearRetainingCapacity();
    try scratch.open.append(patterns.gpa, known.term);
    while (scratch.open.pop()) |id| {
        if ((try scratch.met.getOrPut(patterns.gpa, id)).found_existing) continue;
        if (scratch.met.count() > steps_max) return null;
        const term = &terms.terms.items[id];
        switch (term.kind) {
            .nothing, .empty => {},
            .class => for (classesOf(patterns, state), 0..) |class, index| {
                if (terms.inSet(term.a, @intCast(index))) some.setUnion(class);
            },
            .@"union" => try scratch.open.appendSlice(patterns.gpa, terms.listOf(term)),
            // Any part of an intersection has all that the whole has.
            .intersection => for (terms.listOf(term)) |part| {
                if (terms.terms.items[part].mixed) continue;
                try scratch.open.append(patterns.gpa, part);
                break;
            } else return null,
            .complement => return null,
            .concat => try scratch.open.appendSlice(patterns.gpa, &.{ term.a, term.b }),
            .repeat => try scratch.open.append(patterns.gpa, term.a),
        }
    }
    return some;
}

/// The signs all of whose characters lead from one state to another, of those that stand for themselves in a JSON string.
pub fn leading(patterns: *Patterns, from: u32, to: u32) Error!signs.Set {
    var some: signs.Set = .empty;
    var other: signs.Set = .empty;
    for (classesOf(patterns, from), 0..) |class, index| {
        if (try patterns.after(from, @intCast(index)) == to) some.setUnion(class) else other.setUnion(class);
    }
    return some.differenceWith(other).intersectWith(inside);
}

/// What never stands for itself in a JSON string.
const unspelled = found: {
    var set: signs.Set = .empty;
    for (0..0x80) |sign| set.setValue(sign, !signs.isInside(sign));
    break :found set;
};

const ascii = found: {
    var set: signs.Set = .empty;
    set.setRangeValue(.{ .start = 0, .end = 0x80 }, true);
    break :found set;
};

const inside = found: {
    var set = unspelled.complement();
    set.unset(signs.broken);
    break :found set;
};

/// What stands for itself in a JSON string, of the signs of the alphabet that is looked at.
fn everything(patterns: *const Patterns) signs.Set {
    return inside.intersectWith(ascii.unionWith(patterns.scratch.reaches.own.beyond));
}

/// As `of`, of a state that stays alive on most characters however long a text is; null if it is none.
pub fn ofWide(patterns: *Patterns, start: u32) Error!?Reach {
    var kind = everything(patterns);
    _ = try keepAlive(patterns, classesOf(patterns, start), start, &kind);
    if (!isWide(&kind)) return null;
    const reach = try of(patterns, start);
    return if (reach.characters == none and isWide(&reach.kind) and !isRare(patterns, &reach.kind)) reach else null;
}

/// The same with what the state can die of, if that takes several characters; null if it has none, or too much of that.
pub fn ofMortal(patterns: *Patterns, start: u32) Error!?Reach {
    const classes = classesOf(patterns, start);
    var kind = everything(patterns);
    _ = try keepAlive(patterns, classes, start, &kind);
    if (!isWide(&kind) or (try stateOf(patterns, classes, &kind, start, no_class, 0)).lasts) return null;
    if (classes.len > pattern_fatal.classes_max) return null;
    const fatal = try pattern_fatal.of(patterns, start, &sizesOf(classes, &kind)) orelse return null;
    for (fatal.slice()) |set| if (@popCount(set) == 1) {
        kind = kind.differenceWith(classes[@ctz(set)]);
    };
    if (!isWide(&kind)) return null;
    const states = &patterns.scratch.reaches.states;
    states.clearRetainingCapacity();
    for (patterns.scratch.fatal.states.items) |state| try states.append(patterns.gpa, .{ .id = state, .class = no_class, .from = 0, .rest = patterns.states.items[state].term, .lasts = false });
    var reach = try describe(patterns, classes, kind, none);
    const sizes = sizesOf(classes, &kind);
    for (fatal.slice()) |set| {
        const told = toldOf(set, &sizes) orelse continue;
        if (told == 0) return null;
        reach.fatal[reach.fatal_count] = told;
        reach.fatal_count += 1;
    }
    return if (reach.fatal_count > 0) reach else null;
}

/// The classes of a fatal set that tokens are told by; null where no token has all of the set, as one of its classes has no sign.
fn toldOf(set: pattern_fatal.Set, sizes: *const pattern_fatal.Sizes) ?pattern_fatal.Set {
    var told: pattern_fatal.Set = 0;
    var left = set;
    while (left != 0) : (left &= left - 1) {
        const size = sizes[@ctz(left)];
        if (size == 0) return null;
        if (size <= told_signs_max) told |= left & (~left +% 1);
    }
    return told;
}

/// To tell tokens with a class of more signs than these takes as long as it helps.
const told_signs_max = 4;

/// How many signs of a kind each class has.
fn sizesOf(classes: []const Class, kind: *const signs.Set) pattern_fatal.Sizes {
    var sizes: pattern_fatal.Sizes = @splat(0);
    for (classes, sizes[0..classes.len]) |*class, *size| size.* = @intCast(class.intersectWith(kind.*).count());
    return sizes;
}

/// For a state whose text has no bounds; see `Patterns.unbounded`.
pub fn of(patterns: *Patterns, start: u32) Error!Reach {
    const weights = &patterns.scratch.reaches.own.weights;
    const classes = classesOf(patterns, start);
    var kind = everything(patterns);
    _ = try keepAlive(patterns, classes, start, &kind);
    const states = &patterns.scratch.reaches.states;
    var early: signs.Set = .empty;
    var early_characters: u32 = 0;
    var steps: usize = 0;
    const after = while (true) {
        const before = kind;
        states.clearRetainingCapacity();
        patterns.scratch.reaches.round += 1;
        try states.append(patterns.gpa, try stateOf(patterns, classes, &kind, start, no_class, 0));
        if (!try patterns.scratch.reaches.isReached(patterns, start)) patterns.scratch.reaches.reached.items[start] = patterns.scratch.reaches.round;
        switch (try spread(patterns, classes, weights, &kind, &steps)) {
            .after => |found| break found,
            .narrower => |characters| if (characters >= early_min and early_characters == 0) {
                early = before;
                early_characters = characters;
                patterns.scratch.reaches.early.clearRetainingCapacity();
                try patterns.scratch.reaches.early.appendSlice(patterns.gpa, states.items);
            },
        }
    };
    var reach = try describe(patterns, classes, kind, after.characters);
    reach.next = after.next;
    reach.early = early;
    reach.early_characters = early_characters;
    for (if (early_characters > 0) patterns.scratch.reaches.early.items else &.{}) |state| {
        reach.shortest = @max(reach.shortest, patterns.termAt(state.id, state.rest).shortest);
    }
    return reach;
}

/// Of fewer characters there are few tokens.
const early_min = if (builtin.is_test) 1 else 4;

/// Of the states in the scratch.
fn describe(patterns: *Patterns, classes: []const Class, kind: signs.Set, characters: u32) Error!Reach {
    var reach: Reach = .{ .kind = kind, .characters = characters, .exits = .empty, .accepts = true, .shortest = 0 };
    var read: signs.Set = .empty;
    for (patterns.scratch.reaches.states.items) |known| {
        const state = known.id;
        const rest = patterns.termAt(state, known.rest);
        reach.shortest = @max(reach.shortest, rest.shortest);
        if (known.lasts) {
            // Whatever it may lead to.
            read = .full;
            reach.exits.set('"');
        }
        if (rest.nullable) reach.exits.set('"') else reach.accepts = false;
        if (patterns.of(state).escapes) reach.exits.set('\\');
        for (classes, 0..) |class, index| {
            if (try patterns.after(state, @intCast(index)) != Patterns.dead) read.setUnion(class);
        }
    }
    reach.exits.setUnion(read.differenceWith(unspelled));
    reach.exits = reach.exits.differenceWith(kind);
    return reach;
}

fn stateOf(patterns: *Patterns, classes: []const Class, kind: *const signs.Set, id: u32, class: u16, from: u32) Error!State {
    var state: State = .{ .id = id, .class = class, .from = from, .rest = patterns.states.items[id].term, .lasts = false };
    // Of a smaller kind it matters what leaves it, which has to be looked at.
    if (!isWide(kind)) return state;
    const lasting = patterns.lasting(id) orelse return state;
    var stays = true;
    for (classes, 0..) |*own, index| {
        if (!touches(own, kind)) continue;
        if (lasting.set[index / 64] >> @intCast(index % 64) & 1 == 0) return state;
        stays = stays and try patterns.after(id, @intCast(index)) == id;
    }
    // Where the kind leads nowhere else, there is nothing that is not looked at.
    if (stays) return state;
    state.rest = lasting.term;
    state.lasts = true;
    return state;
}

fn isWide(kind: *const signs.Set) bool {
    return 4 * widthOf(kind) >= 3 * comptime widthOf(&inside);
}

/// Its characters below 0x80, and what it has of those beyond as two, however many signs an alphabet makes of them.
fn widthOf(kind: *const signs.Set) usize {
    const width = kind.intersectWith(ascii).count();
    return if (kind.differenceWith(ascii).eql(.empty)) width else width + 2;
}

/// How long texts from a state on may be that lead to the states just reached.
pub const Within = struct {
    /// Up to so many characters, whichever of the states it is.
    sure: u32,
    /// Up to so many, if it is the right one.
    possible: u32,
    /// The highest of the costs after what is sure.
    cost: u32,

    /// Of the states that texts of the kind lead to.
    pub fn of(patterns: *const Patterns, from: u32, characters_max: u32) Within {
        return ofStates(patterns, patterns.scratch.reaches.states.items, from, characters_max);
    }

    /// Of those that early texts lead to.
    pub fn ofEarly(patterns: *const Patterns, from: u32, characters_max: u32) Within {
        return ofStates(patterns, patterns.scratch.reaches.early.items, from, characters_max);
    }

    fn ofStates(patterns: *const Patterns, states: []const State, from: u32, characters_max: u32) Within {
        var self: Within = .{ .sure = 0, .possible = 0, .cost = 0 };
        var all = true;
        for (1..@min(characters_max, patterns.allowed(from)) + 1) |characters| {
            var cost: u32 = 0;
            for (states) |state| {
                if (patterns.costAfter(from, @intCast(characters), state.rest)) |own| {
                    cost = @max(cost, own);
                    self.possible = @intCast(characters);
                } else {
                    all = false;
                    if (state.lasts) self.possible = @intCast(characters);
                }
            }
            if (!all) continue;
            self.sure = @intCast(characters);
            self.cost = @max(self.cost, cost);
            // Nothing is counted.
            if (patterns.states.items[from].count == none) return .{ .sure = characters_max, .possible = characters_max, .cost = cost };
        }
        return self;
    }
};

const Spread = union(enum) {
    /// The kind was made smaller, as texts of more characters than so many may not be alive, or were not all looked at.
    narrower: u32,
    /// After so many characters there may be other states, or none.
    after: struct { characters: u32, next: signs.Set },
};

/// Adds the states after characters of the kind, character by character.
fn spread(patterns: *Patterns, classes: []const Class, weights: *const [signs.count]u32, kind: *signs.Set, steps: *usize) Error!Spread {
    const states = &patterns.scratch.reaches.states;
    var begin: usize = 0;
    var characters: u32 = 0;
    while (begin < states.items.len) : (characters += 1) {
        const end = states.items.len;
        if (characters > 0) for (states.items[begin..end]) |state| {
            if (state.lasts) continue;
            var less = kind.*;
            if (try keepAlive(patterns, classes, state.id, &less)) continue;
            // Without the characters that it does not read, or without some that lead to it, or the whole kind for shorter texts.
            var way = state;
            while (way.class != no_class) : (way = states.items[way.from]) {
                const avoided = kind.differenceWith(classes[way.class]);
                if (weigh(weights, avoided) > weigh(weights, less)) less = avoided;
            }
            if (4 * widthOf(&less) < 3 * widthOf(kind) and (characters >= early_min or 4 * weigh(weights, less) < 3 * weigh(weights, kind.*))) return .{ .after = .{ .characters = characters, .next = try nextAfter(patterns, classes, kind, characters) } };
            kind.* = less;
            return .{ .narrower = characters };
        };
        for (begin..end) |at| {
            if (states.items[at].lasts) continue;
            steps.* += classes.len;
            for (classes, 0..) |*class, index| {
                if (!touches(class, kind)) continue;
                const next = try patterns.after(states.items[at].id, @intCast(index));
                if (try patterns.scratch.reaches.isReached(patterns, next)) continue;
                if (states.items.len == states_max or steps.* > steps_max) {
                    const narrower = try keepStaying(patterns, classes, states.items[0].id, kind);
                    return if (narrower) .{ .narrower = characters } else .{ .after = .{ .characters = characters, .next = .full } };
                }
                patterns.scratch.reaches.reached.items[next] = patterns.scratch.reaches.round;
                try states.append(patterns.gpa, try stateOf(patterns, classes, kind, next, @intCast(index), @intCast(at)));
            }
        }
        begin = end;
    }
    return .{ .after = .{ .characters = none, .next = .empty } };
}

/// What may be read after a text of just so many characters of the kind, all of whose states were added: also by states that are left and
/// come back to, as in a loop.
fn nextAfter(patterns: *Patterns, classes: []const Class, kind: *const signs.Set, characters: u32) Error!signs.Set {
    const Indices = std.bit_set.Static(states_max);
    const scratch = &patterns.scratch.reaches;
    const states = scratch.states.items;
    for (states, 0..) |state, index| {
        if (state.lasts) return .full;
        scratch.reached.items[state.id] = @intCast(index);
    }
    // An index is no round.
    defer for (states) |state| {
        scratch.reached.items[state.id] = 0;
    };
    var level: Indices = .empty;
    level.set(0);
    var successors: [states_max]?Indices = @splat(null);
    for (0..characters) |_| {
        var next: Indices = .empty;
        var each = level.iterator(.{});
        while (each.next()) |index| {
            const own = successors[index] orelse own: {
                var some: Indices = .empty;
                for (classes, 0..) |*class, by| {
                    if (touches(class, kind)) some.set(scratch.reached.items[try patterns.after(states[index].id, @intCast(by))]);
                }
                successors[index] = some;
                break :own some;
            };
            next.setUnion(own);
        }
        level = next;
    }
    var read: signs.Set = .empty;
    var each = level.iterator(.{});
    while (each.next()) |index| for (classes, 0..) |class, by| {
        if (try patterns.after(states[index].id, @intCast(by)) != Patterns.dead) read.setUnion(class);
    };
    return read;
}

/// Leaves in a kind what leads a state back to itself, if that is most of it but not all; whether it is.
fn keepStaying(patterns: *Patterns, classes: []const Class, state: u32, kind: *signs.Set) Error!bool {
    var less = kind.*;
    for (classes, 0..) |*class, index| {
        if (touches(class, kind) and try patterns.after(state, @intCast(index)) != state) less = less.differenceWith(class.*);
    }
    if (less.eql(kind.*) or 4 * widthOf(&less) < 3 * widthOf(kind)) return false;
    kind.* = less;
    return true;
}

/// Takes what a state does not read out of a kind; whether that was nothing.
fn keepAlive(patterns: *Patterns, classes: []const Class, state: u32, kind: *signs.Set) Error!bool {
    var all = true;
    for (classes, 0..) |*class, index| {
        if (!touches(class, kind) or try patterns.after(state, @intCast(index)) != Patterns.dead) continue;
        kind.* = kind.differenceWith(class.*);
        all = false;
    }
    return all;
}

/// Whether many tokens have signs that are not of a kind.
pub fn isRare(patterns: *const Patterns, kind: *const signs.Set) bool {
    const weights = &patterns.scratch.reaches.own.weights;
    const all = everything(patterns);
    return rare_share * weigh(weights, all.differenceWith(kind.*)) > weigh(weights, all);
}

const rare_share = 16;

/// Tokens that have a sign, counted once for each sign.
fn weigh(weights: *const [signs.count]u32, set: signs.Set) u64 {
    var total: u64 = 0;
    for (weights, 0..) |weight, sign| if (set.isSet(sign)) {
        total += weight;
    };
    return total;
}

fn touches(class: *const Class, kind: *const signs.Set) bool {
    return !class.intersectWith(kind.*).eql(.empty);
}
