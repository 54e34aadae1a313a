import { Mic } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const talkScreen: Screen = {
  noun: "talk",
  title: "Talk",
  icon: Mic,
  group: "Conversations",
  routes: [page("", async () => (await import("./talk-screen.tsx")).TalkScreen)],
};
