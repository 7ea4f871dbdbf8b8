//! Finished masks, kept per state. Whitespace that a JSON text has spent is no part of a state, so tokens that would spend some are kept
//! apart, with how much, and cut off when the mask is read.
const std = @import("std");
const Allocator = std.mem.Allocator;
const Group = @import("mask.zig").Group;
const limits = @import("../limits.zig").grammar;

/// An entry (a token, or what follows a closing quote) that spends whitespace of the text it begins in.
pub const Late = struct { spent: u32, entry: u32 };

pub const Memo = struct {
    /// Bit set of the entries that are allowed whatever was spent before.
    bits: []u32,
    /// By rising `spent`.
    late: []Late = &.{},
    /// Whitespace that the text may spend in all.
    whitespace_max: u32 = 0,
    /// Entries that have to be tried one by one, because they depend on the text of a key.
    verify: []u32 = &.{},
    /// The highest cost after any of them.
    cost_max: u32 = 0,
    /// What was spent matters in more ways than one: there is no mask apart from it.
    tangled: bool = false,

    fn bytes(self: *const Memo) usize {
        return self.bits.len * 4 + self.late.len * @sizeOf(Late) + self.verify.len * 4 + @sizeOf(Memo);
    }
};

/// What a memo is of.
pub const Key = packed struct(u64) { state: u32, of: enum(u32) { tokens, suffixes } };

pub const Memos = struct {
    map: std.AutoHashMapUnmanaged(u64, Memo) = .empty,
    bytes: usize = 0,
    // Scratch of walks, by depth.
    states: std.ArrayList(u32) = .empty,
    spent: std.ArrayList(u32) = .empty,
    owed: std.ArrayList(u32) = .empty,
    absolute: std.ArrayList(bool) = .empty,
    late: std.ArrayList(Late) = .empty,
    verify: std.ArrayList(u32) = .empty,
    // Scratch of masks.
    free: std.ArrayList(Group) = .empty,
    ids: std.ArrayList(u32) = .empty,

    pub fn deinit(self: *Memos, gpa: Allocator) void {
        self.clear(gpa);
        self.map.deinit(gpa);
        self.states.deinit(gpa);
        self.spent.deinit(gpa);
        self.owed.deinit(gpa);
        self.absolute.deinit(gpa);
        self.late.deinit(gpa);
        self.verify.deinit(gpa);
        self.free.deinit(gpa);
        self.ids.deinit(gpa);
    }

    pub fn clear(self: *Memos, gpa: Allocator) void {
        var values = self.map.valueIterator();
        while (values.next()) |memo| {
            gpa.free(memo.bits);
            gpa.free(memo.late);
            gpa.free(memo.verify);
        }
        self.map.clearRetainingCapacity();
        self.bytes = 0;
    }

    pub fn get(self: *const Memos, key: Key) ?*const Memo {
        return self.map.getPtr(@bitCast(key));
    }

    /// Takes the memo's memory over. When there is no more room, everything is forgotten.
    pub fn put(self: *Memos, gpa: Allocator, key: Key, memo: Memo) error{OutOfMemory}!*const Memo {
        errdefer {
            gpa.free(memo.bits);
            gpa.free(memo.late);
            gpa.free(memo.verify);
        }
        if (self.bytes + memo.bytes() > limits.memo_bytes) self.clear(gpa);
        const slot = try self.map.getOrPut(gpa, @bitCast(key));
        std.debug.assert(!slot.found_existing);
        slot.value_ptr.* = memo;
        self.bytes += memo.bytes();
        return slot.value_ptr;
    }
};
