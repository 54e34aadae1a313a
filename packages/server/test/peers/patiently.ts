/** Waits for programs that are started by a test. */

/** Reached only when something is wrong. */
const LIMIT_MS = 60_000;
const INTERVAL_MS = 20;

/** Tries again until nothing is thrown. @throws the last error at the limit */
export async function patiently<Value>(attempt: () => Value | Promise<Value>): Promise<Value> {
  const endMs = performance.now() + LIMIT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, INTERVAL_MS);
      });
    }
  }
}
