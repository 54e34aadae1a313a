/** The charts, each with its figures as a table. */

import type { CallUsage } from "@parley/schema";
import { useMemo } from "react";
import { Link } from "react-router";
import { useRead } from "../../data/api.tsx";
import { Chart, CHART_COLOURS, type ChartSeries } from "../../ui/chart/chart.tsx";
import { Card } from "../../ui/display.tsx";
import { Progress } from "../../ui/parts.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { agentFigures, type CallFigures, firstCallMs, sum, type UsageByAgent } from "./figures.ts";
import { FiguresTable } from "../../ui/chart/figures-table.tsx";
import { concurrencyOf, datesOf, type Period } from "./period.ts";
import { averageText, countText, dayText, minutesText, timeText } from "./usage-texts.ts";

export interface Asked {
  readonly period: Period;
  /** The time of the request, the end of open periods. */
  readonly nowMs: number;
  /** Empty: all agents. */
  readonly agentId: string;
}

export function CallsChart({ figures, step }: { readonly figures: CallFigures; readonly step: string }) {
  const series = useMemo<ChartSeries[]>(
    () => [
      { label: "All", colour: "chart-rest", kind: "bars", values: figures.total },
      { label: "Joined", colour: "chart-1", kind: "bars", values: figures.joined },
      { label: "Failed", colour: "bad", kind: "thin bars", values: figures.errors },
    ],
    [figures],
  );
  const momentText = figures.stepS < 86_400 ? timeText : dayText;
  const shared = { at: figures.at, series, momentText, valueText: countText };
  return (
    <Card title="Calls" text={`Calls created per ${step} (UTC).`}>
      <Chart {...shared} label={`Calls per ${step}`} stepS={figures.stepS} whole />
      <FiguresTable {...shared} label={`Calls per ${step}`} />
    </Card>
  );
}

export function TimeChart({ figures, step }: { readonly figures: CallFigures; readonly step: string }) {
  const series = useMemo<ChartSeries[]>(
    () => [
      { label: "Joined minutes", colour: "chart-2", kind: "bars", values: figures.joinedMinutes },
      { label: "Billed minutes", colour: "chart-3", kind: "thin bars", values: figures.billedMinutes },
    ],
    [figures],
  );
  const momentText = figures.stepS < 86_400 ? timeText : dayText;
  const shared = { at: figures.at, series, momentText, valueText: minutesText };
  return (
    <Card title="Minutes" text="Minutes of ended calls, by creation time (UTC).">
      <Chart {...shared} label={`Minutes per ${step}`} stepS={figures.stepS} />
      <FiguresTable {...shared} label={`Minutes per ${step}`} />
    </Card>
  );
}

export function AgentsChart({ period, nowMs, agentId }: Asked) {
  const query = { ...datesOf(period), ...(agentId === "" ? {} : { agentIds: [agentId] }) };
  const { data, error, refetch } = useRead("/api/agents/usage", { query });
  const figures = useMemo(
    () => (data === undefined ? null : agentFigures(data, period, nowMs)),
    [data, period, nowMs],
  );
  return (
    <Card title="Agents" text="Calls per day and agent (UTC). Includes deleted agents.">
      {error !== null && <ErrorState error={error} retry={() => void refetch()} />}
      {figures === null && error === null && <Loading lines={4} />}
      {figures !== null && <OfAgents figures={figures} />}
    </Card>
  );
}

function OfAgents({ figures }: { readonly figures: UsageByAgent }) {
  const { at, stepS, shown, all } = figures;
  const series = useMemo<ChartSeries[]>(
    () =>
      shown.map(({ name, values }, index) => ({
        label: name,
        colour: CHART_COLOURS[index] ?? "chart-rest",
        kind: "bars",
        values,
      })),
    [shown],
  );
  if (all.length === 0) return <p>No agent had calls in this period.</p>;
  const total = sum(all.map(({ calls }) => calls));
  return (
    <>
      <Chart
        label="Calls per day and agent"
        at={at}
        stepS={stepS}
        series={series}
        stacked
        whole
        momentText={dayText}
        valueText={countText}
      />
      <Table
        label="Calls per agent"
        rows={all}
        keyOf={({ agentId }) => agentId ?? ""}
        columns={[
          {
            id: "agent",
            label: "Agent",
            cell: ({ agentId, name }) => <Link to={`/agents/${agentId ?? ""}`}>{name}</Link>,
          },
          {
            id: "calls",
            label: "Calls",
            cell: ({ name, calls }) => <Progress label={`Share of ${name}`} done={calls} total={total} />,
          },
          {
            id: "minutes",
            label: "Billed minutes",
            end: true,
            cell: ({ billedMinutes }) => minutesText(billedMinutes),
          },
        ]}
      />
    </>
  );
}

const BUCKET_TEXTS = { minute: "minute", "5min": "5 minutes", hour: "hour", day: "day" } as const;

export function ConcurrencyChart({
  usage,
  period,
  nowMs,
}: Omit<Asked, "agentId"> & { readonly usage: CallUsage }) {
  const { bucket, stepS, start, end } = useMemo(
    () => concurrencyOf(period, firstCallMs(usage, nowMs), nowMs),
    [usage, period, nowMs],
  );
  const query = { bucket, start, ...(end === undefined ? {} : { end }) };
  const { data, error, refetch } = useRead("/api/accounts/me/usage/concurrency", { query });
  const shared = useMemo(() => {
    const points = data?.timeSeries ?? [];
    const series: ChartSeries[] = [
      {
        label: "Maximum (created)",
        colour: "chart-3",
        kind: "area",
        values: points.map((point) => point.maxTotalCalls),
      },
      {
        label: "Maximum (joined)",
        colour: "chart-1",
        kind: "area",
        values: points.map((point) => point.maxJoinedCalls),
      },
      {
        label: "Average (joined)",
        colour: "chart-2",
        kind: "line",
        values: points.map((point) => point.avgJoinedCalls),
      },
    ];
    const at = points.map(({ timestamp }) => Date.parse(timestamp) / 1000);
    return { at, series, momentText: stepS < 86_400 ? timeText : dayText, valueText: averageText };
  }, [data, stepS]);
  return (
    <Card
      title="Concurrent calls"
      text={`Calls of all agents at the same time, per ${BUCKET_TEXTS[bucket]} (UTC).`}
    >
      {error !== null && <ErrorState error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading lines={4} />}
      {data !== undefined && (
        <>
          <Chart {...shared} label="Concurrent calls" stepS={stepS} whole />
          <FiguresTable {...shared} label="Concurrent calls" />
        </>
      )}
    </Card>
  );
}
