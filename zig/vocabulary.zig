//! A tokenizer's tokens as the mask engine needs them: their bytes, a trie over them, and tables that depend on nothing else.
const vocabulary = @import("vocabulary/vocabulary.zig");

pub const Vocabulary = vocabulary.Vocabulary;
pub const Kind = vocabulary.Kind;

test {
    _ = vocabulary;
}
