/** Where the operator key is entered. It stays in the memory of this page. */

import { useState } from "react";
import { useApi } from "../../data/api.tsx";
import { Badge, Card } from "../../ui/display.tsx";
import { Form, Note } from "../../ui/form.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { checkOperatorKey, type OperatorKey } from "./use-engines.ts";

export interface OperatorCardProps {
  readonly operator: OperatorKey;
  readonly onKey: (operator: OperatorKey) => void;
}

export function OperatorCard({ operator, onKey }: OperatorCardProps) {
  const [typed, setTyped] = useState("");
  const api = useApi();
  const isGiven = operator.operatorKey !== undefined;
  return (
    <Card
      title="Operator key"
      text="Changes need the key of the operator besides your API key: the OPERATOR_KEY of the service."
      actions={isGiven ? <Badge tone="good">Entered</Badge> : <Badge>Not entered</Badge>}
    >
      <Form
        label="Operator key"
        action={isGiven ? "Replace the key" : "Use this key"}
        check={() => (typed.trim() === "" ? [{ field: "operatorKey", message: "must not be empty" }] : [])}
        onSave={async () => {
          const key = { operatorKey: typed.trim() };
          await checkOperatorKey(api, key);
          onKey(key);
          setTyped("");
        }}
      >
        <TextField
          label="Key"
          path="operatorKey"
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={setTyped}
        />
        <Note>It is not stored: leaving this page forgets it.</Note>
      </Form>
    </Card>
  );
}
