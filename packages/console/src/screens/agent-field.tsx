/** A field to choose an agent by name. */

import { useRead } from "../data/api.tsx";
import { Combobox } from "../ui/combobox.tsx";
import { Field } from "../ui/field.tsx";

/** One page of agents; others can be entered by id. */
const MAX_OFFERED = 100;

export interface AgentFieldProps {
  readonly label: string;
  readonly aside?: string;
  readonly hint?: string;
  readonly path?: string;
  /** An agent id; empty: none. */
  readonly value: string;
  readonly onChange: (agentId: string) => void;
  readonly placeholder?: string;
}

export function useAgentNames(): ReadonlyMap<string, string> {
  const { data } = useRead("/api/agents", { query: { pageSize: MAX_OFFERED, sort: "name" } });
  return new Map((data?.results ?? []).map(({ agentId, name }) => [agentId, name]));
}

export function AgentField(props: AgentFieldProps) {
  const { label, aside, hint, path, value, onChange, placeholder = "All agents" } = props;
  const names = useAgentNames();
  const options = [...names].map(([id, name]) => ({ value: id, label: name, detail: id }));
  return (
    <Field label={label} aside={aside} hint={hint} path={path}>
      <Combobox value={value} options={options} onChange={onChange} free placeholder={placeholder} />
    </Field>
  );
}
