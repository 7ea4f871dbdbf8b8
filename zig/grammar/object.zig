//! Objects: the keys that may come, and what of them has to come together.
const ir = @import("ir.zig");
const Option = @import("array.zig").Option;
const Counts = @import("counts.zig").Counts;
const spelling = @import("spelling.zig");
const Texts = @import("texts.zig").Texts;

const none = ir.none;

pub const Object = struct {
    keys: Texts,
    /// By sorted key.
    properties: []const Property,
    /// Sorted key of each declared property in source order.
    source: []const u32,
    /// Of keys that are not declared.
    classes: []const KeyClass,
    ordered: bool,
    /// Words of a bit set over the keys.
    words: u32,
    /// A required property that a shortest object begins with, or `none`.
    first_required: u32,
    counts: Counts,
    members_min: u32,
    /// `none`: unbounded.
    members_max: u32,

    /// Whether members are counted: then it matters more than which required keys are still to come.
    pub fn isCounted(self: *const Object) bool {
        return self.counts.digits.len > 0 or self.members_min > 0 or self.members_max != none;
    }

    /// Of the keys that need not match anything, if there are any.
    pub fn anyKey(self: *const Object) ?*const KeyClass {
        return if (self.classes.len > 0 and self.classes[0].keys == none) &self.classes[0] else null;
    }

    /// Whether the keys of a class may all have been there, so that no other one can follow.
    pub fn runsOut(self: *const Object) bool {
        return for (self.classes) |class| {
            if (class.loop.size != none) break true;
        } else false;
    }

    /// So many members, as far as they are told apart.
    pub fn saturate(self: *const Object, members: u32) u32 {
        return if (self.members_max == none) @min(members, self.members_min) else members;
    }
};

pub const Property = struct {
    options: []const Option,
    required: bool,
    /// Whether it is ever offered.
    offered: bool,
    /// Position in source order.
    source: u32,
    /// Tokens of the key from its opening quote to its colon; of the same after a comma; and the least of those of a value.
    start_cost: u32,
    comma_cost: u32,
    value_cost: u32,
};

pub const KeyClass = struct {
    /// A pattern, or `none`: any key. Only the first class may have none.
    keys: u32,
    options: []const Option,
    value_cost: u32,
    /// How its keys are told apart.
    loop: Loop,
};

/// A part of a class's keys that may be repeated: with n repetitions the keys are all different, or by `width` different characters.
/// Without such a part, `step` is 0 and any key costs as much as the dearest.
pub const Loop = struct {
    /// Tokens of a key without the repeated part, without quotes; and of one repetition.
    base: u32,
    step: u32,
    width: u32,
    /// Different keys, at least; `none`: more than any object has.
    size: u32 = none,

    /// Of a key unlike `known` others, at most. There have to be so many.
    pub fn newKey(self: Loop, known: u32) u32 {
        return spelling.add(self.base, spelling.times(1 + known / @max(self.width, 1), self.step));
    }
};
