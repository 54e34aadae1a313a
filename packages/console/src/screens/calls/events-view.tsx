/** The events of a call, by severity and type. */

import type { Call, CallEvent, Severity } from "@parley/schema";
import { Activity, Play } from "lucide-react";
import { useState } from "react";
import { usePages } from "../../data/pages.ts";
import { Button } from "../../ui/button.tsx";
import { Badge, Toolbar } from "../../ui/display.tsx";
import { Select, TextInput } from "../../ui/field.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { useSearchText } from "../search-text.ts";
import { clockOf, msOf } from "./call-words.ts";
import { Extras, SEVERITY_TONES } from "./event-row.tsx";
import { usePlayback } from "./recording/playback.tsx";
import { freshnessOf } from "./use-conversation.ts";
import styles from "./call.module.css";

const SEVERITIES: readonly { readonly value: Severity; readonly label: string }[] = [
  { value: "debug", label: "All, including debug" },
  { value: "info", label: "Info and above" },
  { value: "warning", label: "Warnings and errors" },
  { value: "error", label: "Errors only" },
];

/** The largest page of the service. */
const PAGE_SIZE = 100;
/** Longest type name. */
const MAX_TYPE_LENGTH = 50;

export function EventsView({ call }: { readonly call: Call }) {
  const [severity, setSeverity] = useState<Severity>("info");
  const type = useSearchText();
  const pages = usePages(
    "/api/calls/{call_id}/events",
    {
      params: { call_id: call.callId },
      query: {
        pageSize: PAGE_SIZE,
        minimum_severity: severity,
        ...(type.wanted === "" ? {} : { type: type.wanted }),
      },
    },
    { everyMs: () => freshnessOf(call) },
  );
  // Two events can have equal fields.
  const rows = { ...pages, rows: pages.rows?.map((event, index) => ({ ...event, index })) ?? null };
  return (
    <div className={styles.parts}>
      <Toolbar>
        <Select
          aria-label="Severity"
          className={styles.filter ?? ""}
          value={severity}
          choices={SEVERITIES}
          onChange={setSeverity}
        />
        <TextInput
          aria-label="Type"
          className={styles.type}
          list="event-types"
          placeholder="For example, turn.completed"
          maxLength={MAX_TYPE_LENGTH}
          spellCheck={false}
          value={type.text}
          onChange={(event) => type.setText(event.target.value)}
        />
        <datalist id="event-types">
          {[...new Set(pages.rows?.map((event) => event.type))].map((known) => (
            <option key={known} value={known} />
          ))}
        </datalist>
      </Toolbar>
      <PagedTable
        label="Events"
        pages={rows}
        columns={COLUMNS}
        keyOf={({ index }) => index}
        empty={
          <Empty icon={<Activity aria-hidden="true" />} title="No matching events">
            {type.wanted === ""
              ? "No events with this severity."
              : "Enter a complete type, for example turn.completed."}
          </Empty>
        }
      />
    </div>
  );
}

const COLUMNS: readonly Column<CallEvent>[] = [
  { id: "at", label: "Time", cell: (event) => <EventTime event={event} /> },
  {
    id: "severity",
    label: "Severity",
    cell: ({ severity }) => <Badge tone={SEVERITY_TONES[severity]}>{severity}</Badge>,
  },
  { id: "type", label: "Type", cell: ({ type }) => <code>{type}</code> },
  {
    id: "text",
    label: "Description",
    cell: (event) => (
      <div className={styles.eventText}>
        {event.text}
        <Extras event={event} />
      </div>
    ),
  },
];

function EventTime({ event: { callTimestamp } }: { readonly event: CallEvent }) {
  const { playAt } = usePlayback();
  const atMs = msOf(callTimestamp) ?? 0;
  const clock = clockOf(atMs);
  if (playAt === null) return <span>{clock}</span>;
  return (
    <Button small kind="quiet" aria-label={`Play from ${clock}`} onClick={() => playAt(atMs)}>
      <Play aria-hidden="true" /> {clock}
    </Button>
  );
}
