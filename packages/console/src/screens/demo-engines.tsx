/** A note while the built-in demo engines run: which phrases they understand, as buttons. */

import { Link } from "react-router";
import { useRead } from "../data/api.tsx";
import { classNames } from "../ui/class-names.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import styles from "./demo-engines.module.css";

const ONE = { query: { pageSize: 1 } } as const;

/** Phrases that calls understand. Null: all speech, or not readable. Undefined: not read yet. */
export function useExamplePhrases(): readonly string[] | null | undefined {
  const { data, error } = useRead("/api/models", ONE);
  return data === undefined && error === null ? undefined : (data?.results[0]?.examplePhrases ?? null);
}

export interface DemoEnginesProps {
  /** What a button does; without it, it opens the Talk page with the phrase. */
  readonly onSay?: (phrase: string) => void;
  /** Inside another box. */
  readonly flat?: boolean;
  /** The agent that the Talk page opens with. */
  readonly agentId?: string;
}

export function DemoEngines({ onSay, flat = false, agentId }: DemoEnginesProps) {
  const phrases = useExamplePhrases();
  if (phrases === null || phrases === undefined) return null;
  return (
    <section className={classNames(styles.demo, flat && styles.flat)} aria-label="Demo engines">
      <p>
        <strong>Demo engines.</strong> They understand only certain English phrases. The page{" "}
        <Link to="/models">Models</Link> says how to use a real recogniser, model and voice.
      </p>
      <ul aria-label="Phrases to try">
        {phrases.map((phrase) => (
          <li key={phrase}>
            {onSay === undefined ? (
              <ButtonLink small to={talkTo(phrase, agentId)}>
                “{phrase}”
              </ButtonLink>
            ) : (
              <Button small onClick={() => onSay(phrase)}>
                “{phrase}”
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function talkTo(phrase: string, agentId: string | undefined): string {
  const query = new URLSearchParams({ ...(agentId === undefined ? {} : { agent: agentId }), say: phrase });
  return `/talk?${query.toString()}`;
}
