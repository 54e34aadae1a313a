import { expect, it } from "vitest";
import type { SipCallMessage, SipCallOwner } from "../../../ports/sip-calls.ts";
import type { SipLogEntry } from "../user-agent.ts";
import { CallMessages, MAX_UNDECIDED_MESSAGES } from "./call-messages.ts";

const OWNER = { callId: "call", accountId: "account" };

function entry(id: string, changes: Partial<SipLogEntry> = {}): SipLogEntry {
  return {
    id,
    kind: "invite",
    direction: "received",
    atMs: 1,
    peer: { transport: "udp", address: "203.0.113.5", port: 5070 },
    own: { address: "2001:db8::1", port: 5060 },
    text: "INVITE",
    ...changes,
  };
}

function subject() {
  const seen: (SipCallMessage & { readonly owner: SipCallOwner })[] = [];
  const messages = new CallMessages((owner, message) => void seen.push({ ...message, owner }));
  return { messages, seen };
}

it("gives a call the messages from before it was one, and those after it", () => {
  const { messages, seen } = subject();
  messages.logged(entry("a"));
  expect(seen).toEqual([]);
  messages.owned("a", OWNER);
  messages.logged(entry("a", { direction: "sent", text: "200" }));
  expect(seen.map(({ text, source, destination }) => [text, source, destination])).toEqual([
    ["INVITE", "203.0.113.5:5070", "[2001:db8::1]:5060"],
    ["200", "[2001:db8::1]:5060", "203.0.113.5:5070"],
  ]);
  messages.logEnded({ id: "a", kind: "invite" });
  expect(messages.size).toBe(0);
});

it("keeps nothing of a call that is decided about after the end of its log", () => {
  const { messages, seen } = subject();
  messages.logged(entry("a"));
  messages.logEnded({ id: "a", kind: "invite" });
  messages.owned("a", OWNER);
  expect([seen, messages.size]).toEqual([[], 0]);
});

it("gives a call that is dialled its messages, which come after it has begun", () => {
  const { messages, seen } = subject();
  messages.begun("a", OWNER);
  messages.logged(entry("a"));
  expect(seen.map(({ owner }) => owner)).toEqual([OWNER]);
});

it("keeps nothing of refused calls, registrations and checks", () => {
  const { messages, seen } = subject();
  messages.logged(entry("a"));
  messages.refused("a");
  messages.logged(entry("a", { text: "ACK" }));
  messages.logged(entry("r", { kind: "registration" }));
  messages.logged(entry("p", { kind: "ping" }));
  expect([seen, messages.size]).toEqual([[], 1]);
  messages.logEnded({ id: "a", kind: "invite" });
  expect(messages.size).toBe(0);
});

it("keeps a limited number of messages of a call that is not decided about", () => {
  const { messages, seen } = subject();
  for (let n = 0; n < 2 * MAX_UNDECIDED_MESSAGES; n += 1) messages.logged(entry("a", { atMs: n }));
  messages.owned("a", OWNER);
  expect(seen).toHaveLength(MAX_UNDECIDED_MESSAGES);
  expect(seen.at(-1)?.atMs).toBe(MAX_UNDECIDED_MESSAGES - 1);
});
