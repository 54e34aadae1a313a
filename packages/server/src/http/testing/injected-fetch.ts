import type { HttpServer } from "../deps.ts";

/** A `fetch` that reaches the HTTP server without a socket. Bodies are texts, as the REST client sends them. */
export function injected(server: HttpServer): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, { method = "GET", headers, body }) => {
    const { pathname, search } = new URL(url);
    const answer = await server.inject({
      method,
      url: `${pathname}${search}`,
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === "string" ? { body } : {}),
    });
    const answered = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined) answered.set(name, String(value));
    }
    const empty = answer.status === 204 || answer.status === 304;
    return new Response(empty ? null : new Uint8Array(answer.rawBody), {
      status: answer.status,
      headers: answered,
    });
  };
}
