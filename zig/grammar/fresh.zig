//! What it costs to finish a text so that it is none of those known: a key that is not declared and was not there, an item that no other
//! item is. Away from all known texts that is what the text costs by itself; beside them, the way to wherever it leaves them is sought.
const std = @import("std");
const Allocator = std.mem.Allocator;
const json_string = @import("../vocabulary.zig").json_string;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const spelling = @import("spelling.zig");
const alphabet_room = @import("alphabet.zig");
const Patterns = @import("patterns.zig").Patterns;
const Seen = @import("seen.zig").Seen;
const Texts = @import("texts.zig").Texts;
const unique_room = @import("unique.zig");

const none = graph_room.none;
const unreachable_cost = spelling.unreachable_cost;
const add = spelling.add;
const Error = error{OutOfMemory};

/// Where a text is among those known: a node of the declared ones, or `none`, and of those seen.
pub const Place = struct {
    declared: u32,
    seen: u32,

    pub const away: Place = .{ .declared = none, .seen = Seen.empty };

    pub fn isAway(self: Place) bool {
        return self.declared == none and self.seen == Seen.empty;
    }
};

/// All texts that are known.
pub const Known = struct {
    /// None are declared.
    texts: ?*const Texts,
    seen: *const Seen,
    /// The declared ones need not be different, as long as their class is allowed, and the others only if theirs is.
    classes: ?Classes = null,

    pub const Classes = struct { of_entry: []const u5, allowed: u32 };

    /// Whether a text may not end here.
    pub fn ends(self: Known, place: Place) bool {
        if (self.seen.ends(place.seen)) return true;
        if (self.classes) |classes| return classes.allowed >> self.classOf(place) & 1 == 0;
        return self.entryOf(place) != none;
    }

    /// The class of a text that ends here.
    pub fn classOf(self: Known, place: Place) u5 {
        const entry = self.entryOf(place);
        return if (entry == none) unique_room.uncounted else self.classes.?.of_entry[entry];
    }

    fn entryOf(self: Known, place: Place) u32 {
        const texts = self.texts orelse return none;
        return if (place.declared == none) none else texts.nodes[place.declared].entry;
    }

    fn isFree(self: Known) bool {
        const classes = self.classes orelse return true;
        return classes.allowed >> unique_room.uncounted & 1 != 0;
    }

    pub fn after(self: Known, place: Place, byte: u8) Place {
        return .{
            .declared = if (self.texts) |texts| texts.child(place.declared, byte) else none,
            .seen = self.seen.child(place.seen, byte),
        };
    }

    pub fn afterChar(self: Known, place: Place, char: u21) Place {
        var buffer: [4]u8 = undefined;
        var at = place;
        for (buffer[0..json_string.encodeUtf8(char, &buffer)]) |byte| at = self.after(at, byte);
        return at;
    }

    /// After a byte of a string that was read in `state`.
    pub fn afterByte(self: Known, place: Place, state: json_string.State, byte: u8) Place {
        if (place.isAway()) return place;
        if (@backingInt(state.phase) < json_string.utf8_phases) {
            return if (state.phase == .text and byte == '\\') place else self.after(place, byte);
        }
        return switch (json_string.step(state, byte, .spec)) {
            .char => |char| self.afterChar(place, char),
            else => place,
        };
    }

    /// Bytes of a string after which a text may still be near, or that close it; or more.
    pub fn bytesFrom(self: Known, place: Place, state: json_string.State) std.bit_set.Static(256) {
        if (state.phase != .text) return .full;
        var bytes: std.bit_set.Static(256) = .empty;
        self.seen.addBytes(place.seen, &bytes);
        if (self.texts) |texts| if (place.declared != none) texts.addBytes(place.declared, &bytes);
        bytes.set('\\');
        bytes.set('"');
        return bytes;
    }
};

/// A text that is free but for its length in characters, or one that matches.
pub const Machine = union(enum) {
    free: struct { needed: u32, allowed: u32 },
    /// A state of `Graph.patterns`.
    pattern: u32,
};

