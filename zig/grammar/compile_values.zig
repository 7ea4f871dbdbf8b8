//! The values of a grammar and all they lead to: automata of their scalars, tables of their arrays and objects, and no costs yet.
const std = @import("std");
const ir = @import("ir.zig");
const spelling = @import("spelling.zig");
const Texts = @import("texts.zig").Texts;
const Pattern = @import("pattern.zig").Pattern;
const Counts = @import("counts.zig").Counts;
const Unique = @import("unique.zig").Unique;
const object_room = @import("object.zig");
const program_room = @import("program.zig");
const Case = program_room.Case;
const Option = program_room.Option;
const Property = program_room.Property;
const Compiler = @import("compile.zig").Compiler;
const blame = @import("blame.zig");
const limits = @import("../limits.zig").grammar;

const none = ir.none;
const unreachable_cost = spelling.unreachable_cost;

/// Compiles a value and all it leads to, by a depth-first search without recursion.
pub fn reach(compiler: *Compiler, start: u32) ir.Error!void {
    const Visit = struct { value: u32, case: u32 = 0, child: u32 = 0 };
    if (compiler.reached[start]) return;
    var stack: std.ArrayList(Visit) = .empty;
    try compileValue(compiler, start);
    try stack.append(compiler.scratch, .{ .value = start });
    while (stack.items.len > 0) {
        try compiler.budget.spend(1);
        const top = &stack.items[stack.items.len - 1];
        const cases = compiler.value_cases[top.value];
        if (top.case == cases.len) {
            try compiler.order.append(compiler.scratch, top.value);
            _ = stack.pop();
            continue;
        }
        const children = compiler.children.items[cases[top.case]];
        if (top.child == children.len) {
            top.case += 1;
            top.child = 0;
            continue;
        }
        const child = children[top.child];
        top.child += 1;
        if (compiler.reached[child]) continue;
        try compileValue(compiler, child);
        try stack.append(compiler.scratch, .{ .value = child });
    }
}

fn childrenOf(compiler: *Compiler, case: Case) ir.Error![]const u32 {
    var children: std.ArrayList(u32) = .empty;
    switch (case) {
        .array => |array| {
            for (array.prefix) |place| try addChildren(compiler, &children, place);
            try addChildren(compiler, &children, array.rest);
        },
        .object => |object| {
            for (object.properties) |property| try addChildren(compiler, &children, property.options);
            for (object.classes) |class| try addChildren(compiler, &children, class.options);
        },
        else => {},
    }
    return children.items;
}

fn addChildren(compiler: *Compiler, children: *std.ArrayList(u32), options: []const Option) ir.Error!void {
    try compiler.budget.spend(options.len);
    for (options) |option| try children.append(compiler.scratch, option.value);
}

fn compileValue(compiler: *Compiler, value: u32) ir.Error!void {
    compiler.reached[value] = true;
    const source = compiler.source.values[value / 2];
    compiler.values[value].origin = source.origin;
    const cases = try compiler.scratch.alloc(u32, source.cases.len);
    for (cases, source.cases) |*case, item| {
        const compiled = compileCase(compiler, item, Compiler.styleOf(value)) catch |failure| return blame.inValue(compiler, value, failure);
        case.* = @intCast(compiler.cases.items.len);
        try compiler.cases.append(compiler.arena, compiled);
        try compiler.children.append(compiler.scratch, try childrenOf(compiler, compiled));
    }
    compiler.value_cases[value] = cases;
}

fn compileCase(compiler: *Compiler, case: ir.Case, style: ir.Style.Spelling) ir.Error!Case {
    try compiler.budget.spend(1);
    return switch (case) {
        .null => .{ .literal = .null },
        .true => .{ .literal = .true },
        .false => .{ .literal = .false },
        .number => |number| .{ .number = try numberId(compiler, number, style) },
        .string => |string| string: {
            const among = string.among orelse break :string if (string.regex == none)
                .{ .string = .{ .min = string.length_min, .max = string.length_max } }
            else
                .{ .pattern = try compiler.patternId(string.regex, string.length_min, string.length_max, if (style == .spec) .spec else .plain) };
            const list = try matching(compiler, try distinct(compiler, among), string.regex);
            try compiler.texts.append(compiler.arena, try Texts.create(compiler.arena, compiler.gpa, list, true, compiler.spellings.getPtr(.value).getPtr(style)));
            break :string .{ .among = @intCast(compiler.texts.items.len - 1) };
        },
        .array => |array| try compileArray(compiler, array, style),
        .object => |object| try compileObject(compiler, object, style),
    };
}

/// The texts that a regex matches.
fn matching(compiler: *Compiler, texts: []const []const u8, regex: u32) ir.Error![]const []const u8 {
    if (regex == none) return texts;
    // Whatever tokens can write: what they cannot is left out later.
    const all: [256]bool = @splat(true);
    const source = compiler.patternSource(.spec, &all);
    var pattern: Pattern = try .create(compiler.scratch, compiler.scratch, &source, compiler.source.regexes, regex, 0, none);
    pattern.terms.budget = compiler.budget;
    var kept: std.ArrayList([]const u8) = .empty;
    for (texts) |text| {
        try compiler.budget.spend(text.len);
        if (try pattern.matches(text)) try kept.append(compiler.scratch, text);
    }
    return kept.items;
}

fn distinct(compiler: *Compiler, texts: []const []const u8) ir.Error![]const []const u8 {
    var seen: std.StringHashMapUnmanaged(void) = .empty;
    try seen.ensureTotalCapacity(compiler.scratch, @intCast(texts.len));
    var list: std.ArrayList([]const u8) = .empty;
    try list.ensureTotalCapacity(compiler.scratch, texts.len);
    for (texts) |text| if (!seen.getOrPutAssumeCapacity(text).found_existing) list.appendAssumeCapacity(text);
    return list.items;
}

