/** The console: one page for all its addresses, and the files that the page names. */

import { randomBytes } from "node:crypto";
import { ApiError } from "@parley/schema";
import type { ConsoleAsset, ConsoleState } from "./deps.ts";
import type { Answer, HandlerDeps } from "./endpoint.ts";
import { html } from "./docs/html.ts";
import { notePage } from "./docs/page.ts";
import type { PlainRequest, PlainRoute } from "./plain.ts";

/** A build takes about four seconds; whoever comes earlier sees the page's own wait instead of a note for so long. */
const BUILD_WAIT_MS = 10_000;
const RELOAD_SECONDS = 2;
/** Names of files carry the hash of their content: one year, the most that is heeded. */
const FOR_EVER = "public, max-age=31536000, immutable";

/** What belongs to the service and is never a place in the console. */
const OWN_PLACES = new Set(["api", "assets", "docs", "healthz", "readyz", "metrics", "problems"]);

/** Whether a request that no route takes is a person's who opened or reloaded a place in the console. */
export function isConsolePlace(method: string, path: string, accept: string): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  const first = path.split("/")[1] ?? "";
  return first !== "" && !OWN_PLACES.has(first) && /\btext\/html\b/i.test(accept);
}

/** What is requested at a path that no route takes; null where that is no place in the console. */
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
  // Relative, so that it stays right behind a proxy that adds a path.
  if (state.kind === "off") return { status: 302, headers: { location: "docs" }, body: null };
  if (state.kind === "building") {
    return note(
      "The console is being prepared",
      "It is built once, after the first start and after every change of its sources. This page opens it as soon as it is there.",
      { refresh: String(RELOAD_SECONDS), "retry-after": String(RELOAD_SECONDS) },
    );
  }
  return note(
    "The console could not be built",
    `${state.reason} The service itself runs. \`npm run build:console\` says more; the service is then to be started again.`,
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
  // The console may have been opened under another name of the service than the one that join URLs are made with.
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
      "cache-control": FOR_EVER,
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
    // A page asks for a dozen of them: logged at debug.
    route("/assets/{name}", true, (request) => asset(deps, request)),
  ];
}
