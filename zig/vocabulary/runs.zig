//! Which tokens consist of characters of one kind, and where the others leave it: what an automaton that stays where it is on such
//! characters does with the whole vocabulary, without walking over it. Made once for each kind, by whichever thread asks first.
const std = @import("std");
const Allocator = std.mem.Allocator;
const json_string = @import("json_string.zig");
const Trie = @import("trie.zig").Trie;
const limits = @import("../limits.zig").vocabulary;

const none: u32 = 0xffffffff;

/// A set of characters: of ASCII one by one, of all others together.
pub const Kind = struct {
    ascii: std.bit_set.Static(128) = .empty,
    beyond: bool = false,
};

pub const Run = struct {
    kind: Kind,
    /// Tokens of such characters alone, in the order of the trie; the last may be unfinished, if tokens finish it.
    inside: []const u32,
    /// (257) where those that begin with each byte are in `inside`.
    inside_first: *const [257]u32,
    /// (words) the same as a bit set.
    bits: []const u32,
    /// Nodes of the trie, below its first level, whose byte begins the first other character.
    exits: []const Exit,
    exits_first: *const [257]u32,

    pub const Exit = struct { node: u32, byte: u8 };
};

pub const Runs = struct {
    lock: std.atomic.Mutex = .unlocked,
    arena: std.heap.ArenaAllocator,
    count: usize = 0,
    list: [limits.runs]Run = undefined,

    /// What a kind is made from; as in Vocabulary.
    pub const Source = struct {
        trie: *const Trie,
        twins: []const u32,
        words: u32,
        /// Of each token at most, in bytes.
        bytes_max: u32,
        finish_cost: *const [json_string.utf8_phases]u32,
    };

    pub fn create(gpa: Allocator) error{OutOfMemory}!*Runs {
        const self = try gpa.create(Runs);
        self.* = .{ .arena = .init(gpa) };
        return self;
    }

    pub fn destroy(self: *Runs, gpa: Allocator) void {
        self.arena.deinit();
        gpa.destroy(self);
    }

    /// Null when there are too many kinds already.
    pub fn of(self: *Runs, source: Source, kind: Kind) error{OutOfMemory}!?*const Run {
        while (!self.lock.tryLock()) std.atomic.spinLoopHint();
        defer self.lock.unlock();
        for (self.list[0..self.count]) |*run| {
            if (run.kind.beyond == kind.beyond and run.kind.ascii.eql(kind.ascii)) return run;
        }
        if (self.count == self.list.len) return null;
        self.list[self.count] = try make(self.arena.allocator(), self.arena.child_allocator, source, kind);
        self.count += 1;
        return &self.list[self.count - 1];
    }

    fn make(arena: Allocator, gpa: Allocator, source: Source, kind: Kind) error{OutOfMemory}!Run {
        var inside: std.ArrayList(u32) = .empty;
        defer inside.deinit(gpa);
        var exits: std.ArrayList(Run.Exit) = .empty;
        defer exits.deinit(gpa);
        const inside_first = try arena.create([257]u32);
        const exits_first = try arena.create([257]u32);
        const phases = try gpa.alloc(json_string.Phase, source.bytes_max + 1);
        defer gpa.free(phases);
        phases[0] = .text;
        const nodes = source.trie.nodes;
        var next_first: usize = 0;
        var at: u32 = 0;
        while (at < nodes.len) {
            const node = &nodes[at];
            if (node.depth == 1) while (next_first <= node.byte) : (next_first += 1) {
                inside_first[next_first] = @intCast(inside.items.len);
                exits_first[next_first] = @intCast(exits.items.len);
            };
            const phase: ?json_string.Phase = if (node.depth > source.bytes_max)
                null
            else if (phases[node.depth - 1] == .text and !takes(kind, node.byte)) exit: {
                if (node.depth > 1) try exits.append(gpa, .{ .node = at, .byte = node.byte });
                break :exit null;
            } else json_string.utf8Step(phases[node.depth - 1], node.byte);
            const known = phase orelse {
                at = node.next;
                continue;
            };
            phases[node.depth] = known;
            if (known == .text or source.finish_cost[@backingInt(known)] != none) {
                var token = node.entry;
                while (token != none) : (token = source.twins[token]) try inside.append(gpa, token);
            }
            at += 1;
        }
        for (inside_first[next_first..], exits_first[next_first..]) |*a, *b| {
            a.* = @intCast(inside.items.len);
            b.* = @intCast(exits.items.len);
        }
        const bits = try arena.alloc(u32, source.words);
        @memset(bits, 0);
        for (inside.items) |token| bits[token >> 5] |= @as(u32, 1) << @intCast(token & 31);
        return .{
            .kind = kind,
            .inside = try arena.dupe(u32, inside.items),
            .inside_first = inside_first,
            .bits = bits,
            .exits = try arena.dupe(Run.Exit, exits.items),
            .exits_first = exits_first,
        };
    }

    fn takes(kind: Kind, byte: u8) bool {
        return if (byte < 0x80) kind.ascii.isSet(byte) else kind.beyond;
    }
};
