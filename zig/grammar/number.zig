//! Numbers as a small automaton over JSON's notation. It follows the written form and keeps comparison state, not digits; every state
//! from which no number within the bounds can be finished is taken out, so that it cannot be entered.
//!
//! Forms. At most `int_digits` digits before the point, `frac_digits` after it and `exp_digits` in the exponent. Where a sign's side is
//! bounded, an exponent needs a normalised mantissa (one digit other than 0 before the point): the forms of a value that are missing
//! then are those with another mantissa, and values whose digits fit neither form. An integer is plain digits; under `spec` also with a
//! fraction of zeros and, where its side is unbounded, an exponent that is not negative after it. Where multiples or single values are
//! asked for or excluded, numbers are written without exponent.
const std = @import("std");
const Allocator = std.mem.Allocator;
const IdTable = @import("../stdx.zig").IdTable;
const ir = @import("ir.zig");
const Exceptions = @import("exceptions.zig").Exceptions;
const exceptionsOf = @import("exceptions.zig").exceptionsOf;
const Factor = @import("multiples.zig").Factor;
const factorOf = @import("multiples.zig").factorOf;
const limits = @import("../limits.zig").grammar;

const int_digits = limits.number_int_digits;
const frac_digits = limits.number_frac_digits;
const exp_digits = limits.number_exp_digits;
const exp_max: i32 = std.math.pow(i32, 10, exp_digits) - 1;
/// No state: nothing that starts so is a number that fits.
pub const dead: u16 = 0xffff;
pub const unreachable_cost: u32 = 0xffffffff;

/// Bytes that occur in numbers.
const symbols = "0123456789-.eE+";

pub const Automaton = struct {
    /// (states, symbols)
    next: []const [symbols.len]u16,
    accepts: []const bool,
    /// Bytes, each written as one token, that finish the number from here.
    cost: []const u32,

    /// Whether anything can follow, but for the end.
    longer: []const bool,

    pub const start: u16 = 0;

    pub fn clone(self: *const Automaton, arena: Allocator) error{OutOfMemory}!Automaton {
        return .{
            .next = try arena.dupe([symbols.len]u16, self.next),
            .accepts = try arena.dupe(bool, self.accepts),
            .cost = try arena.dupe(u32, self.cost),
            .longer = try arena.dupe(bool, self.longer),
        };
    }

    pub fn goesOn(self: *const Automaton, state: u16) bool {
        return self.longer[state];
    }

    pub fn step(self: *const Automaton, state: u16, byte: u8) ?u16 {
        const symbol = symbol_of[byte];
        if (symbol == no_symbol) return null;
        const next = self.next[state][symbol];
        return if (next == dead) null else next;
    }
};

const no_symbol: u8 = 0xff;
const symbol_of: [256]u8 = table: {
    var table: [256]u8 = @splat(no_symbol);
    for (symbols, 0..) |byte, index| table[byte] = index;
    break :table table;
};

/// Those of a number's bytes that are tokens by themselves, as bits.
pub fn writableSymbols(writable: *const [256]bool) u16 {
    var bits: u16 = 0;
    for (symbols, 0..) |byte, index| bits |= @as(u16, @intFromBool(writable[byte])) << @intCast(index);
    return bits;
}

