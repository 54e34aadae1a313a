import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { findLocalServer } from "./engines.ts";

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const answering =
  (body: string, status = 200): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(body);

it("offers a server of this machine that lists its models", async () => {
  const hanging = await serve(() => undefined);
  const port = await serve((request, response) => {
    if (request.url === "/v1/models") answering('{"data":[{"id":"llama3.2:3b"}]}')(request, response);
    else answering("{}", 404)(request, response);
  });
  expect(
    await findLocalServer([
      { name: "vLLM", port: hanging },
      { name: "Ollama", port },
    ]),
  ).toEqual({ name: "Ollama", baseUrl: `http://127.0.0.1:${String(port)}/v1`, model: "llama3.2:3b" });
});

it.each([
  ["nothing like a list of models", '{"data":"many"}', 200],
  ["an error", '{"data":[]}', 500],
  ["no JSON", "<html>", 200],
])("offers nothing for %s", async (_what, body, status) => {
  const port = await serve(answering(body, status));
  expect(await findLocalServer([{ name: "vLLM", port }])).toBeNull();
});

it("does not print a model name that is more than a name", async () => {
  const port = await serve(answering('{"data":[{"id":"a b\\u001b[31m"}]}'));
  expect((await findLocalServer([{ name: "vLLM", port }]))?.model).toBeNull();
});
