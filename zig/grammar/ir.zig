//! The encoded grammar of src/grammar/encode.ts, read with every bound checked. The bytes come from outside the process's control:
//! nothing here trusts an offset, a count or an index, and nothing recurses.
const std = @import("std");
const Allocator = std.mem.Allocator;
const limits = @import("../limits.zig").grammar;

pub const none: u32 = 0xffffffff;

/// What a byte of output is for; the same numbers as `channels` in src/grammar/ir.ts.
pub const Channel = enum(u8) {
    text = 0,
    reasoning = 1,
    call_name = 2,
    argument_key = 3,
    argument_text = 4,
    argument_json = 5,
    value_end = 6,
    custom_input = 7,
    markup = 8,
};

pub const Refusal = struct {
    kind: Kind = .invalid,
    /// Static text.
    message: []const u8 = "",
    /// `origin` of the value that is to blame, or `none`.
    origin: u32 = none,

    pub const Kind = enum { invalid, unsatisfiable, limit };
};

pub const Error = error{ OutOfMemory, Refused };

/// What one compilation may spend, and why it was refused.
pub const Budget = struct {
    refusal: *Refusal,
    /// Work units; the same schema costs the same on every machine. None where more was asked for than there were.
    left: u64 = limits.work_units,

    pub fn spend(self: *Budget, units: usize) error{Refused}!void {
        if (units > self.left) {
            self.left = 0;
            return self.refuse(.limit, "the grammar needs more work to compile than is allowed", none);
        }
        self.left -= units;
    }

    pub fn refuse(self: *Budget, kind: Refusal.Kind, message: []const u8, origin: u32) error{Refused} {
        self.refusal.* = .{ .kind = kind, .message = message, .origin = origin };
        return error.Refused;
    }

    pub fn invalid(self: *Budget, message: []const u8) error{Refused} {
        return self.refuse(.invalid, message, none);
    }
};

pub const Marker = struct {
    /// `none`: only text.
    token: u32,
    bytes: []const u8,
};

/// Whether one of the markers is this token.
pub fn names(markers: []const Marker, token: u32) bool {
    for (markers) |marker| if (marker.token == token) return true;
    return false;
}

pub const Style = struct {
    free_space: bool,
    /// `none`: unbounded.
    whitespace_max: u32,
    spelling: Spelling,

    pub const Spelling = enum(u1) { canonical, spec };
};

pub const Node = union(enum) {
    bytes: []const u8,
    token: u32,
    marker: Marker,
    sequence: []const u32,
    choice: []const u32,
    repeat: struct { item: u32, min: u32, max: u32 },
    channel: struct { channel: Channel, item: u32 },
    /// `barred`: what the text may not begin with.
    /// `tokens_max`: tokens that may be begun in it, after the one in which it begins.
    text: struct { controls: bool, until: []const Marker, barred: []const []const u8 = &.{}, tokens_max: u32 = none },
    json: struct { value: u32, style: Style },
    /// UTF-8 text matched as a whole.
    regex: u32,
    /// One of these byte strings.
    texts: []const []const u8,
    /// Any one token that is ever produced, but for these.
    any_token: []const u32,
    /// Items in any order, each at most once, `separator` (or `none`) between two.
    record: struct { items: []const Item, separator: u32 },

    pub const Item = struct { node: u32, required: bool };
};

/// A regular language over code points, matched as a whole. Operands have lower indices.
pub const Regex = union(enum) {
    /// Ascending and disjoint.
    class: []const Range,
    /// Without items: the empty text.
    concat: []const u32,
    @"union": []const u32,
    intersection: []const u32,
    complement: u32,
    repeat: struct { item: u32, min: u32, max: u32 },

    /// Both ends inclusive.
    pub const Range = struct { first: u21, last: u21 };
};

pub const Bound = struct { decimal: []const u8, exclusive: bool };

pub const Case = union(enum) {
    null,
    true,
    false,
    number: Number,
    string: String,
    array: Array,
    object: Object,
};