/// `number.plain` has the canonical spelling with either zero. `writable`: the bytes that are tokens by themselves. The start state's cost is `unreachable_cost` if no number fits.
pub fn build(arena: Allocator, gpa: Allocator, number: ir.Number, spelling: ir.Style.Spelling, writable: *const [256]bool, budget: *ir.Budget) ir.Error!Automaton {
    if (number.multiple_of_none.len > factors_max - 1) return budget.refuse(.limit, "a number avoids multiples of too many others", ir.none);
    var builder: Builder = .{
        .number = number,
        .spelling = spelling,
        .sides = .{ Side.of(number, false, spelling), Side.of(number, true, spelling) },
        .exceptions = try exceptionsOf(arena, number.except, budget),
    };
    defer builder.deinit(gpa);
    for (number.multiple_of_none, 1..) |decimal, index| builder.factors[index] = try factorOf(arena, gpa, decimal, budget);
    if (number.multiple_of.len > 0) builder.factors[0] = try factorOf(arena, gpa, number.multiple_of, budget);
    _ = try builder.idOf(gpa, .{ .phase = .start });
    var done: usize = 0;
    var level: usize = 0;
    while (done < builder.states.items.len) : (done += 1) {
        if (done == level) {
            if (done + builder.statesBeyond(done) > dead) return budget.refuse(.limit, too_many, ir.none);
            level = builder.states.items.len;
        }
        try budget.spend(symbols.len);
        const state = builder.states.items[done];
        var row: [symbols.len]u16 = @splat(dead);
        // Most digits lead to where the one before did.
        var last: State = .{ .phase = .start };
        var last_id: u16 = Automaton.start;
        const alike = builder.takesAnyDigit(&state);
        for (symbols, &row, 0..) |byte, *target, symbol| {
            if (alike and symbol > 0 and symbol < 10) {
                target.* = row[0];
                continue;
            }
            const next = builder.step(state, byte) orelse continue;
            if (!next.eql(&last)) {
                last_id = try builder.idOf(gpa, next) orelse return budget.refuse(.limit, too_many, ir.none);
                last = next;
            }
            target.* = last_id;
        }
        try builder.rows.append(gpa, row);
    }

    const count = builder.states.items.len;
    const accepts = try arena.alloc(bool, count);
    const cost = try arena.alloc(u32, count);
    for (builder.states.items, accepts, cost) |state, *accept, *tokens| {
        accept.* = builder.accepts(state);
        tokens.* = if (accept.*) 0 else unreachable_cost;
    }
    // States are numbered as they are reached, so going backwards almost always settles in one round.
    var changed = true;
    while (changed) {
        changed = false;
        try budget.spend(count);
        var at = count;
        while (at > 0) {
            at -= 1;
            for (builder.rows.items[at], symbols) |target, byte| {
                if (target == dead or !writable[byte] or cost[target] == unreachable_cost or cost[target] + 1 >= cost[at]) continue;
                cost[at] = cost[target] + 1;
                changed = true;
            }
        }
    }
    const next = try arena.dupe([symbols.len]u16, builder.rows.items);
    for (next) |*row| for (row) |*target| if (target.* != dead and cost[target.*] == unreachable_cost) {
        target.* = dead;
    };
    const longer = try arena.alloc(bool, count);
    for (longer, next) |*more, row| more.* = !std.mem.allEqual(u16, &row, dead);
    return .{ .next = next, .accepts = accepts, .cost = cost, .longer = longer };
}

const too_many = "a number's bounds need too many states";

/// The one that values are multiples of, then those that they are not multiples of.
const factors_max = limits.number_factors;

const Phase = enum(u8) { start, minus, zero, whole, point, fraction, exponent, exponent_sign, exponent_digits };
/// How what was read compares with the same digits of a bound; `unbound` where there is nothing to compare with.
const Compared = enum(u8) { less, equal, greater, unbound };

/// Without gaps, so that states are told apart by their bytes.
const State = extern struct {
    phase: Phase,
    negative: bool = false,
    /// Digits before the point, and after it.
    whole: u8 = 0,
    fraction: u8 = 0,
    /// The plain form: against the sides' grid bounds. `plain` false: it cannot be met any more.
    plain: bool = true,
    low: Compared = .unbound,
    high: Compared = .unbound,
    /// The normalised mantissa against the bounds' own digits. `scaled` false: there may be no exponent.
    scaled: bool = false,
    scaled_low: Compared = .unbound,
    scaled_high: Compared = .unbound,
    exponent_negative: bool = false,
    exponent_count: u8 = 0,
    /// Exponents allowed: low ≤ e ≤ high.
    exponent_low: i32 = 0,
    exponent_high: i32 = 0,
    exponent: i32 = 0,
    /// The class of each factor, where there is one.
    classes: [factors_max]u16 = @splat(0),
    excepted: u16 = Exceptions.off,
    gap: u16 = 0,

    fn hash(self: *const State) u64 {
        return std.hash.Wyhash.hash(0, std.mem.asBytes(self));
    }

    fn eql(self: *const State, other: *const State) bool {
        return std.mem.eql(u8, std.mem.asBytes(self), std.mem.asBytes(other));
    }

    comptime {
        std.debug.assert(@sizeOf(State) == 12 + 3 * 4 + (factors_max + 2) * 2);
    }
};

