import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { findLocalServers } from "./deployment/local-servers.ts";
import { openListeningDetector } from "./engines.ts";
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
  const speaking = await serve(answering('{"data":[{"id":"kokoro"},{"id":"tts-1"}]}'));
  const several = await serve(answering('{"data":[{"id":"Systran/faster-whisper-small"},{"id":"qwen3"}]}'));
  const found = await findLocalServers([
    { name: "vLLM", port: hanging },
    { name: "Ollama", port },
    { name: "Kokoro", port: speaking },
    { name: "speaches", port: several },
  ]);
  const url = (at: number) => `http://127.0.0.1:${String(at)}/v1`;
  expect(found).toEqual([
    { name: "Ollama", baseUrl: url(port), engines: ["llm"], models: ["llama3.2:3b"] },
    { name: "Kokoro", baseUrl: url(speaking), engines: ["tts"], models: ["kokoro", "tts-1"] },
    {
      name: "speaches",
      baseUrl: url(several),
      engines: ["stt", "llm"],
      models: ["Systran/faster-whisper-small", "qwen3"],
    },
  ]);
});

it.each([
  ["nothing like a list of models", '{"data":"many"}', 200],
  ["an error", '{"data":[]}', 500],
  ["no JSON", "<html>", 200],
  ["a list without an end", `{"data":["${"x".repeat(1_000_001)}"]}`, 200],
])("offers nothing for %s", async (_what, body, status) => {
  const port = await serve(answering(body, status));
  expect(await findLocalServers([{ name: "vLLM", port }])).toEqual([]);
});

it("does not follow a server of this machine elsewhere", async () => {
  let asked = 0;
  const other = await serve((request, response) => {
    asked += 1;
    answering('{"data":[{"id":"m"}]}')(request, response);
  });
  const port = await serve((_request, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${String(other)}/v1/models` }).end();
  });
  expect(await findLocalServers([{ name: "vLLM", port }])).toEqual([]);
  expect(asked).toBe(0);
});

it("does not name a model whose name is more than a name", async () => {
  const port = await serve(answering('{"data":[{"id":"a b\\u001b[31m"}]}'));
  expect((await findLocalServers([{ name: "vLLM", port }]))[0]?.models).toEqual([]);
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
