// Written by `bun run abi` from zig/abi.zig.

export const fingerprint = 0x47895a0c;

/** Parameter and result types by exported name. */
export const functions = {
  tenon_fingerprint: { args: [], returns: "u32" },
  tenon_error_text: { args: ["ptr", "u32"], returns: "u32" },
  tenon_examine: { args: ["ptr", "u32"], returns: "i32" },
  tenon_vocabulary_create: { args: ["ptr", "u32", "ptr", "ptr", "u32", "ptr"], returns: "i32" },
  tenon_vocabulary_destroy: { args: ["u32"], returns: "i32" },
  tenon_grammar_create: { args: ["u32", "ptr", "u32", "u32", "ptr"], returns: "i32" },
  tenon_grammar_destroy: { args: ["u32"], returns: "i32" },
  tenon_matcher_create: { args: ["u32", "ptr", "u32", "ptr"], returns: "i32" },
  tenon_matcher_destroy: { args: ["u32"], returns: "i32" },
  tenon_matcher_mask: { args: ["u32", "u32"], returns: "i32" },
  tenon_matcher_accept: { args: ["u32", "u32"], returns: "i32" },
  tenon_matcher_allowed: { args: ["u32", "u32", "u32"], returns: "i32" },
  tenon_matcher_accepts_end: { args: ["u32"], returns: "i32" },
  tenon_matcher_is_complete: { args: ["u32"], returns: "i32" },
  tenon_matcher_cost: { args: ["u32"], returns: "i32" },
  tenon_matcher_fork: { args: ["u32", "ptr"], returns: "i32" },
  tenon_matcher_rollback: { args: ["u32", "u32"], returns: "i32" },
  tenon_matcher_forced: { args: ["u32", "ptr", "u32"], returns: "i32" },
  tenon_matcher_flush: { args: ["u32"], returns: "i32" },
  tenon_matcher_segments: { args: ["u32", "ptr", "u32"], returns: "i32" },
  tenon_model_noise: { args: ["u32", "ptr", "ptr", "ptr", "ptr", "ptr"], returns: "i32" },
  tenon_model_load: { args: ["u32", "ptr", "u32", "ptr", "ptr"], returns: "i32" },
  tenon_model_destroy: { args: ["u32"], returns: "i32" },
  tenon_model_drain: { args: ["u32", "ptr", "u32"], returns: "i32" },
  tenon_model_counts: { args: ["u32", "ptr"], returns: "i32" },
  tenon_live_counts: { args: ["ptr"], returns: "i32" },
  tenon_request_submit: { args: ["u32", "ptr", "ptr", "ptr", "ptr", "ptr"], returns: "i32" },
  tenon_request_cancel: { args: ["u32"], returns: "i32" },
  tenon_request_release: { args: ["u32"], returns: "i32" },
} as const;

