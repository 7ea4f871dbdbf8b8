//! What an object remembers while it is written: the declared keys that may still come, and the other keys that were there. Both are
//! hash-consed, the second as a persistent trie.
const std = @import("std");
const Allocator = std.mem.Allocator;
const stdx = @import("../stdx.zig");
const json_string = @import("../vocabulary.zig").json_string;
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const Node = graph_room.Node;
const program_room = @import("program.zig");
const Program = program_room.Program;
const spelling = @import("spelling.zig");
const Texts = @import("texts.zig").Texts;

const none = program_room.none;
const unreachable_cost = spelling.unreachable_cost;

pub const Register = struct {
    case: u32,
    /// Bit set of the sorted keys that may come next.
    available: u32,
    /// In source order, where the next key begins; only for ordered objects.
    position: u32,
    /// The other keys seen, as a node of the persistent trie.
    extras: u32,
    /// One more other key was there, whose text is not known: only inside a mask.
    unresolved: bool,

    // What follows from these.

    /// Required keys to come.
    missing: u32,
    /// Whether keys that are not declared may come next.
    extras_open: bool,
    /// Tokens that finish the object after a member, and after a comma.
    after_cost: u32,
    start_cost: u32,
};

const Extra = struct { start: u32, len: u32, ends: bool };
const Edge = struct { byte: u32, child: u32 };

