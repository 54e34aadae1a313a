/** Models of vendors, chosen by an alias, and a model that is given the caller's voice. With the whole service. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../src/config/config.ts";
import { openVendorLlm } from "../src/providers/llm-sdk/vendors.ts";
import { SUBJECTS, targetOf, type Subject } from "../src/providers/llm-sdk/testing/subjects.ts";
import { serveVendor, type WireAnswer } from "../src/providers/llm-sdk/testing/vendor-wire.ts";
import { openLocalServer, type LocalServer } from "../src/ports/testing/local-server.ts";
import { until } from "../src/runner/testing/call-client.ts";
import { HEARD, openFaultyEngines } from "./faulty-engines.ts";
import { openRunningService, USER_FIRST, type RunningService, type TestCall } from "./running-service.ts";

let service: RunningService;
const servers: LocalServer[] = [];

const ALIASES = { smart: "anthropic", ears: "compatible" } as const;

function subjectOf(vendor: string): Subject {
  const found = SUBJECTS.find((subject) => subject.vendor === vendor);
  if (found === undefined) throw new Error(`there is no ${vendor}`);
  return found;
}

const answer = (): WireAnswer => ({ texts: ["We open ", "at nine."], inputTokens: 50, outputTokens: 9 });

beforeAll(async () => {
  const opened = await Promise.all(
    Object.entries(ALIASES).map(async ([name, vendor]) => {
      const subject = subjectOf(vendor);
      const server = await openLocalServer(serveVendor(subject.wire, answer));
      servers.push(server);
      const target = targetOf(subject, server.baseUrl);
      return { name, server, target, engine: await openVendorLlm(target) };
    }),
  );
  const models = opened.map(({ name, target }) => ({ name, target: target.name }));
  service = await openRunningService(
    {
      aliases: { voices: [], models },
      vendorModels: opened.map(({ target }) => target),
      // The usual limits, which a busy machine reaches less often than the quick ones of tests of faults.
      turnTaking: loadConfig({}).turnTaking,
    },
    { ...openFaultyEngines(), vendorModels: opened.map(({ engine }) => engine) },
  );
});

afterAll(async () => {
  await service.close();
  await Promise.all(servers.map((server) => server.close()));
});

async function answered({ client }: TestCall): Promise<void> {
  const said = (): boolean =>
    client.of("transcript").some(({ final, text }) => final && text === "We open at nine.");
  await until(said, "the answer");
}

async function hangUp({ callId, client }: TestCall): Promise<void> {
  client.send({ type: "hang_up" });
  await service.ended(callId);
}

const requestsOf = (vendor: string): readonly string[] =>
  servers
    .flatMap(({ requests }) => requests.map(({ body }) => body))
    .filter((body) => body.includes(subjectOf(vendor).model));

test("an alias names a model of a vendor, which answers and counts", async () => {
  const call = await service.call({
    ...USER_FIRST,
    model: "smart",
    initialOutputMedium: "MESSAGE_MEDIUM_TEXT",
    systemPrompt: "You are Ada.",
  });
  call.client.send({ type: "user_text_message", text: "When do you open?", urgency: "immediate" });
  await answered(call);
  await hangUp(call);
  const { results } = await service.get<{ results: readonly Record<string, unknown>[] }>(
    `/api/calls/${call.callId}/stages`,
  );
  expect(results).toMatchObject([{ model: "smart", initialTokenCount: 50, latestTokenCount: 50 }]);
  expect(requestsOf("anthropic")[0]).toContain("When do you open?");
});

test("the names of all models are listed", async () => {
  const { results } = await service.get<{ results: readonly { readonly name: string }[] }>("/api/models");
  expect(results.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      "default",
      "smart",
      "ears",
      ...Object.values(ALIASES).map((vendor) => `${vendor}:${subjectOf(vendor).model}`),
    ]),
  );
});

test("a model that hears gets the voice, and the words are on record", async () => {
  const settings = { model: "ears", voice: "quick", systemPrompt: "You are Ada." };
  const call = await service.call({ ...USER_FIRST, ...settings });
  await call.client.say(1_000);
  await answered(call);
  await hangUp(call);
  const { results } = await service.get<{ results: readonly { role: string; text: string }[] }>(
    `/api/calls/${call.callId}/messages`,
  );
  expect(results.map(({ text }) => text)).toEqual([HEARD, "We open at nine."]);
  const bodies = requestsOf("compatible");
  expect(bodies.length).toBeGreaterThan(0);
  for (const body of bodies) {
    expect(body).toContain('"type":"input_audio"');
    expect(body).not.toContain(HEARD);
  }
});
