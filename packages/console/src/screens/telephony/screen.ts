import { Router } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const telephonyScreen: Screen = {
  noun: "telephony",
  title: "Telephony",
  icon: Router,
  group: "Connect",
  routes: [
    page("", async () => (await import("./telephony-screen.tsx")).TelephonyScreen),
    page(":carrier", async () => (await import("./carrier-screen.tsx")).CarrierScreen),
  ],
};
