/** Settings of carriers, SIP and throttles. */

import { Page, PageHeader } from "../../ui/display.tsx";
import { Notice } from "../../ui/form.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Carriers } from "./carriers.tsx";
import { Registrations } from "./registrations.tsx";
import { SipSettings } from "./sip-settings.tsx";
import { Throttles } from "./throttles.tsx";

export function TelephonyScreen() {
  return (
    <Page>
      <PageHeader title="Telephony" lead="Phone carriers, SIP, and limits on how fast calls are created." />
      <Notice tone="warn">
        SIP calls need the setting SIP_HOST of the service. The operator allows each account to use them.
      </Notice>
      <Tabs
        label="Telephony"
        tabs={[
          { id: "carriers", label: "Carriers", content: <Carriers /> },
          { id: "sip", label: "SIP", content: <SipSettings /> },
          { id: "registrations", label: "Registrations", content: <Registrations /> },
          { id: "throttles", label: "Throttles", content: <Throttles /> },
        ]}
      />
    </Page>
  );
}
