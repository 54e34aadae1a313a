import { expect, test } from "vitest";
import { batchBody, checkCalls, MAX_BAD_SHOWN } from "./check-calls.ts";
import { refusedCalls } from "./refused-calls.ts";
import { ParleyError } from "@parley/client/rest";

const go = new AbortController().signal;
const CALL = (to: string) => ({ medium: { telephony1: { outgoing: { to, from: "+4930999" } } } });

test("calls are checked by the rules of the interface, and numbers by whether they can be dialled", async () => {
  const calls = [
    CALL("+4930123"),
    CALL("0301"),
    { metadata: { a: 1 } },
    { templateContext: { b: 2 } },
    "no call",
  ];
  const { texts, indexes, bad, badCount } = await checkCalls(
    { count: calls.length, callAt: (index) => calls[index] },
    go,
  );
  expect(indexes).toEqual([0, 3]);
  expect(texts[1]).toBe('{"templateContext":{"b":2}}');
  expect(badCount).toBe(3);
  expect(bad.map(({ index, faults }) => [index, faults.map(({ field }) => field)])).toEqual([
    [1, ["medium.telephony1.outgoing.to"]],
    [2, ["metadata.a"]],
    [4, [""]],
  ]);
});

test("what is wrong with a row is said with what is wrong with its call", async () => {
  const faultsAt = (index: number) => (index === 1 ? [{ field: "", message: "is too long" }] : []);
  const { indexes, bad } = await checkCalls({ count: 2, callAt: () => CALL("+4930123"), faultsAt }, go);
  expect(indexes).toEqual([0]);
  expect(bad).toEqual([{ index: 1, faults: [{ field: "", message: "is too long" }] }]);
});

test("of very many bad calls the first are kept, and the others counted", async () => {
  const { bad, badCount, texts } = await checkCalls({ count: 1_000, callAt: () => ({ phone: "+4930" }) }, go);
  expect([bad.length, badCount, texts.length]).toEqual([MAX_BAD_SHOWN, 1_000, 0]);
});

test("a hundred thousand calls are checked in slices", async () => {
  let pauses = 0;
  const { texts } = await checkCalls(
    { count: 100_000, callAt: (index) => CALL(`+4930${String(index)}`) },
    go,
    () => (pauses += 1),
  );
  expect(texts.length).toBe(100_000);
  expect(pauses).toBeGreaterThan(10);
}, 60_000);

test("the body is one JSON document", async () => {
  const text = await batchBody('{"paused":true}', ['{"a":1}', '{"b":2}']).text();
  expect(JSON.parse(text)).toEqual({ paused: true, calls: [{ a: 1 }, { b: 2 }] });
  expect(JSON.parse(await batchBody("{}", ["{}"]).text())).toEqual({ calls: [{}] });
  const many = Array.from({ length: 2_500 }, (_, index) => String(index));
  expect(JSON.parse(await batchBody("{}", many).text())).toEqual({ calls: many.map(Number) });
});

test("positions that the service names lead back to rows", () => {
  const errors = [
    { field: "calls.1.templateContext.guest", message: "is required" },
    { field: "calls.1.metadata", message: "is odd" },
    { field: "windowEnd", message: "is too early" },
  ];
  const problem = {
    type: "",
    title: "",
    status: 400,
    code: "validation_failed",
    detail: "",
    requestId: "",
  } as const;
  expect(refusedCalls(new ParleyError({ ...problem, errors }, null), [4, 7])).toEqual([
    {
      position: 1,
      index: 7,
      faults: [
        { field: "templateContext.guest", message: "is required" },
        { field: "metadata", message: "is odd" },
      ],
    },
  ]);
});
