import { expect, test } from "vitest";
import { textOf } from "./file-text.ts";

const TEXT = "phone,guest\n+49 30 1,Zoë\n";

function utf16(text: string, littleEndian: boolean): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let index = 0; index < text.length; index += 1) {
    view.setUint16(index * 2, text.charCodeAt(index), littleEndian);
  }
  return view.buffer;
}

test("UTF-8 and UTF-16 are read, with their mark and without it", () => {
  const files = [
    new TextEncoder().encode(TEXT).buffer,
    new TextEncoder().encode(`\ufeff${TEXT}`).buffer,
    ...[true, false].flatMap((little) => [utf16(TEXT, little), utf16(`\ufeff${TEXT}`, little)]),
  ];
  for (const file of files) expect(textOf(file)).toEqual({ text: TEXT, remark: null });
  expect(textOf(new ArrayBuffer(0))).toEqual({ text: "", remark: null });
});

test("older spreadsheets are read as what they are", () => {
  const old = textOf(new Uint8Array([0x5a, 0x6f, 0xeb]).buffer);
  expect(old.text).toBe("Zoë");
  expect(old.remark).toContain("Windows-1252");
});

test("files of spreadsheet programs are no text", () => {
  const beginning = [0x50, 0x4b, 0x03, 0x04, 0x14, 0x00];
  expect(() => textOf(new Uint8Array(beginning).buffer)).toThrow("Export it as CSV first");
});
