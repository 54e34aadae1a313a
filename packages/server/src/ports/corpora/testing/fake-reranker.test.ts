import { EngineFailure } from "../../engine-failure.ts";
import { openFakeReranker } from "./fake-reranker.ts";
import { describeRerankerConformance } from "./reranker-conformance.ts";

describeRerankerConformance("the fake", {
  open: () => openFakeReranker(),
  openFailing: () => openFakeReranker({ failure: () => new EngineFailure("the server answered 500") }),
  secrets: [],
});
