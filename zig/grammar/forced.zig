//! What has to come next, where a grammar leaves one way on: its bytes, and the tokens that they would usually be written with.
const ir = @import("ir.zig");
const first_room = @import("first.zig");
const graph_room = @import("graph.zig");
const Graph = graph_room.Graph;
const Matcher = @import("matcher.zig").Matcher;
const Program = @import("program.zig").Program;

/// More than the tokens of a draft write.
pub const draft_bytes = 64;

/// See Matcher.forced.
pub fn bytes(matcher: *Matcher, out: []u8) error{OutOfMemory}!u32 {
    const length = matcher.output.items.len;
    defer matcher.output.shrinkRetainingCapacity(length);
    var at: Matcher.Reached = .{ .state = matcher.state, .spent = matcher.spent };
    for (out, 0..) |*byte, count| {
        const known = &matcher.graph.states.items[at.state];
        const only = if (known.accepts_end or known.edges) null else try onlyByte(matcher, at);
        byte.* = only orelse return @intCast(count);
        try matcher.output.append(matcher.gpa, byte.*);
        at = try matcher.stepFrom(at.state, at.spent, byte.*);
    }
    return @intCast(out.len);
}

fn onlyByte(matcher: *Matcher, at: Matcher.Reached) error{OutOfMemory}!?u8 {
    const graph = matcher.graph;
    var all: first_room.ByteSet = .empty;
    for (graph.nodesOf(at.state)) |id| all.setUnion(first_room.bytesOf(graph, &graph.nodes.items[id]));
    var only: ?u8 = null;
    var space = false;
    var iterator = all.iterator(.{});
    while (iterator.next()) |index| {
        const byte: u8 = @intCast(index);
        const length = matcher.output.items.len;
        try matcher.output.append(matcher.gpa, byte);
        const next = try matcher.stepFrom(at.state, at.spent, byte);
        matcher.output.shrinkRetainingCapacity(length);
        if (next.state == Graph.dead_state) continue;
        // Inside a character there may be no end of a token; after an ASCII byte its absence means that nothing follows.
        if (byte < 0x80 and graph.states.items[next.state].cost == graph_room.unreachable_cost) continue;
        switch (byte) {
            ' ' => space = true,
            '\t', '\n', '\r' => {},
            else => if (only == null) {
                only = byte;
            } else return null,
        }
    }
    const last: u8 = if (matcher.output.getLastOrNull()) |byte| byte else 0;
    return if (space and (last == ',' or last == ':')) ' ' else only;
}

/// Writes the tokens of a text into `out` as far as they fit, each the longest that there is, and returns their number.
pub fn tokens(program: *const Program, text: []const u8, out: []u32) u32 {
    var at: usize = 0;
    for (out, 0..) |*token, count| {
        var longest: Longest = .{ .program = program };
        program.vocabulary.trie.prefixes(text[at..], &longest);
        if (longest.token == ir.none) return @intCast(count);
        token.* = longest.token;
        at += longest.length;
    }
    return @intCast(out.len);
}

/// The longest token of a text's beginnings.
const Longest = struct {
    program: *const Program,
    token: u32 = ir.none,
    length: u32 = 0,

    pub fn found(self: *Longest, entry: u32, length: u32) void {
        var token = entry;
        while (token != ir.none) : (token = self.program.vocabulary.twins[token]) {
            if (self.program.isNamed(token)) continue;
            self.token = token;
            self.length = length;
            return;
        }
    }
};
