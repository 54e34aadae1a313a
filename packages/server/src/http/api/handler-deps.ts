/** What the server adds to its dependencies for the handlers. */

import { ConcurrencyLimit } from "../../pacing/concurrency-limit.ts";
import type { HttpDeps } from "../deps.ts";
import { limitWrongTokens } from "../joins/wrong-tokens.ts";
import { limitWrongSignatures } from "../telephony/wrong-signatures.ts";
import { cursorSigner } from "./cursor.ts";
import type { HandlerDeps } from "./endpoint.ts";
import { operatorCheck } from "./operator.ts";
import { linkSigner } from "./signed-links.ts";

/** Of an account at a time; each may take 40 s. */
const MAX_TOOL_TESTS = 8;
/** Of an account at a time: each sends a few messages to an address of the caller's choice, and takes 10 s at most. */
const MAX_SIP_CHECKS = 2;

export function handlerDepsOf(
  deps: HttpDeps,
  state: Pick<HandlerDeps, "publicUrl" | "draining">,
): HandlerDeps {
  return {
    http: deps,
    findJoin: limitWrongTokens(deps.findJoin, deps.nowMs),
    checkSigned: limitWrongSignatures(deps.nowMs),
    operator: operatorCheck(deps.engines.operatorKey, deps.nowMs),
    toolTests: new ConcurrencyLimit(MAX_TOOL_TESTS),
    sipChecks: new ConcurrencyLimit(MAX_SIP_CHECKS),
    cursors: cursorSigner(deps.secretsKey),
    sipLogLinks: linkSigner(deps.secretsKey, "SIP logs"),
    ...state,
  };
}
