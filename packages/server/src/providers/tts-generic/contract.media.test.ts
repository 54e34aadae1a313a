/** What is sent to the server of a generic voice, and how its answers are read, against the contract and its page. */

import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { readAllowedTargets } from "../../net/address-filter.ts";
import { openGuardedClient } from "../../net/guarded-fetch.ts";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { openLocalServer, type LocalHandler, type LocalServer } from "../../ports/testing/local-server.ts";
import { renamedFields } from "../../ports/testing/renamed-fields.ts";
import { answerKind } from "./answer-kind.ts";
import {
  ANSWER_TYPES,
  DEFAULT_RATE_HZ,
  DEFAULT_WORDS_PER_MINUTE,
  DefaultRequest,
  JsonAnswer,
  RequestHeaders,
} from "./contract.ts";
import { openGenericVoice } from "./tts-generic.ts";

const page = readFileSync(new URL("../../../../../docs/providers.md", import.meta.url), "utf8");
const [, section = ""] = page.split("### Any HTTP server");

const servers: LocalServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));

const provider = openGenericVoice({
  client: openGuardedClient({ allowed: readAllowedTargets("127.0.0.1") }),
});
afterAll(() => provider.close());

const second = Buffer.from(new Int16Array(DEFAULT_RATE_HZ).fill(9_000).buffer);

async function say(handler: LocalHandler, fields: object = {}) {
  const server = await openLocalServer(handler);
  servers.push(server);
  const voice = { url: `${server.baseUrl}/speak`, ...fields };
  const speech = {
    voice,
    text: "One two three.",
    language: null,
    key: "",
    sampleRateHz: 24_000,
    mediaHz: 24_000,
  };
  const found = await collect(provider.synthesize(speech as never, neverAborted()));
  return { ...found, request: server.requests[0] };
}

describe("the contract of a generic voice", () => {
  it("has all that is sent", async () => {
    const { request, error, parts } = await say((_request, response) => {
      response.writeHead(200, { "content-type": "audio/l16" }).end(second);
    });
    expect(error).toBeNull();
    const body: unknown = JSON.parse(request?.body ?? "");
    expect(DefaultRequest.parse(body)).toEqual({ text: "One two three." });
    for (const { document } of renamedFields(body, new Set()))
      expect(DefaultRequest.safeParse(document).success).toBe(false);
    RequestHeaders.parse(request?.headers);
    expect(parts.find(({ type }) => type === "audio")).toMatchObject({ sampleRateHz: DEFAULT_RATE_HZ });
    const words = parts.flatMap((part) => (part.type === "word" ? [part.atMs] : []));
    expect(words[1]).toBe(60_000 / DEFAULT_WORDS_PER_MINUTE);
  });

  it("has the JSON that is read, and a field with another name is an error", async () => {
    const document = JsonAnswer.parse({ audio: second.toString("base64") });
    const answering =
      (body: unknown): LocalHandler =>
      (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
      };
    expect((await say(answering(document), { jsonAudioFieldPath: "audio" })).error).toBeNull();
    for (const { document: changed } of renamedFields(document, new Set()))
      expect((await say(answering(changed), { jsonAudioFieldPath: "audio" })).error?.message).toContain(
        "no audio",
      );
  });

  it.each(Object.entries(ANSWER_TYPES))("reads %s as %s, and the page says so", (type, kind) => {
    expect(answerKind({ url: "http://localhost/" }, type).kind).toBe(kind);
    expect(section).toContain(`\`${type}\``);
  });
});
