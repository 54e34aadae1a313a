/**
 * For pages whose Content-Security-Policy forbids `eval`: call this before any file with a schema is loaded. The rules
 * stay the same, but the library does not try to compile them, which the browser would report as a violation.
 */

import { z } from "zod";

export function withoutEval(): void {
  z.config({ jitless: true });
}
