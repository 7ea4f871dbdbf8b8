import type { Failure } from "../../generation/failure.ts";
import type { Request } from "../../generation/request.ts";
import { decodeService } from "../service-fixture.ts";
import { decodeChat } from "./decode.ts";

/** For tests: chat bodies, decoded. */
export const hello = [{ role: "user", content: "hello" }];
export const weather = {
  type: "function",
  function: { name: "weather", parameters: { type: "object", properties: {} } },
};
export const time = { type: "function", function: { name: "time" } };

export function decode(body: unknown, text = JSON.stringify(body), service = decodeService) {
  return decodeChat({ value: JSON.parse(text), text }, { id: "id", service });
}

export function requestOf(body: Record<string, unknown>): Request {
  const decoded = decode({ messages: hello, ...body });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.failure));
  return decoded.value.request;
}

export function failureOf(body: Record<string, unknown>): Failure {
  const decoded = decode({ messages: hello, ...body });
  if (decoded.ok) throw new Error("it was accepted");
  return decoded.failure;
}