const Builder = struct {
    number: ir.Number,
    spelling: ir.Style.Spelling,
    /// For numbers without and with a minus.
    sides: [2]Side,
    factors: [factors_max]?Factor = @splat(null),
    exceptions: Exceptions,
    states: std.ArrayList(State) = .empty,
    rows: std.ArrayList([symbols.len]u16) = .empty,
    ids: IdTable = .{},

    fn deinit(self: *Builder, gpa: Allocator) void {
        self.states.deinit(gpa);
        self.rows.deinit(gpa);
        self.ids.deinit(gpa);
    }

    fn idOf(self: *Builder, gpa: Allocator, state: State) error{OutOfMemory}!?u16 {
        const Context = struct {
            states: []const State,
            sought: *const State,
            pub fn eql(context: @This(), id: u32) bool {
                return context.states[id].eql(context.sought);
            }
        };
        const context: Context = .{ .states = self.states.items, .sought = &state };
        const hash = state.hash();
        if (self.ids.find(hash, context)) |known| return @intCast(known);
        if (self.states.items.len == dead) return null;
        const id: u16 = @intCast(self.states.items.len);
        try self.ids.insert(gpa, hash, id);
        try self.states.append(gpa, state);
        return id;
    }

    /// States from one on, which all stand as many bytes from the start, and those that are still to come, as far as that is plain: what
    /// tells numbers apart after so many digits does so after more of them, up to the last digit, where nothing bounds them.
    fn statesBeyond(self: *const Builder, first: usize) usize {
        var sum: usize = 0;
        for (self.states.items[first..]) |*state| {
            sum += 1;
            const goes_on = state.phase == .whole and state.plain and state.low != .equal and state.high == .unbound;
            if (goes_on and state.excepted == Exceptions.off) sum += int_digits - state.whole;
        }
        return sum;
    }

    fn sideOf(self: *const Builder, state: State) *const Side {
        return &self.sides[@intFromBool(state.negative)];
    }

    fn step(self: *const Builder, state: State, byte: u8) ?State {
        return switch (byte) {
            '-' => switch (state.phase) {
                // Where both sides are alike, what follows the minus is the same.
                .start => if (self.sides[1].empty) null else .{ .phase = .minus, .negative = !self.exceptions.isEmpty() or !self.sides[1].sameAs(&self.sides[0]) },
                .exponent => exponentSign(state, true),
                else => null,
            },
            '+' => if (state.phase == .exponent) exponentSign(state, false) else null,
            '.' => self.point(state),
            'e', 'E' => self.exponentStart(state),
            else => self.digit(state, byte - '0'),
        };
    }

    fn digit(self: *const Builder, state: State, value: u8) ?State {
        const side = self.sideOf(state);
        switch (state.phase) {
            .start, .minus => {
                if (state.phase == .start and self.sides[0].empty) return null;
                var next: State = .{ .phase = if (value == 0) .zero else .whole, .negative = state.negative, .whole = 1 };
                next.low = if (side.low_trivial) .unbound else compareNext(.equal, value, side.low.whole(0));
                next.high = if (side.high_trivial) .unbound else compareNext(.equal, value, side.high.whole(0));
                if (!side.plain) dropPlain(&next) else dropLarge(&next, side);
                for (&next.classes, &self.factors) |*class, *known| if (known.*) |*factor| {
                    class.* = factor.whole(factor.start, value);
                };
                next.excepted = self.exceptions.step(self.exceptions.start(state.negative), '0' + value);
                switch (side.exponents) {
                    .none => {},
                    .free, .natural => next.scaled = true,
                    .normalised => if (value != 0) {
                        next.scaled = true;
                        next.scaled_low = if (side.scaled_low) |bound| compareNext(.equal, value, bound.digit(0)) else .unbound;
                        next.scaled_high = if (side.scaled_high) |bound| compareNext(.equal, value, bound.digit(0)) else .unbound;
                    },
                }
                return if (next.plain or next.scaled) next else null;
            },
            .whole => {
                if (state.whole == int_digits) return null;
                var next = state;
                next.whole += 1;
                for (&next.classes, &self.factors) |*class, *known| if (known.*) |*factor| {
                    class.* = factor.whole(class.*, value);
                };
                next.excepted = self.exceptions.step(state.excepted, '0' + value);
                next.low = if (state.low == .unbound) .unbound else if (next.whole > side.low.whole_length) .greater else compareNext(state.low, value, side.low.whole(state.whole));
                next.high = if (state.high == .unbound) .unbound else if (next.whole > side.high.whole_length) .greater else compareNext(state.high, value, side.high.whole(state.whole));
                dropLarge(&next, side);
                if (side.exponents == .normalised) {
                    next.scaled = false;
                    next.scaled_low = .unbound;
                    next.scaled_high = .unbound;
                }
                return if (next.plain or next.scaled) next else null;
            },
            .point, .fraction => {
                if (state.fraction == frac_digits) return null;
                if (self.number.integer and value != 0) return null;
                var next = state;
                next.phase = .fraction;
                next.fraction += 1;
                for (&next.classes, &self.factors) |*class, *known| if (known.*) |*factor| {
                    class.* = factor.fraction(class.*, value, state.fraction);
                };
                if (!self.settle(&next)) return null;
                next.excepted = self.exceptions.step(state.excepted, '0' + value);
                if (state.plain) {
                    next.low = if (state.low == .equal) compareNext(.equal, value, side.low.fraction(state.fraction)) else state.low;
                    next.high = if (state.high == .equal) compareNext(.equal, value, side.high.fraction(state.fraction)) else state.high;
                    if (next.low == .less or next.high == .greater) dropPlain(&next);
                }
                if (state.scaled) {
                    if (side.scaled_low) |bound| next.scaled_low = compareNext(state.scaled_low, value, bound.digit(state.fraction + 1));
                    if (side.scaled_high) |bound| next.scaled_high = compareNext(state.scaled_high, value, bound.digit(state.fraction + 1));
                }
                return if (next.plain or next.scaled) next else null;
            },
            .exponent, .exponent_sign, .exponent_digits => {
                if (state.exponent_count == exp_digits) return null;
                var next = state;
                next.phase = .exponent_digits;
                next.exponent_count += 1;
                // Beyond the bounds larger exponents are all alike.
                const cap = exponentCap(state);
                next.exponent = @min(state.exponent * 10 + value, cap);
                return next;
            },
            .zero => return null,
        }
    }

    /// Whether it makes no difference which digit comes next.
    fn takesAnyDigit(self: *const Builder, state: *const State) bool {
        for (&self.factors) |*factor| if (factor.* != null) return false;
        if (state.excepted != Exceptions.off) return false;
        return switch (state.phase) {
            .start, .minus, .zero => false,
            .point, .fraction, .whole => for ([_]Compared{ state.low, state.high, state.scaled_low, state.scaled_high }) |compared| {
                if (compared == .equal) break false;
            } else state.phase == .whole or !self.number.integer,
            .exponent, .exponent_sign, .exponent_digits => exponentCap(state.*) == 0,
        };
    }

    fn point(self: *const Builder, state: State) ?State {
        if (state.phase != .zero and state.phase != .whole) return null;
        if (self.number.integer and self.spelling == .canonical) return null;
        const side = self.sideOf(state);
        var next = state;
        next.phase = .point;
        next.low = resolved(state.low, state.whole, side.low.whole_length);
        next.high = resolved(state.high, state.whole, side.high.whole_length);
        next.whole = 0;
        next.excepted = self.exceptions.step(state.excepted, '.');
        if (next.low == .less or next.high == .greater) dropPlain(&next);
        if (!self.settle(&next)) return null;
        return if (next.plain or next.scaled) next else null;
    }

    /// Beyond a factor's last place, whether a number is a multiple no longer depends on which one it would be: few states are left there.
    /// False where it cannot become a multiple of what it has to be one of.
    fn settle(self: *const Builder, state: *State) bool {
        for (&state.classes, &self.factors, 0..) |*class, *known, index| if (known.*) |*factor| {
            if (class.* == Factor.never or state.fraction < factor.places) continue;
            class.* = if (factor.divides(class.*, state.fraction)) factor.start else Factor.never;
            if (index == 0 and class.* == Factor.never) return false;
        };
        return state.classes[0] != Factor.never;
    }

    fn exponentStart(self: *const Builder, state: State) ?State {
        switch (state.phase) {
            .zero, .whole, .fraction => {},
            else => return null,
        }
        if (!state.scaled) return null;
        const side = self.sideOf(state);
        var next: State = .{ .phase = .exponent, .exponent_low = -exp_max, .exponent_high = exp_max, .plain = false };
        switch (side.exponents) {
            .none => return null,
            .free => {},
            .natural => next.exponent_low = 0,
            .normalised => {
                const length = 1 + @as(usize, state.fraction);
                if (side.scaled_low) |bound| {
                    const enough = switch (bound.finish(state.scaled_low, length)) {
                        .greater => true,
                        .equal => !bound.exclusive,
                        .less, .unbound => false,
                    };
                    next.exponent_low = @max(next.exponent_low, bound.exponent + @intFromBool(!enough));
                }
                if (side.scaled_high) |bound| {
                    const enough = switch (bound.finish(state.scaled_high, length)) {
                        .less => true,
                        .equal => !bound.exclusive,
                        .greater, .unbound => false,
                    };
                    next.exponent_high = @min(next.exponent_high, bound.exponent - @intFromBool(!enough));
                }
            },
        }
        return if (next.exponent_low <= next.exponent_high) next else null;
    }

    /// Whether the value that was written is one of the multiples and none of those that are excluded.
    fn isOneOf(self: *const Builder, state: State) bool {
        for (&self.factors, state.classes, 0..) |*known, class, index| if (known.*) |*factor| {
            if (factor.divides(class, state.fraction) != (index == 0)) return false;
        };
        return !self.exceptions.isOne(state.excepted);
    }

    fn accepts(self: *const Builder, state: State) bool {
        const side = self.sideOf(state);
        switch (state.phase) {
            .zero, .whole, .fraction => {
                if (!state.plain) return false;
                const whole = state.phase != .fraction;
                const low = if (whole) resolved(state.low, state.whole, side.low.whole_length) else state.low;
                const high = if (whole) resolved(state.high, state.whole, side.high.whole_length) else state.high;
                if (!self.isOneOf(state)) return false;
                const low_ok = low == .unbound or low == .greater or low == .equal and side.low.fractionIsZeroFrom(state.fraction);
                return low_ok and high != .greater;
            },
            .exponent_digits => {
                const exponent = if (state.exponent_negative) -state.exponent else state.exponent;
                return exponent >= state.exponent_low and exponent <= state.exponent_high;
            },
            else => return false,
        }
    }
};

