/** What every store of uploaded documents does. */

import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { CorpusFiles } from "../corpus-files.ts";

const never = new AbortController().signal;

export function describeCorpusFilesConformance(name: string, current: () => CorpusFiles): void {
  describe(`the port of corpus files: ${name}`, () => {
    it("reads what was written last, and nothing after it was removed", async () => {
      const files = current();
      const id = randomUUID();
      expect(await files.read(id, 10, never)).toBeNull();
      await files.write(id, Uint8Array.of(1, 2, 3), never);
      await files.write(id, Uint8Array.of(4, 0, 255, 6), never);
      expect([...((await files.read(id, 4, never)) ?? [])]).toEqual([4, 0, 255, 6]);
      await expect(files.read(id, 3, never)).rejects.toBeInstanceOf(RangeError);
      await files.remove(id, never);
      await files.remove(id, never);
      expect(await files.read(id, 10, never)).toBeNull();
    });
  });
}
