//! Which bytes a node may read, at a glance: most states read only a few, and a mask has to ask about all. Never too few, sometimes too many.
const std = @import("std");
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const Node = graph_room.Node;
const program_room = @import("program.zig");
const Program = program_room.Program;
const Place = @import("fresh.zig").Place;
const Texts = @import("texts.zig").Texts;
const json_string = @import("../vocabulary.zig").json_string;
const ir = @import("ir.zig");

pub const ByteSet = std.bit_set.Static(256);

pub fn bytesOf(graph: *const Graph, node: *const Node) ByteSet {
    const program = graph.program;
    return switch (node.kind) {
        .end, .token, .any_token, .sequence, .repeat, .record, .record_next, .outside, .array_item => .empty,
        .bytes => one(program.nodes[node.a].bytes.text, node.b),
        .marker => one(program.nodes[node.a].marker.bytes.text, node.b),
        .literal => one(@as(program_room.Literal, @fromBackingInt(node.a)).text(), node.b),
        .texts => texts: {
            var set: ByteSet = .empty;
            for (program.dawgs[node.a].edgesOf(node.b)) |edge| set.set(edge.byte);
            break :texts set;
        },
        .text, .regex => .full,
        .value => valueBytes(program, node.a).unionWith(spaces),
        .number => numberBytes(program, node.a, @intCast(node.b)),
        .string, .pattern, .object_other => stringBytes(@bitCast(node.c)),
        .among => if (node.c == 0) textBytes(&program.texts[node.a], node.b) else stringBytes(@bitCast(node.c)),
        .object_key => key: {
            const register = graph.registers.get(node.a);
            if (register.extras_open or node.c != 0 or node.b == ir.none) break :key stringBytes(@bitCast(node.c));
            break :key textBytes(&program.cases[register.case].object.keys, node.b);
        },
        .object_open => of("\"}").unionWith(spaces),
        .object_colon => of(":").unionWith(spaces),
        .object_after => of(",}").unionWith(spaces),
        .object_comma => of("\"").unionWith(spaces),
        .array_open => open: {
            var begins: ByteSet = .empty;
            for (program.cases[node.a].array.places(0)) |option| begins.setUnion(valueBytes(program, option.value));
            break :open begins.unionWith(of("]")).unionWith(spaces);
        },
        .array_after => of(",]").unionWith(spaces),
    };
}

/// Printable ASCII that is itself in a string.
const plain: ByteSet = set: {
    var set: ByteSet = .empty;
    for (0x20..0x80) |byte| if (byte != '"' and byte != '\\') set.set(byte);
    break :set set;
};

/// Of all these nodes together.
pub fn bytesOfAll(graph: *Graph, ids: []const u32) error{OutOfMemory}!ByteSet {
    var set: ByteSet = .empty;
    for (ids) |id| {
        const node = &graph.nodes.items[id];
        // A pattern's state finds them out, and keeps them.
        set.setUnion(if (node.kind == .regex) try graph.patterns.bytesOf(node.a, @bitCast(node.c)) else bytesOf(graph, node));
    }
    return set;
}

/// Bytes after each of which all of a state's nodes are the same, so that one step tells about all of them.
pub fn alike(graph: *const Graph, ids: []const u32) ByteSet {
    // Without a string it is not worth looking.
    for (ids) |id| switch (graph.nodes.items[id].kind) {
        .string, .object_key, .object_other => break,
        else => {},
    } else return .empty;
    var set = plain;
    for (ids) |id| {
        const node = &graph.nodes.items[id];
        set.setIntersection(alikeBytes(graph, node).unionWith(bytesOf(graph, node).complement()));
    }
    return set;
}

fn alikeBytes(graph: *const Graph, node: *const Node) ByteSet {
    if (node.c != 0) return .empty;
    const registers = &graph.registers;
    switch (node.kind) {
        .string => return if (node.d == 0) plain else graph.tracks.bytesAway(graph, node.d).intersectWith(plain),
        .object_key => if (registers.get(node.a).extras_open) return plainAway(graph, node.a, .{ .declared = node.b, .seen = node.d }),
        .object_other => {
            const usual = &graph.patterns.of(node.b).alphabet.usual;
            const away = plainAway(graph, node.a, registers.placeOf(node.d));
            return .{ .masks = .{ away.masks[0] & usual.masks[0], away.masks[1] & usual.masks[1], 0, 0 } };
        },
        else => {},
    }
    return .empty;
}

/// Plain bytes that lead a key away from every known one.
fn plainAway(graph: *const Graph, register: u32, place: Place) ByteSet {
    const registers = &graph.registers;
    var set = plain;
    if (place.declared != ir.none) set.setIntersection(textBytes(&graph.program.cases[registers.get(register).case].object.keys, place.declared).complement());
    registers.seen.removeBytes(place.seen, &set);
    return set;
}

/// Bytes after which a key or string between two characters may be elsewhere than one that is away from all known ones.
pub fn differing(graph: *const Graph, ids: []const u32) ByteSet {
    var set = of("\"\\");
    for (ids) |id| {
        const node = &graph.nodes.items[id];
        if (node.kind == .string and node.d != 0) set.setUnion(graph.tracks.bytesAway(graph, node.d).complement());
        if (node.kind != .object_key) continue;
        const keys = &graph.program.cases[graph.registers.get(node.a).case].object.keys;
        if (node.b != ir.none) keys.addBytes(node.b, &set);
        graph.registers.seen.addBytes(node.d, &set);
    }
    return set;
}

fn of(bytes: []const u8) ByteSet {
    var set: ByteSet = .empty;
    for (bytes) |byte| set.set(byte);
    return set;
}

const spaces = of(" \n\r\t");
const ascii: ByteSet = set: {
    var set: ByteSet = .empty;
    for (0x20..0x80) |byte| set.set(byte);
    break :set set;
};

/// By what a character of several bytes has been begun with; between two characters everything that a string may hold or end with.
const inside: [json_string.utf8_phases]ByteSet = sets: {
    @setEvalBranchQuota(10_000);
    var sets: [json_string.utf8_phases]ByteSet = @splat(.empty);
    for (&sets, 0..) |*set, phase| for (0..256) |byte| {
        if (json_string.utf8Step(@fromBackingInt(phase), byte) != null) set.set(byte);
    };
    for (0..0x20) |byte| sets[@backingInt(json_string.Phase.text)].unset(byte);
    break :sets sets;
};

fn stringBytes(state: json_string.State) ByteSet {
    const phase = @backingInt(state.phase);
    return if (phase < inside.len) inside[phase] else ascii;
}

fn one(text: []const u8, at: u32) ByteSet {
    var set: ByteSet = .empty;
    if (at < text.len) set.set(text[at]);
    return set;
}

fn valueBytes(program: *const Program, value: u32) ByteSet {
    var set: ByteSet = .empty;
    for (program.values[value].cases) |case| switch (program.cases[case]) {
        .literal => |literal| set.set(literal.text()[0]),
        .number => |number| set.setUnion(numberBytes(program, number, 0)),
        .string, .among, .pattern => set.set('"'),
        .array => set.set('['),
        .object => set.set('{'),
    };
    return set;
}

fn numberBytes(program: *const Program, number: u32, state: u16) ByteSet {
    var set: ByteSet = .empty;
    for ("0123456789-.eE+") |byte| if (program.numbers[number].step(state, byte) != null) set.set(byte);
    return set;
}

/// Between two characters of a known text.
fn textBytes(texts: *const Texts, node: u32) ByteSet {
    var set = of("\"\\");
    texts.addBytes(node, &set);
    return set;
}