fn exponentSign(state: State, negative: bool) State {
    var next = state;
    next.phase = .exponent_sign;
    next.exponent_negative = negative;
    return next;
}

fn exponentCap(state: State) i32 {
    const low: i32 = if (state.exponent_low <= -exp_max) 0 else @intCast(@abs(state.exponent_low) + 1);
    const high: i32 = if (state.exponent_high >= exp_max) 0 else @intCast(@abs(state.exponent_high) + 1);
    return @max(low, high);
}

/// What was read so far is not within the bounds without an exponent.
fn dropPlain(state: *State) void {
    state.plain = false;
    state.low = .unbound;
    state.high = .unbound;
}

/// More digits than the upper bound has make no number smaller: nothing is followed that they only bring further away.
fn dropLarge(state: *State, side: *const Side) void {
    if (state.high == .greater and state.whole >= side.high.whole_length) dropPlain(state);
}

fn compareNext(so_far: Compared, digit: u8, bound_digit: u8) Compared {
    if (so_far != .equal) return so_far;
    return if (digit < bound_digit) .less else if (digit > bound_digit) .greater else .equal;
}

/// The comparison of whole parts, once the number of digits is known.
fn resolved(compared: Compared, length: u8, bound_length: u8) Compared {
    return if (compared == .unbound) .unbound else if (length < bound_length) .less else compared;
}

