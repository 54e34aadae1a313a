/** Answers requests without a socket, for tests. */

import type { FastifyInstance } from "fastify";
import type { InjectRequest, InjectResponse } from "./deps.ts";

export async function inject(app: FastifyInstance, request: InjectRequest): Promise<InjectResponse> {
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
