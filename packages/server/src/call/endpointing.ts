/** How long a pause must be to end a turn: the second layer above plain silence (D128). */

import type { Draft } from "./draft.ts";
import type { CallEngineEventBody } from "./events.ts";

type EventOf<T extends CallEngineEventBody["type"]> = Extract<CallEngineEventBody, { readonly type: T }>;

export function onTurnJudged(_draft: Draft, _event: EventOf<"turnJudged">): void {}
