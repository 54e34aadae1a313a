import type { Call } from "@parley/schema";
import { expect, test } from "vitest";
import { HIDDEN, withoutSecrets } from "./secrets.ts";

test("nothing that opens a door is left in a record that is shown", () => {
  const call = {
    callId: "one",
    joinUrl: "wss://voice.example/calls/one/web_rtc/token-of-the-call",
    medium: { sip: { outgoing: { to: "sip:a@b.example", password: "pass-of-sip" } } },
    callbacks: { ended: { url: "https://shop.example", secrets: ["secret-of-callback"] } },
    dataConnectionConfig: { websocketUrl: "wss://x.example", headers: { Authorization: "Bearer of-header" } },
    metadata: { room: "12" },
  } as unknown as Call;
  const shown = JSON.stringify(withoutSecrets(call));
  for (const secret of ["token-of-the-call", "pass-of-sip", "secret-of-callback", "of-header"]) {
    expect(shown).not.toContain(secret);
  }
  expect(withoutSecrets(call)).toMatchObject({
    joinUrl: `wss://voice.example/calls/one/web_rtc/${HIDDEN}`,
    medium: { sip: { outgoing: { to: "sip:a@b.example" } } },
    metadata: { room: "12" },
  });
});

test("what is not there stays away", () => {
  const call = { joinUrl: null, dataConnectionConfig: null, callbacks: null } as unknown as Call;
  expect(withoutSecrets(call)).toEqual({ joinUrl: null, dataConnectionConfig: null, callbacks: null });
});
