/** Runs one operation of the interface: from the parts of a request to an answer, without any HTTP library. */

import type { Readable } from "node:stream";
import {
  allows,
  ApiError,
  parseBody,
  parsePathParams,
  parseQuery,
  type FieldError,
  type RawQuery,
  renderAnswer,
  type Route,
  type RouteBody,
  type RouteForm,
  type RouteName,
  routeOf,
  type RouteParams,
  type RouteQuery,
  type Scope,
  validationError,
} from "@parley/schema";
import type { AuthenticatedKey } from "../../store/database/api-key-cache.ts";
import { isAudited, runChange, type RunChange } from "./audit.ts";
import type { CursorSigner } from "./cursor.ts";
import type { ConcurrencyLimit } from "../../pacing/concurrency-limit.ts";
import type { FindClientJoin } from "../joins/wrong-tokens.ts";
import type { HttpDeps } from "../deps.ts";
import type { CheckedReply } from "../telephony/wrong-signatures.ts";
import type { ReadHeaders } from "./headers.ts";
import { isJsonType, isStorable, parseJsonBody } from "./json-body.ts";
import { parseLongBody } from "./long-body.ts";
import type { OperatorCheck, PresentedOperatorKey } from "./operator.ts";
import type { ListRequest, PagedQuery } from "./paging.ts";
import type { LinkSigner } from "./signed-links.ts";

/** What handlers use: what `app` supplies, and what the server adds. */
export interface HandlerDeps {
  readonly http: HttpDeps;
  readonly cursors: CursorSigner;
  readonly sipLogLinks: LinkSigner;
  readonly publicUrl: () => string;
  readonly draining: () => boolean;
  readonly findJoin: FindClientJoin;
  /** Of all routes that carriers request. */
  readonly checkSigned: CheckedReply;
  readonly operator: OperatorCheck;
  /** By account. */
  readonly toolTests: ConcurrencyLimit;
  readonly sipChecks: ConcurrencyLimit;
}

export interface HandlerInput<N extends RouteName> {
  readonly accountId: string;
  /** The account of the request's key; empty where no key is needed. */
  readonly keyPrefix: string;
  readonly params: RouteParams<N>;
  readonly query: RouteQuery<N>;
  /** Undefined when the request is an upload. */
  readonly body: RouteBody<N>;
  /** The file of a form, where the route takes one and the request is a form. */
  readonly upload: Uint8Array | null;
  /** The texts beside that file, where the route takes some. */
  readonly form: RouteForm<N>;
  readonly accept: string;
  /** A valid header `traceparent` of the request. */
  readonly traceParent: string | undefined;
  /** What shows that the operator sends the request, where it does. */
  readonly operator: PresentedOperatorKey;
  /** Runs a change in a transaction, and records it in the audit log where the operation is recorded there. */
  readonly change: RunChange;
  /** The request as it was received, for signatures over all of it. */
  readonly received: ReceivedRequest;
  readonly clientAddress: string;
  /** For `pageAnswer`; its query is the parsed one. */
  readonly list: ListRequest;
}

/** What a sender has signed. */
export interface ReceivedRequest {
  /** Path and query. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Null: there is none. */
  readonly body: Uint8Array | null;
}

/** `json` is shaped by the response schema of its status; the other kinds are sent as they are. */
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

/** The type is complete: a route without its handler does not compile. */
export type Handlers = { readonly [N in RouteName]: Handler<N> };

/** The handlers of one part of the table. */
export type HandlersOf<Routes> = { readonly [N in keyof Routes & RouteName]: Handler<N> };

/** A request as every HTTP library can give it. */
export interface RawRequest extends ReadHeaders {
  readonly params: Readonly<Record<string, string>>;
  readonly query: RawQuery;
  readonly rawQuery: string;
  readonly sent: Pick<ReceivedRequest, "url" | "headers">;
  readonly body: Uint8Array | null;
  /** The parts of a form, when the body is one. */
  readonly upload: RawForm | null;
  readonly clientAddress: string;
  readonly requestId: string;
}

export interface RawForm {
  /** Null: the form has no part with the name that the route expects. */
  readonly file: Uint8Array | null;
  /** A name that occurs more than once has a list. */
  readonly texts: Readonly<Record<string, string | readonly string[]>>;
}

/** `multipart/form-data`, with any parameters. */
export function isFormType(contentType: string | undefined): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(contentType ?? "");
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | Readable | null;
}

/** Whether the request announces a body that this operation could not read. Throws ApiError (415). */
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

