/** Tools during a call: what the model calls, when it runs, and what becomes of its result (D139 to D150). */

import type { Draft } from "./draft.ts";
import type { CallEngineEventBody } from "./events.ts";

type EventOf<T extends CallEngineEventBody["type"]> = Extract<CallEngineEventBody, { readonly type: T }>;

export function onToolCalled(_draft: Draft, _event: EventOf<"replyToolCalled">): void {}

export function onToolFinished(_draft: Draft, _event: EventOf<"toolFinished">): void {}
