import { expect, test } from "vitest";
import { consultationTools, requestedConsultation } from "./consultation.ts";
import type { PriorCall } from "./prior-call.ts";

const prior = {
  settings: {
    medium: { sip: { incoming: {} } },
    recordingEnabled: true,
    callbacks: { ended: { url: "https://example.com" } },
    sharedSecrets: ["secret"],
    maxDuration: "3600s",
  },
  metadata: { customer: "1" },
  stageSettings: { systemPrompt: "Old.", model: "m", voice: "v", languageHint: "de", temperature: 0.5 },
  plans: null,
  messages: [{ role: "MESSAGE_ROLE_USER", text: "Hello." }],
} as unknown as PriorCall;

test("a consultation has the voice and the model of the call, and nothing else of it", () => {
  const { values, tools } = requestedConsultation(prior, { systemPrompt: "New.", maxDuration: "60s" });
  expect(values).toEqual({
    model: "m",
    voice: "v",
    languageHint: "de",
    temperature: 0.5,
    recordingEnabled: true,
    systemPrompt: "New.",
    maxDuration: "60s",
  });
  expect(tools).toEqual([]);
});

test("its tools run inside the service, and only the reason of a refusal is given by the model", () => {
  let id = 0;
  const tools = consultationTools({ callToken: "token", newId: () => String((id += 1)) });
  expect(tools.map(({ plan }) => [plan.name, plan.implementation, plan.dynamic])).toEqual([
    ["acceptTransfer", { kind: "builtIn", builtIn: "acceptTransfer" }, []],
    [
      "refuseTransfer",
      { kind: "builtIn", builtIn: "refuseTransfer" },
      [{ name: "reason", location: "body" }],
    ],
  ]);
  expect(new Set(tools.map(({ plan }) => plan.callToolId)).size).toBe(2);
});
