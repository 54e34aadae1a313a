/** One tool invocation with its parameters and result. */

import { Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { Badge } from "../../ui/display.tsx";
import { CodeBlock } from "../../ui/parts.tsx";
import { shortLength } from "./call-words.ts";
import type { ToolLine } from "./lines.ts";
import { passageSources } from "./passages.ts";
import styles from "./transcript.module.css";

export function ToolRow({ line, time }: { readonly line: ToolLine; readonly time: ReactNode }) {
  const { name, call, result, tookMs } = line;
  const failed = result?.errorDetails !== undefined;
  return (
    <li className={styles.line}>
      {time}
      <details className={styles.tool}>
        <summary>
          <Wrench aria-hidden="true" />
          <code>{name}</code>
          {result === null ? (
            <Badge tone="warn">no result</Badge>
          ) : (
            <Badge tone={failed ? "bad" : "good"}>{failed ? "failed" : "answered"}</Badge>
          )}
          {tookMs !== null && <span className={styles.soft}>{shortLength(tookMs)}</span>}
        </summary>
        <div className={styles.parts}>
          {call !== null && <Part title="Arguments" text={printed(call.text)} />}
          {result !== null && <Sources result={result.text} />}
          {result !== null && <Part title="Result" text={printed(result.text)} />}
          {result?.errorDetails !== undefined && (
            <Part title="Error, not shown to the model" text={result.errorDetails} />
          )}
          {result?.callState !== undefined && (
            <Part title="Call state after the tool call" text={JSON.stringify(result.callState, null, 2)} />
          )}
        </div>
      </details>
    </li>
  );
}

/** The documents that a search has quoted. */
function Sources({ result }: { readonly result: string }) {
  const sources = passageSources(result);
  if (sources === null || sources.length === 0) return null;
  return (
    <div>
      <h4 className={styles.partTitle}>Sources</h4>
      <ol>
        {sources.map(({ text, url, score }, index) => (
          <li key={`${String(index)} ${text}`}>
            {url === null ? (
              text
            ) : (
              <a href={url} target="_blank" rel="noreferrer">
                {text}
              </a>
            )}
            {score !== null && <span className={styles.soft}>{` score ${score.toFixed(2)}`}</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}

function Part({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div>
      <h4 className={styles.partTitle}>{title}</h4>
      {text === "" ? <p className={styles.soft}>Empty</p> : <CodeBlock label={title}>{text}</CodeBlock>}
    </div>
  );
}

/** Formats JSON; other text stays unchanged. */
export function printed(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // A result can be any text.
    return text;
  }
}
