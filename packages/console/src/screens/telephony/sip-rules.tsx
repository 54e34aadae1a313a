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

/** What follows from each choice. */
const REFER_HINTS: Readonly<Record<Rules["incomingRefer"], string>> = {
  refuse: "Answered with 603. The agent and the other side go on talking.",
  follow:
    "The agent talks with the new number. This needs a list of prefixes in the dialling rules, and counts for their limits.",
};
const SRTP_HINTS: Readonly<Record<Rules["dialledSrtp"], string>> = {
  required: "A call whose other side refuses encryption fails.",
  preferred: "Where encryption is refused, the call is dialled again without it.",
  off: "Dialled calls are not encrypted.",
};

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
          hint={REFER_HINTS[draft.incomingRefer]}
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
          hint={SRTP_HINTS[draft.dialledSrtp]}
          value={draft.dialledSrtp}
          choices={[
            { value: "required", label: "Required" },
            { value: "preferred", label: "Preferred" },
            { value: "off", label: "Off" },
          ]}
          onChange={(dialledSrtp) => setDraft({ ...draft, dialledSrtp })}
        />
      </Form>
    </Card>
  );
}