pub const Fresh = struct {
    frames: std.ArrayList(Frame) = .empty,
    chars: std.ArrayList(u21) = .empty,
    partial: std.ArrayList(Partial) = .empty,

    const Frame = struct { machine: Machine, at: json_string.State, place: Place, cost: u32 };
    const Partial = struct { bytes: [4]u8 = @splat(0), length: u8 = 0, place: Place };

    pub fn deinit(self: *Fresh, gpa: Allocator) void {
        self.frames.deinit(gpa);
        self.chars.deinit(gpa);
        self.partial.deinit(gpa);
    }

    /// Tokens that finish a text none of the known ones is, without its closing quote; `style` is how characters are written. Inside a
    /// character of several bytes it is unreachable if no single bytes finish it.
    pub fn cost(self: *Fresh, graph: *Graph, machine: Machine, at: json_string.State, known: Known, place: Place, style: json_string.Spelling) Error!u32 {
        var best = unreachable_cost;
        self.frames.clearRetainingCapacity();
        try self.frames.append(graph.gpa, .{ .machine = machine, .at = at, .place = place, .cost = 0 });
        while (self.frames.pop()) |frame| {
            if (frame.cost >= best) continue;
            if (frame.place.isAway()) {
                if (!known.isFree()) continue;
                best = @min(best, add(frame.cost, try costAt(graph, frame.machine, frame.at)));
                continue;
            }
            if (frame.at.phase == .text) {
                if (accepts(graph, frame.machine) and !known.ends(frame.place)) {
                    best = frame.cost;
                    continue;
                }
                try self.listChars(graph.gpa, known, frame.place);
                if (known.isFree()) best = @min(best, add(frame.cost, try costWithout(graph, frame.machine, self.chars.items)));
                for (self.chars.items) |char| {
                    const next = try afterChar(graph, frame.machine, char) orelse continue;
                    const written = add(frame.cost, writtenCost(graph, char, style));
                    try self.frames.append(graph.gpa, .{ .machine = next, .at = .start, .place = known.afterChar(frame.place, char), .cost = written });
                }
            } else if (@backingInt(frame.at.phase) < json_string.utf8_phases) {
                for (0x80..0xc0) |index| {
                    const byte: u8 = @intCast(index);
                    if (!graph.program.writable[byte]) continue;
                    const next, const next_at = try afterPart(graph, frame.machine, frame.at, byte) orelse continue;
                    try self.frames.append(graph.gpa, .{ .machine = next, .at = next_at, .place = known.after(frame.place, byte), .cost = add(frame.cost, 1) });
                }
            } else {
                try self.listChars(graph.gpa, known, frame.place);
                var ways: json_string.Completions = .of(frame.at, style);
                while (ways.next()) |way| try self.addWay(graph, frame, known, way);
            }
        }
        return best;
    }

    /// What an escape that was begun can become: characters away from all known texts, and each of the others.
    fn addWay(self: *Fresh, graph: *Graph, frame: Frame, known: Known, way: json_string.Completions.Way) Error!void {
        const written = add(frame.cost, way.bytes);
        switch (frame.machine) {
            .free => try self.addRange(graph, frame, known, way.first, way.last, written),
            .pattern => |state| {
                const segments = graph.patterns.of(state).alphabet.segments;
                const begin, const end = alphabet_room.segmentsIn(segments, way.first, way.last);
                for (begin..end) |index| {
                    if (segments[index].class == alphabet_room.no_class) continue;
                    const last: u21 = if (index + 1 < segments.len) @intCast(segments[index + 1].first - 1) else 0x10ffff;
                    try self.addRange(graph, frame, known, @max(way.first, segments[index].first), @min(way.last, last), written);
                }
            },
        }
    }

    /// Of characters that are alike for the machine.
    fn addRange(self: *Fresh, graph: *Graph, frame: Frame, known: Known, first: u21, last: u21, written: u32) Error!void {
        var beside: u32 = 0;
        for (self.chars.items) |char| if (char >= first and char <= last) {
            beside += 1;
            const next = try afterChar(graph, frame.machine, char) orelse continue;
            try self.frames.append(graph.gpa, .{ .machine = next, .at = .start, .place = known.afterChar(frame.place, char), .cost = written });
        };
        if (beside == @as(u32, last) - first + 1) return;
        const next = try afterChar(graph, frame.machine, first) orelse return;
        try self.frames.append(graph.gpa, .{ .machine = next, .at = .start, .place = .away, .cost = written });
    }

    /// The characters that lead from a place to known texts.
    fn listChars(self: *Fresh, gpa: Allocator, known: Known, place: Place) Error!void {
        self.chars.clearRetainingCapacity();
        self.partial.clearRetainingCapacity();
        try self.partial.append(gpa, .{ .place = place });
        while (self.partial.pop()) |part| {
            var next = part;
            next.length += 1;
            var bytes: std.bit_set.Static(256) = .empty;
            known.seen.addBytes(part.place.seen, &bytes);
            if (known.texts) |texts| if (part.place.declared != none) texts.addBytes(part.place.declared, &bytes);
            var all = bytes.iterator(.{});
            while (all.next()) |byte| {
                next.bytes[part.length] = @intCast(byte);
                next.place = known.after(part.place, @intCast(byte));
                const length = std.unicode.utf8ByteSequenceLength(next.bytes[0]) catch continue;
                if (next.length < length) {
                    try self.partial.append(gpa, next);
                } else try self.chars.append(gpa, std.unicode.utf8Decode(next.bytes[0..length]) catch continue);
            }
        }
    }
};

