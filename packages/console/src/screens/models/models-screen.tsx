/** The engines of the deployment: which run and why, tests, and changes by the operator. */

import type { DeploymentEngines, EngineKind } from "@parley/schema";
import { useState } from "react";
import { Page, PageHeader } from "../../ui/display.tsx";
import { Notice } from "../../ui/form.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { EngineCard } from "./engine-card.tsx";
import type { EngineDraft } from "./engine-draft.ts";
import { KINDS } from "./engine-words.ts";
import { FoundServers } from "./found-servers.tsx";
import { OperatorCard } from "./operator-card.tsx";
import { type OperatorKey, useEngines } from "./use-engines.ts";
import styles from "./models.module.css";

export function ModelsScreen() {
  const [operator, setOperator] = useState<OperatorKey>({});
  const { data, error, refetch } = useEngines(operator);
  return (
    <Page>
      <PageHeader
        title="Models"
        lead="The recogniser, the language model and the voice that calls of this deployment use."
      />
      {data === undefined && error === null && <Loading lines={8} />}
      {data === undefined && error !== null && <ErrorState error={error} retry={() => void refetch()} />}
      {data !== undefined && <Engines engines={data} operator={operator} onKey={setOperator} />}
    </Page>
  );
}

interface EnginesProps {
  readonly engines: DeploymentEngines;
  readonly operator: OperatorKey;
  readonly onKey: (operator: OperatorKey) => void;
}

function Engines({ engines, operator, onKey }: EnginesProps) {
  const [drafts, setDrafts] = useState<Partial<Record<EngineKind, EngineDraft | null>>>({});
  const draft = (kind: EngineKind, next: EngineDraft | null) =>
    setDrafts((before) => ({ ...before, [kind]: next }));
  const { canChange, isOperator } = engines;
  const mayChange = canChange && operator.operatorKey !== undefined;
  return (
    <div className={styles.page}>
      <Access canChange={canChange} isOperator={isOperator} />
      <div className={styles.engines}>
        {KINDS.map((kind) => (
          <EngineCard
            key={kind}
            kind={kind}
            engine={engines[kind]}
            operator={operator}
            isOperator={isOperator}
            mayChange={mayChange}
            draft={drafts[kind] ?? null}
            onDraft={(next) => draft(kind, next)}
          />
        ))}
      </div>
      {isOperator && <FoundServers operator={operator} onUse={mayChange ? draft : null} />}
      {canChange && <OperatorCard operator={operator} onKey={onKey} />}
    </div>
  );
}

/** What this sign-in cannot do here, and how it could. */
function Access({ canChange, isOperator }: Pick<DeploymentEngines, "canChange" | "isOperator">) {
  if (!isOperator) {
    return (
      <Notice>
        Addresses are shown, and engines are tested, for keys of the first account of this deployment
        {canChange ? " and with the operator key." : " only."}
      </Notice>
    );
  }
  if (canChange) return null;
  return (
    <Notice>
      This page cannot change anything, because the service runs without <code>OPERATOR_KEY</code>. Set it, or
      set the engines themselves in the environment of the service, and start the service again.
    </Notice>
  );
}
