import { ComingScreen } from "../coming-screen.tsx";

export function TelephonyScreen() {
  return (
    <ComingScreen
      title="Telephony"
      lead="Accounts at telephony carriers, and calls by SIP."
      group="telephony"
    />
  );
}
