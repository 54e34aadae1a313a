import { LibraryBig } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const corporaScreen: Screen = {
  noun: "corpora",
  title: "Knowledge base",
  icon: LibraryBig,
  group: "Build",
  routes: [
    page("", async () => (await import("./corpora-screen.tsx")).CorporaScreen),
    page(":corpusId", async () => (await import("./corpus-screen.tsx")).CorpusScreen),
    page(":corpusId/sources/:sourceId", async () => (await import("./source-screen.tsx")).SourceScreen),
  ],
};
