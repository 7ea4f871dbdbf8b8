//! Why a model could not be loaded, as one line of text for the operator.
const std = @import("std");

pub const Diagnostic = struct {
    buffer: [512]u8 = undefined,
    len: usize = 0,

    pub fn text(self: *const Diagnostic) []const u8 {
        return self.buffer[0..self.len];
    }

    /// Replaces the text; what does not fit is cut.
    pub fn set(self: *Diagnostic, comptime format: []const u8, arguments: anytype) void {
        var writer: std.Io.Writer = .fixed(&self.buffer);
        writer.print(format, arguments) catch |err| switch (err) {
            error.WriteFailed => {}, // Full: the line was cut.
        };
        self.len = writer.end;
    }
};

test "a long text is cut at the end of the buffer" {
    var diagnostic: Diagnostic = .{};
    diagnostic.set("tensor {s}", .{"blk.0.attn_q.weight"});
    try std.testing.expectEqualStrings("tensor blk.0.attn_q.weight", diagnostic.text());
    const long: [600]u8 = @splat('x');
    diagnostic.set("{s}", .{&long});
    try std.testing.expectEqualStrings(long[0..512], diagnostic.text());
}
