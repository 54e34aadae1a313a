import { expect, test } from "vitest";
import type { SipCallListener } from "../../../ports/sip-calls.ts";
import type { TransferableCall } from "../../../ports/sip/sip-transfers.ts";
import type { ToolInvocation } from "../../../ports/tool-invoker.ts";
import { openConsultations } from "./consultations.ts";

const OWNER = { callId: "consultation", accountId: "account" };

function open() {
  const ended: string[] = [];
  const done: string[] = [];
  let press: (key: string) => void = () => undefined;
  const call = {
    owner: OWNER,
    keep: () => Promise.resolve(void done.push("keep")),
    onKey: (pressed: (key: string) => void) => {
      press = pressed;
      return () => undefined;
    },
  } as unknown as TransferableCall;
  const consultations = openConsultations({
    transfers: { callOf: (callId) => (callId === OWNER.callId ? call : null) },
    endConversation: (callId) => ended.push(callId),
  });
  const listener: SipCallListener = consultations.watched({
    offered: () => Promise.resolve({ kind: "refused", status: 404 }),
    connected: () => Promise.resolve(true),
    failed: () => void done.push("failed"),
    ended: () => void done.push("ended"),
    measured: () => undefined,
  });
  const opener = () => {
    throw new Error("not used");
  };
  return { consultations, listener, ended, done, opener, press: (key: string) => press(key) };
}

function invocation(builtIn: string, callId = OWNER.callId, reason?: unknown): ToolInvocation {
  const values = reason === undefined ? [] : [{ name: "reason", location: "body" as const, value: reason }];
  return {
    invocationId: "1",
    callId,
    accountId: OWNER.accountId,
    toolName: builtIn,
    implementation: { kind: "builtIn", builtIn },
    values,
    timeoutMs: 1_000,
  };
}

test("the first answer counts: whoever accepts keeps the call, and later answers find nobody", async () => {
  const { consultations, done } = open();
  const { answer } = consultations.expect(OWNER.callId);
  const accepted = consultations.answer(invocation("acceptTransfer"));
  expect(accepted).toMatchObject({ kind: "completed", responseType: "hang-up" });
  expect(consultations.answer(invocation("refuseTransfer"))).toMatchObject({ kind: "failed" });
  expect(await answer).toMatchObject({ kind: "accepted" });
  expect(done).toEqual(["keep"]);
});

test("a refusal has the reason of the model, cut to a length", async () => {
  const { consultations } = open();
  const { answer } = consultations.expect(OWNER.callId);
  consultations.answer(invocation("refuseTransfer", OWNER.callId, ` ${"x".repeat(1_000)}`));
  expect(await answer).toEqual({ kind: "refused", reason: "x".repeat(500) });
});

test("the key 1 accepts and ends the conversation once; other keys do nothing", async () => {
  const { consultations, listener, ended, opener, press } = open();
  const { answer } = consultations.expect(OWNER.callId);
  await listener.connected(OWNER, opener);
  press("2");
  expect(ended).toEqual([]);
  press("1");
  press("1");
  expect(await answer).toMatchObject({ kind: "accepted" });
  expect(ended).toEqual([OWNER.callId]);
});

test.each([
  [false, "BUSY"],
  [true, "NORMAL"],
] as const)("the end of the call is an answer (was connected: %s)", async (wasAnswered, termination) => {
  const { consultations, listener, opener, done } = open();
  const { answer } = consultations.expect(OWNER.callId);
  if (wasAnswered) {
    await listener.connected(OWNER, opener);
    listener.ended(OWNER, termination, 1);
  } else listener.failed(OWNER, termination, "486");
  expect(await answer).toEqual({ kind: "failed", termination, wasAnswered });
  expect(done).toEqual([wasAnswered ? "ended" : "failed"]);
});

test("nobody waits for calls that are not expected, or no more", () => {
  const { consultations, listener } = open();
  expect(consultations.answer(invocation("acceptTransfer", "another"))).toMatchObject({ kind: "failed" });
  consultations.expect(OWNER.callId).forget();
  expect(consultations.answer(invocation("acceptTransfer"))).toMatchObject({ kind: "failed" });
  expect(() => listener.ended(OWNER, "NORMAL", 1)).not.toThrow();
});
