//! Counters of an array or object as one number: mixed radix, a digit for each counter, which stops where more makes no difference.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");

const none = ir.none;

pub const Counts = struct {
    digits: []const Digit = &.{},
    /// Different vectors.
    size: u32 = 1,

    pub const Digit = struct {
        stride: u32,
        /// The highest count told apart.
        top: u32,
        /// More than `top` is too many; otherwise it is as much.
        capped: bool,
        min: u32,
    };

    /// Vectors of nothing counted yet.
    pub const zero: u32 = 0;

    /// Null if there are more than `size_max` vectors.
    pub fn create(arena: Allocator, counters: []const ir.Counter, size_max: u32) error{OutOfMemory}!?Counts {
        const digits = try arena.alloc(Digit, counters.len);
        var size: u64 = 1;
        for (digits, counters) |*digit, counter| {
            const capped = counter.max != none;
            digit.* = .{ .stride = @intCast(size), .top = if (capped) counter.max else counter.min, .capped = capped, .min = counter.min };
            size *= @as(u64, digit.top) + 1;
            if (size > size_max) return null;
        }
        return .{ .digits = digits, .size = @intCast(size) };
    }

    /// The vector with one more of each counter in `counts`; null if that is one too many.
    pub fn add(self: *const Counts, vector: u32, counts: u32) ?u32 {
        var result = vector;
        var left = counts;
        while (left != 0) : (left &= left - 1) {
            const at = @ctz(left);
            // A bit without a counter counts nothing.
            if (at >= self.digits.len) break;
            const digit = self.digits[at];
            if (vector / digit.stride % (digit.top + 1) < digit.top) result += digit.stride else if (digit.capped) return null;
        }
        return result;
    }

    /// Whether nothing is owed.
    pub fn isMet(self: *const Counts, vector: u32) bool {
        for (self.digits) |digit| if (vector / digit.stride % (digit.top + 1) < digit.min) return false;
        return true;
    }

    /// What is owed, all counters together.
    pub fn owed(self: *const Counts, vector: u32) u32 {
        var sum: u32 = 0;
        for (0..self.digits.len) |counter| sum +|= self.need(vector, @intCast(counter));
        return sum;
    }

    /// What is owed of one counter.
    pub fn need(self: *const Counts, vector: u32, counter: u5) u32 {
        const digit = self.digits[counter];
        return digit.min -| vector / digit.stride % (digit.top + 1);
    }

    /// The counters of which something is owed.
    pub fn owing(self: *const Counts, vector: u32) u32 {
        var counters: u32 = 0;
        for (0..self.digits.len) |counter| {
            if (self.need(vector, @intCast(counter)) > 0) counters |= @as(u32, 1) << @intCast(counter);
        }
        return counters;
    }
};