pub const Registers = struct {
    all: std.ArrayList(Register) = .empty,
    words: std.ArrayList(u32) = .empty,
    table: stdx.IdTable = .{},
    extras: std.ArrayList(Extra) = .empty,
    edges: std.ArrayList(Edge) = .empty,
    extra_table: stdx.IdTable = .{},
    scratch_words: std.ArrayList(u32) = .empty,
    scratch_edges: std.ArrayList(Edge) = .empty,
    scratch_path: std.ArrayList(u32) = .empty,

    /// The trie without any key.
    pub const no_extras: u32 = 0;

    pub fn deinit(self: *Registers, gpa: Allocator) void {
        self.all.deinit(gpa);
        self.words.deinit(gpa);
        self.table.deinit(gpa);
        self.extras.deinit(gpa);
        self.edges.deinit(gpa);
        self.extra_table.deinit(gpa);
        self.scratch_words.deinit(gpa);
        self.scratch_edges.deinit(gpa);
        self.scratch_path.deinit(gpa);
    }

    pub fn begin(self: *Registers, gpa: Allocator) error{OutOfMemory}!void {
        // Register 0 is unused, so that `all` is never empty again.
        try self.all.append(gpa, std.mem.zeroes(Register));
        try self.extras.append(gpa, .{ .start = 0, .len = 0, .ends = false });
    }

    pub fn get(self: *const Registers, id: u32) *const Register {
        return &self.all.items[id];
    }

    pub fn isAvailable(self: *const Registers, id: u32, key: u32) bool {
        return self.words.items[self.all.items[id].available + key / 32] >> @intCast(key & 31) & 1 != 0;
    }

    /// The first available key at or after `from` and before `end`.
    pub fn nextAvailable(self: *const Registers, id: u32, from: u32, end: u32) ?u32 {
        const words = self.words.items[self.all.items[id].available..];
        var at = from;
        while (at < end) {
            const rest = words[at / 32] >> @intCast(at & 31);
            if (rest != 0) {
                const found = at + @ctz(rest);
                return if (found < end) found else null;
            }
            at = (at / 32 + 1) * 32;
        }
        return null;
    }

    /// Of an object that was just opened.
    pub fn open(self: *Registers, graph: *const Graph, case: u32) error{OutOfMemory}!u32 {
        const object = &graph.program.cases[case].object;
        if (object.ordered) return self.ordered(graph, case, 0, no_extras, false);
        try self.clearScratch(graph.gpa, object.words);
        for (object.properties, 0..) |property, key| if (property.offered) {
            self.scratch_words.items[key / 32] |= @as(u32, 1) << @intCast(key & 31);
        };
        return self.intern(graph, .{ .case = case, .extras = no_extras });
    }

    /// After a declared key.
    pub fn afterKey(self: *Registers, graph: *const Graph, id: u32, key: u32) error{OutOfMemory}!u32 {
        const before = self.all.items[id];
        const object = &graph.program.cases[before.case].object;
        if (object.ordered) return self.ordered(graph, before.case, object.properties[key].source + 1, before.extras, before.unresolved);
        try self.copyAvailable(graph.gpa, before, object.words);
        self.scratch_words.items[key / 32] &= ~(@as(u32, 1) << @intCast(key & 31));
        return self.intern(graph, .{ .case = before.case, .extras = before.extras, .unresolved = before.unresolved });
    }

    /// After a key that is not declared and whose text is yet to be told.
    pub fn afterExtra(self: *Registers, graph: *const Graph, id: u32) error{OutOfMemory}!u32 {
        const before = self.all.items[id];
        const object = &graph.program.cases[before.case].object;
        if (object.ordered) return self.ordered(graph, before.case, @intCast(object.properties.len), before.extras, true);
        try self.copyAvailable(graph.gpa, before, object.words);
        return self.intern(graph, .{ .case = before.case, .extras = before.extras, .unresolved = true });
    }

    pub fn resolve(self: *Registers, graph: *const Graph, id: u32, text: []const u8) error{OutOfMemory}!u32 {
        const before = self.all.items[id];
        const object = &graph.program.cases[before.case].object;
        const extras = try self.insertExtra(graph.gpa, before.extras, text);
        try self.copyAvailable(graph.gpa, before, object.words);
        return self.intern(graph, .{ .case = before.case, .position = before.position, .extras = extras });
    }

    fn ordered(self: *Registers, graph: *const Graph, case: u32, position: u32, extras: u32, unresolved: bool) error{OutOfMemory}!u32 {
        const object = &graph.program.cases[case].object;
        try self.clearScratch(graph.gpa, object.words);
        for (object.source[position..]) |key| {
            if (object.properties[key].offered) self.scratch_words.items[key / 32] |= @as(u32, 1) << @intCast(key & 31);
            if (object.properties[key].required) break;
        }
        return self.intern(graph, .{ .case = case, .position = position, .extras = extras, .unresolved = unresolved });
    }

    fn clearScratch(self: *Registers, gpa: Allocator, words: u32) error{OutOfMemory}!void {
        self.scratch_words.clearRetainingCapacity();
        try self.scratch_words.appendNTimes(gpa, 0, words);
    }

    fn copyAvailable(self: *Registers, gpa: Allocator, register: Register, words: u32) error{OutOfMemory}!void {
        self.scratch_words.clearRetainingCapacity();
        try self.scratch_words.appendSlice(gpa, self.words.items[register.available..][0..words]);
    }

    const Identity = struct { case: u32, position: u32 = 0, extras: u32, unresolved: bool = false };

    /// The register with the available keys of `scratch_words`. Two positions with the same available keys have the same future.
    fn intern(self: *Registers, graph: *const Graph, identity: Identity) error{OutOfMemory}!u32 {
        const Context = struct {
            registers: *const Registers,
            identity: Identity,
            words: []const u32,
            program: *const Program,
            pub fn eql(context: @This(), id: u32) bool {
                const known = &context.registers.all.items[id];
                return known.case == context.identity.case and known.extras == context.identity.extras and
                    known.unresolved == context.identity.unresolved and
                    std.mem.eql(u32, context.registers.words.items[known.available..][0..context.words.len], context.words);
            }
            pub fn hashOf(context: @This(), id: u32) u64 {
                const known = &context.registers.all.items[id];
                const count = context.program.cases[known.case].object.words;
                return hash(.{ .case = known.case, .extras = known.extras, .unresolved = known.unresolved }, context.registers.words.items[known.available..][0..count]);
            }
            fn hash(key: Identity, words: []const u32) u64 {
                return stdx.hashWords(&.{ key.case, key.extras, @intFromBool(key.unresolved) }, stdx.hashWords(words, 0));
            }
        };
        const words = self.scratch_words.items;
        const context: Context = .{ .registers = self, .identity = identity, .words = words, .program = graph.program };
        const hash = Context.hash(identity, words);
        if (self.table.find(hash, context)) |known| return known;
        const id: u32 = @intCast(self.all.items.len);
        const available: u32 = @intCast(self.words.items.len);
        try self.words.appendSlice(graph.gpa, words);
        try self.all.append(graph.gpa, .{
            .case = identity.case,
            .available = available,
            .position = identity.position,
            .extras = identity.extras,
            .unresolved = identity.unresolved,
            .missing = 0,
            .extras_open = false,
            .after_cost = 0,
            .start_cost = 0,
        });
        self.derive(graph, id);
        try self.table.insert(graph.gpa, hash, id, context);
        return id;
    }

    fn derive(self: *Registers, graph: *const Graph, id: u32) void {
        const program = graph.program;
        const register = &self.all.items[id];
        const object = &program.cases[register.case].object;
        var first_required: ?u32 = null;
        register.after_cost = program.brace_cost;
        for (object.source[if (object.ordered) register.position else 0..]) |key| {
            const property = &object.properties[key];
            if (!property.required or !object.ordered and !self.isAvailable(id, key)) continue;
            if (first_required == null) first_required = key;
            register.missing += 1;
            register.after_cost = spelling.add(register.after_cost, spelling.add(property.comma_cost, property.value_cost));
        }
        const extra_cost = spelling.add(program.quote_cost, extraCost(graph, self, object, Texts.root, register.extras, .start));
        register.extras_open = object.rest != none and (!object.ordered or register.missing == 0) and extra_cost != unreachable_cost;
        if (first_required) |key| {
            const property = &object.properties[key];
            register.start_cost = register.after_cost -| (property.comma_cost +| property.value_cost);
            register.start_cost = spelling.add(register.start_cost, spelling.add(property.start_cost, property.value_cost));
            return;
        }
        var least = if (register.extras_open) spelling.add(extra_cost, program.values[object.rest].cost) else unreachable_cost;
        var from: u32 = 0;
        while (self.nextAvailable(id, from, @intCast(object.properties.len))) |key| : (from = key + 1) {
            const property = &object.properties[key];
            least = @min(least, spelling.add(property.start_cost, property.value_cost));
        }
        register.start_cost = spelling.add(least, program.brace_cost);
    }

    // The other keys

    pub fn extraChild(self: *const Registers, node: u32, byte: u8) u32 {
        const extra = self.extras.items[node];
        for (self.edges.items[extra.start..][0..extra.len]) |edge| if (edge.byte == byte) return edge.child;
        return no_extras;
    }

    pub fn removeExtraBytes(self: *const Registers, node: u32, set: *std.bit_set.Static(256)) void {
        const extra = self.extras.items[node];
        for (self.edges.items[extra.start..][0..extra.len]) |edge| set.unset(edge.byte);
    }

    pub fn extraEnds(self: *const Registers, node: u32) bool {
        return self.extras.items[node].ends;
    }

    /// `trie` with `text` in it.
    fn insertExtra(self: *Registers, gpa: Allocator, trie: u32, text: []const u8) error{OutOfMemory}!u32 {
        self.scratch_path.clearRetainingCapacity();
        var at = trie;
        for (text) |byte| {
            try self.scratch_path.append(gpa, at);
            at = self.extraChild(at, byte);
        }
        const last = self.extras.items[at];
        self.scratch_edges.clearRetainingCapacity();
        try self.scratch_edges.appendSlice(gpa, self.edges.items[last.start..][0..last.len]);
        var made = try self.internExtra(gpa, self.scratch_edges.items, true);
        var depth = text.len;
        while (depth > 0) {
            depth -= 1;
            const old = self.extras.items[self.scratch_path.items[depth]];
            self.scratch_edges.clearRetainingCapacity();
            var placed = false;
            for (self.edges.items[old.start..][0..old.len]) |edge| {
                if (!placed and edge.byte >= text[depth]) {
                    try self.scratch_edges.append(gpa, .{ .byte = text[depth], .child = made });
                    placed = true;
                    if (edge.byte == text[depth]) continue;
                }
                try self.scratch_edges.append(gpa, edge);
            }
            if (!placed) try self.scratch_edges.append(gpa, .{ .byte = text[depth], .child = made });
            made = try self.internExtra(gpa, self.scratch_edges.items, old.ends);
        }
        return made;
    }

    /// `edges` does not lie in the registers' own list.
    fn internExtra(self: *Registers, gpa: Allocator, edges: []const Edge, ends: bool) error{OutOfMemory}!u32 {
        const Context = struct {
            registers: *const Registers,
            edges: []const Edge,
            ends: bool,
            pub fn eql(context: @This(), id: u32) bool {
                const known = context.registers.extras.items[id];
                if (known.ends != context.ends or known.len != context.edges.len) return false;
                for (context.registers.edges.items[known.start..][0..known.len], context.edges) |a, b| if (a.byte != b.byte or a.child != b.child) return false;
                return true;
            }
            pub fn hashOf(context: @This(), id: u32) u64 {
                const known = context.registers.extras.items[id];
                return hash(context.registers.edges.items[known.start..][0..known.len], known.ends);
            }
            fn hash(list: []const Edge, end: bool) u64 {
                var result: u64 = @intFromBool(end);
                for (list) |edge| result = stdx.hashWords(&.{ edge.byte, edge.child }, result);
                return result;
            }
        };
        const context: Context = .{ .registers = self, .edges = edges, .ends = ends };
        const hash = Context.hash(edges, ends);
        if (self.extra_table.find(hash, context)) |known| return known;
        const id: u32 = @intCast(self.extras.items.len);
        const start: u32 = @intCast(self.edges.items.len);
        try self.edges.appendSlice(gpa, edges);
        try self.extras.append(gpa, .{ .start = start, .len = @intCast(edges.len), .ends = ends });
        try self.extra_table.insert(gpa, hash, id, context);
        return id;
    }
};

