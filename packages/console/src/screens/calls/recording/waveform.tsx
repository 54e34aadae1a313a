/** The waveform of both sides of a recording: the caller above, the agent below. */

import { getNonce } from "get-nonce";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import WaveSurfer from "wavesurfer.js";
import { clockOf } from "../call-words.ts";
import { Axis, type Mark, Marks } from "../marks.tsx";
import { skip, useSound } from "./playback.tsx";
import { AXIS_HEIGHT, SIDE_HEIGHT } from "./wave-sizes.ts";
import type { Peaks } from "./wav-peaks.ts";
import styles from "./player.module.css";

/** One pixel is then 5 ms, so syllables are visible. */
const MAX_PIXELS_PER_SECOND = 200;
/** The library draws the visible part as images; wider ones are useless. */
const MAX_WIDTH = 200_000;
const STEP_SECONDS = 5;
/** Noise alone is not drawn as loud as speech. */
const QUIETEST_PEAK = 0.1;

export interface WaveformProps {
  readonly audio: HTMLAudioElement;
  readonly url: string;
  readonly peaks: Peaks;
  readonly marks: readonly Mark[];
  /** 0 shows the whole recording, 1 is the greatest zoom. */
  readonly zoom: number;
}

interface Drawn {
  readonly wrapper: HTMLElement;
  readonly pixelsPerSecond: number;
}

export function Waveform({ audio, url, peaks, marks, zoom }: WaveformProps) {
  const container = useRef<HTMLDivElement>(null);
  const wave = useRef<WaveSurfer | null>(null);
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const seconds = peaks.durationMs / 1000;
  useEffect(() => {
    if (container.current === null) return undefined;
    const made = drawWave(container.current, audio, url, peaks);
    wave.current = made;
    const wrapper = made.getWrapper();
    wrapper.style.paddingBottom = `${String(AXIS_HEIGHT)}px`;
    const measure = () => setDrawn({ wrapper, pixelsPerSecond: wrapper.clientWidth / seconds });
    made.on("redraw", measure);
    const repaint = new MutationObserver(() => made.setOptions(colours(peaks)));
    repaint.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      repaint.disconnect();
      setDrawn(null);
      wave.current = null;
      made.destroy();
    };
  }, [audio, url, peaks, seconds]);
  const isDrawn = drawn !== null;
  useEffect(() => {
    if (!isDrawn) return;
    const most = Math.min(MAX_PIXELS_PER_SECOND, MAX_WIDTH / seconds);
    const fit = (container.current?.clientWidth ?? 0) / seconds;
    // Each zoom step enlarges by the same factor.
    wave.current?.zoom(zoom === 0 || most <= fit ? 0 : fit * (most / fit) ** zoom);
  }, [zoom, seconds, isDrawn]);
  return (
    <>
      <Position audio={audio} seconds={seconds}>
        <div ref={container} className={styles.wave} />
      </Position>
      {drawn !== null &&
        createPortal(
          <>
            <Marks marks={marks} seconds={seconds} />
            <Axis seconds={seconds} pixelsPerSecond={drawn.pixelsPerSecond} />
          </>,
          drawn.wrapper,
        )}
    </>
  );
}

interface PositionProps {
  readonly audio: HTMLAudioElement;
  readonly seconds: number;
  readonly children: ReactNode;
}

/** The position as a slider, for keyboard and screen readers. */
function Position({ audio, seconds, children }: PositionProps) {
  const at = useSound(audio, ({ currentTime }) => Math.floor(currentTime));
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -STEP_SECONDS, ArrowRight: STEP_SECONDS }[event.key];
    if (step !== undefined) skip(audio, step);
    else if (event.key === "Home") audio.currentTime = 0;
    else if (event.key === "End") audio.currentTime = seconds;
    else return;
    event.preventDefault();
  };
  return (
    <div
      className={styles.position}
      role="slider"
      tabIndex={0}
      aria-label="Position in the recording"
      aria-valuemin={0}
      aria-valuemax={Math.ceil(seconds)}
      aria-valuenow={at}
      aria-valuetext={`${clockOf(at * 1000)} of ${clockOf(seconds * 1000)}`}
      onKeyDown={onKeyDown}
    >
      {children}
    </div>
  );
}

function drawWave(
  container: HTMLElement,
  audio: HTMLAudioElement,
  url: string,
  { channels, durationMs }: Peaks,
): WaveSurfer {
  return WaveSurfer.create({
    container,
    media: audio,
    url,
    // With the duration given, the library fetches and decodes nothing.
    peaks: [...channels],
    duration: durationMs / 1000,
    ...colours({ channels }),
    cursorWidth: 2,
    barWidth: 2,
    barGap: 1,
    barRadius: 2,
    barMinHeight: 1,
    // The same scale for both sides, so that a quiet side looks quiet.
    normalize: true,
    maxPeak: Math.max(QUIETEST_PEAK, highest(channels)),
    dragToSeek: true,
    cspNonce: getNonce() ?? "",
  });
}

function highest(channels: Peaks["channels"]): number {
  return channels.reduce((most, peaks) => peaks.reduce((high, peak) => Math.max(high, peak), most), 0);
}

/** Colours of the current theme. */
function colours({ channels }: Pick<Peaks, "channels">) {
  const sides = ["--caller", "--accent"].map((name) => ({
    height: SIDE_HEIGHT,
    waveColor: `${colour(name)}88`,
    progressColor: colour(name),
  }));
  return { cursorColor: colour("--ink"), splitChannels: sides.slice(0, channels.length) };
}

/** Canvas cannot use CSS variables. */
function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
