/** Calls that the service has ended by itself, by its log. A caller who hangs up is no fault. */

/** How a call ends when its caller hangs up. */
const REGULAR = "hangup";
const ENDED = '"msg":"call ended"';

export class EndedCalls {
  readonly #counts = new Map<string, number>();

  /** True: the line was the end of a call. */
  read(line: string): boolean {
    if (!line.includes(ENDED)) return false;
    const { reason, detail = null } = JSON.parse(line) as {
      readonly reason: string;
      readonly detail?: string;
    };
    if (reason === REGULAR) return true;
    const text = detail === null ? reason : `${reason} (${detail})`;
    this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1);
    return true;
  }

  /** End reasons with the number of calls, since the last time. */
  take(): ReadonlyMap<string, number> {
    const taken = new Map(this.#counts);
    this.#counts.clear();
    return taken;
  }
}

/** The cell of a table. */
export function endedCell(ended: ReadonlyMap<string, number>): string {
  const parts = [...ended].map(([reason, calls]) => `${String(calls)} × ${reason}`);
  return parts.length === 0 ? "0" : parts.join("; ");
}