/** Bytes of each struct, and type and offset of each field. */
export const structs = {
  EventEmbedding: {
    bytes: 16,
    fields: {
      head_bytes: ["u32", 0],
      head_request: ["u32", 4],
      head_kind: ["u32", 8],
      count: ["u32", 12],
    },
  },
  EventFinish: {
    bytes: 48,
    fields: {
      head_bytes: ["u32", 0],
      head_request: ["u32", 4],
      head_kind: ["u32", 8],
      reason: ["u32", 12],
      closed_by_rule: ["u32", 16],
      prompt_tokens: ["u32", 20],
      cached_tokens: ["u32", 24],
      completion_tokens: ["u32", 28],
      prompt_ms: ["f32", 32],
      completion_ms: ["f32", 36],
      logprob_sum: ["f32", 40],
      length: ["u32", 44],
    },
  },
  EventHead: {
    bytes: 12,
    fields: {
      bytes: ["u32", 0],
      request: ["u32", 4],
      kind: ["u32", 8],
    },
  },
  EventParked: {
    bytes: 20,
    fields: {
      head_bytes: ["u32", 0],
      head_request: ["u32", 4],
      head_kind: ["u32", 8],
      slot: ["u32", 12],
      previous: ["u32", 16],
    },
  },
  EventProgress: {
    bytes: 20,
    fields: {
      head_bytes: ["u32", 0],
      head_request: ["u32", 4],
      head_kind: ["u32", 8],
      done: ["u32", 12],
      total: ["u32", 16],
    },
  },
  EventText: {
    bytes: 24,
    fields: {
      head_bytes: ["u32", 0],
      head_request: ["u32", 4],
      head_kind: ["u32", 8],
      channel: ["u32", 12],
      call: ["u32", 16],
      length: ["u32", 20],
    },
  },
  EventToken: {
    bytes: 24,
    fields: {
      head_bytes: ["u32", 0],
      head_request: ["u32", 4],
      head_kind: ["u32", 8],
      token: ["u32", 12],
      logprob: ["f32", 16],
      alternatives: ["u32", 20],
    },
  },
  LogitBias: {
    bytes: 8,
    fields: {
      token: ["u32", 0],
      bias: ["f32", 4],
    },
  },
  Logprob: {
    bytes: 8,
    fields: {
      token: ["u32", 0],
      logprob: ["f32", 4],
    },
  },
  VocabularyReport: {
    bytes: 24,
    fields: {
      masks: ["f64", 0],
      handle: ["u32", 8],
      matchers_max: ["u32", 12],
      words: ["u32", 16],
      unused: ["u32", 20],
    },
  },
  GrammarReport: {
    bytes: 16,
    fields: {
      handle: ["u32", 0],
      cost_min: ["u32", 4],
      refusal: ["u32", 8],
      origin: ["u32", 12],
    },
  },
  MatcherReport: {
    bytes: 8,
    fields: {
      handle: ["u32", 0],
      row: ["u32", 4],
    },
  },
  Segment: {
    bytes: 12,
    fields: {
      channel: ["u32", 0],
      call: ["u32", 4],
      length: ["u32", 8],
    },
  },
  NoiseOptions: {
    bytes: 16,
    fields: {
      seed: ["f64", 0],
      shape: ["u32", 8],
      phrases: ["u32", 12],
    },
  },
  ModelOptions: {
    bytes: 16,
    fields: {
      slots: ["u32", 0],
      queue_max: ["u32", 4],
      context_max: ["u32", 8],
      threads: ["u32", 12],
    },
  },
  ModelReport: {
    bytes: 40,
    fields: {
      logits: ["f64", 0],
      masks: ["f64", 8],
      handle: ["u32", 16],
      wake: ["i32", 20],
      vocabulary_count: ["u32", 24],
      context_max: ["u32", 28],
      slots: ["u32", 32],
      words: ["u32", 36],
    },
  },
  ModelCounts: {
    bytes: 16,
    fields: {
      cache_bytes: ["f64", 0],
      running: ["u32", 8],
      queued: ["u32", 12],
    },
  },
  LiveCounts: {
    bytes: 20,
    fields: {
      vocabularies: ["u32", 0],
      grammars: ["u32", 4],
      matchers: ["u32", 8],
      models: ["u32", 12],
      requests: ["u32", 16],
    },
  },
  RequestOptions: {
    bytes: 72,
    fields: {
      seed: ["f64", 0],
      task: ["u32", 8],
      grammar: ["u32", 12],
      tokens: ["u32", 16],
      stop_tokens: ["u32", 20],
      biases: ["u32", 24],
      tokens_max: ["u32", 28],
      logprobs: ["u32", 32],
      step: ["u32", 36],
      drafts: ["u32", 40],
      top_k: ["u32", 44],
      top_p: ["f32", 48],
      min_p: ["f32", 52],
      temperature: ["f32", 56],
      repeat_penalty: ["f32", 60],
      frequency_penalty: ["f32", 64],
      presence_penalty: ["f32", 68],
    },
  },
  RequestReport: {
    bytes: 12,
    fields: {
      handle: ["u32", 0],
      needed: ["u32", 4],
      context_max: ["u32", 8],
    },
  },
} as const;

export const enums = {
  Status: {
    ok: 0,
    invalid: -1,
    stale: -2,
    out_of_memory: -3,
    too_many: -4,
    refused: -5,
    overloaded: -6,
    context: -7,
    failed: -8,
  },
  Channel: {
    text: 0,
    reasoning: 1,
    call_name: 2,
    argument_key: 3,
    argument_text: 4,
    argument_json: 5,
    value_end: 6,
    custom_input: 7,
    markup: 8,
  },
  EventKind: {
    progress: 0,
    text: 1,
    token: 2,
    parked: 3,
    finish: 4,
    prompt_token: 5,
    embedding: 6,
  },
  FinishReason: {
    stop_token: 0,
    complete: 1,
    length: 2,
    context: 3,
    cancelled: 4,
    failed: 5,
  },
  NoiseShape: {
    flat: 0,
    peaked: 1,
    pulled: 2,
  },
  RequestTask: {
    generate: 0,
    score: 1,
    embed: 2,
  },
  RefusalKind: {
    invalid: 0,
    unsatisfiable: 1,
    limit: 2,
  },
  TokenKind: {
    normal: 0,
    control: 1,
    unused: 2,
  },
} as const;

/** Stands for a number that there is not. */
export const none = 0xffffffff;
