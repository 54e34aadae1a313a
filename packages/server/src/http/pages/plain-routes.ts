/** Pages outside the interface: health, metrics, the reference page, explanations of problems. */

import type { IncomingHttpHeaders } from "node:http";
import { ApiError, type JsonObject, openApiDocument } from "@parley/schema";
import { consoleRoutes } from "./console-pages.ts";
import { html } from "./docs/html.ts";
import type { OpenApiDocument } from "./docs/open-api.ts";
import { notePage, referencePage } from "./docs/page.ts";
import { prose } from "./docs/schema-view.ts";
import type { Answer, HandlerDeps } from "../api/endpoint.ts";
import { allProblems, explainProblem } from "../api/problems.ts";
import { inTime } from "../../pacing/in-time.ts";

/** A database that does not answer within this time is not ready; load balancers poll every few seconds. */
const PING_TIMEOUT_MS = 2000;
const NOT_READY_RETRY_SECONDS = 2;

export interface PlainRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Includes the query. */
  readonly url: string;
  readonly body: Uint8Array | null;
  readonly requestId: string;
  readonly clientAddress: string;
}

export interface PlainRoute {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Limit of the body, which is read completely. */
  readonly maxBytes: number;
  /** Its parameters are written as `{code}`. */
  readonly path: string;
  /** Polled by machines every few seconds: logged at debug. */
  readonly frequent: boolean;
  /** Called before the body is read; it throws to refuse the request. Needed where the body may be large. */
  readonly admit?: (request: Pick<PlainRequest, "params" | "headers">) => Promise<void>;
  readonly answer: (request: PlainRequest) => Promise<Answer>;
}

function json(value: unknown): Answer {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

async function readiness(deps: HandlerDeps): Promise<Answer> {
  const waitsFor: string[] = deps.draining() ? ["the service is shutting down"] : [];
  if (!(await answersInTime(deps.http.store.ping))) waitsFor.push("the database does not answer");
  waitsFor.push(...deps.http.lostEngines());
  const degraded = deps.http.degradedParts();
  if (waitsFor.length === 0) return json({ status: "ready", ...(degraded.length > 0 ? { degraded } : {}) });
  throw new ApiError("no_capacity", `Not ready: ${waitsFor.join(", ")}.`, {
    retryAfterSeconds: NOT_READY_RETRY_SECONDS,
  });
}

async function answersInTime(ping: () => Promise<void>): Promise<boolean> {
  // A failed ping is the result of this check; the store logs its own failures.
  const answered = ping().then(
    () => true,
    () => false,
  );
  return (await inTime(answered, PING_TIMEOUT_MS)) ?? false;
}

const exampleTool = {
  name: "lookUpOrder",
  definition: {
    modelToolName: "lookUpOrder",
    description: "Looks up an order and tells when it arrives.",
    dynamicParameters: [
      {
        name: "orderId",
        location: "PARAMETER_LOCATION_PATH",
        schema: { type: "string", description: "The number on the receipt." },
        required: true,
      },
    ],
    http: { baseUrlPattern: "https://shop.example/orders/{orderId}", httpMethod: "GET" },
  },
} as const;

/** Bodies for the curl examples that show more than the required fields. */
export const EXAMPLE_BODIES = {
  createAgent: {
    name: "Concierge",
    callTemplate: {
      systemPrompt: "You are the concierge of a small hotel. Greet {{guest}} by name and answer briefly.",
      firstSpeakerSettings: { agent: { text: "Good evening. What can I do for you?" } },
      medium: { serverWebSocket: { inputSampleRate: 16000 } },
      recordingEnabled: true,
    },
  },
  updateAgent: { name: "Night concierge" },
  createAgentCall: { templateContext: { guest: "Ada" } },
  createCall: {
    systemPrompt: "You are a friendly voice assistant. Answer in one or two sentences.",
    medium: { serverWebSocket: { inputSampleRate: 16000, clientBufferSizeMs: 60 } },
  },
  sendDataMessage: { type: "user_text_message", text: "The guest has arrived at the desk." },
  createTool: exampleTool,
  replaceTool: exampleTool,
  testTool: { orderId: "A-1234" },
} as const;

function reference(deps: HandlerDeps): () => Answer {
  let made: Answer | null = null;
  let madeFor = "";
  return () => {
    const baseUrl = deps.publicUrl();
    if (made !== null && madeFor === baseUrl) return made;
    const { version, settings } = deps.http;
    const document: JsonObject = openApiDocument({ baseUrl, version, names: settings.apiNames });
    const page = referencePage(document as unknown as OpenApiDocument, {
      baseUrl,
      examples: EXAMPLE_BODIES,
      problems: allProblems(),
    });
    const headers = {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": page.contentSecurityPolicy,
      "cache-control": "no-cache",
    };
    made = { status: 200, headers, body: page.html };
    madeFor = baseUrl;
    return made;
  };
}

function explanation(code: string, accept: string): Answer {
  const found = explainProblem(code);
  if (found === null) throw new ApiError("not_found", "There is no problem code of this name.");
  if (!/\btext\/html\b/i.test(accept))
    return { ...json(found), headers: { ...json(found).headers, vary: "Accept" } };
  const page = notePage(
    found.title,
    html`<p><code>${found.code}</code>, status ${found.status}</p>
      <p>${prose(found.meaning)}</p>
      <p><a href="../docs#problem-${found.code}">All failures, and the reference</a></p>`,
  );
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": page.contentSecurityPolicy,
    vary: "Accept",
  };
  return { status: 200, headers, body: page.html };
}

function metricsAnswer(contentType: string, text: string | null): Answer {
  if (text !== null) return { status: 200, headers: { "content-type": contentType }, body: text };
  const detail = "The metrics of the other processes of this service cannot be read now.";
  throw new ApiError("no_capacity", detail, { retryAfterSeconds: NOT_READY_RETRY_SECONDS });
}

export function plainRoutes(deps: HandlerDeps, more: readonly PlainRoute[]): PlainRoute[] {
  const referenceAnswer = reference(deps);
  const { registry, readMetrics } = deps.http;
  const page = (path: string, answer: PlainRoute["answer"], frequent = false): PlainRoute => ({
    method: "GET",
    maxBytes: 0,
    path,
    frequent,
    answer,
  });
  return [
    // Before the join path of all media, which has the same form.
    ...more,
    ...consoleRoutes(deps),
    page("/docs", async () => referenceAnswer()),
    page("/favicon.ico", async () => ({ status: 204, headers: {}, body: null }), true),
    page("/problems/{code}", async ({ params, headers }) =>
      explanation(params["code"] ?? "", headers.accept ?? ""),
    ),
    page("/healthz", async () => json({ status: "alive" }), true),
    page("/readyz", async () => readiness(deps), true),
    page("/metrics", async () => metricsAnswer(registry.contentType, await readMetrics()), true),
    page("/calls/{call_id}/{medium}/{token}", async () => {
      throw new ApiError(
        "validation_failed",
        "A join URL is opened as a websocket, or sent an offer by POST where its medium is WebRTC.",
      );
    }),
  ];
}
