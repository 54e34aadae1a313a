/** Measures how soon a real browser is connected. */

import { HAS_BROWSER, openBrowserCallers } from "../test/browser-caller.ts";
import type { Rest } from "../demo/child-service.ts";

/** Runs in the page: a client's steps before its offer come first, then the clock starts. */
const CONNECT = `async (url) => {
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
  const peer = (caller.peer = new RTCPeerConnection());
  peer.createDataChannel("messages");
  peer.addTrack(microphone.getTracks()[0], microphone);
  await peer.setLocalDescription();
  const connected = new Promise((resolve) => {
    peer.onconnectionstatechange = () => peer.connectionState === "connected" && resolve(performance.now());
  });
  const startedMs = performance.now();
  const status = await offer(url);
  if (status !== 201) throw new Error("the offer was answered by " + status);
  const tookMs = (await connected) - startedMs;
  peer.close();
  return tookMs;
}`;

/** Milliseconds from the offer to the connection; null where there is no browser. */
export async function browserConnects(rest: Rest, agentId: string, count: number): Promise<number[] | null> {
  if (!HAS_BROWSER) return null;
  const callers = await openBrowserCallers(new Int16Array(16_000));
  try {
    const caller = await callers.open();
    const tookMs: number[] = [];
    for (let i = 0; i < count; i += 1) {
      const { joinUrl } = await rest<{ joinUrl: string }>("POST", `/api/agents/${agentId}/calls`, {});
      const url = JSON.stringify(joinUrl.replace(/^ws/, "http"));
      tookMs.push(await caller.run<number>(`(${CONNECT})(${url})`));
    }
    return tookMs;
  } finally {
    await callers.close();
  }
}
