/** The URLs that carriers request when a call comes in. */

import { useState } from "react";
import { useRead } from "../../data/api.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { AgentField } from "../agent-field.tsx";
import { URLS_PATH } from "../carriers.ts";
import { UrlRow } from "./url-row.tsx";
import styles from "./telephony.module.css";

/** The URL for all numbers, and those of single agents. */
export function CallUrls() {
  const { data, error, refetch } = useRead(URLS_PATH, {});
  const [agentId, setAgentId] = useState("");
  if (data === undefined) {
    return error === null ? <Loading lines={2} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  return (
    <div className={styles.parts}>
      <UrlRow label="For all numbers: the table Numbers chooses the agent" url={data.accountUrl} />
      <div className={styles.pick}>
        <AgentField
          label="Or a URL for one agent"
          placeholder="Choose an agent"
          value={agentId}
          onChange={setAgentId}
        />
      </div>
      {agentId !== "" && <UrlRow label="For this agent" url={data.agentUrl.replace("{agent_id}", agentId)} />}
    </div>
  );
}
