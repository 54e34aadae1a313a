/**
 * For pages whose policy forbids code from texts: to be called before any file with a schema is loaded there. The rules stay
 * the same; only the library does not try to compile them, which the browser would complain of.
 */

import { z } from "zod";

export function withoutEval(): void {
  z.config({ jitless: true });
}
