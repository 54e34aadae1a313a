import { openFakeSipCalls } from "./fake-sip-calls.ts";
import { describeSipCalls } from "./sip-calls-conformance.ts";

describeSipCalls("the fake", (listener) => {
  const dialler = openFakeSipCalls(listener);
  return Promise.resolve({ dialler, peer: dialler.peer, dispose: () => Promise.resolve() });
});
