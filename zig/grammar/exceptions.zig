//! Values that a number must not have, as a tree over their digits: what was written so far may still turn out to be one of them. Zeros
//! after the last digit of a fraction change no value, so that a value goes on being itself under them.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");

pub const Exceptions = struct {
    nodes: []const Node,

    /// Nothing that is written from here on is one of the values.
    pub const off: u16 = 0xffff;
    pub const empty: Exceptions = .{ .nodes = &.{} };

    pub fn isEmpty(self: *const Exceptions) bool {
        return self.nodes.len == 0;
    }

    /// Before any digit of a number with or without a minus.
    pub fn start(self: *const Exceptions, negative: bool) u16 {
        return if (self.isEmpty()) off else @intFromBool(negative);
    }

    /// After a digit or the point.
    pub fn step(self: *const Exceptions, state: u16, byte: u8) u16 {
        return if (state == off) off else self.nodes[state].next[symbolOf(byte)];
    }

    /// Whether a number that ends here has one of the values.
    pub fn isOne(self: *const Exceptions, state: u16) bool {
        return state != off and self.nodes[state].is_value;
    }
};

const Node = struct {
    next: [11]u16 = @splat(Exceptions.off),
    is_value: bool = false,
    after_point: bool = false,
};

const point = 10;

fn symbolOf(byte: u8) usize {
    return if (byte == '.') point else byte - '0';
}

/// Decimals without exponent.
pub fn exceptionsOf(arena: Allocator, values: []const []const u8, budget: *ir.Budget) ir.Error!Exceptions {
    if (values.len == 0) return .empty;
    var nodes: std.ArrayList(Node) = .empty;
    try nodes.appendSlice(arena, &.{ .{}, .{} });
    for (values) |value| {
        const negative = value[0] == '-';
        const unsigned = value[@intFromBool(negative)..];
        try budget.spend(unsigned.len);
        const whole, const written = std.mem.cutScalar(u8, unsigned, '.') orelse .{ unsigned, "" };
        const fraction = std.mem.trimEnd(u8, written, "0");
        const is_zero = fraction.len == 0 and std.mem.allEqual(u8, whole, '0');
        // Zero is the same with a minus.
        const roots: []const u16 = if (is_zero) &.{ 0, 1 } else if (negative) &.{1} else &.{0};
        for (roots) |root| {
            var at = root;
            for (whole) |digit| at = try child(arena, &nodes, at, digit - '0', budget);
            if (fraction.len == 0) nodes.items[at].is_value = true;
            at = try child(arena, &nodes, at, point, budget);
            nodes.items[at].after_point = true;
            for (fraction) |digit| {
                at = try child(arena, &nodes, at, digit - '0', budget);
                nodes.items[at].after_point = true;
            }
            nodes.items[at].is_value = true;
        }
    }
    // Where no longer value goes on with a zero, nothing but zeros may follow.
    const zeros: u16 = @intCast(nodes.items.len);
    if (zeros == Exceptions.off) return budget.refuse(.limit, "a number has too many exceptions", ir.none);
    try nodes.append(arena, .{ .is_value = true });
    nodes.items[zeros].next[0] = zeros;
    // A child is made after its parent, so that values hand themselves down along zeros in one pass.
    for (nodes.items[0..zeros]) |*node| {
        if (!node.is_value or !node.after_point) continue;
        const zero = node.next[0];
        if (zero == Exceptions.off) node.next[0] = zeros else nodes.items[zero].is_value = true;
    }
    return .{ .nodes = nodes.items };
}

fn child(arena: Allocator, nodes: *std.ArrayList(Node), at: u16, symbol: usize, budget: *ir.Budget) ir.Error!u16 {
    const known = nodes.items[at].next[symbol];
    if (known != Exceptions.off) return known;
    if (nodes.items.len == Exceptions.off) return budget.refuse(.limit, "a number has too many exceptions", ir.none);
    const made: u16 = @intCast(nodes.items.len);
    try nodes.append(arena, .{});
    nodes.items[at].next[symbol] = made;
    return made;
}

test "values in all their plain forms" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var refusal: ir.Refusal = .{};
    var budget: ir.Budget = .{ .refusal = &refusal };
    const exceptions = try exceptionsOf(arena.allocator(), &.{ "12", "12.501", "12.5", "-3", "0", "7.0" }, &budget);
    const Case = struct { text: []const u8, is_one: bool };
    for ([_]Case{
        .{ .text = "12", .is_one = true },      .{ .text = "12.0", .is_one = true },   .{ .text = "12.00", .is_one = true },
        .{ .text = "12.5", .is_one = true },    .{ .text = "12.50", .is_one = true },  .{ .text = "12.5000", .is_one = true },
        .{ .text = "12.501", .is_one = true },  .{ .text = "12.51", .is_one = false }, .{ .text = "1", .is_one = false },
        .{ .text = "12.5010", .is_one = true }, .{ .text = "123", .is_one = false },   .{ .text = "-12", .is_one = false },
        .{ .text = "-3.0", .is_one = true },    .{ .text = "3", .is_one = false },     .{ .text = "-0.0", .is_one = true },
        .{ .text = "0", .is_one = true },       .{ .text = "7", .is_one = true },      .{ .text = "12.05", .is_one = false },
    }) |case| {
        const negative = case.text[0] == '-';
        var state = exceptions.start(negative);
        for (case.text[@intFromBool(negative)..]) |byte| state = exceptions.step(state, byte);
        try std.testing.expectEqual(case.is_one, exceptions.isOne(state));
    }
}
