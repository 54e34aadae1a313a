import { openFakeTraces } from "./fake-traces.ts";
import { describeTracesConformance } from "./traces-conformance.ts";

describeTracesConformance("the fake", async () => {
  const traces = openFakeTraces();
  return { traces, arrived: async () => traces.ended, close: () => traces.close() };
});
