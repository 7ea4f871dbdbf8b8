//! The mask engine: which tokens may come next, and what each byte of output is for. A grammar arrives as encoded by
//! src/grammar/encode.ts, is compiled once for a vocabulary, and is followed by one matcher for each output.
const ir = @import("grammar/ir.zig");
const matcher = @import("grammar/matcher.zig");

pub const Vocabulary = @import("vocabulary.zig").Vocabulary;
pub const Channel = ir.Channel;
pub const Refusal = ir.Refusal;
pub const Program = @import("grammar/program.zig").Program;
pub const Matcher = matcher.Matcher;
pub const Segment = matcher.Segment;

/// No call, no origin.
pub const none = ir.none;
/// `tokens_left` without a limit.
pub const unlimited = matcher.unlimited;

test {
    _ = @import("grammar/cover_test.zig");
    _ = @import("grammar/dawg.zig");
    _ = ir;
    _ = @import("grammar/exceptions.zig");
    _ = @import("grammar/multiples.zig");
    _ = @import("grammar/number_test.zig");
    _ = @import("grammar/numbers.zig");
    _ = @import("grammar/terminators.zig");
    _ = @import("grammar/ir_test.zig");
    _ = @import("grammar/matcher_test.zig");
    _ = @import("grammar/decimal_key.zig");
    _ = @import("grammar/frames_test.zig");
    _ = @import("grammar/oracle_test.zig");
    _ = @import("grammar/pattern_test.zig");
    _ = @import("grammar/pattern_mask_test.zig");
    _ = @import("grammar/memo.zig");
    _ = @import("grammar/row.zig");
}
