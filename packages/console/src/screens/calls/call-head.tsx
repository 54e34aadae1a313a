/** The overview of a call. */

import type { Call } from "@parley/schema";
import { type ReactNode, useEffect, useState } from "react";
import { Link } from "react-router";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Badge, Card } from "../../ui/display.tsx";
import { When } from "../../ui/parts.tsx";
import { billingOf, clockOf, durationMsOf } from "./call-words.ts";
import { mediumText, phoneStatusOf } from "./phone/phone-facts.ts";
import styles from "./call.module.css";

export function CallHead({ call }: { readonly call: Call }) {
  const { callId, agent, created, joined, summary, shortSummary } = call;
  const { text, tone } = phoneStatusOf(call);
  return (
    <Card aria-label="Overview">
      <dl className={styles.facts}>
        <Fact label="Status">
          <Badge tone={tone}>{text}</Badge> <WithErrors call={call} />
        </Fact>
        <Fact label="Agent">
          {agent === null ? "None" : <Link to={`/agents/${agent.agentId}`}>{agent.name}</Link>}
        </Fact>
        <Fact label="Duration">
          <Duration call={call} />
        </Fact>
        <Fact label="Medium">{mediumText(call)}</Fact>
        <Fact label="Created">
          <When at={created} />
        </Fact>
        <Fact label="Joined">{joined === null ? "Not joined" : <When at={joined} />}</Fact>
        <Fact label="Billing">{billingOf(call)}</Fact>
        <Fact label="ID">
          <span className={styles.id}>
            <code>{callId}</code> <CopyButton text={callId} label="Copy call ID" />
          </span>
        </Fact>
      </dl>
      {(summary ?? shortSummary) !== null && (
        <div className={styles.summary}>
          <h2>Summary</h2>
          <p>{summary ?? shortSummary}</p>
        </div>
      )}
      {call.joinUrl !== null && joined === null && call.ended === null && <JoinUrl url={call.joinUrl} />}
    </Card>
  );
}

/** A mark for calls in which an engine failed; their end says nothing about it. */
export function WithErrors({ call }: { readonly call: Pick<Call, "hasErrors"> }) {
  return call.hasErrors ? <Badge tone="bad">With errors</Badge> : null;
}

/** The join URL, only until the call is joined, and only to copy: it lets anyone join as the caller. */
function JoinUrl({ url }: { readonly url: string }) {
  return (
    <p className={styles.soft}>
      Nobody has joined yet. Anyone with the join URL can join.{" "}
      <CopyButton text={url} label="Copy join URL" />
    </p>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The duration, counting up during the call. */
function Duration({ call }: { readonly call: Call }) {
  const [nowMs, setNowMs] = useState(() => Date.now());
  const isRunning = call.joined !== null && call.ended === null;
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  const ms = durationMsOf(call, nowMs);
  return <span className={styles.number}>{ms === null ? "–" : clockOf(ms)}</span>;
}
