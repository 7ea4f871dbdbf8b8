//! Keys and values of the tokens that sequences have seen, in f16, in pages of a few tokens over all layers. A sequence is a list of
//! pages; it grows by one page at a time and gives them back when it is cut or ends.
const std = @import("std");
const kernels = @import("../kernels.zig");
const limits = @import("../limits.zig").model;

pub const page_tokens = kernels.page_tokens;

/// For each layer and key head: keys (key_length, page_tokens), then values (page_tokens, value_stride). Keys lie across so that
/// the scores of all tokens of a page come from one broadcast of a query element at a time.
pub const Page = [*]align(64) f16;

pub const Shape = struct {
    layers: u32,
    heads_kv: u32,
    key_length: u32,
    value_length: u32,

    /// Elements from one token's values to the next.
    pub fn valueStride(shape: *const Shape) u32 {
        return std.mem.alignForward(u32, shape.value_length, kernels.value_alignment);
    }

    fn headElements(shape: *const Shape) usize {
        return @as(usize, shape.key_length + shape.valueStride()) * page_tokens;
    }

    pub fn pageElements(shape: *const Shape) usize {
        return shape.headElements() * shape.heads_kv * shape.layers;
    }

    /// A page ends with the number of sequences that hold it.
    fn allocElements(shape: *const Shape) usize {
        return shape.pageElements() + @sizeOf(u32) / @sizeOf(f16);
    }

    fn holders(shape: *const Shape, page: Page) *align(2) u32 {
        return @ptrCast(page + shape.pageElements());
    }

    pub fn keys(shape: *const Shape, page: Page, layer: u32, head_kv: u32) [*]f16 {
        return page + (@as(usize, layer) * shape.heads_kv + head_kv) * shape.headElements();
    }

    pub fn values(shape: *const Shape, page: Page, layer: u32, head_kv: u32) [*]f16 {
        return shape.keys(page, layer, head_kv) + @as(usize, shape.key_length) * page_tokens;
    }
};

pub const Cache = struct {
    gpa: std.mem.Allocator,
    shape: Shape,
    pages_max: usize,
    /// Pages that sequences hold.
    pages_used: usize = 0,
    spare: std.ArrayList(Page) = .empty,

    pub fn init(gpa: std.mem.Allocator, shape: Shape, bytes_max: usize) Cache {
        return .{ .gpa = gpa, .shape = shape, .pages_max = bytes_max / (shape.pageElements() * @sizeOf(f16)) };
    }

    /// All sequences are gone by now.
    pub fn deinit(cache: *Cache) void {
        std.debug.assert(cache.pages_used == 0);
        for (cache.spare.items) |page| cache.free(page);
        cache.spare.deinit(cache.gpa);
    }

    /// Bytes that sequences hold.
    pub fn bytes(cache: *const Cache) usize {
        return cache.pages_used * cache.shape.pageElements() * @sizeOf(f16);
    }

    fn take(cache: *Cache) error{OutOfMemory}!Page {
        if (cache.pages_used >= cache.pages_max) return error.OutOfMemory;
        const page = cache.spare.pop() orelse blk: {
            const new = try cache.gpa.alignedAlloc(f16, .@"64", cache.shape.allocElements());
            // Slots that no token has filled are multiplied by zero, which only a finite number survives.
            @memset(new, 0);
            break :blk new.ptr;
        };
        cache.pages_used += 1;
        cache.shape.holders(page).* = 1;
        return page;
    }

    fn give(cache: *Cache, page: Page) void {
        const holders = cache.shape.holders(page);
        holders.* -= 1;
        if (holders.* > 0) return;
        cache.pages_used -= 1;
        if (cache.spare.items.len >= limits.cache_spare_pages) return cache.free(page);
        cache.spare.append(cache.gpa, page) catch |err| switch (err) {
            error.OutOfMemory => cache.free(page),
        };
    }

    fn free(cache: *Cache, page: Page) void {
        cache.gpa.free(page[0..cache.shape.allocElements()]);
    }
};

