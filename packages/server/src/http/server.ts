/** The HTTP server. This file and `inject.ts` are the only ones that use Fastify. */

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ApiError, type RawQuery, ROUTE_NAMES, type Route, type RouteName, routeOf } from "@parley/schema";
import multipart from "@fastify/multipart";
import proxyAddr from "@fastify/proxy-addr";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { RecordingsUnavailable } from "../ports/recordings.ts";
import type { AuthenticatedKey } from "../store/database/api-key-cache.ts";
import { authentication, requireScope } from "./api/auth.ts";
import { type AuditedRequest, type RecordRefusal, recordRefusals } from "./api/audit.ts";
import { closeHttpServer } from "./shutdown.ts";
import type { HttpDeps, HttpServer } from "./deps.ts";
import { inject } from "./inject.ts";
import { joinAttempts, requestDurations } from "./api/http-metrics.ts";
import {
  type Answer,
  answerRoute,
  checkContentType,
  type Handler,
  type HandlerDeps,
} from "./api/endpoint.ts";
import {
  acceptedRequestId,
  announcesBody,
  CORS_HEADERS,
  loggedPath,
  readHeaders,
  SECURITY_HEADERS,
  STRICT_TRANSPORT,
} from "./api/headers.ts";
import { handlerDepsOf } from "./api/handler-deps.ts";
import { readForm } from "./api/forms.ts";
import { answerOnce } from "./api/idempotency.ts";
import { JoinSockets } from "./joins/join-sockets.ts";
import { MAX_BODY_BYTES } from "./api/json-body.ts";
import { KnownPaths, libraryPath } from "./api/known-paths.ts";
import { LargeBodies } from "./api/large-bodies.ts";
import { type PlainRoute, plainRoutes } from "./pages/plain-routes.ts";
import { sipLogRoute } from "./pages/sip-log-page.ts";
import { printedHost } from "./printed-host.ts";
import {
  brokenRequest,
  libraryFailure,
  problemAnswer,
  refuseConnection,
  toApiError,
} from "./api/problems.ts";
import { handlers } from "./routes/handlers.ts";
import { type BodyPace, LARGE_PACE, USUAL_PACE, watchPace } from "./api/slow-bodies.ts";
import { trustedBy } from "../net/trusted-proxies.ts";
import { limitConnections } from "./limit-connections.ts";
import { closeIfUnfinished } from "./api/unfinished-bodies.ts";
import { unknownRoute } from "./pages/unknown-route.ts";
import { RoomUpgrades } from "./joins/room-upgrades.ts";
import { webRtcRoutes } from "./joins/web-rtc.ts";
import { corpusUploadRoutes } from "./corpora/upload-addresses.ts";
import { carrierCallbackRoutes } from "./telephony/carrier-callbacks.ts";

/** From the first byte of a request to the last of its body, for every kind; see `slow-bodies.ts` for each. */
const REQUEST_TIMEOUT_MS = LARGE_PACE.totalMs + 30_000;
/** From connecting to the end of the headers. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Limit of open connections, calls included; new ones above it are dropped. Far below the usual open file limit. */
const MAX_CONNECTIONS = 10_000;
/** Longest path parameter; join tokens have at most 256 characters. */
const MAX_PARAM_LENGTH = 256;

/** The library passes it on to Node, but has no type for it. */
const REUSED = { reusePort: true };

declare module "fastify" {
  interface FastifyRequest {
    authenticatedKey: AuthenticatedKey | null;
  }
  interface FastifyContextConfig {
    routePath?: string;
    frequent?: boolean;
  }
}

/** State that the parts of the server share. */
interface ServerContext {
  readonly deps: HttpDeps;
  readonly handlerDeps: HandlerDeps;
  readonly app: FastifyInstance;
  readonly knownPaths: KnownPaths;
  readonly recordRefusal: RecordRefusal;
  readonly problem: (error: unknown, requestId: string) => ReturnType<typeof problemAnswer>;
}

