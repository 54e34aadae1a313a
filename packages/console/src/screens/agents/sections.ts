/** The sections of an agent's form, in their order, and the fields that each has. */

export interface Section {
  /** Its fragment of the address: `/agents/…#voice`. */
  readonly id: string;
  readonly title: string;
  /** The first steps of the paths of its fields in errors of the service. */
  readonly fields: readonly string[];
}

export const SECTIONS = [
  { id: "general", title: "General", fields: ["name"] },
  {
    id: "prompt",
    title: "Prompt and model",
    fields: of("systemPrompt", "model", "temperature", "languageHint", "transcriptHints"),
  },
  { id: "first-message", title: "First message", fields: of("firstSpeakerSettings") },
  {
    id: "voice",
    title: "Voice",
    fields: of("voice", "initialOutputMedium", "externalVoice", "voiceOverrides"),
  },
  { id: "turn-taking", title: "Turn-taking", fields: of("vadSettings") },
  { id: "inactivity", title: "Inactivity messages", fields: of("inactivityMessages") },
  { id: "tools", title: "Tools", fields: of("selectedTools") },
  {
    id: "limits",
    title: "Duration and recording",
    fields: of("maxDuration", "joinTimeout", "retentionPolicy", "timeExceededMessage", "recordingEnabled"),
  },
  {
    id: "connection",
    title: "Connection",
    fields: of("clientMessages", "medium", "dataConnection", "contextSchema", "sharedSecrets"),
  },
] as const satisfies readonly Section[];

export type SectionId = (typeof SECTIONS)[number]["id"];

function of(...names: readonly string[]): readonly string[] {
  return names.map((name) => `callTemplate.${name}`);
}

export type Mark = "error" | "warning";

/** The sections that have fields with errors or warnings, by the paths of these fields. */
export function marksOf(errors: Iterable<string>, warnings: Iterable<string>): ReadonlyMap<SectionId, Mark> {
  const marks = new Map<SectionId, Mark>();
  for (const [paths, mark] of [[warnings, "warning"] as const, [errors, "error"] as const]) {
    for (const path of paths) {
      const section = SECTIONS.find(({ fields }) =>
        fields.some((field: string) => path === field || path.startsWith(`${field}.`)),
      );
      if (section !== undefined) marks.set(section.id, mark);
    }
  }
  return marks;
}
