/** The data connection as the engine sees it: there or not (D125). */

import type { Draft } from "./draft.ts";
import type { CallEngineEventBody } from "./events.ts";

type EventOf<T extends CallEngineEventBody["type"]> = Extract<CallEngineEventBody, { readonly type: T }>;

export function onDataConnectionOpened(_draft: Draft): void {}

export function onDataConnectionLost(_draft: Draft, _event: EventOf<"dataConnectionLost">): void {}

export function onDataConnectionFailed(_draft: Draft, _event: EventOf<"dataConnectionFailed">): void {}
