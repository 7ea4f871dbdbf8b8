//! Where a state's transitions are kept: which bytes may be read at all, which of these have been asked for, and what they led to.
const Transition = @import("graph.zig").Transition;
const ByteSet = @import("first.zig").ByteSet;

pub const Row = struct {
    /// Never too few, sometimes too many.
    live: [4]u64,
    known: [4]u64,
    /// Of known bytes only.
    next: [256]u32,

    const dead: u32 = @bitCast(Transition.dead);

    /// Nothing but the bytes that may be read is known.
    pub fn begin(self: *Row, bytes: ByteSet) void {
        self.live = bytes.masks;
        self.known = @splat(0);
    }

    pub inline fn isLive(self: *const Row, byte: u8) bool {
        return self.live[byte >> 6] >> @intCast(byte & 63) & 1 != 0;
    }

    /// A transition, or `Transition.unknown`.
    pub inline fn get(self: *const Row, byte: u8) u32 {
        if (!self.isLive(byte)) return dead;
        return if (self.known[byte >> 6] >> @intCast(byte & 63) & 1 != 0) self.next[byte] else Transition.unknown;
    }

    pub fn put(self: *Row, byte: u8, transition: Transition) void {
        const bit = @as(u64, 1) << @intCast(byte & 63);
        if (transition == Transition.dead) {
            self.live[byte >> 6] &= ~bit;
            return;
        }
        self.known[byte >> 6] |= bit;
        self.next[byte] = @bitCast(transition);
    }
};
