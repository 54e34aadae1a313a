import { expect, it } from "vitest";
import type { LeftTransfer } from "../../store/telephony/call-transfers.ts";
import type { CarrierLeg } from "./attempts.ts";
import { endEach } from "./left-transfers.ts";

const leftOf = (callId: string): LeftTransfer => ({
  transferId: `transfer of ${callId}`,
  accountId: `account of ${callId}`,
  callId,
  carrier: "telephony1",
  carrierCallId: `leg of ${callId}`,
  consultCallId: `consultation of ${callId}`,
});

it("ends the others when one cannot be ended, and hangs up that caller", async () => {
  const hungUp: CarrierLeg[] = [];
  let warnings = 0;
  const logger = { warn: () => void (warnings += 1) };
  const ended: string[] = [];
  const end = ({ callId }: LeftTransfer): Promise<void> => {
    if (callId === "one") return Promise.reject(new Error("its configuration cannot be read"));
    ended.push(callId);
    return Promise.resolve();
  };
  const hangUpLeg = (leg: CarrierLeg): void => void hungUp.push(leg);
  await endEach({ hangUpLeg, logger }, [leftOf("one"), leftOf("two"), leftOf("three")], end);
  expect(ended).toEqual(["two", "three"]);
  expect(hungUp).toEqual([
    { accountId: "account of one", callId: "one", carrier: "telephony1", carrierCallId: "leg of one" },
  ]);
  expect(warnings).toBe(1);
});
