//! Text in which none of some strings is completed, and which begins with none of some others: the complement of an Aho–Corasick automaton,
//! with failure links, so that it takes memory in proportion to the strings. Barred beginnings are a trie of their own, before the
//! root; it is left by failure links too, to where the text read so far leads from the root.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");

pub const Terminators = struct {
    states: []const State,
    /// Where the automaton of the terminators begins; `start`, unless beginnings are barred.
    root: u32,
    /// Some terminator has bytes beyond ASCII, so that a character begun may have to avoid one.
    beyond_ascii: bool,

    pub const start: u32 = 0;
    const none: u32 = 0xffffffff;
    const State = struct {
        byte: u8,
        /// The longest proper end of what was read that begins a terminator; in a beginning, the longest end.
        fallback: u32,
        child: u32 = none,
        sibling: u32 = none,
        /// A terminator is complete.
        complete: bool = false,
    };

    /// Empty strings are left out.
    pub fn create(arena: Allocator, strings: []const ir.Marker, barred: []const []const u8, budget: *ir.Budget) ir.Error!Terminators {
        var states: std.ArrayList(State) = .empty;
        const root: u32 = if (barred.len == 0) start else start + 1;
        try states.append(arena, .{ .byte = 0, .fallback = root });
        if (root != start) try states.append(arena, .{ .byte = 0, .fallback = root });
        for (strings) |string| try insert(arena, &states, root, root, string.bytes, budget);
        const automaton = states.items.len;
        for (barred) |bytes| try insert(arena, &states, start, root, bytes, budget);

        var self: Terminators = .{ .states = states.items, .root = root, .beyond_ascii = false };
        for (states.items) |state| self.beyond_ascii = self.beyond_ascii or state.byte >= 0x80;
        const queue = try arena.alloc(u32, states.items.len);
        self.link(states.items, queue[0..automaton], root);
        if (root != start) self.link(states.items, queue[0 .. states.items.len - automaton + 1], start);
        return self;
    }

    /// Adds a string to the trie at `from`.
    fn insert(arena: Allocator, states: *std.ArrayList(State), from: u32, root: u32, bytes: []const u8, budget: *ir.Budget) ir.Error!void {
        if (bytes.len == 0) return;
        try budget.spend(bytes.len);
        var at = from;
        for (bytes) |byte| {
            const known = childOf(states.items, at, byte);
            if (known != none) {
                at = known;
                continue;
            }
            const made: u32 = @intCast(states.items.len);
            try states.append(arena, .{ .byte = byte, .fallback = root, .sibling = states.items[at].child });
            states.items[at].child = made;
            at = made;
        }
        states.items[at].complete = true;
    }

    /// Sets the failure links of the trie at `from`, breadth first, so that those of shorter texts are known.
    fn link(self: *const Terminators, states: []State, queue: []u32, from: u32) void {
        var head: usize = 0;
        var tail: usize = 1;
        queue[0] = from;
        while (head < tail) : (head += 1) {
            const parent = queue[head];
            var child = states[parent].child;
            while (child != none) : (child = states[child].sibling) {
                queue[tail] = child;
                tail += 1;
                if (parent != self.root) states[child].fallback = self.follow(states[parent].fallback, states[child].byte);
                if (states[states[child].fallback].complete) states[child].complete = true;
            }
        }
    }

    /// Null where a terminator or a barred beginning would be complete.
    pub fn step(self: *const Terminators, state: u32, byte: u8) ?u32 {
        const next = self.follow(state, byte);
        return if (self.states[next].complete) null else next;
    }

    fn follow(self: *const Terminators, state: u32, byte: u8) u32 {
        var at = state;
        while (true) {
            const child = childOf(self.states, at, byte);
            if (child != none) return child;
            if (at == self.root) return at;
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
        var beginnings: [2][4]u8 = undefined;
        var barred: [2][]const u8 = undefined;
        for (&barred, &beginnings) |*bytes, *buffer| {
            for (buffer) |*byte| byte.* = "ab<"[random.uintLessThan(usize, 3)];
            bytes.* = buffer[0..random.intRangeAtMost(usize, 1, 4)];
        }
        const until = markers[0..random.uintAtMost(usize, markers.len)];
        const bars = barred[0..random.uintAtMost(usize, barred.len)];
        var refusal: ir.Refusal = .{};
        var budget: ir.Budget = .{ .refusal = &refusal };
        const terminators = try Terminators.create(arena.allocator(), until, bars, &budget);
        var text: [12]u8 = undefined;
        for (&text) |*byte| byte.* = "ab<"[random.uintLessThan(usize, 3)];
        var state: ?u32 = Terminators.start;
        for (text, 1..) |byte, length| {
            if (state) |known| state = terminators.step(known, byte);
            var complete = false;
            for (until) |marker| if (std.mem.find(u8, text[0..length], marker.bytes) != null) {
                complete = true;
            };
            for (bars) |bytes| if (std.mem.startsWith(u8, text[0..length], bytes)) {
                complete = true;
            };
            try std.testing.expectEqual(!complete, state != null);
        }
    }
}
