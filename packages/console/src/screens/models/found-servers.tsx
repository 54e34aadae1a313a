/** Model servers that answer on the machine of the service. */

import type { EngineKind, LocalModelServer } from "@parley/schema";
import { RotateCw } from "lucide-react";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/display.tsx";
import { Inline } from "../../ui/parts.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import type { EngineDraft } from "./engine-draft.ts";
import { ENGINE_WORDS } from "./engine-words.ts";
import { type OperatorKey, useLocalServers } from "./use-engines.ts";
import styles from "./models.module.css";

/** Most models that are named of one server. */
const MAX_NAMED = 6;

export interface FoundServersProps {
  readonly operator: OperatorKey;
  /** Fills the form of an engine; null: nothing can be changed. */
  readonly onUse: ((kind: EngineKind, draft: EngineDraft) => void) | null;
}

export function FoundServers({ operator, onUse }: FoundServersProps) {
  const { data, error, isFetching, refetch } = useLocalServers(operator, true);
  return (
    <Card
      title="Servers on this machine"
      text="Programs that answer like a model server at their usual ports on the machine of the service. Nothing uses them by itself."
      actions={
        <Button small busy={isFetching} onClick={() => void refetch()}>
          <RotateCw aria-hidden="true" /> Search again
        </Button>
      }
    >
      {data === undefined && error === null && <Loading lines={2} />}
      {error !== null && <ErrorState error={error} />}
      {data?.length === 0 && (
        <p>
          None found. Ollama, vLLM, llama.cpp, LM Studio, speaches and Kokoro are found at their usual ports.
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        <ul className={styles.servers}>
          {data.map((server) => (
            <Server key={server.baseUrl} server={server} onUse={onUse} />
          ))}
        </ul>
      )}
    </Card>
  );
}

interface ServerProps extends Pick<FoundServersProps, "onUse"> {
  readonly server: LocalModelServer;
}

function Server({ server: { name, baseUrl, engines, models }, onUse }: ServerProps) {
  const more = models.length - MAX_NAMED;
  const shown = [...models.slice(0, MAX_NAMED), ...(more > 0 ? [`and ${String(more)} more`] : [])];
  return (
    <li>
      <div>
        <strong>{name}</strong> <code>{baseUrl}</code>
      </div>
      <div className={styles.models}>{shown.length === 0 ? "It lists no models." : shown.join(", ")}</div>
      {onUse !== null && (
        <Inline>
          {engines.map((kind) => (
            <Button
              key={kind}
              small
              onClick={() =>
                onUse(kind, { baseUrl, model: models[0] ?? "", voice: "", apiKey: "", removesKey: false })
              }
            >
              Use as {ENGINE_WORDS[kind].title.toLowerCase()}
            </Button>
          ))}
        </Inline>
      )}
    </li>
  );
}
