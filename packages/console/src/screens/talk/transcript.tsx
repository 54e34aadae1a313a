/** The live conversation. */

import type { Transcript } from "@parley/client";
import { Keyboard, Scissors, StickyNote } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { classNames } from "../../ui/class-names.ts";
import { VisuallyHidden } from "../../ui/states.tsx";
import type { Entry, Feed, Said } from "./feed.ts";
import { secondsText } from "./latency.ts";
import { ToolLine } from "./tool-line.tsx";
import styles from "./transcript.module.css";

export interface ConversationLogProps {
  readonly agentName: string;
  readonly feed: Feed;
  readonly transcripts: readonly Transcript[];
  /** Whether the call is running. */
  readonly live: boolean;
  /** Shown before the first utterance. */
  readonly empty: string;
}

/** A user who has scrolled back further than this is reading, so the list does not scroll. */
const NEAR_END_PX = 80;

export function ConversationLog({ agentName, feed, transcripts, live, empty }: ConversationLogProps) {
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (element !== null && follows.current) element.scrollTop = element.scrollHeight;
  }, [feed, transcripts]);
  const byOrdinal = new Map(transcripts.map((transcript) => [transcript.ordinal, transcript]));
  return (
    <>
      <div
        ref={box}
        className={styles.box}
        role="region"
        aria-label="Conversation"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
        }}
      >
        {feed.entries.length === 0 && feed.userSpeech === "none" && <p className={styles.empty}>{empty}</p>}
        <ol className={styles.entries}>
          {feed.entries.map((entry) => (
            <Line key={keyOf(entry)} entry={entry} {...{ byOrdinal, agentName, live }} />
          ))}
          {live && <Hearing speech={feed.userSpeech} />}
        </ol>
      </div>
      <Announcer transcripts={transcripts} agentName={agentName} />
    </>
  );
}

function keyOf(entry: Entry): string {
  if (entry.kind === "said") return `said ${String(entry.ordinal)}`;
  if (entry.kind === "tool") return `tool ${entry.invocationId}`;
  return `${entry.kind} ${String(entry.id)}`;
}

interface LineProps {
  readonly entry: Entry;
  readonly byOrdinal: ReadonlyMap<number, Transcript>;
  readonly agentName: string;
  readonly live: boolean;
}

function Line({ entry, byOrdinal, agentName, live }: LineProps) {
  if (entry.kind === "said") {
    const transcript = byOrdinal.get(entry.ordinal);
    if (transcript === undefined) return null;
    return <Utterance said={entry} {...{ transcript, agentName, live }} />;
  }
  if (entry.kind === "tool") {
    return (
      <li>
        <ToolLine tool={entry} />
      </li>
    );
  }
  if (entry.kind === "remark") {
    return (
      <li className={classNames(styles.remark, entry.tone === "warn" && styles.warn)}>
        {entry.text}
        {entry.count > 1 && ` ×${entry.count.toLocaleString()}`}
      </li>
    );
  }
  return (
    <li className={styles.note}>
      <StickyNote aria-hidden="true" />
      <div>
        <span className={styles.who}>A note from {agentName}</span>
        <p>{entry.text}</p>
      </div>
    </li>
  );
}

interface UtteranceProps {
  readonly said: Said;
  readonly transcript: Transcript;
  readonly agentName: string;
  readonly live: boolean;
}

function Utterance({ said, transcript, agentName, live }: UtteranceProps) {
  const { role, medium, text, final } = transcript;
  const own = role === "user";
  return (
    <li className={classNames(styles.utterance, own ? styles.user : styles.agent)}>
      <span className={styles.who}>
        {own ? "You" : agentName}
        {medium === "text" && (
          <span className={styles.typed}>
            <Keyboard aria-hidden="true" /> {own ? "typed" : "wrote"}
          </span>
        )}
        {said.latency !== null && (
          <span className={styles.typed}>after {secondsText(said.latency.totalMs)}</span>
        )}
      </span>
      <p className={classNames(styles.text, live && !final && styles.growing)}>
        {text}
        {said.interrupted && (
          <span className={styles.cut}>
            <Scissors aria-hidden="true" /> interrupted here
          </span>
        )}
      </p>
    </li>
  );
}

/** The recogniser answers within this time; without words by then it was a cough. */
const WORDS_LIMIT_MS = 2_000;

/** A placeholder until the user's words are known. */
function Hearing({ speech }: { readonly speech: Feed["userSpeech"] }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (speech !== "stopped") return undefined;
    const timer = setTimeout(() => setLate(true), WORDS_LIMIT_MS);
    return () => clearTimeout(timer);
  }, [speech]);
  if (speech === "none" || late) return null;
  return (
    <li className={classNames(styles.utterance, styles.user)}>
      <span className={styles.who}>You</span>
      <p className={styles.text}>
        <span className={styles.dots} aria-hidden="true">
          <i />
          <i />
          <i />
        </span>
        <VisuallyHidden>speaking</VisuallyHidden>
      </p>
    </li>
  );
}

/** Lines kept for screen readers; a removed line is not read again. */
const ANNOUNCED = 4;

/** Screen readers read only complete lines, once each. */
function Announcer({
  transcripts,
  agentName,
}: {
  readonly transcripts: readonly Transcript[];
  readonly agentName: string;
}) {
  const finals = transcripts.filter(({ final }) => final).slice(-ANNOUNCED);
  return (
    <VisuallyHidden>
      <span role="log" aria-live="polite" aria-label="What was said">
        {finals.map(({ ordinal, role, text }) => (
          <span key={ordinal}>{`${role === "user" ? "You" : agentName}: ${text} `}</span>
        ))}
      </span>
    </VisuallyHidden>
  );
}
