/** The HTTP door. This is the only file that knows Fastify. */

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ApiError, type RawQuery, ROUTE_NAMES, type Route, type RouteName, routeOf } from "@parley/schema";
import multipart from "@fastify/multipart";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { RecordingsUnavailable } from "../ports/recordings.ts";
import type { AuthenticatedKey } from "../store/api-keys.ts";
import { authentication } from "./auth.ts";
import { closeDoor } from "./close-door.ts";
import { placeInConsole } from "./console-pages.ts";
import { cursorSigner } from "./cursor.ts";
import type { HttpDeps, HttpServer, InjectRequest, InjectResponse } from "./deps.ts";
import { joinAttempts, requestDurations } from "./door-metrics.ts";
import {
  type Answer,
  answerRoute,
  checkContentType,
  type Handler,
  type HandlerDeps,
  isFormType,
  type RawForm,
} from "./endpoint.ts";
import {
  acceptedRequestId,
  announcesBody,
  CORS_HEADERS,
  loggedPath,
  preflightHeaders,
  SECURITY_HEADERS,
  STRICT_TRANSPORT,
} from "./headers.ts";
import { answerOnce } from "./idempotency.ts";
import { JoinSockets } from "./join-sockets.ts";
import { MAX_BODY_BYTES } from "./json-body.ts";
import { KnownPaths, libraryPath } from "./known-paths.ts";
import { LargeBodies } from "./large-bodies.ts";
import { type PlainRoute, plainRoutes } from "./plain.ts";
import { printedHost } from "./printed-host.ts";
import { brokenRequest, libraryFailure, problemAnswer, refuseConnection, toApiError } from "./problems.ts";
import { handlers } from "./routes/handlers.ts";
import { type BodyPace, LARGE_PACE, USUAL_PACE, watchPace } from "./slow-bodies.ts";
import { trustedBy } from "./trusted-proxies.ts";
import { webRtcRoutes } from "./web-rtc.ts";

/** From the first byte of a request to the last of its body, whatever its kind; see `slow-bodies.ts` for each. */
const REQUEST_TIMEOUT_MS = LARGE_PACE.totalMs + 30_000;
/** From connecting to the end of the headers. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Open connections, calls included; beyond it new ones are dropped, far below the usual limit of open files. */
const MAX_CONNECTIONS = 10_000;
/** Longest path parameter that is looked at; join tokens have at most 256 characters. */
const MAX_PARAM_LENGTH = 256;

declare module "fastify" {
  interface FastifyRequest {
    authenticatedKey: AuthenticatedKey | null;
  }
  interface FastifyContextConfig {
    routePath?: string;
    frequent?: boolean;
  }
}

/** The door's state that its parts share. */
interface Door {
  readonly deps: HttpDeps;
  readonly handlerDeps: HandlerDeps;
  readonly app: FastifyInstance;
  readonly knownPaths: KnownPaths;
  readonly problem: (error: unknown, requestId: string) => ReturnType<typeof problemAnswer>;
}

export async function buildServer(deps: HttpDeps): Promise<HttpServer> {
  let draining = false;
  let port = deps.port;
  const publicUrl = (): string => deps.publicUrl ?? `http://${printedHost(deps.host)}:${port}`;
  const handlerDeps: HandlerDeps = {
    http: deps,
    cursors: cursorSigner(deps.secretsKey),
    publicUrl,
    draining: () => draining,
  };
  const problem: Door["problem"] = (error, requestId) =>
    problemAnswer(toApiError(error), publicUrl(), requestId, deps.settings.apiNames);
  const app = createApp(deps, problem);
  const door: Door = { deps, handlerDeps, app, knownPaths: new KnownPaths(), problem };
  addHooks(door);
  // Reads forms only where a handler asks for it; elsewhere their type is refused before any byte is read.
  await app.register(multipart, { throwFileSizeLimit: true });
  addApiRoutes(door);
  const joined = joinAttempts(deps.registry);
  const counted = (outcome: string): void => joined.inc({ outcome });
  for (const route of plainRoutes(handlerDeps, webRtcRoutes(handlerDeps, counted)))
    addPlainRoute(door, route);
  const joins = createJoins(door, counted);
  joins.attach(app.server);
  await app.ready();

  let closing: Promise<void> | null = null;
  return {
    get publicUrl() {
      return publicUrl();
    },
    get port() {
      return port;
    },
    listen: async () => {
      await app.listen({ host: deps.host, port: deps.port });
      const address = app.server.address();
      if (typeof address === "object" && address !== null) port = address.port;
    },
    drain: () => {
      draining = true;
      joins.drain();
    },
    close: () => {
      draining = true;
      closing ??= closeDoor(app, joins);
      return closing;
    },
    inject: async (request) => inject(app, request),
  };
}

