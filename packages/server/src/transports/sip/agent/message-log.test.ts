import { expect, it } from "vitest";
import { openManualClock } from "../../../runner/testing/manual-clock.ts";
import type { RequestText } from "../message/message.ts";
import type { SipLogEntry } from "../user-agent.ts";
import { MAX_LOGGED_CHARS, MAX_LOGGED_MESSAGES, MessageLog } from "./message-log.ts";

const PEER = { transport: "udp" as const, address: "192.0.2.1", port: 5060 };

function message(callId: string, fromTag: string, toTag: string | null, body = ""): RequestText {
  return {
    kind: "request",
    method: "INFO",
    uri: "sip:a@b.example",
    headers: [
      { name: "from", value: `<sip:a@b.example>;tag=${fromTag}` },
      { name: "to", value: `"x;tag=no" <sip:c@b.example>${toTag === null ? "" : `;tag=${toTag}`}` },
      { name: "call-id", value: callId },
      { name: "content-type", value: "application/sdp" },
    ],
    body: Buffer.from(body, "utf8"),
  };
}

function open() {
  const clock = openManualClock(1_700_000_000_000);
  const entries: SipLogEntry[] = [];
  const ended: string[] = [];
  const log = new MessageLog(
    clock,
    { logged: (entry) => void entries.push(entry), logEnded: ({ id }) => void ended.push(id) },
    () => ({ address: "198.51.100.1", port: 5060 }),
  );
  return { clock, log, entries, ended };
}

it("keeps the messages of a call from a stranger who knows its Call-ID", () => {
  const { log, entries } = open();
  log.begin({ callId: "one", tag: "caller" }, { id: "call", kind: "invite" });
  log.begin({ callId: "one", tag: "stranger" }, { id: "other", kind: "invite" });
  log.add("received", message("one", "stranger", null), PEER);
  log.add("sent", message("one", "ours", "caller"), PEER);
  log.add("received", message("one", "nobody", "nothing"), PEER);
  expect(entries.map(({ id }) => id)).toEqual(["other", "call"]);
});

it("is not taken over by a second INVITE with the same tag, unless the first one is over", async () => {
  const { clock, log, entries, ended } = open();
  const key = { callId: "one", tag: "caller" };
  log.begin(key, { id: "first", kind: "invite" });
  log.begin(key, { id: "second", kind: "invite" });
  log.add("received", message("one", "caller", null), PEER);
  log.end(key, "second");
  log.end(key, "first");
  log.add("received", message("one", "caller", null), PEER);
  log.begin(key, { id: "third", kind: "invite" });
  log.add("received", message("one", "caller", null), PEER);
  expect(entries.map(({ id }) => id)).toEqual(["first", "first", "third"]);
  log.end(key, "third");
  await clock.advance(60_000);
  expect(ended).toEqual(["first", "third"]);
  log.add("received", message("one", "caller", null), PEER);
  expect(entries).toHaveLength(3);
  expect(clock.pending()).toBe(0);
});

it("is limited in messages and in characters", () => {
  const { log, entries } = open();
  log.begin({ callId: "one", tag: "caller" }, { id: "call", kind: "invite" });
  for (let n = 0; n < MAX_LOGGED_MESSAGES + 10; n += 1) {
    log.add("received", message("one", "caller", null, "x".repeat(2 * MAX_LOGGED_CHARS)), PEER);
  }
  expect(entries).toHaveLength(MAX_LOGGED_MESSAGES);
  expect(entries[0]?.text).toHaveLength(MAX_LOGGED_CHARS);
});
