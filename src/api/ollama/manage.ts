import type { Static, TObject } from "@sinclair/typebox";
import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import type { PullEvent } from "../../generation/stored-model.ts";
import { readJson } from "../body.ts";
import { checker } from "../check.ts";
import { strictFailure, unreadFields } from "../fields.ts";
import { ndjsonLine, ndjsonResponse } from "../ndjson.ts";
import type { Refusal } from "../refusal.ts";
import { responseHeaders } from "../response-headers.ts";
import type { Service } from "../service.ts";
import { createChanges } from "./create.ts";
import { errorResponse } from "./error.ts";
import { findModel } from "./model-names.ts";
import { encodeShown } from "./models.ts";
import { copyBody, createBody, deleteBody, pullBody, showBody } from "./schema.ts";

/** Reads a body by its schema. */
export type Reader<T> = (
  service: Pick<Service, "strictFields">,
  http: Request,
) => Promise<Result<{ readonly fields: T; readonly headers: Record<string, string> }, Failure | Refusal>>;

export function reader<T extends TObject>(schema: T, accepted: readonly string[] = []): Reader<Static<T>> {
  const check = checker(schema);
  return async ({ strictFields }, http) => {
    const body = await readJson(http);
    if (!body.ok) return body;
    const checked = check(body.value.value);
    if (!checked.ok) return checked;
    const ignored = unreadFields(checked.value, schema, accepted);
    const refusal = strictFields ? strictFailure(ignored) : undefined;
    if (refusal !== undefined) return fail(refusal);
    const headers = responseHeaders({ constraint: "none", relaxed: [] }, ignored);
    return ok({ fields: checked.value, headers });
  };
}

const readShow = reader(showBody, ["template", "options"]);
const readCreate = reader(createBody, ["info"]);
const readCopy = reader(copyBody);
const readDelete = reader(deleteBody);
const readPull = reader(pullBody, ["username", "password"]);

/** POST /api/show. */
export async function show(service: Service, http: Request): Promise<Response> {
  const body = await readShow(service, http);
  if (!body.ok) return errorResponse(body.failure);
  const { fields, headers } = body.value;
  const name = nameOf(fields);
  const model = name.ok ? findModel(name.value, service.store) : name;
  if (!model.ok) return errorResponse(model.failure);
  const metadata = service.store.metadata(model.value, { arrays: fields.verbose ?? false });
  const shown = encodeShown(model.value, metadata, { detail: service.describe(), system: fields.system || undefined });
  return Response.json(shown, { headers });
}

/** POST /api/create. */
export async function create(service: Service, http: Request): Promise<Response> {
  const body = await readCreate(service, http);
  if (!body.ok) return errorResponse(body.failure);
  const { fields, headers } = body.value;
  const name = nameOf(fields);
  if (!name.ok) return errorResponse(name.failure);
  const changes = createChanges(fields);
  if (!changes.ok) return errorResponse(changes.failure);
  const { store } = service;
  const asked = changes.value;
  const made =
    asked.kind === "adopt"
      ? store.adopt(name.value, asked.sha256)
      : store.derive(name.value, asked.from, asked.changes);
  if (!made.ok) return errorResponse(made.failure);
  if (fields.stream === false) return Response.json({ status: "success" }, { headers });
  const digest = store.find(name.value)?.facts.digest ?? "";
  const statuses = [`using existing layer sha256:${digest}`, "writing manifest", "success"];
  return new Response(statuses.map((status) => ndjsonLine({ status })).join(""), {
    headers: { ...headers, "content-type": "application/x-ndjson" },
  });
}

/** POST /api/copy. */
export async function copy(service: Service, http: Request): Promise<Response> {
  const body = await readCopy(service, http);
  if (!body.ok) return errorResponse(body.failure);
  const { source, destination } = body.value.fields;
  return done(service.store.copy(source, destination), body.value.headers);
}

/** DELETE /api/delete. */
export async function remove(service: Service, http: Request): Promise<Response> {
  const body = await readDelete(service, http);
  if (!body.ok) return errorResponse(body.failure);
  const name = nameOf(body.value.fields);
  return name.ok ? done(service.store.remove(name.value), body.value.headers) : errorResponse(name.failure);
}

/** POST /api/pull. Whoever leaves ends it, as the last one does who waits for it. */
export async function pull(service: Service, http: Request): Promise<Response> {
  const body = await readPull(service, http);
  if (!body.ok) return errorResponse(body.failure);
  const { fields, headers } = body.value;
  const name = nameOf(fields);
  if (!name.ok) return errorResponse(name.failure);
  const gone = new AbortController();
  const events = service.store.pull(name.value, AbortSignal.any([http.signal, gone.signal]));
  if (!events.ok) return errorResponse(events.failure);
  if (fields.stream !== false) {
    return ndjsonResponse(pullLines(events.value), { headers, onCancel: () => gone.abort() });
  }
  let last: PullEvent | undefined;
  for await (const event of events.value) last = event;
  if (last?.kind === "success") return Response.json({ status: "success" }, { headers });
  return errorResponse({ kind: "engine", message: last?.kind === "failure" ? last.message : "the pull did not end" });
}

async function* pullLines(events: AsyncIterable<PullEvent>): AsyncGenerator<string, void> {
  for await (const event of events) yield ndjsonLine(pullStatus(event));
}

function pullStatus(event: PullEvent): object {
  switch (event.kind) {
    case "listing":
      return { status: "pulling manifest" };
    case "progress": {
      const { sha256, total, completed } = event;
      return { status: `pulling ${sha256.slice(0, 12)}`, digest: `sha256:${sha256}`, total, completed };
    }
    case "verifying":
      return { status: "verifying sha256 digest" };
    case "writing":
      return { status: "writing manifest" };
    case "success":
      return { status: "success" };
    case "failure":
      return { error: event.message };
    default:
      return event satisfies never;
  }
}

/** HEAD /api/blobs/:digest. */
export function headBlob(service: Service, digest: string): Response {
  const sha256 = sha256Of(digest);
  if (!sha256.ok) return errorResponse(sha256.failure);
  if (service.store.hasBlob(sha256.value)) return new Response(null);
  return Response.json({ error: `blob '${digest}' not found` }, { status: 404 });
}

/** POST /api/blobs/:digest, whose body is read here. */
export async function postBlob(service: Service, digest: string, http: Request): Promise<Response> {
  const sha256 = sha256Of(digest);
  if (!sha256.ok) return errorResponse(sha256.failure);
  if (service.store.hasBlob(sha256.value)) return new Response(null);
  const put = await service.store.putBlob(sha256.value, http.body ?? new Blob([]).stream());
  return put.ok ? new Response(null, { status: 201 }) : errorResponse(put.failure);
}

/** POST /api/push. */
export function push(): Response {
  return Response.json({ error: "push is not supported: Tenon publishes no models" }, { status: 403 });
}

/** A model's name, where there has to be one. */
function nameOf(fields: { readonly model?: string | null; readonly name?: string | null }): Result<string, Failure> {
  const name = fields.model || fields.name;
  return name ? ok(name) : fail({ kind: "invalid", message: "model is required", param: "model" });
}

function done(result: Result<void, Failure>, headers: Readonly<Record<string, string>>): Response {
  return result.ok ? new Response(null, { headers }) : errorResponse(result.failure);
}

function sha256Of(digest: string): Result<string, Failure> {
  const [, hexadecimal] = /^sha256[:-]([0-9a-f]{64})$/i.exec(digest) ?? [];
  if (hexadecimal !== undefined) return ok(hexadecimal.toLowerCase());
  return fail({ kind: "invalid", message: "invalid digest format", param: "digest" });
}
