import { Elysia } from "elysia";
import { greeting } from "../api/ollama/routes.ts";
import { errorResponse } from "../api/openai-error.ts";
import type { Service } from "../api/service.ts";
import { product } from "../config.ts";
import { meterAnswers } from "./answer-meter.ts";
import type { HttpMeter } from "./http-meter.ts";
import { engineMetrics, processMetrics } from "./metrics.ts";
import { openapiDocument } from "./openapi.ts";
import { healthPaths, ownDocument } from "./own-routes.ts";
import { prometheusType } from "./prometheus.ts";
import { mountRooms, roomDocuments } from "./rooms.ts";

/** All routes: every room's, and the server's own for health, metrics and the description of them all. What a route throws is thrown. */
export function createApp(
  service: Service,
  { meter, open, stopping }: { readonly meter: HttpMeter; readonly open: boolean; readonly stopping: () => boolean },
) {
  const answers = meterAnswers(service);
  const health = ({ path, request }: { readonly path: string; readonly request: Request }) => {
    if (stopping()) return errorResponse({ kind: "overloaded", message: "The server is stopping." });
    return (path === "/" ? greeting(request.headers) : undefined) ?? Response.json({ status: "ok" });
  };
  const metrics = () => engineMetrics(service.status()) + answers.text() + meter.text() + processMetrics();

  const app = new Elysia({ normalize: false })
    .onError(({ error }) => {
      throw error;
    })
    .get("/metrics", () => new Response(metrics(), { headers: { "content-type": prometheusType } }))
    .get("/openapi.json", () => Response.json(document))
    .use(mountRooms(answers.service));
  for (const path of healthPaths) app.get(path, health);
  const document = openapiDocument(app.routes, [ownDocument, ...roomDocuments], { version: product.version, open });
  return app;
}
