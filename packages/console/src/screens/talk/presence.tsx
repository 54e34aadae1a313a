/** The state of the agent, with the levels of both sides. */

import type { Call, CallStatus, Transport } from "@parley/client";
import { useAgentState, useLevels, useMuted } from "@parley/client/react";
import { type CSSProperties, useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { classNames } from "../../ui/class-names.ts";
import styles from "./presence.module.css";

export interface PresenceProps {
  readonly call: Call;
  readonly status: CallStatus;
  /** Whether there is a microphone. */
  readonly hears: boolean;
  readonly joinedAtMs: number;
}

type Shown = "idle" | "listening" | "thinking" | "speaking" | "reconnecting";

const TITLES: Readonly<Record<Shown, string>> = {
  idle: "Connecting",
  listening: "Listening",
  thinking: "Thinking",
  speaking: "Speaking",
  reconnecting: "Reconnecting",
};

function noteOf(shown: Shown, hears: boolean, muted: boolean): string {
  switch (shown) {
    case "idle":
      return "Connecting…";
    case "reconnecting":
      return "Connection lost. Reconnecting…";
    case "thinking":
      return "The agent is preparing a reply.";
    case "speaking":
      return hears && !muted ? "You can interrupt at any time." : "You can type at any time.";
    case "listening":
      if (!hears) return "Your turn: type below.";
      return muted ? "You are muted." : "Your turn: speak or type.";
    default:
      return shown;
  }
}

export function Presence({ call, status, hears, joinedAtMs }: PresenceProps) {
  const state = useAgentState(call);
  const muted = useMuted(call).microphone;
  const shown: Shown = status === "reconnecting" ? "reconnecting" : state;
  return (
    <div className={classNames(styles.presence, styles[shown])}>
      <Orb call={call} />
      <div className={styles.words}>
        <h2 className={styles.state}>{TITLES[shown]}</h2>
        <p className={styles.note}>{noteOf(shown, hears, muted)}</p>
      </div>
      <div className={styles.line}>
        <Elapsed fromMs={joinedAtMs} />
        <Way call={call} />
      </div>
      <Meters call={call} />
    </div>
  );
}

/** Speech is at 0.05 to 0.3. Hearing is logarithmic, so a root spreads quiet levels. */
const LOUD = 0.3;

function shareOf(level: number): number {
  return Math.min(1, Math.sqrt(level / LOUD));
}

/** Moves with the louder side. */
function Orb({ call }: { readonly call: Call }) {
  const { input, output } = useLevels(call);
  const share = Math.max(shareOf(input), shareOf(output));
  const style: CSSProperties & Readonly<Record<"--share", string>> = { "--share": share.toFixed(3) };
  return (
    <div className={styles.orb} aria-hidden="true" style={style}>
      <span className={styles.halo} />
      <span className={styles.core} />
    </div>
  );
}

/** The same before a call, without movement. */
export function Waiting({ busy }: { readonly busy: boolean }) {
  return (
    <div className={classNames(styles.waiting, busy && styles.thinking)} aria-hidden="true">
      <div className={styles.orb}>
        <span className={styles.halo} />
        <span className={styles.core} />
      </div>
    </div>
  );
}

function Meters({ call }: { readonly call: Call }) {
  const { input, output } = useLevels(call);
  return (
    <div className={styles.meters}>
      <Meter label="You" level={input} side="caller" />
      <Meter label="Agent" level={output} side="agent" />
    </div>
  );
}

interface MeterProps {
  readonly label: string;
  readonly level: number;
  readonly side: "caller" | "agent";
}

function Meter({ label, level, side }: MeterProps) {
  const share = shareOf(level);
  return (
    <div className={classNames(styles.meter, styles[side])}>
      <span aria-hidden="true">{label}</span>
      <div
        className={styles.track}
        role="meter"
        aria-label={`Level: ${label}`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
      >
        <span className={styles.fill} style={{ transform: `scaleX(${share.toFixed(3)})` }} />
      </div>
    </div>
  );
}

export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, "0")}`;
}

const TRANSPORTS: Readonly<Record<Transport, string>> = { webRtc: "WebRTC", webSocket: "WebSocket" };

/** The transport of the audio, which can change during a call. */
function Way({ call }: { readonly call: Call }) {
  const onChange = useCallback((tell: () => void) => call.on("transport", tell), [call]);
  return (
    <span className={styles.way}>{TRANSPORTS[useSyncExternalStore(onChange, () => call.transport)]}</span>
  );
}

/** Often enough to show every second. */
const TICK_MS = 250;

function Elapsed({ fromMs }: { readonly fromMs: number }) {
  const [nowMs, setNowMs] = useState(fromMs);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(performance.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className={styles.elapsed} role="timer" aria-label="Elapsed time">
      {clockText(nowMs - fromMs)}
    </div>
  );
}
