/** Each adapter of a language model with the fake of its vendor, or a process on this machine, and one fault. */

import type { LlmEngine } from "../../src/ports/llm.ts";
import { openSubject, SUBJECTS, type Subject } from "../../src/providers/llm-sdk/testing/subjects.ts";
import {
  serveVendor,
  type WireAnswer,
  type WireFault,
} from "../../src/providers/llm-sdk/testing/vendor-wire.ts";
import type { VendorFault } from "./gates.ts";
import { NEVER_LOCAL, openFaultyLocalLlm } from "./local-models.ts";
import { REPLY_PIECES } from "./said.ts";

export interface OpenedModel {
  readonly engine: LlmEngine;
  readonly close: () => Promise<void>;
}

export interface ModelSubject {
  readonly name: string;
  /** Faults that it cannot have. */
  readonly never: readonly VendorFault[];
  readonly open: (fault: VendorFault) => Promise<OpenedModel>;
}

const WRONG_KEY = "a-key-that-nobody-has";

const FAULTS: Readonly<Record<VendorFault, WireFault | null>> = {
  // The key is wrong, and the vendor works.
  "refused key": null,
  "429": { kind: "status", status: 429 },
  "5xx": { kind: "status", status: 503 },
  "hang before the first byte": { kind: "hangs" },
  "hang in the middle": { kind: "hangsMidway" },
  garbage: { kind: "garbage" },
  "drop in the middle": { kind: "drops" },
  slow: { kind: "slow" },
};

const answer = (): WireAnswer => ({ texts: REPLY_PIECES, inputTokens: 50, outputTokens: 12 });

function ofVendor(subject: Subject): ModelSubject {
  return {
    name: subject.vendor === "compatible" ? "OpenAI-compatible" : subject.title,
    never: [],
    async open(fault) {
      const handler = serveVendor(subject.wire, answer, FAULTS[fault]);
      const key = fault === "refused key" ? { apiKey: WRONG_KEY } : {};
      const { engine, server } = await openSubject(subject, handler, key);
      return {
        engine,
        close: async () => {
          await engine.close();
          await server.close();
        },
      };
    },
  };
}

export const MODELS: readonly ModelSubject[] = [
  ...SUBJECTS.map(ofVendor),
  {
    name: "llama.cpp",
    never: NEVER_LOCAL,
    async open(fault) {
      const engine = await openFaultyLocalLlm(fault);
      return { engine, close: () => engine.close() };
    },
  },
];
