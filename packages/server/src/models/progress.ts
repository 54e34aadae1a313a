/** Shows how far a download is: a bar on a terminal, and a line for each tenth elsewhere. */

import { megabytes } from "./catalogue.ts";

export interface ProgressOutput {
  readonly note: (line: string) => void;
  /** Shows a line in the place of the one before it; absent: there is no terminal. */
  readonly status?: (line: string) => void;
}

export interface Progress {
  /** A step. */
  say(line: string): void;
  show(bytes: number, total: number | null): void;
  end(): void;
}

const BAR_CHARS = 30;
const STEPS = 10;

export function progressLines({ note, status }: ProgressOutput): Progress {
  let shown = "";
  let step = 0;
  const end = (): void => {
    // The bar stays, and what follows begins on a line of its own.
    if (shown !== "") note("");
    shown = "";
  };
  return {
    say: (line) => {
      end();
      step = 0;
      note(line);
    },
    show: (bytes, total) => {
      const share = total === null ? null : bytes / Math.max(total, 1);
      if (status !== undefined) {
        const line = barOf(bytes, total, share);
        if (line !== shown) status(line);
        shown = line;
      } else if (share !== null && Math.floor(share * STEPS) > step) {
        step = Math.floor(share * STEPS);
        note(`${String(step * STEPS)} % (${megabytes(bytes)})`);
      }
    },
    end,
  };
}

function barOf(bytes: number, total: number | null, share: number | null): string {
  if (share === null || total === null) return megabytes(bytes);
  const full = Math.min(BAR_CHARS, Math.round(share * BAR_CHARS));
  const bar = `[${"#".repeat(full)}${"-".repeat(BAR_CHARS - full)}]`;
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${megabytes(bytes)} of ${megabytes(total)}`;
}
