//! What a shortest member of each value costs, as a least fixed point; then all that nothing satisfies is taken out.
const std = @import("std");
const ir = @import("ir.zig");
const spelling = @import("spelling.zig");
const Texts = @import("texts.zig").Texts;
const Counts = @import("counts.zig").Counts;
const Patterns = @import("patterns.zig").Patterns;
const array_room = @import("array.zig");
const domains = @import("domains.zig");
const unique_room = @import("unique.zig");
const Grid = @import("cover.zig").Grid;
const program_room = @import("program.zig");
const Object = program_room.Object;
const Option = program_room.Option;
const Compiler = @import("compile.zig").Compiler;
const blame = @import("blame.zig");
const limits = @import("../limits.zig").grammar;

const none = ir.none;
const unreachable_cost = spelling.unreachable_cost;

/// What a shortest member of each value costs: a least fixed point. What stays unreachable has no members.
pub fn costValues(compiler: *Compiler) ir.Error!void {
    compiler.case_costs = try compiler.scratch.alloc(u32, compiler.cases.items.len);
    // By a clock that counts changes: when a value last got another cost, and when a case was last weighed.
    const altered = try compiler.scratch.alloc(u32, compiler.values.len);
    @memset(altered, 0);
    const weighed = try compiler.scratch.alloc(u32, compiler.cases.items.len);
    @memset(weighed, none);
    var clock: u32 = 0;
    var changed = true;
    while (changed) {
        changed = false;
        for (compiler.order.items) |value| for (compiler.value_cases[value]) |case| {
            if (weighed[case] != none) {
                for (compiler.children.items[case]) |child| {
                    if (altered[child] > weighed[case]) break;
                } else continue;
            }
            weighed[case] = clock;
            const cost = caseCost(compiler, case) catch |failure| return blame.inValue(compiler, value, failure);
            compiler.case_costs[case] = cost;
            if (cost >= compiler.values[value].cost) continue;
            compiler.values[value].cost = cost;
            clock += 1;
            altered[value] = clock;
            changed = true;
        };
    }
}

fn caseCost(compiler: *Compiler, case: u32) ir.Error!u32 {
    const program = compiler.program;
    try compiler.budget.spend(1);
    switch (compiler.cases.items[case]) {
        .literal => |literal| return program.literal_costs[@backingInt(literal)][0],
        .number => |number| return compiler.numbers.automata.items[number].cost[0],
        .string => |string| {
            if (string.min > string.max) return unreachable_cost;
            if (string.min == 0) return compiler.speller.cost("\"\"");
            return spelling.add(spelling.add(program.prices.quote, program.prices.quote), program.characterCost(string.min));
        },
        .among => |texts| return spelling.add(program.prices.quote, compiler.texts.items[texts].node_cost[Texts.root]),
        .pattern => |pattern| return spelling.add(spelling.add(program.prices.quote, program.prices.quote), compiler.patterns.items[pattern].cost),
        .array => |*of| {
            if (of.unique) |unique| if (!unique.prepared) try prepareUnique(compiler, of);
            const array = of.*;
            if (array.closes(0, Counts.zero)) return compiler.speller.cost("[]");
            try refreshArray(compiler, &array);
            var priced = array;
            try priced.finish(compiler.scratch, compiler.budget);
            const rest = priced.openCost();
            // Many items without equals take longer ones; see Tracks.scaled.
            const scaled = if (array.unique == null or rest == unreachable_cost) rest else spelling.times(1 + (rest +| 1) / domains.few, rest);
            return spelling.add(try compiler.speller.cost("["), scaled);
        },
        .object => |*object| {
            try refreshObject(compiler, object);
            return if (object.isCounted()) countedCost(compiler, object) else objectCost(compiler, object);
        },
    }
}

/// Gives the options what their values cost by now.
fn refresh(compiler: *const Compiler, options: []const Option) void {
    for (@constCast(options)) |*option| option.cost = compiler.values[option.value].cost;
}

/// Its items are scalars, whose costs are known before those of arrays.
fn prepareUnique(compiler: *Compiler, array: *array_room.Array) ir.Error!void {
    var patterns: Patterns = try .create(compiler.gpa, compiler.patterns.items);
    defer patterns.deinit();
    const tables: domains.Tables = .{
        .program = compiler.program,
        .cases = compiler.cases.items,
        .texts = compiler.texts.items,
        .numbers = compiler.numbers.automata.items,
        .patterns = &patterns,
        .budget = compiler.budget,
    };
    try unique_room.prepare(compiler.arena, compiler.scratch, compiler.gpa, &tables, &compiler.speller, compiler.values, compiler.value_cases, array);
}

