/** All screens, in the order of the navigation. */

import { agentsScreen } from "./agents/screen.ts";
import { auditScreen } from "./audit/screen.ts";
import { batchesScreen } from "./batches/screen.ts";
import { callsScreen } from "./calls/screen.ts";
import { corporaScreen } from "./corpora/screen.ts";
import { keysScreen } from "./keys/screen.ts";
import { modelsScreen } from "./models/screen.ts";
import { talkScreen } from "./talk/screen.ts";
import { telephonyScreen } from "./telephony/screen.ts";
import { toolsScreen } from "./tools/screen.ts";
import { usageScreen } from "./usage/screen.ts";
import { voicesScreen } from "./voices/screen.ts";
import { webhooksScreen } from "./webhooks/screen.ts";
import { type Noun, NOUNS } from "./nouns.ts";
import type { Screen } from "./screen.ts";

const BY_NOUN: Readonly<Record<Noun, Screen>> = {
  agents: agentsScreen,
  tools: toolsScreen,
  voices: voicesScreen,
  corpora: corporaScreen,
  talk: talkScreen,
  calls: callsScreen,
  batches: batchesScreen,
  webhooks: webhooksScreen,
  telephony: telephonyScreen,
  models: modelsScreen,
  keys: keysScreen,
  audit: auditScreen,
  usage: usageScreen,
};

export const SCREENS: readonly Screen[] = NOUNS.map((noun) => BY_NOUN[noun]);
