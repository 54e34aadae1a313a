/** Prompt, voice, turn-taking and first speaker of an agent. */

import { useRead } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { variablesOf } from "../template-variables.ts";
import { providerNameOf } from "../vendor-names.ts";
import styles from "./agents.module.css";
import { useDraft } from "./draft-context.tsx";
import { isObject } from "./draft.ts";
import {
  ComboboxAt,
  DurationAt,
  Hint,
  JsonAt,
  LinesAt,
  NumberAt,
  SelectAt,
  SwitchAt,
  TextAt,
} from "./fields.tsx";
import { SectionCard } from "./section-nav.tsx";

/** Names of voices to choose from; other names can be typed. */
const LISTED = { query: { pageSize: 100 } } as const;

export function PromptSection() {
  const { template } = useDraft();
  const models = useRead("/api/models", LISTED);
  const variables = variablesOf(template);
  return (
    <SectionCard id="prompt" text="What the agent does, and which model it uses.">
      <TextAt
        path="systemPrompt"
        label="System prompt"
        rows={9}
        hint={
          <Hint text="Instructions for the model. Use `{{name}}` for values that are set for each call." />
        }
      />
      {variables.length > 0 && (
        <p className={styles.note}>
          Variables, set for each call:{" "}
          {variables.map((name) => (
            <code key={name}>{`{{${name}}} `}</code>
          ))}
        </p>
      )}
      <div className={styles.columns}>
        <ComboboxAt
          path="model"
          label="Model"
          hint=""
          placeholder="Default"
          options={(models.data?.results ?? []).map(({ name }) => ({ value: name, label: name }))}
        />
        <NumberAt
          path="temperature"
          label="Temperature"
          step={0.05}
          hint="Higher values give more varied answers."
        />
        <TextAt
          path="languageHint"
          label="Language"
          placeholder="en"
          hint="A language code such as en or de-CH."
        />
      </div>
      <LinesAt
        path="transcriptHints"
        label="Expected words"
        rows={3}
        hint="Names and terms that callers say, one per line. Recognisers that support hints understand them better."
      />
    </SectionCard>
  );
}

export function VoiceSection() {
  const { template } = useDraft();
  const voices = usePages("/api/voices", LISTED);
  const options = (voices.rows ?? []).map(({ name, languageLabel, description, definition }) => {
    const provider = definition === null ? null : providerNameOf(definition);
    const detail = [provider, languageLabel, description].filter((text) => text !== null).join(" · ");
    return { value: name, label: name, ...(detail === "" ? {} : { detail }) };
  });
  return (
    <SectionCard id="voice" text="The voice that the agent speaks with.">
      <div className={styles.columns}>
        <ComboboxAt path="voice" label="Voice" hint="" placeholder="Default" options={options} />
        <SelectAt
          path="initialOutputMedium"
          label="First output"
          hint="Whether the agent starts with speech or text."
          choices={[
            { value: "MESSAGE_MEDIUM_VOICE", label: "Speech" },
            { value: "MESSAGE_MEDIUM_TEXT", label: "Text" },
          ]}
        />
      </div>
      <details open={isObject(template["externalVoice"]) || isObject(template["voiceOverrides"])}>
        <summary>External voice and overrides</summary>
        <div className={styles.columns}>
          <JsonAt path="externalVoice" label="External voice" hint="A provider voice that is not saved." />
          <JsonAt
            path="voiceOverrides"
            label="Voice overrides"
            hint="Changes to the settings of the voice."
          />
        </div>
      </details>
    </SectionCard>
  );
}

export function TurnsSection() {
  return (
    <SectionCard id="turn-taking" text="When the agent answers, and when the caller can interrupt it.">
      <div className={styles.columns}>
        <DurationAt
          path="vadSettings.turnEndpointDelay"
          label="End-of-turn delay"
          hint="Silence before the agent answers."
        />
        <DurationAt
          path="vadSettings.minimumTurnDuration"
          label="Minimum turn duration"
          hint="Shorter speech is ignored."
        />
        <DurationAt
          path="vadSettings.minimumInterruptionDuration"
          label="Minimum interruption duration"
          hint="Shorter speech does not interrupt the agent."
        />
        <NumberAt
          path="vadSettings.frameActivationThreshold"
          label="Speech threshold"
          step={0.05}
          hint="Higher values ignore more background noise and quiet speech."
        />
      </div>
    </SectionCard>
  );
}

const OPENERS = [
  { value: "agent", label: "Agent" },
  { value: "user", label: "Caller" },
] as const;

export function OpeningSection() {
  const { template, set } = useDraft();
  const settings = template["firstSpeakerSettings"];
  const opener = isObject(settings) && settings["user"] !== undefined ? "user" : "agent";
  const fallback =
    isObject(settings) && isObject(settings["user"]) && settings["user"]["fallback"] !== undefined;
  return (
    <SectionCard id="first-message" text="Who speaks first, and what the agent says.">
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
            Let the agent speak first if the caller is silent
          </label>
        </div>
      )}
    </SectionCard>
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
        <TextAt path={`${at}.text`} label="Message" rows={3} hint="Spoken exactly as written." />
        <TextAt
          path={`${at}.prompt`}
          label="Or generate it from a prompt"
          rows={3}
          hint="Instructions for the model."
        />
      </div>
      <div className={styles.columns}>
        <DurationAt path={`${at}.delay`} label="Delay" hint="Starts when the call is joined." />
        {interruptible && <SwitchAt path={`${at}.uninterruptible`} label="Cannot be interrupted" hint="" />}
      </div>
    </>
  );
}