fn refreshArray(compiler: *Compiler, array: *const array_room.Array) ir.Error!void {
    // What the items of this one cost depends on more than their values.
    if (array.unique != null) return;
    try compiler.budget.spend(array.prefix.len);
    for (array.prefix) |place| refresh(compiler, place);
    refresh(compiler, array.rest);
}

fn objectCost(compiler: *Compiler, object: *const Object) ir.Error!u32 {
    if (object.first_required == none) return compiler.speller.cost("{}");
    const first = object.properties[object.first_required];
    const opening = object.keys.texts[object.first_required].opening;
    var cost = spelling.add(spelling.add(opening.brace, compiler.program.prices.brace), first.value_cost);
    for (object.properties, 0..) |property, sorted| {
        if (!property.required or sorted == object.first_required) continue;
        cost = spelling.add(cost, spelling.add(property.comma_cost, property.value_cost));
    }
    return cost;
}

/// Of an object whose members are counted.
fn countedCost(compiler: *Compiler, object: *const Object) ir.Error!u32 {
    const entries = Grid.entries(object);
    if (entries > limits.cover_entries) return compiler.budget.refuse(.limit, "an object has too many keys and counts to weigh them together", none);
    var options: u64 = 1;
    for (object.properties) |property| options = @max(options, property.options.len);
    try compiler.budget.spend(@intCast(entries * options * 4));
    const all = try compiler.scratch.alloc(u32, object.words);
    @memset(all, 0xffffffff);
    try compiler.cover.solve(compiler.scratch, object, &compiler.program.prices, .{
        .position = 0,
        .left = all,
        .counted = Counts.zero,
        .members = 0,
        .known = @intCast(object.properties.len),
    });
    if (compiler.cover.closes) return compiler.speller.cost("{}");
    var least = unreachable_cost;
    for (compiler.cover.keys.items, object.properties) |cost, property| least = @min(least, spelling.add(property.start_cost, cost));
    for (compiler.cover.classes.items, object.classes) |cost, *class| {
        least = @min(least, spelling.add(compiler.program.prices.newKey(class, @intCast(object.properties.len)), cost));
    }
    return spelling.add(try compiler.speller.cost("{"), least);
}

/// Gives an object what its values cost by now.
fn refreshObject(compiler: *Compiler, object: *const Object) ir.Error!void {
    try compiler.budget.spend(object.properties.len);
    for (@constCast(object.properties)) |*property| {
        refresh(compiler, property.options);
        property.value_cost = array_room.leastCost(property.options);
        property.offered = property.value_cost != unreachable_cost and property.start_cost != unreachable_cost and property.comma_cost != unreachable_cost;
    }
    for (@constCast(object.classes)) |*class| {
        refresh(compiler, class.options);
        class.value_cost = array_room.leastCost(class.options);
    }
}

/// With all costs known: takes out the cases that nothing satisfies, and what can never be offered.
pub fn finishValues(compiler: *Compiler) ir.Error!void {
    for (compiler.order.items) |value| {
        var live: std.ArrayList(u32) = .empty;
        for (compiler.value_cases[value]) |case| {
            if (compiler.case_costs[case] == unreachable_cost) continue;
            try live.append(compiler.arena, case);
            switch (compiler.cases.items[case]) {
                .array => |*array| {
                    try refreshArray(compiler, array);
                    try array.finish(compiler.arena, compiler.budget);
                    for (@constCast(array.prefix)) |*place| place.* = possible(place.*);
                    array.rest = possible(array.rest);
                    if (array.unique) |unique| {
                        for (unique.prefix) |place| refresh(compiler, place);
                        refresh(compiler, unique.rest);
                        for (@constCast(unique.prefix)) |*place| place.* = possible(place.*);
                        @constCast(unique).rest = possible(unique.rest);
                    }
                },
                .object => |*object| try finishObject(compiler, object),
                else => {},
            }
        }
        compiler.values[value].cases = live.items;
    }
}

/// Those options that can be completed.
fn possible(options: []const Option) []const Option {
    const list = @constCast(options);
    var kept: usize = 0;
    for (options) |option| if (option.cost != unreachable_cost) {
        list[kept] = option;
        kept += 1;
    };
    return list[0..kept];
}

fn finishObject(compiler: *Compiler, object: *Object) ir.Error!void {
    try refreshObject(compiler, object);
    for (@constCast(object.properties)) |*property| property.options = possible(property.options);
    const classes = @constCast(object.classes);
    var kept: usize = 0;
    for (classes) |class| if (class.value_cost != unreachable_cost) {
        classes[kept] = class;
        classes[kept].options = possible(class.options);
        kept += 1;
    };
    object.classes = classes[0..kept];
}
