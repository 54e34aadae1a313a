/** The SIP messages of a call, as a ladder between the service and the other side. */

import type { Call } from "@parley/schema";
import { ArrowLeft, ArrowRight, Waypoints } from "lucide-react";
import { usePages } from "../../../data/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { classNames } from "../../../ui/class-names.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Badge, Card } from "../../../ui/display.tsx";
import { CodeBlock } from "../../../ui/parts.tsx";
import { Empty, ErrorState, Loading, VisuallyHidden } from "../../../ui/states.tsx";
import { freshnessOf } from "../use-conversation.ts";
import { logText, offsetText, peersOf, type Rung, rungsOf } from "./ladder.ts";
import styles from "./sip.module.css";

/** The largest page of the service; a usual call has ten messages. */
const PAGE_SIZE = 100;

export function isSipCall({ medium }: Pick<Call, "medium">): boolean {
  return "sip" in medium;
}

export function SipView({ call }: { readonly call: Call }) {
  const { rows, error, retry, more, loadingMore } = usePages(
    "/api/calls/{call_id}/sip_messages",
    { params: { call_id: call.callId }, query: { pageSize: PAGE_SIZE } },
    { everyMs: () => freshnessOf(call) },
  );
  if (rows === null)
    return error === null ? <Loading lines={6} /> : <ErrorState error={error} retry={retry} />;
  if (rows.length === 0) {
    return (
      <Empty icon={<Waypoints aria-hidden="true" />} title="No SIP messages">
        Messages appear here while the call is set up, and stay as long as the call is stored.
      </Empty>
    );
  }
  const rungs = rungsOf(rows);
  return (
    <Card
      title="SIP messages"
      text="Passwords, answers to challenges, and keys of media are hidden."
      actions={<CopyButton text={logText(rows)} label="Copy SIP messages" />}
    >
      <div className={styles.sides} aria-hidden="true">
        <span />
        <strong>Service</strong>
        <strong className={styles.peer}>{peersOf(rungs).join(", ")}</strong>
      </div>
      <ol className={styles.ladder} aria-label="SIP messages">
        {rungs.map((rung) => (
          <RungRow key={rung.index} rung={rung} />
        ))}
      </ol>
      {error !== null && <ErrorState error={error} retry={retry} />}
      {more !== null && (
        <Button small busy={loadingMore} onClick={more}>
          Show more
        </Button>
      )}
    </Card>
  );
}

function RungRow({ rung: { label, tone, isSent, peer, offsetMs, message } }: { readonly rung: Rung }) {
  const Arrow = isSent ? ArrowRight : ArrowLeft;
  return (
    <li className={styles.rung}>
      <details>
        <summary>
          <time className={styles.at} dateTime={message.timestamp} title={message.timestamp}>
            {offsetText(offsetMs)}
          </time>
          <span className={classNames(styles.wire, isSent ? styles.sent : styles.received)}>
            <Arrow aria-hidden="true" className={styles.arrow} />
            <Badge tone={tone}>{label}</Badge>
            <VisuallyHidden>{isSent ? ` sent to ${peer}` : ` received from ${peer}`}</VisuallyHidden>
          </span>
        </summary>
        <p className={styles.places}>
          {message.transport.toUpperCase()} {message.source} → {message.destination}
        </p>
        <CodeBlock label={`Message ${label}`}>{message.text.replaceAll("\r\n", "\n").trimEnd()}</CodeBlock>
      </details>
    </li>
  );
}
