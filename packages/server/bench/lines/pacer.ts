/** One timer for all callers of a benchmark. Each has its own phase, as the calls of real carriers do. */

/** Short beside a frame of 20 ms, so that frames of different callers do not come in bursts. */
const TICK_MS = 2;

type Pace = (nowMs: number) => void;

const paced = new Set<Pace>();
let timer: NodeJS.Timeout | null = null;

/** Calls `pace` every 2 ms until the returned function is called. */
export function onPace(pace: Pace): () => void {
  paced.add(pace);
  timer ??= setInterval(() => {
    const nowMs = performance.now();
    for (const one of paced) one(nowMs);
  }, TICK_MS);
  return () => {
    paced.delete(pace);
    if (paced.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}