fn accepts(graph: *const Graph, machine: Machine) bool {
    return switch (machine) {
        .free => |free| free.needed == 0,
        .pattern => |state| graph.patterns.accepts(state),
    };
}

/// Away from all known texts.
fn costAt(graph: *Graph, machine: Machine, at: json_string.State) Error!u32 {
    return switch (machine) {
        .free => |free| graph.stringCost(free.needed, at),
        .pattern => |state| graph.patterns.costInside(state, at),
    };
}

fn costWithout(graph: *Graph, machine: Machine, excluded: []const u21) Error!u32 {
    switch (machine) {
        .free => |free| {
            if (free.allowed == 0) return unreachable_cost;
            return add(characterWithout(graph, excluded), graph.program.characterCost(free.needed -| 1));
        },
        .pattern => |state| return graph.patterns.costWithout(state, excluded),
    }
}

/// Tokens that write some character other than these.
fn characterWithout(graph: *const Graph, excluded: []const u21) u32 {
    // Among so many one is left, if any can be written.
    const last: u21 = @intCast(0x80 + 0x780 + excluded.len);
    var char: u21 = 0x20;
    while (char <= last) : (char += 1) {
        if (char == 0x7f or std.mem.findScalar(u21, excluded, char) != null) continue;
        const written = writtenCost(graph, char, .plain);
        if (written != unreachable_cost) return written;
    }
    return unreachable_cost;
}

fn afterChar(graph: *Graph, machine: Machine, char: u21) Error!?Machine {
    switch (machine) {
        .free => |free| {
            if (free.allowed == 0) return null;
            return .{ .free = .{ .needed = free.needed -| 1, .allowed = if (free.allowed == none) none else free.allowed - 1 } };
        },
        .pattern => |state| {
            const next = try graph.patterns.afterChar(state, char);
            return if (next == Patterns.dead) null else .{ .pattern = next };
        },
    }
}

/// A further byte of a character of several.
fn afterPart(graph: *Graph, machine: Machine, at: json_string.State, byte: u8) Error!?struct { Machine, json_string.State } {
    switch (machine) {
        .free => |free| {
            const phase = json_string.utf8Step(at.phase, byte) orelse return null;
            const done = phase == .text;
            return .{ .{ .free = .{
                .needed = if (done) free.needed -| 1 else free.needed,
                .allowed = if (done and free.allowed != none) free.allowed - 1 else free.allowed,
            } }, .{ .phase = phase } };
        },
        .pattern => |state| switch (try graph.patterns.read(state, at, byte)) {
            .inside => |next| return .{ .{ .pattern = next.state }, next.at },
            .dead, .close => return null,
        },
    }
}

/// Tokens that write a character, byte by byte.
fn writtenCost(graph: *const Graph, char: u21, style: json_string.Spelling) u32 {
    const program = graph.program;
    if (char < 0x20 or char == '"' or char == '\\') {
        if (!program.escapes) return unreachable_cost;
        return if (json_string.shortEscape(char) != null) 2 else 6;
    }
    var buffer: [4]u8 = undefined;
    const length = json_string.encodeUtf8(char, &buffer);
    for (buffer[0..length]) |byte| if (!program.writable[byte]) {
        if (style != .spec or !program.escapes) return unreachable_cost;
        return if (char > 0xffff) 12 else 6;
    };
    return length;
}
