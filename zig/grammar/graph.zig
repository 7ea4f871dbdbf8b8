//! The states of one output. A state is an ordered set of configurations; a configuration is the top of a stack whose nodes are shared,
//! have sets of parents, and are hash-consed: equal futures are one state, so ambiguity costs nothing exponential, and a state is a number
//! that can be kept, compared and gone back to.
const std = @import("std");
const Allocator = std.mem.Allocator;
const stdx = @import("../stdx.zig");
const json_string = @import("../vocabulary.zig").json_string;
const ir = @import("ir.zig");
const Patterns = @import("patterns.zig").Patterns;
const Memos = @import("memo.zig").Memos;
const program_room = @import("program.zig");
const Program = program_room.Program;
const registers_room = @import("registers.zig");
const Registers = registers_room.Registers;
const record_room = @import("record.zig");
const unique_room = @import("unique.zig");
const Seen = @import("seen.zig").Seen;
const Tracks = unique_room.Tracks;
const Rows = @import("row.zig").Rows;
const spelling = @import("spelling.zig");
const Stepper = @import("step.zig").Stepper;
const first_room = @import("first.zig");
const TakesAll = @import("takes_all.zig").TakesAll;
const limits = @import("../limits.zig").grammar;

pub const none = ir.none;
pub const unreachable_cost = spelling.unreachable_cost;

pub const Kind = enum(u8) {
    /// The end of the output.
    end,
    /// a: node, b: bytes read.
    bytes,
    /// a: node.
    token,
    /// a: node, b: bytes read.
    marker,
    /// Waits for a child. a: node, b: the next item.
    sequence,
    /// Waits for a child. a: node, b: items begun, as far as they count.
    repeat,
    /// a: node, b: state of the terminators, c: UTF-8 phase, d: tokens that may still be begun in it, the one being read included; 0: any number.
    text,
    /// In one of a set of byte strings. a: dawg, b: its node.
    texts,
    /// a: node.
    any_token,
    /// Waits for an item of an unordered record. a: node, b: the items written once it is done.
    record,
    /// Waits for what separates two items. a: node, b: the items written.
    record_next,
    /// Text that matches. a: state of its pattern, c: json_string.State inside a character.
    regex,
    /// Whoever waits for what is looked at by itself: see alone.zig.
    outside,
    // Scalars in an array without equal items have their track in d.
    /// Before a JSON value. a: value, b: `Space`.
    value,
    /// a: literal, b: bytes read.
    literal,
    /// a: automaton, b: state.
    number,
    /// A free string. a: characters still needed, b: characters still allowed or `none`, c: json_string.State.
    string,
    /// A known text. a: texts, b: node, c: json_string.State.
    among,
    /// A string that matches. a: state of its pattern, c: json_string.State.
    pattern,
    /// After `{`. a: registers.
    object_open,
    /// In a key. a: registers, b: node of the declared keys or `none`, c: json_string.State, d: node of the other keys seen, 0 off them.
    object_key,
    /// In a key of a class with a pattern. a: registers, b: state of the pattern, c: json_string.State, d: place among the known keys.
    object_other,
    /// After a key. a: registers after it, 0 if its object is outside, b: value.
    object_colon,
    /// After a member, or waiting for its value. a: registers.
    object_after,
    /// After a comma. a: registers, b: `Space`.
    object_comma,
    /// After `[`. a: case.
    array_open,
    /// After an item, or waiting for it. a: case, b: items, as far as they count, c: what they counted, d: in an array without equal items,
    /// the set of values that were there, with the bits of unique.zig.
    array_after,
    /// Waits for an item unlike all others. a: case, b: items with it, as far as they count, c: what they count without what is only known
    /// at its end, d: as of array_after.
    array_item,

    pub fn isJson(self: Kind) bool {
        return @backingInt(self) >= @backingInt(Kind.outside);
    }
};

/// What whitespace may stand before a value or key.
pub const Space = enum(u32) { counted = 0, one_free = 1, forbidden = 2 };

