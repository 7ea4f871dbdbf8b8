//! Objective-C by message send. The runtime is found when it is asked for, so this compiles and links without an SDK, for and on any
//! system; where there is no Objective-C, `load` says so.
const std = @import("std");

pub const Object = *anyopaque;
const Selector = *anyopaque;

pub const Runtime = struct {
    /// objc_msgSend, which has the type of the method that it calls.
    send_message: *const anyopaque,
    get_class: *const fn (name: [*:0]const u8) callconv(.c) ?Object,
    register_selector: *const fn (name: [*:0]const u8) callconv(.c) Selector,
    push_pool: *const fn () callconv(.c) *anyopaque,
    pop_pool: *const fn (pool: *anyopaque) callconv(.c) void,

    pub fn load() error{Unavailable}!Runtime {
        const library = std.c.dlopen("/usr/lib/libobjc.A.dylib", .{ .LAZY = true }) orelse return error.Unavailable;
        return .{
            .send_message = std.c.dlsym(library, "objc_msgSend") orelse return error.Unavailable,
            .get_class = try symbol(@FieldType(Runtime, "get_class"), library, "objc_getClass"),
            .register_selector = try symbol(@FieldType(Runtime, "register_selector"), library, "sel_registerName"),
            .push_pool = try symbol(@FieldType(Runtime, "push_pool"), library, "objc_autoreleasePoolPush"),
            .pop_pool = try symbol(@FieldType(Runtime, "pop_pool"), library, "objc_autoreleasePoolPop"),
        };
    }

    pub fn class(runtime: *const Runtime, name: [:0]const u8) error{Unavailable}!Object {
        return runtime.get_class(name) orelse error.Unavailable;
    }

    /// `arguments` are a tuple of exactly the types that the method declares: a number is written `@as(u64, 3)`. Wrong types are
    /// not found by anybody; check them against Apple's header.
    pub fn send(
        runtime: *const Runtime,
        comptime Result: type,
        target: Object,
        comptime selector: [:0]const u8,
        arguments: anytype,
    ) Result {
        const Arguments = @typeInfo(@TypeOf(arguments)).@"struct".field_types;
        const Parameters = [_]type{ Object, Selector } ++ Arguments[0..Arguments.len].*;
        const Method = @Fn(&Parameters, &@splat(.{}), Result, .{ .@"callconv" = .c });
        const method: *const Method = @ptrCast(@alignCast(runtime.send_message));
        return @call(.auto, method, .{ target, runtime.selectorOf(selector) } ++ arguments);
    }

    pub fn release(runtime: *const Runtime, object: Object) void {
        runtime.send(void, object, "release", .{});
    }

    /// An NSString of the current autorelease pool.
    pub fn string(runtime: *const Runtime, text: [:0]const u8) error{Unavailable}!Object {
        const NSString = try runtime.class("NSString");
        return runtime.send(?Object, NSString, "stringWithUTF8String:", .{text.ptr}) orelse error.Unavailable;
    }

    /// What an NSString says; it lives as long as the object.
    pub fn textOf(runtime: *const Runtime, object: ?Object) []const u8 {
        const text = runtime.send(?[*:0]const u8, object orelse return "", "UTF8String", .{}) orelse return "";
        return std.mem.span(text);
    }

    /// A selector is registered once per name and process; every thread gets the same one.
    fn selectorOf(runtime: *const Runtime, comptime name: [:0]const u8) Selector {
        const cache = struct {
            const of = name;
            var address: std.atomic.Value(usize) = .init(0);
        };
        const known = cache.address.load(.monotonic);
        if (known != 0) return @ptrFromInt(known);
        const selector = runtime.register_selector(cache.of);
        cache.address.store(@intFromPtr(selector), .monotonic);
        return selector;
    }
};

pub fn symbol(comptime Function: type, library: *anyopaque, name: [:0]const u8) error{Unavailable}!Function {
    return @ptrCast(@alignCast(std.c.dlsym(library, name) orelse return error.Unavailable));
}

/// Objects that methods return without `new`, `alloc` or `copy` in their name die with the pool. Each thread needs one around its work.
pub const Pool = struct {
    runtime: *const Runtime,
    token: *anyopaque,

    pub fn push(runtime: *const Runtime) Pool {
        return .{ .runtime = runtime, .token = runtime.push_pool() };
    }

    pub fn pop(pool: Pool) void {
        pool.runtime.pop_pool(pool.token);
    }
};

test "a message goes to its target with its selector and arguments, and a selector is registered once" {
    const Fake = struct {
        var registered: u32 = 0;
        var received: [3]usize = undefined;

        fn method(target: Object, selector: Selector, number: u64) callconv(.c) u32 {
            received = .{ @intFromPtr(target), @intFromPtr(selector), @intCast(number) };
            return 7;
        }
        fn register(name: [*:0]const u8) callconv(.c) Selector {
            registered += 1;
            return @ptrCast(@constCast(name));
        }
    };
    var runtime: Runtime = undefined;
    runtime.send_message = @ptrCast(&Fake.method);
    runtime.register_selector = Fake.register;
    var target: u8 = 0;
    for (0..2) |_| try std.testing.expectEqual(7, runtime.send(u32, &target, "pick:", .{@as(u64, 41)}));
    try std.testing.expectEqual(1, Fake.registered);
    try std.testing.expectEqual(@intFromPtr(&target), Fake.received[0]);
    try std.testing.expectEqualStrings("pick:", std.mem.span(@as([*:0]const u8, @ptrFromInt(Fake.received[1]))));
    try std.testing.expectEqual(41, Fake.received[2]);
}
