//! The nodes of a grammar: which can be empty, that none begins with itself, and what each costs at least.
const std = @import("std");
const words = @import("../stdx.zig").words;
const ir = @import("ir.zig");
const spelling = @import("spelling.zig");
const Dawg = @import("dawg.zig").Dawg;
const Record = @import("record.zig").Record;
const Terminators = @import("terminators.zig").Terminators;
const program_room = @import("program.zig");
const Bytes = program_room.Bytes;
const Node = program_room.Node;
const Compiler = @import("compile.zig").Compiler;

const none = ir.none;
const unreachable_cost = spelling.unreachable_cost;

/// Which nodes can be empty, as the least fixed point.
pub fn findNullable(compiler: *Compiler) ir.Error![]const bool {
    const nullable = try compiler.arena.alloc(bool, compiler.source.nodes.len);
    @memset(nullable, false);
    var changed = true;
    while (changed) {
        changed = false;
        for (compiler.source.nodes, nullable) |node, *known| {
            try compiler.budget.spend(1);
            if (known.*) continue;
            known.* = switch (node) {
                .bytes => |bytes| bytes.len == 0,
                .token, .marker, .json, .any_token => false,
                .texts => |texts| for (texts) |text| {
                    if (text.len == 0) break true;
                } else false,
                .record => |record| for (record.items) |item| {
                    if (item.required) break false;
                } else true,
                .regex => |regex| compiler.patterns.items[try compiler.patternId(regex, 0, none, .raw)].hasEmpty(),
                .text => true,
                .sequence => |items| for (items) |item| {
                    if (!nullable[item]) break false;
                } else true,
                .choice => |items| for (items) |item| {
                    if (nullable[item]) break true;
                } else false,
                .repeat => |repeat| repeat.max == 0 or repeat.min == 0 or nullable[repeat.item],
                .channel => |channel| nullable[channel.item],
            };
            changed = changed or known.*;
        }
    }
    return nullable;
}

/// A node that comes back to itself before anything was written could do so for ever.
pub fn refuseLeftRecursion(compiler: *Compiler) ir.Error!void {
    const Visit = struct { node: u32, next: u32 };
    const Color = enum { new, open, done };
    const colors = try compiler.scratch.alloc(Color, compiler.source.nodes.len);
    @memset(colors, .new);
    var stack: std.ArrayList(Visit) = .empty;
    for (0..compiler.source.nodes.len) |start| {
        if (colors[start] != .new) continue;
        try stack.append(compiler.scratch, .{ .node = @intCast(start), .next = 0 });
        colors[start] = .open;
        while (stack.items.len > 0) {
            try compiler.budget.spend(1);
            const top = &stack.items[stack.items.len - 1];
            const child = leftChild(compiler, top.node, top.next) orelse {
                colors[top.node] = .done;
                _ = stack.pop();
                continue;
            };
            top.next += 1;
            switch (colors[child]) {
                .open => return compiler.budget.invalid("a node begins with itself, so it could repeat without writing anything (left recursion)"),
                .done => {},
                .new => {
                    colors[child] = .open;
                    try stack.append(compiler.scratch, .{ .node = child, .next = 0 });
                },
            }
        }
    }
}

/// The index-th node that can stand at the beginning of this one.
fn leftChild(compiler: *const Compiler, node: u32, index: u32) ?u32 {
    return switch (compiler.source.nodes[node]) {
        .bytes, .token, .marker, .text, .json, .regex, .texts, .any_token => null,
        .choice => |items| if (index < items.len) items[index] else null,
        .sequence => |items| if (index < items.len and (index == 0 or compiler.program.nullable[items[index - 1]])) items[index] else null,
        .repeat => |repeat| if (index == 0) repeat.item else null,
        .record => |record| if (index < record.items.len) record.items[index].node else null,
        .channel => |channel| if (index == 0) channel.item else null,
    };
}

