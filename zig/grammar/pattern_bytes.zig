//! Patterns read byte by byte, for what reads many tokens: a place is a state and what is read of the next character, and has
//! a row of the places after each byte, filled in as they are asked for.
const std = @import("std");
const builtin = @import("builtin");
const json_string = @import("../vocabulary.zig").json_string;
const Patterns = @import("patterns.zig").Patterns;
const unreachable_cost = @import("spelling.zig").unreachable_cost;

const Error = error{OutOfMemory};

pub const Place = u16;

/// After a byte that is not read.
pub const dead: Place = 0;
/// After the closing quote, whether or not the text may end there.
pub const closed: Place = 1;
const unknown: Place = 2;
/// Those above, which have no rows.
const reserved = 3;

/// Places are forgotten where there are more: two mebibytes of rows.
const places_max = if (builtin.is_test) 16 else 1 << 12;

/// Of so many the memory is kept for another pattern.
const places_spare = 512;

const Known = struct {
    state: u32,
    at: json_string.State,
    /// Bytes that are not known to lead nowhere.
    live: [4]u64,
    end: ?End,
};

/// What it is for a token to end at a place.
pub const End = struct {
    /// Tokens that finish the text, or `unreachable_cost`: a token may pass and not end.
    cost: u32,
    /// Characters that have to follow, the one being read included.
    shortest: u32,
    /// The text may end there.
    accepts: bool = false,
};

pub const Places = struct {
    known: std.ArrayList(Known) = .empty,
    rows: std.ArrayList([256]Place) = .empty,
    map: std.AutoHashMapUnmanaged(u64, Place) = .empty,
    /// How often all places were forgotten.
    round: u32 = 0,

    pub fn deinit(self: *Places, gpa: std.mem.Allocator) void {
        self.known.deinit(gpa);
        self.rows.deinit(gpa);
        self.map.deinit(gpa);
    }

    /// Forgets all places, and gives their memory back where it is much.
    pub fn clear(self: *Places, gpa: std.mem.Allocator) void {
        if (self.rows.capacity > places_spare) {
            self.deinit(gpa);
            self.* = .{};
        } else self.forget();
    }

    fn forget(self: *Places) void {
        self.known.clearRetainingCapacity();
        self.rows.clearRetainingCapacity();
        self.map.clearRetainingCapacity();
        self.round += 1;
    }

    pub fn bytes(self: *const Places) usize {
        return self.known.capacity * @sizeOf(Known) + self.rows.capacity * @sizeOf([256]Place);
    }

    pub fn of(self: *Places, gpa: std.mem.Allocator, state: u32, at: json_string.State) Error!Place {
        const key = @as(u64, state) << 32 | @as(u32, @bitCast(at));
        if (self.map.get(key)) |place| return place;
        if (self.known.items.len == places_max) self.forget();
        const place: Place = @intCast(self.known.items.len + reserved);
        try self.map.ensureUnusedCapacity(gpa, 1);
        try self.known.append(gpa, .{ .state = state, .at = at, .live = @splat(~@as(u64, 0)), .end = null });
        errdefer _ = self.known.pop();
        try self.rows.append(gpa, @splat(unknown));
        self.map.putAssumeCapacity(key, place);
        return place;
    }

    pub fn get(self: *const Places, place: Place) *const Known {
        return &self.known.items[place - reserved];
    }
};

/// The place after a byte. What is read alike is filled in with it. If `round` is another one afterwards, all other places have gone.
pub inline fn step(patterns: *Patterns, place: Place, byte: u8) Error!Place {
    const next = patterns.scratch.places.rows.items[place - reserved][byte];
    return if (next != unknown) next else find(patterns, place, byte);
}

fn find(patterns: *Patterns, place: Place, byte: u8) Error!Place {
    const places = &patterns.scratch.places;
    const from = places.get(place).*;
    const round = places.round;
    const next: Place = switch (try patterns.read(from.state, from.at, byte)) {
        .dead => dead,
        .close => closed,
        .inside => |inside| try places.of(patterns.gpa, inside.state, inside.at),
    };
    if (places.round != round) return next;
    const row = &places.rows.items[place - reserved];
    const alphabet = patterns.of(from.state).alphabet;
    row[byte] = next;
    switch (from.at.phase) {
        .text => if (byte >= 0x80) {
            for (row[0x80..], alphabet.leads) |*other, lead| if (lead == alphabet.leads[byte - 0x80]) {
                other.* = next;
            };
        } else if (json_string.isPlain(byte)) {
            for (row[0..0x80], alphabet.ascii, 0..) |*other, class, char| {
                if (class == alphabet.ascii[byte] and json_string.isPlain(@intCast(char))) other.* = next;
            }
        },
        .more1, .more2, .more2_e0, .more2_ed, .more3, .more3_f0, .more3_f4 => if (byte & 0xc0 == 0x80) {
            const half = &alphabet.halves[from.at.value].next;
            for (row[0x80..0xc0], half) |*other, after| if (after == half[byte & 0x3f]) {
                other.* = next;
            };
        },
        else => {},
    }
    if (next == dead) {
        const live = &places.known.items[place - reserved].live;
        for (row, 0..) |after, index| if (after == dead) {
            live[index >> 6] &= ~(@as(u64, 1) << @intCast(index & 63));
        };
    }
    return next;
}

/// What it is for a token to end at a place.
pub fn endOf(patterns: *Patterns, place: Place) Error!End {
    const known = &patterns.scratch.places.known.items[place - reserved];
    if (known.end) |end| return end;
    known.end = try endAt(patterns, known.state, known.at);
    return known.end.?;
}

/// The same without places.
pub fn endAt(patterns: *Patterns, state: u32, at: json_string.State) Error!End {
    const cost = try patterns.costInside(state, at);
    return .{ .cost = cost, .shortest = if (cost == unreachable_cost) 0 else try patterns.shortest(state, at), .accepts = at == json_string.State.start and patterns.accepts(state) };
}
