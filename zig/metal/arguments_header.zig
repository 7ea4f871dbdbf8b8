//! Prints kernels/arguments.gen.h; `bun run abi` runs it.
const std = @import("std");
const arguments = @import("arguments.zig");

pub fn main(init: std.process.Init) !void {
    var buffer: [4096]u8 = undefined;
    var out = std.Io.File.stdout().writer(init.io, &buffer);
    try out.interface.writeAll(header);
    try out.interface.flush();
}

const header = header: {
    var text: []const u8 =
        "// Generated from zig/metal/arguments.zig by `bun run abi`.\n\n" ++
        "enum : unsigned {\n";
    for (@typeInfo(arguments).@"struct".decl_names) |name| {
        if (@TypeOf(@field(arguments, name)) != comptime_int) continue;
        text = text ++ std.fmt.comptimePrint("    {s} = {d},\n", .{ name, @field(arguments, name) });
    }
    text = text ++ "};\n";
    for (@typeInfo(arguments).@"struct".decl_names) |name| {
        if (@TypeOf(@field(arguments, name)) != type) continue;
        text = text ++ structText(name, @field(arguments, name));
    }
    break :header text;
};

fn structText(comptime name: []const u8, comptime T: type) []const u8 {
    const info = @typeInfo(T).@"struct";
    var text: []const u8 = "\nstruct " ++ name ++ " {\n";
    for (info.field_names, info.field_types) |field, Field| text = text ++ "    " ++ typeName(Field) ++ " " ++ field ++ ";\n";
    // All fields have the same size, so equal sizes mean equal offsets.
    return text ++ std.fmt.comptimePrint("}};\nstatic_assert(sizeof({s}) == {d}, \"layout\");\n", .{ name, @sizeOf(T) });
}

fn typeName(comptime T: type) []const u8 {
    return switch (T) {
        u32 => "uint",
        f32 => "float",
        else => @compileError("kernels take no " ++ @typeName(T)),
    };
}
