import { describe, expect, test } from "vitest";
import { requestedSettings } from "./requested-settings.ts";
import { settingsErrors, settingsOf } from "./call-settings.ts";
import type { CallSettings } from "./call-settings.ts";
import { noLimits, socket } from "../call/testing/compile-input.ts";

describe("settingsOf", () => {
  test("applies every default", () => {
    const settings: CallSettings = settingsOf(requestedSettings({}), noLimits);
    expect(settings).toEqual({
      firstSpeaker: "FIRST_SPEAKER_AGENT",
      firstSpeakerSettings: { agent: {} },
      initialOutputMedium: "MESSAGE_MEDIUM_VOICE",
      joinTimeout: "30s",
      maxDuration: "3600s",
      medium: { webRtc: {} },
      model: "default",
      systemPrompt: null,
      timeExceededMessage: null,
      voice: null,
      languageHint: null,
      temperature: 0,
      externalVoice: null,
      voiceOverrides: null,
      inactivityMessages: [],
      vadSettings: null,
      recordingEnabled: false,
      clientMessages: "trusted",
      retentionPolicy: "retain",
      transcriptOptional: true,
      experimentalSettings: null,
      initialState: {},
      dataConnectionConfig: null,
      callbacks: null,
    });
  });

  test("an empty medium is WebRTC; the older first speaker counts; lower limits lower the defaults", () => {
    const requested = requestedSettings({ medium: {}, firstSpeaker: "FIRST_SPEAKER_USER" });
    expect(settingsOf(requested, { joinTimeoutMs: 10_500, maxDurationMs: 60_000 })).toMatchObject({
      medium: { webRtc: {} },
      firstSpeaker: "FIRST_SPEAKER_USER",
      firstSpeakerSettings: { user: {} },
      joinTimeout: "10.5s",
      maxDuration: "60s",
    });
  });

  test("echoes settings as they were given", () => {
    const vadSettings = { turnEndpointDelay: "0.1s" };
    expect(settingsOf(requestedSettings({ vadSettings, medium: socket }), noLimits)).toMatchObject({
      vadSettings,
      medium: socket,
    });
  });
});

describe("settingsErrors", () => {
  test.each<[string, object, string[]]>([
    ["nothing", {}, []],
    ["a long language", { languageHint: "x".repeat(17) }, ["languageHint must have at most 16 characters"]],
    [
      "overrides alone",
      { voiceOverrides: { provider3: {} } },
      ["voiceOverrides must only be given together with voice"],
    ],
    [
      "more than the deployment allows",
      { joinTimeout: "60.1s", maxDuration: "601s" },
      [
        "joinTimeout must be at most 60s in this deployment",
        "maxDuration must be at most 600s in this deployment",
      ],
    ],
    ["all that it allows", { joinTimeout: "60s", maxDuration: "600s" }, []],
  ])("%s", (_what, values, wanted) => {
    const limits = { joinTimeoutMs: 60_000, maxDurationMs: 600_000 };
    expect(
      settingsErrors(requestedSettings(values), limits).map(({ field, message }) => `${field} ${message}`),
    ).toEqual(wanted);
  });
});
