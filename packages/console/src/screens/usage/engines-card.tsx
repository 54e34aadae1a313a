/** What the calls of a period have used of each engine. */

import { useRead } from "../../data/api.tsx";
import { Card } from "../../ui/display.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { EngineTable } from "../engine-table.tsx";
import { daysOf, type Period } from "./period.ts";

export function EnginesCard({ period }: { readonly period: Period }) {
  const { data, error, refetch } = useRead("/api/accounts/me/usage/engines", { query: daysOf(period) });
  return (
    <Card
      title="Engines"
      text="Requests to recognisers, language models and voices, by the whole day (UTC) in which calls were created, of all agents."
    >
      {error !== null && <ErrorState error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading lines={3} />}
      {data?.engines.length === 0 && <p>No ended call of this period has used an engine.</p>}
      {data !== undefined && data.engines.length > 0 && (
        <EngineTable
          label="Engines of calls"
          rows={data.engines.map(({ meanLatency, ...use }) => ({ ...use, typicalLatency: meanLatency }))}
          costs={data.costs}
        />
      )}
    </Card>
  );
}
