//! Why Metal refused something, as text for a person.
const std = @import("std");
const objc = @import("objc.zig");

pub const Diagnostic = struct {
    /// A compiler's first messages fit.
    buffer: [2048]u8 = undefined,
    len: usize = 0,

    pub fn text(diagnostic: *const Diagnostic) []const u8 {
        return diagnostic.buffer[0..diagnostic.len];
    }

    /// Replaces the text; what does not fit is cut.
    pub fn set(diagnostic: *Diagnostic, what: []const u8, why: []const u8) void {
        diagnostic.len = 0;
        for ([_][]const u8{ what, ": ", why }) |part| {
            const len = @min(part.len, diagnostic.buffer.len - diagnostic.len);
            @memcpy(diagnostic.buffer[diagnostic.len..][0..len], part[0..len]);
            diagnostic.len += len;
        }
    }

    /// The description of an NSError.
    pub fn setError(diagnostic: *Diagnostic, runtime: *const objc.Runtime, what: []const u8, failure: ?objc.Object) void {
        const description = runtime.send(?objc.Object, failure orelse return diagnostic.set(what, "no reason given"), "localizedDescription", .{});
        diagnostic.set(what, runtime.textOf(description));
    }
};

test "a long text is cut at the end of the buffer" {
    var diagnostic: Diagnostic = .{};
    diagnostic.set("kernel", "no such function");
    try std.testing.expectEqualStrings("kernel: no such function", diagnostic.text());
    const long: [3000]u8 = @splat('x');
    diagnostic.set("kernel", &long);
    try std.testing.expectEqual(diagnostic.buffer.len, diagnostic.text().len);
}
