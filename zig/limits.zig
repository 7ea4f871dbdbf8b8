//! Every bound of the native side, by room, with its unit and the reason for its size; tied together at compile time.
const std = @import("std");

pub const scheduler = struct {
    /// Requests that wait for a slot. Two hundred clients at once are served; more are told to come back.
    pub const queue_requests = 256;
    /// Sequences that run at the same time, when the caller does not say. A batch this size costs a CPU no more per pass than it saves.
    pub const slots_default = 16;
    /// Sequences that can be asked for. Bounds the arenas: 64 × 262,144 logits are 64 MiB of address space.
    pub const slots_max = 64;
    /// Tokens of a prompt computed in one pass while nobody else is running.
    pub const chunk_alone_tokens = 256;
    /// The same while others are decoding: their streams stall for no longer than this takes.
    pub const chunk_shared_tokens = 64;
    /// The same of a prompt whose tokens are scored: each needs a row of logits, 32 MiB of them at 262,144 tokens.
    pub const chunk_scored_tokens = 32;
    /// Bytes of the event ring: two seconds of sixteen fast streams with log-probabilities.
    pub const ring_bytes = 1 << 20;
    /// Payload bytes of one event; longer text is sent in pieces.
    pub const event_payload_bytes = 4096;
    /// Events of one step, before they enter the ring: a token with its alternatives and its bytes. Grows when held-back text is longer.
    pub const outbox_bytes = 8 << 10;
    /// Alternatives reported with a log-probability; what the public protocols allow.
    pub const logprobs_top = 20;
    /// Tokens that end an answer. Models name up to five.
    pub const stop_tokens = 64;
    /// Entries of `logit_bias`; the public protocols allow about a thousand.
    pub const biases = 4096;
    /// Tokens that may be written before nothing but the shortest ending fits; from here on a refusal counts as the closing rule at
    /// work. With more to spare it only shapes the answer, and looking for it would double the price of masks.
    pub const closing_spare_tokens = 32;
    /// Tokens of a draft: with the one before them they are the rows that threads compute without meeting for the small work.
    pub const draft_tokens = model.replicated_rows_max - 1;
    /// Rows of a decoding pass up to which drafts are taken along: beyond, a row costs about what it saves.
    pub const draft_rows = 8;
    /// Sequences kept for prompts that begin alike, bytes of cache that they may fill, and the tokens below which computing anew is as good.
    pub const kept_sequences = 32;
    pub const kept_bytes_default = 1 << 30;
    pub const kept_tokens_min = 32;
    /// Tokens of an answer that a request reserves memory for; a longer one grows.
    pub const output_tokens = 1024;
    /// Bytes of a reason that is told to people.
    pub const message_bytes = 256;

    comptime {
        std.debug.assert(slots_default <= slots_max);
        std.debug.assert(std.math.isPowerOfTwo(queue_requests));
        std.debug.assert(std.math.isPowerOfTwo(ring_bytes));
        std.debug.assert(message_bytes <= event_payload_bytes);
        std.debug.assert(chunk_scored_tokens <= model.outputs_max);
        // The largest record has to fit the ring many times over, or a slow reader would stop everybody.
        std.debug.assert(event_payload_bytes * 64 <= ring_bytes);
        // JavaScript's longest view is under 4 GiB.
        std.debug.assert(slots_max * engine.vocabulary_tokens * @sizeOf(f32) < 1 << 32);
    }
};

pub const engine = struct {
    /// Tokens of a vocabulary: four times the largest known one.
    pub const vocabulary_tokens = 1 << 20;
    /// Bytes of all tokens of a vocabulary.
    pub const vocabulary_bytes = 64 << 20;
    /// Bytes of an encoded grammar.
    pub const ir_bytes = 64 << 20;
    /// Bytes of a model's manifest: a thousand tensors take a tenth.
    pub const manifest_bytes = 16 << 20;
    /// Live vocabularies and live models of a process; tests open several.
    pub const vocabularies = 64;
    pub const models = 16;
    /// Live grammars: one for each request in flight and as many again kept for reuse.
    pub const grammars = 4096;
    /// Matchers of one vocabulary that are not a request's: each has a row in the vocabulary's own mask arena.
    pub const matchers = 64;
    /// Requests in flight over all models.
    pub const requests = 4096;
    /// Threads that compute.
    pub const threads = 256;

    comptime {
        // A handle has sixteen bits of slot.
        for (.{ vocabularies, models, grammars, matchers * vocabularies, requests }) |count| std.debug.assert(count <= 1 << 16);
        std.debug.assert(requests >= models * (scheduler.slots_max));
    }
};

pub const noise = struct {
    /// Phrases that a pulled noise model likes to write.
    pub const phrases = 64;
    /// Tokens of one phrase: a whole call with a few arguments.
    pub const phrase_tokens = 256;
    /// Tokens of a sequence.
    pub const context_tokens = 1 << 20;
    /// Tokens between two looks at the cancel flag, as a real model looks between layers.
    pub const cancel_check_tokens = 16;
};

