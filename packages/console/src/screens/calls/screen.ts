import { PhoneCall } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const callsScreen: Screen = {
  noun: "calls",
  title: "Calls",
  icon: PhoneCall,
  group: "Conversations",
  routes: [
    page("", async () => (await import("./calls-screen.tsx")).CallsScreen),
    page("new", async () => (await import("./phone/place-call-screen.tsx")).PlaceCallScreen),
    page(":callId", async () => (await import("./call-screen.tsx")).CallScreen),
  ],
};
