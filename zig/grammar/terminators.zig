//! Text in which none of some strings is completed: the complement of their Aho–Corasick automaton, with failure links, so that it takes
//! memory in proportion to the strings.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");

pub const Terminators = struct {
    states: []const State,
    /// Some terminator has bytes beyond ASCII, so that a character begun may have to avoid one.
    beyond_ascii: bool,

    pub const start: u32 = 0;
    const none: u32 = 0xffffffff;
    const State = struct {
        byte: u8,
        /// The longest proper end of what was read that begins a terminator.
        fallback: u32 = start,
        child: u32 = none,
        sibling: u32 = none,
        /// A terminator is complete.
        complete: bool = false,
    };

    /// Empty strings are left out.
    pub fn create(arena: Allocator, strings: []const ir.Marker, budget: *ir.Budget) ir.Error!Terminators {
        var states: std.ArrayList(State) = .empty;
        try states.append(arena, .{ .byte = 0 });
        var beyond_ascii = false;
        for (strings) |string| {
            if (string.bytes.len == 0) continue;
            try budget.spend(string.bytes.len);
            var at = start;
            for (string.bytes) |byte| {
                if (byte >= 0x80) beyond_ascii = true;
                const known = childOf(states.items, at, byte);
                if (known != none) {
                    at = known;
                    continue;
                }
                const made: u32 = @intCast(states.items.len);
                try states.append(arena, .{ .byte = byte, .sibling = states.items[at].child });
                states.items[at].child = made;
                at = made;
            }
            states.items[at].complete = true;
        }
        var self: Terminators = .{ .states = states.items, .beyond_ascii = beyond_ascii };
        // Breadth first, so that fallbacks, which are shorter, are known.
        const queue = try arena.alloc(u32, states.items.len);
        var head: usize = 0;
        var tail: usize = 1;
        queue[0] = start;
        while (head < tail) : (head += 1) {
            var child = states.items[queue[head]].child;
            while (child != none) : (child = states.items[child].sibling) {
                queue[tail] = child;
                tail += 1;
                if (queue[head] != start) states.items[child].fallback = self.follow(states.items[queue[head]].fallback, states.items[child].byte);
                if (states.items[states.items[child].fallback].complete) states.items[child].complete = true;
            }
        }
        return self;
    }

    /// Null where a terminator would be complete.
    pub fn step(self: *const Terminators, state: u32, byte: u8) ?u32 {
        const next = self.follow(state, byte);
        return if (self.states[next].complete) null else next;
    }

    fn follow(self: *const Terminators, state: u32, byte: u8) u32 {
        var at = state;
        while (true) {
            const child = childOf(self.states, at, byte);
            if (child != none) return child;
            if (at == start) return start;
            at = self.states[at].fallback;
        }
    }

    fn childOf(states: []const State, state: u32, byte: u8) u32 {
        var child = states[state].child;
        while (child != none) : (child = states[child].sibling) if (states[child].byte == byte) return child;
        return none;
    }
};

test "text avoids every terminator, against plain search" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var prng: std.Random.DefaultPrng = .init(std.testing.random_seed);
    const random = prng.random();
    errdefer std.debug.print("seed {d}\n", .{std.testing.random_seed});
    for (0..500) |_| {
        var buffers: [4][4]u8 = undefined;
        var markers: [4]ir.Marker = undefined;
        for (&markers, &buffers) |*marker, *buffer| {
            for (buffer) |*byte| byte.* = "ab<"[random.uintLessThan(usize, 3)];
            marker.* = .{ .token = ir.none, .bytes = buffer[0..random.intRangeAtMost(usize, 1, 4)] };
        }
        var refusal: ir.Refusal = .{};
        var budget: ir.Budget = .{ .refusal = &refusal };
        const terminators = try Terminators.create(arena.allocator(), &markers, &budget);
        var text: [12]u8 = undefined;
        for (&text) |*byte| byte.* = "ab<"[random.uintLessThan(usize, 3)];
        var state: ?u32 = Terminators.start;
        for (text, 1..) |byte, length| {
            if (state) |known| state = terminators.step(known, byte);
            var complete = false;
            for (markers) |marker| if (std.mem.find(u8, text[0..length], marker.bytes) != null) {
                complete = true;
            };
            try std.testing.expectEqual(!complete, state != null);
        }
    }
}