pub const Node = extern struct {
    kind: Kind,
    /// Of the byte it would read.
    channel: ir.Channel,
    /// Of its JSON text.
    style: u16 = 0,
    a: u32 = 0,
    b: u32 = 0,
    c: u32 = 0,
    d: u32 = 0,
    /// Characters of whitespace spent in this JSON text, less those of the state; `fresh` while a step is being taken.
    whitespace: u32 = 0,
    /// A set of nodes that go on when this one is done.
    parents: u32 = 0,
    /// Tokens that finish the output from here, at most; for a waiting node, once its child is done.
    cost: u32 = 0,

    /// Marks the beginning of a JSON text.
    pub const fresh: u32 = 0xffffffff;
    const Words = [@sizeOf(Node) / 4]u32;

    fn key(self: *const Node) []const u32 {
        const words: *const Words = @ptrCast(self);
        return words[0 .. words.len - 1];
    }

    /// The same but for the parents.
    pub fn sameContent(self: *const Node, other: *const Node) bool {
        const words: *const Words = @ptrCast(self);
        const other_words: *const Words = @ptrCast(other);
        return std.mem.eql(u32, words[0 .. words.len - 2], other_words[0 .. words.len - 2]);
    }

    pub fn contentHash(self: *const Node) u64 {
        const words: *const Words = @ptrCast(self);
        return stdx.hashWords(words[0 .. words.len - 2], 1);
    }
};

pub const Set = struct { start: u32, len: u32, cost: u32 };

/// `outside`: some node is. `keys`: all nodes are in keys of objects that take no others than those they know.
const Special = enum(u8) { no, outside, keys };

pub const State = struct {
    /// Its nodes, in order of preference.
    start: u32,
    len: u32,
    cost: u32,
    /// Where its transitions are kept, or `none`.
    row: u32 = none,
    /// Whitespace that its JSON texts may still spend: the strictest, and the most generous. `none` if none of them counts.
    slack_min: u32 = none,
    slack_max: u32 = none,
    /// All its nodes count whitespace.
    all_counted: bool = false,
    /// Nodes differ in channel.
    mixed: bool = false,
    accepts_end: bool = false,
    /// Some node accepts tokens by id.
    edges: bool = false,
    /// Some node accepts any token by id.
    any_token: bool = false,
    /// Some node is text that counts its tokens.
    bounded: bool = false,
    /// Some node is text of any bytes and control tokens, without a bound.
    free: bool = false,
    /// See takes_all.zig.
    takes_all: TakesAll = .unknown,
    /// Some node is in a list of texts, or in a pattern outside of JSON.
    parts: bool = false,
    /// What a walk of it has to see to.
    special: Special = .no,
    /// A key begins in an object with a key that is not known yet, or an item beside one that is not.
    uncertain: bool = false,
    /// What finishing costs depends on a text that is not known yet: `cost` is enough, but may be too much.
    rough: bool = false,
    /// A key that was not declared, or an item that has to differ from others, has just ended: see Stepper.resolve.
    unresolved: bool = false,
};

/// A state reached, with what the step did to the whitespace count.
pub const Transition = packed struct(u32) {
    state: u23,
    /// As of the state.
    uncertain: bool = false,
    /// Added to the count, or `reset`.
    whitespace: u8,

    pub const reset: u8 = 255;
    /// Up to here a transition is nothing but the number of its state.
    pub const plain_max: u32 = std.math.maxInt(u23);
    pub const dead: Transition = .{ .state = 0, .whitespace = 0 };
    /// Of a row's entry that has not been asked for.
    pub const unknown: u32 = 0xffffffff;
};

pub const StateId = u32;

/// Slots of a table that stay for the next program.
const spare_slots = 1 << 12;