pub const Number = struct {
    integer: bool = false,
    /// An integer in plain digits only, whatever the spelling.
    plain: bool = false,
    low: ?Bound = null,
    high: ?Bound = null,
    /// Positive decimals; empty: of anything.
    multiple_of: []const u8 = "",
    multiple_of_none: []const []const u8 = &.{},
    /// Different, by value, from each of these.
    except: []const []const u8 = &.{},
};
pub const String = struct {
    length_min: u32 = 0,
    length_max: u32 = none,
    /// Decoded texts, within the lengths already; null: any text.
    among: ?[]const []const u8 = null,
    regex: u32 = none,
};
pub const Array = struct {
    prefix: []const []const Option = &.{},
    rest: []const Option = &.{},
    items_min: u32 = 0,
    items_max: u32 = none,
    counters: []const Counter = &.{},
    unique: bool = false,

    pub fn options(self: *const Array, index: usize) []const Option {
        return if (index < self.prefix.len) self.prefix[index] else self.rest;
    }
};
pub const Object = struct {
    properties: []const Property = &.{},
    others: []const KeyClass = &.{},
    ordered: bool = false,
    members_min: u32 = 0,
    members_max: u32 = none,
    counters: []const Counter = &.{},

    /// Whether it matters how many members there are, or what they count.
    pub fn isCounted(self: *const Object) bool {
        return self.counters.len > 0 or self.members_min > 0 or self.members_max != none;
    }
};

/// What may stand in a place. `counts`: bit i adds one to counter i.
pub const Option = struct { value: u32, counts: u32 = 0 };
pub const Counter = struct { min: u32, max: u32 };
pub const Property = struct { key: []const u8, required: bool = false, options: []const Option };
/// `keys`: a regex, or `none` for all that are not declared.
pub const KeyClass = struct { keys: u32 = none, options: []const Option };
pub const Value = struct { origin: u32, cases: []const Case };

pub const Ir = struct {
    nodes: []const Node,
    values: []const Value,
    regexes: []const Regex = &.{},
    root: u32,
};

/// "TNIR" as a little-endian word.
const magic: u32 = 0x52494e54;
const version: u32 = 2;
const header_words = 8;

/// The result lives in `arena` and keeps nothing of `bytes`. `tokens` is the size of the vocabulary that token ids belong to.
pub fn decode(arena: Allocator, bytes: []const u8, tokens: u32, budget: *Budget) Error!Ir {
    if (bytes.len > limits.ir_bytes) return budget.refuse(.limit, "the encoded grammar is too long", none);
    if (bytes.len < header_words * 4) return budget.invalid("the encoded grammar is cut off");
    var header: [header_words]u32 = undefined;
    for (&header, 0..) |*word, at| word.* = std.mem.readInt(u32, bytes[at * 4 ..][0..4], .little);
    if (header[0] != magic or header[1] != version) return budget.invalid("this is no encoded grammar of this version");
    const node_count: usize = header[2];
    const value_count: usize = header[3];
    const regex_count: usize = header[4];
    const record_words: usize = header[6];
    const pool_bytes: usize = header[7];
    // None of the sums can overflow: each term is below 2³⁵.
    const words_total = header_words + node_count + value_count + regex_count + record_words;
    if (words_total * 4 + pool_bytes != bytes.len) return budget.invalid("the encoded grammar's parts do not add up to its length");
    try budget.spend(words_total + pool_bytes / 8);

    const words = try arena.alloc(u32, words_total - header_words);
    for (words, header_words..) |*word, at| word.* = std.mem.readInt(u32, bytes[at * 4 ..][0..4], .little);
    var reader: Reader = .{
        .arena = arena,
        .budget = budget,
        .records = words[node_count + value_count + regex_count ..],
        .pool = try arena.dupe(u8, bytes[words_total * 4 ..]),
        .nodes = @intCast(node_count),
        .values = @intCast(value_count),
        .regexes = @intCast(regex_count),
        .tokens = tokens,
    };
    const root = header[5];
    if (root >= node_count) return budget.invalid("the grammar has no such root");
    const nodes = try arena.alloc(Node, node_count);
    for (nodes, words[0..node_count]) |*node, offset| {
        reader.at = offset;
        node.* = try reader.node();
    }
    const values = try arena.alloc(Value, value_count);
    for (values, words[node_count..][0..value_count]) |*value, offset| {
        reader.at = offset;
        value.* = try reader.value();
    }
    const regexes = try arena.alloc(Regex, regex_count);
    for (regexes, words[node_count + value_count ..][0..regex_count], 0..) |*regex, offset, index| {
        reader.at = offset;
        regex.* = try reader.regex(@intCast(index));
    }
    return .{ .nodes = nodes, .values = values, .regexes = regexes, .root = root };
}

