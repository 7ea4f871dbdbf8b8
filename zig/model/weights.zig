//! The tensors of a model: its files mapped into memory, and each tensor checked against what the architecture expects of it.
const std = @import("std");
const kernels = @import("../kernels.zig");
const limits = @import("../limits.zig").model;
const Diagnostic = @import("diagnostic.zig").Diagnostic;
const manifests = @import("manifest.zig");
const Manifest = manifests.Manifest;
const Tensor = manifests.Tensor;
const Matrix = kernels.Matrix;

pub const Error = error{ OutOfMemory, Invalid };

pub const Weights = struct {
    kernels: *const kernels.Kernels,
    /// Owns everything but the mappings.
    arena: std.mem.Allocator,
    diagnostic: *Diagnostic,
    files: []File,
    tensors: std.StringHashMapUnmanaged(*const Tensor),
    /// Room for the repacked form of every tensor; only what is used takes memory.
    repacked: []align(std.heap.page_size_min) u8,
    repacked_used: usize = 0,
    /// Matrices whose repacked form is still to be written.
    pending: std.ArrayList(Matrix) = .empty,

    const File = struct { name: []const u8, bytes: []align(std.heap.page_size_min) const u8 };

    /// Maps all files. `arena` and `manifest` outlive the weights; `diagnostic` is written while tensors are taken.
    pub fn open(
        arena: std.mem.Allocator,
        level: *const kernels.Kernels,
        manifest: *const Manifest,
        diagnostic: *Diagnostic,
    ) Error!Weights {
        var weights: Weights = .{
            .kernels = level,
            .arena = arena,
            .diagnostic = diagnostic,
            .files = &.{},
            .tensors = .empty,
            .repacked = &.{},
        };
        errdefer weights.close();
        if (manifest.files.len == 0 or manifest.files.len > limits.files_max)
            return weights.refuse("the model manifest names {d} files", .{manifest.files.len});
        const files = try arena.alloc(File, manifest.files.len);
        for (manifest.files, 0..) |name, i| {
            files[i] = .{ .name = name, .bytes = try weights.map(name) };
            weights.files = files[0 .. i + 1];
        }
        var repacked_bytes: usize = 0;
        for (manifest.tensors) |*tensor| {
            const found = try weights.check(tensor);
            const entry = try weights.tensors.getOrPut(arena, tensor.name);
            if (entry.found_existing) return weights.refuse("tensor {s} occurs twice", .{tensor.name});
            entry.value_ptr.* = tensor;
            repacked_bytes += level.repackedBytes(found.format, found.rows, found.columns);
        }
        if (repacked_bytes > 0) weights.repacked = try reserve(repacked_bytes);
        return weights;
    }

    pub fn close(weights: *Weights) void {
        for (weights.files) |file| std.posix.munmap(file.bytes);
        if (weights.repacked.len > 0) std.posix.munmap(weights.repacked);
    }

    pub fn has(weights: *const Weights, name: []const u8) bool {
        return weights.tensors.contains(name);
    }

    /// A matrix to multiply with; `pending` has it until its repacked form is written.
    pub fn matrix(weights: *Weights, name: []const u8, rows: u32, columns: u32) Error!Matrix {
        var result = try weights.table(name, rows, columns);
        const bytes = weights.kernels.repackedBytes(result.format, rows, columns);
        if (bytes == 0) return result;
        result.repacked = weights.repacked.ptr + weights.repacked_used;
        weights.repacked_used += bytes;
        try weights.pending.append(weights.arena, result);
        return result;
    }

    /// A matrix of which only single rows are read.
    pub fn table(weights: *Weights, name: []const u8, rows: u32, columns: u32) Error!Matrix {
        const tensor = weights.tensors.get(name) orelse return weights.refuse("the model has no tensor {s}", .{name});
        const result = try weights.check(tensor);
        if (result.rows != rows or result.columns != columns) return weights.refuse(
            "tensor {s} has {d} × {d} elements (rows × columns), the architecture needs {d} × {d}",
            .{ name, result.rows, result.columns, rows, columns },
        );
        return result;
    }

    /// A row of numbers, as f32 whatever the file has.
    pub fn vector(weights: *Weights, name: []const u8, count: u32) Error![]const f32 {
        const row = try weights.table(name, 1, count);
        const numbers = try weights.arena.alloc(f32, count);
        weights.kernels.dequantizeRow(&row, 0, numbers.ptr);
        return numbers;
    }

    /// Tells the system that the mapped bytes of repacked matrices are not needed in memory.
    pub fn forgetSources(weights: *const Weights) void {
        const page = std.heap.pageSize();
        for (weights.pending.items) |*source| {
            const begin = std.mem.alignForward(usize, @intFromPtr(source.data), page);
            const end = std.mem.alignBackward(usize, @intFromPtr(source.data) + bytesOf(source), page);
            if (begin >= end) continue;
            const pages: [*]align(std.heap.page_size_min) u8 = @ptrFromInt(begin);
            advise(pages[0 .. end - begin], std.posix.MADV.DONTNEED);
        }
    }

    /// A tensor as a matrix, once it is known to lie inside its file.
    fn check(weights: *const Weights, tensor: *const Tensor) Error!Matrix {
        const format = std.enums.fromInt(kernels.Format, tensor.format) orelse
            return weights.refuse("tensor {s} has format {d}, which is not supported", .{ tensor.name, tensor.format });
        if (tensor.shape.len == 0 or tensor.shape.len > 4)
            return weights.refuse("tensor {s} has {d} dimensions", .{ tensor.name, tensor.shape.len });
        var rows: u64 = 1;
        for (tensor.shape[1..]) |size| rows = std.math.mul(u64, rows, size) catch std.math.maxInt(u64);
        const columns = tensor.shape[0];
        if (rows == 0 or columns == 0 or rows > limits.vocabulary_max or columns > limits.width_max)
            return weights.refuse("tensor {s} has an impossible shape", .{tensor.name});
        const result: Matrix = .{ .format = format, .rows = @intCast(rows), .columns = @intCast(columns), .data = undefined };
        if (result.columns % kernels.blockElements(format) != 0)
            return weights.refuse("tensor {s} has rows of {d} elements, not whole {t} blocks", .{ tensor.name, result.columns, format });
        if (tensor.file >= weights.files.len)
            return weights.refuse("tensor {s} is in file {d} of {d}", .{ tensor.name, tensor.file, weights.files.len });
        const file = &weights.files[tensor.file];
        const bytes = bytesOf(&result);
        if (tensor.offset > file.bytes.len or bytes > file.bytes.len - tensor.offset) return weights.refuse(
            "tensor {s} ends at byte {d} of {s}, which has {d}: the file is incomplete",
            .{ tensor.name, tensor.offset +| bytes, file.name, file.bytes.len },
        );
        return .{ .format = format, .rows = result.rows, .columns = result.columns, .data = file.bytes.ptr + @as(usize, @intCast(tensor.offset)) };
    }

    fn map(weights: *const Weights, name: []const u8) Error![]align(std.heap.page_size_min) const u8 {
        const io = std.Io.Threaded.global_single_threaded.io();
        const file = std.Io.Dir.cwd().openFile(io, name, .{}) catch |err|
            return weights.refuse("model file {s} cannot be opened: {t}", .{ name, err });
        defer file.close(io);
        const stat = file.stat(io) catch |err| return weights.refuse("model file {s} cannot be read: {t}", .{ name, err });
        if (stat.size == 0) return weights.refuse("model file {s} is empty", .{name});
        const bytes: usize = std.math.cast(usize, stat.size) orelse return error.OutOfMemory;
        return std.posix.mmap(null, bytes, .{ .READ = true }, .{ .TYPE = .PRIVATE }, file.handle, 0) catch |err|
            weights.refuse("model file {s} cannot be mapped: {t}", .{ name, err });
    }

    fn refuse(weights: *const Weights, comptime format: []const u8, arguments: anytype) error{Invalid} {
        weights.diagnostic.set(format, arguments);
        return error.Invalid;
    }
};

fn bytesOf(source: *const Matrix) usize {
    return kernels.rowBytes(source.format, source.columns) * source.rows;
}

/// Large pages where the system has them: a decoded token reads all weights, and small pages would cost a table walk each.
fn reserve(bytes: usize) error{OutOfMemory}![]align(std.heap.page_size_min) u8 {
    const memory = std.posix.mmap(null, bytes, .{ .READ = true, .WRITE = true }, .{ .TYPE = .PRIVATE, .ANONYMOUS = true }, -1, 0) catch
        return error.OutOfMemory;
    if (@hasDecl(std.posix.MADV, "HUGEPAGE")) advise(memory, std.posix.MADV.HUGEPAGE);
    return memory;
}

/// Advice that the system may not take: it changes speed and memory, never results.
fn advise(memory: []align(std.heap.page_size_min) u8, advice: u32) void {
    std.posix.madvise(memory.ptr, memory.len, advice) catch |err| std.log.debug("madvise: {t}", .{err});
}
