import { expect, test } from "vitest";
import { PortionSize } from "./portion-size.ts";

test("portions grow where rows are quick, shrink where they are slow, and keep their limits", async () => {
  const now = { ms: 0 };
  const size = new PortionSize({ aimMs: 30, first: 10, most: 64 }, () => now.ms);
  const portion = async (rowMs: number): Promise<number> => {
    const { rows } = size;
    await size.timed(rows, () => {
      now.ms += rows * rowMs;
      return Promise.resolve();
    });
    return rows;
  };
  expect(size.rows).toBe(10);
  for (let count = 0; count < 30; count += 1) await portion(1);
  expect(size.rows).toBe(30);
  for (let count = 0; count < 30; count += 1) await portion(0.01);
  expect(size.rows).toBe(64);
  for (let count = 0; count < 30; count += 1) await portion(100);
  expect(size.rows).toBe(1);
});

test("a failed portion and one without rows change nothing", async () => {
  const now = { ms: 0 };
  const size = new PortionSize({ aimMs: 30, first: 10, most: 64 }, () => now.ms);
  await expect(size.timed(5, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await size.timed(0, () => {
    now.ms += 1_000;
    return Promise.resolve();
  });
  expect(size.rows).toBe(10);
});
