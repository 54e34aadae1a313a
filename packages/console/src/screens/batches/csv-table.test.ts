import { expect, test } from "vitest";
import { MAX_ROWS, readCsv } from "./csv-table.ts";

const go = new AbortController().signal;

test("quotes, line ends in cells and empty rows are read as spreadsheets write them", async () => {
  const { rows, numbers, remarks } = await readCsv(
    'to;name\r\n"+49 30 1";"Ann ""A"" B"\r\n;\r\n+4930;"two\r\nlines"\r\n\r\n\r\n',
    go,
  );
  expect(rows).toEqual([
    ["to", "name"],
    ["+49 30 1", 'Ann "A" B'],
    ["+4930", "two\r\nlines"],
  ]);
  // As the spreadsheet counts them: empty rows are rows, and lines of a cell are none.
  expect(numbers).toEqual([1, 2, 4]);
  expect(remarks).toEqual([]);
});

test("a row that names the separator is none of the table", async () => {
  const { rows, numbers } = await readCsv("sep=;\r\nto;name\r\n+4930;Ann, Ms\r\n", go);
  expect(rows).toEqual([
    ["to", "name"],
    ["+4930", "Ann, Ms"],
  ]);
  expect(numbers).toEqual([2, 3]);
});

test("slices join without a gap", async () => {
  const given = Array.from({ length: 1_777 }, (_, index) => [
    `+4930${String(index)}`,
    `"q, ${String(index)}"`,
  ]);
  const { rows, numbers } = await readCsv(given.map((row) => row.join(",")).join("\n"), go);
  expect(rows.length).toBe(1_777);
  expect(numbers[1_776]).toBe(1_777);
  expect(rows[500]).toEqual(["+4930500", "q, 500"]);
  expect(rows[1_776]).toEqual(["+49301776", "q, 1776"]);
});

test("one column and a quote without an end are no reason to stop", async () => {
  expect((await readCsv("+4930\n+4931", go)).rows).toEqual([["+4930"], ["+4931"]]);
  const { remarks } = await readCsv('a,b\n"c,d\n', go);
  expect(remarks[0]).toMatch(/^Row 2: .*quote/i);
});

test("longer files are cut where a batch is full", async () => {
  const { rows } = await readCsv("1\n".repeat(MAX_ROWS + 600), go);
  expect(rows.length).toBe(MAX_ROWS);
});

test("reading stops when it is given up", async () => {
  const stop = new AbortController();
  stop.abort(new Error("given up"));
  await expect(readCsv("a,b", stop.signal)).rejects.toThrow("given up");
});
