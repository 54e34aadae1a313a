import { EngineFailure } from "../../engine-failure.ts";
import { describeEmbedderConformance } from "./embedder-conformance.ts";
import { openFakeEmbedder } from "./fake-embedder.ts";

describeEmbedderConformance("the fake", {
  open: () => openFakeEmbedder(),
  openFailing: () => openFakeEmbedder({ failure: () => new EngineFailure("the server answered 500") }),
  secrets: [],
});
