/** What the account decides about its calls over SIP. */

import type { SipRules as Rules, SipRulesPatch } from "@parley/schema";
import { useState } from "react";
import { useChange, useRead } from "../../data/api.tsx";
import { useHasScope } from "../../data/scopes.ts";
import { Card } from "../../ui/display.tsx";
import { Form } from "../../ui/form.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { SelectField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";

const PATH = "/api/sip/rules";

export function SipRules() {
  const { data, error, refetch } = useRead(PATH, {});
  if (data === undefined) {
    return error === null ? <Loading lines={4} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  return <RulesForm rules={data} />;
}

function RulesForm({ rules }: { readonly rules: Rules }) {
  const [draft, setDraft] = useState(rules);
  const toast = useToast();
  const may = useHasScope("admin");
  const save = useChange((api, body: SipRulesPatch) => api.fetch("PATCH", PATH, { body }), [PATH]);
  return (
    <Card title="Rules for calls">
      <Form
        label="SIP rules"
        action="Save SIP rules"
        disabled={!may}
        onSave={async () => {
          setDraft(await save.mutateAsync(draft));
          toast("SIP rules saved.");
        }}
      >
        <SelectField
          label="Transfers by the other side (REFER)"
          path="incomingRefer"
          hint="Followed transfers need a prefix in the dialling rules, and count for their limits."
          value={draft.incomingRefer}
          choices={[
            { value: "refuse", label: "Refuse" },
            { value: "follow", label: "Follow" },
          ]}
          onChange={(incomingRefer) => setDraft({ ...draft, incomingRefer })}
        />
        <SelectField
          label="Encrypted media (SRTP) of dialled calls over TLS"
          path="dialledSrtp"
          value={draft.dialledSrtp}
          choices={[
            { value: "required", label: "Required" },
            { value: "preferred", label: "Preferred: call again without it when it is refused" },
            { value: "off", label: "Off" },
          ]}
          onChange={(dialledSrtp) => setDraft({ ...draft, dialledSrtp })}
        />
      </Form>
    </Card>
  );
}
