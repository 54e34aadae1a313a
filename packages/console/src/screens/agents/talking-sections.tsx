/** Prompt, voice, turn-taking and first speaker of an agent. */

import { useRead } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { Card } from "../../ui/display.tsx";
import { variablesOf } from "../template-variables.ts";
import styles from "./agents.module.css";
import { useDraft } from "./draft-context.tsx";
import { isObject } from "./draft.ts";
import { ComboboxAt, DurationAt, JsonAt, NumberAt, SelectAt, SwitchAt, TextAt } from "./fields.tsx";

/** Names of voices to choose from; other names can be typed. */
const LISTED = { query: { pageSize: 100 } } as const;

export function PromptSection() {
  const { template } = useDraft();
  const models = useRead("/api/models", LISTED);
  const variables = variablesOf(template);
  return (
    <Card title="Prompt and model" text="Instructions for the model, and which model to use.">
      <TextAt path="systemPrompt" label="System prompt" rows={9} />
      {variables.length > 0 && (
        <p className={styles.note}>
          Variables, filled in for each call:{" "}
          {variables.map((name) => (
            <code key={name}>{`{{${name}}} `}</code>
          ))}
        </p>
      )}
      <div className={styles.columns}>
        <ComboboxAt
          path="model"
          label="Model"
          placeholder="default"
          options={(models.data?.results ?? []).map(({ name }) => ({ value: name, label: name }))}
        />
        <NumberAt path="temperature" label="Temperature" step={0.05} />
        <TextAt path="languageHint" label="Language" placeholder="en" />
      </div>
    </Card>
  );
}

export function VoiceSection() {
  const { template } = useDraft();
  const voices = usePages("/api/voices", LISTED);
  const options = (voices.rows ?? []).map(({ name, languageLabel, description }) => {
    const detail = [languageLabel, description].filter((text) => text !== null).join(" · ");
    return { value: name, label: name, ...(detail === "" ? {} : { detail }) };
  });
  return (
    <Card title="Voice" text="Choose a voice, or describe one in full.">
      <div className={styles.columns}>
        <ComboboxAt path="voice" label="Voice" placeholder="The engine's default" options={options} />
        <SelectAt
          path="initialOutputMedium"
          label="Starts by"
          choices={[
            { value: "MESSAGE_MEDIUM_VOICE", label: "Speaking" },
            { value: "MESSAGE_MEDIUM_TEXT", label: "Writing" },
          ]}
        />
      </div>
      <details open={isObject(template["externalVoice"]) || isObject(template["voiceOverrides"])}>
        <summary>External voice and overrides</summary>
        <div className={styles.columns}>
          <JsonAt path="externalVoice" label="External voice" />
          <JsonAt path="voiceOverrides" label="Voice overrides" />
        </div>
      </details>
    </Card>
  );
}

export function TurnsSection() {
  return (
    <Card
      title="Turn-taking"
      text="When speech counts as a turn, when a turn ends, and when the caller can interrupt."
    >
      <div className={styles.columns}>
        <DurationAt path="vadSettings.turnEndpointDelay" label="End of a turn" />
        <DurationAt path="vadSettings.minimumTurnDuration" label="Shortest turn" />
        <DurationAt path="vadSettings.minimumInterruptionDuration" label="Shortest interruption" />
        <NumberAt path="vadSettings.frameActivationThreshold" label="Speech threshold" step={0.05} />
      </div>
    </Card>
  );
}

const OPENERS = [
  { value: "agent", label: "The agent" },
  { value: "user", label: "The caller" },
] as const;

export function OpeningSection() {
  const { template, set } = useDraft();
  const settings = template["firstSpeakerSettings"];
  const opener = isObject(settings) && settings["user"] !== undefined ? "user" : "agent";
  const fallback =
    isObject(settings) && isObject(settings["user"]) && settings["user"]["fallback"] !== undefined;
  return (
    <Card title="Opening" text="Who speaks first, and what the agent says.">
      <fieldset className={styles.fieldset}>
        <legend>First speaker</legend>
        <div className={styles.radios}>
          {OPENERS.map(({ value, label }) => (
            <label key={value}>
              <input
                type="radio"
                name="opener"
                checked={opener === value}
                onChange={() => set("firstSpeakerSettings", { [value]: {} })}
              />
              {label}
            </label>
          ))}
        </div>
      </fieldset>
      {opener === "agent" && <OpeningWords at="firstSpeakerSettings.agent" interruptible />}
      {opener === "user" && fallback && (
        <>
          <OpeningWords at="firstSpeakerSettings.user.fallback" />
        </>
      )}
      {opener === "user" && (
        <div className={styles.radios}>
          <label>
            <input
              type="checkbox"
              checked={fallback}
              onChange={(event) =>
                set("firstSpeakerSettings.user.fallback", event.target.checked ? {} : undefined)
              }
            />
            The agent speaks first if the caller says nothing
          </label>
        </div>
      )}
    </Card>
  );
}

function OpeningWords({
  at,
  interruptible = false,
}: {
  readonly at: string;
  readonly interruptible?: boolean;
}) {
  return (
    <>
      <div className={styles.columns}>
        <TextAt path={`${at}.text`} label="Message" rows={3} hint="Said word for word." />
        <TextAt
          path={`${at}.prompt`}
          label="Or a prompt"
          rows={3}
          hint="Instructions for the model's opening."
        />
      </div>
      <div className={styles.columns}>
        <DurationAt path={`${at}.delay`} label="Delay" />
        {interruptible && <SwitchAt path={`${at}.uninterruptible`} label="Cannot be interrupted" />}
      </div>
    </>
  );
}