export async function buildServer(deps: HttpDeps): Promise<HttpServer> {
  let draining = false;
  let port = deps.port;
  const publicUrl = (): string => deps.publicUrl ?? `http://${printedHost(deps.host)}:${port}`;
  const handlerDeps = handlerDepsOf(deps, { publicUrl, draining: () => draining });
  const problem: ServerContext["problem"] = (error, requestId) =>
    problemAnswer(toApiError(error), publicUrl(), requestId, deps.settings.apiNames);
  const app = createApp(deps, problem);
  const recordRefusal = recordRefusals(deps.store.db, deps.logger, deps.nowMs);
  const knownPaths = new KnownPaths();
  const context: ServerContext = { deps, handlerDeps, app, knownPaths, recordRefusal, problem };
  addHooks(context);
  // Parses forms only where a handler needs it; elsewhere their type is refused before any byte is read.
  await app.register(multipart, { throwFileSizeLimit: true });
  addApiRoutes(context);
  const joined = joinAttempts(deps.registry);
  const counted = (outcome: string): void => joined.inc({ outcome });
  const more = [
    ...webRtcRoutes(handlerDeps, counted),
    ...carrierCallbackRoutes(handlerDeps),
    ...corpusUploadRoutes(handlerDeps),
    sipLogRoute(handlerDeps),
  ];
  const uploads = new LargeBodies();
  for (const route of plainRoutes(handlerDeps, more)) addPlainRoute(context, route, uploads);
  const releaseConnection = limitConnections(app.server, deps);
  const joins = createJoins(context, counted, releaseConnection);
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
      await app.listen(listenOptions(deps));
      const address = app.server.address();
      if (typeof address === "object" && address !== null) port = address.port;
    },
    drain: () => {
      draining = true;
      joins.drain();
    },
    close: () => {
      draining = true;
      closing ??= closeHttpServer(app, joins);
      return closing;
    },
    inject: async (request) => inject(app, request),
  };
}

/**
 * With the port shared, the kernel gives each connection to one of the processes. A primary process that passes them on
 * would lose those on their way to a worker that has just died: their clients would wait without an answer.
 */
function listenOptions({ host, port, sharesPort }: HttpDeps): {
  readonly host: string;
  readonly port: number;
} {
  return sharesPort === true ? { host, port, ...REUSED } : { host, port };
}

function requestIdOf(request: IncomingMessage): string {
  return acceptedRequestId(request.headers["x-request-id"]) ?? randomUUID();
}

function createApp(deps: HttpDeps, problem: ServerContext["problem"]): FastifyInstance {
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
      // Offers of other protocols, such as h2c, are declined by answering the request without an upgrade.
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
      // Browsers open connections in advance. What is sent on one without a request would answer its next request.
      if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.bytesRead === 0) {
        socket.destroy();
        return;
      }
      const requestId = randomUUID();
      deps.logger.info({ requestId, code: error.code }, "a connection sent an invalid request");
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

function addHooks(context: ServerContext): void {
  const { app, deps } = context;
  const durations = requestDurations(deps.registry);
  app.decorateRequest("authenticatedKey", null);
  // Bodies are collected as bytes whatever their type; each route checks the type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.addHook("onRequest", async (request, reply) => {
    setCommonHeaders(deps, request, reply);
    // Answered here, so that no body is read for it.
    if (request.is404 && announcesBody(request.headers)) watchBody(context, reply, USUAL_PACE);
    if (request.is404) {
      const { method, url, headers, id } = request;
      await sendAnswer(reply, await unknownRoute(context, { method, url, headers, requestId: id }));
    }
  });
  app.addHook("onResponse", async (request, reply) => {
    closeIfUnfinished(request.raw);
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
      deps.logger.warn(fields, "a recording cannot be read from its store");
    }
    return sendAnswer(reply, context.problem(failure, request.id));
  });
}

function addApiRoutes(context: ServerContext): void {
  const { deps } = context;
  const authenticate = authentication({
    db: deps.store.db,
    rateLimitPerKey: deps.settings.rateLimitPerKey,
    rateLimitPerAccount: deps.settings.rateLimitPerAccount,
    share: deps.rateShare,
    nowMs: deps.nowMs,
  });
  const largeBodies = new LargeBodies();
  const admit = (name: RouteName, route: Route) => async (request: FastifyRequest, reply: FastifyReply) => {
    if (route.authenticated) {
      request.authenticatedKey = await authenticate({
        apiKey: request.headers["x-api-key"],
        unsafeApiKey: request.headers["x-unsafe-api-key"],
        clientAddress: request.ip,
      });
      const { authenticatedKey: key } = request;
      await context.recordRefusal(auditedOf(name, request), async () => requireScope(route, key));
    }
    if (announcesBody(request.headers)) {
      const { "content-length": contentLength } = request.headers;
      checkContentType(route, readHeaders(request.headers));
      const { maxBytes } = route.longList ?? route.upload ?? { maxBytes: 0 };
      const { accountId } = request.authenticatedKey ?? { accountId: request.ip };
      const exchange = { request: request.raw, answer: reply.raw };
      const isLarge = largeBodies.admit({ accountId, contentLength, maxBytes }, exchange);
      watchBody(context, reply, isLarge ? LARGE_PACE : USUAL_PACE);
    }
  };
  for (const name of ROUTE_NAMES) {
    const route = routeOf(name);
    context.knownPaths.add(route.path, route.method);
    context.app.route({
      method: route.method,
      url: libraryPath(route.path),
      config: { routePath: route.path },
      bodyLimit: route.longList?.maxBytes ?? MAX_BODY_BYTES,
      onRequest: admit(name, route),
      handler: async (request, reply) =>
        sendAnswer(reply, await largeBodies.during(request.raw, () => answerApi(context, name, request))),
    });
  }
}

