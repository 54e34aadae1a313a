/**
 * Settings whose names have changed. An old name stops the start, because ignoring it would change what the service
 * does.
 */

/** Old name to new name. A value keeps its meaning and its unit. */
export const RENAMED_SETTINGS: Readonly<Record<string, string>> = {
  CALLS_KEPT_DAYS: "CALLS_RETENTION_DAYS",
  FAREWELL_LIMIT_MS: "HANGUP_MESSAGE_LIMIT_MS",
  KEEP_EVENT_LOGS: "STORE_EVENT_LOGS",
  LENIENT_FIELDS: "IGNORE_UNKNOWN_FIELDS",
  LIVE_CALLS_KEPT_FREE: "RESERVED_LIVE_CALLS",
  PARTING_LIMIT_MS: "TIME_EXCEEDED_MESSAGE_LIMIT_MS",
  RECORDINGS_KEPT_DAYS: "RECORDINGS_RETENTION_DAYS",
  REPLY_MAXIMUM_CHARS: "MAX_REPLY_CHARS",
  TRANSCRIPTS_KEPT_DAYS: "TRANSCRIPTS_RETENTION_DAYS",
  TURN_JUDGEMENT_WAIT_MS: "TURN_DETECTOR_TIMEOUT_MS",
  TURN_MAXIMUM_MS: "MAX_TURN_DURATION_MS",
};

/**
 * @param present the variables that are set and not empty
 * @returns a sentence for each old name
 */
export function renamedSettings(present: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(RENAMED_SETTINGS)
    .filter(([oldName]) => present[oldName] !== undefined)
    .map(([oldName, newName]) => `${oldName} is now called ${newName}. Rename it in the environment.`);
}