pub const Sequence = struct {
    cache: *Cache,
    pages: std.ArrayList(Page) = .empty,
    /// Tokens whose keys and values are there.
    len: u32 = 0,

    pub fn create(cache: *Cache) error{OutOfMemory}!*Sequence {
        const sequence = try cache.gpa.create(Sequence);
        sequence.* = .{ .cache = cache };
        return sequence;
    }

    /// Another sequence that begins with the first tokens of this one: as many as fill whole pages, up to `len`. Those pages are held by both;
    /// neither writes them, since both only grow.
    pub fn share(sequence: *const Sequence, len: u32) error{OutOfMemory}!*Sequence {
        const cache = sequence.cache;
        const pages = sequence.pages.items[0 .. @min(len, sequence.len) / page_tokens];
        const other: *Sequence = try .create(cache);
        errdefer other.destroy();
        try other.pages.appendSlice(cache.gpa, pages);
        for (pages) |page| cache.shape.holders(page).* += 1;
        other.len = @intCast(pages.len * page_tokens);
        return other;
    }

    /// Of its pages, also those that others hold too.
    pub fn bytes(sequence: *const Sequence) usize {
        return sequence.pages.items.len * sequence.cache.shape.pageElements() * @sizeOf(f16);
    }

    pub fn destroy(sequence: *Sequence) void {
        sequence.truncate(0);
        sequence.pages.deinit(sequence.cache.gpa);
        sequence.cache.gpa.destroy(sequence);
    }

    /// Forgets all tokens from `len` on, none of them shared.
    pub fn truncate(sequence: *Sequence, len: u32) void {
        std.debug.assert(len <= sequence.len);
        sequence.len = len;
        sequence.releaseUnused();
    }

    /// Gives back the pages that hold none of the `len` tokens, such as those of a pass that was cancelled.
    pub fn releaseUnused(sequence: *Sequence) void {
        const kept = (@as(usize, sequence.len) + page_tokens - 1) / page_tokens;
        while (sequence.pages.items.len > kept) sequence.cache.give(sequence.pages.pop().?);
    }

    /// Makes room for tokens up to `len`; after an error what was there before is still there.
    pub fn reserve(sequence: *Sequence, len: u32) error{OutOfMemory}!void {
        const gpa = sequence.cache.gpa;
        while (sequence.pages.items.len * page_tokens < len) {
            try sequence.pages.ensureUnusedCapacity(gpa, 1);
            sequence.pages.appendAssumeCapacity(try sequence.cache.take());
        }
    }
};

test "pages are taken on demand, given back by truncate, and bounded" {
    const gpa = std.testing.allocator;
    const shape: Shape = .{ .layers = 2, .heads_kv = 3, .key_length = 4, .value_length = 5 };
    const page_bytes = shape.pageElements() * @sizeOf(f16);
    var cache: Cache = .init(gpa, shape, 3 * page_bytes + 1);
    defer cache.deinit();
    const a = try Sequence.create(&cache);
    defer a.destroy();
    const b = try Sequence.create(&cache);
    defer b.destroy();

    try a.reserve(page_tokens);
    a.len = page_tokens;
    try std.testing.expectEqual(page_bytes, cache.bytes());
    try a.reserve(page_tokens + 1);
    a.len += 1;
    try b.reserve(1);
    try std.testing.expectEqual(3 * page_bytes, cache.bytes());
    try std.testing.expectError(error.OutOfMemory, b.reserve(page_tokens + 1));
    try std.testing.expectEqual(1, b.pages.items.len);
    a.truncate(page_tokens);
    try b.reserve(page_tokens + 1);
    try std.testing.expectEqual(2, b.pages.items.len);
    b.releaseUnused();
    try std.testing.expectEqual(page_bytes, cache.bytes());
}

test "heads of a page do not overlap" {
    const shape: Shape = .{ .layers = 2, .heads_kv = 3, .key_length = 4, .value_length = 5 };
    const memory = try std.testing.allocator.alignedAlloc(f16, .@"64", shape.pageElements());
    defer std.testing.allocator.free(memory);
    @memset(memory, 0);
    for (0..shape.layers) |layer| for (0..shape.heads_kv) |head| {
        for (shape.keys(memory.ptr, @intCast(layer), @intCast(head))[0 .. shape.key_length * page_tokens]) |*key| key.* += 1;
        for (shape.values(memory.ptr, @intCast(layer), @intCast(head))[0 .. shape.valueStride() * page_tokens]) |*value| value.* += 1;
    };
    for (memory) |element| try std.testing.expectEqual(1, element);
}

test "shared pages live as long as one sequence holds them" {
    const gpa = std.testing.allocator;
    const shape: Shape = .{ .layers = 1, .heads_kv = 1, .key_length = 8, .value_length = 8 };
    var cache: Cache = .init(gpa, shape, 1 << 20);
    defer cache.deinit();
    const first: *Sequence = try .create(&cache);
    try first.reserve(3 * page_tokens);
    first.len = 2 * page_tokens + 3;
    const page = cache.bytes() / 3;
    const second = try first.share(2 * page_tokens + 2);
    defer second.destroy();
    try std.testing.expectEqual(2 * page_tokens, second.len);
    try std.testing.expectEqual(3 * page, cache.bytes());
    try second.reserve(2 * page_tokens + 1);
    try std.testing.expectEqual(4 * page, cache.bytes());
    try std.testing.expect(second.pages.items[2] != first.pages.items[2]);
    first.destroy();
    try std.testing.expectEqual(3 * page, cache.bytes());
    const third = try second.share(page_tokens - 1);
    defer third.destroy();
    try std.testing.expectEqual(0, third.len);
}
