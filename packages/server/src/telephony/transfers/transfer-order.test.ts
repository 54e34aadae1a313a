import { expect, test } from "vitest";
import { spokenLanguage } from "./spoken-language.ts";
import { requestedTransfer, type RequestedTransfer, type TransferTool } from "./transfer-order.ts";

const GROUND = { ownNumber: "+4930654321", languageHint: "de" } as const;

function requested(
  tool: TransferTool,
  given: Readonly<Record<string, unknown>>,
  fixed: Readonly<Record<string, unknown>> = {},
) {
  const listed = (values: Readonly<Record<string, unknown>>) =>
    Object.entries(values).map(([name, value]) => ({ name, value, location: "body" as const }));
  const values = [...listed(given), ...listed(fixed).map((value) => ({ ...value, fixed: true as const }))];
  return requestedTransfer(tool, values, GROUND);
}

const orderOf = (...given: Parameters<typeof requested>): RequestedTransfer => {
  const read = requested(...given);
  if ("problem" in read) throw new Error(read.problem);
  return read;
};

test("a number of the model is dialled in its plain form, with the service's own number", () => {
  const { order, chosenBy } = orderOf("coldTransfer", { target: "+49 (30) 999-999" });
  expect(chosenBy).toBe("model");
  expect(order).toEqual({
    target: {
      address: "+4930999999",
      callerId: "+4930654321",
      username: null,
      password: null,
      headers: {},
      holdMusicUrl: null,
    },
    question: null,
    consultation: null,
  });
});

test("a fixed target was chosen by the account, and its values win over what is known", () => {
  const fixed = {
    target: "sip:ann@example.com",
    from: "+4930777777",
    holdMusicUrl: "https://example.com/a.mp3",
    username: "ann",
    password: "secret",
    extraHeaders: { "X-Reason": "billing" },
  };
  const { order, chosenBy } = orderOf("coldTransfer", {}, fixed);
  expect(chosenBy).toBe("request");
  const { target, from: callerId, extraHeaders: headers, ...rest } = fixed;
  expect(order.target).toEqual({ address: target, callerId, headers, ...rest });
});

test("the agent talks with the called person, by the template of the tool", () => {
  const given = { target: "+4930999999", context: "Jane $& asks for a refund." };
  const { order } = orderOf("warmTransfer", given, { transferSystemPromptTemplate: "Explain: {context}" });
  expect(order.question).toBeNull();
  expect(order.consultation).toEqual({ prompt: "Explain: Jane $& asks for a refund." });
  expect(orderOf("warmTransfer", given).order.consultation?.prompt).toContain("Jane $& asks");
});

test("a conversation needs a number from which it is dialled", () => {
  const values = [{ name: "target", value: "+4930999999", location: "body" as const }];
  const ground = { ...GROUND, ownNumber: null };
  expect(requestedTransfer("warmTransfer", values, ground)).toEqual({
    problem: "from must be given, because the number of this call is not known",
  });
});

test("the carrier asks the called person at a SIP URI, with the context, in the language of the call", () => {
  const { order } = orderOf("warmTransfer", {
    target: "sip:ann@example.com",
    context: "Jane $& asks\nfor a refund.",
  });
  expect(order.consultation).toBeNull();
  expect(order.question).toEqual({
    text: "You are called to take over a caller. Jane $& asks for a refund. Press 1 to take the call. To decline it, hang up.",
    language: "de-DE",
  });
});

test("a long context is cut, and the key is still named", () => {
  const given = { target: "+4930999999", context: "x".repeat(5_000) };
  const fixed = { transferMessageTemplate: "Für Sie: {context}. Drücken Sie die 1." };
  const text = orderOf("warmTransfer", given, fixed).order.question?.text ?? "";
  expect(text.length).toBeLessThanOrEqual(1_000);
  expect(text).toMatch(/x\. Drücken Sie die 1\.$/);
});

test.each([
  [{}, /^target must be/],
  [{ target: "0049 30" }, /^target must be/],
  [{ target: 4930999999 }, /^target must be/],
  [{ target: "+4930999999", from: "me" }, /^from must be/],
  [{ target: "+4930999999", holdMusicUrl: "ftp://example.com/a" }, /^holdMusicUrl must be/],
  [{ target: "+4930999999", holdMusicUrl: "music" }, /^holdMusicUrl must be/],
  [{ target: "+4930999999", extraHeaders: ["X"] }, /^extraHeaders must be/],
  [{ target: "+4930999999", extraHeaders: { "X-A": 1 } }, /^extraHeaders must be/],
  [{ target: "+4930999999", extraHeaders: { "X-A": "y".repeat(300) } }, /^extraHeaders must be/],
  [{ target: "+4930999999", extraHeaders: { "X-A": "a\r\nRoute: <sip:b>" } }, /^extraHeaders must be/],
  [{ target: "+4930999999", extraHeaders: { "X-A": "\ud83d" } }, /^extraHeaders must be/],
  [{ target: "+4930999999", password: "p".repeat(300) }, /^username and password/],
])("%j is refused", (given, problem) => {
  expect(requested("coldTransfer", given)).toEqual({ problem: expect.stringMatching(problem) as string });
});

test("REFER alone is refused for a warm transfer, because carriers connect the two themselves", () => {
  const given = { target: "+4930999999" };
  expect(requested("warmTransfer", given, { transferType: "REFER" })).toHaveProperty("problem");
  for (const transferType of ["TRY_REFER", "BRIDGE"])
    expect(requested("warmTransfer", given, { transferType })).toHaveProperty("order");
});

test.each([
  ["de", "de-DE"],
  ["de-at", "de-AT"],
  ["EN_gb", "en-GB"],
  ["xx", null],
  ["german", null],
  [null, null],
])("the hint %s is read aloud as %s", (hint, language) => {
  expect(spokenLanguage(hint)).toBe(language);
});
