/** `npm run talk` calls the service that `URL` names, as the shell of docs/getting-started.md exports it. */

import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("../demo/talk.ts", import.meta.url));
const CLIP = fileURLToPath(new URL("../../../fixtures/speech/goforward.wav", import.meta.url));

test("calls the agent at URL, and prints the refusal of the service", async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method ?? ""} ${request.url ?? ""}`);
    response.writeHead(404, { "content-type": "application/problem+json" });
    response.end(JSON.stringify({ detail: "There is no such agent." }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, URL: `http://127.0.0.1:${String(port)}/`, API_KEY: "testtest.key" };
  const run = promisify(execFile)(process.execPath, [PROGRAM, "agent-1", CLIP], { env });
  await expect(run).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There is no such agent."),
  });
  expect(asked).toEqual(["POST /api/agents/agent-1/calls"]);
  await new Promise((resolve) => server.close(resolve));
});

test("says in the usage which variables it reads", async () => {
  const run = promisify(execFile)(process.execPath, [PROGRAM], { env: { ...process.env, API_KEY: "" } });
  await expect(run).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(/API_KEY.*URL/) });
});