pub const Graph = struct {
    gpa: Allocator,
    program: *const Program,
    nodes: std.ArrayList(Node) = .empty,
    node_table: stdx.IdTable = .{},
    sets: std.ArrayList(Set) = .empty,
    set_items: std.ArrayList(u32) = .empty,
    set_table: stdx.IdTable = .{},
    states: std.ArrayList(State) = .empty,
    state_items: std.ArrayList(u32) = .empty,
    state_table: stdx.IdTable = .{},
    rows: Rows = .{},
    registers: Registers = .{},
    record_sets: record_room.Sets = .{},
    tracks: Tracks = .{},
    patterns: Patterns,
    stepper: Stepper = .{},
    memos: Memos,
    /// The states after a text or a pattern, by its parents.
    after_parts: std.AutoHashMapUnmanaged(u32, StateId) = .empty,
    initial: Transition = .dead,

    /// The state without any node.
    pub const dead_state: StateId = 0;

    pub fn create(gpa: Allocator, program: *const Program) error{OutOfMemory}!*Graph {
        const self = try gpa.create(Graph);
        errdefer gpa.destroy(self);
        self.* = .{ .gpa = gpa, .program = program, .patterns = try .create(gpa, program.patterns), .memos = .create(gpa) };
        errdefer self.deinit();
        try self.begin();
        return self;
    }

    pub fn destroy(self: *Graph) void {
        const gpa = self.gpa;
        self.deinit();
        gpa.destroy(self);
    }

    /// Begins anew for another program, keeping the memory.
    pub fn reset(self: *Graph, program: *const Program) error{OutOfMemory}!void {
        var patterns: Patterns = try .create(self.gpa, program.patterns);
        patterns.scratch = self.patterns.takeScratch();
        self.patterns.deinit();
        self.patterns = patterns;
        self.program = program;
        // Clearing takes as long as they are large.
        for ([_]*stdx.IdTable{ &self.node_table, &self.set_table, &self.state_table }) |table| table.shrink(self.gpa, spare_slots);
        // These are small.
        self.registers.deinit(self.gpa);
        self.registers = .{};
        self.record_sets.deinit(self.gpa);
        self.record_sets = .{};
        self.tracks.deinit(self.gpa);
        self.tracks = .{};
        try self.begin();
    }

    fn deinit(self: *Graph) void {
        const gpa = self.gpa;
        self.nodes.deinit(gpa);
        self.node_table.deinit(gpa);
        self.sets.deinit(gpa);
        self.set_items.deinit(gpa);
        self.set_table.deinit(gpa);
        self.states.deinit(gpa);
        self.state_items.deinit(gpa);
        self.state_table.deinit(gpa);
        self.rows.deinit(gpa);
        self.registers.deinit(gpa);
        self.record_sets.deinit(gpa);
        self.tracks.deinit(gpa);
        self.patterns.deinit();
        self.stepper.deinit(gpa);
        self.memos.deinit(gpa);
        self.after_parts.deinit(gpa);
    }

    /// Forgets every state and begins anew, keeping the memory.
    fn begin(self: *Graph) error{OutOfMemory}!void {
        self.nodes.clearRetainingCapacity();
        self.node_table.clear();
        self.sets.clearRetainingCapacity();
        self.set_items.clearRetainingCapacity();
        self.set_table.clear();
        self.states.clearRetainingCapacity();
        self.state_items.clearRetainingCapacity();
        self.state_table.clear();
        self.rows.clear();
        self.memos.clear();
        self.after_parts.clearRetainingCapacity();
        if (self.registers.all.items.len == 0) {
            try self.registers.begin(self.gpa);
            try self.tracks.begin(self.gpa);
        }
        // Set 0 is empty: the end has no parents.
        try self.sets.append(self.gpa, .{ .start = 0, .len = 0, .cost = 0 });
        try self.states.append(self.gpa, .{ .start = 0, .len = 0, .cost = unreachable_cost });
        self.initial = try self.stepper.start(self);
        self.initial.state = @intCast(try self.atTokenEnd(self.initial.state));
    }

    pub fn bytesUsed(self: *const Graph) usize {
        return self.nodes.items.len * @sizeOf(Node) + self.set_items.items.len * 4 + self.sets.items.len * @sizeOf(Set) +
            self.states.items.len * @sizeOf(State) + self.state_items.items.len * 4 + self.rows.bytesUsed() +
            self.node_table.bytes() + self.set_table.bytes() + self.state_table.bytes();
    }

    /// Of memory that would be kept by `reset`.
    pub fn bytesHeld(self: *const Graph) usize {
        return self.nodes.capacity * @sizeOf(Node) + self.set_items.capacity * 4 + self.sets.capacity * @sizeOf(Set) +
            self.states.capacity * @sizeOf(State) + self.state_items.capacity * 4 + self.rows.bytesHeld() +
            self.node_table.bytes() + self.set_table.bytes() + self.state_table.bytes() + self.memos.bytesHeld();
    }

    pub fn needsCompaction(self: *const Graph) bool {
        return self.bytesUsed() > limits.graph_bytes or self.states.items.len > std.math.maxInt(u22);
    }

    /// Keeps what `roots` lead to and forgets the rest; writes the new numbers into `roots`.
    pub fn compact(self: *Graph, roots: []StateId) error{OutOfMemory}!void {
        const gpa = self.gpa;
        // Parents have lower numbers than their children, so one pass down marks everything.
        const map = try gpa.alloc(u32, self.nodes.items.len);
        defer gpa.free(map);
        @memset(map, none);
        var kept: usize = 0;
        for (roots) |root| for (self.nodesOf(root)) |node| {
            map[node] = 0;
        };
        var at = map.len;
        while (at > 0) {
            at -= 1;
            if (map[at] == none) continue;
            kept += 1;
            for (self.setItems(self.nodes.items[at].parents)) |parent| map[parent] = 0;
        }
        const old_nodes = try gpa.dupe(Node, self.nodes.items);
        defer gpa.free(old_nodes);
        const old_sets = try gpa.dupe(Set, self.sets.items);
        defer gpa.free(old_sets);
        const old_set_items = try gpa.dupe(u32, self.set_items.items);
        defer gpa.free(old_set_items);
        const old_states = try gpa.alloc([]u32, roots.len);
        defer gpa.free(old_states);
        var copied: usize = 0;
        defer for (old_states[0..copied]) |list| gpa.free(list);
        for (old_states, roots) |*list, root| {
            list.* = try gpa.dupe(u32, self.nodesOf(root));
            copied += 1;
        }

        try self.begin();
        var items: std.ArrayList(u32) = .empty;
        defer items.deinit(gpa);
        for (old_nodes, map) |node, *new| {
            if (new.* == none) continue;
            items.clearRetainingCapacity();
            const set = old_sets[node.parents];
            for (old_set_items[set.start..][0..set.len]) |parent| try items.append(gpa, map[parent]);
            var moved = node;
            moved.parents = try self.internSet(items.items);
            // Its cost was finite before and depends on nothing else.
            new.* = (try self.internNode(moved)).?;
        }
        for (roots, old_states) |*root, list| {
            for (list) |*node| node.* = map[node.*];
            root.* = try self.internState(list);
        }
    }

    pub fn nodesOf(self: *const Graph, state: StateId) []const u32 {
        const known = self.states.items[state];
        return self.state_items.items[known.start..][0..known.len];
    }

    pub fn setItems(self: *const Graph, set: u32) []const u32 {
        const known = self.sets.items[set];
        return self.set_items.items[known.start..][0..known.len];
    }

    pub fn style(self: *const Graph, node: *const Node) *const ir.Style {
        return &self.program.styles[node.style];
    }

    /// The state after a byte. What the step does to the whitespace count is in the result; see Walk for how it is used.
    pub fn step(self: *Graph, state: StateId, byte: u8) error{OutOfMemory}!Transition {
        const row = try self.rowOf(state);
        const known = self.rows.get(row, byte);
        if (known != Transition.unknown) return @bitCast(known);
        const next = try self.stepper.step(self, state, byte);
        try self.rows.put(self.gpa, row, byte, next);
        return next;
    }

    /// Where the state's transitions are.
    pub fn rowOf(self: *Graph, state: StateId) error{OutOfMemory}!u32 {
        const known = self.states.items[state].row;
        if (known != none) return known;
        const ids = self.nodesOf(state);
        const made = try self.rows.add(self.gpa, try first_room.bytesOfAll(self, ids), first_room.alike(self, ids));
        self.states.items[state].row = made;
        return made;
    }

    /// The state after a text or a pattern with these parents, however it was written.
    pub fn afterPart(self: *Graph, parents: u32) error{OutOfMemory}!StateId {
        if (self.after_parts.get(parents)) |known| return known;
        const next = try self.stepper.finishAll(self, parents);
        try self.after_parts.put(self.gpa, parents, next);
        return next;
    }

    /// The state without the JSON texts that have spent more whitespace than they may.
    pub fn withinWhitespace(self: *Graph, state: StateId, spent: u32) error{OutOfMemory}!StateId {
        const known = self.states.items[state];
        if (known.slack_min == none or spent <= known.slack_min) return state;
        if (known.all_counted and spent > known.slack_max) return dead_state;
        var kept: std.ArrayList(u32) = .empty;
        defer kept.deinit(self.gpa);
        for (self.nodesOf(state)) |id| {
            const slack = self.slackOf(&self.nodes.items[id]);
            if (slack == none or spent <= slack) try kept.append(self.gpa, id);
        }
        return self.internState(kept.items);
    }

    /// The state at the end of a token: without the nodes at which none may end, and with one token less for text that counts them. A character
    /// that was begun may be finished.
    pub fn atTokenEnd(self: *Graph, state: StateId) error{OutOfMemory}!StateId {
        const known = self.states.items[state];
        var kept: std.ArrayList(u32) = .empty;
        defer kept.deinit(self.gpa);
        for (known.start..known.start + known.len) |at| {
            const id = self.state_items.items[at];
            var node = self.nodes.items[id];
            if (node.cost == unreachable_cost) continue;
            if (node.kind != .text or node.d == 0 or node.d == 1 and node.c != 0) {
                try kept.append(self.gpa, id);
                continue;
            }
            node.d -= 1;
            if (node.d > 0) try kept.append(self.gpa, (try self.internNode(node)) orelse continue);
        }
        return if (!known.bounded and kept.items.len == known.len) state else self.internState(kept.items);
    }

    /// The state as if every text that counts its tokens were at its last one: which tokens may come is the same.
    pub fn withoutCounts(self: *Graph, state: StateId) error{OutOfMemory}!StateId {
        const known = self.states.items[state];
        if (!known.bounded) return state;
        var kept: std.ArrayList(u32) = .empty;
        defer kept.deinit(self.gpa);
        for (known.start..known.start + known.len) |at| {
            const id = self.state_items.items[at];
            var node = self.nodes.items[id];
            if (node.kind != .text or node.d == 0) {
                try kept.append(self.gpa, id);
                continue;
            }
            node.d = 1;
            try kept.append(self.gpa, (try self.internNode(node)) orelse continue);
        }
        return self.internState(kept.items);
    }

    pub fn slackOf(self: *const Graph, node: *const Node) u32 {
        if (!node.kind.isJson()) return none;
        const max = self.style(node).whitespace_max;
        return if (max == none) none else max -| node.whitespace;
    }

    /// Null if nothing can be finished from it. `cost` is filled in; it is unreachable inside a character, or a text, whose end no tokens
    /// write by themselves: a token may pass there, and may not end there.
    pub fn internNode(self: *Graph, content: Node) error{OutOfMemory}!?u32 {
        const Context = struct {
            graph: *const Graph,
            sought: []const u32,
            pub fn eql(context: @This(), id: u32) bool {
                return std.mem.eql(u32, context.graph.nodes.items[id].key(), context.sought);
            }
        };
        var node = content;
        const context: Context = .{ .graph = self, .sought = node.key() };
        const hash = stdx.hashWords(node.key(), 0);
        if (self.node_table.find(hash, context)) |known| return known;
        const rest = self.sets.items[node.parents].cost;
        node.cost = spelling.add(try self.ownCost(&node), rest);
        if (node.cost == unreachable_cost) {
            const inside = switch (node.kind) {
                .bytes, .marker => node.b > 0,
                .text => true,
                .string, .among => node.d == 0 or node.c != 0,
                .texts => node.b != self.program.dawgs[node.a].root,
                .regex, .pattern, .object_other => node.c != 0,
                .object_key => registers_room.keyLeads(self, &node),
                else => false,
            };
            if (!inside or rest == unreachable_cost) return null;
        }
        const id: u32 = @intCast(self.nodes.items.len);
        try self.nodes.append(self.gpa, node);
        try self.node_table.insert(self.gpa, hash, id);
        return id;
    }

    pub fn internSet(self: *Graph, items: []const u32) error{OutOfMemory}!u32 {
        const Context = struct {
            graph: *const Graph,
            sought: []const u32,
            pub fn eql(context: @This(), id: u32) bool {
                return std.mem.eql(u32, context.graph.setItems(id), context.sought);
            }
        };
        if (items.len == 0) return 0;
        const context: Context = .{ .graph = self, .sought = items };
        const hash = stdx.hashWords(items, 0);
        if (self.set_table.find(hash, context)) |known| return known;
        var cost = unreachable_cost;
        for (items) |node| cost = @min(cost, self.nodes.items[node].cost);
        const id: u32 = @intCast(self.sets.items.len);
        const start: u32 = @intCast(self.set_items.items.len);
        try self.set_items.appendSlice(self.gpa, items);
        try self.sets.append(self.gpa, .{ .start = start, .len = @intCast(items.len), .cost = cost });
        try self.set_table.insert(self.gpa, hash, id);
        return id;
    }

    /// The first's nodes, then the second's others.
    pub fn unionSets(self: *Graph, first: u32, second: u32) error{OutOfMemory}!u32 {
        if (first == second) return first;
        var items: std.ArrayList(u32) = .empty;
        defer items.deinit(self.gpa);
        try items.appendSlice(self.gpa, self.setItems(first));
        for (self.setItems(second)) |node| {
            if (std.mem.findScalar(u32, self.setItems(first), node) == null) try items.append(self.gpa, node);
        }
        return self.internSet(items.items);
    }

    pub fn internState(self: *Graph, items: []const u32) error{OutOfMemory}!StateId {
        const Context = struct {
            graph: *const Graph,
            sought: []const u32,
            pub fn eql(context: @This(), id: u32) bool {
                return std.mem.eql(u32, context.graph.nodesOf(id), context.sought);
            }
        };
        if (items.len == 0) return dead_state;
        const context: Context = .{ .graph = self, .sought = items };
        const hash = stdx.hashWords(items, 0);
        if (self.state_table.find(hash, context)) |known| return known;
        const id: StateId = @intCast(self.states.items.len);
        var state: State = .{
            .start = @intCast(self.state_items.items.len),
            .len = @intCast(items.len),
            .cost = unreachable_cost,
            .all_counted = true,
        };
        const channel = self.nodes.items[items[0]].channel;
        for (items) |node_id| {
            const node = &self.nodes.items[node_id];
            state.cost = @min(state.cost, node.cost);
            const slack = self.slackOf(node);
            if (slack == none) {
                state.all_counted = false;
            } else {
                state.slack_min = @min(state.slack_min, slack);
                state.slack_max = if (state.slack_max == none) slack else @max(state.slack_max, slack);
            }
            if (node.kind == .end) state.accepts_end = true else if (node.channel != channel) state.mixed = true;
            switch (node.kind) {
                .token => state.edges = true,
                .texts, .regex => state.parts = true,
                .outside => state.special = .outside,
                .any_token => {
                    state.edges = true;
                    state.any_token = true;
                },
                .marker => state.edges = state.edges or (node.b == 0 and self.program.nodes[node.a].marker.token != none),
                .text => {
                    const controls = self.program.nodes[node.a].text.controls;
                    state.bounded = state.bounded or node.d != 0;
                    state.edges = state.edges or controls;
                    state.free = state.free or (controls and node.d == 0);
                },
                .value, .literal, .number, .string, .among, .pattern => if (node.d != 0) {
                    const known = self.tracks.knowledgeOf(self, node);
                    state.uncertain = state.uncertain or known == .nothing;
                    state.rough = state.rough or known == .possible;
                },
                .array_after => {
                    state.unresolved = state.unresolved or node.d & unique_room.unresolved_bit != 0;
                    state.uncertain = state.uncertain or node.d & unique_room.doubtful_bit != 0;
                },
                .object_key, .object_other => state.uncertain = state.uncertain or self.registers.get(node.a).unresolved,
                .object_comma => {
                    const register = self.registers.get(node.a);
                    state.uncertain = state.uncertain or register.unresolved and self.program.cases[register.case].object.runsOut();
                },
                .object_colon => state.unresolved = state.unresolved or self.registers.get(node.a).unresolved,
                else => {},
            }
        }
        for (items) |node_id| {
            if (!registers_room.isClosed(self, &self.nodes.items[node_id])) break;
        } else state.special = .keys;
        // The end reads nothing, so it has no channel of its own.
        if (self.nodes.items[items[0]].kind == .end and items.len > 1) {
            state.mixed = false;
            const second = self.nodes.items[items[1]].channel;
            for (items[1..]) |node_id| if (self.nodes.items[node_id].channel != second and self.nodes.items[node_id].kind != .end) {
                state.mixed = true;
            };
        }
        try self.state_items.appendSlice(self.gpa, items);
        try self.states.append(self.gpa, state);
        try self.state_table.insert(self.gpa, hash, id);
        return id;
    }

    /// Tokens that finish what the node itself stands for.
    fn ownCost(self: *Graph, node: *const Node) error{OutOfMemory}!u32 {
        const program = self.program;
        return switch (node.kind) {
            .end, .outside => 0,
            .bytes => program.nodes[node.a].bytes.cost[node.b],
            .token => 1,
            .marker => marker: {
                const marker = program.nodes[node.a].marker;
                break :marker if (node.b == 0 and marker.token != none) 1 else marker.bytes.cost[node.b];
            },
            .sequence => program.nodes[node.a].sequence.cost[node.b],
            .repeat => repeat: {
                const repeat = program.nodes[node.a].repeat;
                break :repeat spelling.times(repeat.min -| node.b, program.node_costs[repeat.item]);
            },
            .text => self.textCost(node),
            .texts => program.dawgs[node.a].cost[node.b],
            .any_token => 1,
            .record, .record_next => program.nodes[node.a].record.cost(program.node_costs, self.record_sets.get(node.b), node.kind == .record_next),
            .regex => try self.patterns.costInside(node.a, @bitCast(node.c)),
            .value => try self.tracks.valueCost(self, node.d, node.a, self.style(node).spelling),
            .literal => if (self.tracks.endLiteral(self, node.d, @fromBackingInt(node.a)) == null) unreachable_cost else program.literal_costs[node.a][node.b],
            .number => try self.tracks.numberCost(self, node.d, node.a, @intCast(node.b)),
            .string => try self.tracks.stringCost(self, node.d, node.a, node.b, @bitCast(node.c), self.style(node).spelling),
            .among => try self.tracks.amongCost(self, node.d, node.a, node.b, @bitCast(node.c), self.style(node).spelling),
            .pattern => try self.tracks.patternCost(self, node.d, node.a, @bitCast(node.c)),
            .object_open => open: {
                const registers = self.registers.get(node.a);
                break :open if (registers.closes) program.prices.brace else registers.start_cost;
            },
            .object_key => registers_room.keyCost(self, node),
            .object_other => try registers_room.otherKeyCost(self, node),
            .object_colon => spelling.add(spelling.add(program.colon_cost, program.values[node.b].cost), self.registers.get(node.a).after_cost),
            .object_after => self.registers.get(node.a).after_cost,
            .object_comma => self.registers.get(node.a).start_cost,
            .array_open => open: {
                const array = &program.cases[node.a].array;
                const cost = array.openCost();
                break :open if (array.unique == null) cost else Tracks.scaled(self, cost, Seen.empty, 1);
            },
            .array_after => after: {
                const array = &program.cases[node.a].array;
                const cost = array.costAfter(node.b, node.c);
                break :after if (array.unique == null) cost else Tracks.scaled(self, cost, unique_room.seenOf(node.d), 0);
            },
            .array_item => Tracks.waitingCost(self, node),
        };
    }

    /// Without the closing quote.
    pub fn stringCost(self: *const Graph, needed: u32, state: json_string.State) u32 {
        if (state.phase == .text) return self.program.characterCost(needed);
        const rest = self.program.characterCost(needed -| 1);
        const phase = @backingInt(state.phase);
        return spelling.add(rest, if (phase < json_string.utf8_phases)
            self.program.vocabulary.string_tables.finish_cost[phase]
        else
            json_string.escapeBytesLeft(state));
    }

    fn textCost(self: *const Graph, node: *const Node) u32 {
        const text = self.program.nodes[node.a].text;
        const phase: json_string.Phase = @fromBackingInt(@as(u8, @intCast(node.c)));
        if (phase == .text) return 0;
        if (!self.program.terminators[text.terminators].beyond_ascii) return self.program.vocabulary.string_tables.finish_cost[node.c];
        return self.textFinish(text.terminators, node.b, phase, 3);
    }

    /// Continuation bytes, each a token, that finish the character without completing a terminator. At most three are left.
    fn textFinish(self: *const Graph, terminators: u32, state: u32, phase: json_string.Phase, depth_left: u32) u32 {
        if (phase == .text) return 0;
        if (depth_left == 0) return unreachable_cost;
        for (0x80..0xc0) |byte| {
            if (!self.program.writable[byte]) continue;
            const next_phase = json_string.utf8Step(phase, @intCast(byte)) orelse continue;
            const next = self.program.terminators[terminators].step(state, @intCast(byte)) orelse continue;
            const rest = self.textFinish(terminators, next, next_phase, depth_left - 1);
            if (rest != unreachable_cost) return rest + 1;
        }
        return unreachable_cost;
    }
};
