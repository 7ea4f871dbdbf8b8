//! One byte, or one token by its id, read by every node of a state. What a node leads to is collected in order of preference; nodes that
//! are alike but for their parents become one.
const std = @import("std");
const Allocator = std.mem.Allocator;
const stdx = @import("../stdx.zig");
const words = stdx.words;
const json_string = @import("../vocabulary.zig").json_string;
const ir = @import("ir.zig");
const program_room = @import("program.zig");
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const Node = graph_room.Node;
const Space = graph_room.Space;
const StateId = graph_room.StateId;
const Transition = graph_room.Transition;
const Patterns = @import("patterns.zig").Patterns;
const Object = @import("object.zig").Object;
const registers_room = @import("registers.zig");
const unique_room = @import("unique.zig");
const Tracks = unique_room.Tracks;
const Counts = @import("counts.zig").Counts;
const Texts = @import("texts.zig").Texts;

const none = ir.none;

pub const Error = error{OutOfMemory};

pub const Stepper = struct {
    /// What the step leads to, parents included, costs not.
    results: std.ArrayList(Node) = .empty,
    slots: [slot_count]Slot = @splat(.{}),
    generation: u32 = 0,
    tasks: std.ArrayList(Task) = .empty,
    /// What has been entered in this step, as far as it is remembered, so that it is not done twice.
    entered: [entered_count]struct { generation: u32 = 0, entry: Enter = .{ .node = 0, .channel = .text, .parents = 0 } } = @splat(.{}),
    /// What has been finished in this step, so that it is not done twice.
    finished: std.ArrayList(Finish) = .empty,
    /// Repeats of items that can be empty, begun in this step: to finish one of these would be to go round without reading.
    begun: std.ArrayList(u32) = .empty,
    ids: std.ArrayList(u32) = .empty,
    /// Nodes that began to wait in this step.
    births: std.ArrayList(Birth) = .empty,
    birth_slots: [birth_count]Slot = @splat(.{}),
    birth_generation: u32 = 0,

    /// A node that waits, under `known` parents as far as an earlier pass has found them. `seen`: those of this pass.
    const Birth = struct { node: Node, known: u32, seen: u32 };
    const slot_count = 1024;
    const entered_count = 256;
    const birth_count = 256;
    /// A pass for each rule that begins inside of another without reading.
    const passes_max = 32;
    const Slot = struct { generation: u32 = 0, result: u32 = 0 };
    /// `class`: of an item in an array without equal ones.
    const Finish = struct { parents: u32, whitespace: u32, class: u5 = unique_room.uncounted };
    const Enter = struct { node: u32, channel: ir.Channel, parents: u32 };
    const Task = union(enum) {
        enter: Enter,
        finish: Finish,
        @"resume": struct { node: u32, done: Finish },
        emit: Node,
    };

    pub fn deinit(self: *Stepper, gpa: Allocator) void {
        self.results.deinit(gpa);
        self.tasks.deinit(gpa);
        self.finished.deinit(gpa);
        self.begun.deinit(gpa);
        self.ids.deinit(gpa);
        self.births.deinit(gpa);
    }

    /// The state before any output.
    pub fn start(self: *Stepper, graph: *Graph) Error!Transition {
        self.clear();
        const end = (try graph.internNode(.{ .kind = .end, .channel = .text })).?;
        try self.tasks.append(graph.gpa, .{ .enter = .{ .node = graph.program.root, .channel = .text, .parents = try graph.internSet(&.{end}) } });
        try self.run(graph);
        return self.collect(graph);
    }

    pub fn step(self: *Stepper, graph: *Graph, state: StateId, byte: u8) Error!Transition {
        self.clear();
        for (0..passes_max) |_| {
            self.restart();
            const known = graph.states.items[state];
            for (known.start..known.start + known.len) |at| {
                const node = graph.nodes.items[graph.state_items.items[at]];
                try self.read(graph, node, byte);
                try self.run(graph);
            }
            if (!self.learns()) break;
        }
        return self.collectAfter(graph, state);
    }

    /// After the closing quote of a key, whose node need not be one of a state.
    pub fn endKeyAt(self: *Stepper, graph: *Graph, node: *const Node) Error!StateId {
        self.clear();
        try self.endKey(graph, node.*, &graph.program.cases[graph.registers.get(node.a).case].object);
        return (try self.collect(graph)).state;
    }

    /// After the closing quote of keys that have to match, all nodes of a state, whatever was read of them.
    pub fn endKeys(self: *Stepper, graph: *Graph, state: StateId) Error!Transition {
        self.clear();
        const known = graph.states.items[state];
        for (known.start..known.start + known.len) |at| {
            try self.endMatching(graph, graph.nodes.items[graph.state_items.items[at]]);
        }
        return self.collectAfter(graph, state);
    }

    fn collectAfter(self: *Stepper, graph: *Graph, state: StateId) Error!Transition {
        var next = try self.collect(graph);
        // Where nothing was counted, there is nothing to forget.
        if (graph.states.items[state].slack_min == none and next.whitespace == Transition.reset) next.whitespace = 0;
        return next;
    }

    /// The state after what waits for these parents' child.
    pub fn finishAll(self: *Stepper, graph: *Graph, parents: u32) Error!StateId {
        self.clear();
        for (0..passes_max) |_| {
            self.restart();
            try self.finish(graph, parents, 0);
            try self.run(graph);
            if (!self.learns()) break;
        }
        return (try self.collect(graph)).state;
    }

    /// Reads a token by its id where the grammar names it, or where unconstrained text lets it pass.
    pub fn stepToken(self: *Stepper, graph: *Graph, state: StateId, token: u32) Error!Transition {
        self.clear();
        const known = graph.states.items[state];
        for (known.start..known.start + known.len) |at| {
            const node = graph.nodes.items[graph.state_items.items[at]];
            switch (node.kind) {
                .token => if (graph.program.nodes[node.a].token == token) try self.finish(graph, node.parents, 0),
                .marker => if (node.b == 0 and graph.program.nodes[node.a].marker.token == token) try self.finish(graph, node.parents, 0),
                .any_token => if (words.isSet(graph.program.nodes[node.a].any_token, token)) try self.finish(graph, node.parents, 0),
                .text => if (passes(graph, &node, token)) {
                    // A control token has no bytes, so the text around it is unbroken.
                    try self.tasks.append(graph.gpa, .{ .emit = node });
                    try self.tasks.append(graph.gpa, .{ .finish = .{ .parents = node.parents, .whitespace = 0 } });
                },
                else => {},
            }
            try self.run(graph);
        }
        return self.collect(graph);
    }

    /// Whether unconstrained text takes this control token.
    pub fn passes(graph: *const Graph, node: *const Node, token: u32) bool {
        const text = &graph.program.nodes[node.a].text;
        return text.controls and graph.program.vocabulary.kinds[token] == .control and !ir.names(text.until, token);
    }

    /// The state after a key that was not declared, or after an item unlike all others, once it is known: `text` decoded, if it is a string,
    /// and the key of the item's value.
    pub fn resolve(self: *Stepper, graph: *Graph, state: StateId, text: []const u8, item: []const u8) Error!StateId {
        self.ids.clearRetainingCapacity();
        const known = graph.states.items[state];
        for (known.start..known.start + known.len) |at| {
            var id = graph.state_items.items[at];
            var node = graph.nodes.items[id];
            if (node.kind == .object_colon and graph.registers.get(node.a).unresolved) {
                node.a = try graph.registers.resolve(graph, node.a, text);
                id = try graph.internNode(node) orelse continue;
            } else if (node.kind == .array_after and node.d & unique_room.unresolved_bit != 0) {
                node.d = try graph.registers.seen.insert(graph.gpa, unique_room.seenOf(node.d), item);
                id = try graph.internNode(node) orelse continue;
            }
            try self.ids.append(graph.gpa, id);
        }
        return graph.internState(self.ids.items);
    }

    fn clear(self: *Stepper) void {
        self.births.clearRetainingCapacity();
        self.birth_generation +%= 1;
        if (self.birth_generation == 0) {
            self.birth_slots = @splat(.{});
            self.birth_generation = 1;
        }
        self.restart();
    }

    /// Forgets everything but what has been born.
    fn restart(self: *Stepper) void {
        self.results.clearRetainingCapacity();
        self.tasks.clearRetainingCapacity();
        self.finished.clearRetainingCapacity();
        self.begun.clearRetainingCapacity();
        self.generation +%= 1;
        if (self.generation == 0) {
            self.slots = @splat(.{});
            self.entered = @splat(.{});
            self.generation = 1;
        }
    }

    /// Turns the results into a state, counting whitespace from the least that any of its JSON texts has spent.
    fn collect(self: *Stepper, graph: *Graph) Error!Transition {
        var least: u32 = none;
        for (self.results.items) |*node| {
            if (node.kind.isJson() and graph.style(node).whitespace_max != none and node.whitespace != Node.fresh) least = @min(least, node.whitespace);
        }
        const counted = least != none;
        const delta: u8 = if (counted) @intCast(@min(least, Transition.reset - 1)) else Transition.reset;
        self.ids.clearRetainingCapacity();
        for (self.results.items) |*node| {
            if (node.whitespace == Node.fresh) {
                node.whitespace = 0;
            } else if (counted and node.kind.isJson() and graph.style(node).whitespace_max != none) {
                node.whitespace -= delta;
            }
            if (try graph.internNode(node.*)) |id| try self.ids.append(graph.gpa, id);
        }
        const state = try graph.internState(self.ids.items);
        return if (state == Graph.dead_state) .dead else .{
            .state = @intCast(state),
            .uncertain = graph.states.items[state].uncertain,
            .whitespace = delta,
        };
    }

    fn emit(self: *Stepper, graph: *Graph, node: Node) Error!void {
        var at = @as(usize, @truncate(node.contentHash())) & (slot_count - 1);
        // Beyond half full, the last results are not found again: they stay apart, which costs time and nothing else.
        const searchable = self.results.items.len < slot_count / 2;
        while (self.slots[at].generation == self.generation) : (at = (at + 1) & (slot_count - 1)) {
            const known = &self.results.items[self.slots[at].result];
            if (!known.sameContent(&node)) continue;
            const parents = try graph.unionSets(known.parents, node.parents);
            self.results.items[self.slots[at].result].parents = parents;
            return;
        }
        if (searchable) self.slots[at] = .{ .generation = self.generation, .result = @intCast(self.results.items.len) };
        try self.results.append(graph.gpa, node);
    }

    fn run(self: *Stepper, graph: *Graph) Error!void {
        while (self.tasks.pop()) |task| switch (task) {
            .emit => |node| try self.emit(graph, node),
            .enter => |entry| if (!self.wasEntered(entry)) try self.enter(graph, entry.node, entry.channel, entry.parents),
            .finish => |done| {
                const seen = for (self.finished.items) |known| {
                    if (known.parents == done.parents and known.whitespace == done.whitespace and known.class == done.class) break true;
                } else false;
                if (seen) continue;
                try self.finished.append(graph.gpa, done);
                const items = graph.setItems(done.parents);
                var at = items.len;
                while (at > 0) {
                    at -= 1;
                    try self.tasks.append(graph.gpa, .{ .@"resume" = .{ .node = items[at], .done = done } });
                }
            },
            .@"resume" => |parent| try self.goOn(graph, parent.node, parent.done),
        };
    }

    /// Whether all that entering this leads to is there already: ambiguous rules lead to one place in many ways.
    fn wasEntered(self: *Stepper, entry: Enter) bool {
        const slot = &self.entered[stdx.hashWords(&.{ entry.node, entry.parents, @backingInt(entry.channel) }, 0) & (entered_count - 1)];
        if (slot.generation == self.generation and std.meta.eql(slot.entry, entry)) return true;
        slot.* = .{ .generation = self.generation, .entry = entry };
        return false;
    }

    fn finish(self: *Stepper, graph: *Graph, parents: u32, whitespace: u32) Error!void {
        try self.tasks.append(graph.gpa, .{ .finish = .{ .parents = parents, .whitespace = whitespace } });
    }

    /// Finishes a scalar; `class` is null if it may not be the item that it is.
    fn finishItem(self: *Stepper, graph: *Graph, node: Node, class: ?u5) Error!void {
        try self.tasks.append(graph.gpa, .{ .finish = .{ .parents = node.parents, .whitespace = node.whitespace, .class = class orelse return } });
    }

    /// A waiting node goes on after its child.
    fn goOn(self: *Stepper, graph: *Graph, id: u32, done: Finish) Error!void {
        const node = graph.nodes.items[id];
        switch (node.kind) {
            .end => try self.emit(graph, node),
            .sequence => try self.enterItem(graph, node.a, node.b, node.channel, node.parents),
            .record => try self.goOnRecord(graph, &node),
            .record_next => try self.enterRecordItems(graph, node.a, node.b, node.channel, node.parents),
            .repeat => {
                const repeat = graph.program.nodes[node.a].repeat;
                if (std.mem.findScalar(u32, self.begun.items, id) != null) return;
                if (repeat.max == none or node.b < repeat.max) try self.enterAgain(graph, node.a, node.b, node.channel, node.parents);
                if (node.b >= repeat.min) try self.finish(graph, node.parents, 0);
            },
            .outside, .object_after, .array_after => {
                var top = node;
                top.whitespace = done.whitespace;
                try self.emit(graph, top);
            },
            .array_item => {
                var top = node;
                top.kind = .array_after;
                top.c = Tracks.countedAfter(graph, &node, done.class) orelse return;
                top.d = node.d | unique_room.unresolved_bit;
                if (node.d & unique_room.unresolved_bit != 0) top.d |= unique_room.doubtful_bit;
                top.whitespace = done.whitespace;
                try self.emit(graph, top);
            },
            else => unreachable,
        }
    }

    /// Tasks are taken last first.
    fn enter(self: *Stepper, graph: *Graph, id: u32, channel: ir.Channel, parents: u32) Error!void {
        const tasks = &self.tasks;
        const gpa = graph.gpa;
        switch (graph.program.nodes[id]) {
            .bytes => |bytes| if (bytes.text.len == 0) try self.finish(graph, parents, 0) else try self.emit(graph, .{ .kind = .bytes, .channel = channel, .a = id, .parents = parents }),
            .token => try self.emit(graph, .{ .kind = .token, .channel = channel, .a = id, .parents = parents }),
            .marker => try self.emit(graph, .{ .kind = .marker, .channel = channel, .a = id, .parents = parents }),
            .sequence => |sequence| if (sequence.items.len == 0) try self.finish(graph, parents, 0) else try self.enterItem(graph, id, 0, channel, parents),
            .choice => |items| {
                var at = items.len;
                while (at > 0) {
                    at -= 1;
                    try tasks.append(gpa, .{ .enter = .{ .node = items[at], .channel = channel, .parents = parents } });
                }
            },
            .repeat => |repeat| {
                if (repeat.max > 0) try self.enterAgain(graph, id, 0, channel, parents);
                if (repeat.min == 0) try self.finish(graph, parents, 0);
            },
            .channel => |inner| try tasks.append(gpa, .{ .enter = .{ .node = inner.item, .channel = inner.channel, .parents = parents } }),
            .text => |text| {
                const tokens = if (text.tokens_max == none) 0 else text.tokens_max +| 1;
                try tasks.append(gpa, .{ .emit = .{ .kind = .text, .channel = channel, .a = id, .d = tokens, .parents = parents } });
                try self.finish(graph, parents, 0);
            },
            .record => |record| {
                const written = try graph.record_sets.empty(gpa, record.items.len);
                try self.enterRecordItems(graph, id, written, channel, parents);
                if (record.mayEnd(graph.record_sets.get(written))) try self.finish(graph, parents, 0);
            },
            .texts => |dawg| try self.emitTexts(graph, .{ .kind = .texts, .channel = channel, .a = dawg, .parents = parents }, graph.program.dawgs[dawg].root),
            .any_token => try self.emit(graph, .{ .kind = .any_token, .channel = channel, .a = id, .parents = parents }),
            .regex => |pattern| {
                const start_state = try graph.patterns.start(pattern);
                if (start_state != Patterns.dead) try self.emitRegex(graph, .{ .kind = .regex, .channel = channel, .parents = parents }, start_state, 0);
            },
            .json => |json| try self.emit(graph, .{
                .kind = .value,
                .channel = channel,
                .style = json.style,
                .a = json.value,
                .b = @backingInt(Space.forbidden),
                .whitespace = if (graph.program.styles[json.style].whitespace_max == none) 0 else Node.fresh,
                .parents = parents,
            }),
        }
    }

    fn enterItem(self: *Stepper, graph: *Graph, id: u32, index: u32, channel: ir.Channel, parents: u32) Error!void {
        const items = graph.program.nodes[id].sequence.items;
        // The last item's end is the sequence's end, so that right recursion does not pile up.
        const own = if (index + 1 == items.len)
            parents
        else
            try self.waiting(graph, .{ .kind = .sequence, .channel = channel, .a = id, .b = index + 1, .parents = parents }) orelse return;
        try self.tasks.append(graph.gpa, .{ .enter = .{ .node = items[index], .channel = channel, .parents = own } });
    }

    /// Enters a repeat's item once more, after `count`.
    fn enterAgain(self: *Stepper, graph: *Graph, id: u32, count: u32, channel: ir.Channel, parents: u32) Error!void {
        const repeat = graph.program.nodes[id].repeat;
        const next = if (repeat.max == none) @min(count + 1, repeat.min) else count + 1;
        const node = try self.born(graph, .{ .kind = .repeat, .channel = channel, .a = id, .b = next, .parents = parents }) orelse return;
        if (repeat.empty_item) try self.begun.append(graph.gpa, node);
        try self.tasks.append(graph.gpa, .{ .enter = .{ .node = repeat.item, .channel = channel, .parents = try graph.internSet(&.{node}) } });
    }

    fn goOnRecord(self: *Stepper, graph: *Graph, node: *const Node) Error!void {
        const record = &graph.program.nodes[node.a].record;
        if (record.separator == none) {
            try self.enterRecordItems(graph, node.a, node.b, node.channel, node.parents);
        } else if (try self.waiting(graph, .{ .kind = .record_next, .channel = node.channel, .a = node.a, .b = node.b, .parents = node.parents })) |next| {
            try self.tasks.append(graph.gpa, .{ .enter = .{ .node = record.separator, .channel = node.channel, .parents = next } });
        }
        if (record.mayEnd(graph.record_sets.get(node.b))) try self.finish(graph, node.parents, 0);
    }

    /// Those that were not written yet.
    fn enterRecordItems(self: *Stepper, graph: *Graph, id: u32, written: u32, channel: ir.Channel, parents: u32) Error!void {
        const record = &graph.program.nodes[id].record;
        var at = record.items.len;
        while (at > 0) {
            at -= 1;
            if (words.isSet(graph.record_sets.get(written), @intCast(at))) continue;
            const after = try graph.record_sets.with(graph.gpa, written, @intCast(at));
            const waits = try self.waiting(graph, .{ .kind = .record, .channel = channel, .a = id, .b = after, .parents = parents }) orelse continue;
            try self.tasks.append(graph.gpa, .{ .enter = .{ .node = record.items[at], .channel = channel, .parents = waits } });
        }
    }

    /// The set of one node that waits; null if it could never be finished.
    fn waiting(self: *Stepper, graph: *Graph, node: Node) Error!?u32 {
        const id = try self.born(graph, node) orelse return null;
        return try graph.internSet(&.{id});
    }

    /// A node that begins to wait. Those that begin in one step and are alike are one, under the parents of all: were they apart, what begins
    /// inside them would be, too, and an ambiguous text would have as many nodes as there are ways to read it.
    fn born(self: *Stepper, graph: *Graph, node: Node) Error!?u32 {
        const birth = try self.birthOf(graph.gpa, node) orelse return graph.internNode(node);
        if (birth.known == none) birth.known = node.parents;
        birth.seen = if (birth.seen == none) node.parents else try graph.unionSets(birth.seen, node.parents);
        var whole = node;
        whole.parents = try graph.unionSets(birth.known, node.parents);
        return graph.internNode(whole);
    }

    /// What is known of a node that begins to wait again; null where nothing is, or nothing can be remembered.
    fn birthOf(self: *Stepper, gpa: Allocator, node: Node) Error!?*Birth {
        var at = @as(usize, @truncate(node.contentHash())) & (birth_count - 1);
        while (self.birth_slots[at].generation == self.birth_generation) : (at = (at + 1) & (birth_count - 1)) {
            const birth = &self.births.items[self.birth_slots[at].result];
            if (birth.node.sameContent(&node)) return birth;
        }
        if (self.births.items.len == birth_count / 2) return null;
        self.birth_slots[at] = .{ .generation = self.birth_generation, .result = @intCast(self.births.items.len) };
        try self.births.append(gpa, .{ .node = node, .known = node.parents, .seen = node.parents });
        return null;
    }

    /// Whether another pass would find more of what began to wait under its parents.
    fn learns(self: *Stepper) bool {
        const changed = for (self.births.items) |*birth| {
            if (birth.seen != birth.known) break true;
        } else false;
        if (changed) for (self.births.items) |*birth| {
            birth.known = birth.seen;
            birth.seen = none;
        };
        return changed;
    }

    // Reading a byte

    fn read(self: *Stepper, graph: *Graph, node: Node, byte: u8) Error!void {
        const program = graph.program;
        switch (node.kind) {
            .end, .token, .any_token, .outside => {},
            .sequence, .repeat, .record, .record_next, .array_item => unreachable,
            .texts => {
                const next = program.dawgs[node.a].child(node.b, byte);
                if (next != none) try self.emitTexts(graph, node, next);
            },
            .bytes => try self.readText(graph, node, byte, program.nodes[node.a].bytes.text),
            .marker => try self.readText(graph, node, byte, program.nodes[node.a].marker.bytes.text),
            .literal => {
                const literal: program_room.Literal = @fromBackingInt(node.a);
                if (literal.text()[node.b] != byte) return;
                if (node.b + 1 == literal.text().len) return self.finishItem(graph, node, graph.tracks.endLiteral(graph, node.d, literal));
                var next = node;
                next.b += 1;
                try self.emit(graph, next);
            },
            .text => try self.readFree(graph, node, byte),
            .regex => switch (try graph.patterns.read(node.a, @bitCast(node.c), byte)) {
                .dead, .close => {},
                .inside => |next| try self.emitRegex(graph, node, next.state, @bitCast(next.at)),
            },
            .value => if (isSpace(byte)) try self.readSpace(graph, node, byte) else try self.begin(graph, node.a, byte, &node, .{ .parents = node.parents, .track = node.d }),
            .number => {
                const next = program.numbers[node.a].step(@intCast(node.b), byte) orelse return;
                try self.emitNumber(graph, node, node.a, next, byte);
            },
            .string => try self.readString(graph, node, byte),
            .pattern => switch (try graph.patterns.read(node.a, @bitCast(node.c), byte)) {
                .dead => {},
                .close => if (graph.patterns.accepts(node.a)) try self.finishItem(graph, node, graph.tracks.endString(graph, node.d)),
                .inside => |next| {
                    var inside = node;
                    inside.d = try graph.tracks.afterByte(graph, node.d, @bitCast(node.c), byte);
                    inside.a = next.state;
                    inside.c = @bitCast(next.at);
                    try self.emit(graph, inside);
                },
            },
            .among => try self.readKnown(graph, node, byte),
            .object_open => switch (byte) {
                '"' => try self.beginKey(graph, node),
                '}' => if (graph.registers.get(node.a).closes) try self.finish(graph, node.parents, node.whitespace),
                else => if (isSpace(byte)) try self.readSpace(graph, node, byte),
            },
            .object_key => try self.readKey(graph, node, byte),
            .object_other => try self.readOtherKey(graph, node, byte),
            .object_colon => if (byte == ':') {
                const parents = if (node.a == 0) node.parents else try self.waiting(graph, memberOf(&node)) orelse return;
                try self.emitValue(graph, node, node.b, .{ .parents = parents });
            } else if (isSpace(byte)) try self.readSpace(graph, node, byte),
            .object_after => switch (byte) {
                '}' => if (graph.registers.get(node.a).closes) try self.finish(graph, node.parents, node.whitespace),
                ',' => {
                    var next = node;
                    next.kind = .object_comma;
                    next.b = afterSeparator(graph, &node);
                    try self.emit(graph, next);
                },
                else => if (isSpace(byte)) try self.readSpace(graph, node, byte),
            },
            .object_comma => if (byte == '"') try self.beginKey(graph, node) else if (isSpace(byte)) try self.readSpace(graph, node, byte),
            .array_open => {
                const array = &program.cases[node.a].array;
                if (isSpace(byte)) return self.readSpace(graph, node, byte);
                if (byte == ']') {
                    if (array.closes(0, Counts.zero)) try self.finish(graph, node.parents, node.whitespace);
                } else if (array.max > 0) for (array.places(0)) |option| {
                    const item = try self.waitingItem(graph, node, 0, option) orelse continue;
                    try self.begin(graph, option.value, byte, &node, item);
                };
            },
            .array_after => {
                const array = &program.cases[node.a].array;
                if (isSpace(byte)) return self.readSpace(graph, node, byte);
                if (byte == ']') {
                    if (array.closes(node.b, node.c)) try self.finish(graph, node.parents, node.whitespace);
                } else if (byte == ',' and (array.max == none or node.b < array.max)) for (array.places(node.b)) |option| {
                    const item = try self.waitingItem(graph, node, node.b, option) orelse continue;
                    try self.emitValue(graph, node, option.value, item);
                };
            },
        }
    }

    fn readText(self: *Stepper, graph: *Graph, node: Node, byte: u8, text: []const u8) Error!void {
        if (node.b >= text.len or text[node.b] != byte) return;
        if (node.b + 1 == text.len) return self.finish(graph, node.parents, node.whitespace);
        var next = node;
        next.b += 1;
        try self.emit(graph, next);
    }

    fn readFree(self: *Stepper, graph: *Graph, node: Node, byte: u8) Error!void {
        const text = &graph.program.nodes[node.a].text;
        var next = node;
        next.b = graph.program.terminators[text.terminators].step(node.b, byte) orelse return;
        if (!text.controls) {
            const phase = json_string.utf8Step(@fromBackingInt(@as(u8, @intCast(node.c))), byte) orelse return;
            next.c = @backingInt(phase);
        }
        try self.tasks.append(graph.gpa, .{ .emit = next });
        if (next.c == 0) try self.finish(graph, node.parents, 0);
    }

    /// Text that matches has no end of its own: where it may stop, what comes after it is live as well.
    fn emitRegex(self: *Stepper, graph: *Graph, context: Node, state: u32, at: u32) Error!void {
        if (at != 0 or try graph.patterns.goesOn(state)) {
            var next = context;
            next.kind = .regex;
            next.a = state;
            next.c = at;
            try self.tasks.append(graph.gpa, .{ .emit = next });
        }
        if (at == 0 and graph.patterns.accepts(state)) try self.finish(graph, context.parents, 0);
    }

    fn readSpace(self: *Stepper, graph: *Graph, node: Node, byte: u8) Error!void {
        var next = node;
        const max = graph.style(&node).whitespace_max;
        if (node.kind == .value or node.kind == .object_comma) {
            const space: Space = @fromBackingInt(node.b);
            if (space == .forbidden) return;
            next.b = @backingInt(Space.counted);
            if (space == .one_free and byte == ' ') return self.emit(graph, next);
        }
        if (max == 0) return;
        if (max != none) next.whitespace = @min(node.whitespace + 1, Node.fresh - 1);
        try self.emit(graph, next);
    }

    /// What waits for a value, and the track of the scalar that it is.
    const Place = struct { parents: u32, track: u32 = 0 };

    /// The first byte of a value. `context` gives channel, style and whitespace.
    fn begin(self: *Stepper, graph: *Graph, value: u32, byte: u8, context: *const Node, place: Place) Error!void {
        const program = graph.program;
        for (program.values[value].cases) |case| {
            var next: Node = .{ .kind = .literal, .channel = context.channel, .style = context.style, .whitespace = context.whitespace, .parents = place.parents };
            next.d = if (byte == '"') try graph.tracks.openString(graph, place.track) else place.track;
            switch (program.cases[case]) {
                .literal => |literal| if (literal.text()[0] == byte) {
                    next.a = @backingInt(literal);
                    next.b = 1;
                    try self.emit(graph, next);
                },
                .number => |number| if (program.numbers[number].step(0, byte)) |state| try self.emitNumber(graph, next, number, state, byte),
                .string => |string| if (byte == '"') {
                    next.kind = .string;
                    next.a = string.min;
                    next.b = string.max;
                    try self.emit(graph, next);
                },
                .pattern => |pattern| if (byte == '"') {
                    next.kind = .pattern;
                    next.a = try graph.patterns.start(pattern);
                    try self.emit(graph, next);
                },
                .among => |texts| if (byte == '"') {
                    next.kind = .among;
                    next.a = texts;
                    next.b = Texts.root;
                    try self.emit(graph, next);
                },
                .array => if (byte == '[') {
                    next.kind = .array_open;
                    next.a = case;
                    try self.emit(graph, next);
                },
                .object => if (byte == '{') {
                    next.kind = .object_open;
                    next.a = try graph.registers.open(graph, case);
                    try self.emit(graph, next);
                },
            }
            try self.run(graph);
        }
    }

    fn emitValue(self: *Stepper, graph: *Graph, context: Node, value: u32, place: Place) Error!void {
        try self.emit(graph, .{
            .kind = .value,
            .channel = context.channel,
            .style = context.style,
            .a = value,
            .b = afterSeparator(graph, &context),
            .d = place.track,
            .whitespace = context.whitespace,
            .parents = place.parents,
        });
    }

    /// A number has no closing byte: where it may end, what comes after it is live as well.
    fn emitNumber(self: *Stepper, graph: *Graph, context: Node, number: u32, state: u16, byte: u8) Error!void {
        const automaton = &graph.program.numbers[number];
        var next = context;
        next.kind = .number;
        next.a = number;
        next.b = state;
        next.d = try graph.tracks.afterDigit(graph, context.d, byte);
        if (automaton.goesOn(state)) try self.tasks.append(graph.gpa, .{ .emit = next });
        if (automaton.accepts[state]) try self.finishItem(graph, next, graph.tracks.endNumber(graph, next.d));
    }

    /// Where a string may end, what comes after it is live as well.
    fn emitTexts(self: *Stepper, graph: *Graph, context: Node, at: u32) Error!void {
        const dawg = &graph.program.dawgs[context.a];
        if (dawg.goesOn(at)) {
            var next = context;
            next.b = at;
            try self.tasks.append(graph.gpa, .{ .emit = next });
        }
        if (dawg.ends(at)) try self.finish(graph, context.parents, 0);
    }

    /// What waits for an item under one of its options, after `count` items; null if the array could not be finished then.
    fn waitingItem(self: *Stepper, graph: *Graph, node: Node, count: u32, option: program_room.Option) Error!?Place {
        const array = &graph.program.cases[node.a].array;
        const counted = array.counts.add(node.c, option.counts) orelse return null;
        const next: Node = .{
            .kind = if (array.unique == null) .array_after else .array_item,
            .channel = node.channel,
            .style = node.style,
            .a = node.a,
            .b = array.saturate(count + 1),
            .c = counted,
            .d = node.d,
            .parents = node.parents,
        };
        const parents = try self.waiting(graph, next) orelse return null;
        if (array.unique == null) return .{ .parents = parents };
        return .{ .parents = parents, .track = try graph.tracks.ofItem(graph, &next) orelse return null };
    }

    fn readString(self: *Stepper, graph: *Graph, from: Node, byte: u8) Error!void {
        var node = from;
        node.d = try graph.tracks.afterByte(graph, from.d, @bitCast(from.c), byte);
        const state: json_string.State = @bitCast(node.c);
        const spelling: json_string.Spelling = if (graph.style(&node).spelling == .spec) .spec else .plain;
        // A character begun has to fit.
        const fits = state.phase != .text or node.b > 0;
        switch (json_string.step(state, byte, spelling)) {
            .dead => {},
            .close => if (node.a == 0) try self.finishItem(graph, node, graph.tracks.endString(graph, from.d)),
            .inside => |next| if (fits and graph.program.escapes) {
                // Which character it becomes matters beside other strings only.
                const inside = if (spelling == .spec and node.d == 0) json_string.anyCharacter(next) else next;
                try self.emitString(graph, node, inside, false);
            },
            .raw => |next| if (fits) try self.emitString(graph, node, next, next.phase == .text),
            .char => try self.emitString(graph, node, .start, true),
        }
    }

    fn emitString(self: *Stepper, graph: *Graph, node: Node, state: json_string.State, complete: bool) Error!void {
        var next = node;
        next.c = @bitCast(state);
        if (complete) {
            next.a -|= 1;
            if (next.b != none) next.b -= 1;
        }
        try self.emit(graph, next);
    }

    fn readKnown(self: *Stepper, graph: *Graph, node: Node, byte: u8) Error!void {
        const texts = &graph.program.texts[node.a];
        var next = node;
        next.d = try graph.tracks.afterByte(graph, node.d, @bitCast(node.c), byte);
        switch (json_string.step(@bitCast(node.c), byte, registers_room.spellingOf(graph, &node))) {
            .dead => return,
            .close => return if (texts.nodes[node.b].entry != none) self.finishItem(graph, node, graph.tracks.endString(graph, node.d)),
            .inside => |state| {
                var bytes: std.bit_set.Static(256) = .empty;
                texts.addBytes(node.b, &bytes);
                if (!json_string.becomesOne(state, registers_room.spellingOf(graph, &node), &bytes)) return;
                next.c = @bitCast(state);
            },
            .raw => |state| {
                next.c = @bitCast(state);
                next.b = texts.child(node.b, byte);
            },
            .char => |char| {
                next.c = 0;
                next.b = texts.childOfChar(node.b, char);
            },
        }
        if (next.b != none) try self.emit(graph, next);
    }

    fn beginKey(self: *Stepper, graph: *Graph, node: Node) Error!void {
        const extras = graph.registers.get(node.a).extras;
        const object = &graph.program.cases[graph.registers.get(node.a).case].object;
        var next = node;
        next.kind = .object_key;
        next.b = Texts.root;
        next.c = 0;
        next.d = extras;
        try self.emit(graph, next);
        next.kind = .object_other;
        for (object.classes) |class| if (class.keys != none) {
            next.b = try graph.patterns.start(class.keys);
            next.d = try graph.registers.internPlace(graph.gpa, graph.registers.get(node.a).case, .{ .declared = Texts.root, .seen = extras });
            try self.emit(graph, next);
        };
    }

    fn readOtherKey(self: *Stepper, graph: *Graph, node: Node, byte: u8) Error!void {
        const registers = &graph.registers;
        const case = registers.get(node.a).case;
        const at: json_string.State = @bitCast(node.c);
        const place = registers.placeOf(node.d);
        const known = registers.knownKeys(&graph.program.cases[case].object);
        var next = node;
        switch (try graph.patterns.read(node.b, at, byte)) {
            .dead => {},
            .close => if (graph.patterns.accepts(node.b) and !known.ends(place)) try self.endMatching(graph, node),
            .inside => |inside| {
                next.b = inside.state;
                next.c = @bitCast(inside.at);
                next.d = try registers.internPlace(graph.gpa, case, known.afterByte(place, at, byte));
                try self.emit(graph, next);
            },
        }
    }

    /// After a key of the class that its pattern is of.
    fn endMatching(self: *Stepper, graph: *Graph, node: Node) Error!void {
        const object = &graph.program.cases[graph.registers.get(node.a).case].object;
        try self.endOther(graph, node, object.classes[registers_room.classOf(graph, object, node.b)].options);
    }

    /// After a key that is not declared.
    fn endOther(self: *Stepper, graph: *Graph, node: Node, options: []const program_room.Option) Error!void {
        for (options) |option| {
            var next = node;
            next.kind = .object_colon;
            next.a = try graph.registers.afterExtra(graph, node.a, option.counts);
            next.b = option.value;
            next.c = 0;
            next.d = 0;
            try self.emit(graph, next);
        }
    }

    fn readKey(self: *Stepper, graph: *Graph, node: Node, byte: u8) Error!void {
        switch (registers_room.readKey(graph, &node, byte)) {
            .dead => {},
            .close => try self.endKey(graph, node, &graph.program.cases[graph.registers.get(node.a).case].object),
            // Whether any key is left is told by what it costs.
            .inside => |next| try self.emit(graph, next),
        }
    }

    fn endKey(self: *Stepper, graph: *Graph, node: Node, object: *const Object) Error!void {
        const registers = &graph.registers;
        var next = node;
        next.kind = .object_colon;
        next.c = 0;
        next.d = 0;
        const declared = if (node.b == none) none else object.keys.nodes[node.b].entry;
        if (declared != none) {
            if (!registers.isAvailable(node.a, declared)) return;
            for (object.properties[declared].options) |option| {
                next.a = try registers.afterKey(graph, node.a, declared, option.counts);
                next.b = option.value;
                try self.emit(graph, next);
            }
            return;
        }
        if (!registers.get(node.a).extras_open or registers.seen.ends(node.d)) return;
        try self.endOther(graph, node, object.classes[0].options);
    }
};

/// What waits for the value after a key.
pub fn memberOf(colon: *const Node) Node {
    return .{ .kind = .object_after, .channel = colon.channel, .style = colon.style, .a = colon.a, .parents = colon.parents };
}

fn afterSeparator(graph: *const Graph, node: *const Node) u32 {
    // Where nothing is counted, nothing is free either: one state instead of two.
    const style = graph.style(node);
    return @backingInt(if (style.free_space and style.whitespace_max != none) Space.one_free else Space.counted);
}

fn isSpace(byte: u8) bool {
    return byte == ' ' or byte == '\n' or byte == '\t' or byte == '\r';
}
