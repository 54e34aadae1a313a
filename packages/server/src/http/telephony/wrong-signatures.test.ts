import { describe, expect, it } from "vitest";
import { FORBIDDEN, WRONG_SIGNATURE, type CarrierReply } from "../../telephony/api.ts";
import {
  limitWrongSignatures,
  TRUST_MS,
  UNKNOWN_PER_SECOND,
  WRONG_OF_CLIENT_PER_SECOND,
  WRONG_OF_ONE_PER_SECOND,
} from "./wrong-signatures.ts";

const DONE: CarrierReply = { kind: "done" };
const UNSIGNED: CarrierReply = { kind: "xml", xml: "<Hangup/>", isUnsigned: true };
const CARRIER = "192.0.2.1";

function requests() {
  let atMs = 0;
  let asked = 0;
  const limited = limitWrongSignatures(() => atMs);
  const sendAs =
    (isIncoming: boolean) =>
    (reply: CarrierReply, target = "call", address = CARRIER) =>
      limited(
        address,
        target,
        () => {
          asked += 1;
          return Promise.resolve(reply);
        },
        isIncoming,
      ).catch((error: unknown) => error);
  return {
    send: sendAs(false),
    sendIncoming: sendAs(true),
    asked: () => asked,
    pass: (ms: number) => (atMs += ms),
  };
}

const refused = expect.objectContaining({ code: "rate_limited", retryAfterSeconds: 1 }) as unknown;

describe("requests without the signature of a carrier", () => {
  it("about one call are refused before anything is read, and allowed again after the wait", async () => {
    const { send, asked, pass } = requests();
    for (let n = 0; n < WRONG_OF_ONE_PER_SECOND; n += 1)
      expect(await send(WRONG_SIGNATURE)).toEqual(WRONG_SIGNATURE);
    expect(await send(WRONG_SIGNATURE)).toEqual(refused);
    expect(await send(DONE)).toEqual(refused);
    expect(asked()).toBe(WRONG_OF_ONE_PER_SECOND);
    pass(1_000);
    expect(await send(DONE)).toEqual(DONE);
  });

  it("of an account with a wrong secret hold up no other account at the same carrier", async () => {
    const { send } = requests();
    for (let call = 0; call < 10; call += 1) {
      for (let n = 0; n < WRONG_OF_ONE_PER_SECOND; n += 1)
        await send(WRONG_SIGNATURE, `wrong ${String(call)}`);
    }
    expect(await send(DONE, "of another account")).toEqual(DONE);
  });

  it.each([
    ["refused", FORBIDDEN],
    ["told to hang up", UNSIGNED],
  ])(
    "about unknown calls that are %s are limited for a client, whatever ids it takes",
    async (_what, reply) => {
      const { send, asked } = requests();
      for (let n = 0; n < UNKNOWN_PER_SECOND; n += 1) expect(await send(reply, String(n))).toEqual(reply);
      expect(await send(reply, "one more")).toEqual(refused);
      expect(asked()).toBe(UNKNOWN_PER_SECOND);
      expect(await send(DONE, "of another client", "192.0.2.2")).toEqual(DONE);
    },
  );

  it("about unknown calls hold up no carrier, which has sent right signatures, until there are very many", async () => {
    const { send, pass } = requests();
    expect(await send(DONE)).toEqual(DONE);
    for (let n = 0; n < 5 * UNKNOWN_PER_SECOND; n += 1)
      expect(await send(FORBIDDEN, String(n))).toEqual(FORBIDDEN);
    expect(await send(DONE, "of an account")).toEqual(DONE);
    for (let n = 0; n < WRONG_OF_CLIENT_PER_SECOND; n += 1) await send(FORBIDDEN, `more ${String(n)}`);
    expect(await send(DONE, "of an account")).toEqual(refused);
    pass(TRUST_MS);
    for (let n = 0; n < UNKNOWN_PER_SECOND; n += 1) await send(FORBIDDEN, String(n));
    expect(await send(FORBIDDEN, "one more")).toEqual(refused);
  });

  it("about calls that come in hold up no right one of the same carrier, for other agents and for one that is known", async () => {
    const { sendIncoming } = requests();
    for (let n = 0; n < 2 * UNKNOWN_PER_SECOND; n += 1) await sendIncoming(FORBIDDEN, String(n));
    expect(await sendIncoming(DONE, "agent")).toEqual(DONE);
    for (let n = 0; n < WRONG_OF_ONE_PER_SECOND; n += 1) await sendIncoming(FORBIDDEN, "agent");
    expect(await sendIncoming(DONE, "agent")).toEqual(DONE);
    for (let n = 0; n < WRONG_OF_ONE_PER_SECOND; n += 1) await sendIncoming(FORBIDDEN, "other");
    expect(await sendIncoming(DONE, "other")).toEqual(refused);
  });

  it("do not slow down signed ones", async () => {
    const { send } = requests();
    for (let n = 0; n < 10 * WRONG_OF_CLIENT_PER_SECOND; n += 1) expect(await send(DONE)).toEqual(DONE);
  });
});
