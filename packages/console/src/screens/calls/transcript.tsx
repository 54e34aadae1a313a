/** The conversation, line by line. Each line can be played. */

import { Play, Speech, User } from "lucide-react";
import { type KeyboardEvent, memo, type ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Badge } from "../../ui/display.tsx";
import { Empty, ErrorState, Loading, VisuallyHidden } from "../../ui/states.tsx";
import { clockOf, shortLength } from "./call-words.ts";
import { EventRow } from "./event-row.tsx";
import { type Latency, type Line, lineAt, type SaidLine } from "./lines.ts";
import { type Playback, usePlayback, useSound } from "./recording/playback.tsx";
import { ToolRow } from "./tool-row.tsx";
import type { Conversation } from "./use-conversation.ts";
import styles from "./transcript.module.css";

export function Transcript({ conversation, running }: { conversation: Conversation; running: boolean }) {
  const { lines, error, retry, more } = conversation;
  const playback = usePlayback();
  const sounding = useSounding(playback, lines);
  if (lines === null)
    return error === null ? <Loading lines={8} /> : <ErrorState error={error} retry={retry} />;
  if (lines.length === 0) {
    return (
      <Empty title={running ? "Nothing said yet" : "Nothing was said"}>
        {running ? "Messages appear here as they are spoken." : "This call ended before anyone spoke."}
      </Empty>
    );
  }
  return (
    <>
      <ol className={styles.lines} aria-label="Conversation" onKeyDown={moveAmongLines}>
        {lines.map((line, index) => (
          <LineRow key={line.key} line={line} playback={playback} sounds={index === sounding} />
        ))}
      </ol>
      {error !== null && <ErrorState error={error} retry={retry} />}
      {more !== null && (
        <div className={styles.more}>
          <Button onClick={more}>Load more</Button>
        </div>
      )}
    </>
  );
}

function useSounding({ audio, url }: Playback, lines: readonly Line[] | null): number {
  return useSound(audio, ({ currentTime, paused }) =>
    url === null || lines === null || (paused && currentTime === 0) ? -1 : lineAt(lines, currentTime * 1000),
  );
}

/** Arrow keys move between lines. */
function moveAmongLines(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-play]")];
  const at = buttons.findIndex((button) => button === document.activeElement);
  const next = buttons[at + step];
  if (at === -1 || next === undefined) return;
  event.preventDefault();
  next.focus();
}

interface LineRowProps {
  readonly line: Line;
  readonly playback: Playback;
  readonly sounds: boolean;
}

const LineRow = memo(function LineRow({ line, playback, sounds }: LineRowProps) {
  const time = <LineTime line={line} playback={playback} />;
  if (line.kind === "tool") return <ToolRow line={line} time={time} />;
  if (line.kind === "event") return <EventRow event={line.event} count={line.count} time={time} />;
  return <SaidRow line={line} time={time} sounds={sounds} />;
});

/** The time of a line, and the button that plays from there. */
function LineTime({ line, playback }: { readonly line: Line; readonly playback: Playback }) {
  const { span } = line;
  if (span === null) return <span className={styles.time}>–</span>;
  const { playAt, playLine } = playback;
  const clock = clockOf(span.startMs);
  const isVoice = line.kind === "said" && line.message.medium !== "MESSAGE_MEDIUM_TEXT";
  const play =
    playAt !== null
      ? () => playAt(span.startMs)
      : playLine !== null && isVoice && span.endMs > span.startMs
        ? () => playLine(line.message)
        : null;
  if (play === null) return <span className={styles.time}>{clock}</span>;
  return (
    <button
      type="button"
      data-play=""
      className={classNames(styles.time, styles.play)}
      aria-label={`Play from ${clock}`}
      onClick={play}
    >
      <Play aria-hidden="true" />
      {clock}
    </button>
  );
}

interface SaidRowProps {
  readonly line: SaidLine;
  readonly time: ReactNode;
  readonly sounds: boolean;
}

function SaidRow({ line, time, sounds }: SaidRowProps) {
  const { message, isAgent, interrupted, interruption, latency } = line;
  const Icon = isAgent ? Speech : User;
  return (
    <li
      className={classNames(styles.line, isAgent ? styles.agent : styles.caller, sounds && styles.sounds)}
      {...(sounds ? { "aria-current": true } : {})}
    >
      {time}
      <div className={styles.body}>
        <div className={styles.head}>
          <span className={styles.who}>
            <Icon aria-hidden="true" /> {isAgent ? "Agent" : "Caller"}
          </span>
          {message.medium === "MESSAGE_MEDIUM_TEXT" && <Badge>typed</Badge>}
          {interrupted && <Badge tone="bad">interrupted</Badge>}
          {latency !== null && <LatencyOf latency={latency} />}
        </div>
        <p className={styles.text}>
          {message.text === "" ? <em>The caller heard nothing of this message.</em> : message.text}
          {interrupted && (
            <span className={styles.cut} title={cutTitle(interruption)}>
              <VisuallyHidden>, cut here</VisuallyHidden>
              <span aria-hidden="true">✂</span>
            </span>
          )}
        </p>
        {interrupted && <p className={styles.note}>{cutTitle(interruption)}</p>}
      </div>
    </li>
  );
}

/** Only what the caller heard is stored; the rest of an interrupted reply is not. */
function cutTitle(interruption: SaidLine["interruption"]): string {
  const heardMs = interruption?.extras?.["heardMs"];
  const heard = typeof heardMs === "number" ? ` after ${shortLength(heardMs)}` : "";
  const cause = interruption === null ? "Cut off" : capital(interruption.text);
  return `${cause}${heard}. The text shows what the caller heard.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function LatencyOf({ latency: { steps, heardMs, speculative, engines } }: { readonly latency: Latency }) {
  return (
    <details className={styles.latency}>
      <summary>{heardMs === null ? "Latency" : `Latency ${shortLength(heardMs)}`}</summary>
      <dl>
        {steps.map(({ label, ms }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{Math.round(ms).toLocaleString()} ms</dd>
          </div>
        ))}
      </dl>
      <p>
        Measured from the end of the caller&apos;s speech.
        {speculative && " The reply was prepared before the turn ended."}
      </p>
      {engines.length > 0 && (
        <dl aria-label="Engines of the turn">
          {engines.map(({ key, label, text }) => (
            <div key={key}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
    </details>
  );
}
