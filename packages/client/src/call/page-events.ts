/** What happens to the page and its network while a call lasts. */

export interface PageEvents {
  /** The page is going away. */
  leaving(): void;
  /** The machine is on another network, or on one again. */
  networkChanged(): void;
}

/** Changes come in bunches: an interface goes, another comes, the route changes. */
const SETTLE_MS = 300;

/** @returns a function that stops listening */
export function watchPage(page: PageEvents): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => page.networkChanged(), SETTLE_MS);
  };
  const leaving = () => page.leaving();
  // Chromium alone has it; elsewhere `online` and the connection's own state do.
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
