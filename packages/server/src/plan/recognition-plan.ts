/** What `experimentalSettings` say about the recognition of a call (D49). What cannot be used is a warning. */

import { MAX_TRANSCRIPT_HINT_LENGTH, MAX_TRANSCRIPT_HINTS } from "@parley/schema";

export interface RecognitionPlan {
  /** Name of the recogniser; null: the deployment's default. */
  readonly recogniser: string | null;
  /** Words and names that are likely in the call. */
  readonly hints: readonly string[];
  readonly warnings: readonly string[];
}

/** @param recognisers names that the deployment knows */
export function recognitionPlan(
  settings: Readonly<Record<string, unknown>> | null | undefined,
  recognisers: readonly string[],
): RecognitionPlan {
  const { recogniser, warning } = recogniserOf(settings?.["transcriptionProvider"], recognisers);
  const hints = hintsOf(settings?.["transcriptHints"]);
  return { recogniser, hints: hints.hints, warnings: [warning, hints.warning].filter((one) => one !== null) };
}

function recogniserOf(
  wanted: unknown,
  recognisers: readonly string[],
): { readonly recogniser: string | null; readonly warning: string | null } {
  if (wanted === undefined || wanted === null) return { recogniser: null, warning: null };
  const known = recognisers.find((name) => name === wanted);
  if (known !== undefined) return { recogniser: known, warning: null };
  const named = typeof wanted === "string" ? wanted : JSON.stringify(wanted);
  const warning = `experimentalSettings.transcriptionProvider: there is no recogniser ${named} here, only ${recognisers.join(", ")}`;
  return { recogniser: null, warning };
}

function hintsOf(given: unknown): { readonly hints: readonly string[]; readonly warning: string | null } {
  if (given === undefined || given === null) return { hints: [], warning: null };
  if (!Array.isArray(given)) {
    return {
      hints: [],
      warning: "experimentalSettings.transcriptHints is ignored: it must be a list of texts",
    };
  }
  const texts = given.flatMap((one: unknown) => {
    const text = typeof one === "string" ? plain(one) : "";
    return text === "" || Array.from(text).length > MAX_TRANSCRIPT_HINT_LENGTH ? [] : [text];
  });
  const hints = [...new Set(texts)].slice(0, MAX_TRANSCRIPT_HINTS);
  const ignored = given.length - hints.length;
  const limits = `at most ${String(MAX_TRANSCRIPT_HINTS)} different texts of ${String(MAX_TRANSCRIPT_HINT_LENGTH)} characters`;
  return {
    hints,
    warning:
      ignored === 0
        ? null
        : `experimentalSettings.transcriptHints: ${String(ignored)} of ${String(given.length)} are ignored; ${limits} are used`,
  };
}

/** One line without control characters. */
function plain(text: string): string {
  return text.replaceAll(/[\s\p{C}]+/gu, " ").trim();
}