/// Tokens that finish the object from inside a key.
pub fn keyCost(graph: *const Graph, node: *const Node) u32 {
    const program = graph.program;
    const registers = &graph.registers;
    const register = registers.get(node.a);
    const object = &program.cases[register.case].object;
    const state: json_string.State = @bitCast(node.c);
    const style = graph.style(node).spelling;
    var least = unreachable_cost;
    if (node.b != none) {
        var from, const end = object.keys.range(node.b);
        while (registers.nextAvailable(node.a, from, end)) |key| : (from = key + 1) {
            const property = &object.properties[key];
            const rest = if (property.required) register.after_cost -| (property.comma_cost +| property.value_cost) else register.after_cost;
            const own = spelling.add(object.keys.costFrom(key, node.b, state, style), property.value_cost);
            least = @min(least, spelling.add(own, rest));
        }
    }
    if (register.extras_open) {
        const own = spelling.add(extraCost(graph, registers, object, node.b, node.d, state), program.values[object.rest].cost);
        least = @min(least, spelling.add(own, register.after_cost));
    }
    return least;
}

/// Whether a key can still become one that may come.
pub fn keyLeads(graph: *const Graph, node: *const Node) bool {
    const register = graph.registers.get(node.a);
    if (register.extras_open) return true;
    if (node.b == none) return false;
    const from, const end = graph.program.cases[register.case].object.keys.range(node.b);
    return graph.registers.nextAvailable(node.a, from, end) != null;
}

