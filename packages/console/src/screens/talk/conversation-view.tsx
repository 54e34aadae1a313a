/** A call, during it and after its end. */

import type { CallEnd } from "@parley/client";
import { useAgentState, useTranscripts } from "@parley/client/react";
import { type ReactNode, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Card } from "../../ui/display.tsx";
import { Notice } from "../../ui/form.tsx";
import { DemoEngines } from "../demo-engines.tsx";
import { Composer } from "./composer.tsx";
import { Controls } from "./controls.tsx";
import { LatencyCard } from "./latency-card.tsx";
import { Presence } from "./presence.tsx";
import { Summary } from "./summary.tsx";
import { ConversationLog } from "./transcript.tsx";
import { isTimeToType } from "./typed-phrase.ts";
import type { Conversation } from "./use-talk.ts";
import styles from "./talk.module.css";

export interface TalkingProps {
  readonly conversation: Conversation;
  readonly microphone: string;
  readonly onMicrophone: (microphone: string) => void;
  readonly onHangUp: () => void;
  /** Typed after the agent's first words. */
  readonly say: string | null;
  readonly onSaid: () => void;
}

export function Talking({ conversation, microphone, onMicrophone, onHangUp, say, onSaid }: TalkingProps) {
  const { call, refusal, joinedAtMs } = conversation;
  const [hears, setHears] = useState(conversation.hears);
  const onStatus = useCallback((tell: () => void) => call.on("status", tell), [call]);
  const status = useSyncExternalStore(onStatus, () => call.status);
  const side = useRef<HTMLDivElement>(null);
  // The start button is gone, so the focus moves here.
  useEffect(() => side.current?.focus({ preventScroll: true }), []);
  const state = useAgentState(call);
  const feed = useFeed(conversation);
  const isTime = isTimeToType(state, conversation.agentOpens, feed);
  // Effects may run twice, and a text must not be sent twice.
  const sent = useRef<string | null>(null);
  useEffect(() => {
    if (say === null || !isTime || sent.current === say) return;
    sent.current = say;
    onSaid();
    call.sendText(say);
  }, [call, say, isTime, onSaid]);
  return (
    <Columns
      conversation={conversation}
      head={<DemoEngines flat onSay={(phrase) => call.sendText(phrase)} />}
      foot={<Composer call={call} />}
    >
      <Card>
        <div ref={side} tabIndex={-1} role="group" aria-label="The call">
          <Presence {...{ call, status, hears, joinedAtMs }} />
        </div>
        <p role="status" className={styles.lost}>
          {status === "reconnecting" && "Connection lost. Messages are sent after reconnecting."}
        </p>
        <Controls {...{ call, microphone, onMicrophone, hears, onHangUp }} onHears={setHears} />
        {refusal !== null && !hears && <Notice tone="warn">{refusal}</Notice>}
      </Card>
    </Columns>
  );
}

export interface OverProps {
  readonly conversation: Conversation;
  readonly end: CallEnd;
  readonly lengthMs: number;
  readonly onAgain: () => void;
  readonly onChange: () => void;
}

export function Over({ conversation, ...rest }: OverProps) {
  const feed = useFeed(conversation);
  return (
    <Columns conversation={conversation}>
      <Summary callId={conversation.callId} feed={feed} {...rest} />
    </Columns>
  );
}

function useFeed({ feed }: Conversation) {
  return useSyncExternalStore(feed.subscribe, feed.snapshot);
}

interface ColumnsProps {
  readonly conversation: Conversation;
  /** Above the conversation. */
  readonly head?: ReactNode;
  /** Below the conversation. */
  readonly foot?: ReactNode;
  readonly children: ReactNode;
}

/** The state of the call on one side, the conversation on the other. */
function Columns({ conversation, head, foot, children }: ColumnsProps) {
  const feed = useFeed(conversation);
  const transcripts = useTranscripts(conversation.call);
  return (
    <div className={styles.columns}>
      <div className={styles.side}>{children}</div>
      <section className={styles.words} aria-label="What is said">
        {head}
        <ConversationLog
          agentName={conversation.agentName}
          feed={feed}
          transcripts={transcripts}
          live={foot !== undefined}
          empty={foot === undefined ? "Nothing was said." : "Nothing said yet."}
        />
        {foot}
      </section>
      <div className={styles.times}>
        <LatencyCard latencies={feed.latencies} />
      </div>
    </div>
  );
}
