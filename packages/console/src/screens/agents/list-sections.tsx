/** The lists of a template: inactivity messages and tools. */

import type { RowOf } from "@parley/client/rest";
import { Plus, Trash2 } from "lucide-react";
import { type ReactNode, useId } from "react";
import { usePages } from "../../data/pages.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Combobox, type ComboboxOption } from "../../ui/combobox.tsx";
import { Field, FieldMessage } from "../../ui/field.tsx";
import { useFieldError } from "../../ui/field-errors.tsx";
import { SelectField } from "../../ui/text-field.tsx";
import styles from "./agents.module.css";
import { errorPath, noteOf, useAt, useDraft } from "./draft-context.tsx";
import { isObject, valueAt } from "./draft.ts";
import { DurationAt, Hint, JsonAt, SelectAt, TextAt } from "./fields.tsx";
import { SectionCard } from "./section-nav.tsx";

function useListAt(path: string) {
  const { template, set } = useDraft();
  const value = valueAt(template, path);
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return {
    list,
    add: (item: unknown) => set(path, [...list, item]),
    remove: (index: number) => {
      const rest = list.filter((_, at) => at !== index);
      set(path, rest.length === 0 ? undefined : rest);
    },
  };
}

interface ItemProps {
  readonly title: string;
  readonly path: string;
  readonly onRemove: () => void;
  readonly children: ReactNode;
}

function Item({ title, path, onRemove, children }: ItemProps) {
  const id = useId();
  const message = useFieldError(errorPath(path));
  return (
    <li className={styles.item} aria-labelledby={id}>
      <div className={styles.itemHead}>
        <span id={id}>{title}</span>
        <IconButton
          label={`Remove: ${title}`}
          icon={<Trash2 aria-hidden="true" />}
          small
          onClick={onRemove}
        />
      </div>
      {message !== null && <FieldMessage message={message} />}
      {children}
    </li>
  );
}

export function SilenceSection() {
  const { list, add, remove } = useListAt("inactivityMessages");
  return (
    <SectionCard id="inactivity" text="What the agent says when the caller is silent, in this order.">
      <ol className={styles.form}>
        {list.map((_, index) => {
          const path = `inactivityMessages.${String(index)}`;
          return (
            // Messages are identified by their position.
            <Item
              key={path}
              title={`Message ${String(index + 1)}`}
              path={path}
              onRemove={() => remove(index)}
            >
              <TextAt path={`${path}.message`} label="Message" rows={2} hint="" />
              <div className={styles.columns}>
                <DurationAt path={`${path}.duration`} label="Silence before the message" />
                <SelectAt
                  path={`${path}.endBehavior`}
                  label="After the message"
                  hint=""
                  choices={[
                    { value: "", label: "Continue" },
                    { value: "END_BEHAVIOR_HANG_UP_SOFT", label: "Hang up unless the caller responds" },
                    { value: "END_BEHAVIOR_HANG_UP_STRICT", label: "Hang up" },
                  ]}
                />
              </div>
            </Item>
          );
        })}
      </ol>
      <div>
        <Button small onClick={() => add({ duration: "15s", message: "" })}>
          <Plus aria-hidden="true" /> Add message
        </Button>
      </div>
    </SectionCard>
  );
}

/** Other fields of a selected tool. */
const SELECTION_PARTS = [
  ["nameOverride", "Name shown to the model"],
  ["descriptionOverride", "Description shown to the model"],
] as const;

function optionOf({ name, definition, ownership }: RowOf<"/api/tools">): ComboboxOption {
  const details = [ownership === "public" ? "Public" : "Yours", definition.description ?? null];
  return { value: name, label: name, detail: details.filter((text) => text !== null).join(" · ") };
}