/// Tokens that finish a key that is neither declared nor was there before, with its quote and colon: the first ASCII character that leads
/// away from all of them, or deeper into them until one does. Each step of this way costs one token less than the one before.
fn extraCost(graph: *const Graph, registers: *const Registers, object: *const program_room.Object, declared: u32, seen: u32, start: json_string.State) u32 {
    const program = graph.program;
    var cost = program.quote_colon_cost;
    var at = declared;
    var extra = seen;
    var state = start;
    while (true) {
        if (at == none and extra == Registers.no_extras) {
            const phase = @backingInt(state.phase);
            return spelling.add(cost, if (phase < json_string.utf8_phases)
                program.vocabulary.string_tables.finish_cost[phase]
            else
                json_string.escapeBytesLeft(state));
        }
        const ends = at != none and object.keys.nodes[at].entry != none or registers.extraEnds(extra);
        if (state.phase == .text and !ends) return cost;
        cost = spelling.add(cost, 1);
        const byte = pick(program, registers, object, at, extra, state) orelse return unreachable_cost;
        switch (json_string.step(state, byte, .spec)) {
            .raw => |next| {
                state = next;
                at = object.keys.child(at, byte);
                extra = registers.extraChild(extra, byte);
            },
            .inside => |next| state = next,
            .char => |char| {
                state = .start;
                at = object.keys.childOfChar(at, char);
                var buffer: [4]u8 = undefined;
                for (buffer[0..json_string.encodeUtf8(char, &buffer)]) |part| extra = registers.extraChild(extra, part);
            },
            .dead, .close => return unreachable_cost,
        }
    }
}

/// The next byte of that way.
fn pick(program: *const Program, registers: *const Registers, object: *const program_room.Object, at: u32, extra: u32, state: json_string.State) ?u8 {
    const first: u8, const last: u8 = switch (state.phase) {
        .text => .{ 0x20, 0x7e },
        .escape => return 'n',
        .hex0, .hex1, .hex2, .hex3, .low2, .low3 => return '0',
        .low_escape => return '\\',
        .low_u => return 'u',
        .low0 => return 'd',
        .low1 => return 'c',
        else => .{ 0x80, 0xbf },
    };
    var fallback: ?u8 = null;
    var byte = first;
    while (byte <= last) : (byte += 1) {
        if (!program.writable[byte] or byte == '"' or byte == '\\') continue;
        if (state.phase != .text and json_string.utf8Step(state.phase, byte) == null) continue;
        if (object.keys.child(at, byte) == none and registers.extraChild(extra, byte) == Registers.no_extras) return byte;
        fallback = fallback orelse byte;
    }
    return fallback;
}
