/** Events of the page and its network during a call. */

export interface PageEvents {
  /** The page unloads. */
  leaving(): void;
  /** The network has changed or is available again. */
  networkChanged(): void;
}

/** Debounce: one change causes several events, such as a lost interface, a new one and a new route. */
const SETTLE_MS = 300;

/** @returns a function that stops listening */
export function watchPage(page: PageEvents): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => page.networkChanged(), SETTLE_MS);
  };
  const leaving = () => page.leaving();
  // Only Chromium has it; other browsers use `online` and the state of the connection.
  const { connection } = navigator as { readonly connection?: EventTarget };
  addEventListener("pagehide", leaving);
  addEventListener("online", changed);
  connection?.addEventListener("change", changed);
  return () => {
    clearTimeout(timer);
    removeEventListener("pagehide", leaving);
    removeEventListener("online", changed);
    connection?.removeEventListener("change", changed);
  };
}
