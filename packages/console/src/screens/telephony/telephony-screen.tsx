/** Settings of carriers, numbers, dialling rules, SIP and throttles. */

import type { ReactNode } from "react";
import { useRead } from "../../data/api.tsx";
import { Page, PageHeader } from "../../ui/display.tsx";
import { Notice } from "../../ui/form.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Carriers } from "./carriers.tsx";
import { DiallingRules } from "./dialling-rules.tsx";
import { Numbers } from "./numbers.tsx";
import { Registrations } from "./registrations.tsx";
import { SipCheckCard } from "./sip-check.tsx";
import { SipRules } from "./sip-rules.tsx";
import { SipSettings } from "./sip-settings.tsx";
import { Throttles } from "./throttles.tsx";
import styles from "./telephony.module.css";

export function TelephonyScreen() {
  return (
    <Page>
      <PageHeader title="Telephony" lead="Phone carriers, SIP, numbers, and limits on calls." />
      <Tabs
        label="Telephony"
        tabs={[
          { id: "carriers", label: "Carriers", content: <Carriers /> },
          { id: "numbers", label: "Numbers", content: <Numbers /> },
          { id: "rules", label: "Dialling rules", content: <DiallingRules /> },
          { id: "sip", label: "SIP", content: <SipPart content={<SipTab />} /> },
          { id: "registrations", label: "Registrations", content: <SipPart content={<Registrations />} /> },
          { id: "throttles", label: "Throttles", content: <Throttles /> },
        ]}
      />
    </Page>
  );
}

function SipTab() {
  return (
    <div className={styles.page}>
      <SipSettings />
      <SipRules />
      <SipCheckCard />
    </div>
  );
}

function SipPart({ content }: { readonly content: ReactNode }) {
  const { data } = useRead("/api/sip", {});
  return (
    <div className={styles.parts}>
      {data?.enabled === false && (
        <Notice tone="warn">
          SIP calls need the setting SIP_HOST of the service. The operator allows each account to use them.
          The check under "SIP" says which of the two is missing.
        </Notice>
      )}
      {content}
    </div>
  );
}
