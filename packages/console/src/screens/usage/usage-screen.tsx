/** The number and duration of calls, by agent and over time. */

import type { CallUsage } from "@parley/schema";
import { ChartColumn, RotateCw } from "lucide-react";
import { useMemo, useState } from "react";
import { useSearchParams } from "react-router";
import { useRead, useStale } from "../../data/api.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Page, PageHeader } from "../../ui/display.tsx";
import { Note } from "../../ui/form.tsx";
import { Empty, ErrorState, Loading } from "../../ui/states.tsx";
import { SelectField, TextField } from "../../ui/text-field.tsx";
import { AgentField } from "../agent-field.tsx";
import { EnginesCard } from "./engines-card.tsx";
import { callFigures, minutesOf } from "./figures.ts";
import {
  type Chosen,
  datesOf,
  periodOf,
  type Period,
  type PeriodName,
  PERIODS,
  showsHours,
  USUAL_PERIOD,
} from "./period.ts";
import { AgentsChart, type Asked, CallsChart, ConcurrencyChart, TimeChart } from "./usage-charts.tsx";
import { countText, minutesText, shareText } from "./usage-texts.ts";
import styles from "./usage.module.css";

const LEAD = "Calls and minutes by day and by agent, including deleted calls.";

export function UsageScreen() {
  const choice = useChoice();
  const [nowMs, setNowMs] = useState(() => Date.now());
  const { name, from, to } = choice.chosen;
  const period = useMemo(() => periodOf({ name, from, to }, nowMs), [name, from, to, nowMs]);
  const makeStale = useStale();
  const again = () => {
    setNowMs(Date.now());
    void makeStale("/api/accounts/me", "/api/agents/usage");
  };
  return (
    <Page>
      <PageHeader
        title="Usage"
        lead={LEAD}
        actions={
          <Button onClick={again}>
            <RotateCw aria-hidden="true" /> Refresh
          </Button>
        }
      />
      <Choices {...choice} fault={typeof period === "string" ? period : null} />
      {typeof period !== "string" && <Usage period={period} nowMs={nowMs} agentId={choice.agentId} />}
    </Page>
  );
}

interface Choice {
  readonly chosen: Chosen;
  readonly agentId: string;
  readonly set: (changes: Readonly<Record<string, string>>) => void;
}

/** Kept in state and in the URL: it can be linked and reloaded, and fast typing is not lost. */
function useChoice(): Choice {
  const [search, setSearch] = useSearchParams();
  const [choice, setChoice] = useState(() => Object.fromEntries(search));
  const name: PeriodName = PERIODS.find(({ value }) => value === choice["period"])?.value ?? USUAL_PERIOD;
  const set = (changes: Readonly<Record<string, string>>) => {
    const next = Object.fromEntries(
      Object.entries({ ...choice, ...changes }).filter(([, value]) => value !== ""),
    );
    setChoice(next);
    setSearch(next, { replace: true });
  };
  return {
    chosen: { name, from: choice["from"] ?? "", to: choice["to"] ?? "" },
    agentId: choice["agent"] ?? "",
    set,
  };
}

function Choices({ chosen, agentId, set, fault }: Choice & { readonly fault: string | null }) {
  return (
    <div className={styles.choices}>
      <SelectField
        label="Period"
        value={chosen.name}
        choices={PERIODS}
        onChange={(period) => set({ period })}
      />
      {chosen.name === "chosen" && (
        <>
          <TextField
            label="First day"
            aside="UTC"
            error={fault}
            type="date"
            value={chosen.from}
            onChange={(from) => set({ from })}
          />
          <TextField
            label="Last day"
            aside="UTC"
            type="date"
            value={chosen.to}
            onChange={(to) => set({ to })}
          />
        </>
      )}
      <AgentField label="Agent" value={agentId} onChange={(agent) => set({ agent })} />
    </div>
  );
}

function Usage({ period, nowMs, agentId }: Asked) {
  const query = { ...datesOf(period), ...(agentId === "" ? {} : { agentIds: [agentId] }) };
  const { data, error, refetch } = useRead("/api/accounts/me/usage/calls", { query });
  if (data === undefined) {
    return error === null ? <Loading lines={8} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  if (data.allTime.totalCount === 0) {
    return (
      <>
        <Empty
          icon={<ChartColumn aria-hidden="true" />}
          title="No calls in this period"
          actions={<ButtonLink to="/talk">Talk to an agent</ButtonLink>}
        >
          Calls are counted when they are created. Deleted calls are included.
        </Empty>
        <Metering />
      </>
    );
  }
  return (
    <>
      <Sums usage={data} />
      <Charts usage={data} period={period} nowMs={nowMs} agentId={agentId} />
      <EnginesCard period={period} />
      <Metering />
    </>
  );
}

function Sums({ usage: { allTime } }: { readonly usage: CallUsage }) {
  const { totalCount, joinedCount, errorCount, duration, billedMinutes } = allTime;
  const tiles = [
    ["Calls", countText(totalCount), ""],
    ["Joined", countText(joinedCount), shareText(joinedCount, totalCount)],
    ["Failed", countText(errorCount), shareText(errorCount, totalCount)],
    ["Joined minutes", minutesText(minutesOf(duration)), ""],
    ["Billed minutes", minutesText(billedMinutes), ""],
  ] as const;
  return (
    <dl className={styles.tiles}>
      {tiles.map(([label, value, aside]) => (
        <div key={label} className={styles.tile}>
          <dt>{label}</dt>
          <dd>
            {value} {aside !== "" && <span className={styles.small}>{aside}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const STEPS = [
  { value: "hour", label: "Hour" },
  { value: "day", label: "Day" },
] as const;

function Charts({ usage, period, nowMs, agentId }: Asked & { readonly usage: CallUsage }) {
  const hours = showsHours(period, nowMs);
  const [asked, setAsked] = useState<"hour" | "day" | null>(null);
  const step = hours ? (asked ?? usualStep(period, nowMs)) : "day";
  const figures = useMemo(
    () => callFigures(usage, step === "hour", period, nowMs),
    [usage, step, period, nowMs],
  );
  return (
    <>
      {hours && (
        <div className={styles.choices}>
          <SelectField label="Interval" value={step} choices={STEPS} onChange={setAsked} />
        </div>
      )}
      <div className={styles.charts}>
        <CallsChart figures={figures} step={step} />
        <TimeChart figures={figures} step={step} />
        <AgentsChart period={period} nowMs={nowMs} agentId={agentId} />
        <ConcurrencyChart usage={usage} period={period} nowMs={nowMs} />
      </div>
    </>
  );
}

/** Two bars of days are too few for a chart. */
const FEW_DAYS = 2;

function usualStep({ fromMs, toMs }: Period, nowMs: number): "hour" | "day" {
  const days = fromMs === null ? Infinity : ((toMs ?? nowMs) - fromMs) / 86_400_000;
  return days <= FEW_DAYS ? "hour" : "day";
}

function Metering() {
  return (
    <Note>
      The billed time of a call starts when it is joined and is rounded up to whole units of 6 seconds, unless
      the operator of this service has set another unit. Calls that nobody joined, that ended with a system
      error or that were refunded are not billed. Parley counts minutes; it does not charge for them.
    </Note>
  );
}
