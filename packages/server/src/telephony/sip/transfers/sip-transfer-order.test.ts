import { describe, expect, test } from "vitest";
import type { ToolValue } from "../../../ports/tool-invoker.ts";
import { sipTransferOrder, type SipTransferGround } from "./sip-transfer-order.ts";

const GROUND: SipTransferGround = {
  peerUri: "sip:+4930111@trunk.example:5070;transport=tcp",
  ownAddress: "+4930222",
  credentials: { username: "u", password: "p" },
  domain: "account.sip.example",
};

function valuesOf(given: Readonly<Record<string, unknown>>, fixed = true): ToolValue[] {
  return Object.entries(given).map(([name, value]) => ({
    name,
    value,
    location: "body" as const,
    ...(fixed ? { fixed: true as const } : {}),
  }));
}

function order(tool: "coldTransfer" | "warmTransfer", given: object, fixed = true, ground = GROUND) {
  return sipTransferOrder(tool, valuesOf({ target: "+4930999", ...given }, fixed), ground);
}

describe("the order of a transfer over SIP", () => {
  test("dials a number where the far side of the call is, with the passwords of the call", () => {
    expect(order("coldTransfer", {})).toMatchObject({
      to: "sip:+4930999@trunk.example:5070;transport=tcp",
      from: "sip:+4930222@account.sip.example",
      credentials: { username: "u", password: "p" },
      by: "REFER",
      chosenBy: "request",
    });
  });

  test("calls a URI as it is, without header fields and other parameters", () => {
    const target = "sips:ann@pbx.example:5061;user=phone;transport=tls?Replaces=a%3Bto-tag%3Db";
    expect(order("coldTransfer", { target })).toMatchObject({
      to: "sips:ann@pbx.example:5061;transport=tls",
      credentials: null,
    });
    expect(order("coldTransfer", { target: "sip:ann@pbx.example;transport=tcpx" })).toMatchObject({
      to: "sip:ann@pbx.example",
    });
  });

  test("keeps passwords of the tool from a host that the model has chosen", () => {
    const given = { target: "sip:+4930999@evil.example", username: "own", password: "secret" };
    expect(order("coldTransfer", given, false)).toMatchObject({ credentials: null, chosenBy: "model" });
    const own = { username: "own", password: "secret" };
    expect(order("coldTransfer", given)).toMatchObject({ credentials: own });
    expect(order("coldTransfer", { ...given, target: "+4930999" }, false)).toMatchObject({
      credentials: own,
    });
  });

  test.each([
    ["coldTransfer", {}, "REFER"],
    ["coldTransfer", { sipVerb: "INVITE" }, "BRIDGE"],
    ["warmTransfer", {}, "TRY_REFER"],
    ["warmTransfer", { transferType: "REFER" }, "REFER"],
    ["warmTransfer", { transferType: "BRIDGE" }, "BRIDGE"],
  ] as const)("of %s with %j connects by %s", (tool, given, by) => {
    expect(order(tool, given)).toMatchObject({ by });
  });

  test("has the header fields where they belong", () => {
    const [one, two] = [{ "X-One": "1" }, { "X-Two": "2" }];
    const [first, second] = [[{ name: "X-One", value: "1" }], [{ name: "X-Two", value: "2" }]];
    expect(order("coldTransfer", { extraHeaders: one })).toMatchObject({
      inviteHeaders: first,
      referHeaders: first,
    });
    expect(order("warmTransfer", { inviteHeaders: one, referHeaders: two })).toMatchObject({
      inviteHeaders: first,
      referHeaders: second,
    });
    expect(order("warmTransfer", { inviteHeaders: one })).toMatchObject({
      inviteHeaders: first,
      referHeaders: [],
    });
  });

  test("fills the context into the instructions, which cannot name other parts of a text", () => {
    const given = { transferSystemPromptTemplate: "Say: {context}.", context: "$& wants {context}" };
    expect(order("warmTransfer", given)).toMatchObject({ prompt: "Say: $& wants {context}." });
    expect(order("warmTransfer", {})).toMatchObject({ prompt: expect.stringContaining("caller") as unknown });
  });

  test.each([
    [{ target: "home" }, "target must be"],
    [{ target: "" }, "target must be"],
    [{ sipVerb: "MESSAGE" }, "sipVerb must be"],
    [{ holdMusicUrl: "file:///etc/passwd" }, "holdMusicUrl must be"],
    [{ from: "x".repeat(201) }, "from may have"],
    [{ extraHeaders: { "X-A": "1\r\nVia: x" } }, "extraHeaders must be"],
    [{ extraHeaders: { Via: "x" } }, "extraHeaders must be"],
    [{ extraHeaders: "X-A: 1" }, "extraHeaders must be"],
  ])("is refused: %j", (given, problem) => {
    expect(order("coldTransfer", given)).toEqual({ problem: expect.stringContaining(problem) as unknown });
  });

  test("has an address of the domain where its own is not known", () => {
    expect(order("coldTransfer", {}, true, { ...GROUND, ownAddress: null })).toMatchObject({
      from: "sip:anonymous@account.sip.example",
    });
  });
});
