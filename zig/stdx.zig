//! Containers that the rooms share; imports the standard library only.
const handles = @import("stdx/handles.zig");
const id_table = @import("stdx/id_table.zig");
const keep = @import("stdx/keep.zig");
const pages = @import("stdx/pages.zig");
const pool = @import("stdx/pool.zig");
pub const words = @import("stdx/words.zig");

pub const Handles = handles.Handles;
pub const IdTable = id_table.IdTable;
pub const Keep = keep.Keep;
pub const Pool = pool.Pool;
pub const allocPages = pages.allocPages;
pub const freePages = pages.freePages;
pub const hashWords = id_table.hashWords;

test {
    _ = handles;
    _ = id_table;
    _ = keep;
    _ = pages;
    _ = pool;
    _ = words;
}
