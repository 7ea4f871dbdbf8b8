//! Which tokens a pattern in a JSON string reads, by the pattern's states alone, so that what is found holds wherever the pattern stands.
//! Short tokens and long ones are found apart: for the short ones, a counter that is far from its end has none, and what is found serves all
//! its values. Short tokens are taken as sets of the characters they consist of (`pattern_reach.zig`); only those on whose characters the
//! pattern may come to an end are read one by one.
const std = @import("std");
const builtin = @import("builtin");
const stdx = @import("../stdx.zig");
const words = stdx.words;
const vocabulary_room = @import("../vocabulary.zig");
const Vocabulary = vocabulary_room.Vocabulary;
const Trie = vocabulary_room.Trie;
const json_string = vocabulary_room.json_string;
const signs_room = vocabulary_room.signs;
const alphabet_signs = @import("alphabet_signs.zig");
const AlphabetSigns = alphabet_signs.AlphabetSigns;
const pattern_bytes = @import("pattern_bytes.zig");
const Place = pattern_bytes.Place;
const pattern_fatal = @import("pattern_fatal.zig");
const pattern_free = @import("pattern_free.zig");
const pattern_reach = @import("pattern_reach.zig");
const Within = pattern_reach.Within;
const Patterns = @import("patterns.zig").Patterns;
const SignSets = @import("sign_sets.zig").SignSets;

const none: u32 = 0xffffffff;
const Error = error{OutOfMemory};

/// What was read down to one node of a trie.
const Frame = struct {
    place: Place,
    /// Of the node's children, or `none`, and the first node after its subtree.
    table: u32,
    end: u32,
    /// What the place is of, and when it was found, should it be forgotten.
    state: u32,
    at: json_string.State,
    round: u32,
};

/// Scratch of one graph's patterns.
pub const Scratch = struct {
    /// By depth.
    frames: std.ArrayList(Frame) = .empty,
    /// Sets of tokens, one after the other: those that are read one by one, and two of a group.
    sets: std.ArrayList(u32) = .empty,
    /// More of them: those that have all of a fatal set, and those that have each class of any.
    doubts: std.ArrayList(u32) = .empty,
    reaches: pattern_reach.Scratch = .{},
    fatal: pattern_fatal.Scratch = .{},
    places: pattern_bytes.Places = .{},
    alphabets: alphabet_signs.Cache = .{},
    signs: SignSets = .{},
    free: std.ArrayList(pattern_free.Frame) = .empty,

    /// Forgets what it knows of states.
    pub fn clear(self: *Scratch, gpa: std.mem.Allocator) void {
        self.reaches.clear();
        self.places.clear(gpa);
    }

    pub fn deinit(self: *Scratch, gpa: std.mem.Allocator) void {
        self.frames.deinit(gpa);
        self.sets.deinit(gpa);
        self.doubts.deinit(gpa);
        self.reaches.deinit(gpa);
        self.fatal.deinit(gpa);
        self.places.deinit(gpa);
        self.alphabets.deinit(gpa);
        self.signs.deinit(gpa);
        self.free.deinit(gpa);
    }
};

/// Tokens of more than `short_bytes` bytes. `sink.reach(token, place, bytes)` for each that stays inside, with what was read of it;
/// `sink.close(token, bytes)` for each that closes the string where it may end, with what comes before the quote, or more.
pub fn findLong(patterns: *Patterns, vocabulary: *const Vocabulary, start: u32, sink: anytype) Error!void {
    const trie = &vocabulary.string_tables.long_tokens;
    try walk(patterns, vocabulary, start, trie, 0, @intCast(trie.nodes.len), none, sink);
}

/// Outside of JSON: the tokens below a node of the trie (`none`: all) from a place on. `sink.reach` as above; `sink.pass(node, place)` for each
/// node with others below it that is read.
pub fn findRaw(patterns: *Patterns, vocabulary: *const Vocabulary, start: u32, at: json_string.State, below: u32, sink: anytype) Error!void {
    const trie = &vocabulary.trie;
    const first, const end, const table = if (below == none)
        .{ 0, @as(u32, @intCast(trie.nodes.len)), trie.root_table }
    else
        .{ below + 1, trie.nodes[below].next, trie.nodes[below].table };
    if (first == end) return;
    const places = &patterns.scratch.places;
    const root: Frame = .{ .place = try places.of(patterns.gpa, start, at), .table = table, .end = end, .state = start, .at = at, .round = places.round };
    try walkFrom(patterns, vocabulary, root, trie, childFrom(places, trie, &root, 0, first), none, sink);
}

