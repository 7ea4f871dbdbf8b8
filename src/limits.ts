/**
 * Every bound of the TypeScript side, with its unit and the reason for its size. A room appends its own section; what users
 * may change is a flag in config.ts, and the number here is that flag's default.
 */

// HTTP

/** Bytes of a request body unless `--max-body` says otherwise: a full context of 128k tokens is about half a megabyte, and 512 large tools as much again. */
export const bodyBytesMax = 8 * 1024 * 1024;
/** The most that `--max-body` may allow: eight such bodies fill what all together may take. */
export const bodyBytesHardMax = 64 * 1024 * 1024;
/** Nested arrays and objects in a body; deeper than any schema in use, and shallow enough for every recursive reader. */
export const bodyDepthMax = 256;
/** Milliseconds of silence on a stream before a keep-alive comment; proxies and clients give up after 30 s or more. */
export const pingMs = 10_000;
/** Seconds a connection may stay silent while it sends a request; answers switch the timeout off. */
export const idleTimeoutS = 30;
/** Seconds a client is asked to wait when the queue is full: about one answer. */
export const retryAfterS = 2;
/** Milliseconds that running answers get after SIGTERM before they are cancelled. */
export const stopGraceMs = 30_000;
/** Milliseconds for cancelled answers to send their end and for connections to close, before they are cut. */
export const closeMs = 1000;

// Server

/** Milliseconds from a request's headers to the last byte of its body: 8 MB at 1.3 Mbit/s. */
export const bodyMs = 50_000;
/** Bytes of all bodies that are held at once: a burst of large ones is told to come back instead of filling the memory. */
export const bodiesBytesMax = 512 * 1024 * 1024;
/** Seconds a browser may remember a preflight; Chromium takes no more. */
export const preflightMaxAgeS = 7200;
/** Clients whose request rate is remembered; beyond, the one that was silent longest starts afresh. */
export const rateClientsMax = 10_000;

// Admission

/** Requests that run at once unless `--slots` says otherwise: what two cores still decode at reading speed. */
export const slotsDefault = 4;
/** Requests that wait for a slot unless `--queue` says otherwise; the next one is told to come back. */
export const queueMax = 256;
/** Tokens of the smallest context that `--context` may ask for: less does not hold one tool and a question. */
export const contextMin = 512;

/** Tokens of the context of a model without weights, where `--context` says nothing. */
export const noiseContextMax = 32_768;

// Chat requests

/** Names in a header that lists the caller's own, and characters of each: a header stays far below what proxies allow. */
export const headerNamesMax = 16;
export const headerNameLengthMax = 128;
/** Words of a lexicon in a request, and UTF-16 units of each: larger lists belong into the server's file. */
export const lexiconWordsMax = 100_000;
export const lexiconWordLengthMax = 256;
/** Texts of one choice: each is a path of the grammar. */
export const choiceTextsMax = 10_000;
/** Prompts of one completion; each waits for a slot. */
export const promptsMax = 64;
/** Answers to all prompts of one completion: what the queue holds by default. More would be told to come back for ever. */
export const completionAnswersMax = queueMax;
/** Texts of one request for embeddings, as OpenAI has it. */
export const embeddingInputsMax = 2048;
/** Tokens of all texts of one request for embeddings, as OpenAI has it: minutes of work on a few cores. */
export const embeddingTokensMax = 300_000;
/** Choices of one request, as OpenAI's users send them; each takes a slot. */
export const choicesMax = 8;
/** Candidates that the best of are given back, as OpenAI has it; each takes a slot. */
export const candidatesMax = 20;
/** Tools of one request; twice what the largest agents send. */
export const toolsMax = 1024;
/** Stop strings of one request; OpenAI takes 4, llama.cpp's users send more. */
export const stopStringsMax = 16;
/** UTF-16 units of one stop string: a longer one is a mistake, and its prefix would be held back. */
export const stopStringLengthMax = 256;
/** Alternatives of a log-probability, as OpenAI has it. */
export const topLogprobsMax = 20;
/** Token biases of one request, as OpenAI has it. */
export const logitBiasMax = 1024;
/** Calls of one answer unless `--max-calls` says otherwise. */
export const callsMax = 16;

/** Chat templates of requests that are kept compiled: those of a few derived models. */
export const templatesMax = 16;
/** UTF-16 units of a request's chat template: ten times the largest published one. */
export const templateCharactersMax = 256 * 1024;

// Anthropic

/** Tokens of the smallest thinking budget, as Anthropic has it. */
export const thinkingBudgetMin = 1024;
/** Models of one page of the list, as Anthropic has it, and of a page where the request says nothing. */
export const modelsPageMax = 1000;
export const modelsPageDefault = 20;

// Responses

/** Responses that are kept, and an estimate of their bytes: a day of one agent's turns, and little beside a model. */
export const storedResponsesMax = 1024;
export const storedResponsesBytesMax = 64 * 1024 * 1024;
/** Pairs of a response's metadata, and UTF-16 units of a key and a value, as OpenAI has them. */
export const metadataPairsMax = 16;
export const metadataKeyLengthMax = 64;
export const metadataValueLengthMax = 512;
/** UTF-16 units of the caller's name for whom it asks, as OpenAI has it. */
export const safetyIdentifierLengthMax = 64;
/** Items of one page of a conversation, as OpenAI has it, and of a page where the request says nothing. */
export const inputItemsPageMax = 100;
export const inputItemsPageDefault = 20;
/** Part of the context that a truncated conversation leaves to the answer, unless its limit is lower: less than this is no answer. */
export const truncationReserveShare = 1 / 4;