export function ToolsSection() {
  const { list, add, remove } = useListAt("selectedTools");
  const tools = usePages("/api/tools", { query: { pageSize: 100, sortOrder: "alphabetic" } });
  const { rows } = tools;
  const nameOf = (tool: unknown): string => {
    if (!isObject(tool)) return "Tool";
    const { toolId, toolName, temporaryTool } = tool;
    const known = rows?.find((row) => row.toolId === toolId)?.name;
    const own = isObject(temporaryTool) ? temporaryTool["modelToolName"] : undefined;
    const name = known ?? toolName ?? own ?? toolId;
    return typeof name === "string" && name !== "" ? name : "New tool";
  };
  const options = (rows ?? []).map(optionOf);
  return (
    <SectionCard id="tools" text="Tools that the agent can use. Choose a saved tool, or define one here.">
      <ul className={styles.form}>
        {list.map((tool, index) => {
          const path = `selectedTools.${String(index)}`;
          return (
            <Item key={path} title={nameOf(tool)} path={path} onRemove={() => remove(index)}>
              <ToolChoice path={path} options={options} />
              <div className={styles.columns}>
                {SELECTION_PARTS.map(([name, label]) => (
                  <TextAt key={name} path={`${path}.${name}`} label={label} />
                ))}
              </div>
              <details open={isObject(tool) && isObject(tool["parameterOverrides"])}>
                <summary>Fixed parameters and credentials</summary>
                <div className={styles.columns}>
                  <JsonAt
                    path={`${path}.parameterOverrides`}
                    label="Fixed parameters"
                    rows={4}
                    hint="Values that the model cannot see or change."
                  />
                  <JsonAt
                    path={`${path}.authTokens`}
                    label="Credentials"
                    rows={4}
                    hint="Saved credentials are not shown. Enter them again each time you save."
                  />
                  <TextAt
                    path={`${path}.transitionId`}
                    label="Transition ID"
                    hint="Stored with the agent. It has no effect."
                  />
                </div>
              </details>
            </Item>
          );
        })}
      </ul>
      <div className={styles.buttons}>
        <Button small onClick={() => add({ toolName: "" })}>
          <Plus aria-hidden="true" /> Add existing tool
        </Button>
        <Button
          small
          onClick={() => add({ temporaryTool: { modelToolName: "", description: "", client: {} } })}
        >
          <Plus aria-hidden="true" /> Define a tool
        </Button>
      </div>
    </SectionCard>
  );
}

interface ToolChoiceProps {
  readonly path: string;
  readonly options: readonly ComboboxOption[];
}

function ToolChoice({ path, options }: ToolChoiceProps) {
  const { set, template } = useDraft();
  const tool = valueAt(template, path);
  if (isObject(tool) && tool["temporaryTool"] !== undefined) {
    return <JsonAt path={`${path}.temporaryTool`} label="Definition" rows={10} />;
  }
  const byId = isObject(tool) && typeof tool["toolId"] === "string";
  const field = byId ? "toolId" : "toolName";
  const value = valueAt(tool, field);
  return (
    <Field label={byId ? "Tool ID" : "Tool"} path={errorPath(`${path}.${field}`)}>
      <Combobox
        free
        clearable={false}
        value={typeof value === "string" ? value : ""}
        options={byId ? [] : options}
        onChange={(next) => set(`${path}.${field}`, next)}
      />
    </Field>
  );
}

const RETENTION = [
  { value: "retain", label: "Keep the call" },
  { value: "auto_delete", label: "Delete the call automatically" },
] as const;

/** The API also accepts a longer spelling of both. */
export function RetentionAt() {
  const [value, set] = useAt("retentionPolicy");
  const { hint } = noteOf("retentionPolicy");
  const deletes = typeof value === "string" && value.toLowerCase().endsWith("auto_delete");
  return (
    <SelectField
      label="After the call"
      path={errorPath("retentionPolicy")}
      {...(hint === undefined ? {} : { hint: <Hint text={hint} /> })}
      value={deletes ? "auto_delete" : "retain"}
      choices={RETENTION}
      onChange={(next) => set(next === "retain" ? undefined : next)}
    />
  );
}
