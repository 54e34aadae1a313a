/** The filters of the call list. */

import { ListFilter, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Combobox } from "../../ui/combobox.tsx";
import { SearchField, Toolbar } from "../../ui/display.tsx";
import { Field, Select, TextArea, TextInput } from "../../ui/field.tsx";
import { Columns } from "../../ui/form.tsx";
import { useAgentNames } from "../agent-field.tsx";
import {
  type CallFilters,
  countMore,
  ENDS,
  isFiltered,
  MORE,
  type MoreFilters,
  sortsFor,
  STATUSES,
} from "./call-filters.ts";
import styles from "./calls.module.css";

/** The limit of the service. */
const MAX_AGENTS = 100;

export interface FilterBarProps {
  readonly filters: CallFilters;
  readonly onChange: (changes: Partial<CallFilters>) => void;
  /** The text as typed; the search follows after a pause. */
  readonly search: string;
  readonly onSearch: (text: string) => void;
  /** The same for the words of transcripts. */
  readonly said: string;
  readonly onSaid: (text: string) => void;
}

export function FilterBar({ filters, onChange, search, onSearch, said, onSaid }: FilterBarProps) {
  const [open, setOpen] = useState(false);
  const more = countMore(filters);
  return (
    <div className={styles.filters}>
      <Toolbar>
        <SearchField label="Words that were said" value={said} onChange={onSaid} />
        <SearchField label="Search calls" value={search} onChange={onSearch} />
        <AgentPicker
          onPick={(agentId) => {
            const agentIds = [...new Set([...filters.agentIds, agentId])].slice(0, MAX_AGENTS);
            onChange({ agentIds });
          }}
        />
        <Select
          aria-label="Status"
          className={styles.filter ?? ""}
          value={filters.status}
          choices={STATUSES}
          onChange={(status) => onChange({ status })}
        />
        <Select
          aria-label="End"
          className={styles.filter ?? ""}
          value={filters.end}
          choices={ENDS}
          onChange={(end) => onChange({ end })}
        />
        <label className={styles.errors}>
          <input
            type="checkbox"
            checked={filters.withErrors}
            onChange={(event) => onChange({ withErrors: event.target.checked })}
          />
          With errors
        </label>
        <Select
          aria-label="Order"
          className={styles.filter ?? ""}
          value={filters.sort}
          choices={sortsFor(filters)}
          onChange={(sort) => onChange({ sort })}
        />
        <div className={styles.days}>
          <Day label="From" value={filters.from} onChange={(from) => onChange({ from })} />
          <Day label="To" value={filters.to} onChange={(to) => onChange({ to })} />
        </div>
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          <ListFilter aria-hidden="true" /> {more === 0 ? "More filters" : `More filters (${String(more)})`}
        </Button>
      </Toolbar>
      <Chosen filters={filters} onChange={onChange} onSearch={onSearch} onSaid={onSaid} />
      {open && <More filters={filters} onApply={onChange} />}
    </div>
  );
}

function AgentPicker({ onPick }: { readonly onPick: (agentId: string) => void }) {
  const names = useAgentNames();
  const options = [...names].map(([id, name]) => ({ value: id, label: name, detail: id }));
  return (
    <div className={styles.agentPicker}>
      <Combobox
        aria-label="Agent"
        placeholder="All agents"
        value=""
        options={options}
        free
        onChange={(agentId) => {
          if (agentId !== "") onPick(agentId);
        }}
      />
    </div>
  );
}

interface DayProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (day: string) => void;
}

function Day({ label, value, onChange }: DayProps) {
  return (
    <label className={styles.day}>
      <span>{label}</span>
      <TextInput type="date" value={value} onChange={(event) => onChange(event.target.value)} />
    </label>
  );
}

type ChosenProps = Pick<FilterBarProps, "filters" | "onChange" | "onSearch" | "onSaid">;

function Chosen({ filters, onChange, onSearch, onSaid }: ChosenProps) {
  const names = useAgentNames();
  if (!isFiltered(filters)) return null;
  const clear = () => {
    onSearch("");
    onSaid("");
    const none = Object.fromEntries(MORE.map((name) => [name, ""])) as unknown as MoreFilters;
    const texts = { from: "", to: "", search: "", said: "" };
    onChange({ ...none, ...texts, agentIds: [], status: "", end: "", withErrors: false });
  };
  return (
    <div className={styles.chosen}>
      {filters.agentIds.map((agentId) => (
        <Button
          key={agentId}
          small
          aria-label={`Remove filter: ${names.get(agentId) ?? agentId}`}
          onClick={() => onChange({ agentIds: filters.agentIds.filter((other) => other !== agentId) })}
        >
          {names.get(agentId) ?? agentId} <X aria-hidden="true" />
        </Button>
      ))}
      <Button small kind="quiet" onClick={clear}>
        Clear all filters
      </Button>
    </div>
  );
}

interface MoreProps {
  readonly filters: CallFilters;
  readonly onApply: (changes: MoreFilters) => void;
}

/** Applied together, so that half-typed numbers do not filter. */
function More({ filters, onApply }: MoreProps) {
  const [draft, setDraft] = useState<MoreFilters>(filters);
  const text = (name: keyof MoreFilters) => ({
    value: draft[name],
    onChange: (event: { readonly target: { readonly value: string } }) =>
      setDraft({ ...draft, [name]: event.target.value }),
  });
  const apply = () => {
    const { shortest, longest, dayStart, dayEnd, voiceId, metadata } = draft;
    onApply({ shortest, longest, dayStart, dayEnd, voiceId, metadata });
  };
  return (
    <form
      className={styles.more}
      aria-label="More filters"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <Columns>
        <Field label="Minimum duration" aside="seconds">
          <TextInput inputMode="decimal" {...text("shortest")} />
        </Field>
        <Field label="Maximum duration" aside="seconds">
          <TextInput inputMode="decimal" {...text("longest")} />
        </Field>
        <Field label="From time of day" aside="UTC">
          <TextInput type="time" {...text("dayStart")} />
        </Field>
        <Field label="To time of day" aside="UTC">
          <TextInput type="time" {...text("dayEnd")} />
        </Field>
        <Field label="Voice ID" aside="id">
          <TextInput spellCheck={false} {...text("voiceId")} />
        </Field>
        <Field label="Metadata" aside="key=value, one per line">
          <TextArea rows={2} spellCheck={false} {...text("metadata")} />
        </Field>
      </Columns>
      <div>
        <Button type="submit" kind="primary">
          Apply
        </Button>
      </div>
    </form>
  );
}