/// The other tokens. `sink.inside(tokens, cost, shortest)` for many that stay inside at once, as a set; `sink.restart()` if all of them are
/// told again.
pub fn findShort(patterns: *Patterns, vocabulary: *const Vocabulary, start: u32, sink: anytype) Error!void {
    const own = try pattern_reach.lookAt(patterns, &vocabulary.signs, start);
    const count = vocabulary.words();
    try patterns.scratch.sets.resize(patterns.gpa, 3 * count);
    const sets = patterns.scratch.sets.items;
    const single = sets[0..count];
    const inside = sets[count..][0..count];
    const rest = sets[2 * count ..][0..count];
    @memset(single, 0);
    const whole = try patterns.unbounded(start);
    var done: signs_room.Set = .empty;
    var doubted = false;
    if (try pattern_reach.ofMortal(patterns, whole)) |reach| {
        try (Sought{ .own = own, .first = reach.kind, .reach = &reach, .start = start }).find(patterns, vocabulary, single, inside, rest, sink);
        if (words.countOf(single) <= vocabulary.count / doubted_share) {
            done = reach.kind;
        } else {
            sink.restart();
            @memset(single, 0);
            doubted = true;
        }
    }
    if (done.eql(.empty) and !doubted) if (try pattern_reach.ofWide(patterns, whole)) |reach| {
        try (Sought{ .own = own, .first = reach.kind, .reach = &reach, .start = start }).find(patterns, vocabulary, single, inside, rest, sink);
        done = reach.kind;
    };
    if (patterns.accepts(start)) {
        var tokens = words.iterate(own.first['"']);
        while (tokens.next()) |token| try sink.close(token, 0);
    }
    if (patterns.of(start).escapes) try walkBehind(patterns, vocabulary, start, '\\', sink);
    var walks_beyond = false;
    const classes = pattern_reach.classesOf(patterns, start);
    var live: signs_room.Set = .empty;
    for (classes, 0..) |*class, index| {
        const next = try patterns.after(start, @intCast(index));
        if (next == Patterns.dead) continue;
        live.setUnion(class.*);
        const first = (try pattern_reach.leading(patterns, start, next)).differenceWith(done);
        // What characters of one sign do that lead to several states is found token by token.
        var several = class.intersectWith(own.beyond).differenceWith(first).differenceWith(done).iterator(.{});
        while (several.next()) |sign| orSet(single, own.first[sign]);
        if (first.eql(.empty)) continue;
        done.setUnion(first);
        if (countOf(&own.first_counts, first) < begun_min) {
            try walkEach(patterns, vocabulary, own, start, &first, single, sink);
            continue;
        }
        const after = try patterns.unbounded(next);
        var reach = try pattern_reach.of(patterns, after);
        // What has begun in this state, and can soon be the end of it, is mostly over after one character.
        if (doubted and (reach.characters < vocabulary_room.string_tables.short_bytes or pattern_reach.isRare(patterns, &reach.kind))) {
            reach = try pattern_reach.ofMortal(patterns, after) orelse try pattern_reach.of(patterns, after);
        }
        if (isFew(own, &reach.kind)) {
            // So many are walked to at once.
            if (countOf(&own.first_counts, first.intersectWith(own.beyond)) >= begun_min) walks_beyond = true;
            try walkEach(patterns, vocabulary, own, start, &if (walks_beyond) first.differenceWith(own.beyond) else first, single, sink);
            continue;
        }
        try (Sought{ .own = own, .first = first, .reach = &reach, .start = start }).find(patterns, vocabulary, single, inside, rest, sink);
    }
    if (walks_beyond) {
        try walkBeyond(patterns, vocabulary, start, sink);
    } else if (live.isSet(signs_room.broken)) orSet(single, own.first[signs_room.broken]);
    var single_count = words.countOf(single);
    if (single_count > vocabulary.count / narrowed_share) {
        try narrow(patterns, &vocabulary.signs, own, start, single);
        single_count = words.countOf(single);
    }
    if (single_count <= vocabulary.count / single_share) {
        var tokens = words.iterate(single);
        while (tokens.next()) |token| try readToken(patterns, vocabulary, start, token, sink);
        return;
    }
    // Where so many have to be read, what they begin with alike is read once.
    sink.restart();
    const trie = &vocabulary.trie;
    try walk(patterns, vocabulary, start, trie, 0, @intCast(trie.nodes.len), vocabulary_room.string_tables.short_bytes, sink);
}

