/** The auxiliary websocket of a call. */

import type { DataMessageFlags } from "./plan.ts";

export interface DataConnectionPlan {
  /** ws or wss. */
  readonly websocketUrl: string;
  /** Sent with the upgrade request. May hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each signs the upgrade request; empty: no signature. Secrets. */
  readonly sharedSecrets: readonly string[];
  /** Null: no audio. */
  readonly audio: DataConnectionAudio | null;
  /** Which messages go there, defaults applied. */
  readonly dataMessages: DataMessageFlags;
}

export interface DataConnectionAudio {
  readonly sampleRateHz: number;
  /** mixed: mono. separated: stereo, left user, right agent. */
  readonly channels: "mixed" | "separated";
}
