/** What the service knows of carriers, SIP and throttles. */

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
      <PageHeader
        title="Telephony"
        lead="Accounts at telephony carriers, calls by SIP, and how fast calls may begin."
      />
      <Notice tone="warn">
        Calls over carriers and by SIP are not there yet. What you set here is checked and kept, and used as
        soon as they are. Throttles already hold for every call and batch that names one.
      </Notice>
      <Tabs
        label="Parts of telephony"
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
