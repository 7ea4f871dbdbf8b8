import type { Operation, Parameter, RoomDocument } from "../api/operation.ts";

/**
 * One OpenAPI 3.1 document of all routes, from what their rooms say of them: https://spec.openapis.org/oas/v3.1.1. A route that two
 * rooms share has the answers of both; one that no room describes is left out. `open`: no key is asked for.
 */
export function openapiDocument(
  routes: readonly { readonly method: string; readonly path: string }[],
  documents: readonly RoomDocument[],
  { version, open }: { readonly version: string; readonly open: boolean },
): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path } of routes) {
    const [first, ...others] = documents.flatMap(({ operations }) => operations[`${method} ${path}`] ?? []);
    if (first === undefined) continue;
    const operation = others.reduce(joined, first);
    const template = path.replace(/:(\w+)/g, "{$1}").replace(/\*$/, "{id}");
    const operationId = method.toLowerCase() + template.replace(/[^A-Za-z0-9]+(.|$)/g, (_, next) => next.toUpperCase());
    const parameters = [...pathParameters(template), ...(operation.parameters ?? [])];
    paths[template] = {
      ...paths[template],
      [method.toLowerCase()]: { operationId, ...operation, ...(parameters.length === 0 ? {} : { parameters }) },
    };
  }
  const keyed = [{ bearer: [] }, { apiKey: [] }];
  return {
    openapi: "3.1.1",
    info: {
      title: "Tenon",
      version,
      description: "A server for local language models whose tool calls and structured answers cannot be malformed.",
    },
    paths,
    components: {
      schemas: Object.assign({}, ...documents.map(({ schemas }) => schemas)),
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
      },
    },
    security: open ? [{}, ...keyed] : keyed,
  };
}

function pathParameters(template: string): object[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

/** Two rooms' descriptions of one route: whichever answers, one of them is true. */
function joined(a: Operation, b: Operation): Operation {
  const statuses = [...new Set([...Object.keys(a.responses), ...Object.keys(b.responses)])];
  return {
    ...a,
    tags: [...a.tags, ...b.tags],
    parameters: distinct([...(a.parameters ?? []), ...(b.parameters ?? [])]),
    responses: Object.fromEntries(
      statuses.map((status) => [status, eitherResponse(a.responses[status], b.responses[status])]),
    ),
  };
}

type Response = Operation["responses"][string];

function eitherResponse(a: Response | undefined, b: Response | undefined): Response {
  const content: Record<string, { schema: object }> = {};
  for (const [type, { schema }] of [a, b].flatMap((response) => Object.entries(response?.content ?? {}))) {
    const known = content[type];
    content[type] = { schema: known === undefined ? schema : { anyOf: [known.schema, schema] } };
  }
  return { description: a?.description ?? b?.description ?? "", content };
}

function distinct(parameters: readonly Parameter[]): readonly Parameter[] {
  return parameters.filter(({ name }, index) => parameters.findIndex((other) => other.name === name) === index);
}
