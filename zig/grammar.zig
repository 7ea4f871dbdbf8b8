//! The mask engine: which tokens may come next, and what each byte of output is for.
const std = @import("std");
const Allocator = std.mem.Allocator;
const Vocabulary = @import("vocabulary.zig").Vocabulary;

/// What a byte of output is for; the same numbers as `channels` in src/grammar/ir.ts.
pub const Channel = enum(u8) {
    text = 0,
    reasoning = 1,
    call_name = 2,
    argument_key = 3,
    argument_text = 4,
    argument_json = 5,
    value_end = 6,
    custom_input = 7,
    markup = 8,
};

pub const none: u32 = 0xffffffff;
pub const unlimited: u32 = 0xffffffff;

pub const Refusal = struct {
    kind: Kind = .invalid,
    message: []const u8 = "",
    /// `origin` of the value that is to blame, or `none`.
    origin: u32 = none,

    pub const Kind = enum { invalid, unsatisfiable, limit };
};

pub const Segment = struct {
    channel: Channel,
    /// Index of the current call, counted by call_name segments starting; `none` before the first.
    call: u32,
    bytes: []const u8,
};

pub const Program = struct {
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    /// Tokens of the shortest complete output, without a stop token.
    cost_min: u32,

    pub fn create(gpa: Allocator, vocabulary: *const Vocabulary, ir: []const u8, refusal: *Refusal) error{ OutOfMemory, Refused }!*Program {
        _ = .{ gpa, vocabulary, ir };
        refusal.* = .{ .kind = .limit, .message = "the mask engine is being built" };
        return error.Refused;
    }

    pub fn destroy(self: *Program) void {
        self.gpa.destroy(self);
    }
};

pub const Matcher = struct {
    gpa: Allocator,
    program: *const Program,

    pub fn create(gpa: Allocator, program: *const Program, stop_tokens: []const u32) error{OutOfMemory}!*Matcher {
        _ = stop_tokens;
        const self = try gpa.create(Matcher);
        self.* = .{ .gpa = gpa, .program = program };
        return self;
    }
    pub fn destroy(self: *Matcher) void {
        self.gpa.destroy(self);
    }
    pub fn mask(self: *Matcher, out: []u32, tokens_left: u32) error{OutOfMemory}!void {
        _ = .{ self, tokens_left };
        @memset(out, 0);
    }
    pub fn accept(self: *Matcher, token: u32) error{OutOfMemory}!bool {
        _ = .{ self, token };
        return false;
    }
    pub fn allowed(self: *Matcher, token: u32, tokens_left: u32) error{OutOfMemory}!bool {
        _ = .{ self, token, tokens_left };
        return false;
    }
    pub fn acceptsEnd(self: *const Matcher) bool {
        _ = self;
        return false;
    }
    pub fn isComplete(self: *const Matcher) bool {
        _ = self;
        return false;
    }
    pub fn cost(self: *const Matcher) u32 {
        return self.program.cost_min;
    }
    pub fn segments(self: *const Matcher) []const Segment {
        _ = self;
        return &.{};
    }
    pub fn flush(self: *Matcher) error{OutOfMemory}![]const Segment {
        _ = self;
        return &.{};
    }
};
