/** Answers requests for which there is no route. */

import type { IncomingHttpHeaders } from "node:http";
import { ApiError } from "@parley/schema";
import type { Answer, HandlerDeps } from "../api/endpoint.ts";
import { loggedPath, preflightHeaders } from "../api/headers.ts";
import type { KnownPaths } from "../api/known-paths.ts";
import type { HttpDeps } from "../deps.ts";
import { placeInConsole } from "./console-pages.ts";

export interface UnknownRouteDeps {
  readonly deps: Pick<HttpDeps, "settings">;
  readonly handlerDeps: HandlerDeps;
  readonly knownPaths: KnownPaths;
  readonly problem: (error: unknown, requestId: string) => Answer;
}

export interface UnroutedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
}

/** 404 for unknown paths, 405 for unknown methods, answers to the preflights of browsers, and console paths. */
export async function unknownRoute(
  { deps, handlerDeps, knownPaths, problem }: UnknownRouteDeps,
  { method, url, headers, requestId }: UnroutedRequest,
): Promise<Answer> {
  const path = url.split("?", 1)[0] ?? "";
  const methods = knownPaths.methodsOf(path);
  if (methods === null) {
    const page = await placeInConsole(handlerDeps, { method, path, accept: headers.accept });
    return page ?? problem(new ApiError("not_found", `There is nothing at ${loggedPath(path)}.`), requestId);
  }
  const allow = methods.join(", ");
  if (method === "OPTIONS") {
    const cors = preflightHeaders(headers.origin, methods, deps.settings.allowedOrigins);
    return { status: 204, headers: { allow, ...cors }, body: null };
  }
  const answer = problem(new ApiError("method_not_allowed", `This path takes ${allow}.`), requestId);
  return { ...answer, headers: { ...answer.headers, allow } };
}
