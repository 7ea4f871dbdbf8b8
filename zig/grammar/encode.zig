//! The encoding of src/grammar/encode.ts, for tests and benchmarks that make grammars themselves.
const std = @import("std");
const Allocator = std.mem.Allocator;
const ir = @import("ir.zig");

/// Bytes as encode.ts would write them; the caller owns them.
pub fn encode(gpa: Allocator, source: ir.Ir) error{OutOfMemory}![]u8 {
    var writer: Writer = .{ .gpa = gpa };
    defer writer.words.deinit(gpa);
    defer writer.pool.deinit(gpa);
    var index: std.ArrayList(u32) = .empty;
    defer index.deinit(gpa);
    for (source.nodes) |node| {
        try index.append(gpa, @intCast(writer.words.items.len));
        try writer.node(node);
    }
    for (source.values) |value| {
        try index.append(gpa, @intCast(writer.words.items.len));
        try writer.word(&.{ value.origin, @intCast(value.cases.len) });
        for (value.cases) |case| try writer.case(case);
    }
    for (source.regexes) |regex| {
        try index.append(gpa, @intCast(writer.words.items.len));
        try writer.regex(regex);
    }
    const header = [_]u32{
        0x52494e54,  2,                                @intCast(source.nodes.len),      @intCast(source.values.len), @intCast(source.regexes.len),
        source.root, @intCast(writer.words.items.len), @intCast(writer.pool.items.len),
    };
    return std.mem.concat(gpa, u8, &.{
        std.mem.sliceAsBytes(&header), std.mem.sliceAsBytes(index.items), std.mem.sliceAsBytes(writer.words.items), writer.pool.items,
    });
}

const Writer = struct {
    gpa: Allocator,
    words: std.ArrayList(u32) = .empty,
    pool: std.ArrayList(u8) = .empty,

    fn node(self: *Writer, item: ir.Node) error{OutOfMemory}!void {
        try self.word(&.{@backingInt(std.meta.activeTag(item))});
        switch (item) {
            .bytes => |bytes| try self.span(bytes),
            .token => |token| try self.word(&.{token}),
            .marker => |marker| try self.marker_(marker),
            .sequence, .choice => |items| try self.list(items),
            .repeat => |repeat| try self.word(&.{ repeat.item, repeat.min, repeat.max }),
            .channel => |channel| try self.word(&.{ @backingInt(channel.channel), channel.item }),
            .text => |text| {
                try self.word(&.{ @intFromBool(text.controls), @intCast(text.until.len) });
                for (text.until) |marker| try self.marker_(marker);
                try self.word(&.{@intCast(text.barred.len)});
                for (text.barred) |bytes| try self.span(bytes);
                try self.word(&.{text.tokens_max});
            },
            .json => |json| try self.word(&.{ json.value, @intFromBool(json.style.free_space), json.style.whitespace_max, @backingInt(json.style.spelling) }),
            .regex => |id| try self.word(&.{id}),
            .texts => |texts| try self.spans(texts),
            .any_token => |except| try self.list(except),
            .record => |record| {
                try self.word(&.{ record.separator, @intCast(record.items.len) });
                for (record.items) |part| try self.word(&.{ part.node, @intFromBool(part.required) });
            },
        }
    }

    fn regex(self: *Writer, item: ir.Regex) error{OutOfMemory}!void {
        try self.word(&.{@backingInt(std.meta.activeTag(item))});
        switch (item) {
            .class => |ranges| {
                try self.word(&.{@intCast(ranges.len)});
                for (ranges) |range| try self.word(&.{ range.first, range.last });
            },
            .concat, .@"union", .intersection => |items| try self.list(items),
            .complement => |operand| try self.word(&.{operand}),
            .repeat => |repeat| try self.word(&.{ repeat.item, repeat.min, repeat.max }),
        }
    }

    fn case(self: *Writer, item: ir.Case) error{OutOfMemory}!void {
        switch (item) {
            .null => try self.word(&.{0}),
            .true => try self.word(&.{1}),
            .false => try self.word(&.{2}),
            .number => |number| {
                try self.word(&.{ 3, if (number.plain) 2 else @intFromBool(number.integer) });
                for ([_]?ir.Bound{ number.low, number.high }) |bound| {
                    try self.word(&.{if (bound) |known| 1 + @as(u32, @intFromBool(known.exclusive)) else 0});
                    try self.span(if (bound) |known| known.decimal else "");
                }
                try self.span(number.multiple_of);
                try self.spans(number.multiple_of_none);
                try self.spans(number.except);
            },
            .string => |string| {
                try self.word(&.{ 4, string.length_min, string.length_max, string.regex, @intFromBool(string.among != null) });
                try self.spans(string.among orelse &.{});
            },
            .array => |array| {
                try self.word(&.{ 5, array.items_min, array.items_max, @intFromBool(array.unique) });
                try self.counters(array.counters);
                try self.options(array.rest);
                try self.word(&.{@intCast(array.prefix.len)});
                for (array.prefix) |place| try self.options(place);
            },
            .object => |object| {
                try self.word(&.{ 6, object.members_min, object.members_max, @intFromBool(object.ordered) });
                try self.counters(object.counters);
                try self.word(&.{@intCast(object.properties.len)});
                for (object.properties) |property| {
                    try self.span(property.key);
                    try self.word(&.{@intFromBool(property.required)});
                    try self.options(property.options);
                }
                try self.word(&.{@intCast(object.others.len)});
                for (object.others) |class| {
                    try self.word(&.{class.keys});
                    try self.options(class.options);
                }
            },
        }
    }

    fn options(self: *Writer, items: []const ir.Option) error{OutOfMemory}!void {
        try self.word(&.{@intCast(items.len)});
        for (items) |item| try self.word(&.{ item.value, item.counts });
    }

    fn counters(self: *Writer, items: []const ir.Counter) error{OutOfMemory}!void {
        try self.word(&.{@intCast(items.len)});
        for (items) |item| try self.word(&.{ item.min, item.max });
    }

    fn marker_(self: *Writer, marker: ir.Marker) error{OutOfMemory}!void {
        try self.word(&.{marker.token});
        try self.span(marker.bytes);
    }

    fn list(self: *Writer, items: []const u32) error{OutOfMemory}!void {
        try self.word(&.{@intCast(items.len)});
        try self.word(items);
    }

    fn spans(self: *Writer, texts: []const []const u8) error{OutOfMemory}!void {
        try self.word(&.{@intCast(texts.len)});
        for (texts) |text| try self.span(text);
    }

    fn span(self: *Writer, bytes: []const u8) error{OutOfMemory}!void {
        try self.word(&.{ @intCast(self.pool.items.len), @intCast(bytes.len) });
        try self.pool.appendSlice(self.gpa, bytes);
    }

    fn word(self: *Writer, words: []const u32) error{OutOfMemory}!void {
        try self.words.appendSlice(self.gpa, words);
    }
};