function requestIdOf(request: IncomingMessage): string {
  return acceptedRequestId(request.headers["x-request-id"]) ?? randomUUID();
}

function createApp(deps: HttpDeps, problem: Door["problem"]): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    genReqId: requestIdOf,
    trustProxy: trustedBy(deps.settings.trustedProxies),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true },
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      // Offers of other protocols, such as h2c, are declined by answering the request as it is.
      shouldUpgradeCallback: (request: IncomingMessage) => /^websocket$/i.test(request.headers.upgrade ?? ""),
    },
    frameworkErrors: (error, request, reply) => {
      deps.logger.info(
        { requestId: request.id, path: loggedPath(request.url), code: error.code },
        "request refused",
      );
      setCommonHeaders(deps, request, reply);
      const path = loggedPath(request.url);
      sendAnswer(reply, problem(new ApiError("not_found", `There is nothing at ${path}.`), request.id));
    },
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => {
      const requestId = randomUUID();
      deps.logger.info({ requestId, code: error.code }, "a connection sent no valid request");
      refuseConnection(socket, problem(brokenRequest(error.code), requestId), requestId);
    },
  }) as unknown as FastifyInstance;
  app.server.maxConnections = MAX_CONNECTIONS;
  return app;
}

function setCommonHeaders(deps: HttpDeps, request: FastifyRequest, reply: FastifyReply): void {
  void reply.headers(SECURITY_HEADERS).header("x-request-id", request.id);
  if (deps.publicUrl?.startsWith("https:") === true)
    void reply.header("strict-transport-security", STRICT_TRANSPORT);
  if (request.headers.origin !== undefined) void reply.headers(CORS_HEADERS);
}

function addHooks(door: Door): void {
  const { app, deps } = door;
  const durations = requestDurations(deps.registry);
  app.decorateRequest("authenticatedKey", null);
  // Bodies are collected as bytes whatever their type; what they may be is decided per route.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.addHook("onRequest", async (request, reply) => {
    setCommonHeaders(deps, request, reply);
    // Answered here, so that no body is read for it.
    if (request.is404 && announcesBody(request.headers)) watchBody(door, reply, USUAL_PACE);
    if (request.is404) await sendAnswer(reply, await unknownRoute(door, request));
  });
  app.addHook("onResponse", async (request, reply) => {
    const { routePath, frequent } = request.routeOptions.config;
    const route = routePath ?? "unknown";
    const status = reply.statusCode;
    durations.observe({ method: request.method, route, status }, reply.elapsedTime / 1000);
    const entry = {
      requestId: request.id,
      method: request.method,
      path: loggedPath(request.url),
      status,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...(request.authenticatedKey === null ? {} : { accountId: request.authenticatedKey.accountId }),
    };
    if (frequent === true) deps.logger.debug(entry, "request");
    else deps.logger.info(entry, "request");
  });
  app.setErrorHandler((error: Error & { code?: string }, request, reply) => {
    const failure = libraryFailure(error.code, request.routeOptions.bodyLimit) ?? toApiError(error);
    if (failure.code === "internal") {
      deps.logger.error(
        { err: error, requestId: request.id, path: loggedPath(request.url) },
        "a request failed",
      );
    }
    if (error instanceof RecordingsUnavailable) {
      const fields = { error: error.message, requestId: request.id, path: loggedPath(request.url) };
      deps.logger.warn(fields, "a recording cannot be had from its store");
    }
    return sendAnswer(reply, door.problem(failure, request.id));
  });
}