/// Where more than one token in so many would be read by itself, it is worth to look at all their characters before.
const narrowed_share = if (builtin.is_test) 4096 else 64;

/// Leaves out tokens that have characters which the pattern has nowhere.
fn narrow(patterns: *Patterns, signs: *const signs_room.Signs, own: *const AlphabetSigns, start: u32, single: []u32) Error!void {
    const possible = try pattern_reach.possible(patterns, start) orelse return;
    const continuing = try patterns.scratch.signs.continuing(patterns.gpa, signs, own, possible);
    // Of a token with an escape, or bytes that are no whole character, it is not known what characters it has.
    for (single, continuing, signs.outside, signs.begun) |*tokens, some, outside, begun| tokens.* &= some | outside | ~begun;
}

/// One token in so many may have all that is fatal.
const doubted_share = 16;

/// One token in so many may be read by itself.
const single_share = 8;

/// Fewer tokens are walked to sooner than it is found what the pattern does after their first character.
const begun_min = if (builtin.is_test) 8 else 1024;

fn countOf(counts: *const [signs_room.count]u32, signs: signs_room.Set) u32 {
    var total: u32 = 0;
    var each = signs.iterator(.{});
    while (each.next()) |sign| total += counts[sign];
    return total;
}

/// Whether there are few tokens of such characters, so that a walk finds them sooner.
fn isFew(own: *const AlphabetSigns, kind: *const signs_room.Set) bool {
    const beyond = kind.intersectWith(own.beyond);
    return kind.count() - beyond.count() < kind_min and countOf(&own.weights, beyond) < begun_min;
}

const kind_min = 8;

/// To tell tokens by so many characters is faster than to read them.
const next_max = 32;

