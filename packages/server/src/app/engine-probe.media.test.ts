import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { probeEngines, probeFallbacks } from "./engine-probe.ts";

let server: Server;
let baseUrl = "";

/** The first part of the path says how the server answers. */
beforeAll(async () => {
  server = createServer((request, response) => {
    const [, how = ""] = (request.url ?? "").split("/");
    if (how === "closed") {
      request.socket.destroy();
      return;
    }
    const isAllowed = how !== "locked" || request.headers.authorization === "Bearer right";
    response.statusCode = how === "old" ? 404 : isAllowed ? 200 : 401;
    const models = { data: [{ id: "llama3:latest" }, { id: "other\u001b[2J" }] };
    response.end(how === "page" ? "<html></html>" : JSON.stringify(models));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const none = { source: "built_in", target: null } as const;

async function warningsOf(
  how: string,
  model = "llama3",
  apiKey: string | null = null,
  source: "environment" | "stored" = "environment",
): Promise<string[]> {
  const warnings: string[] = [];
  const logger = { warn: (text: string) => warnings.push(text) } as unknown as Parameters<
    typeof probeEngines
  >[1];
  const target = { baseUrl: `${baseUrl}/${how}`, apiKey, model, voice: null };
  const chosen = { llm: { source, target }, stt: none, tts: none };
  const problems = await probeEngines(chosen, logger, new AbortController().signal);
  expect(warnings).toEqual(problems.llm === null ? [] : [`model: ${problems.llm}`]);
  return warnings.map((text) => text.replace(baseUrl, "URL"));
}

it.each([
  ["good", "llama3", null, []],
  [
    "good",
    "llama9",
    null,
    ["model: URL/good does not list the model llama9: check LLM_MODEL (it lists llama3:latest)"],
  ],
  ["locked", "llama3", "right", []],
  ["locked", "llama3", "wrong", ["model: URL/locked does not accept the key (HTTP 401)"]],
  ["locked", "llama3", null, ["model: URL/locked wants a key: set LLM_API_KEY (HTTP 401)"]],
  ["old", "llama3", null, []],
  ["page", "llama3", null, ["model: URL/page does not answer like a model server: check LLM_BASE_URL"]],
])("a server that is %s, asked for %s with key %s", async (how, model, apiKey, warnings) => {
  expect(await warningsOf(how, model, apiKey)).toEqual(warnings);
});

it("says that a server cannot be reached", async () => {
  const [warning] = await warningsOf("closed");
  expect(warning).toMatch(/^model: URL\/closed cannot be reached \(\w+\): check LLM_BASE_URL$/);
});

it("names what is stored where that has chosen the server", async () => {
  expect([
    ...(await warningsOf("good", "llama9", null, "stored")),
    ...(await warningsOf("locked", "llama3", null, "stored")),
    ...(await warningsOf("page", "llama3", null, "stored")),
  ]).toEqual([
    "model: URL/good does not list the model llama9: check the stored model (it lists llama3:latest)",
    "model: URL/locked wants a key: store one (HTTP 401)",
    "model: URL/page does not answer like a model server: check the stored address",
  ]);
});

it("asks those that take over, and names them", async () => {
  const warnings: string[] = [];
  const logger = { warn: (text: string) => warnings.push(text) } as unknown as Parameters<
    typeof probeEngines
  >[1];
  const at = (how: string) => ({ baseUrl: `${baseUrl}/${how}`, apiKey: null, model: "llama3", voice: null });
  const vendor = { vendor: "groq", aws: null, region: null, takesAudio: false } as const;
  const found = await probeFallbacks(
    {
      stt: [{ kind: "built_in", name: "offline" }],
      llm: [
        { kind: "openai", name: "good", ...at("good") },
        { kind: "openai", name: "closed", ...at("closed") },
        { kind: "sdk", name: "g", target: { ...vendor, ...at("locked"), name: "groq:x" } },
        {
          kind: "sdk",
          name: "a",
          target: { ...vendor, ...at("locked"), name: "anthropic:x", vendor: "anthropic" },
        },
      ],
      tts: [],
    },
    logger,
    new AbortController().signal,
  );
  expect([...found.llm.keys()].toSorted()).toEqual(["closed", "g"]);
  expect([found.stt.size, found.tts.size]).toEqual([0, 0]);
  expect(found.llm.get("g")).toContain("wants a key: give it a key (HTTP 401)");
  expect(warnings.toSorted()[0]).toMatch(
    /^model: closed, which is to take over: .+ cannot be reached \(\w+\): check its address$/,
  );
  expect(warnings).toHaveLength(2);
});
