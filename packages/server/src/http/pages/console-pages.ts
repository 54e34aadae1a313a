/** Serves the console: one page for all its addresses, and the files that the page names. */

import { randomBytes } from "node:crypto";
import { ApiError } from "@parley/schema";
import type { ConsoleAsset, ConsoleState } from "../deps.ts";
import type { Answer, HandlerDeps } from "../api/endpoint.ts";
import { html } from "./docs/html.ts";
import { notePage } from "./docs/page.ts";
import type { PlainRequest, PlainRoute } from "./plain-routes.ts";

/** A build takes about four seconds. Requests wait this long for it before they get a notice instead of the page. */
const BUILD_WAIT_MS = 10_000;
const RELOAD_SECONDS = 2;
/** Names of files contain the hash of their content: cached for one year, the most that browsers respect. */
const IMMUTABLE = "public, max-age=31536000, immutable";

/** Paths of the service, which are never console paths. */
const RESERVED_PATHS = new Set(["api", "assets", "docs", "healthz", "readyz", "metrics", "problems"]);

/** Whether a request without a route comes from a person who opened or reloaded a console path. */
export function isConsolePlace(method: string, path: string, accept: string): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  const first = path.split("/")[1] ?? "";
  return first !== "" && !RESERVED_PATHS.has(first) && /\btext\/html\b/i.test(accept);
}

/** What is requested at a path without a route; null where it is not a console path. */
export async function placeInConsole(
  deps: HandlerDeps,
  {
    method,
    path,
    accept = "",
  }: { readonly method: string; readonly path: string; readonly accept: string | undefined },
): Promise<Answer | null> {
  if (!isConsolePlace(method, path, accept)) return null;
  const answer = await consolePage(deps);
  return answer.status === 302 ? null : answer;
}

async function consolePage(deps: HandlerDeps): Promise<Answer> {
  const state = await deps.http.console.state(BUILD_WAIT_MS);
  if (state.kind === "ready") return page(state, deps.publicUrl());
  // Relative, so that it stays correct behind a proxy that adds a path.
  if (state.kind === "off") return { status: 302, headers: { location: "docs" }, body: null };
  if (state.kind === "building") {
    return note(
      "The console is being prepared",
      "It is built once, after the first start and after every change of its sources. This page opens it as soon as it is ready.",
      { refresh: String(RELOAD_SECONDS), "retry-after": String(RELOAD_SECONDS) },
    );
  }
  return note(
    "The console could not be built",
    `${state.reason} The service itself is running. Run \`npm run build:console\` to see the error, and then restart the service.`,
    {},
  );
}

function page({ html: source }: Extract<ConsoleState, { kind: "ready" }>, publicUrl: string): Answer {
  const nonce = randomBytes(16).toString("base64");
  const { pathname, origin, host, protocol } = new URL(publicUrl);
  const base = pathname.endsWith("/") ? pathname : `${pathname}/`;
  const body = source
    .replace('<base href="/" />', `<base href="${escaped(base)}" />`)
    .replace('nonce="" />', `nonce="${nonce}" />`);
  // The console may have been opened under another host name than the one in join URLs.
  const sockets = `${protocol === "https:" ? "wss" : "ws"}://${host}`;
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self' blob: ${origin} ${sockets}`,
    "media-src 'self' blob:",
    "worker-src 'self' blob:",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    status: 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy.join("; "),
      "permissions-policy":
        "microphone=(self), camera=(), geolocation=(), display-capture=(), payment=(), usb=()",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": "no-cache",
    },
    body,
  };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

function note(title: string, text: string, headers: Readonly<Record<string, string>>): Answer {
  const { html: body, contentSecurityPolicy } = notePage(title, html`<p>${text}</p>`);
  return {
    status: 503,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": contentSecurityPolicy,
      ...headers,
    },
    body,
  };
}

function assetAnswer(asset: ConsoleAsset, acceptEncoding: string): Answer {
  const coded = (["br", "gzip"] as const).find(
    (name) =>
      asset[name] !== null &&
      new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(?:\\.0*)?(?:,|$))`).test(acceptEncoding),
  );
  return {
    status: 200,
    headers: {
      "content-type": asset.contentType,
      "cache-control": IMMUTABLE,
      vary: "Accept-Encoding",
      ...(coded === undefined ? {} : { "content-encoding": coded }),
    },
    body: (coded === undefined ? null : asset[coded]) ?? asset.bytes,
  };
}

async function asset(deps: HandlerDeps, { params, headers }: PlainRequest): Promise<Answer> {
  const state = await deps.http.console.state(BUILD_WAIT_MS);
  const found = state.kind === "ready" ? state.assets.get(params["name"] ?? "") : undefined;
  if (found === undefined) throw new ApiError("not_found", "The console has no file of this name.");
  return assetAnswer(found, headers["accept-encoding"] ?? "");
}

export function consoleRoutes(deps: HandlerDeps): PlainRoute[] {
  const route = (path: string, frequent: boolean, answer: PlainRoute["answer"]): PlainRoute => ({
    method: "GET",
    maxBytes: 0,
    path,
    frequent,
    answer,
  });
  return [
    route("/", false, () => consolePage(deps)),
    // A page requests a dozen of them: logged at debug.
    route("/assets/{name}", true, (request) => asset(deps, request)),
  ];
}
