/** Keys that let a request be sent again without its effect happening twice. */

import { ParleyError } from "@parley/client/rest";
import { useRef } from "react";

const KEY_BYTES = 16;

/** `crypto.randomUUID` is not available on plain-http pages from another machine. */
export function newRequestKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(KEY_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/**
 * Runs a request with an idempotency key. When its answer is lost, the same request gets the same key at the next
 * attempt, so that the service returns its first answer. An answer of the service ends the use of the key.
 */
export function useRequestKey() {
  const last = useRef<{ readonly request: string; readonly key: string } | null>(null);
  return async <Answer>(request: unknown, send: (key: string) => Promise<Answer>): Promise<Answer> => {
    const text = JSON.stringify(request);
    const key = last.current?.request === text ? last.current.key : newRequestKey();
    last.current = { request: text, key };
    try {
      const answer = await send(key);
      last.current = null;
      return answer;
    } catch (error) {
      if (error instanceof ParleyError) last.current = null;
      throw error;
    }
  };
}