/** Answers one request of an authenticated client (null where the route needs no key). Throws every failure. */
export async function answerRoute<N extends RouteName>(
  name: N,
  handler: Handler<N>,
  request: RawRequest,
  key: AuthenticatedKey | null,
  deps: HandlerDeps,
): Promise<Answer> {
  const route = routeOf(name);
  const { ignoreUnknownFields, apiNames, checkResponses } = deps.http.settings;
  const params = parsePathParams(route.params, request.params) as RouteParams<N>;
  // Programs of the public service send parameters that it ignores.
  const lenient = ignoreUnknownFields || apiNames === "vendor";
  const query = parseQuery(route.query, request.query, { lenient }) as RouteQuery<N>;
  const body =
    request.upload === null ? await bodyOf(route, params, request.body, ignoreUnknownFields) : undefined;
  const accountId = key?.accountId ?? "";
  const list: ListRequest = {
    accountId,
    path: pathOf(route, params),
    rawQuery: request.rawQuery,
    query: query as PagedQuery,
    publicUrl: deps.publicUrl(),
    cursors: deps.cursors,
    headers: new Map(),
  };
  const { accept = "" } = request;
  const { file: upload, texts: form } = readForm<N>(route, request.upload, ignoreUnknownFields);
  const keyPrefix = key?.prefix ?? "";
  const given = { params, query, body: body as RouteBody<N>, upload, form };
  const { clientAddress, requestId, operatorKey = null, traceParent } = request;
  const audited = key !== null && isAudited(route) ? { name, key, params, clientAddress, requestId } : null;
  const change = runChange(deps.http.store.db, audited);
  const operator = { accountId, key: operatorKey, clientAddress };
  const received = { ...request.sent, body: request.body };
  const sender = { operator, traceParent, received, clientAddress };
  const input = { accountId, keyPrefix, ...given, ...sender, accept, change, list };
  const result = await handler(input, deps);
  if ("stream" in result) return { status: result.status, headers: result.headers, body: result.stream };
  if ("text" in result) return { status: result.status, headers: result.headers, body: result.text };
  const response = route.responses[result.status];
  if (response === undefined)
    throw new Error(`${name} answered with the undescribed status ${result.status}`);
  if (!("json" in result)) return { status: result.status, headers: {}, body: null };
  if (response.schema === null) throw new Error(`${name} has no schema for its answer`);
  const scopes = key?.scopes ?? null;
  const hasScope = (scope: Scope): boolean => allows(scopes, scope);
  const json = renderAnswer(response.schema, result.json, {
    names: apiNames,
    hasScope,
    check: checkResponses,
  });
  const headers = {
    ...Object.fromEntries(list.headers),
    ...result.headers,
    "content-type": "application/json",
  };
  return { status: result.status, headers, body: JSON.stringify(json) };
}

/** The schema of the body; null: the route takes none. */
function requestSchemaOf(
  { request, requestBy }: Route,
  params: Readonly<Record<string, string | number>>,
): Route["request"] {
  return requestBy?.schemas[params[requestBy.param] ?? ""] ?? request;
}

interface ReadForm<N extends RouteName> {
  readonly file: Uint8Array | null;
  readonly texts: RouteForm<N>;
}

/** Parses the form of a route that takes one; throws with all its problems at once. */
function readForm<N extends RouteName>(
  { upload }: Route,
  form: RawForm | null,
  lenient: boolean,
): ReadForm<N> {
  if (upload === null || form === null) return { file: null, texts: undefined as RouteForm<N> };
  const errors: FieldError[] =
    form.file === null ? [{ field: upload.field, message: "is required, as a file" }] : [];
  let texts: unknown;
  try {
    if (upload.texts !== undefined) texts = parseBody(upload.texts, form.texts, { lenient });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    errors.push(...error.errors);
  }
  if (errors.length > 0) throw validationError(errors);
  return { file: form.file, texts: texts as RouteForm<N> };
}

async function bodyOf(
  route: Route,
  params: Readonly<Record<string, string | number>>,
  given: Uint8Array | null,
  lenient: boolean,
): Promise<unknown> {
  const schema = requestSchemaOf(route, params);
  if (schema === null) return undefined;
  const bytes = given ?? new Uint8Array();
  const options = { lenient, partial: route.partial };
  if (route.longList !== null) return parseLongBody(route.longList, bytes, options);
  return parseBody(schema, parseJsonBody(bytes), { ...options, storable: isStorable(bytes) });
}

function pathOf(route: Route, params: Readonly<Record<string, string | number>>): string {
  const path = route.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ""),
  );
  return path.replace(/\/$/, "");
}
