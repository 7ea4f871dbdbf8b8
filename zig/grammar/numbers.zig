//! The numbers of one grammar, each automaton built once. Those that many grammars have are built once for the vocabulary.
const std = @import("std");
const Allocator = std.mem.Allocator;
const Vocabulary = @import("../vocabulary.zig").Vocabulary;
const ir = @import("ir.zig");
const number_room = @import("number.zig");
const Automaton = number_room.Automaton;
const limits = @import("../limits.zig").grammar;

pub const Numbers = struct {
    automata: std.ArrayList(Automaton) = .empty,
    ids: std.StringHashMapUnmanaged(u32) = .empty,
    /// Without any demand but to be whole; (integer, spelling)
    free: [2][2]?u32 = @splat(@splat(null)),

    pub fn idOf(self: *Numbers, setting: Setting, number: ir.Number, style: ir.Style.Spelling) ir.Error!u32 {
        const is_free = isFree(number) and !number.plain;
        const free = &self.free[@intFromBool(number.integer)][@backingInt(style)];
        if (is_free) if (free.*) |known| return known;
        const key = try keyOf(setting, number, style);
        const known = try self.ids.getOrPut(setting.scratch, key);
        if (!known.found_existing) {
            known.value_ptr.* = @intCast(self.automata.items.len);
            try self.automata.append(setting.arena, try automatonOf(setting, number, style, key));
        }
        if (is_free) free.* = known.value_ptr.*;
        return known.value_ptr.*;
    }
};

pub const Setting = struct {
    vocabulary: *const Vocabulary,
    /// The bytes that are tokens by themselves.
    writable: *const [256]bool,
    /// For the automata.
    arena: Allocator,
    scratch: Allocator,
    gpa: Allocator,
    budget: *ir.Budget,
};

/// The kept one, or one that is built now, and kept where others may want it. Either way it costs what building takes, so that verdicts
/// do not depend on what was compiled before.
fn automatonOf(setting: Setting, number: ir.Number, style: ir.Style.Spelling, key: []const u8) ir.Error!Automaton {
    const is_common = !isSifted(number);
    if (is_common) if (setting.vocabulary.kept.find(key)) |kept| {
        const known: *const Kept = @ptrCast(@alignCast(kept.item));
        try setting.budget.spend(known.units);
        return known.automaton;
    };
    const before = setting.budget.left;
    const built = try number_room.build(setting.arena, setting.gpa, number, style, setting.writable, setting.budget);
    if (is_common and built.next.len <= limits.number_kept_states) try keep(setting, key, isFree(number), &built, before - setting.budget.left);
    return built;
}

fn isFree(number: ir.Number) bool {
    return number.low == null and number.high == null and !isSifted(number);
}

/// Whether single values are sought out: nobody else may ask for the same ones.
fn isSifted(number: ir.Number) bool {
    return number.multiple_of.len + number.multiple_of_none.len + number.except.len > 0;
}

/// All that an automaton depends on.
fn keyOf(setting: Setting, number: ir.Number, style: ir.Style.Spelling) error{OutOfMemory}![]const u8 {
    const scratch = setting.scratch;
    var key: std.ArrayList(u8) = .empty;
    try key.print(scratch, "number {x} {d}{d}{d}", .{ number_room.writableSymbols(setting.writable), @intFromBool(number.integer), @intFromBool(number.plain), @backingInt(style) });
    for ([_]?ir.Bound{ number.low, number.high }) |bound| {
        if (bound) |known| try key.print(scratch, "|{s}{d}", .{ known.decimal, @intFromBool(known.exclusive) }) else try key.append(scratch, '|');
    }
    try key.print(scratch, "|{s}", .{number.multiple_of});
    for (number.multiple_of_none) |factor| try key.print(scratch, "~{s}", .{factor});
    for (number.except) |value| try key.print(scratch, "!{s}", .{value});
    return key.items;
}

/// An automaton that stays as long as the vocabulary.
const Kept = struct {
    gpa: Allocator,
    arena: std.heap.ArenaAllocator.State,
    automaton: Automaton,
    /// What building it took.
    units: u64,

    fn destroy(item: *anyopaque) void {
        const self: *Kept = @ptrCast(@alignCast(item));
        const gpa = self.gpa;
        self.arena.promote(gpa).deinit();
        gpa.destroy(self);
    }
};

fn keep(setting: Setting, key: []const u8, is_free: bool, built: *const Automaton, units: u64) error{OutOfMemory}!void {
    // Bounds, of which there is no end, leave room for what has none.
    const others: usize = if (is_free) 0 else limits.numbers_free_kept;
    if (!setting.vocabulary.kept.hasRoom(others)) return;
    const gpa = setting.gpa;
    const kept = try gpa.create(Kept);
    errdefer gpa.destroy(kept);
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    errdefer arena_state.deinit();
    const arena = arena_state.allocator();
    const automaton = try built.clone(arena);
    const own_key = try arena.dupe(u8, key);
    kept.* = .{ .gpa = gpa, .arena = arena_state.state, .automaton = automaton, .units = units };
    if (!setting.vocabulary.kept.add(own_key, .{ .item = kept, .destroy = Kept.destroy }, others)) Kept.destroy(kept);
}

test "what is kept is what would be built, and costs the same" {
    const gpa = std.testing.allocator;
    const vocabulary = try @import("../vocabulary.zig").forTest(gpa, &.{ "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "-", ".", "e" }, &.{});
    defer vocabulary.destroy(gpa);
    var writable: [256]bool = @splat(true);
    const numbers = [_]ir.Number{
        .{},
        .{ .integer = true },
        .{ .integer = true, .plain = true },
        .{ .low = .{ .decimal = "0", .exclusive = false } },
        .{ .low = .{ .decimal = "0", .exclusive = true }, .high = .{ .decimal = "1.5", .exclusive = false } },
        .{ .integer = true, .high = .{ .decimal = "65535", .exclusive = false } },
        .{ .integer = true, .multiple_of = "3" },
    };
    var refusal: ir.Refusal = .{};
    for ([_]bool{ true, false }) |has_exponents| {
        writable['e'] = has_exponents;
        for (std.enums.values(ir.Style.Spelling)) |style| for (numbers) |number| {
            var arena_state: std.heap.ArenaAllocator = .init(gpa);
            defer arena_state.deinit();
            const arena = arena_state.allocator();
            var own_budget: ir.Budget = .{ .refusal = &refusal };
            const built = try number_room.build(arena, gpa, number, style, &writable, &own_budget);
            // The first one is kept, the second one found; a third is known to its grammar.
            for (0..2) |_| {
                var budget: ir.Budget = .{ .refusal = &refusal };
                var known: Numbers = .{};
                const setting: Setting = .{ .vocabulary = vocabulary, .writable = &writable, .arena = arena, .scratch = arena, .gpa = gpa, .budget = &budget };
                const id = try known.idOf(setting, number, style);
                try std.testing.expectEqual(own_budget.left, budget.left);
                try std.testing.expectEqual(id, try known.idOf(setting, number, style));
                try std.testing.expectEqual(own_budget.left, budget.left);
                try std.testing.expectEqualDeep(built, known.automata.items[id]);
            }
        };
    }
    try std.testing.expectEqual(24, vocabulary.kept.count);
}
