/**
 * Who has answered a call over a carrier: what the carrier reports, and, for one that reports a machine alone, the end of
 * the machine's greeting by its beep. A beep that comes before the report counts once the report is there, and in a call
 * with a person it means nothing.
 */

import type { Answerer } from "../../call/life/answerer-state.ts";
import type { CallEngineEventBody } from "../../call/events.ts";
import { BeepDetector } from "../../media/beep.ts";
import type { CallPlan } from "../../plan/plan.ts";

/** In the spelling of the other carriers. */
const BEEP: Answerer = { answeredBy: "machine_end_beep", isMachine: true, greetingEnded: true };
/** Carriers look for a machine, and for the end of its greeting, for a minute at most. */
const REPORT_LIMIT_MS = 90_000;

export interface CallAnswererDeps {
  readonly nowMs: () => number;
  readonly post: (event: CallEngineEventBody) => void;
}

export class CallAnswerer {
  readonly #medium: CallPlan["medium"];
  readonly #deps: CallAnswererDeps;
  #beeps: BeepDetector | null = null;
  #fromMs: number | null = null;
  #isMachine = false;
  #hasBeeped = false;

  constructor({ medium }: Pick<CallPlan, "medium">, deps: CallAnswererDeps) {
    this.#medium = medium;
    this.#deps = deps;
  }

  /** The carrier's report; it may come twice. */
  report(answerer: Answerer): void {
    this.#deps.post({ type: "answererDetected", ...answerer });
    if (!answerer.isMachine || this.#isMachine) return;
    this.#isMachine = true;
    this.#conclude();
  }

  /** The carrier dials or has brought the call, which was joined a short time ago. */
  get isAwaited(): boolean {
    if (this.#medium.returns !== true || this.#fromMs === null) return false;
    return this.#deps.nowMs() - this.#fromMs < REPORT_LIMIT_MS;
  }

  /** What comes from the line, at one rate. */
  audio(samples: Int16Array, sampleRateHz: number): void {
    this.#fromMs ??= this.#deps.nowMs();
    if (!this.#findsBeep || this.#hasBeeped) return;
    this.#beeps ??= new BeepDetector(sampleRateHz);
    if (!this.#beeps.push(samples)) return;
    this.#hasBeeped = true;
    this.#conclude();
  }

  /** The one carrier that does not report the end of a greeting. */
  get #findsBeep(): boolean {
    return this.#medium.kind === "telephony3" && this.#medium.detectsMessageEnd === true;
  }

  #conclude(): void {
    if (this.#isMachine && this.#hasBeeped) this.#deps.post({ type: "answererDetected", ...BEEP });
  }
}
