import { LibraryBig } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const corporaScreen: Screen = {
  noun: "corpora",
  title: "Knowledge base",
  icon: LibraryBig,
  group: "Build",
  preview: true,
  routes: [
    page("", async () => (await import("./corpora-screen.tsx")).CorporaScreen),
    page(":corpusId", async () => (await import("./corpus-screen.tsx")).CorpusScreen),
  ],
};
