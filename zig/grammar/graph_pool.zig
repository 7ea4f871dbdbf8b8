//! Graphs between matchers: one that ends leaves its tables, with all they have learnt of the grammar, to the next of its program. When the
//! program ends, their memory serves the next program of the vocabulary.
const std = @import("std");
const Allocator = std.mem.Allocator;
const stdx = @import("../stdx.zig");
const Vocabulary = @import("../vocabulary.zig").Vocabulary;
const Graph = @import("graph.zig").Graph;
const Program = @import("program.zig").Program;
const limits = @import("../limits.zig").grammar;

pub const GraphPool = struct {
    vocabulary: *const Vocabulary,
    idle: stdx.Pool(*Graph, limits.graphs_idle) = .{},

    pub fn create(gpa: Allocator, vocabulary: *const Vocabulary) error{OutOfMemory}!*GraphPool {
        const self = try gpa.create(GraphPool);
        self.* = .{ .vocabulary = vocabulary };
        return self;
    }

    pub fn destroy(self: *GraphPool, gpa: Allocator) void {
        while (self.idle.take()) |graph| {
            const spared = graph.bytesHeld() <= limits.graph_spare_bytes and self.vocabulary.spares.give(.{ .item = graph, .destroy = destroyGraph });
            if (!spared) graph.destroy();
        }
        gpa.destroy(self);
    }

    /// A graph belongs to one matcher at a time.
    pub fn acquire(self: *GraphPool, program: *const Program) error{OutOfMemory}!*Graph {
        if (self.idle.take()) |graph| return graph;
        const spare = self.vocabulary.spares.take() orelse return Graph.create(program.gpa, program);
        const graph: *Graph = @ptrCast(@alignCast(spare.item));
        errdefer graph.destroy();
        try graph.reset(program);
        return graph;
    }

    pub fn release(self: *GraphPool, graph: *Graph) void {
        if (!self.idle.give(graph)) graph.destroy();
    }

    fn destroyGraph(item: *anyopaque) void {
        const graph: *Graph = @ptrCast(@alignCast(item));
        graph.destroy();
    }
};
