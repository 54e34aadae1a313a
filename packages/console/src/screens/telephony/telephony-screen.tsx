/** Settings of carriers, numbers, dialling rules, SIP and throttles. */

import type { ReactNode } from "react";
import { Page, PageHeader } from "../../ui/display.tsx";
import { Notice } from "../../ui/form.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Carriers } from "./carriers.tsx";
import { DiallingRules } from "./dialling-rules.tsx";
import { Numbers } from "./numbers.tsx";
import { Registrations } from "./registrations.tsx";
import { SipSettings } from "./sip-settings.tsx";
import { Throttles } from "./throttles.tsx";
import styles from "./telephony.module.css";

export function TelephonyScreen() {
  return (
    <Page>
      <PageHeader title="Telephony" lead="Phone carriers, numbers, and limits on calls." />
      <Tabs
        label="Telephony"
        tabs={[
          { id: "carriers", label: "Carriers", content: <Carriers /> },
          { id: "numbers", label: "Numbers", content: <Numbers /> },
          { id: "rules", label: "Dialling rules", content: <DiallingRules /> },
          { id: "sip", label: "SIP", content: <Later content={<SipSettings />} /> },
          { id: "registrations", label: "Registrations", content: <Later content={<Registrations />} /> },
          { id: "throttles", label: "Throttles", content: <Throttles /> },
        ]}
      />
    </Page>
  );
}

function Later({ content }: { readonly content: ReactNode }) {
  return (
    <div className={styles.parts}>
      <Notice tone="warn">
        SIP calls are not available yet. SIP settings and registrations are stored for a later version.
      </Notice>
      {content}
    </div>
  );
}
