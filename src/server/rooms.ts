import { Elysia } from "elysia";
import { errorResponse as anthropicError } from "../api/anthropic/error.ts";
import { anthropicDocument } from "../api/anthropic/operations.ts";
import { claims as anthropicClaims, anthropicRoutes } from "../api/anthropic/routes.ts";
import { ollamaRoom } from "../api/ollama/error.ts";
import { ollamaDocument } from "../api/ollama/operations.ts";
import { ollamaRoutes } from "../api/ollama/routes.ts";
import { openaiDocument } from "../api/openai/operations.ts";
import { openaiRoutes } from "../api/openai/routes.ts";
import { errorResponse } from "../api/openai-error.ts";
import type { RoomDocument } from "../api/operation.ts";
import { errorResponse as responsesError } from "../api/responses/error.ts";
import { responsesDocument } from "../api/responses/operations.ts";
import { claims as responsesClaims, responsesRoutes } from "../api/responses/routes.ts";
import type { Room } from "../api/room.ts";
import type { Service } from "../api/service.ts";

export type NamedRoom = Room & { readonly name: string };

/** In the order in which they are asked for a path; the last one takes what nobody claims. */
const rooms: readonly NamedRoom[] = [
  { name: "anthropic", claims: anthropicClaims, errorResponse: anthropicError },
  { name: "responses", claims: responsesClaims, errorResponse: responsesError },
  { name: "ollama", ...ollamaRoom },
  { name: "openai", claims: () => true, errorResponse },
];

/** The routes of every room. */
export function mountRooms(service: Service) {
  return new Elysia({ name: "rooms" })
    .use(anthropicRoutes(service))
    .use(responsesRoutes(service))
    .use(ollamaRoutes(service))
    .use(openaiRoutes(service));
}

/** What every room says of its routes. */
export const roomDocuments: readonly RoomDocument[] = [
  openaiDocument,
  responsesDocument,
  anthropicDocument,
  ollamaDocument,
];

/** Whose shape an answer on this path has, whatever happens to it. */
export function roomOf(path: string, headers: Headers): NamedRoom {
  const room = rooms.find((known) => known.claims(path, headers));
  if (room === undefined) throw new Error("the last room claims every path");
  return room;
}
