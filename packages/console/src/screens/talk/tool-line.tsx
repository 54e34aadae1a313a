/** One tool invocation: parameters, state and result. */

import { Check, CircleAlert, LoaderCircle, Wrench } from "lucide-react";
import { classNames } from "../../ui/class-names.ts";
import type { ToolUse } from "./feed.ts";
import styles from "./tool-line.module.css";

const STATES = {
  running: { icon: LoaderCircle, text: "running" },
  done: { icon: Check, text: "done" },
  failed: { icon: CircleAlert, text: "failed" },
} as const;

/** Characters shown on one or two lines; the rest can be unfolded. */
const SHORT_CHARS = 160;
/** Longer results are cut; the page of the call has all of it. */
const MAX_SHOWN_CHARS = 20_000;

export function ToolLine({ tool }: { readonly tool: ToolUse }) {
  const { icon: Icon, text } = STATES[tool.state];
  return (
    <div className={classNames(styles.tool, styles[tool.state])}>
      <div className={styles.head}>
        <Wrench aria-hidden="true" />
        <code className={styles.name}>{tool.toolName}</code>
        <span className={styles.state}>
          <Icon aria-hidden="true" /> {text}
        </span>
      </div>
      <dl className={styles.parts}>
        {Object.entries(tool.parameters).map(([name, value]) => (
          <Part key={name} name={name} value={typeof value === "string" ? value : JSON.stringify(value)} />
        ))}
        {tool.result !== null && (
          <Part name={tool.state === "failed" ? "error" : "result"} value={tool.result} strong />
        )}
      </dl>
    </div>
  );
}

interface PartProps {
  readonly name: string;
  readonly value: string;
  readonly strong?: boolean;
}

function Part({ name, value, strong = false }: PartProps) {
  const shown = value.slice(0, MAX_SHOWN_CHARS);
  return (
    <>
      <dt className={classNames(strong && styles.strong)}>{name}</dt>
      <dd>
        {shown.length <= SHORT_CHARS ? (
          <code>{shown === "" ? "nothing" : shown}</code>
        ) : (
          <details>
            <summary>
              <code>{shown.slice(0, SHORT_CHARS)}…</code>
            </summary>
            <code>{shown}</code>
          </details>
        )}
      </dd>
    </>
  );
}
