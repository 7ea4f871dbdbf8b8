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

    pub const max = 12;

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

pub const Scratch = struct {
    /// Found from the first one on, by what leads to them.
    states: std.ArrayList(u32) = .empty,
    /// (states × class_count) what each leads to, as an index; `none` where that is nothing.
    targets: std.ArrayList(u32) = .empty,
    /// (states)
    sets: std.ArrayList(Sets) = .empty,
    indices: std.AutoHashMapUnmanaged(u32, u32) = .empty,

    pub fn deinit(self: *Scratch, gpa: std.mem.Allocator) void {
        self.states.deinit(gpa);
        self.targets.deinit(gpa);
        self.sets.deinit(gpa);
        self.indices.deinit(gpa);
    }
};

/// Where there are more states, or so many sets were looked at, nothing is found.
const states_max = 128;
const steps_max = 50_000;

/// Of texts of these classes, from a state on; null where there are too many. Leaves all states that they lead to in the scratch.
pub fn of(patterns: *Patterns, start: u32, classes: Set) Error!?*const Sets {
    const scratch = &patterns.scratch.fatal;
    if (!try explore(patterns, start, classes)) return null;
    const class_count = patterns.of(start).alphabet.class_count;
    scratch.sets.clearRetainingCapacity();
    try scratch.sets.appendNTimes(patterns.gpa, .{}, scratch.states.items.len);
    const sets = scratch.sets.items;
    var steps: usize = 0;
    var changed = true;
    while (changed) {
        changed = false;
        var at = sets.len;
        while (at > 0) {
            at -= 1;
            if (steps > steps_max) return null;
            var left = classes;
            while (left != 0) : (left &= left - 1) {
                const class = @ctz(left);
                const own = @as(Set, 1) << @intCast(class);
                const target = scratch.targets.items[at * class_count + class];
                steps += if (target == none) 1 else 1 + sets[target].len;
                if (target == none) {
                    changed = (sets[at].add(own) orelse return null) or changed;
                } else if (target != at) for (sets[target].slice()) |set| {
                    changed = (sets[at].add(set | own) orelse return null) or changed;
                };
            }
        }
    }
    return &sets[0];
}

/// Finds all states that texts of these classes lead to; false if there are too many.
fn explore(patterns: *Patterns, start: u32, classes: Set) Error!bool {
    const scratch = &patterns.scratch.fatal;
    const class_count = patterns.of(start).alphabet.class_count;
    scratch.states.clearRetainingCapacity();
    scratch.targets.clearRetainingCapacity();
    scratch.indices.clearRetainingCapacity();
    try scratch.states.append(patterns.gpa, start);
    try scratch.indices.put(patterns.gpa, start, 0);
    var at: usize = 0;
    while (at < scratch.states.items.len) : (at += 1) {
        for (0..class_count) |class| {
            const read = classes >> @intCast(class) & 1 != 0;
            const next = if (read) try patterns.after(scratch.states.items[at], @intCast(class)) else Patterns.dead;
            if (next == Patterns.dead) {
                try scratch.targets.append(patterns.gpa, none);
                continue;
            }
            const slot = try scratch.indices.getOrPutValue(patterns.gpa, next, @intCast(scratch.states.items.len));
            try scratch.targets.append(patterns.gpa, slot.value_ptr.*);
            if (slot.value_ptr.* < scratch.states.items.len) continue;
            if (scratch.states.items.len == states_max) return false;
            try scratch.states.append(patterns.gpa, next);
        }
    }
    return true;
}

test "sets do not contain each other" {
    var sets: Sets = .{};
    try std.testing.expectEqual(true, sets.add(0b110));
    try std.testing.expectEqual(false, sets.add(0b111));
    try std.testing.expectEqual(true, sets.add(0b011));
    try std.testing.expectEqual(true, sets.add(0b010));
    try std.testing.expectEqualSlices(Set, &.{0b010}, sets.slice());
}