fn numberId(compiler: *Compiler, given: ir.Number, style: ir.Style.Spelling) ir.Error!u32 {
    var number = given;
    // Canonical integers are plain digits anyway.
    number.plain = given.plain and style == .spec;
    return compiler.numbers.idOf(.{
        .vocabulary = compiler.vocabulary,
        .writable = &compiler.program.writable,
        .arena = compiler.arena,
        .scratch = compiler.scratch,
        .gpa = compiler.gpa,
        .budget = compiler.budget,
    }, number, if (number.plain) .canonical else style);
}

fn compileArray(compiler: *Compiler, array: ir.Array, style: ir.Style.Spelling) ir.Error!Case {
    const prefix = try compiler.arena.alloc([]const Option, array.prefix.len);
    for (prefix, array.prefix) |*place, options| place.* = try optionsOf(compiler, options, style);
    const rest = try optionsOf(compiler, array.rest, style);
    const unique: ?*Unique = if (array.unique and array.items_max > 1) try compiler.arena.create(Unique) else null;
    if (unique) |known| known.* = .{ .prefix = try compiler.arena.dupe([]const Option, prefix), .rest = rest };
    return .{ .array = .{
        .prefix = prefix,
        .rest = rest,
        .unique = unique,
        .min = array.items_min,
        .max = array.items_max,
        .counts = try countsOf(compiler, array.counters),
        .comma_cost = compiler.program.prices.comma,
        .close_cost = try compiler.speller.cost("]"),
    } };
}

fn optionsOf(compiler: *Compiler, options: []const ir.Option, style: ir.Style.Spelling) ir.Error![]const Option {
    try compiler.budget.spend(options.len);
    const list = try compiler.arena.alloc(Option, options.len);
    for (list, options) |*option, source| option.* = .{ .value = Compiler.valueId(source.value, style), .counts = source.counts, .base = source.counts };
    return list;
}

fn countsOf(compiler: *Compiler, counters: []const ir.Counter) ir.Error!Counts {
    return try Counts.create(compiler.arena, counters, limits.counted_entries) orelse
        compiler.budget.refuse(.limit, "an array or object counts too much", none);
}

fn compileObject(compiler: *Compiler, object: ir.Object, style: ir.Style.Spelling) ir.Error!Case {
    const keys = try compiler.scratch.alloc([]const u8, object.properties.len);
    for (keys, object.properties) |*key, property| key.* = property.key;
    const texts = try Texts.create(compiler.arena, compiler.gpa, keys, false, compiler.spellings.getPtr(.key).getPtr(style));
    const properties = try compiler.arena.alloc(Property, keys.len);
    const source = try compiler.arena.alloc(u32, keys.len);
    for (texts.texts, properties, 0..) |text, *property, sorted| {
        const declared = object.properties[text.source];
        property.* = .{
            .options = try optionsOf(compiler, declared.options, style),
            .required = declared.required,
            .offered = false,
            .source = text.source,
            .start_cost = text.opening.quote,
            .comma_cost = text.opening.comma,
            .value_cost = unreachable_cost,
        };
        source[text.source] = @intCast(sorted);
    }
    return .{ .object = .{
        .keys = texts,
        .properties = properties,
        .source = source,
        .classes = try classesOf(compiler, &object, style),
        .ordered = object.ordered,
        .words = @intCast((keys.len + 31) / 32),
        .first_required = for (source) |sorted| {
            if (properties[sorted].required) break sorted;
        } else none,
        .counts = try countsOf(compiler, object.counters),
        .members_min = object.members_min,
        .members_max = object.members_max,
    } };
}

/// Classes of the same keys are one; the one that takes any key comes first.
fn classesOf(compiler: *Compiler, object: *const ir.Object, style: ir.Style.Spelling) ir.Error![]const object_room.KeyClass {
    var merged: std.AutoArrayHashMapUnmanaged(u32, std.ArrayList(ir.Option)) = .empty;
    for ([_]bool{ true, false }) |any| for (object.others) |class| {
        if (any != (class.keys == none) or class.options.len == 0) continue;
        const options = try merged.getOrPutValue(compiler.scratch, class.keys, .empty);
        try options.value_ptr.appendSlice(compiler.scratch, class.options);
    };
    var list: std.ArrayList(object_room.KeyClass) = .empty;
    for (merged.keys(), merged.values()) |regex, options| {
        var class: object_room.KeyClass = .{
            .keys = none,
            .options = try optionsOf(compiler, options.items, style),
            .value_cost = unreachable_cost,
            .loop = .{ .base = 0, .step = 1, .width = compiler.program.prices.width },
        };
        if (regex != none) {
            class.keys = try compiler.patternId(regex, 0, none, if (style == .spec) .spec else .fixed);
            if (compiler.patterns.items[class.keys].cost == unreachable_cost) continue;
            class.loop = try compiler.loopOf(class.keys);
            if (object.isCounted() and class.loop.size < keysWanted(object))
                return compiler.budget.refuse(.limit, "an object that counts its members has a pattern of too few keys", none);
        }
        try list.append(compiler.arena, class);
    }
    return list.items;
}

/// With so many keys in each class, none is missing while something is owed.
fn keysWanted(object: *const ir.Object) u32 {
    var wanted: u32 = @intCast(object.properties.len + 1);
    wanted +|= object.members_min;
    if (object.counters.len == 0) return wanted;
    // Any number of members may be of no use to the counters.
    for (object.counters) |counter| wanted +|= counter.min;
    return wanted +| object.members_max;
}
