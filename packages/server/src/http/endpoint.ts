/** One operation of the interface, from the parts of a request to an answer, without any HTTP library. */

import type { Readable } from "node:stream";
import {
  ApiError,
  parseBody,
  parsePathParams,
  parseQuery,
  type RawQuery,
  renderAnswer,
  type Route,
  type RouteBody,
  type RouteName,
  routeOf,
  type RouteParams,
  type RouteQuery,
} from "@parley/schema";
import type { AuthenticatedKey } from "../store/api-keys.ts";
import type { CursorSigner } from "./cursor.ts";
import type { HttpDeps } from "./deps.ts";
import { isJsonType, parseJsonBody } from "./json-body.ts";
import type { ListRequest, PagedQuery } from "./paging.ts";

/** What handlers work with: what `main.ts` gave, and what the door made of it. */
export interface HandlerDeps {
  readonly http: HttpDeps;
  readonly cursors: CursorSigner;
  readonly publicUrl: () => string;
  readonly draining: () => boolean;
}

export interface HandlerInput<N extends RouteName> {
  readonly accountId: string;
  readonly params: RouteParams<N>;
  readonly query: RouteQuery<N>;
  /** Undefined beside an upload. */
  readonly body: RouteBody<N>;
  /** The file of a form, where the route takes one and the request is one. */
  readonly upload: Uint8Array | null;
  readonly accept: string;
  /** For `pageAnswer`; its query is the parsed one. */
  readonly list: ListRequest;
}

/** `json` is shaped by the response schema of its status; the other kinds go out as they are. */
export type HandlerResult =
  | { readonly status: number; readonly json: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly status: number }
  | { readonly status: number; readonly text: string; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly status: number;
      readonly stream: Readable;
      readonly headers: Readonly<Record<string, string>>;
    };

export type Handler<N extends RouteName> = (
  input: HandlerInput<N>,
  deps: HandlerDeps,
) => Promise<HandlerResult>;

/** Complete: a route without its handler does not compile. */
export type Handlers = { readonly [N in RouteName]: Handler<N> };

/** A request as every HTTP library can give it. */
export interface RawRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: RawQuery;
  readonly rawQuery: string;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly accept: string | undefined;
  readonly body: Uint8Array | null;
  /** The file of a form that came instead of a body. */
  readonly upload: Uint8Array | null;
}

/** `multipart/form-data`, with any parameters. */
export function isFormType(contentType: string | undefined): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(contentType ?? "");
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable | null;
}

/** Whether a body is announced that this operation could not read. Throws ApiError (415). */
export function checkContentType(
  route: Route,
  request: Pick<RawRequest, "contentType" | "contentEncoding">,
): void {
  if (route.request === null) return;
  const { contentType, contentEncoding } = request;
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== "identity") {
    throw new ApiError("unsupported_media_type", "The body must not be compressed.");
  }
  if (route.upload !== null && isFormType(contentType)) return;
  if (contentType === undefined || !isJsonType(contentType)) {
    throw new ApiError("unsupported_media_type", "The body must be JSON, sent as application/json.");
  }
}

/** Answers one request of an authenticated client (null where the route needs no key). Throws what goes wrong. */
export async function answerRoute<N extends RouteName>(
  name: N,
  handler: Handler<N>,
  request: RawRequest,
  key: AuthenticatedKey | null,
  deps: HandlerDeps,
): Promise<Answer> {
  const route = routeOf(name);
  const { lenientFields, apiNames, checkResponses } = deps.http.settings;
  const params = parsePathParams(route.params, request.params) as RouteParams<N>;
  const query = parseQuery(route.query, request.query, { lenient: lenientFields }) as RouteQuery<N>;
  const body =
    route.request === null || request.upload !== null
      ? undefined
      : parseBody(route.request, parseJsonBody(request.body ?? new Uint8Array()), {
          lenient: lenientFields,
          partial: route.partial,
        });
  const accountId = key?.accountId ?? "";
  const list: ListRequest = {
    accountId,
    path: pathOf(route, params),
    rawQuery: request.rawQuery,
    query: query as PagedQuery,
    publicUrl: deps.publicUrl(),
    cursors: deps.cursors,
  };
  const { accept = "", upload } = request;
  const input = { accountId, params, query, body: body as RouteBody<N>, upload, accept, list };
  const result = await handler(input, deps);
  if ("stream" in result) return { status: result.status, headers: result.headers, body: result.stream };
  if ("text" in result) return { status: result.status, headers: result.headers, body: result.text };
  const response = route.responses[result.status];
  if (response === undefined)
    throw new Error(`${name} answered with the undescribed status ${result.status}`);
  if (!("json" in result)) return { status: result.status, headers: {}, body: null };
  if (response.schema === null) throw new Error(`${name} has no schema for its answer`);
  const json = renderAnswer(response.schema, result.json, { names: apiNames, check: checkResponses });
  const headers = { ...result.headers, "content-type": "application/json" };
  return { status: result.status, headers, body: JSON.stringify(json) };
}

function pathOf(route: Route, params: Readonly<Record<string, string>>): string {
  const path = route.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ""),
  );
  return path.replace(/\/$/, "");
}
