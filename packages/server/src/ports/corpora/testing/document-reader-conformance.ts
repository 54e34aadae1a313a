/** What every document reader does. */

import { afterAll, describe, expect, it } from "vitest";
import { UnreadableDocument, type DocumentReader } from "../document-reader.ts";

const never = new AbortController().signal;
const text = (content: string) => ({
  bytes: new TextEncoder().encode(content),
  mimeType: "text/plain",
  charset: null,
  url: null,
});

export function describeDocumentReaderConformance(name: string, open: () => DocumentReader): void {
  describe(`the port of document readers: ${name}`, () => {
    const reader = open();
    afterAll(() => reader.close());

    it("reads the chunks of a text in their order", async () => {
      const read = await reader.read(text("Breakfast is from 7 to 10.\n\nGuests leave until eleven."), never);
      const all = read.chunks.map((chunk) => chunk.text).join("\n\n");
      expect(all).toBe("Breakfast is from 7 to 10.\n\nGuests leave until eleven.");
      for (const { tokens } of read.chunks) expect(tokens).toBeGreaterThan(0);
      expect(read).toMatchObject({ links: [], canonicalUrl: null, isHidden: false });
    });

    it("refuses other types, and documents without text, with a code and a sentence", async () => {
      expect(reader.mimeTypes.has("text/plain")).toBe(true);
      const picture = { ...text("x"), mimeType: "image/png" };
      for (const [document, code] of [
        [picture, "unsupported_type"],
        [text("  \n\n "), "no_text"],
      ] as const) {
        const failure: unknown = await reader.read(document, never).catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(UnreadableDocument);
        expect(failure).toMatchObject({ code, message: expect.stringMatching(/^[A-Z].*\.$/) as string });
      }
      expect((await reader.read(text("It goes on."), never)).chunks).toHaveLength(1);
    });

    it("reads several at once, and ends with what it was aborted with", async () => {
      const reading = Array.from({ length: 5 }, (_, index) =>
        reader.read(text(`Number ${String(index)}.`), never),
      );
      expect((await Promise.all(reading)).map(({ chunks }) => chunks[0]?.text)).toEqual(
        reading.map((_, index) => `Number ${String(index)}.`),
      );
      const reason = new Error("not wanted any more");
      await expect(reader.read(text("It is late."), AbortSignal.abort(reason))).rejects.toBe(reason);
    });
  });
}
