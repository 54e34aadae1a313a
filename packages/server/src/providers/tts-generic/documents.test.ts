import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { documentsByLine, MAX_DOCUMENT_CHARS, wholeDocument } from "./documents.ts";

async function* cut(text: string, cuts: readonly number[] = []): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  const at = [0, ...cuts.map((each) => each % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (const [index, end] of at.slice(1).entries()) yield bytes.subarray(at[index], end);
}

async function all(pieces: AsyncIterable<Uint8Array>): Promise<unknown[]> {
  const documents: unknown[] = [];
  for await (const document of documentsByLine(pieces)) documents.push(document);
  return documents;
}

const LINES = '{"a":"ü😀"}\n\n  {"b":2}\r\n[3]';
const EVENTS = [
  ": comment",
  "event: audio",
  "id: 7",
  'data: {"a":1}',
  "",
  "retry: 100",
  'data: {"b":',
  'data: "ü😀"}',
  "",
  'data:{"c":3}',
  "data: [DONE]",
  "",
].join("\r\n");

describe("documents of an answer", () => {
  it("come in lines and in events, however they are cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1_000), { maxLength: 12 }), async (cuts) => {
        expect(await all(cut(LINES, cuts))).toEqual([{ a: "ü😀" }, { b: 2 }, [3]]);
        expect(await all(cut(EVENTS, cuts))).toEqual([{ a: 1 }, { b: "ü😀" }, { c: 3 }]);
        expect(await wholeDocument(cut('{"a":"ü😀"}', cuts))).toEqual({ a: "ü😀" });
      }),
    );
  });

  it.each(['{"a":', "hello\n", 'data: {"a":\n\n', "data: hello\ndata: world\n"])(
    "refuse %j",
    async (text) => {
      await expect(all(cut(text))).rejects.toThrow("something that is not JSON");
    },
  );

  it("have a greatest length, also without an end of line", async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      const piece = Buffer.alloc(65_536, "x");
      for (let sent = 0; sent <= MAX_DOCUMENT_CHARS * 2; sent += piece.length) yield piece;
    }
    await expect(all(endless())).rejects.toThrow("of more than");
    await expect(wholeDocument(endless())).rejects.toThrow("of more than");
  });

  it("end with documents or a refusal, whatever comes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 200 }), async (text) => {
        const end = await all(cut(text)).then(
          () => "documents",
          (error: unknown) => (error instanceof Error ? error.name : "odd"),
        );
        expect(["documents", "EngineFailure"]).toContain(end);
      }),
    );
  });
});
