//! What a pattern that stays alive on most texts can die of: sets of classes of characters, of one of which a text has to have every class,
//! in whatever order. Of texts without a word, those are the letters of the word.
const std = @import("std");
const Patterns = @import("patterns.zig").Patterns;

const none: u32 = 0xffffffff;
const Error = error{OutOfMemory};

/// Classes of an alphabet, in bits.
pub const Set = u64;
pub const classes_max = 64;

/// Sets that do not contain each other.
pub const Sets = struct {
    items: [max]Set = undefined,
    len: usize = 0,

    pub const max = 24;

    pub fn slice(self: *const Sets) []const Set {
        return self.items[0..self.len];
    }

    /// Null if there is no room; otherwise whether it is one more.
    fn add(self: *Sets, set: Set) ?bool {
        for (self.slice()) |known| if (known & ~set == 0) return false;
        var kept: usize = 0;
        for (self.slice()) |known| {
            if (set & ~known == 0) continue;
            self.items[kept] = known;
            kept += 1;
        }
        self.len = kept;
        if (kept == max) return null;
        self.items[kept] = set;
        self.len += 1;
        return true;
    }
};

/// (classes) how many characters of each class are looked at, in whatever unit.
pub const Sizes = [classes_max]u32;

pub const Scratch = struct {
    /// Found from the first one on, by what leads to them.
    states: std.ArrayList(u32) = .empty,
    /// (states × class_count) what each leads to, as an index; `none` where that is nothing.
    targets: std.ArrayList(u32) = .empty,
    /// (states)
    sets: std.ArrayList(Sets) = .empty,
    /// (states)
    turns: std.ArrayList(Turns) = .empty,
    indices: std.AutoHashMapUnmanaged(u32, u32) = .empty,

    /// When a state's sets came to be more, and when those of the states that it leads to were last looked at.
    const Turns = struct { changed: u32 = 0, looked: u32 = 0 };

    pub fn deinit(self: *Scratch, gpa: std.mem.Allocator) void {
        self.states.deinit(gpa);
        self.targets.deinit(gpa);
        self.sets.deinit(gpa);
        self.turns.deinit(gpa);
        self.indices.deinit(gpa);
    }
};

/// Where there are more states, or so many sets were looked at, nothing is found.
const states_max = 256;
const steps_max = 100_000;

/// Of texts of the classes that have a size, from a state on; null where there are too many. States that live on few of them count as
/// death. Leaves all others that such texts lead to in the scratch.
pub fn of(patterns: *Patterns, start: u32, sizes: *const Sizes) Error!?*const Sets {
    const scratch = &patterns.scratch.fatal;
    if (!try explore(patterns, start, sizes)) return null;
    const classes = setOf(sizes);
    const class_count = patterns.of(start).alphabet.class_count;
    scratch.sets.clearRetainingCapacity();
    try scratch.sets.appendNTimes(patterns.gpa, .{}, scratch.states.items.len);
    const sets = scratch.sets.items;
    try scratch.turns.resize(patterns.gpa, sets.len);
    const turns = scratch.turns.items;
    @memset(turns, .{});
    var steps: usize = 0;
    var turn: u32 = 0;
    var changed = true;
    while (changed) {
        changed = false;
        var at = sets.len;
        while (at > 0) {
            at -= 1;
            if (steps > steps_max) return null;
            turn += 1;
            var more = false;
            var left = classes;
            while (left != 0) : (left &= left - 1) {
                const class = @ctz(left);
                const own = @as(Set, 1) << @intCast(class);
                const target = scratch.targets.items[at * class_count + class];
                steps += 1;
                if (target == none) {
                    if (turns[at].looked == 0) more = (sets[at].add(own) orelse return null) or more;
                } else if (target != at and turns[target].changed > turns[at].looked) {
                    steps += sets[target].len;
                    for (sets[target].slice()) |set| more = (sets[at].add(set | own) orelse return null) or more;
                }
            }
            turns[at].looked = turn;
            if (more) turns[at].changed = turn;
            changed = changed or more;
        }
    }
    return &sets[0];
}

fn setOf(sizes: *const Sizes) Set {
    var set: Set = 0;
    for (sizes, 0..) |size, class| set |= @as(Set, @intFromBool(size > 0)) << @intCast(class);
    return set;
}

/// Finds all states that texts of these classes lead to; false if there are too many.
fn explore(patterns: *Patterns, start: u32, sizes: *const Sizes) Error!bool {
    const scratch = &patterns.scratch.fatal;
    const class_count = patterns.of(start).alphabet.class_count;
    scratch.states.clearRetainingCapacity();
    scratch.targets.clearRetainingCapacity();
    scratch.indices.clearRetainingCapacity();
    try scratch.states.append(patterns.gpa, start);
    try scratch.indices.put(patterns.gpa, start, 0);
    var at: usize = 0;
    while (at < scratch.states.items.len) : (at += 1) {
        for (sizes[0..class_count], 0..) |size, class| {
            const next = if (size > 0) try patterns.after(scratch.states.items[at], @intCast(class)) else Patterns.dead;
            try scratch.targets.append(patterns.gpa, try indexOf(patterns, next, sizes));
        }
        if (scratch.states.items.len > states_max) return false;
    }
    return true;
}

/// `none` for a state that counts as death; of one not met before, the one that it gets.
fn indexOf(patterns: *Patterns, state: u32, sizes: *const Sizes) Error!u32 {
    const scratch = &patterns.scratch.fatal;
    if (state == Patterns.dead) return none;
    const slot = try scratch.indices.getOrPut(patterns.gpa, state);
    if (!slot.found_existing) {
        slot.value_ptr.* = none;
        if (try livesOnMost(patterns, state, sizes)) {
            slot.value_ptr.* = @intCast(scratch.states.items.len);
            try scratch.states.append(patterns.gpa, state);
        }
    }
    return slot.value_ptr.*;
}

fn livesOnMost(patterns: *Patterns, state: u32, sizes: *const Sizes) Error!bool {
    var total: u32 = 0;
    var lost: u32 = 0;
    for (sizes[0..patterns.of(state).alphabet.class_count], 0..) |size, class| {
        if (size == 0) continue;
        total += size;
        if (try patterns.after(state, @intCast(class)) == Patterns.dead) lost += size;
    }
    return 4 * lost <= total;
}

test "sets do not contain each other" {
    var sets: Sets = .{};
    try std.testing.expectEqual(true, sets.add(0b110));
    try std.testing.expectEqual(false, sets.add(0b111));
    try std.testing.expectEqual(true, sets.add(0b011));
    try std.testing.expectEqual(true, sets.add(0b010));
    try std.testing.expectEqualSlices(Set, &.{0b010}, sets.slice());
}
