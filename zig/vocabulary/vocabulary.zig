const std = @import("std");
const Allocator = std.mem.Allocator;

/// The same numbers as `tokenKinds` in src/tokenizer/tokenizer.ts.
pub const Kind = enum(u8) {
    /// Text like its bytes.
    normal = 0,
    /// Reachable by id only.
    control = 1,
    /// Never produced.
    unused = 2,
};

/// Immutable once created; shared between threads.
pub const Vocabulary = struct {
    count: u32,
    bytes: []const u8,
    /// (count + 1)
    offsets: []const u32,
    /// (count)
    kinds: []const Kind,

    /// Copies what it is given. `offsets` has one entry more than there are tokens; `Invalid` when lengths, offsets or kinds do not fit together.
    pub fn create(gpa: Allocator, bytes: []const u8, offsets: []const u32, kinds: []const u8) error{ OutOfMemory, Invalid }!*Vocabulary {
        if (offsets.len == 0 or offsets.len != kinds.len + 1 or offsets[0] != 0 or offsets[offsets.len - 1] != bytes.len) return error.Invalid;
        for (offsets[0..kinds.len], offsets[1..]) |start, end| if (start > end) return error.Invalid;
        for (kinds) |kind| if (kind > @backingInt(Kind.unused)) return error.Invalid;

        const self = try gpa.create(Vocabulary);
        errdefer gpa.destroy(self);
        const own_bytes = try gpa.dupe(u8, bytes);
        errdefer gpa.free(own_bytes);
        const own_offsets = try gpa.dupe(u32, offsets);
        errdefer gpa.free(own_offsets);
        const own_kinds = try gpa.alloc(Kind, kinds.len);
        errdefer gpa.free(own_kinds);
        for (own_kinds, kinds) |*own, kind| own.* = @fromBackingInt(kind);
        self.* = .{ .count = @intCast(kinds.len), .bytes = own_bytes, .offsets = own_offsets, .kinds = own_kinds };
        return self;
    }

    pub fn destroy(self: *Vocabulary, gpa: Allocator) void {
        gpa.free(self.bytes);
        gpa.free(self.offsets);
        gpa.free(self.kinds);
        gpa.destroy(self);
    }

    pub fn text(self: *const Vocabulary, token: u32) []const u8 {
        return self.bytes[self.offsets[token]..self.offsets[token + 1]];
    }

    /// u32 words of one mask.
    pub fn words(self: *const Vocabulary) u32 {
        return (self.count + 31) / 32;
    }
};