/// A magnitude on the grid of the plain form.
const Grid = struct {
    /// Whole digits, then fraction digits, padded with zeros on both sides.
    digits: [int_digits + frac_digits]u8,
    /// Whole digits without leading zeros, at least one.
    whole_length: u8,

    fn whole(self: *const Grid, index: u8) u8 {
        return self.digits[int_digits - self.whole_length + index];
    }

    fn fraction(self: *const Grid, index: u8) u8 {
        return self.digits[int_digits + index];
    }

    fn fractionIsZeroFrom(self: *const Grid, index: u8) bool {
        return std.mem.allEqual(u8, self.digits[int_digits + @as(usize, index) ..], 0);
    }

    fn of(digits: [int_digits + frac_digits]u8) Grid {
        const leading = std.mem.findNone(u8, digits[0 .. int_digits - 1], &.{0}) orelse int_digits - 1;
        return .{ .digits = digits, .whole_length = @intCast(int_digits - leading) };
    }
};

/// The magnitudes allowed on one side of zero.
const Side = struct {
    empty: bool = false,
    /// The plain form reaches it.
    plain: bool = true,
    low: Grid,
    high: Grid,
    /// Everything that can be written is above `low`, below `high`.
    low_trivial: bool,
    high_trivial: bool,
    exponents: enum { none, free, natural, normalised },
    scaled_low: ?Scaled = null,
    scaled_high: ?Scaled = null,

    fn of(number: ir.Number, negative: bool, spelling: ir.Style.Spelling) Side {
        const lower, const upper = if (negative) .{ number.high, number.low } else .{ number.low, number.high };
        // Seen from zero outwards: bounds on the other side of zero bound nothing, or leave nothing.
        const lower_decimal: ?Decimal = if (lower) |bound| Decimal.parse(bound) else null;
        const upper_decimal: ?Decimal = if (upper) |bound| Decimal.parse(bound) else null;
        const low: Decimal = if (lower_decimal) |decimal| (if (decimal.negative == negative or decimal.isZero()) decimal else .zero) else .zero;
        var side: Side = .{
            .low = Grid.of(@splat(0)),
            .high = Grid.of(@splat(9)),
            .low_trivial = true,
            .high_trivial = true,
            .exponents = .none,
        };
        if (upper_decimal) |decimal| {
            if (decimal.negative != negative and !decimal.isZero()) return side.none();
        }
        if (number.integer) @memset(side.high.digits[int_digits..], 0);
        if (low.ceil(number.integer)) |digits| side.low = Grid.of(digits) else side.plain = false;
        // One spelling of zero, unless plain digits are all that is asked for.
        if (negative and number.integer and spelling == .canonical and !number.plain and std.mem.allEqual(u8, &side.low.digits, 0)) side.low = Grid.of(one());
        if (upper_decimal) |decimal| {
            if (decimal.floor(number.integer)) |digits| side.high = Grid.of(digits) else side.plain = false;
        }
        // With nothing on the grid the normalised form may still reach between its points.
        if (std.mem.order(u8, &side.low.digits, &side.high.digits) == .gt) side.plain = false;
        if (number.integer and !side.plain) return side.none();
        side.low_trivial = side.plain and std.mem.allEqual(u8, &side.low.digits, 0);
        side.high_trivial = upper_decimal == null;
        const unbounded = side.low_trivial and side.high_trivial;
        if (number.multiple_of.len + number.multiple_of_none.len + number.except.len > 0) return if (side.plain) side else side.none();
        if (number.integer) {
            side.exponents = if (spelling == .spec and unbounded) .natural else .none;
        } else if (unbounded) {
            side.exponents = .free;
        } else if (upper_decimal == null or !upper_decimal.?.isZero()) {
            side.exponents = .normalised;
            if (!low.isZero()) side.scaled_low = Scaled.of(low);
            if (upper_decimal) |decimal| side.scaled_high = Scaled.of(decimal);
        }
        return side;
    }

    fn none(side: Side) Side {
        var result = side;
        result.empty = true;
        return result;
    }

    fn sameAs(self: *const Side, other: *const Side) bool {
        return self.low_trivial and other.low_trivial and self.high_trivial and other.high_trivial and
            self.exponents == other.exponents and self.empty == other.empty;
    }

    fn one() [int_digits + frac_digits]u8 {
        var digits: [int_digits + frac_digits]u8 = @splat(0);
        digits[int_digits - 1] = 1;
        return digits;
    }
};

