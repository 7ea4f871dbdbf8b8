//! `zig build bench-grammar -- PREFIX`: what masks cost, over what `bun run bench mask --dump PREFIX` has written. PREFIX.vocabulary: count,
//! bytes, count + 1 offsets, the bytes, the kinds. PREFIX.grammars: a count, and for each grammar its length, its bytes up to a whole
//! word, the number of outputs, and each as a count of tokens and the tokens. All words are little-endian u32. Prints one JSON object;
//! times are processor time of the one thread, in microseconds; a mask counts with its accept.
const std = @import("std");
const grammar = @import("grammar");

pub fn main(init: std.process.Init) !void {
    const arena = init.arena.allocator();
    // As the library does.
    const gpa = std.heap.smp_allocator;
    const args = try init.minimal.args.toSlice(arena);
    if (args.len != 2) {
        std.debug.print("usage: bench-grammar PREFIX\n", .{});
        return error.Usage;
    }
    const dir: std.Io.Dir = .cwd();
    var words: Words = .{ .bytes = try dir.readFileAlloc(init.io, try arena.print("{s}.vocabulary", .{args[1]}), arena, .unlimited) };
    const count = words.next();
    const byte_count = words.next();
    const offsets = try arena.alloc(u32, count + 1);
    for (offsets) |*offset| offset.* = words.next();
    const bytes = words.take(byte_count);
    const kinds = words.take(count);
    var timer: Timer = .start();
    const vocabulary = try grammar.Vocabulary.create(gpa, bytes, offsets, kinds);
    const vocabulary_us = timer.lap();
    defer vocabulary.destroy(gpa);

    var work: Words = .{ .bytes = try dir.readFileAlloc(init.io, try arena.print("{s}.grammars", .{args[1]}), arena, .unlimited) };
    var compile_us: std.ArrayList(f64) = .empty;
    var first_us: std.ArrayList(f64) = .empty;
    var mask_us: std.ArrayList(f64) = .empty;
    const mask = try arena.alloc(u32, vocabulary.words());
    var refused: usize = 0;
    var rejected: usize = 0;
    const grammars = work.next();
    for (0..grammars) |_| {
        const length = work.next();
        const ir = work.take(length);
        _ = work.take((4 - length % 4) % 4);
        var refusal: grammar.Refusal = .{};
        timer = .start();
        const program: ?*grammar.Program = grammar.Program.create(gpa, vocabulary, ir, &refusal) catch |err| switch (err) {
            error.OutOfMemory => return err,
            error.Refused => null,
        };
        const compiled_us = timer.lap();
        defer if (program) |known| known.destroy();
        if (program) |known| {
            try compile_us.append(arena, compiled_us);
            const matcher = try grammar.Matcher.create(gpa, known, &.{});
            defer matcher.destroy();
            try matcher.mask(mask, grammar.unlimited);
            try first_us.append(arena, timer.lap());
        } else refused += 1;
        for (0..work.next()) |_| {
            const tokens = work.next();
            const matcher: ?*grammar.Matcher = if (program) |known| try .create(gpa, known, &.{}) else null;
            defer if (matcher) |known| known.destroy();
            var live = matcher != null;
            for (0..tokens) |_| {
                const token = work.next();
                const known = matcher orelse continue;
                if (!live) continue;
                timer = .start();
                try known.mask(mask, grammar.unlimited);
                live = mask[token >> 5] >> @intCast(token & 31) & 1 != 0 and try known.accept(token);
                try mask_us.append(arena, timer.lap());
            }
            if (matcher) |known| if (!live or !known.acceptsEnd()) {
                rejected += 1;
            };
        }
    }

    var buffer: [4096]u8 = undefined;
    var out = std.Io.File.stdout().writer(init.io, &buffer);
    try out.interface.print("{{\"tokens\":{d},\"vocabulary_us\":{d:.0},\"grammars\":{d},\"refused\":{d},\"rejected\":{d}", .{ count, vocabulary_us, grammars, refused, rejected });
    try report(&out.interface, "compile_us", compile_us.items);
    try report(&out.interface, "first_mask_us", first_us.items);
    try report(&out.interface, "mask_us", mask_us.items);
    try out.interface.writeAll("}\n");
    try out.interface.flush();
}

fn report(writer: *std.Io.Writer, name: []const u8, times: []f64) !void {
    std.mem.sortUnstable(f64, times, {}, std.sort.asc(f64));
    var sum: f64 = 0;
    for (times) |time| sum += time;
    const length: f64 = @floatFromInt(times.len);
    try writer.print(",\"{s}\":{{\"count\":{d},\"avg\":{d:.2}", .{ name, times.len, sum / length });
    for ([_]f64{ 0.5, 0.9, 0.99, 0.999, 1 }, [_][]const u8{ "p50", "p90", "p99", "p99_9", "max" }) |share, label| {
        const index: usize = @trunc(length * share);
        try writer.print(",\"{s}\":{d:.2}", .{ label, times[@min(index, times.len - 1)] });
    }
    try writer.writeAll("}");
}

const Words = struct {
    bytes: []const u8,
    at: usize = 0,

    fn next(self: *Words) u32 {
        return std.mem.readInt(u32, self.take(4)[0..4], .little);
    }

    fn take(self: *Words, length: usize) []const u8 {
        defer self.at += length;
        return self.bytes[self.at..][0..length];
    }
};

const Timer = struct {
    last_ns: u64,

    fn start() Timer {
        return .{ .last_ns = now() };
    }

    fn lap(self: *Timer) f64 {
        const before = self.last_ns;
        self.last_ns = now();
        return @as(f64, @floatFromInt(self.last_ns - before)) / 1000;
    }

    fn now() u64 {
        var time: std.posix.timespec = undefined;
        std.debug.assert(std.posix.system.clock_gettime(.THREAD_CPUTIME_ID, &time) == 0);
        return @as(u64, @intCast(time.sec)) * 1_000_000_000 + @as(u64, @intCast(time.nsec));
    }
};
