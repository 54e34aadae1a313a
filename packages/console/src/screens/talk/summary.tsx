/** The summary of an ended call, with links. */

import type { CallEnd, CallError } from "@parley/client";
import { Mic, PhoneCall, SlidersHorizontal } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useRead } from "../../data/api.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Card, KeyValue } from "../../ui/display.tsx";
import { Notice } from "../../ui/form.tsx";
import type { Feed } from "./feed.ts";
import { medianOf, secondsText } from "./latency.ts";
import { clockText } from "./presence.tsx";
import styles from "./talk.module.css";

export interface SummaryProps {
  readonly callId: string;
  readonly feed: Feed;
  readonly end: CallEnd;
  /** By this page's clock. */
  readonly lengthMs: number;
  readonly onAgain: () => void;
  readonly onChange: () => void;
}

const REASONS: Readonly<Record<string, string>> = {
  hangup: "You hung up",
  agent_hangup: "The agent hung up",
  timeout: "Time limit reached",
  connection_error: "Connection lost",
  system_error: "System error",
  unjoined: "Nobody joined",
};

/** Polling interval until the end of the call is stored. */
const LOOK_EVERY_MS = 1_000;

export function Summary({ callId, feed, end, lengthMs, onAgain, onChange }: SummaryProps) {
  const [recorded, setRecorded] = useState(false);
  const record = useRead(
    "/api/calls/{call_id}",
    { params: { call_id: callId } },
    recorded ? {} : { everyMs: LOOK_EVERY_MS },
  );
  const { ended = null } = record.data ?? {};
  useEffect(() => setRecorded(ended !== null), [ended]);
  const title = useRef<HTMLHeadingElement>(null);
  // The buttons of the call are gone, so the focus moves here.
  useEffect(() => title.current?.focus(), []);
  const reason = record.data?.endReason ?? feed.endReason;
  const median = medianOf(feed.latencies);
  const count = (is: (entry: Feed["entries"][number]) => boolean) => feed.entries.filter(is).length;
  const tools = count(({ kind }) => kind === "tool");
  const cuts = count((entry) => entry.kind === "said" && entry.interrupted);
  return (
    <Card>
      <h2 ref={title} tabIndex={-1} className={styles.over}>
        Call ended
      </h2>
      {end.error !== null && <Notice tone="warn">{lossOf(end.error)}</Notice>}
      <KeyValue
        rows={[
          ["End reason", reason === null ? null : (REASONS[reason] ?? reason)],
          ["Duration", clockText(lengthMs)],
          ["Messages", count(({ kind }) => kind === "said").toLocaleString()],
          ["Latency", median === null ? null : `${secondsText(median)} (median)`],
          ["Interruptions", cuts === 0 ? null : cuts.toLocaleString()],
          ["Tool calls", tools === 0 ? null : tools.toLocaleString()],
        ]}
      />
      <div className={styles.stacked}>
        <Button kind="primary" onClick={onAgain}>
          <Mic aria-hidden="true" /> Talk again
        </Button>
        <ButtonLink to={`/calls/${callId}`}>
          <PhoneCall aria-hidden="true" /> Open the call
        </ButtonLink>
        <Button kind="quiet" onClick={onChange}>
          <SlidersHorizontal aria-hidden="true" /> Change settings
        </Button>
      </div>
    </Card>
  );
}

function lossOf(error: CallError): string {
  return error.code === "network"
    ? "The connection was lost and could not be restored in time."
    : `The call was lost: ${error.message}`;
}
