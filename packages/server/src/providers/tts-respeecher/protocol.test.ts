import { expect, it } from "vitest";
import { RecentSettings, respeecherFailure } from "./protocol.ts";

it("takes a refused field for a setting until the same settings have worked", () => {
  const refusal = { type: "error", error: "no", status_code: 400 } as const;
  expect(respeecherFailure(refusal, { key: "", worked: false }).isPermanent).toBe(true);
  expect(respeecherFailure(refusal, { key: "", worked: true }).isPermanent).toBe(false);
});

it("remembers a limited number of settings, the newest", () => {
  const recent = new RecentSettings();
  recent.add("first");
  recent.add("second");
  for (let i = 0; i < 998; i += 1) recent.add(String(i));
  recent.add("first");
  recent.add("one more");
  expect(["first", "second", "0", "one more"].map((name) => recent.has(name))).toEqual([
    true,
    false,
    true,
    true,
  ]);
});