/// A bound's magnitude.
const Decimal = struct {
    negative: bool,
    exclusive: bool,
    whole: []const u8,
    fraction: []const u8,

    const zero: Decimal = .{ .negative = false, .exclusive = false, .whole = "", .fraction = "" };

    fn parse(bound: ir.Bound) Decimal {
        const negative = bound.decimal[0] == '-';
        const unsigned = bound.decimal[@intFromBool(negative)..];
        const whole, const fraction = std.mem.cutScalar(u8, unsigned, '.') orelse .{ unsigned, "" };
        return .{
            .negative = negative,
            .exclusive = bound.exclusive,
            .whole = std.mem.trimStart(u8, whole, "0"),
            .fraction = std.mem.trimEnd(u8, fraction, "0"),
        };
    }

    fn isZero(self: Decimal) bool {
        return self.whole.len == 0 and self.fraction.len == 0;
    }

    /// The smallest magnitude on the grid that this lower bound lets through; null if there is none.
    fn ceil(self: Decimal, integer: bool) ?[int_digits + frac_digits]u8 {
        if (self.whole.len > int_digits) return null;
        var digits, const exact = self.truncated(integer);
        if (exact and !self.exclusive) return digits;
        var at: usize = if (integer) int_digits else digits.len;
        while (at > 0) {
            at -= 1;
            if (digits[at] < 9) {
                digits[at] += 1;
                return digits;
            }
            digits[at] = 0;
        }
        return null;
    }

    /// The largest magnitude on the grid that this upper bound lets through; null if there is none.
    fn floor(self: Decimal, integer: bool) ?[int_digits + frac_digits]u8 {
        if (self.whole.len > int_digits) {
            var digits: [int_digits + frac_digits]u8 = @splat(9);
            if (integer) @memset(digits[int_digits..], 0);
            return digits;
        }
        var digits, const exact = self.truncated(integer);
        if (!exact or !self.exclusive) return digits;
        var at: usize = if (integer) int_digits else digits.len;
        while (at > 0) {
            at -= 1;
            if (digits[at] > 0) {
                digits[at] -= 1;
                return digits;
            }
            digits[at] = 9;
        }
        return null;
    }

    fn truncated(self: Decimal, integer: bool) struct { [int_digits + frac_digits]u8, bool } {
        var digits: [int_digits + frac_digits]u8 = @splat(0);
        for (self.whole, int_digits - self.whole.len..) |byte, at| digits[at] = byte - '0';
        const kept = if (integer) 0 else @min(self.fraction.len, frac_digits);
        for (self.fraction[0..kept], int_digits..) |byte, at| digits[at] = byte - '0';
        return .{ digits, kept == self.fraction.len };
    }
};

