/** Query strings. */

import { z } from "zod";
import { Severity } from "../calls/call-event.ts";
import { EndReason } from "../calls/call.ts";
import { Duration } from "../values/duration.ts";
import { Uuid } from "../values/fields.ts";
import { moment } from "../values/moments.ts";
import { pageQuery } from "../values/page.ts";
import { ToolOwnership } from "../tools/tool-record.ts";

const TimeOfDay = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/, { error: "must be a time such as 09:30:00" });

/** Filters of call lists. A call must match all of them. */
export const callFilters = {
  agentIds: z.array(Uuid).max(100).optional(),
  durationMin: Duration.optional().describe("From join to end, inclusive."),
  durationMax: Duration.optional(),
  fromDate: moment("first").optional().describe("Time of creation, inclusive."),
  toDate: moment("last").optional(),
  timeOfDayStart: TimeOfDay.optional().describe("Time of day of the creation, UTC."),
  timeOfDayEnd: TimeOfDay.optional(),
  metadata: z
    .record(z.string(), z.string())
    .meta({
      freeForm: true,
      description: "Each `metadata.{key}` must equal the call's metadata for that key.",
    })
    .optional(),
  search: z.string().min(1).max(1000).optional(),
  voiceId: Uuid.optional(),
};

/** A run of letters and digits, with the marks of letters. */
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Each word is looked up; bounds the work of a search. */
const MAX_SEARCHED_WORDS = 20;
const MAX_TRANSCRIPT_SEARCH = 200;

const TranscriptSearch = z
  .string()
  .min(1)
  .max(MAX_TRANSCRIPT_SEARCH)
  .refine((text) => (text.match(WORD) ?? []).length > 0, { error: "must have a letter or a digit" })
  .refine((text) => (text.match(WORD) ?? []).length <= MAX_SEARCHED_WORDS, {
    error: `must have at most ${MAX_SEARCHED_WORDS} words`,
  });

/** Filters of the list of calls that exist. */
const listFilters = {
  ...callFilters,
  search: callFilters.search.describe(
    "Part of the agent's name, of a summary or of a metadata value, in upper or lower case; or the whole id of a call.",
  ),
  status: z
    .enum(["waiting", "running", "ended"])
    .optional()
    .describe("`waiting`: nobody has joined yet. `running`: joined and not ended."),
  endReason: EndReason.optional(),
  hasErrors: z
    .boolean()
    .optional()
    .describe("`true`: an engine failed, or an event has the severity `error`. `false`: all other calls."),
  transcriptSearch: TranscriptSearch.optional().describe(
    "Words that the caller or the agent said, in any order and in upper or lower case. All of them must occur. A word " +
      "of three letters and more also finds longer words that begin with it. Finds calls some seconds after their end. " +
      "Pages can have fewer results than `pageSize` while `next` is not null. Needs the sort `created` or `-created`.",
  ),
};

function sortField<const F extends readonly string[]>(fields: F) {
  const values = fields.flatMap((field) => [field, `-${field}`]) as (F[number] | `-${F[number]}`)[];
  return z
    .enum(values)
    .meta({ default: "-created", description: "A leading `-` sorts in descending order." })
    .optional();
}

export const CALL_SORT_FIELDS = ["created", "joined", "ended", "billedDuration", "endReason"] as const;
export const AGENT_SORT_FIELDS = ["name", "created"] as const;

export const NoQuery = z.strictObject({});

export const PageQuery = z.strictObject(pageQuery);
export type PageQuery = z.output<typeof PageQuery>;

export const ListCallsQuery = z.strictObject({
  ...pageQuery,
  ...listFilters,
  sort: sortField(CALL_SORT_FIELDS),
});
export type ListCallsQuery = z.output<typeof ListCallsQuery>;

export const ListAgentsQuery = z.strictObject({
  ...pageQuery,
  search: z.string().min(1).max(1000).optional(),
  sort: sortField(AGENT_SORT_FIELDS),
});
export type ListAgentsQuery = z.output<typeof ListAgentsQuery>;

export const TOOL_SORT_ORDERS = [
  "default",
  "display",
  "alphabetic",
  "reverseAlphabetic",
  "chronologic",
  "reverseChronologic",
] as const;
export type ToolSortOrder = (typeof TOOL_SORT_ORDERS)[number];

export const ListToolsQuery = z.strictObject({
  ...pageQuery,
  ownership: ToolOwnership.optional(),
  search: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe("Part of the name or the description; case is ignored."),
  sortOrder: z
    .enum(TOOL_SORT_ORDERS)
    .meta({
      default: "default",
      description:
        "`default`: private tools before public tools, newest first. `display`: public tools by name, then private " +
        "tools newest first. Others: by name or by creation.",
    })
    .optional(),
});
export type ListToolsQuery = z.output<typeof ListToolsQuery>;

const throttle = z.string().min(1).optional().describe("Name or id of a call throttle.");

export const StartCallQuery = z.strictObject({
  enableGreetingPrompt: z
    .boolean()
    .meta({ default: true })
    .optional()
    .describe("Adds an instruction to greet to the first generation, if the history does not need a reply."),
  priorCallId: Uuid.optional().describe("A call whose messages become the history of the new call."),
  throttle,
});
export type StartCallQuery = z.output<typeof StartCallQuery>;

export const StartAgentCallQuery = z.strictObject({
  throttle,
  madeInConsole: z
    .boolean()
    .meta({ default: false })
    .optional()
    .describe("The web console sends true: the call is free, as `BILLING_STATUS_FREE_CONSOLE`."),
});
export type StartAgentCallQuery = z.output<typeof StartAgentCallQuery>;

export const ListMessagesQuery = z.strictObject({
  ...pageQuery,
  mode: z.enum(["last_stage", "in_call"]).meta({ default: "last_stage" }).optional(),
});
export type ListMessagesQuery = z.output<typeof ListMessagesQuery>;

export const ListEventsQuery = z.strictObject({
  ...pageQuery,
  minimum_severity: Severity.meta({ default: "info" }).optional(),
  type: z.string().min(1).max(50).optional(),
});
export type ListEventsQuery = z.output<typeof ListEventsQuery>;

export const DescriptionQuery = z.strictObject({
  format: z.enum(["json", "yaml"]).optional(),
  lang: z.string().optional().describe("Has no effect."),
});
export type DescriptionQuery = z.output<typeof DescriptionQuery>;
