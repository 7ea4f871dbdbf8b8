//! How many keys of a pattern can be written that are all different, and for how much: without end where a part of it may be repeated,
//! else as many as there are ways through its states.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");
const Loop = @import("object.zig").Loop;
const Pattern = @import("pattern.zig").Pattern;
const Patterns = @import("patterns.zig").Patterns;
const spelling = @import("spelling.zig");
const limits = @import("../limits.zig").grammar;

const unreachable_cost = spelling.unreachable_cost;
/// `width`: characters that cost so much and lead there.
const Edge = struct { to: u32, cost: u32, width: u32 };

/// Of a pattern of which some text can be written. One with too many states has no keys here that can be told apart.
pub fn find(gpa: Allocator, scratch: Allocator, all: []const Pattern, pattern: u32, budget: *ir.Budget) ir.Error!Loop {
    var patterns: Patterns = try .create(gpa, all);
    defer patterns.deinit();
    const first = try patterns.start(pattern);
    std.debug.assert(first != Patterns.dead);
    const alphabet = all[pattern].alphabet;
    // What it takes to come to each state, nearest first as far as characters go.
    var reached: std.AutoArrayHashMapUnmanaged(u32, u32) = .empty;
    var edges: std.ArrayList([]const Edge) = .empty;
    try reached.put(scratch, first, 0);
    var at: usize = 0;
    while (at < reached.count()) : (at += 1) {
        if (at == limits.regex_states) return .{ .base = unreachable_cost, .step = 0, .width = 1, .size = 0 };
        try budget.spend(alphabet.class_count);
        const state = reached.keys()[at];
        const before = reached.values()[at];
        var out: std.ArrayList(Edge) = .empty;
        for (alphabet.costs, 0..) |cost, class| {
            if (cost == unreachable_cost) continue;
            const next = try patterns.after(state, @intCast(class));
            if (next == Patterns.dead) continue;
            var width: u32 = 0;
            for (alphabet.ascii, alphabet.ascii_costs) |of, each| width += @intFromBool(of == class and each == cost);
            width = @max(width, 1);
            if (next == state) return .{ .base = spelling.add(before, patterns.cost(state)), .step = cost, .width = width };
            const known = try reached.getOrPut(scratch, next);
            if (!known.found_existing) known.value_ptr.* = spelling.add(before, cost);
            try out.append(scratch, .{ .to = @intCast(known.index), .cost = cost, .width = width });
        }
        try edges.append(scratch, out.items);
    }
    return ofEdges(scratch, &patterns, reached.keys(), reached.values(), edges.items);
}

/// Takes out the states that lead nowhere until only those are left that lead to a cycle. Whatever is taken out leads only to what was
/// taken out before, so that its ways can be counted.
fn ofEdges(scratch: Allocator, patterns: *const Patterns, states: []const u32, before: []const u32, edges: []const []const Edge) error{OutOfMemory}!Loop {
    const left = try scratch.alloc(bool, states.len);
    @memset(left, true);
    const ways = try scratch.alloc(Ways, states.len);
    var changed = true;
    while (changed) {
        changed = false;
        var at = states.len;
        while (at > 0) {
            at -= 1;
            if (!left[at] or nextLeft(edges[at], left) != null) continue;
            left[at] = false;
            ways[at] = .of(patterns.accepts(states[at]), edges[at], ways);
            changed = true;
        }
    }
    if (!left[0]) return .{ .base = ways[0].cost, .step = 0, .width = 1, .size = if (ways[0].count < limits.keys_told_apart) ways[0].count else ir.none };
    var place: u32 = 0;
    const passed = try scratch.alloc(?u32, states.len);
    @memset(passed, null);
    var length: u32 = 0;
    while (passed[place] == null) {
        passed[place] = length;
        const edge = nextLeft(edges[place], left).?;
        length = spelling.add(length, edge.cost);
        place = edge.to;
    }
    return .{ .base = spelling.add(before[place], patterns.cost(states[place])), .step = length - passed[place].?, .width = 1 };
}

/// Texts that lead from a state to an end, of the cheapest characters; and what the dearest of them costs.
const Ways = struct {
    count: u32,
    cost: u32,

    fn of(ends: bool, edges: []const Edge, ways: []const Ways) Ways {
        var result: Ways = .{ .count = @intFromBool(ends), .cost = 0 };
        for (edges) |edge| {
            const after = ways[edge.to];
            if (after.count == 0) continue;
            result.count +|= edge.width *| after.count;
            result.cost = @max(result.cost, spelling.add(edge.cost, after.cost));
        }
        return result;
    }
};

fn nextLeft(edges: []const Edge, left: []const bool) ?Edge {
    for (edges) |edge| if (left[edge.to]) return edge;
    return null;
}