pub fn compileNodes(compiler: *Compiler) ir.Error!void {
    const count = compiler.source.nodes.len;
    const nodes = try compiler.arena.alloc(Node, count);
    const costs = try compiler.arena.alloc(u32, count);
    @memset(costs, unreachable_cost);
    for (compiler.source.nodes, nodes, costs) |node, *compiled, *cost| compiled.* = switch (node) {
        .bytes => |text| bytes: {
            const bytes = try bytesOf(compiler, text);
            cost.* = bytes.cost[0];
            break :bytes .{ .bytes = bytes };
        },
        .token => |token| token: {
            cost.* = 1;
            break :token .{ .token = token };
        },
        .marker => |marker| marker: {
            const bytes = try bytesOf(compiler, marker.bytes);
            cost.* = if (marker.token != none) 1 else bytes.cost[0];
            break :marker .{ .marker = .{ .token = marker.token, .bytes = bytes } };
        },
        .texts => |texts| texts: {
            const dawg = try Dawg.create(compiler.arena, compiler.gpa, texts, &compiler.speller);
            cost.* = dawg.cost[dawg.root];
            try compiler.dawgs.append(compiler.arena, dawg);
            break :texts .{ .texts = @intCast(compiler.dawgs.items.len - 1) };
        },
        .record => |record| .{ .record = try recordOf(compiler, record.items, record.separator) },
        .any_token => |except| any: {
            const allowed = try tokensBut(compiler, except);
            cost.* = if (std.mem.allEqual(u32, allowed, 0)) unreachable_cost else 1;
            break :any .{ .any_token = allowed };
        },
        .regex => |regex| regex: {
            const id = try compiler.patternId(regex, 0, none, .raw);
            cost.* = compiler.patterns.items[id].cost;
            break :regex .{ .regex = id };
        },
        .sequence => |items| .{ .sequence = .{ .items = items, .cost = try compiler.arena.alloc(u32, items.len + 1) } },
        .choice => |items| .{ .choice = items },
        .repeat => |repeat| repeat: {
            if (repeat.min > repeat.max) return compiler.budget.invalid("a repeat has a minimum above its maximum");
            const empty_item = compiler.program.nullable[repeat.item];
            break :repeat .{ .repeat = .{ .item = repeat.item, .min = if (empty_item) 0 else repeat.min, .max = repeat.max, .empty_item = empty_item } };
        },
        .channel => |channel| .{ .channel = .{ .channel = channel.channel, .item = channel.item } },
        .text => |text| text: {
            cost.* = 0;
            const until = try compiler.arena.dupe(ir.Marker, text.until);
            for (until) |*marker| marker.bytes = try compiler.arena.dupe(u8, marker.bytes);
            try compiler.terminators.append(compiler.arena, try Terminators.create(compiler.arena, text.until, text.barred, compiler.budget));
            break :text .{ .text = .{ .controls = text.controls, .terminators = @intCast(compiler.terminators.items.len - 1), .until = until, .tokens_max = text.tokens_max } };
        },
        .json => |json| json: {
            const value = Compiler.valueId(json.value, json.style.spelling);
            cost.* = compiler.values[value].cost;
            break :json .{ .json = .{ .value = value, .style = try styleId(compiler, json.style) } };
        },
    };
    var changed = true;
    while (changed) {
        changed = false;
        for (nodes, costs) |*node, *known| {
            try compiler.budget.spend(1);
            const cost = switch (node.*) {
                .sequence => |sequence| sum: {
                    const ends: []u32 = @constCast(sequence.cost);
                    ends[sequence.items.len] = 0;
                    var at = sequence.items.len;
                    while (at > 0) {
                        at -= 1;
                        ends[at] = spelling.add(costs[sequence.items[at]], ends[at + 1]);
                    }
                    break :sum ends[0];
                },
                .choice => |items| least: {
                    var least = unreachable_cost;
                    for (items) |item| least = @min(least, costs[item]);
                    break :least least;
                },
                .repeat => |repeat| spelling.times(repeat.min, costs[repeat.item]),
                .channel => |channel| costs[channel.item],
                .record => |record| record.wholeCost(costs),
                else => continue,
            };
            if (cost >= known.*) continue;
            known.* = cost;
            changed = true;
        }
    }
    compiler.program.nodes = nodes;
    compiler.program.node_costs = costs;
}

fn recordOf(compiler: *Compiler, given: []const ir.Node.Item, separator: u32) ir.Error!Record {
    const items = try compiler.arena.alloc(u32, given.len);
    const required = try compiler.arena.alloc(bool, given.len);
    for (given, items, required) |item, *node, *needed| {
        if (compiler.program.nullable[item.node]) return compiler.budget.invalid("an item of a record can be empty");
        node.* = item.node;
        needed.* = item.required;
    }
    return .{ .items = items, .required = required, .separator = separator };
}

/// (words) tokens that write something, or that are control tokens, but for these.
fn tokensBut(compiler: *Compiler, except: []const u32) ir.Error![]const u32 {
    const bits = try compiler.arena.alloc(u32, compiler.vocabulary.words());
    try compiler.budget.spend(bits.len * 8);
    @memset(bits, 0);
    for (compiler.vocabulary.kinds, 0..) |kind, index| {
        const token: u32 = @intCast(index);
        if (kind == .control or kind == .normal and compiler.vocabulary.text(token).len > 0) words.set(bits, token);
    }
    for (except) |token| words.unset(bits, token);
    return bits;
}

fn bytesOf(compiler: *Compiler, text: []const u8) ir.Error!Bytes {
    return .{ .text = text, .cost = try compiler.speller.costs(compiler.arena, text) };
}

fn styleId(compiler: *Compiler, style: ir.Style) ir.Error!u16 {
    for (compiler.styles.items, 0..) |known, index| if (std.meta.eql(known, style)) return @intCast(index);
    if (compiler.styles.items.len > std.math.maxInt(u16)) return compiler.budget.refuse(.limit, "the grammar has too many styles of JSON", none);
    try compiler.styles.append(compiler.arena, style);
    return @intCast(compiler.styles.items.len - 1);
}
