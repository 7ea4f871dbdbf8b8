import { type TSchema, Type } from "@sinclair/typebox";

/** How a room describes its routes in OpenAPI 3.1; src/server/openapi.ts makes one document of all. */
export type RoomDocument = {
  /** By method and path as the router has them: `GET /v1/responses/:id`. */
  readonly operations: Readonly<Record<string, Operation>>;
  /** JSON Schemas that the operations refer to by name. */
  readonly schemas: Readonly<Record<string, object>>;
};

export type Operation = {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  /** Empty where no key is asked for. */
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
};

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: TSchema;
};

export type Content = Readonly<Record<string, { readonly schema: object }>>;

export type Described = {
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  /** Names of schemas. */
  readonly body?: string;
  readonly answer?: string;
  /** What each event or line of a stream is, where the answer may be one. */
  readonly stream?: { readonly type: "text/event-stream" | "application/x-ndjson"; readonly of: string };
  /** A body that is no JSON. */
  readonly plain?: { readonly body?: string; readonly answer?: string };
};

/** Describes the routes of one room, whose errors all have the schema of this name. */
export function describer(tag: string, error: string): (described: Described) => Operation {
  const failed = (description: string) => ({ description, content: json(error) });
  return ({ summary, parameters, body, answer, stream, plain }) => {
    const content: Content = {
      ...(answer === undefined ? {} : json(answer)),
      ...(plain?.answer === undefined ? {} : text(plain.answer)),
      // A stream is no value that a schema of 3.1 could describe; its items are, in words.
      ...(stream === undefined ? {} : { [stream.type]: { schema: { description: `Items are ${stream.of}.` } } }),
    };
    const asked = plain?.body === undefined ? body && json(body) : text(plain.body);
    return {
      tags: [tag],
      summary,
      ...(parameters === undefined ? {} : { parameters }),
      ...(asked === undefined || asked === "" ? {} : { requestBody: { required: true, content: asked } }),
      responses: {
        "200": { description: "The answer.", ...(Object.keys(content).length === 0 ? {} : { content }) },
        "4XX": failed("The request was refused, and why."),
        "5XX": failed("The server is full or stops (with retry-after), or failed."),
      },
    };
  };
}

/** A parameter in the query, a text unless a schema says otherwise. */
export function query(name: string, description: string, schema: TSchema = Type.String()): Parameter {
  return { name, in: "query", required: false, description, schema };
}

function json(name: string): Content {
  return { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } };
}

function text(type: string): Content {
  return { [type]: { schema: { type: "string" } } };
}
