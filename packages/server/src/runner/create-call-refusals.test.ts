import { describe, expect, test } from "vitest";
import type { CreateCallInput } from "./create-call.ts";
import { refusal, setUp } from "./testing/call-creation.ts";

describe("refusals", () => {
  test.each<[object, string[]]>([
    [{ voice: "Mark" }, ["voice"]],
    [{ voice: "twin" }, ["voice"]],
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
    expect(error.code).toBe("validation_failed");
    expect(error.errors.map(({ field }) => field)).toEqual(fields);
    expect(stored).toEqual([]);
  });

  test("400 beyond the deployment's own limits", async () => {
    const limits = { concurrentCalls: 1, joinTimeoutMs: 60_000, maxDurationMs: 600_000 };
    const error = await refusal(setUp({ limits }).call({ joinTimeout: "61s", maxDuration: "601s" }));
    expect(error.errors.map(({ field }) => field)).toEqual(["joinTimeout", "maxDuration"]);
  });

  const client = { temporaryTool: { modelToolName: "t", client: {} } };
  test.each<[object, CreateCallInput["query"], RegExp]>([
    [
      { medium: undefined },
      {},
      /^medium: webRtc, which an unset medium means, is not available in this version; serverWebSocket is$/,
    ],
    [{ medium: {} }, {}, /^medium: webRtc, which/],
    [{ medium: { webRtc: {} } }, {}, /^medium: webRtc is not available/],
    [{ medium: { telephony1: {} } }, {}, /^medium: telephony1 is not available/],
    [{ medium: { sip: { incoming: {} } } }, {}, /^medium: sip is not available/],
    [{ externalVoice: { generic: { url: "https://example.com/tts" } } }, {}, /^externalVoice\.generic: /],
    [
      { selectedTools: [client, { toolName: "coldTransfer" }] },
      {},
      /^selectedTools\.1\.toolName: coldTransfer is not available in this version$/,
    ],
    [
      { selectedTools: [{ toolId: "2FFF509D-273F-414E-91FF-AA933435A545" }] },
      {},
      /^selectedTools\.0\.toolId: coldTransfer is not/,
    ],
    [{ callbacks: { ended: { url: "https://example.com" } } }, {}, /^callbacks: /],
    [{}, { throttle: "slow" }, /^throttle: /],
    [
      { selectedTools: [{ toolName: "coldTransfer" }], medium: { webRtc: {} } },
      { throttle: "slow" },
      /^medium: .*; selectedTools\.0\.toolName: .*; throttle: /,
    ],
  ])("501 for %o %o", async (request, query, detail) => {
    const { call, stored } = setUp();
    const error = await refusal(call(request, query));
    expect([error.code, error.detail]).toEqual(["not_available", expect.stringMatching(detail)]);
    expect(stored).toEqual([]);
  });

  test("501 names the agent's fields as the agent's", async () => {
    const template = { selectedTools: [{ toolName: "coldTransfer" }] };
    const error = await refusal(setUp({}, { medium: { telephony1: {} }, ...template }).callAgent());
    expect(error.detail).toMatch(/^callTemplate\.medium: .*; callTemplate\.selectedTools\.0\.toolName: /);
  });

  test("empty lists ask for nothing", async () => {
    const { call, started } = setUp();
    await call({ selectedTools: [], inactivityMessages: [], callbacks: {} });
    expect(started).toHaveLength(1);
  });
});
