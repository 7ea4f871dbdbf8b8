//! abi.zig, reflected. As the root of the library it exports those functions; as a program it prints the TypeScript table of them
//! (`zig build generate` writes it to src/engine/abi.gen.ts). Both sides carry the fingerprint of that table.
const std = @import("std");
const builtin = @import("builtin");
const abi = @import("abi.zig");

comptime {
    if (builtin.output_mode == .Lib) exportAll();
}

fn exportAll() void {
    @setEvalBranchQuota(100_000);
    @export(&fingerprint, .{ .name = symbol("fingerprint") });
    for (@typeInfo(abi).@"struct".decl_names) |name| {
        if (!isExport(@TypeOf(@field(abi, name)))) continue;
        const function = @field(abi, name);
        @export(&function, .{ .name = symbol(name) });
    }
}

fn fingerprint() callconv(.c) u32 {
    return comptime hash();
}

/// FNV-1a over the text of the table.
fn hash() u32 {
    @setEvalBranchQuota(200_000);
    var sum: u32 = 0x811c9dc5;
    for (text) |byte| sum = (sum ^ byte) *% 0x01000193;
    return sum;
}

pub fn main(init: std.process.Init) !void {
    const table = try init.gpa.print(
        \\// Written by `bun run abi` from zig/abi.zig.
        \\
        \\export const fingerprint = 0x{x:0>8};
        \\
        \\{s}
    , .{ comptime hash(), text });
    defer init.gpa.free(table);
    try std.Io.File.stdout().writeStreamingAll(init.io, table);
}

const text = blk: {
    @setEvalBranchQuota(1_000_000);
    const names = @typeInfo(abi).@"struct".decl_names;
    var functions: []const u8 = functionLine(symbol("fingerprint"), @TypeOf(fingerprint));
    var structs: []const u8 = "";
    var enums: []const u8 = "";
    for (names) |name| {
        const T = @TypeOf(@field(abi, name));
        if (isExport(T)) functions = functions ++ functionLine(symbol(name), T);
        if (T != type) continue;
        const Declared = @field(abi, name);
        switch (@typeInfo(Declared)) {
            .@"struct" => structs = structs ++ structLines(name, Declared),
            .@"enum" => enums = enums ++ enumLines(name, Declared),
            else => @compileError("no table for " ++ name),
        }
    }
    break :blk "/** Parameter and result types by exported name. */\nexport const functions = {\n" ++ functions ++ "} as const;\n\n" ++
        "/** Bytes of each struct, and type and offset of each field. */\nexport const structs = {\n" ++ structs ++ "} as const;\n\n" ++
        "export const enums = {\n" ++ enums ++ "} as const;\n\n" ++
        std.fmt.comptimePrint("/** Stands for a number that there is not. */\nexport const none = 0x{x};\n", .{abi.none});
};

fn isExport(comptime T: type) bool {
    return switch (@typeInfo(T)) {
        .@"fn" => |function| function.attrs.@"callconv".eql(.c),
        else => false,
    };
}

/// camelCase → tenon_camel_case
fn symbol(comptime name: []const u8) [:0]const u8 {
    var out: [:0]const u8 = "tenon_";
    for (name) |byte| out = out ++ if (std.ascii.isUpper(byte)) &[_]u8{ '_', std.ascii.toLower(byte) } else &[_]u8{byte};
    return out;
}

fn functionLine(comptime name: []const u8, comptime T: type) []const u8 {
    const function = @typeInfo(T).@"fn";
    var parameters: []const u8 = "";
    for (function.param_types, 0..) |Parameter, i|
        parameters = parameters ++ (if (i == 0) "" else ", ") ++ "\"" ++ scalar(Parameter.?) ++ "\"";
    return "  " ++ name ++ ": { args: [" ++ parameters ++ "], returns: \"" ++ scalar(function.return_type.?) ++ "\" },\n";
}

fn structLines(comptime name: []const u8, comptime T: type) []const u8 {
    if (@typeInfo(T).@"struct".layout != .@"extern") @compileError(name ++ " is not an extern struct");
    return std.fmt.comptimePrint("  {s}: {{\n    bytes: {d},\n    fields: {{\n", .{ name, @sizeOf(T) }) ++ fieldLines("", 0, T) ++ "    },\n  },\n";
}

/// Fields of a struct inside are the outer one's, with its name before theirs.
fn fieldLines(comptime prefix: []const u8, comptime offset: usize, comptime T: type) []const u8 {
    const info = @typeInfo(T).@"struct";
    var out: []const u8 = "";
    for (info.field_names, info.field_types) |field, Field| {
        const at = offset + @offsetOf(T, field);
        out = out ++ if (@typeInfo(Field) == .@"struct")
            fieldLines(prefix ++ field ++ "_", at, Field)
        else
            std.fmt.comptimePrint("      {s}{s}: [\"{s}\", {d}],\n", .{ prefix, field, scalar(Field), at });
    }
    return out;
}

fn enumLines(comptime name: []const u8, comptime T: type) []const u8 {
    const info = @typeInfo(T).@"enum";
    var out: []const u8 = "  " ++ name ++ ": {\n";
    for (info.field_names, info.field_values) |field, value| out = out ++ std.fmt.comptimePrint("    {s}: {d},\n", .{ field, value });
    return out ++ "  },\n";
}

fn scalar(comptime T: type) []const u8 {
    return switch (T) {
        u32 => "u32",
        i32 => "i32",
        f32 => "f32",
        f64 => "f64",
        else => switch (@typeInfo(T)) {
            .@"enum" => |info| scalar(info.tag_type),
            .optional => |info| if (@typeInfo(info.child) == .pointer) "ptr" else @compileError("a pointer is needed, not " ++ @typeName(T)),
            else => @compileError(@typeName(T) ++ " does not cross the boundary"),
        },
    };
}