/** A client that sends nothing cannot be waited for: the answer is sent at once, and the connection ends. */
function watchBody({ deps, problem }: ServerContext, { request, raw }: FastifyReply, pace: BodyPace): void {
  watchPace(request.raw, raw, pace, (error) => {
    deps.logger.info({ requestId: request.id, path: loggedPath(request.url) }, "a body came too slowly");
    refuseConnection(request.raw.socket, problem(error, request.id), request.id);
  });
}

/** Null where no key is needed. */
function auditedOf(
  name: RouteName,
  { authenticatedKey: key, params, ip, id }: FastifyRequest,
): AuditedRequest | null {
  const given = params as Readonly<Record<string, string>>;
  return key === null ? null : { name, key, params: given, clientAddress: ip, requestId: id };
}

async function answerApi(context: ServerContext, name: RouteName, request: FastifyRequest): Promise<Answer> {
  const route = routeOf(name);
  const raw = {
    params: request.params as Readonly<Record<string, string>>,
    query: request.query as RawQuery,
    rawQuery: request.url.split("?").slice(1).join("?"),
    ...readHeaders(request.headers),
    sent: { url: request.url, headers: request.headers },
    body: request.body instanceof Uint8Array ? request.body : null,
    upload: await readForm(route, request.headers["content-type"], (limits) => request.parts({ limits })),
    clientAddress: request.ip,
    requestId: request.id,
  };
  // The index type loses which handler belongs to which name.
  const handler = handlers[name] as unknown as Handler<RouteName>;
  const audited = auditedOf(name, request);
  const accountId = request.authenticatedKey?.accountId ?? null;
  const run = () => answerRoute(name, handler, raw, request.authenticatedKey, context.handlerDeps);
  const answer = () => context.recordRefusal(audited, run);
  const once = { route, accountId, key: request.headers["idempotency-key"], request: raw };
  const problem = (error: ApiError) => context.problem(error, request.id);
  return answerOnce(once, answer, { db: context.deps.store.db, logger: context.deps.logger, problem });
}

function addPlainRoute(context: ServerContext, route: PlainRoute, largeBodies: LargeBodies): void {
  const { admit } = route;
  const admitLarge = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { headers, url } = request;
    await admit?.({ params: request.params as Readonly<Record<string, string>>, headers });
    const size = { accountId: url, contentLength: headers["content-length"], maxBytes: route.maxBytes };
    const isLarge = largeBodies.admit(size, { request: request.raw, answer: reply.raw });
    watchBody(context, reply, isLarge ? LARGE_PACE : USUAL_PACE);
  };
  context.knownPaths.add(route.path, route.method);
  context.app.route({
    ...(admit === undefined ? {} : { onRequest: admitLarge }),
    method: route.method,
    url: libraryPath(route.path),
    config: { routePath: route.path, frequent: route.frequent },
    ...(route.maxBytes === 0 ? {} : { bodyLimit: route.maxBytes }),
    handler: async (request, reply) => {
      const { headers, url, id: requestId } = request;
      const params = request.params as Readonly<Record<string, string>>;
      const body = request.body instanceof Uint8Array ? request.body : null;
      const clientAddress = request.ip;
      const answer = () => route.answer({ params, headers, url, body, requestId, clientAddress });
      return sendAnswer(reply, await largeBodies.during(request.raw, answer));
    },
  });
}

function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  void reply.code(answer.status).headers(answer.headers);
  if (answer.body === null) return reply.send();
  // The library would add a charset to texts, which JSON types do not have.
  return reply.send(typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body);
}

function createJoins(
  { deps, handlerDeps, problem }: ServerContext,
  counted: (outcome: string) => void,
  connected: (socket: Duplex) => void,
): JoinSockets {
  const isTrusted = trustedBy(deps.settings.trustedProxies);
  // As `request.ip` of other requests. A socket that is closed by now has no address.
  const clientAddressOf = (request: IncomingMessage): string =>
    request.socket.remoteAddress === undefined ? "" : proxyAddr(request, isTrusted);
  const shared = { findJoin: handlerDeps.findJoin, clientAddressOf, connected, logger: deps.logger };
  return new JoinSockets({
    ...shared,
    rooms: new RoomUpgrades({ ...deps, ...shared, publicUrl: handlerDeps.publicUrl }),
    connectCall: deps.connectCall,
    requestIdOf,
    counted,
    refuse: (socket: Duplex, error, requestId) =>
      refuseConnection(socket, problem(error, requestId), requestId),
  });
}