// JSON text and schemas

/** UTF-16 units of all schemas and grammars of one request: a thousand large tools. */
export const constraintCharactersMax = 4 * 1024 * 1024;
/**
 * What is compiled while everybody waits, in UTF-16 units of schemas and choices, of words and of other grammars, of the patterns of one schema,
 * in steps of lowering and in units of the engine's work: a few milliseconds each. Beyond any of them another thread does it.
 */
export const compileHereCharactersMax = 32 * 1024;
export const compileHereWordCharactersMax = 8 * 1024;
export const compileHereGrammarCharactersMax = 1024;
export const compileHerePatternCharactersMax = 2_000;
export const compileHereStepsMax = 2_000;
export const compileHereUnitsMax = 200_000;
/** UTF-16 units of one schema's source: fifty times the largest tool schema seen in public agents. */
export const schemaCharactersMax = 1024 * 1024;
/** Nested arrays and objects of a schema document, its examples and defaults included. */
export const schemaDepthMax = 256;
/** Applicators (`$ref`, `allOf`, `anyOf` …) between a value and a keyword that speaks of it; longer chains are loops written out. */
export const applicatorDepthMax = 128;
/**
 * Steps of lowering one schema; a step applies one sub-schema to one case, brings two cases together, or writes one property or item. Counted,
 * not timed, so that a schema has one verdict on every machine. The largest schemas of SchemaStore that end at all take a third of it.
 */
export const loweringStepsMax = 250_000;
/** Places that one schema may be relaxed at; each costs another lowering. */
export const relaxationsMax = 32;
/** UTF-16 units of a regular expression in a schema; the longest published ones, lists of names, have a few thousand. */
export const patternCharactersMax = 20_000;
/** Groups of a regular expression that are open at once: far beyond what anybody writes, and shallow enough for recursive readers. */
export const patternDepthMax = 100;
/** Rounds of a repetition that contains an assertion, which is written out. */
export const patternRoundsMax = 64;
/** Derivatives made to see whether a regular language is empty, or which texts it has, before it is taken for a large one: a few milliseconds. */
export const derivativeStepsMax = 4_000;
/** Keys of a class of keys that are written out one by one; an object with more members of such a class is not meant. */
export const classKeysMax = 512;
/** Digits of a number in a schema when it is written without exponent: what a double can hold, and room beside it. */
export const decimalDigitsMax = 1200;

/** Documents that references may lead to, of the server's folder and of a request, and UTF-16 units of all in the folder: whole published collections. */
export const schemaDocumentsMax = 1000;
export const schemaDocumentsCharactersMax = 16 * 1024 * 1024;

// Grammars

/** UTF-16 units of one grammar's text: like a schema. */
export const grammarCharactersMax = 1024 * 1024;
/** Nested groups of a grammar's text: far more than people write, and shallow enough for every recursive reader. */
export const grammarDepthMax = 256;
/** Times that one item of a grammar may be repeated when there is a bound: what a counter of the engine holds. */
export const repetitionMax = 2 ** 31;
/** Positions of an automaton that a regular part of a grammar is made into; larger parts stay rules and counters. */
export const regularWeightMax = 256;
/** Characters between two words of a lexicon: a quote's end, a comma, a dash, and spaces around them. */
export const separatorCharactersMax = 4;
/** Rules that begin with each other, which are rewritten as a table of so many squared. */
export const leftRecursionPartsMax = 64;

// Model files

/** Bytes of a GGUF file read at first: the header of a 262k-token vocabulary without merges is 7 MB, of a 49k-token one 2 MB. */
export const ggufHeaderReadBytes = 8 * 1024 * 1024;
/** Bytes of a GGUF header: vocabularies of a million tokens stay below a tenth of it. */
export const ggufHeaderBytesMax = 512 * 1024 * 1024;
/** UTF-16 units of a model's name with its tag: what a file's name may have, escapes and all. */
export const modelNameLengthMax = 192;
/** Models that were made from others, and bytes of each: more than anybody keeps apart, and a system message of many pages. */
export const derivedModelsMax = 1000;
export const derivedBytesMax = 1024 * 1024;
/** Bytes of one file that is sent or pulled: the largest part of a published model has about 50 GB. */
export const blobBytesMax = 128 * 1024 ** 3;
/** Lines that tell of the progress of one file: a bar moves by half a percent. */
export const pullProgressSteps = 200;
/** Bytes of a pulled file that wait for the disk: what keeps a fast line busy, and little beside a model. */
export const pullAheadBytesMax = 64 * 1024 * 1024;
/** Models that are pulled at once; each takes a connection and a disk's time. */
export const pullsMax = 2;
/** Layers of a model: the deepest published ones have about 130; a damaged file may claim four billion. */
export const layersMax = 1024;

// Tokenizer

/** Pieces of text whose tokens are remembered: about 5 MB when full, and most of any language's common words. */
export const pieceCacheEntriesMax = 32_768;
/** UTF-16 units of a remembered piece; words are shorter, and longer pieces do not repeat. */
export const pieceCacheLengthMax = 64;
