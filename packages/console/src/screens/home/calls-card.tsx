/** Calls of the last two weeks: one bar for each day, the failed ones in the colour of failure. */

import { useState } from "react";
import { Link } from "react-router";
import { useRead } from "../../data/api.tsx";
import { Card } from "../../ui/display.tsx";
import { ErrorState, Loading, VisuallyHidden } from "../../ui/states.tsx";
import { type Day, firstDay, lastDays, SHOWN_DAYS } from "./daily-calls.ts";
import styles from "./home.module.css";

const DATE = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

function dateText(date: string): string {
  return DATE.format(new Date(`${date}T00:00:00Z`));
}

function callsText(calls: number): string {
  return calls === 1 ? "1 call" : `${calls.toLocaleString()} calls`;
}

export function CallsCard() {
  const [nowMs] = useState(() => Date.now());
  const query = { fromDate: `${firstDay(nowMs)}T00:00:00Z` };
  const { data, error, refetch } = useRead("/api/accounts/me/usage/calls", { query });
  return (
    <Card
      title="Calls per day"
      text={`Last ${String(SHOWN_DAYS)} days (UTC)`}
      actions={<Link to="/usage">Usage</Link>}
    >
      {error !== null && <ErrorState error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading lines={3} />}
      {data !== undefined && <Bars days={lastDays(data.daily, nowMs)} />}
    </Card>
  );
}

function Bars({ days }: { readonly days: readonly Day[] }) {
  const most = Math.max(1, ...days.map(({ calls }) => calls));
  const calls = days.reduce((sum, day) => sum + day.calls, 0);
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  return (
    <>
      <p className={styles.sum}>
        <strong>{callsText(calls)}</strong>
        {failed > 0 && <span className={styles.failedText}>{failed.toLocaleString()} failed</span>}
      </p>
      <ol className={styles.bars}>
        {days.map((day) => (
          <Bar key={day.date} day={day} most={most} />
        ))}
      </ol>
    </>
  );
}

function Bar({ day: { date, calls, failed }, most }: { readonly day: Day; readonly most: number }) {
  const text = `${dateText(date)}: ${callsText(calls)}${failed > 0 ? `, ${failed.toLocaleString()} failed` : ""}`;
  const share = (part: number) => `${((part / most) * 100).toFixed(1)}%`;
  return (
    <li title={text}>
      <VisuallyHidden>{text}</VisuallyHidden>
      <div className={styles.column} aria-hidden="true">
        <div className={styles.ok} style={{ height: share(calls - Math.min(failed, calls)) }} />
        <div className={styles.failed} style={{ height: share(Math.min(failed, calls)) }} />
      </div>
      <span className={styles.day} aria-hidden="true">
        {dateText(date)}
      </span>
    </li>
  );
}