pub const model = struct {
    /// Tokens of context: ten times the longest that models are trained for.
    pub const context_max = 10 << 20;
    pub const vocabulary_max = engine.vocabulary_tokens;
    pub const layers_max = 1024;
    /// Elements of an embedding or of a feed-forward layer.
    pub const width_max = 1 << 20;
    pub const heads_max = 1024;
    /// Elements of one key or value head; bounds what a compute thread keeps for attention.
    pub const head_length_max = 1024;
    pub const files_max = 256;
    /// Sequences of one forward call.
    pub const items_max = scheduler.slots_max;
    /// Rows of one pass whose logits are wanted.
    pub const outputs_max = items_max + scheduler.draft_rows;
    /// Tokens computed in one pass; a longer prompt takes several. Bounds the activations in memory: at this size weights are read
    /// often enough per pass that more would not be faster.
    pub const pass_rows_max = 512;
    /// Tokens of a text where each sees all others, so that they are computed in one pass: what the longest published embedding models are
    /// trained for. Only what a text fills takes memory.
    pub const uncausal_rows_max = 8192;
    /// Rows up to which every thread does the small work (norms, conversion) for itself rather than meet the others for a share.
    pub const replicated_rows_max = 4;
    /// Rows of queries that one unit of attention works on: with its outputs of 256 elements each they stay in the first caches.
    pub const attention_rows_max = 32;
    /// Bytes of activations that one unit of a product reads again for each block of weights: a part of a core's second cache.
    pub const product_activation_bytes = 384 << 10;
    /// Elements of intermediate results that a thread keeps between two products of one unit.
    pub const product_scratch_elements = 32 << 10;
    /// Bytes of keys and values, when the caller does not say.
    pub const cache_bytes_default = 8 << 30;
    /// Free pages kept for reuse; more go back to the allocator.
    pub const cache_spare_pages = 64;
    /// Pauses of a waiting thread before it sleeps: about a tenth of a millisecond, longer than an operation and shorter than a
    /// time slice. Halved each time it was not enough, so that it costs little when another process has the core.
    pub const spin_pauses_max = 2000;
    pub const spin_pauses_min = 50;
    pub const threads_max = engine.threads;

    comptime {
        std.debug.assert(pass_rows_max <= uncausal_rows_max);
    }
};

pub const vocabulary = struct {
    /// Idle graphs of ended programs that wait for the next ones.
    pub const spares = 4;
    /// Parts that all grammars share: the numbers of real schemas have few bounds that come again. At 20 kB each, a megabyte.
    pub const kept = 64;
    /// Arenas that wait for the next compilation, two for each thread that compiles, and bytes that each keeps: what a large schema takes.
    pub const arenas = 8;
    pub const arena_bytes = 4 << 20;
    /// As many as the boundary lets through.
    pub const tokens_max = engine.vocabulary_tokens;
    /// Bytes of one token. The longest known has 256; each byte of it is a level of the trie walk.
    pub const token_bytes_max = 4096;
};

pub const grammar = struct {
    /// Bytes of an encoded grammar.
    pub const ir_bytes = engine.ir_bytes;
    /// Steps of one compilation: a few seconds at most, and the same verdict on every machine.
    pub const work_units = 200_000_000;
    /// Costs in the table of an array that counts: 4 MiB, a thousand counted a thousand times.
    pub const counted_entries = 1 << 20;
    /// Values of a finite set that are counted where items differ from each other; sets larger than what has to come never run out.
    pub const domain_values = 1024;
    /// Keys of an object times what they can have counted: a millisecond for each member, 260 keys that count to a thousand, or to one in ten ways.
    pub const cover_entries = 1 << 18;
    /// Bytes of a bound of a number, written out without exponent. Doubles need 309 digits before the point and 324 after it.
    pub const decimal_bytes = 1024;
    /// Digits of a number. More is never meant, and a model could write digits for ever.
    pub const number_int_digits = 40;
    pub const number_frac_digits = 40;
    pub const number_exp_digits = 4;
    /// Factors of one number, the one whose multiples it takes and those whose multiples it avoids.
    pub const number_factors = 8;
    /// States of a number that the vocabulary keeps for other grammars: those without bounds have a hundred, with two bounds a few hundred.
    pub const number_kept_states = 512;
    /// Numbers without bounds that are always kept: whole or not, in two spellings, for a few sets of tokens that grammars name.
    pub const numbers_free_kept = 16;
    /// Digits of a factor as one whole number: its remainders are told apart once, with ten steps each.
    pub const number_modulus = 100_000;
    /// States of a pattern that has to be explored before it is followed: of its conditions, or with its lengths.
    pub const regex_states = 1 << 15;
    /// … and steps from those of conditions, one for each class of characters: some thirty milliseconds. Of the patterns of public schemas that
    /// end, the largest takes half of it.
    pub const regex_steps = 1 << 17;
    /// Keys of a pattern: one that has so many does not run out, as no output is that long.
    pub const keys_told_apart = 1 << 24;
    /// Terms of one pattern when it is compiled: twelve mebibytes, and thirty thousand words.
    pub const regex_terms = 1 << 18;
    /// Ways in which a pattern may be followed at once, over its nested parts. One character takes that many steps at most, about forty
    /// milliseconds, and only hostile patterns come near.
    pub const regex_spread = 1 << 16;
    /// Words of the table of its lengths: half a mebibyte.
    pub const regex_length_words = 1 << 16;
    /// Bytes of tables that one matcher grows before it starts afresh from where it is.
    pub const graph_bytes = 48 << 20;
    /// Bytes of finished masks among them.
    pub const memo_bytes = 16 << 20;
    /// Places that a walk through the vocabulary remembers to have been at: more than there are below any node whose tokens are runs of one byte.
    pub const walk_places = 4096;
    /// Bytes of finished masks whose memory stays for the next ones when they are forgotten.
    pub const memo_spare_bytes = 4 << 20;
    /// Accepted tokens that a matcher of its own can take back: several drafts deep, and few enough that compaction stays cheap.
    pub const history_tokens = 1024;
    /// Bytes of tables that may be kept for the next program when one ends: more than most outputs need.
    pub const graph_spare_bytes = 8 << 20;
    /// Idle graphs a program keeps for its next matchers.
    pub const graphs_idle = 4;
};
