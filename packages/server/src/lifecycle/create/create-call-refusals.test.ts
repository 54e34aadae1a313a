import { VOICE_PROVIDERS } from "@parley/schema";
import { describe, expect, test } from "vitest";
import type { OwnVoice, VoiceKeys } from "../../plan/availability.ts";
import type { CreateCallInput, NotCreated } from "../api.ts";
import { refusal, setUp } from "./testing/call-creation.ts";

describe("refusals", () => {
  test.each<[object, string[]]>([
    [{ voice: "Mark" }, ["voice"]],
    [{ model: "ultravox" }, ["model"]],
    [{ voice: "alba", voiceOverrides: { provider1: { speed: 1.1 } } }, ["voiceOverrides.provider1"]],
    [{ externalVoice: { provider2: { voiceId: "x" } } }, ["externalVoice.provider2"]],
    [
      { selectedTools: [{ toolName: "hangUp" }, { toolId: "00000000-0000-4000-8000-000000000000" }] },
      ["selectedTools.1.toolId"],
    ],
    [
      { voice: "x", model: "y", selectedTools: [{ toolName: "z" }], medium: { webRtc: {} } },
      ["model", "voice", "selectedTools.0.toolName"],
    ],
  ])("400 for %o", async (request, fields) => {
    const { call, stored } = setUp();
    const error = await refusal(call(request));
    expect(error.kind).toBe("refused");
    expect(error.errors.map(({ field }) => field)).toEqual(fields);
    expect(stored).toEqual([]);
  });

  const ada = "99999999-9999-4999-8999-999999999999";
  const own = (kind: OwnVoice["kind"], name = "ada", voiceId = ada): OwnVoice => ({
    voiceId,
    name,
    kind,
    definition: kind === "provider1" ? { provider1: {} } : { generic: { url: "https://tts.example" } },
  });
  const keysOf = (kinds: readonly string[]): VoiceKeys =>
    new Map(VOICE_PROVIDERS.filter((kind) => kinds.includes(kind)).map((kind) => [kind, "account"]));

  test.each<[string, object, readonly OwnVoice[], readonly string[], string]>([
    [
      "two own voices of one name",
      { voice: "ada" },
      [own("provider1"), own("provider2", "ada", "88888888-8888-4888-8888-888888888888")],
      ["provider1", "provider2"],
      "voice names more than one voice: ada; give the id of the one",
    ],
    [
      "an own voice of the name of a public one, without a key",
      { voice: "alba" },
      [own("provider1", "alba")],
      [],
      "voice names a voice of provider1, for which the account has no key: alba",
    ],
    [
      "an own voice by its id, without a key",
      { voice: ada.toUpperCase() },
      [own("provider2")],
      ["provider1"],
      "voice names a voice of provider2, for which the account has no key: ada",
    ],
    [
      "overrides of another provider",
      { voice: "ada", voiceOverrides: { provider2: {} } },
      [own("provider1")],
      ["provider1"],
      "voiceOverrides.provider2 must be the provider of the voice; ada has provider1",
    ],
    [
      "a voice that is not the one of the id",
      { voice: ada },
      [own("generic", "ada", "88888888-8888-4888-8888-888888888888")],
      [],
      `voice names a voice that does not exist: ${ada}; there are alba, en-us`,
    ],
    [
      "a key of another provider",
      { externalVoice: { provider2: {} } },
      [],
      ["provider1"],
      "externalVoice.provider2 needs a key for this provider, and the account has none",
    ],
  ])("400 for %s", async (_, request, voices, keys, problem) => {
    const { call, stored } = setUp({ findVoices: async () => voices, voiceKeys: async () => keysOf(keys) });
    const error = await refusal(call(request));
    const problems = error.errors.map(({ field, message }) => `${field} ${message}`);
    expect(problems).toEqual([problem]);
    expect(stored).toEqual([]);
  });

  test.each<[string, object, readonly OwnVoice[], string]>([
    [
      "an own voice with a key",
      { voice: "ada" },
      [own("provider1")],
      "voice: ada is a voice of provider1, which is not available in this version",
    ],
    [
      "the same with overrides",
      { voice: ada, voiceOverrides: { provider1: { speed: 1.1 } } },
      [own("provider1")],
      "voice: ada is a voice of provider1, which is not available in this version",
    ],
    [
      "a generic voice, which needs no key",
      { voice: "ada" },
      [own("generic")],
      "voice: ada is a voice of generic, which is not available in this version",
    ],
    [
      "an external voice with a key",
      { externalVoice: { provider1: {} } },
      [],
      "externalVoice.provider1: voices of provider1 are not available in this version",
    ],
  ])("501 for %s", async (_, request, voices, detail) => {
    const { call, stored } = setUp({
      findVoices: async () => voices,
      voiceKeys: async () => keysOf(["provider1"]),
    });
    const error = await refusal(call(request));
    expect([error.kind, error.reason]).toEqual(["not_available", detail]);
    expect(stored).toEqual([]);
  });

  test("400 for a generic voice at a private address", async () => {
    const refusedTarget = (url: string) => (url.includes("127.0.0.1") ? "address not allowed" : null);
    const externalVoice = { generic: { url: "http://127.0.0.1/" } };
    const error = await refusal(setUp({ refusedTarget }).call({ externalVoice }));
    expect(error.errors).toEqual([
      { field: "externalVoice.generic.url", message: "is not allowed: address not allowed" },
    ]);
  });

  test("400 beyond the deployment's own limits", async () => {
    const limits = { concurrentCalls: 1, scheduledCalls: 1, joinTimeoutMs: 60_000, maxDurationMs: 600_000 };
    const error = await refusal(setUp({ limits }).call({ joinTimeout: "61s", maxDuration: "601s" }));
    expect(error.errors.map(({ field }) => field)).toEqual(["joinTimeout", "maxDuration"]);
  });

  const client = { temporaryTool: { modelToolName: "t", client: {} } };
  test.each<[object, CreateCallInput["query"], RegExp]>([
    [
      { medium: { sip: { incoming: {} } } },
      {},
      /^medium: sip is not available in this deployment, because SIP_HOST is not set$/,
    ],
    [{ externalVoice: { generic: { url: "https://example.com/tts" } } }, {}, /^externalVoice\.generic: /],
    [
      {
        selectedTools: [client],
        externalVoice: { generic: { url: "https://example.com/tts" } },
        medium: { sip: { incoming: {} } },
      },
      { throttle: "gently" },
      /^medium: .*; externalVoice\.generic: /,
    ],
  ])("501 for %o %o", async (request, query, detail) => {
    const { call, stored } = setUp();
    const error = await refusal(call(request, query));
    expect([error.kind, error.reason]).toEqual(["not_available", expect.stringMatching(detail)]);
    expect(stored).toEqual([]);
  });

  test.each([
    ["slow", "is not a known throttle"],
    ["twin", "is the name of more than one throttle; give its id"],
  ])("400 for the throttle %s, together with all else that is wrong", async (throttle, message) => {
    const { call, stored } = setUp();
    const error = await refusal(call({ voice: "nobody's" }, { throttle }));
    expect(error.kind).toBe("refused");
    expect(error.errors.map(({ field }) => field)).toEqual(["voice", "throttle"]);
    expect(error.errors).toContainEqual({ field: "throttle", message });
    expect(stored).toEqual([]);
  });

  test("a limit that is reached is returned with its details, and nothing is started or removed", async () => {
    const limited: NotCreated = { kind: "later", limit: "throttle", waitMs: 9_000 };
    const throttles: (string | null)[] = [];
    const { call, started, removed } = setUp({
      insertCall: async (_account, _call, throttleId) => {
        throttles.push(throttleId);
        return limited;
      },
    });
    expect(await call({}, { throttle: "gently" })).toBe(limited);
    expect(await call({})).toBe(limited);
    expect([throttles, started, removed]).toEqual([["t1", null], [], []]);
  });

  test("501 names the agent's fields as the agent's", async () => {
    const error = await refusal(setUp({}, { medium: { sip: { incoming: {} } } }).callAgent());
    expect(error.reason).toMatch(/^callTemplate\.medium: sip is not available/);
  });

  test("empty lists ask for nothing", async () => {
    const { call, started } = setUp();
    await call({ selectedTools: [], inactivityMessages: [], callbacks: {} });
    expect(started).toHaveLength(1);
  });
});
