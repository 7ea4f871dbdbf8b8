//! Which part of a grammar makes the whole of it impossible, or is refused by itself.
const ir = @import("ir.zig");
const spelling = @import("spelling.zig");
const Case = @import("program.zig").Case;
const Compiler = @import("compile.zig").Compiler;

const none = ir.none;
const unreachable_cost = spelling.unreachable_cost;

/// A refusal that was found in a value says so, unless all work was spent: no value is to blame for that alone.
pub fn inValue(compiler: *Compiler, value: u32, failure: ir.Error) ir.Error {
    const refusal = compiler.budget.refusal;
    if (failure == error.Refused and refusal.origin == none and compiler.budget.left > 0) refusal.origin = compiler.values[value].origin;
    return failure;
}

/// The origin of a value that makes the root impossible: the first one down the required parts.
pub fn rootOrigin(compiler: *Compiler) ir.Error!u32 {
    const seen = try compiler.scratch.alloc(bool, compiler.source.nodes.len);
    @memset(seen, false);
    var node = compiler.source.root;
    while (!seen[node]) {
        try compiler.budget.spend(1);
        seen[node] = true;
        node = switch (compiler.source.nodes[node]) {
            .bytes, .token, .marker, .text, .regex, .texts, .any_token => return none,
            .json => |json| return valueOrigin(compiler, Compiler.valueId(json.value, json.style.spelling)),
            .record => |record| for (record.items) |item| {
                if (item.required and compiler.program.node_costs[item.node] == unreachable_cost) break item.node;
            } else return none,
            .sequence => |items| for (items) |item| {
                if (compiler.program.node_costs[item] == unreachable_cost) break item;
            } else return none,
            .choice => |items| if (items.len > 0) items[0] else return none,
            .repeat => |repeat| repeat.item,
            .channel => |channel| channel.item,
        };
    }
    return none;
}

fn valueOrigin(compiler: *Compiler, start: u32) ir.Error!u32 {
    const seen = try compiler.scratch.alloc(bool, compiler.values.len);
    @memset(seen, false);
    var value = start;
    while (!seen[value]) {
        seen[value] = true;
        // Where there is a choice, the choice itself is to blame.
        if (compiler.value_cases[value].len != 1) break;
        value = try impossiblePart(compiler, &compiler.cases.items[compiler.value_cases[value][0]]) orelse break;
    }
    return compiler.values[value].origin;
}

/// A part that is required and impossible, if it has no choice.
fn impossiblePart(compiler: *Compiler, case: *const Case) ir.Error!?u32 {
    switch (case.*) {
        .object => |object| for (object.properties) |property| {
            try compiler.budget.spend(1);
            if (property.required and property.options.len == 1 and property.value_cost == unreachable_cost) return property.options[0].value;
        },
        .array => |array| for (0..@min(array.min, array.prefix.len + 1)) |index| {
            try compiler.budget.spend(1);
            const options = array.options(@intCast(index));
            if (options.len == 1 and compiler.values[options[0].value].cost == unreachable_cost) return options[0].value;
        },
        else => {},
    }
    return null;
}
