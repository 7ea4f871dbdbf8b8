//! A part of a pattern's texts that may be repeated without end: what shows that a text unlike any number of others can be written, and for
//! how much.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");
const Loop = @import("object.zig").Loop;
const Pattern = @import("pattern.zig").Pattern;
const Patterns = @import("patterns.zig").Patterns;
const spelling = @import("spelling.zig");
const limits = @import("../limits.zig").grammar;

const unreachable_cost = spelling.unreachable_cost;
const Edge = struct { to: u32, cost: u32 };

/// Null if only finitely many texts of a pattern can be written.
pub fn find(gpa: Allocator, scratch: Allocator, all: []const Pattern, pattern: u32, budget: *ir.Budget) ir.Error!?Loop {
    var patterns: Patterns = try .create(gpa, all);
    defer patterns.deinit();
    const first = try patterns.start(pattern);
    if (first == Patterns.dead) return null;
    const alphabet = all[pattern].alphabet;
    // What it takes to come to each state, nearest first as far as characters go.
    var reached: std.AutoArrayHashMapUnmanaged(u32, u32) = .empty;
    var edges: std.ArrayList([]const Edge) = .empty;
    try reached.put(scratch, first, 0);
    var at: usize = 0;
    while (at < reached.count()) : (at += 1) {
        if (at == limits.regex_states) return budget.refuse(.limit, "a pattern of keys has too many states to count with", ir.none);
        try budget.spend(alphabet.class_count);
        const state = reached.keys()[at];
        const before = reached.values()[at];
        var out: std.ArrayList(Edge) = .empty;
        for (alphabet.costs, 0..) |cost, class| {
            if (cost == unreachable_cost) continue;
            const next = try patterns.after(state, @intCast(class));
            if (next == Patterns.dead) continue;
            if (next == state) {
                var width: u32 = 0;
                for (alphabet.ascii, alphabet.ascii_costs) |of, each| width += @intFromBool(of == class and each == cost);
                return .{ .base = spelling.add(before, patterns.cost(state)), .step = cost, .width = @max(width, 1) };
            }
            const known = try reached.getOrPut(scratch, next);
            if (!known.found_existing) known.value_ptr.* = spelling.add(before, cost);
            try out.append(scratch, .{ .to = @intCast(known.index), .cost = cost });
        }
        try edges.append(scratch, out.items);
    }
    return findCycle(scratch, &patterns, reached.keys(), reached.values(), edges.items);
}

/// Takes out the states that lead nowhere until only those are left that lead to a cycle.
fn findCycle(scratch: Allocator, patterns: *const Patterns, states: []const u32, before: []const u32, edges: []const []const Edge) error{OutOfMemory}!?Loop {
    const left = try scratch.alloc(bool, states.len);
    @memset(left, true);
    var changed = true;
    while (changed) {
        changed = false;
        var at = states.len;
        while (at > 0) {
            at -= 1;
            if (!left[at] or nextLeft(edges[at], left) != null) continue;
            left[at] = false;
            changed = true;
        }
    }
    var place: u32 = @intCast(std.mem.findScalar(bool, left, true) orelse return null);
    const passed = try scratch.alloc(?u32, states.len);
    @memset(passed, null);
    var length: u32 = 0;
    while (passed[place] == null) {
        passed[place] = length;
        const edge = nextLeft(edges[place], left) orelse return null;
        length = spelling.add(length, edge.cost);
        place = edge.to;
    }
    return .{ .base = spelling.add(before[place], patterns.cost(states[place])), .step = length - passed[place].?, .width = 1 };
}

fn nextLeft(edges: []const Edge, left: []const bool) ?Edge {
    for (edges) |edge| if (left[edge.to]) return edge;
    return null;
}
