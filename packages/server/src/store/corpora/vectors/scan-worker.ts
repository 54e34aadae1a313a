/** Thread entry: holds the vectors of corpora and compares them. */

import { parentPort } from "node:worker_threads";
import { compareVectors, type LoadedVectors } from "./compare-vectors.ts";
import type { FromScanThread, ToScanThread } from "./scan-protocol.ts";

const corpora = new Map<string, LoadedVectors[]>();

function say(message: FromScanThread): void {
  parentPort?.postMessage(message, []);
}

parentPort?.on("message", (message: ToScanThread) => {
  switch (message.type) {
    case "load": {
      const { key, chunkIds, numbers } = message;
      corpora.set(key, [...(corpora.get(key) ?? []), { chunkIds, numbers }]);
      return;
    }
    case "drop":
      corpora.delete(message.key);
      return;
    case "search": {
      const { id, key, vector, limit } = message;
      const loaded = corpora.get(key);
      if (loaded === undefined) say({ type: "missing", id });
      else say({ type: "found", id, ...compareVectors(loaded, vector, limit) });
    }
  }
});
say({ type: "ready" });
