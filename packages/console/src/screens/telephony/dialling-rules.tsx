/** What the account may dial: prefixes of numbers, and calls and minutes within 24 hours. */

import type { DiallingRules as Rules, DiallingRulesPatch } from "@parley/schema";
import { useState } from "react";
import { useChange, useRead } from "../../data/api.tsx";
import { useHasScope } from "../../data/scopes.ts";
import { Card } from "../../ui/display.tsx";
import { Columns, Fieldset, Form } from "../../ui/form.tsx";
import { Progress } from "../../ui/parts.tsx";
import { RowsEditor } from "../../ui/rows-editor.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";
import { draftOf, faultsIn, minutesOf, rulesOf, type RulesDraft } from "./rules-draft.ts";
import styles from "./telephony.module.css";

const PATH = "/api/accounts/me/dialling_rules";
const USE_PATH = "/api/accounts/me/dialling_use";
const MAX_PREFIXES = 300;
const USE_MS = 10_000;

export function DiallingRules() {
  const { data, error, refetch } = useRead(PATH, {});
  if (data === undefined) {
    return error === null ? <Loading lines={6} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  return (
    <div className={styles.page}>
      <Used rules={data} />
      <RulesForm rules={data} />
    </div>
  );
}

function Used({ rules }: { readonly rules: Rules }) {
  const { data, error, refetch } = useRead(USE_PATH, {}, { everyMs: USE_MS });
  return (
    <Card
      title="Last 24 hours"
      text="Calls that the service dialled. Calls that the carrier refused do not count."
    >
      {data === undefined && error === null && <Loading lines={2} />}
      {data === undefined && error !== null && <ErrorState error={error} retry={() => void refetch()} />}
      {data !== undefined && (
        <Columns>
          <OneUse label="Calls" used={data.calls} limit={rules.maxCallsPerDay} />
          <OneUse label="Minutes" used={minutesOf(data.talked)} limit={rules.maxMinutesPerDay} />
        </Columns>
      )}
    </Card>
  );
}

interface OneUseProps {
  readonly label: string;
  readonly used: number;
  /** Null: no limit. */
  readonly limit: number | null;
}

function OneUse({ label, used, limit }: OneUseProps) {
  const text = used.toLocaleString();
  return (
    <div className={styles.use}>
      <span className={styles.useLabel}>{label}</span>
      {limit === null ? (
        <span>{text}, no limit</span>
      ) : (
        <Progress
          label={`${label} of the limit`}
          done={Math.min(used, limit)}
          total={limit}
          text={`${text} of ${limit.toLocaleString()}`}
        />
      )}
    </div>
  );
}

function RulesForm({ rules }: { readonly rules: Rules }) {
  const [draft, setDraft] = useState(() => draftOf(rules));
  const set = (changes: Partial<RulesDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const toast = useToast();
  const may = useHasScope("admin");
  const save = useChange((api, body: DiallingRulesPatch) => api.fetch("PATCH", PATH, { body }), [PATH]);
  return (
    <Card
      title="Rules"
      text="They protect you from bills for numbers that you do not want to call. Calls that run when a limit is reached are not cut off."
    >
      <Form
        label="Dialling rules"
        action="Save rules"
        disabled={!may}
        check={() => faultsIn(draft)}
        onSave={async () => {
          setDraft(draftOf(await save.mutateAsync(rulesOf(draft))));
          toast("Dialling rules saved.");
        }}
      >
        <Fieldset
          legend="Allowed prefixes"
          hint="Numbers must begin with one of these, such as +49 for Germany. Without a prefix, every number may be dialled."
        >
          <RowsEditor
            noun="prefix"
            rows={draft.prefixes}
            max={MAX_PREFIXES}
            fresh={() => "+"}
            onChange={(prefixes) => set({ prefixes })}
          >
            {(prefix, change, index) => (
              <TextField
                label={`Prefix ${String(index + 1)}`}
                path={`allowedPrefixes.${String(index)}`}
                type="tel"
                autoComplete="off"
                maxLength={20}
                value={prefix}
                onChange={change}
              />
            )}
          </RowsEditor>
        </Fieldset>
        <Columns>
          <TextField
            label="Calls in 24 hours"
            path="maxCallsPerDay"
            hint="Empty: no limit. 0: no calls."
            inputMode="numeric"
            value={draft.maxCalls}
            onChange={(maxCalls) => set({ maxCalls })}
          />
          <TextField
            label="Minutes in 24 hours"
            path="maxMinutesPerDay"
            hint="Empty: no limit. 0: no calls."
            inputMode="numeric"
            value={draft.maxMinutes}
            onChange={(maxMinutes) => set({ maxMinutes })}
          />
        </Columns>
      </Form>
    </Card>
  );
}
