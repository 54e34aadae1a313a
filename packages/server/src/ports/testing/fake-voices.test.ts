import { openFakeVoices } from "./fake-voices.ts";
import { describeVoicesConformance } from "./voices-conformance.ts";

describeVoicesConformance("the fake", {
  open: () => openFakeVoices(),
  openRefused: () => openFakeVoices({ key: "another key" }),
  key: "fake-key",
});