/// Tokens whose first characters all lead to one state, or are of the kind on which the state that is asked for stays alive.
const Sought = struct {
    own: *const AlphabetSigns,
    first: signs_room.Set,
    /// Of that state.
    reach: *const pattern_reach.Reach,
    start: u32,

    /// Adds what is left to be read to `single`; the other two are scratch.
    fn find(self: *const Sought, patterns: *Patterns, vocabulary: *const Vocabulary, single: []u32, inside: []u32, rest: []u32, sink: anytype) Error!void {
        const signs = &vocabulary.signs;
        const reach = self.reach;
        const known = &patterns.scratch.signs;
        @memcpy(rest, try known.beginning(patterns.gpa, signs, self.own, self.first));
        @memcpy(inside, rest);
        words.andInto(inside, try known.continuing(patterns.gpa, signs, self.own, reach.kind));
        if (reach.fatal_count > 0) try self.doubt(patterns, single, inside);
        words.without(rest, inside);
        words.without(rest, signs.closing);
        // What leaves the kind of characters where the pattern goes on.
        var exits = reach.exits.iterator(.{});
        while (exits.next()) |sign| if (self.own.later[sign].len > 0) words.orAnd(single, self.own.later[sign], rest);
        const longest: u32 = @intCast(signs.at_most.len - 1);
        const looked = @min(reach.characters +| 1, longest);
        self.addLonger(signs, single, rest, looked);
        // What may be too long for the bounds of the whole text, or is longer than was looked at.
        const within: Within = .of(patterns, self.start, looked);
        if (within.sure < longest) {
            @memcpy(rest, inside);
            words.andInto(inside, signs.at_most[within.sure]);
            words.without(rest, inside);
            words.orAnd(single, rest, signs.at_most[within.possible]);
            self.addLonger(signs, single, rest, looked);
        }
        try sink.inside(inside, within.cost, reach.shortest);
        if (reach.early_characters > 0) try self.findEarly(patterns, signs, single, inside, sink);
        const needed = @max(try patterns.shortest(self.start, .start), patterns.needed(self.start));
        const allowed = patterns.allowed(self.start);
        for (signs.quoted) |*item| {
            if (item.characters < needed or item.characters > allowed) continue;
            const first = if (item.first == signs_room.beyond) self.own.signOf(&signs.characters, item.first_char) else item.first;
            if (!self.first.isSet(first)) continue;
            const later = item.later orelse {
                try readToken(patterns, vocabulary, self.start, item.token, sink);
                continue;
            };
            const fits = item.characters - 1 <= reach.characters and later.subsetOf(reach.kind);
            if (fits and !reach.exits.isSet('"')) continue;
            if (fits and reach.accepts and reach.fatal_count == 0) {
                try sink.close(item.token, item.characters);
            } else if (fits or item.characters - 1 > reach.characters or !later.intersectWith(reach.exits).eql(.empty)) {
                try readToken(patterns, vocabulary, self.start, item.token, sink);
            }
        }
    }

    /// Adds those of `rest` to `single` that are longer than was looked at, as far as they have what may be read there; `rest` is scratch.
    fn addLonger(self: *const Sought, signs: *const signs_room.Signs, single: []u32, rest: []u32, looked: u32) void {
        if (looked == signs.at_most.len - 1) return;
        words.without(rest, signs.at_most[looked]);
        const next = &self.reach.next;
        if (next.count() > next_max) return words.orInto(single, rest);
        var each = next.iterator(.{});
        while (each.next()) |sign| if (self.own.later[sign].len > 0) words.orAnd(single, self.own.later[sign], rest);
    }

    /// Takes tokens of few characters that are of the larger kind out of `single`; `early` is scratch.
    fn findEarly(self: *const Sought, patterns: *Patterns, signs: *const signs_room.Signs, single: []u32, early: []u32, sink: anytype) Error!void {
        const reach = self.reach;
        const longest: u32 = @intCast(signs.at_most.len - 1);
        const within: Within = .ofEarly(patterns, self.start, @min(reach.early_characters, longest));
        @memcpy(early, try patterns.scratch.signs.beginning(patterns.gpa, signs, self.own, self.first.intersectWith(reach.early)));
        words.andInto(early, try patterns.scratch.signs.continuing(patterns.gpa, signs, self.own, reach.early));
        words.andInto(early, signs.at_most[within.sure]);
        words.without(early, signs.closing);
        words.without(single, early);
        try sink.inside(early, within.cost, reach.shortest);
    }

    /// Takes tokens that have all of some fatal set out of `inside`; they are read one by one.
    fn doubt(self: *const Sought, patterns: *Patterns, single: []u32, inside: []u32) Error!void {
        const classes = pattern_reach.classesOf(patterns, self.start);
        const sets = self.reach.fatalSets();
        var told: pattern_fatal.Set = 0;
        for (sets) |set| told |= set;
        const count = inside.len;
        try patterns.scratch.doubts.resize(patterns.gpa, (1 + @popCount(told)) * count);
        const doubted = patterns.scratch.doubts.items[0..count];
        const having = patterns.scratch.doubts.items[count..];
        @memset(having, 0);
        var left = told;
        var at: usize = 0;
        while (left != 0) : (left &= left - 1) {
            const own = classes[@ctz(left)].intersectWith(self.reach.kind);
            var each = own.iterator(.{});
            while (each.next()) |sign| {
                orSet(having[at..][0..count], self.own.first[sign]);
                orSet(having[at..][0..count], self.own.later[sign]);
            }
            at += count;
        }
        for (sets) |set| {
            @memcpy(doubted, inside);
            left = set;
            while (left != 0) : (left &= left - 1) {
                const before = told & ((left & (~left +% 1)) - 1);
                words.andInto(doubted, having[@popCount(before) * count ..][0..count]);
            }
            words.orInto(single, doubted);
            words.without(inside, doubted);
        }
    }
};

fn orSet(target: []u32, set: []const u32) void {
    if (set.len > 0) words.orInto(target, set);
}

/// Tokens that begin with any of these signs; those beyond ASCII are added to `single`.
fn walkEach(patterns: *Patterns, vocabulary: *const Vocabulary, own: *const AlphabetSigns, start: u32, first: *const signs_room.Set, single: []u32, sink: anytype) Error!void {
    var begins = first.iterator(.{});
    while (begins.next()) |sign| {
        if (sign < signs_room.beyond) try walkBehind(patterns, vocabulary, start, @intCast(sign), sink) else orSet(single, own.first[sign]);
    }
}

/// Tokens that begin with a byte.
fn walkBehind(patterns: *Patterns, vocabulary: *const Vocabulary, start: u32, byte: u8, sink: anytype) Error!void {
    const trie = &vocabulary.trie;
    const node = trie.first[byte];
    if (node == none) return;
    try walk(patterns, vocabulary, start, trie, node, trie.nodes[node].next, vocabulary_room.string_tables.short_bytes, sink);
}

/// Tokens that begin with a character beyond ASCII.
fn walkBeyond(patterns: *Patterns, vocabulary: *const Vocabulary, start: u32, sink: anytype) Error!void {
    const trie = &vocabulary.trie;
    const node = for (trie.first[0x80..]) |node| {
        if (node != none) break node;
    } else return;
    try walk(patterns, vocabulary, start, trie, node, @intCast(trie.nodes.len), vocabulary_room.string_tables.short_bytes, sink);
}