const Reader = struct {
    arena: Allocator,
    budget: *Budget,
    records: []const u32,
    pool: []const u8,
    nodes: u32,
    values: u32,
    regexes: u32,
    tokens: u32,
    at: usize = 0,

    fn node(self: *Reader) Error!Node {
        return switch (try self.word()) {
            0 => .{ .bytes = try self.span() },
            1 => .{ .token = try self.below(self.tokens, "a token is not in the vocabulary") },
            2 => .{ .marker = try self.marker() },
            3 => .{ .sequence = try self.list(self.nodes, "a node refers to no node") },
            4 => .{ .choice = try self.list(self.nodes, "a node refers to no node") },
            5 => .{ .repeat = .{
                .item = try self.below(self.nodes, "a node refers to no node"),
                .min = try self.count(),
                .max = try self.word(),
            } },
            6 => .{ .channel = .{
                .channel = std.enums.fromInt(Channel, try self.word()) orelse return self.budget.invalid("a channel is unknown"),
                .item = try self.below(self.nodes, "a node refers to no node"),
            } },
            7 => .{ .text = .{ .controls = try self.flag(), .until = try self.markers(), .barred = try self.spans(), .tokens_max = try self.word() } },
            8 => .{ .json = .{
                .value = try self.below(self.values, "a node refers to no value"),
                .style = .{
                    .free_space = try self.flag(),
                    .whitespace_max = try self.word(),
                    .spelling = if (try self.flag()) .spec else .canonical,
                },
            } },
            9 => .{ .regex = try self.below(self.regexes, "a node refers to no regex") },
            10 => .{ .texts = try self.spans() },
            12 => .{ .record = .{
                .separator = try self.indexOrNone(self.nodes, "a node refers to no node"),
                .items = items: {
                    const items = try self.arena.alloc(Node.Item, try self.length(2));
                    for (items) |*item| item.* = .{ .node = try self.below(self.nodes, "a node refers to no node"), .required = try self.flag() };
                    break :items items;
                },
            } },
            11 => .{ .any_token = try self.list(self.tokens, "a token is not in the vocabulary") },
            else => self.budget.invalid("a node has an unknown tag"),
        };
    }

    fn value(self: *Reader) Error!Value {
        const origin = try self.word();
        const cases = try self.arena.alloc(Case, try self.length(1));
        for (cases) |*item| item.* = try self.case();
        return .{ .origin = origin, .cases = cases };
    }

    fn case(self: *Reader) Error!Case {
        return switch (try self.word()) {
            0 => .null,
            1 => .true,
            2 => .false,
            3 => {
                const integer = try self.below(3, "a number is of an unknown kind");
                return .{ .number = .{
                    .integer = integer > 0,
                    .plain = integer == 2,
                    .low = try self.bound(),
                    .high = try self.bound(),
                    .multiple_of = try self.factor(),
                    .multiple_of_none = try self.decimals(true),
                    .except = try self.decimals(false),
                } };
            },
            4 => .{ .string = try self.string() },
            5 => .{ .array = .{
                .items_min = try self.count(),
                .items_max = try self.word(),
                .unique = try self.flag(),
                .counters = try self.counters(),
                .rest = try self.options(),
                .prefix = prefix: {
                    const prefix = try self.arena.alloc([]const Option, try self.length(1));
                    for (prefix) |*place| place.* = try self.options();
                    break :prefix prefix;
                },
            } },
            6 => .{ .object = try self.object() },
            else => self.budget.invalid("a case has an unknown tag"),
        };
    }

    fn string(self: *Reader) Error!String {
        var result: String = .{ .length_min = try self.count(), .length_max = try self.word() };
        result.regex = try self.indexOrNone(self.regexes, "a case refers to no regex");
        const listed = try self.flag();
        var among: std.ArrayList([]const u8) = .empty;
        for (0..try self.length(2)) |_| {
            const decoded = try self.text();
            const characters = std.unicode.utf8CountCodepoints(decoded) catch return self.budget.invalid("a text is not UTF-8");
            if (characters >= result.length_min and characters <= result.length_max) try among.append(self.arena, decoded);
        }
        if (listed) result.among = among.items;
        return result;
    }

    fn object(self: *Reader) Error!Object {
        const members_min = try self.count();
        const members_max = try self.word();
        const ordered = try self.flag();
        const counted = try self.counters();
        for (counted) |counter| if (counter.max != none) return self.budget.invalid("an object counts up to a most");
        const properties = try self.arena.alloc(Property, try self.length(4));
        var keys: std.StringHashMapUnmanaged(void) = .empty;
        try keys.ensureTotalCapacity(self.arena, @intCast(properties.len));
        for (properties) |*property| {
            property.* = .{ .key = try self.text(), .required = try self.flag(), .options = try self.options() };
            if (keys.getOrPutAssumeCapacity(property.key).found_existing) return self.budget.invalid("an object declares a key twice");
        }
        const others = try self.arena.alloc(KeyClass, try self.length(2));
        for (others) |*class| class.* = .{ .keys = try self.indexOrNone(self.regexes, "a case refers to no regex"), .options = try self.options() };
        return .{
            .properties = properties,
            .others = others,
            .ordered = ordered,
            .members_min = members_min,
            .members_max = members_max,
            .counters = counted,
        };
    }

    /// The regex of this index, whose operands come before it.
    fn regex(self: *Reader, index: u32) Error!Regex {
        const message = "a regex does not come after its parts";
        switch (try self.word()) {
            0 => {
                const ranges = try self.arena.alloc(Regex.Range, try self.length(2));
                var next: u32 = 0;
                for (ranges) |*range| {
                    const first = try self.word();
                    const last = try self.below(0x110000, "a class leaves the code points");
                    if (first < next or first > last) return self.budget.invalid("a class is not in order");
                    if (first <= 0xdfff and last >= 0xd800) return self.budget.invalid("a class has surrogates");
                    range.* = .{ .first = @intCast(first), .last = @intCast(last) };
                    next = last + 1;
                }
                return .{ .class = ranges };
            },
            1 => return .{ .concat = try self.list(index, message) },
            2 => return .{ .@"union" = try self.list(index, message) },
            3 => return .{ .intersection = try self.list(index, message) },
            4 => return .{ .complement = try self.below(index, message) },
            5 => return .{ .repeat = .{ .item = try self.below(index, message), .min = try self.count(), .max = try self.word() } },
            else => return self.budget.invalid("a regex has an unknown tag"),
        }
    }

    fn options(self: *Reader) Error![]const Option {
        const items = try self.arena.alloc(Option, try self.length(2));
        for (items) |*item| item.* = .{ .value = try self.below(self.values, "a case refers to no value"), .counts = try self.word() };
        return items;
    }

    fn counters(self: *Reader) Error![]const Counter {
        const items = try self.arena.alloc(Counter, try self.length(2));
        if (items.len > 32) return self.budget.invalid("a case has more counters than bits");
        for (items) |*item| item.* = .{ .min = try self.count(), .max = try self.word() };
        return items;
    }

    fn word(self: *Reader) Error!u32 {
        if (self.at >= self.records.len) return self.budget.invalid("a record is cut off");
        defer self.at += 1;
        return self.records[self.at];
    }

    /// A number that may not be `none`.
    fn count(self: *Reader) Error!u32 {
        return self.below(none, "a count is out of range");
    }

    fn below(self: *Reader, end: u32, message: []const u8) Error!u32 {
        const number = try self.word();
        return if (number < end) number else self.budget.invalid(message);
    }

    fn indexOrNone(self: *Reader, end: u32, message: []const u8) Error!u32 {
        const index = try self.word();
        return if (index == none or index < end) index else self.budget.invalid(message);
    }

    fn flag(self: *Reader) Error!bool {
        return try self.below(2, "a flag is neither 0 nor 1") == 1;
    }

    /// The length of a list whose elements take at least so many words, so that what is allocated is bounded by what was sent.
    fn length(self: *Reader, words_each: usize) Error!u32 {
        const number = try self.word();
        try self.fits(number, words_each);
        return number;
    }

    fn fits(self: *Reader, number: u32, words_each: usize) Error!void {
        if (@as(u64, number) * words_each > self.records.len - self.at) return self.budget.invalid("a list is cut off");
        // Records may overlap, so the same words can be read many times.
        try self.budget.spend(@as(usize, number) * words_each);
    }

    fn list(self: *Reader, end: u32, message: []const u8) Error![]const u32 {
        const items = try self.arena.alloc(u32, try self.length(1));
        for (items) |*item| item.* = try self.below(end, message);
        return items;
    }

    fn span(self: *Reader) Error![]const u8 {
        const offset: u64 = try self.word();
        const size: u64 = try self.word();
        if (offset + size > self.pool.len) return self.budget.invalid("a span leaves the pool");
        try self.budget.spend(@intCast(size / 8));
        return self.pool[@intCast(offset)..][0..@intCast(size)];
    }

    fn spans(self: *Reader) Error![]const []const u8 {
        const items = try self.arena.alloc([]const u8, try self.length(2));
        for (items) |*item| item.* = try self.span();
        return items;
    }

    fn text(self: *Reader) Error![]const u8 {
        const decoded = try self.span();
        return if (std.unicode.utf8ValidateSlice(decoded)) decoded else self.budget.invalid("a text is not UTF-8");
    }

    fn marker(self: *Reader) Error!Marker {
        const token = try self.word();
        if (token != none and token >= self.tokens) return self.budget.invalid("a token is not in the vocabulary");
        const bytes = try self.span();
        if (token == none and bytes.len == 0) return self.budget.invalid("a marker is neither a token nor text");
        return .{ .token = token, .bytes = bytes };
    }

    fn markers(self: *Reader) Error![]const Marker {
        const items = try self.arena.alloc(Marker, try self.length(3));
        for (items) |*item| item.* = try self.marker();
        return items;
    }

    fn bound(self: *Reader) Error!?Bound {
        const kind = try self.below(3, "a bound is of an unknown kind");
        const decimal = try self.span();
        if (kind == 0) return null;
        return .{ .decimal = try self.decimalOf(decimal), .exclusive = kind == 2 };
    }

    /// Positive, or empty.
    fn factor(self: *Reader) Error![]const u8 {
        const decimal = try self.span();
        return if (decimal.len == 0) decimal else self.positive(try self.decimalOf(decimal));
    }

    fn decimals(self: *Reader, factors: bool) Error![]const []const u8 {
        const items = try self.arena.alloc([]const u8, try self.length(2));
        for (items) |*item| {
            const decimal = try self.decimalOf(try self.span());
            item.* = if (factors) try self.positive(decimal) else decimal;
        }
        return items;
    }

    fn decimalOf(self: *Reader, text_: []const u8) Error![]const u8 {
        if (text_.len > limits.decimal_bytes) return self.budget.refuse(.limit, "a number has too many digits", none);
        return if (isDecimal(text_)) text_ else self.budget.invalid("this is no decimal number");
    }

    fn positive(self: *Reader, decimal: []const u8) Error![]const u8 {
        const is_zero = std.mem.findNone(u8, decimal, "0.") == null;
        return if (decimal[0] == '-' or is_zero) self.budget.invalid("a factor is not positive") else decimal;
    }
};

/// -?digits(.digits)?
fn isDecimal(text: []const u8) bool {
    const unsigned = if (text.len > 0 and text[0] == '-') text[1..] else text;
    const whole, const fraction = std.mem.cutScalar(u8, unsigned, '.') orelse .{ unsigned, "0" };
    if (whole.len == 0 or fraction.len == 0) return false;
    for ([_][]const u8{ whole, fraction }) |digits| for (digits) |byte| if (!std.ascii.isDigit(byte)) return false;
    return true;
}
