/** Charts of figures over time. Each has a `FiguresTable` below it, for screen readers. */

import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { axisTexts, WHOLE_STEPS } from "./chart-text.ts";
import { classNames } from "../class-names.ts";
import styles from "./chart.module.css";

/** Colours by their names in `tokens.css`. */
export const CHART_COLOURS = [
  "chart-1",
  "chart-2",
  "chart-3",
  "chart-4",
  "chart-5",
  "chart-rest",
  "bad",
] as const;
export type ChartColour = (typeof CHART_COLOURS)[number];

export interface ChartSeries {
  readonly label: string;
  readonly colour: ChartColour;
  /**
   * Bars for what is counted in each step; thin ones stand in front of the others. Lines and areas are for levels, such as
   * concurrent calls, and keep their value during a step.
   */
  readonly kind: "bars" | "thin bars" | "line" | "area";
  readonly values: readonly number[];
}

export interface ChartProps {
  /** For screen readers. */
  readonly label: string;
  /** Seconds since 1970, `stepS` apart. */
  readonly at: readonly number[];
  readonly stepS: number;
  readonly series: readonly ChartSeries[];
  readonly stacked?: boolean;
  /** The values are whole numbers, such as calls. */
  readonly whole?: boolean;
  /** Formats the time above the figures at the pointer. */
  readonly momentText: (seconds: number) => string;
  readonly valueText: (value: number) => string;
}

const HEIGHT_PX = 210;
const AXIS_HEIGHT_PX = 26;
/** Width of one letter on an axis, and the gap to the plot. */
const LETTER_PX = 7;
const AXIS_GAP_PX = 22;

export function Chart(props: ChartProps) {
  const { label, at, series, momentText, valueText } = props;
  const [pointed, setPointed] = useState<number | null>(null);
  const host = useChart(props, setPointed);
  const moment = pointed === null ? undefined : at[pointed];
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.legend}>
        {series.map(({ label: name, colour, kind, values }) => (
          <span key={name} className={styles.entry}>
            <span className={classNames(styles.mark, styles[colour], kind === "line" && styles.lineMark)} />
            {name}
            {pointed !== null && <strong>{valueText(values[pointed] ?? 0)}</strong>}
          </span>
        ))}
        <span className={styles.moment}>{moment === undefined ? "" : momentText(moment)}</span>
      </figcaption>
      <div ref={host} role="img" aria-label={`${label}. The table below shows the same data.`} />
    </figure>
  );
}

/** The element of the chart, which is drawn again when its figures, its width or the theme change. */
function useChart(props: ChartProps, onPoint: (index: number | null) => void) {
  const { at, stepS, series, stacked = false, whole = false, valueText } = props;
  const host = useRef<HTMLDivElement>(null);
  const theme = useSyncExternalStore(watchTheme, () => document.documentElement.dataset["theme"]);
  const data = useMemo(() => dataOf(at, series, stacked), [at, series, stacked]);
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const options = optionsOf({ stepS, series, stacked, whole, valueText, width: element.clientWidth });
    const plot = new uPlot({ ...options, hooks: { setCursor: [tellPointed(onPoint)] } }, data, element);
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
      onPoint(null);
    };
  }, [data, stepS, series, stacked, whole, valueText, theme, onPoint]);
  return host;
}

function tellPointed(onPoint: (index: number | null) => void): (plot: uPlot) => void {
  return ({ cursor }) => onPoint(cursor.left !== undefined && cursor.left >= 0 ? (cursor.idx ?? null) : null);
}

function watchTheme(tell: () => void): () => void {
  const watch = new MutationObserver(tell);
  watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => watch.disconnect();
}

/** Stacked bars are drawn from the total down to the lowest part, each over the previous one. */
function dataOf(at: readonly number[], series: readonly ChartSeries[], stacked: boolean): uPlot.AlignedData {
  if (!stacked) return [[...at], ...series.map(({ values }) => [...values])];
  const piles: number[][] = [];
  for (const { values } of series) {
    const below = piles.at(-1);
    piles.push(at.map((_, index) => (values[index] ?? 0) + (below?.[index] ?? 0)));
  }
  return [[...at], ...piles.toReversed()];
}

interface OptionsInput {
  readonly stepS: number;
  readonly series: readonly ChartSeries[];
  readonly stacked: boolean;
  readonly whole: boolean;
  readonly valueText: (value: number) => string;
  readonly width: number;
}

function optionsOf({ stepS, series, stacked, whole, valueText, width }: OptionsInput): uPlot.Options {
  const design = getComputedStyle(document.documentElement);
  const token = (name: string) => design.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: token("soft"),
    font: `12px ${token("font")}`,
    ticks: { show: false },
    grid: { stroke: token("line"), width: 1 },
  };
  // Bars at the ends have their full width.
  const margin = series.some(({ kind }) => isBars(kind)) ? stepS / 2 : 0;
  const drawn = stacked ? series.toReversed() : series;
  return {
    width,
    height: HEIGHT_PX,
    padding: [10, 6, 0, 0],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { range: (_, min, max) => [(min ?? 0) - margin, (max ?? 0) + margin] },
      y: { range: (_, _min, max) => [0, Math.max((max ?? 0) * 1.05, whole ? 1 : 0.1)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: AXIS_HEIGHT_PX,
        space: 70,
        values: (_, marks, _axis, _space, step) => axisTexts(marks, step),
      },
      {
        ...axis,
        ...(whole ? { incrs: [...WHOLE_STEPS] } : {}),
        values: (_, marks) => marks.map(valueText),
        size: (_, texts) => {
          // Also called without marks, although the types say otherwise.
          const longest = Math.max(0, ...((texts as string[] | null) ?? []).map((text) => text.length));
          return longest * LETTER_PX + AXIS_GAP_PX;
        },
      },
    ],
    series: [{}, ...drawn.map((each) => seriesOf(each, token(each.colour)))],
  };
}

/** Share of a step, and the most pixels. */
const BAR_SIZE = [0.72, 48] as const;
const THIN_BAR_SIZE = [0.3, 20] as const;

function isBars(kind: ChartSeries["kind"]): boolean {
  return kind === "bars" || kind === "thin bars";
}

function seriesOf({ kind }: ChartSeries, colour: string): uPlot.Series {
  if (!isBars(kind)) {
    const tint = `color-mix(in srgb, ${colour} 18%, transparent)`;
    // Without ramps between the steps, which would show values that were not measured.
    const paths = uPlot.paths.stepped?.({ align: 1 });
    const fill = kind === "area" ? { fill: tint } : {};
    return { stroke: colour, width: 2, points: { show: false }, ...fill, ...(paths && { paths }) };
  }
  const size = kind === "bars" ? BAR_SIZE : THIN_BAR_SIZE;
  const paths = uPlot.paths.bars?.({ size: [...size], radius: [0.12, 0] });
  return { stroke: colour, fill: colour, width: 0, points: { show: false }, ...(paths && { paths }) };
}
