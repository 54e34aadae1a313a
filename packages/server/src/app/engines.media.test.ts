import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { findLocalServer, openListeningDetector } from "./engines.ts";
import { standInModel } from "../providers/turn-smart/testing/stand-in-model.ts";

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

it.each([
  ["not there", false, null, ["info: ", "from the words only; put a Smart Turn v3 model at"]],
  ["named and not there", true, null, ["warn: ", "SMART_TURN_MODEL names no file"]],
  ["not a model", false, Buffer.from("hello"), ["warn: ", "cannot be used"]],
  ["empty", true, Buffer.alloc(0), ["warn: ", "cannot be used", "empty"]],
  ["a model", false, standInModel(), ["info: ", "Smart Turn v3", "estimates from the audio"]],
] as const)("says one line of an audio turn model that is %s", async (_kind, isNamed, bytes, parts) => {
  const path = join(mkdtempSync(join(tmpdir(), "engines-")), "smart-turn-v3.onnx");
  if (bytes !== null) writeFileSync(path, bytes);
  const lines: string[] = [];
  const detector = await openListeningDetector(
    { path, isNamed },
    {
      info: (line: unknown) => void lines.push(`info: ${String(line)}`),
      warn: (line: unknown) => void lines.push(`warn: ${String(line)}`),
    },
  );
  expect(lines).toHaveLength(1);
  for (const part of parts) expect(lines[0]).toContain(part);
  expect(detector?.name ?? null).toBe(parts[1] === "Smart Turn v3" ? "audio" : null);
  await detector?.close();
});
