//! A tokenizer's tokens as the mask engine needs them: their bytes, a trie over them, and tables that depend on nothing else.
const vocabulary = @import("vocabulary/vocabulary.zig");

pub const Vocabulary = vocabulary.Vocabulary;
pub const Kind = vocabulary.Kind;
pub const Trie = trie.Trie;
pub const StringTables = string_tables.StringTables;
pub const Leads = leads.Leads;
pub const Lead = leads.Lead;
pub const forTest = vocabulary.forTest;

const leads = @import("vocabulary/leads.zig");
const trie = @import("vocabulary/trie.zig");
pub const string_tables = @import("vocabulary/string_tables.zig");
pub const signs = @import("vocabulary/signs.zig");
const characters = @import("vocabulary/characters.zig");
pub const json_string = @import("vocabulary/json_string.zig");

test {
    _ = vocabulary;
    _ = leads;
    _ = trie;
    _ = string_tables;
    _ = signs;
    _ = characters;
    _ = json_string;
}
