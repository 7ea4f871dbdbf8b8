//! Graphs between matchers: one that ends leaves its tables, with all they have learnt of the grammar, to the next.
const std = @import("std");
const Allocator = std.mem.Allocator;
const Graph = @import("graph.zig").Graph;
const Program = @import("program.zig").Program;
const limits = @import("../limits.zig").grammar;

pub const GraphPool = struct {
    lock: std.atomic.Mutex = .unlocked,
    idle: [limits.graphs_idle]*Graph = undefined,
    count: usize = 0,

    pub fn create(gpa: Allocator) error{OutOfMemory}!*GraphPool {
        const self = try gpa.create(GraphPool);
        self.* = .{};
        return self;
    }

    pub fn destroy(self: *GraphPool, gpa: Allocator) void {
        for (self.idle[0..self.count]) |graph| graph.destroy();
        gpa.destroy(self);
    }

    /// A graph belongs to one matcher at a time.
    pub fn acquire(self: *GraphPool, program: *const Program) error{OutOfMemory}!*Graph {
        return self.pop() orelse Graph.create(program.gpa, program);
    }

    pub fn release(self: *GraphPool, graph: *Graph) void {
        if (!self.push(graph)) graph.destroy();
    }

    fn pop(self: *GraphPool) ?*Graph {
        self.wait();
        defer self.lock.unlock();
        if (self.count == 0) return null;
        self.count -= 1;
        return self.idle[self.count];
    }

    fn push(self: *GraphPool, graph: *Graph) bool {
        self.wait();
        defer self.lock.unlock();
        if (self.count == self.idle.len) return false;
        self.idle[self.count] = graph;
        self.count += 1;
        return true;
    }

    /// Held for a few instructions only.
    fn wait(self: *GraphPool) void {
        while (!self.lock.tryLock()) std.atomic.spinLoopHint();
    }
};