fn readToken(patterns: *Patterns, vocabulary: *const Vocabulary, start: u32, token: u32, sink: anytype) Error!void {
    var place = try patterns.scratch.places.of(patterns.gpa, start, .start);
    const text = vocabulary.text(token);
    for (text, 0..) |byte, at| {
        const next = try pattern_bytes.step(patterns, place, byte);
        if (next == pattern_bytes.dead) return;
        if (next == pattern_bytes.closed) {
            if (patterns.accepts(patterns.scratch.places.get(place).state)) try sink.close(token, @intCast(at));
            return;
        }
        place = next;
    }
    try sink.reach(token, place, @intCast(text.len));
}

/// Nodes of a trie: all of them, or those behind a first byte. Entries longer than `bytes_max` are left out.
fn walk(patterns: *Patterns, vocabulary: *const Vocabulary, start: u32, trie: *const Trie, first: u32, end: u32, bytes_max: u32, sink: anytype) Error!void {
    const places = &patterns.scratch.places;
    const root: Frame = .{ .place = try places.of(patterns.gpa, start, .start), .table = none, .end = end, .state = start, .at = .start, .round = places.round };
    return walkFrom(patterns, vocabulary, root, trie, first, bytes_max, sink);
}

/// From a node on, whose parent's frame this is, to the end of that.
fn walkFrom(patterns: *Patterns, vocabulary: *const Vocabulary, root: Frame, trie: *const Trie, first: u32, bytes_max: u32, sink: anytype) Error!void {
    if (first >= root.end) return;
    const places = &patterns.scratch.places;
    try patterns.scratch.frames.resize(patterns.gpa, trie.depth_max + 1);
    // A trie's nodes are in bounds, and no deeper than it says, by how it is made.
    const frames = patterns.scratch.frames.items.ptr;
    const nodes = trie.nodes.ptr;
    frames[nodes[first].depth - 1] = root;
    var at = first;
    while (at < root.end) {
        const node = &nodes[at];
        const parent = &frames[node.depth - 1];
        if (node.depth > bytes_max) {
            at = node.next;
            continue;
        }
        if (parent.round != places.round) {
            parent.place = try places.of(patterns.gpa, parent.state, parent.at);
            parent.round = places.round;
        }
        const next = try pattern_bytes.step(patterns, parent.place, node.byte);
        if (next == pattern_bytes.dead) {
            at = childFrom(places, trie, parent, @as(u32, node.byte) + 1, node.next);
            continue;
        }
        if (next == pattern_bytes.closed) {
            // Only a JSON string has a quote that closes it.
            if (@hasDecl(@TypeOf(sink.*), "close") and patterns.accepts(parent.state)) try closeBelow(vocabulary, nodes[at..node.next], node.depth - 1, bytes_max, sink);
            at = node.next;
            continue;
        }
        if (node.entry != none) {
            try sink.reach(node.entry, next, node.depth);
            if (node.twinned) {
                var token = vocabulary.twins[node.entry];
                while (token != none) : (token = vocabulary.twins[token]) try sink.reach(token, next, node.depth);
            }
        }
        at += 1;
        if (node.next == at) continue;
        if (@hasDecl(@TypeOf(sink.*), "pass")) try sink.pass(at - 1, next);
        const known = places.get(next);
        frames[node.depth] = .{ .place = next, .table = node.table, .end = node.next, .state = known.state, .at = known.at, .round = places.round };
        at = childFrom(places, trie, &frames[node.depth], 0, at);
    }
}

/// The first child of a node from a byte on that may be read, or the end of its subtree. `next`: that child if there is no table.
inline fn childFrom(places: *const pattern_bytes.Places, trie: *const Trie, frame: *const Frame, byte: u32, next: u32) u32 {
    return if (frame.table == none) next else trie.nextRead(frame.table, &places.get(frame.place).live, byte, frame.end);
}

/// All of these nodes are behind a quote.
fn closeBelow(vocabulary: *const Vocabulary, nodes: []const Trie.Node, bytes: u16, bytes_max: u32, sink: anytype) Error!void {
    for (nodes) |*node| {
        if (node.depth > bytes_max) continue;
        var token = node.entry;
        while (token != none) : (token = vocabulary.twins[token]) try sink.close(token, bytes);
    }
}
