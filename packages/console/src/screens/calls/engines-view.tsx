/** What a call has used of its engines. */

import type { Call } from "@parley/schema";
import { Card } from "../../ui/display.tsx";
import { Empty } from "../../ui/states.tsx";
import { EngineTable } from "../engine-table.tsx";

export function EnginesView({ call: { engineUse, cost, ended } }: { readonly call: Call }) {
  if (engineUse === null) {
    return (
      <Empty title={ended === null ? "Not counted yet" : "Nothing was counted"}>
        {ended === null
          ? "What the call uses of its engines is stored when it ends."
          : "This call asked no engine for anything, or its process was lost."}
      </Empty>
    );
  }
  const currency = cost?.currency ?? null;
  return (
    <Card
      title="Engines"
      text="Requests to the recogniser, the language model and the voice, with those that were dropped."
    >
      <EngineTable
        label="Engines of the call"
        rows={engineUse.map(({ medianLatency, ...use }) => ({
          ...use,
          typicalLatency: medianLatency,
          currency,
        }))}
        costs={cost === null ? [] : [cost]}
      />
    </Card>
  );
}
