/** Exotel: it has no configuration, because a program of the account creates each call. */

import { BASE_URL } from "../../data/api.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Card, Page, PageHeader, type PageHeaderProps } from "../../ui/display.tsx";
import { CodeBlock } from "../../ui/parts.tsx";
import { ReachableNotice } from "../reachable-notice.tsx";
import { CARRIER_NAMES } from "../vendor-names.ts";
import styles from "./telephony.module.css";

const REQUEST = `curl "${BASE_URL}/api/agents/AGENT_ID/calls" \\
  -H "X-API-Key: $API_KEY" -H "Content-Type: application/json" \\
  -d '{"medium": {"telephony4": {}}}'`;

export function JoinUrlCarrier({ back }: Required<Pick<PageHeaderProps, "back">>) {
  return (
    <Page>
      <PageHeader
        title={CARRIER_NAMES.telephony4}
        back={back}
        lead="Exotel signs no requests and the service does not dial through it, so there is nothing to store here."
      />
      <div className={styles.page}>
        <ReachableNotice />
        <Card title="Connect a call">
          <ol className={styles.steps} aria-label="Steps">
            <li>Open the App Bazaar of Exotel and create a flow with the Voicebot applet.</li>
            <li>Enter the URL of your own server in the applet. Exotel requests it for each call.</li>
            <li>
              Your server creates a call with the medium <code>telephony4</code>, as shown below.
            </li>
            <li>
              Your server returns <code>{'{"url": "JOIN_URL"}'}</code> with the <code>joinUrl</code> of the
              call.
            </li>
            <li>Assign the flow to your number.</li>
          </ol>
          <div>
            <CodeBlock label="Request that creates the call">{REQUEST}</CodeBlock>
            <CopyButton text={REQUEST} label="Copy request" />
          </div>
          <p>
            Append <code>?sample-rate=16000</code> to the join URL for better speech.
          </p>
        </Card>
      </div>
    </Page>
  );
}
