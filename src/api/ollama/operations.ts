import { type TProperties, Type } from "@sinclair/typebox";
import { open } from "../fields.ts";
import { optionsBody } from "../model-options.ts";
import { describer, type RoomDocument } from "../operation.ts";
import {
  callBody,
  chatBody,
  copyBody,
  createBody,
  deleteBody,
  embedBody,
  embeddingsBody,
  functionTool,
  generateBody,
  messageBody,
  pullBody,
  showBody,
  toolChoice,
} from "./schema.ts";

const of = describer("Ollama", "OllamaError");
const lines = (name: string) => ({ type: "application/x-ndjson", of: name }) as const;

const optionsField = Type.Optional(Type.Union([open(optionsBody.properties), Type.Null()]));
const format = Type.Optional(
  Type.Union([Type.Literal(""), Type.Literal("json"), open({}), Type.Null()], { description: "a JSON Schema" }),
);
const answering = { options: optionsField, format };
const optional = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** Some name has to be there, under one of its two names. */
const modelName = Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9_./:-]*$" });
const named = <T extends TProperties>({ properties }: { readonly properties: T }) =>
  Type.Union([open({ ...properties, model: modelName }), open({ ...properties, name: modelName })]);
/** None can be taken. */
const noImages = { images: optional(Type.Array(Type.String(), { maxItems: 0 })) };

const count = Type.Integer({ minimum: 0 });
const end = {
  done: Type.Boolean(),
  done_reason: Type.Optional(Type.String()),
  total_duration: Type.Optional(count),
  load_duration: Type.Optional(count),
  prompt_eval_count: Type.Optional(count),
  prompt_eval_duration: Type.Optional(count),
  eval_count: Type.Optional(count),
  eval_duration: Type.Optional(count),
  logprobs: Type.Optional(Type.Array(open({ token: Type.String(), logprob: Type.Number() }))),
};
const call = open({
  id: Type.String(),
  function: open({ index: count, name: Type.String(), arguments: open({}) }),
});
const details = open({
  parent_model: Type.String(),
  format: Type.String(),
  family: Type.String(),
  families: Type.Array(Type.String()),
  parameter_size: Type.String(),
  quantization_level: Type.String(),
});
const entry = { name: Type.String(), model: Type.String(), size: count, digest: Type.String(), details };
const status = open({ status: Type.String() });
const blob = of({ summary: "Keep a file by its digest", plain: { body: "application/octet-stream" } });

/** Ollama's routes, as /openapi.json has them. */
export const ollamaDocument: RoomDocument = {
  operations: {
    "GET /api/version": of({ summary: "The version of Ollama's protocol", answer: "OllamaVersion" }),
    "GET /api/tags": of({ summary: "List the models that are here", answer: "OllamaModels" }),
    "GET /api/ps": of({ summary: "List the loaded model", answer: "OllamaLoadedModels" }),
    "POST /api/chat": of({
      summary: "Answer a conversation",
      body: "OllamaChatRequest",
      answer: "OllamaChat",
      stream: lines("OllamaChat"),
    }),
    "POST /api/generate": of({
      summary: "Continue a text, or answer one turn",
      body: "OllamaGenerateRequest",
      answer: "OllamaGeneration",
      stream: lines("OllamaGeneration"),
    }),
    "POST /api/embed": of({
      summary: "Embed texts (of an embedding model)",
      body: "OllamaEmbedRequest",
      answer: "OllamaEmbeddings",
    }),
    "POST /api/embeddings": of({
      summary: "Embed one text (of an embedding model)",
      body: "OllamaEmbeddingsRequest",
      answer: "OllamaEmbedding",
    }),
    "POST /api/show": of({ summary: "Describe a model", body: "OllamaShowRequest", answer: "OllamaShown" }),
    "POST /api/create": of({
      summary: "Make a model from another one, or from a blob",
      body: "OllamaCreateRequest",
      answer: "OllamaStatus",
      stream: lines("OllamaStatus"),
    }),
    "POST /api/copy": of({ summary: "Give a model a second name", body: "OllamaCopyRequest" }),
    "DELETE /api/delete": of({ summary: "Delete a model", body: "OllamaDeleteRequest" }),
    "POST /api/pull": of({
      summary: "Fetch a model from Hugging Face",
      body: "OllamaPullRequest",
      answer: "OllamaStatus",
      stream: lines("OllamaStatus"),
    }),
    "POST /api/push": of({ summary: "Refused: nothing is published", answer: "OllamaError" }),
    "GET /api/blobs/:digest": of({ summary: "Whether a file of this digest is here" }),
    "POST /api/blobs/:digest": {
      ...blob,
      responses: { ...blob.responses, "201": { description: "It is kept now." } },
    },
  },
  schemas: {
    OllamaChatRequest: open({
      ...chatBody.properties,
      ...answering,
      messages: optional(
        Type.Array(
          open({ ...messageBody.properties, ...noImages, tool_calls: optional(Type.Array(open(callBody.properties))) }),
        ),
      ),
      tools: optional(Type.Array(functionTool)),
      tool_choice: optional(toolChoice),
    }),
    OllamaGenerateRequest: open({ ...generateBody.properties, ...answering, ...noImages }),
    OllamaEmbedRequest: open({ ...embedBody.properties, options: optionsField }),
    OllamaEmbeddingsRequest: open({ ...embeddingsBody.properties, options: optionsField }),
    OllamaShowRequest: named(showBody),
    OllamaCreateRequest: named(open({ ...createBody.properties, parameters: optionsField })),
    OllamaCopyRequest: open({ ...copyBody.properties, source: modelName, destination: modelName }),
    OllamaDeleteRequest: named(deleteBody),
    OllamaPullRequest: named(pullBody),
    OllamaChat: open({
      model: Type.String(),
      created_at: Type.String(),
      message: open({
        role: Type.Literal("assistant"),
        content: Type.String(),
        thinking: Type.Optional(Type.String()),
        tool_calls: Type.Optional(Type.Array(call)),
      }),
      ...end,
    }),
    OllamaGeneration: open({
      model: Type.String(),
      created_at: Type.String(),
      response: Type.String(),
      thinking: Type.Optional(Type.String()),
      context: Type.Optional(Type.Array(count)),
      ...end,
    }),
    OllamaEmbeddings: open({
      model: Type.String(),
      embeddings: Type.Array(Type.Array(Type.Number())),
      total_duration: count,
      load_duration: count,
      prompt_eval_count: count,
    }),
    OllamaEmbedding: open({ embedding: Type.Array(Type.Number()) }),
    OllamaShown: open({
      license: Type.String(),
      modelfile: Type.String(),
      parameters: Type.String(),
      template: Type.String(),
      details,
      model_info: open({}),
      capabilities: Type.Array(Type.String()),
      modified_at: Type.String(),
    }),
    OllamaModels: open({ models: Type.Array(open({ ...entry, modified_at: Type.String() })) }),
    OllamaLoadedModels: open({
      models: Type.Array(open({ ...entry, expires_at: Type.String(), size_vram: count, context_length: count })),
    }),
    OllamaVersion: open({ version: Type.String() }),
    OllamaStatus: status,
    OllamaError: open({ error: Type.String() }),
  },
};
