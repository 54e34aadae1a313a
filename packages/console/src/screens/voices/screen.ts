import { AudioLines } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const voicesScreen: Screen = {
  noun: "voices",
  title: "Voices",
  icon: AudioLines,
  group: "Build",
  routes: [
    page("", async () => (await import("./voices-screen.tsx")).VoicesScreen),
    page("new", async () => (await import("./new-voice-screen.tsx")).NewVoiceScreen),
    page(":voiceId", async () => (await import("./voice-screen.tsx")).VoiceScreen),
  ],
};
