//! What an object remembers while it is written: the declared keys that may still come, the other keys that were there, and, where that
//! matters, how many members there were and what they counted. All of it is hash-consed.
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
const Counts = @import("counts.zig").Counts;
const Cover = @import("cover.zig").Cover;
const Object = @import("object.zig").Object;
const fresh_room = @import("fresh.zig");
const Fresh = fresh_room.Fresh;
const Place = fresh_room.Place;
const Seen = @import("seen.zig").Seen;
const Texts = @import("texts.zig").Texts;

const none = program_room.none;
const unreachable_cost = spelling.unreachable_cost;

pub const Register = struct {
    case: u32,
    /// Bit set of the sorted keys that were not there yet; of an ordered object, of those that may come next.
    left: u32,
    /// In source order, where the next key begins; only for ordered objects.
    position: u32,
    /// The other keys seen.
    extras: u32,
    /// One more other key was there, whose text is not known: only inside a mask.
    unresolved: bool,
    /// Members, and what they counted, as far as it matters.
    members: u32,
    counted: u32,

    // What follows from these.

    /// Whether the object may be closed.
    closes: bool,
    /// Whether a key may come next that need not match anything.
    extras_open: bool,
    /// Bit set of the sorted keys that may come next.
    available: u32,
    /// Tokens of a value and all that follows it: (keys) of each declared key, in a counted object only, and (classes) of others.
    key_costs: u32,
    class_costs: u32,
    /// Tokens that finish the object after a member, and after a comma.
    after_cost: u32,
    start_cost: u32,
};

/// Where a key is among the known ones of an object.
pub const KeyPlace = struct {
    case: u32,
    place: Place,

    /// Among the keys of no object.
    pub const away: u32 = 0;
};

