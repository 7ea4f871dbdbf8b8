//! The slow truth about unordered records: every order is tried.
const ir = @import("ir.zig");
const oracle_room = @import("oracle.zig");
const Oracle = oracle_room.Oracle;
const Found = Oracle.Found;

const none = ir.none;

/// Every order of at most four items: reached[positions] by the items written, as bits.
pub fn recordAt(self: *Oracle, items: []const ir.Node.Item, separator: u32, start: usize) Found {
    var found: Found = .{};
    var reached: [16]u64 = @splat(0);
    reached[0] = Oracle.bit(start);
    var required: usize = 0;
    for (items, 0..) |item, index| if (item.required) {
        required |= @as(usize, 1) << @intCast(index);
    };
    // Sets grow, so those before are complete.
    for (0..@as(usize, 1) << @intCast(items.len)) |written| {
        if (written & required == required) found.ends |= reached[written];
        var here = reached[written];
        const others = for (items, 0..) |item, index| {
            const mine = written >> @intCast(index) & 1 != 0;
            if (!mine and self.productive_nodes[item.node]) break true;
        } else false;
        if (written != 0 and separator != none and others) {
            var next: u64 = 0;
            for (0..self.text.len + 1) |at| if (here & Oracle.bit(at) != 0) {
                const part = self.nodeAt(separator, at);
                next |= part.ends;
                if (part.open and canFinish(self, items, required & ~written)) found.open = true;
            };
            here = next;
        }
        for (items, 0..) |item, index| {
            const mine = @as(usize, 1) << @intCast(index);
            if (written & mine != 0) continue;
            for (0..self.text.len + 1) |at| if (here & Oracle.bit(at) != 0) {
                const part = self.nodeAt(item.node, at);
                reached[written | mine] |= part.ends;
                const able = canFinish(self, items, required & ~(written | mine));
                const separable = separator == none or required & ~(written | mine) == 0 or self.productive_nodes[separator];
                if (part.open and able and separable) found.open = true;
            };
        }
    }
    return found;
}

pub fn requiredOf(items: []const ir.Node.Item) usize {
    var count: usize = 0;
    for (items) |item| count += @intFromBool(item.required);
    return count;
}

fn canFinish(self: *const Oracle, items: []const ir.Node.Item, missing: usize) bool {
    for (items, 0..) |item, index| if (missing >> @intCast(index) & 1 != 0 and !self.productive_nodes[item.node]) return false;
    return true;
}