/** 404 for unknown paths, 405 for unknown methods, the answer to a browser's preflight, and places in the console. */
async function unknownRoute(door: Door, request: FastifyRequest): Promise<Answer> {
  const { deps, knownPaths, problem } = door;
  const path = request.url.split("?", 1)[0] ?? "";
  const methods = knownPaths.methodsOf(path);
  if (methods === null) {
    const page = await placeInConsole(door.handlerDeps, {
      method: request.method,
      path,
      accept: request.headers.accept,
    });
    return page ?? problem(new ApiError("not_found", `There is nothing at ${loggedPath(path)}.`), request.id);
  }
  const allow = methods.join(", ");
  if (request.method === "OPTIONS") {
    const cors = preflightHeaders(request.headers.origin, methods, deps.settings.allowedOrigins);
    return { status: 204, headers: { allow, ...cors }, body: null };
  }
  const answer = problem(new ApiError("method_not_allowed", `This path takes ${allow}.`), request.id);
  return { ...answer, headers: { ...answer.headers, allow } };
}

function addApiRoutes(door: Door): void {
  const { deps } = door;
  const authenticate = authentication({
    db: deps.store.db,
    rateLimitPerKey: deps.settings.rateLimitPerKey,
    rateLimitPerAccount: deps.settings.rateLimitPerAccount,
    nowMs: deps.nowMs,
  });
  const largeBodies = new LargeBodies();
  const admit = (route: Route) => async (request: FastifyRequest, reply: FastifyReply) => {
    if (route.authenticated) {
      request.authenticatedKey = await authenticate({
        apiKey: request.headers["x-api-key"],
        unsafeApiKey: request.headers["x-unsafe-api-key"],
        clientAddress: request.ip,
      });
    }
    if (announcesBody(request.headers)) {
      const { "content-length": contentLength } = request.headers;
      checkContentType(route, {
        contentType: request.headers["content-type"],
        contentEncoding: request.headers["content-encoding"],
      });
      const { maxBytes } = route.longList ?? route.upload ?? { maxBytes: 0 };
      const { accountId } = request.authenticatedKey ?? { accountId: request.ip };
      const exchange = { request: request.raw, answer: reply.raw };
      const isLarge = largeBodies.admit({ accountId, contentLength, maxBytes }, exchange);
      watchBody(door, reply, isLarge ? LARGE_PACE : USUAL_PACE);
    }
  };
  for (const name of ROUTE_NAMES) {
    const route = routeOf(name);
    door.knownPaths.add(route.path, route.method);
    door.app.route({
      method: route.method,
      url: libraryPath(route.path),
      config: { routePath: route.path },
      bodyLimit: route.longList?.maxBytes ?? MAX_BODY_BYTES,
      onRequest: admit(route),
      handler: async (request, reply) =>
        sendAnswer(reply, await largeBodies.during(request.raw, () => answerApi(door, name, request))),
    });
  }
}

/** Nothing can be awaited of a client that does not send: the answer goes out at once, and the connection ends. */
function watchBody({ deps, problem }: Door, { request, raw }: FastifyReply, pace: BodyPace): void {
  watchPace(request.raw, raw, pace, (error) => {
    deps.logger.info({ requestId: request.id, path: loggedPath(request.url) }, "a body came too slowly");
    refuseConnection(request.raw.socket, problem(error, request.id), request.id);
  });
}

/** Parts of a form that are looked at: one file, and little else. */
const MAX_FORM_FIELDS = 10;
/** Bytes of each text beside the file; longer ones are cut, and then too long for every field that there is. */
const MAX_FORM_TEXT_BYTES = 8192;

