import { expect, test } from "vitest";
import { fileFault, mimeTypeOf } from "./upload-files.ts";

test("the type of a file is that of its ending", () => {
  expect(["a.PDF", "b.x.md", "c", "d.exe", "toString"].map(mimeTypeOf)).toEqual([
    "application/pdf",
    "text/markdown",
    null,
    null,
    null,
  ]);
});

test("files that the service would refuse are named before they are sent", () => {
  expect(fileFault({ name: "a.pdf", size: 10 * 1024 * 1024 })).toBeNull();
  expect(fileFault({ name: "a.pdf", size: 10 * 1024 * 1024 + 1 })).toBe("a.pdf has more than 10 MiB.");
  expect(fileFault({ name: "a.pdf", size: 0 })).toBe("a.pdf is empty.");
  expect(fileFault({ name: "a.png", size: 1 })).toBe("a.png is not of a type that can be read.");
});
