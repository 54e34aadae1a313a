/** The recording of a call: waveform and controls, or the reason why there is no recording. */

import { Minus, Pause, Play, Plus, RotateCcw, RotateCw } from "lucide-react";
import { type CSSProperties, useState } from "react";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Card } from "../../../ui/display.tsx";
import { Select } from "../../../ui/field.tsx";
import { ErrorState } from "../../../ui/states.tsx";
import { bytesText, clockOf } from "../call-words.ts";
import { type Mark, MARK_COLOURS, type MarkKind } from "../marks.tsx";
import { skip, usePlayback, useSound } from "./playback.tsx";
import type { RecordingState } from "./use-recording.ts";
import type { Peaks } from "./wav-peaks.ts";
import { Waveform } from "./waveform.tsx";
import styles from "./player.module.css";

const SPEEDS = ["0.75", "1", "1.25", "1.5", "2"].map((value) => ({ value, label: `${value}×` }));
/** Steps from the whole recording to the greatest zoom. */
const ZOOM_STEPS = 6;
const SKIP_SECONDS = 5;
const ELSEWHERE =
  "The console cannot load recordings from external storage. You can play each message of the conversation.";

export function Recording({ marks }: { readonly marks: readonly Mark[] }) {
  const { state, audio, url } = usePlayback();
  if (state.kind === "ready") {
    if (state.recording.peaks.durationMs === 0) {
      return <Told title="Empty recording" text="The call ended before any audio was recorded." />;
    }
    if (url === null) return null;
    return <Player audio={audio} url={url} peaks={state.recording.peaks} marks={marks} />;
  }
  return <NoPlayer state={state} />;
}

function NoPlayer({ state }: { readonly state: Exclude<RecordingState, { readonly kind: "ready" }> }) {
  if (state.kind === "none") return <Told title={state.title} text={state.text} />;
  if (state.kind === "elsewhere") {
    return <Told title="The recording is in external storage" text={ELSEWHERE} />;
  }
  if (state.kind === "failed") return <ErrorState error={state.error} retry={state.retry} />;
  if (state.kind === "long") return <Long bytes={state.bytes} load={state.load} />;
  const { doneBytes, totalBytes } = state;
  return (
    <Card aria-label="Recording" aria-busy="true">
      <label className={styles.loading}>
        <span>Loading the recording{totalBytes !== null && ` (${bytesText(totalBytes)})`}</span>
        {totalBytes === null ? <progress /> : <progress value={doneBytes} max={totalBytes} />}
      </label>
    </Card>
  );
}

function Told({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <Card aria-label="Recording" className={styles.told}>
      <p>
        <strong>{title}.</strong> {text}
      </p>
    </Card>
  );
}

function Long({ bytes, load }: { readonly bytes: number; readonly load: (() => void) | null }) {
  const size = bytesText(bytes);
  return (
    <Card aria-label="Recording" className={styles.told}>
      <p>
        <strong>A long recording ({size}).</strong> You can play each message of the conversation, or download
        the recording.
        {load === null && " It is too long to show here."}
      </p>
      {load !== null && (
        <div>
          <Button onClick={load}>Show the waveform</Button>
        </div>
      )}
    </Card>
  );
}

interface PlayerProps {
  readonly audio: HTMLAudioElement;
  readonly url: string;
  readonly peaks: Peaks;
  readonly marks: readonly Mark[];
}

function Player({ audio, url, peaks, marks }: PlayerProps) {
  const [zoom, setZoom] = useState(0);
  return (
    <Card aria-label="Recording" className={styles.player}>
      <Waveform audio={audio} url={url} peaks={peaks} marks={marks} zoom={zoom / ZOOM_STEPS} />
      <div className={styles.controls}>
        <Transport audio={audio} durationMs={peaks.durationMs} />
        <Legend marks={marks} sides={peaks.channels.length} />
        <div className={styles.group}>
          <IconButton
            label="Zoom out"
            icon={<Minus aria-hidden="true" />}
            small
            disabled={zoom === 0}
            onClick={() => setZoom(zoom - 1)}
          />
          <IconButton
            label="Zoom in"
            icon={<Plus aria-hidden="true" />}
            small
            disabled={zoom === ZOOM_STEPS}
            onClick={() => setZoom(zoom + 1)}
          />
        </div>
      </div>
    </Card>
  );
}

function Transport({ audio, durationMs }: { readonly audio: HTMLAudioElement; readonly durationMs: number }) {
  const { playAt } = usePlayback();
  const paused = useSound(audio, (sound) => sound.paused);
  const atSeconds = useSound(audio, ({ currentTime }) => Math.floor(currentTime));
  const speed = useSound(audio, ({ playbackRate }) => String(playbackRate));
  const toggle = () => {
    if (!paused) audio.pause();
    else playAt?.(audio.ended ? 0 : audio.currentTime * 1000);
  };
  return (
    <div className={styles.group}>
      <Button kind="primary" onClick={toggle}>
        {paused ? <Play aria-hidden="true" /> : <Pause aria-hidden="true" />}
        {paused ? "Play" : "Pause"}
      </Button>
      <IconButton
        label={`Back ${String(SKIP_SECONDS)} seconds`}
        icon={<RotateCcw aria-hidden="true" />}
        onClick={() => skip(audio, -SKIP_SECONDS)}
      />
      <IconButton
        label={`Forward ${String(SKIP_SECONDS)} seconds`}
        icon={<RotateCw aria-hidden="true" />}
        onClick={() => skip(audio, SKIP_SECONDS)}
      />
      <span className={styles.time}>
        {clockOf(atSeconds * 1000)} / {clockOf(durationMs)}
      </span>
      <Select
        aria-label="Speed"
        className={styles.speed ?? ""}
        value={speed}
        choices={SPEEDS}
        onChange={(chosen) => {
          audio.playbackRate = Number(chosen);
        }}
      />
    </div>
  );
}

const LEGEND: readonly (readonly [kind: MarkKind, label: string])[] = [
  ["caller", "Caller"],
  ["agent", "Agent"],
  ["interruption", "Interruption"],
  ["tool", "Tool"],
  ["stage", "Stage"],
  ["problem", "Warning"],
];

/** The kinds of marks that occur. */
function Legend({ marks, sides }: { readonly marks: readonly Mark[]; readonly sides: number }) {
  const present = new Set<MarkKind>(marks.map(({ kind }) => kind));
  if (sides === 2) present.add("caller").add("agent");
  return (
    <ul className={styles.legend} aria-label="Legend">
      {LEGEND.filter(([kind]) => present.has(kind)).map(([kind, label]) => (
        <li key={kind}>
          <span
            className={styles.swatch}
            aria-hidden="true"
            style={{ "--swatch": MARK_COLOURS[kind] } as CSSProperties}
          />
          {label}
        </li>
      ))}
    </ul>
  );
}
