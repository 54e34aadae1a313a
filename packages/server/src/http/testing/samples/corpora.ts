import { randomUUID } from "node:crypto";
import type { Samples } from "./samples.ts";

const source = { crawl: { startUrls: ["https://hotel.example/"] } };

export const corpusSamples: Samples = {
  async make(owner) {
    const corpus = await owner.post("/api/corpora", { name: "A" });
    const corpusId = String(corpus.json["corpusId"]);
    const made = await owner.post(`/api/corpora/${corpusId}/sources`, source);
    // Nothing is loaded, so there is no document: any id is looked up in its source only.
    return { corpus_id: corpusId, source_id: String(made.json["sourceId"]), document_id: randomUUID() };
  },
  bodies: {
    createCorpusSource: source,
    replaceCorpusSource: source,
    queryCorpus: { query: "breakfast" },
    createCorpusUpload: { mimeType: "text/plain" },
  },
};
