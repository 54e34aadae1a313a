/** The latency of each reply, by step. */

import { Card } from "../../ui/display.tsx";
import { classNames } from "../../ui/class-names.ts";
import { type Latency, secondsText, STEP_TEXTS, STEPS } from "./latency.ts";
import styles from "./latency-card.module.css";

/** Smallest scale: shorter bars do not fill the width. */
const MIN_SCALE_MS = 1_500;
/** Bars that are shown; the page of the call has all. */
const MAX_BARS = 12;

export function LatencyCard({ latencies }: { readonly latencies: readonly Latency[] }) {
  const shown = latencies.slice(-MAX_BARS);
  const scaleMs = Math.max(MIN_SCALE_MS, ...shown.map(({ totalMs }) => totalMs));
  return (
    <Card title="Latency" text="From the end of your speech to the agent’s first audio.">
      {shown.length === 0 ? (
        <p className={styles.none}>Appears after the first reply to your speech.</p>
      ) : (
        <>
          <ol className={styles.bars}>
            {shown.map((latency) => (
              <Bar key={latency.turnId} latency={latency} scaleMs={scaleMs} />
            ))}
          </ol>
          <ul className={styles.legend} aria-hidden="true">
            {STEPS.map((step) => (
              <li key={step}>
                <span className={classNames(styles.swatch, styles[step])} />
                {STEP_TEXTS[step]}
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}

function Bar({ latency, scaleMs }: { readonly latency: Latency; readonly scaleMs: number }) {
  const { totalMs, steps } = latency;
  const stepTexts = STEPS.map((step) => `${STEP_TEXTS[step]} ${secondsText(steps[step])}`).join(", ");
  return (
    <li className={styles.row}>
      <div className={styles.track}>
        <div
          className={styles.bar}
          role="img"
          aria-label={`${secondsText(totalMs)}: ${stepTexts}`}
          title={stepTexts}
          style={{ width: `${((totalMs / scaleMs) * 100).toFixed(1)}%` }}
        >
          {STEPS.filter((step) => steps[step] > 0).map((step) => (
            <span key={step} className={styles[step]} style={{ flexGrow: steps[step] }} />
          ))}
        </div>
      </div>
      <span className={styles.total} aria-hidden="true">
        {secondsText(totalMs)}
      </span>
    </li>
  );
}
