const std = @import("std");
const builtin = @import("builtin");
const system = std.posix.system;

/// A pair of connected sockets: a byte on one wakes the event loop that watches the other.
pub const Wake = struct {
    own: std.posix.fd_t,
    /// Belongs to the event loop once `handOver` was called.
    theirs: ?std.posix.fd_t,

    pub fn init() error{NoSockets}!Wake {
        var pair: [2]std.posix.fd_t = undefined;
        if (std.posix.errno(system.socketpair(std.posix.AF.UNIX, std.posix.SOCK.STREAM, 0, &pair)) != .SUCCESS) return error.NoSockets;
        const wake: Wake = .{ .own = pair[0], .theirs = pair[1] };
        for (pair) |fd| if (!prepare(fd)) {
            wake.deinit();
            return error.NoSockets;
        };
        return wake;
    }

    pub fn deinit(wake: Wake) void {
        _ = system.close(wake.own);
        if (wake.theirs) |fd| _ = system.close(fd);
    }

    pub fn handOver(wake: *Wake) std.posix.fd_t {
        const fd = wake.theirs.?;
        wake.theirs = null;
        return fd;
    }

    /// Never blocks. A byte that does not fit is not missed: then others wait to be read already.
    pub fn ring(wake: Wake) void {
        const byte = [1]u8{1};
        const quiet = if (builtin.os.tag.isDarwin()) 0 else std.posix.MSG.NOSIGNAL;
        while (std.posix.errno(system.sendto(wake.own, &byte, 1, quiet, null, 0)) == .INTR) {}
    }
};

/// Not inherited by child processes, never blocking, and no signal when the other side is gone.
fn prepare(fd: std.posix.fd_t) bool {
    const nonblocking: u32 = @bitCast(std.posix.O{ .NONBLOCK = true });
    if (std.posix.errno(system.fcntl(fd, std.posix.F.SETFD, @as(c_int, std.posix.FD_CLOEXEC))) != .SUCCESS) return false;
    if (std.posix.errno(system.fcntl(fd, std.posix.F.SETFL, @as(c_int, @bitCast(nonblocking)))) != .SUCCESS) return false;
    if (!builtin.os.tag.isDarwin()) return true;
    const on = [4]u8{ 1, 0, 0, 0 };
    std.posix.setsockopt(fd, std.posix.SOL.SOCKET, std.posix.SO.NOSIGPIPE, &on) catch return false;
    return true;
}

test "bytes arrive, a full socket does not block, and a closed one does not kill" {
    var wake: Wake = try .init();
    defer wake.deinit();
    const theirs = wake.handOver();
    for (0..300_000) |_| wake.ring();
    var buffer: [64]u8 = undefined;
    try std.testing.expect(try std.posix.read(theirs, &buffer) == buffer.len);
    _ = system.close(theirs);
    wake.ring();
}
