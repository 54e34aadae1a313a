/** One run of an HTTP tool without a call: what it is sent, and what it answers. */

import type { Tool } from "@parley/schema";
import { useState } from "react";
import { useSignedIn } from "../../data/api.tsx";
import { refusalOf } from "../../data/refusal.ts";
import { Badge, Card } from "../../ui/display.tsx";
import { Columns, Form, Note } from "../../ui/form.tsx";
import { JsonEditor } from "../../ui/json-editor.tsx";
import { CodeBlock, Inline } from "../../ui/parts.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { readValue } from "./tool-draft.ts";
import styles from "./tools.module.css";

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Longer texts are cut; a model gets less. */
const MAX_SHOWN_CHARS = 100_000;

export function ToolTest({ tool }: { readonly tool: Tool }) {
  const { send } = useSignedIn();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [others, setOthers] = useState<unknown>(undefined);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const parameters = tool.definition.dynamicParameters ?? [];
  const run = async () => {
    setAnswer(null);
    const response = await send("POST", `/api/tools/${tool.toolId}/test`, {
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(bodyOf(tool, values, others)),
    });
    // Errors of the service are problem documents; anything else is the response of the tool.
    const contentType = response.headers.get("content-type") ?? "";
    if (contentType.startsWith("application/problem+json")) throw await refusalOf(response);
    setAnswer({ status: response.status, contentType, text: await textOf(response, contentType) });
  };
  return (
    <div className={styles.answer}>
      <Card title="Test run" text="Sends a real request with these parameters.">
        <Form label="Test" action="Run test" onSave={run}>
          <Columns>
            {parameters.map(({ name, required, schema }) => (
              <TextField
                key={name}
                label={name}
                path={name}
                aside={required === true ? "required" : "optional"}
                hint={typeof schema?.["description"] === "string" ? schema["description"] : undefined}
                value={values[name] ?? ""}
                onChange={(text) => setValues((before) => ({ ...before, [name]: text }))}
              />
            ))}
          </Columns>
          {parameters.length === 0 && <Note>The model fills in no parameters of this tool.</Note>}
          <JsonEditor
            label="Automatic parameters"
            hint="Optional. A JSON object with the values that a call would fill in."
            rows={3}
            value={others}
            onChange={setOthers}
          />
        </Form>
      </Card>
      {answer !== null && <AnswerCard answer={answer} />}
    </div>
  );
}

function bodyOf(tool: Tool, values: Readonly<Record<string, string>>, others: unknown): object {
  const filled = (tool.definition.dynamicParameters ?? []).flatMap(({ name, schema }) => {
    const text = values[name] ?? "";
    if (text === "") return [];
    return [[name, schema === undefined || schema["type"] === "string" ? text : readValue(text)] as const];
  });
  return { ...(typeof others === "object" ? others : {}), ...Object.fromEntries(filled) };
}

async function textOf(response: Response, contentType: string): Promise<string> {
  const text = await response.text();
  const shown = text.slice(0, MAX_SHOWN_CHARS);
  if (!contentType.includes("json")) return shown;
  const value = readValue(shown);
  return typeof value === "string" ? shown : JSON.stringify(value, null, 2);
}

function AnswerCard({ answer }: { readonly answer: Answer }) {
  const good = answer.status < 400;
  return (
    <Card title="Response" aria-live="polite">
      <Inline>
        <Badge tone={good ? "good" : "bad"}>HTTP {answer.status}</Badge>
        <code>{answer.contentType === "" ? "no type" : answer.contentType}</code>
      </Inline>
      {answer.text === "" ? (
        <Note>The response has no body.</Note>
      ) : (
        <CodeBlock label="Response body">{answer.text}</CodeBlock>
      )}
    </Card>
  );
}
