/** Stages: a tool may answer with the next one (D56, D57). */

import type { Draft } from "./draft.ts";
import type { CallEngineEventBody } from "./events.ts";

type EventOf<T extends CallEngineEventBody["type"]> = Extract<CallEngineEventBody, { readonly type: T }>;

export function onStagePrepared(_draft: Draft, _event: EventOf<"stagePrepared">): void {}

export function onStageRefused(_draft: Draft, _event: EventOf<"stageRefused">): void {}