/// A bound other than zero as d.ddd × 10^exponent.
const Scaled = struct {
    whole: []const u8,
    fraction: []const u8,
    exponent: i32,
    exclusive: bool,

    fn of(decimal: Decimal) Scaled {
        if (decimal.whole.len > 0) return .{
            .whole = decimal.whole,
            .fraction = decimal.fraction,
            .exponent = @as(i32, @intCast(decimal.whole.len)) - 1,
            .exclusive = decimal.exclusive,
        };
        const significant = std.mem.trimStart(u8, decimal.fraction, "0");
        return .{
            .whole = "",
            .fraction = significant,
            .exponent = -@as(i32, @intCast(decimal.fraction.len - significant.len)) - 1,
            .exclusive = decimal.exclusive,
        };
    }

    /// Zero beyond its last digit.
    fn digit(self: *const Scaled, index: usize) u8 {
        if (index < self.whole.len) return self.whole[index] - '0';
        const at = index - self.whole.len;
        return if (at < self.fraction.len) self.fraction[at] - '0' else 0;
    }

    /// The comparison once the mantissa has ended after so many digits.
    fn finish(self: *const Scaled, compared: Compared, length: usize) Compared {
        if (compared != .equal) return compared;
        var index = length;
        while (index < self.whole.len + self.fraction.len) : (index += 1) if (self.digit(index) != 0) return .less;
        return .equal;
    }
};
