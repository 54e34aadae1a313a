/** One engine: what runs and why, a test, and the form that changes it. */

import type { DeploymentEngine, EngineKind } from "@parley/schema";
import { Activity } from "lucide-react";
import { useState } from "react";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Badge, Card, KeyValue } from "../../ui/display.tsx";
import { Note, Notice } from "../../ui/form.tsx";
import { CodeBlock, Inline } from "../../ui/parts.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { ScopedButton } from "../scoped-buttons.tsx";
import { draftOf, type EngineDraft } from "./engine-draft.ts";
import { EngineForm } from "./engine-form.tsx";
import { ENGINE_WORDS, reasonOf, variablesOf } from "./engine-words.ts";
import { type OperatorKey, useChangeEngines, useTestEngine } from "./use-engines.ts";
import styles from "./models.module.css";

const SOURCES = {
  environment: <Badge tone="good">Environment</Badge>,
  stored: <Badge tone="good">Stored</Badge>,
  built_in: <Badge tone="warn">Demo engine</Badge>,
} as const;

export interface EngineCardProps {
  readonly kind: EngineKind;
  readonly engine: DeploymentEngine;
  readonly operator: OperatorKey;
  /** Whether this sign-in may see the server and test it. */
  readonly isOperator: boolean;
  /** Whether the operator key was entered. */
  readonly mayChange: boolean;
  /** The form that is open; null: none. */
  readonly draft: EngineDraft | null;
  readonly onDraft: (draft: EngineDraft | null) => void;
}

export function EngineCard(props: EngineCardProps) {
  const { kind, engine, operator, isOperator, mayChange, draft, onDraft } = props;
  const change = useChangeEngines(operator);
  const toast = useToast();
  const { title, text } = ENGINE_WORDS[kind];
  return (
    <Card title={title} text={text} actions={SOURCES[engine.source]} aria-label={title}>
      <KeyValue
        rows={[
          ["Runs", engine.description],
          ["Why", reasonOf(kind, engine)],
          ["Address", engine.baseUrl === null ? null : <code key="address">{engine.baseUrl}</code>],
          ["Key", keyText(engine, isOperator)],
        ]}
      />
      {engine.list.length > 0 && <EngineList list={engine.list} />}
      {engine.warning !== null && <Notice tone="warn">{engine.warning}.</Notice>}
      {engine.unusedReason !== null && <Notice tone="warn">{engine.unusedReason}</Notice>}
      {isOperator && <TestRow kind={kind} operator={operator} />}
      {mayChange && draft === null && (
        <Inline>
          <ScopedButton needs="admin" small onClick={() => onDraft(draftOf(engine))}>
            Change
          </ScopedButton>
          {engine.isStored && <Removal kind={kind} title={title} change={change} />}
        </Inline>
      )}
      {mayChange && draft !== null && (
        <EngineForm
          key={JSON.stringify(draft)}
          kind={kind}
          engine={engine}
          first={draft}
          change={change}
          onDone={(isSaved) => {
            onDraft(null);
            if (isSaved) toast(`${title}: new calls use the saved settings.`);
          }}
        />
      )}
      {isOperator && !mayChange && engine.source === "built_in" && <Variables kind={kind} />}
    </Card>
  );
}

/** The engines that take over, in their order. */
function EngineList({ list }: Pick<DeploymentEngine, "list">) {
  return (
    <ol className={styles.list} aria-label="Engines in order">
      {list.map(({ name, isOut, error }) => (
        <li key={name}>
          <strong>{name}</strong> <Badge tone={isOut ? "bad" : "good"}>{isOut ? "Out" : "Ready"}</Badge>
          {error !== null && <div className={styles.models}>{error}</div>}
        </li>
      ))}
    </ol>
  );
}

function keyText({ apiKey, baseUrl }: DeploymentEngine, isOperator: boolean): string | null {
  if (!isOperator || baseUrl === null) return null;
  return apiKey === null ? "none" : `set, ${apiKey}`;
}

/** How the environment would set it. */
function Variables({ kind }: { readonly kind: EngineKind }) {
  const text = variablesOf(kind);
  return (
    <details className={styles.details}>
      <summary>Set it in the environment</summary>
      <Note>For example, and then start the service again:</Note>
      <CodeBlock label={`Variables of the ${ENGINE_WORDS[kind].title.toLowerCase()}`}>{text}</CodeBlock>
      <CopyButton text={text} label="Copy the variables" />
    </details>
  );
}

interface RemovalProps {
  readonly kind: EngineKind;
  readonly title: string;
  readonly change: ReturnType<typeof useChangeEngines>;
}

function Removal({ kind, title, change }: RemovalProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <ScopedButton needs="admin" small kind="danger" onClick={() => setOpen(true)}>
        Remove stored settings
      </ScopedButton>
      <Confirm
        open={open}
        onClose={() => setOpen(false)}
        title={`Remove the stored settings of the ${title.toLowerCase()}?`}
        text="Their key is deleted. New calls use what the environment sets, otherwise the engine that comes with the service."
        action="Remove settings"
        dangerous
        onConfirm={() => change({ [kind]: null })}
      />
    </>
  );
}

interface TestRowProps {
  readonly kind: EngineKind;
  readonly operator: OperatorKey;
}

function TestRow({ kind, operator }: TestRowProps) {
  const test = useTestEngine(operator, kind);
  const { data, error, isPending } = test;
  return (
    <div className={styles.test}>
      <ScopedButton needs="calls" small busy={isPending} onClick={() => test.mutate(null)}>
        <Activity aria-hidden="true" /> Test the {ENGINE_WORDS[kind].title.toLowerCase()}
      </ScopedButton>
      <div role="status" className={styles.result}>
        {data !== undefined && !isPending && (
          <>
            <Badge tone={data.works ? "good" : "bad"}>
              {data.works ? `Works, ${String(data.latencyMs)} ms` : "Failed"}
            </Badge>{" "}
            {data.detail}
          </>
        )}
      </div>
      {error !== null && <ErrorState error={error} />}
    </div>
  );
}