pub const Registers = struct {
    all: std.ArrayList(Register) = .empty,
    words: std.ArrayList(u32) = .empty,
    table: stdx.IdTable = .{},
    seen: Seen = .{},
    cover: Cover = .{},
    fresh: Fresh = .{},
    /// Places among the known keys, for keys of a class with a pattern; the first one is away from all.
    places: std.AutoArrayHashMapUnmanaged(KeyPlace, void) = .empty,
    scratch_words: std.ArrayList(u32) = .empty,

    pub fn deinit(self: *Registers, gpa: Allocator) void {
        self.all.deinit(gpa);
        self.words.deinit(gpa);
        self.table.deinit(gpa);
        self.seen.deinit(gpa);
        self.cover.deinit(gpa);
        self.fresh.deinit(gpa);
        self.places.deinit(gpa);
        self.scratch_words.deinit(gpa);
    }

    pub fn begin(self: *Registers, gpa: Allocator) error{OutOfMemory}!void {
        // Register 0 is unused, so that `all` is never empty again.
        try self.all.append(gpa, std.mem.zeroes(Register));
        try self.seen.begin(gpa);
        try self.places.put(gpa, .{ .case = none, .place = .away }, {});
    }

    pub fn placeOf(self: *const Registers, place: u32) Place {
        return self.places.keys()[place].place;
    }

    pub fn internPlace(self: *Registers, gpa: Allocator, case: u32, place: Place) error{OutOfMemory}!u32 {
        if (place.isAway()) return KeyPlace.away;
        return @intCast((try self.places.getOrPut(gpa, .{ .case = case, .place = place })).index);
    }

    /// The keys that a place is among.
    pub fn knownAt(self: *const Registers, program: *const Program, place: u32) fresh_room.Known {
        return self.knownKeys(&program.cases[self.places.keys()[place].case].object);
    }

    pub fn knownKeys(self: *const Registers, object: *const Object) fresh_room.Known {
        return .{ .texts = &object.keys, .seen = &self.seen };
    }

    pub fn get(self: *const Registers, id: u32) *const Register {
        return &self.all.items[id];
    }

    pub fn isAvailable(self: *const Registers, id: u32, key: u32) bool {
        return self.words.items[self.all.items[id].available + key / 32] >> @intCast(key & 31) & 1 != 0;
    }

    /// The first available key at or after `from` and before `end`.
    pub fn nextAvailable(self: *const Registers, id: u32, from: u32, end: u32) ?u32 {
        return self.nextIn(self.all.items[id].available, from, end);
    }

    fn nextIn(self: *const Registers, set: u32, from: u32, end: u32) ?u32 {
        const words = self.words.items[set..];
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

    /// Tokens of the value of a key that may come next, and of all that follows it.
    pub fn keyCost(self: *const Registers, graph: *const Graph, id: u32, key: u32) u32 {
        const register = &self.all.items[id];
        const object = &graph.program.cases[register.case].object;
        if (object.isCounted()) return self.words.items[register.key_costs + key];
        const property = &object.properties[key];
        const rest = if (property.required) register.after_cost -| (property.comma_cost +| property.value_cost) else register.after_cost;
        return spelling.add(property.value_cost, rest);
    }

    /// The same for a key that is not declared.
    pub fn classCost(self: *const Registers, id: u32, class: usize) u32 {
        return self.words.items[self.all.items[id].class_costs + class];
    }

    /// Of an object that was just opened.
    pub fn open(self: *Registers, graph: *Graph, case: u32) error{OutOfMemory}!u32 {
        const object = &graph.program.cases[case].object;
        const next: Identity = .{ .case = case, .extras = Seen.empty };
        if (object.ordered) return self.ordered(graph, next);
        try self.clearScratch(graph.gpa, object.words);
        for (object.properties, 0..) |property, key| if (property.offered) {
            self.scratch_words.items[key / 32] |= @as(u32, 1) << @intCast(key & 31);
        };
        return self.intern(graph, next);
    }

    /// After a declared key, whose value counts so much.
    pub fn afterKey(self: *Registers, graph: *Graph, id: u32, key: u32, counts: u32) error{OutOfMemory}!u32 {
        const before = self.all.items[id];
        const object = &graph.program.cases[before.case].object;
        var next = self.afterMember(object, before, counts);
        if (object.ordered) {
            next.position = object.properties[key].source + 1;
            return self.ordered(graph, next);
        }
        try self.copyLeft(graph.gpa, before, object.words);
        self.scratch_words.items[key / 32] &= ~(@as(u32, 1) << @intCast(key & 31));
        return self.intern(graph, next);
    }

    /// After a key that is not declared and whose text is yet to be told.
    pub fn afterExtra(self: *Registers, graph: *Graph, id: u32, counts: u32) error{OutOfMemory}!u32 {
        const before = self.all.items[id];
        const object = &graph.program.cases[before.case].object;
        var next = self.afterMember(object, before, counts);
        next.unresolved = true;
        if (object.ordered) {
            next.position = @intCast(object.properties.len);
            return self.ordered(graph, next);
        }
        try self.copyLeft(graph.gpa, before, object.words);
        return self.intern(graph, next);
    }

    pub fn resolve(self: *Registers, graph: *Graph, id: u32, text: []const u8) error{OutOfMemory}!u32 {
        const before = self.all.items[id];
        const object = &graph.program.cases[before.case].object;
        const extras = try self.seen.insert(graph.gpa, before.extras, text);
        try self.copyLeft(graph.gpa, before, object.words);
        var next: Identity = .of(before);
        next.extras = extras;
        next.unresolved = false;
        return self.intern(graph, next);
    }

    fn afterMember(self: *const Registers, object: *const Object, before: Register, counts: u32) Identity {
        _ = self;
        var next: Identity = .of(before);
        next.members = object.saturate(before.members + 1);
        // Counters of objects have no most, so this is never too many.
        next.counted = object.counts.add(before.counted, counts).?;
        return next;
    }

    fn ordered(self: *Registers, graph: *Graph, next: Identity) error{OutOfMemory}!u32 {
        const object = &graph.program.cases[next.case].object;
        try self.clearScratch(graph.gpa, object.words);
        for (object.source[next.position..]) |key| {
            if (object.properties[key].offered) self.scratch_words.items[key / 32] |= @as(u32, 1) << @intCast(key & 31);
            if (object.properties[key].required) break;
        }
        return self.intern(graph, next);
    }

    fn clearScratch(self: *Registers, gpa: Allocator, words: u32) error{OutOfMemory}!void {
        self.scratch_words.clearRetainingCapacity();
        try self.scratch_words.appendNTimes(gpa, 0, words);
    }

    fn copyLeft(self: *Registers, gpa: Allocator, register: Register, words: u32) error{OutOfMemory}!void {
        self.scratch_words.clearRetainingCapacity();
        try self.scratch_words.appendSlice(gpa, self.words.items[register.left..][0..words]);
    }

    const Identity = struct {
        case: u32,
        position: u32 = 0,
        extras: u32,
        unresolved: bool = false,
        members: u32 = 0,
        counted: u32 = Counts.zero,

        fn of(register: Register) Identity {
            return .{
                .case = register.case,
                .position = register.position,
                .extras = register.extras,
                .unresolved = register.unresolved,
                .members = register.members,
                .counted = register.counted,
            };
        }

        /// Two positions with the same keys to come next have the same future, unless members are counted.
        fn key(self: Identity, object: *const Object) [6]u32 {
            const position = if (object.isCounted()) self.position else 0;
            return .{ self.case, position, self.extras, @intFromBool(self.unresolved), self.members, self.counted };
        }
    };

    /// The register with the keys of `scratch_words` left.
    fn intern(self: *Registers, graph: *Graph, identity: Identity) error{OutOfMemory}!u32 {
        const Context = struct {
            registers: *const Registers,
            key: [6]u32,
            words: []const u32,
            program: *const Program,
            pub fn eql(context: @This(), id: u32) bool {
                const known = context.registers.all.items[id];
                return known.case == context.key[0] and std.mem.eql(u32, &context.keyOf(known), &context.key) and
                    std.mem.eql(u32, context.registers.words.items[known.left..][0..context.words.len], context.words);
            }
            fn keyOf(context: @This(), register: Register) [6]u32 {
                return Identity.of(register).key(&context.program.cases[register.case].object);
            }
            fn hash(key: []const u32, words: []const u32) u64 {
                return stdx.hashWords(key, stdx.hashWords(words, 0));
            }
        };
        const words = self.scratch_words.items;
        const key = identity.key(&graph.program.cases[identity.case].object);
        const context: Context = .{ .registers = self, .key = key, .words = words, .program = graph.program };
        const hash = Context.hash(&key, words);
        if (self.table.find(hash, context)) |known| return known;
        const id: u32 = @intCast(self.all.items.len);
        const left: u32 = @intCast(self.words.items.len);
        try self.words.appendSlice(graph.gpa, words);
        const register = try self.derive(graph, identity, left);
        try self.all.append(graph.gpa, register);
        try self.table.insert(graph.gpa, hash, id);
        return id;
    }

    fn derive(self: *Registers, graph: *Graph, identity: Identity, left: u32) error{OutOfMemory}!Register {
        const object = &graph.program.cases[identity.case].object;
        var register: Register = .{
            .case = identity.case,
            .left = left,
            .position = identity.position,
            .extras = identity.extras,
            .unresolved = identity.unresolved,
            .members = identity.members,
            .counted = identity.counted,
            .closes = false,
            .extras_open = false,
            .available = left,
            .key_costs = none,
            .class_costs = 0,
            .after_cost = 0,
            .start_cost = 0,
        };
        if (object.isCounted()) try self.deriveCounted(graph, object, &register) else try self.derivePlain(graph, object, &register);
        return register;
    }

    fn derivePlain(self: *Registers, graph: *Graph, object: *const Object, register: *Register) error{OutOfMemory}!void {
        const program = graph.program;
        var first_required: ?u32 = null;
        register.after_cost = program.prices.brace;
        for (object.source[if (object.ordered) register.position else 0..]) |key| {
            const property = &object.properties[key];
            if (!property.required or !object.ordered and !self.isLeft(register, key)) continue;
            if (first_required == null) first_required = key;
            register.after_cost = spelling.add(register.after_cost, spelling.add(property.comma_cost, property.value_cost));
        }
        register.closes = first_required == null;
        var least: u32 = unreachable_cost;
        register.class_costs = @intCast(self.words.items.len);
        for (object.classes) |class| {
            const start = try self.newKeyCost(graph, object, class.keys, register.extras);
            const open_now = start != unreachable_cost and (!object.ordered or register.closes);
            const cost = if (open_now) spelling.add(class.value_cost, register.after_cost) else unreachable_cost;
            try self.words.append(graph.gpa, cost);
            least = @min(least, spelling.add(start, cost));
        }
        register.extras_open = object.anyKey() != null and self.words.items[register.class_costs] != unreachable_cost;
        if (first_required) |key| {
            const property = &object.properties[key];
            register.start_cost = register.after_cost -| (property.comma_cost +| property.value_cost);
            register.start_cost = spelling.add(register.start_cost, spelling.add(property.start_cost, property.value_cost));
            return;
        }
        var from: u32 = 0;
        while (self.nextIn(register.left, from, @intCast(object.properties.len))) |key| : (from = key + 1) {
            const property = &object.properties[key];
            least = @min(least, spelling.add(spelling.add(property.start_cost, property.value_cost), register.after_cost));
        }
        register.start_cost = least;
    }

    fn deriveCounted(self: *Registers, graph: *Graph, object: *const Object, register: *Register) error{OutOfMemory}!void {
        const gpa = graph.gpa;
        const program = graph.program;
        const cover = &self.cover;
        try cover.solve(gpa, object, &program.prices, .{
            .position = register.position,
            .left = self.words.items[register.left..][0..object.words],
            .counted = register.counted,
            .members = register.members,
            .known = @as(u32, @intCast(object.properties.len)) + self.seen.count(register.extras) + @intFromBool(register.unresolved),
        });
        register.after_cost = cover.after_cost;
        register.closes = cover.closes;
        register.available = @intCast(self.words.items.len);
        try self.words.appendNTimes(gpa, 0, object.words);
        register.key_costs = @intCast(self.words.items.len);
        try self.words.appendSlice(gpa, cover.keys.items);
        register.class_costs = @intCast(self.words.items.len);
        try self.words.appendSlice(gpa, cover.classes.items);
        var least = unreachable_cost;
        for (cover.keys.items, object.properties, 0..) |cost, property, key| if (cost != unreachable_cost) {
            self.words.items[register.available + key / 32] |= @as(u32, 1) << @intCast(key & 31);
            least = @min(least, spelling.add(property.start_cost, cost));
        };
        for (object.classes, 0..) |class, index| {
            const start = try self.newKeyCost(graph, object, class.keys, register.extras);
            const cost = &self.words.items[register.class_costs + index];
            if (start == unreachable_cost) cost.* = unreachable_cost;
            least = @min(least, spelling.add(start, cost.*));
        }
        register.extras_open = object.anyKey() != null and self.words.items[register.class_costs] != unreachable_cost;
        register.start_cost = least;
    }

    /// Of a key of a class that is not declared and was not there, from its opening quote to its colon.
    fn newKeyCost(self: *const Registers, graph: *Graph, object: *const Object, keys: u32, extras: u32) error{OutOfMemory}!u32 {
        const prices = &graph.program.prices;
        if (keys == none) return spelling.add(prices.quote, extraCost(graph, self, object, Texts.root, extras, .start));
        const first = try graph.patterns.start(keys);
        return spelling.add(prices.quote, try classKeyCost(graph, object, first, .start, .{ .declared = Texts.root, .seen = extras }));
    }

    fn isLeft(self: *const Registers, register: *const Register, key: u32) bool {
        return self.words.items[register.left + key / 32] >> @intCast(key & 31) & 1 != 0;
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
    if (register.extras_open) {
        const own = extraCost(graph, registers, object, node.b, node.d, state);
        least = @min(least, spelling.add(own, registers.classCost(node.a, 0)));
    }
    if (node.b != none) {
        // No key costs less from here, so that most need not be looked at.
        const floor = if (@backingInt(state.phase) < json_string.utf8_phases) object.keys.node_cost[node.b] else 0;
        var from, const end = object.keys.range(node.b);
        while (registers.nextAvailable(node.a, from, end)) |key| : (from = key + 1) {
            const rest = registers.keyCost(graph, node.a, key);
            if (spelling.add(floor, rest) >= least) continue;
            least = @min(least, spelling.add(object.keys.costFrom(key, node.b, state, style), rest));
        }
    }
    return least;
}

/// Tokens that finish the object from inside a key of a class with a pattern.
pub fn otherKeyCost(graph: *Graph, node: *const Node) error{OutOfMemory}!u32 {
    const registers = &graph.registers;
    const object = &graph.program.cases[registers.get(node.a).case].object;
    const rest = registers.classCost(node.a, classOf(graph, object, node.b));
    if (rest == unreachable_cost) return unreachable_cost;
    return spelling.add(rest, try classKeyCost(graph, object, node.b, @bitCast(node.c), registers.placeOf(node.d)));
}

/// The class whose pattern a state is of.
pub fn classOf(graph: *const Graph, object: *const Object, state: u32) usize {
    const pattern = graph.patterns.states.items[state].pattern;
    return for (object.classes, 0..) |class, index| {
        if (class.keys == pattern) break index;
    } else unreachable;
}

/// With its closing quote and colon.
fn classKeyCost(graph: *Graph, object: *const Object, state: u32, at: json_string.State, place: Place) error{OutOfMemory}!u32 {
    const spelled = graph.patterns.of(state).writing.spellingOf();
    const own = try graph.registers.fresh.cost(graph, .{ .pattern = state }, at, graph.registers.knownKeys(object), place, spelled);
    return spelling.add(own, graph.program.prices.quote_colon);
}

/// How known texts beside a node are spelled.
pub fn spellingOf(graph: *const Graph, node: *const Node) json_string.Spelling {
    return if (graph.style(node).spelling == .spec) .spec else .fixed;
}

/// One byte read in a key: where it leads inside, whether or not any key is left there.
pub fn readKey(graph: *const Graph, node: *const Node, byte: u8) union(enum) { dead, close, inside: Node } {
    const registers = &graph.registers;
    const register = registers.get(node.a);
    const keys = &graph.program.cases[register.case].object.keys;
    const style = spellingOf(graph, node);
    var next = node.*;
    switch (json_string.step(@bitCast(node.c), byte, style)) {
        .dead => return .dead,
        .close => return .close,
        .inside => |state| {
            if (register.extras_open and !graph.program.escapes) return .dead;
            var bytes: std.bit_set.Static(256) = .empty;
            if (node.b != none) keys.addBytes(node.b, &bytes);
            registers.seen.addBytes(node.d, &bytes);
            const is_known = json_string.becomesOne(state, style, &bytes);
            if (!is_known) {
                next.b = none;
                next.d = Seen.empty;
            }
            next.c = @bitCast(if (is_known or style != .spec) state else json_string.anyCharacter(state));
        },
        .raw => |state| {
            next.c = @bitCast(state);
            next.b = keys.child(node.b, byte);
            next.d = registers.seen.child(node.d, byte);
        },
        .char => |char| {
            next.c = 0;
            next.b = keys.childOfChar(node.b, char);
            var buffer: [4]u8 = undefined;
            for (buffer[0..json_string.encodeUtf8(char, &buffer)]) |part| next.d = registers.seen.child(next.d, part);
        },
    }
    return .{ .inside = next };
}

/// Whether a node is in a key of an object that takes no others than those it knows, in a text that has spent the least.
pub fn isClosed(graph: *const Graph, node: *const Node) bool {
    if (node.kind != .object_key or node.whitespace != 0) return false;
    const register = graph.registers.get(node.a);
    return !register.extras_open and !register.unresolved;
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
fn extraCost(graph: *const Graph, registers: *const Registers, object: *const Object, declared: u32, seen: u32, start: json_string.State) u32 {
    const program = graph.program;
    var cost = program.prices.quote_colon;
    var at = declared;
    var extra = seen;
    var state = start;
    while (true) {
        if (at == none and extra == Seen.empty) {
            const phase = @backingInt(state.phase);
            return spelling.add(cost, if (phase < json_string.utf8_phases)
                program.vocabulary.string_tables.finish_cost[phase]
            else
                json_string.escapeBytesLeft(state));
        }
        const ends = at != none and object.keys.nodes[at].entry != none or registers.seen.ends(extra);
        if (state.phase == .text and !ends) return cost;
        cost = spelling.add(cost, 1);
        const byte = pick(program, registers, object, at, extra, state) orelse return unreachable_cost;
        switch (json_string.step(state, byte, .spec)) {
            .raw => |next| {
                state = next;
                at = object.keys.child(at, byte);
                extra = registers.seen.child(extra, byte);
            },
            .inside => |next| state = next,
            .char => |char| {
                state = .start;
                at = object.keys.childOfChar(at, char);
                var buffer: [4]u8 = undefined;
                for (buffer[0..json_string.encodeUtf8(char, &buffer)]) |part| extra = registers.seen.child(extra, part);
            },
            .dead, .close => return unreachable_cost,
        }
    }
}

/// The next byte of that way.
fn pick(program: *const Program, registers: *const Registers, object: *const Object, at: u32, extra: u32, state: json_string.State) ?u8 {
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
        if (object.keys.child(at, byte) == none and registers.seen.child(extra, byte) == Seen.empty) return byte;
        fallback = fallback orelse byte;
    }
    return fallback;
}
