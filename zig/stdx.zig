//! Containers that the rooms share; imports the standard library only.
const id_table = @import("stdx/id_table.zig");

pub const IdTable = id_table.IdTable;
pub const hashWords = id_table.hashWords;

test {
    _ = id_table;
}