/** The file of a form and the texts beside it; null where none is taken or the body is no form. */
async function formOf({ upload }: Route, request: FastifyRequest): Promise<RawForm | null> {
  if (upload === null || !isFormType(request.headers["content-type"])) return null;
  const limits = {
    files: 1,
    fields: MAX_FORM_FIELDS,
    fileSize: upload.maxBytes,
    fieldSize: MAX_FORM_TEXT_BYTES,
  };
  let file: Uint8Array | null = null;
  const texts = new Map<string, string[]>();
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type === "file") {
        const bytes = await part.toBuffer();
        if (part.fieldname === upload.field) file = bytes;
      } else if (typeof part.value === "string") {
        texts.set(part.fieldname, [...(texts.get(part.fieldname) ?? []), part.value]);
      }
    }
  } catch (cause) {
    // The reader of forms names its limits by a code, and gives none to what is not a form.
    const known = libraryFailure((cause as { readonly code?: string }).code);
    throw known ?? new ApiError("validation_failed", "The body is not a valid form.", { cause });
  }
  const entries = [...texts].map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
  return { file, texts: Object.fromEntries(entries) as RawForm["texts"] };
}

async function answerApi(door: Door, name: RouteName, request: FastifyRequest): Promise<Answer> {
  const route = routeOf(name);
  const raw = {
    params: request.params as Readonly<Record<string, string>>,
    query: request.query as RawQuery,
    rawQuery: request.url.split("?").slice(1).join("?"),
    contentType: request.headers["content-type"],
    contentEncoding: request.headers["content-encoding"],
    accept: request.headers.accept,
    body: request.body instanceof Uint8Array ? request.body : null,
    upload: await formOf(route, request),
  };
  // The index type forgets which handler belongs to which name.
  const handler = handlers[name] as unknown as Handler<RouteName>;
  const answer = () => answerRoute(name, handler, raw, request.authenticatedKey, door.handlerDeps);
  const accountId = request.authenticatedKey?.accountId ?? null;
  const once = { route, accountId, key: request.headers["idempotency-key"], request: raw };
  const problem = (error: ApiError) => door.problem(error, request.id);
  return answerOnce(once, answer, { db: door.deps.store.db, logger: door.deps.logger, problem });
}

function addPlainRoute(door: Door, route: PlainRoute): void {
  door.knownPaths.add(route.path, route.method);
  door.app.route({
    method: route.method,
    url: libraryPath(route.path),
    config: { routePath: route.path, frequent: route.frequent },
    ...(route.maxBytes === 0 ? {} : { bodyLimit: route.maxBytes }),
    handler: async (request, reply) => {
      const { headers, url, id: requestId } = request;
      const params = request.params as Readonly<Record<string, string>>;
      const body = request.body instanceof Uint8Array ? request.body : null;
      return sendAnswer(reply, await route.answer({ params, headers, url, body, requestId }));
    },
  });
}

function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  void reply.code(answer.status).headers(answer.headers);
  if (answer.body === null) return reply.send();
  // To texts the library would add a charset, which JSON types do not have.
  return reply.send(typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body);
}

function createJoins({ deps, problem }: Door, counted: (outcome: string) => void): JoinSockets {
  return new JoinSockets({
    findJoin: deps.findJoin,
    connectCall: deps.connectCall,
    logger: deps.logger,
    requestIdOf,
    counted,
    refuse: (socket: Duplex, error, requestId) =>
      refuseConnection(socket, problem(error, requestId), requestId),
  });
}

async function inject(app: FastifyInstance, request: InjectRequest): Promise<InjectResponse> {
  const response = await app.inject({
    method: request.method as "GET",
    url: request.url,
    ...(request.headers === undefined ? {} : { headers: { ...request.headers } }),
    ...(request.body === undefined ? {} : { payload: request.body }),
    ...(request.remoteAddress === undefined ? {} : { remoteAddress: request.remoteAddress }),
  });
  return {
    status: response.statusCode,
    headers: response.headers,
    body: response.body,
    rawBody: response.rawPayload,
  };
}
