import { expect, test } from "vitest";
import { columnsOf, guessMapping, MAX_COLUMNS, tableSource } from "./table-source.ts";

const rows = [["guest", "room"], ["Ann", "7"], ["Smith, Bob"], ["Eve", "8", " "], ["Zoë", "Dr.", "9"]];
const table = { rows, numbers: [1, 3, 4, 5, 9], remarks: [] };

test("rows are known by their places in the spreadsheet, and text beyond the columns is a fault", () => {
  const columns = columnsOf(rows, true);
  const source = tableSource(table, true, columns, guessMapping(columns.titles));
  expect(source).toMatchObject({ count: 4, faults: [] });
  expect(source?.placeAt(0)).toBe("Row 3");
  expect(source?.callAt(0)).toEqual({ templateContext: { guest: "Ann", room: "7" } });
  expect(source?.textAt(1)).toBe("Smith, Bob");
  const faults = [0, 1, 2, 3].map((index) => source?.faultsAt?.(index).length);
  expect(faults).toEqual([0, 0, 0, 1]);
  expect(source?.faultsAt?.(3)[0]?.message).toMatch(/3 cells, but the table has 2 columns/);
});

test("without names the widest of the first rows counts", () => {
  const columns = columnsOf(rows, false);
  expect(columns).toEqual({ titles: ["", "", ""], width: 3 });
  const source = tableSource(table, false, columns, guessMapping(columns.titles));
  expect(source?.placeAt(0)).toBe("Row 1");
  expect(source?.faultsAt?.(4)).toEqual([]);
});

test("of very wide tables the first columns can be used", () => {
  const wide = [Array.from({ length: 100 }, (_, index) => `c${String(index)}`)];
  const columns = columnsOf(wide, true);
  expect([columns.titles.length, columns.width]).toEqual([MAX_COLUMNS, 100]);
  expect(tableSource({ rows: wide, numbers: [1], remarks: [] }, true, columns, guessMapping([]))).toBeNull();
});
