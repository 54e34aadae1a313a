/** Stores the API key in the browser: for this tab only or, if the user chooses so, on this device until sign-out. */

const NAME = "parley.key";

/** Null if no key is stored or the browser blocks storage. */
export function storedKey(): string | null {
  for (const store of stores()) {
    const key = store.getItem(NAME);
    if (key !== null && key !== "") return key;
  }
  return null;
}

export function keepKey(key: string, onDevice: boolean): void {
  forgetKey();
  const [device, tab] = stores();
  (onDevice ? device : tab)?.setItem(NAME, key);
}

export function forgetKey(): void {
  for (const store of stores()) store.removeItem(NAME);
}

/** Browsers that block storage throw on any access: the key then lasts as long as the page. */
function stores(): readonly Storage[] {
  try {
    return [window.localStorage, window.sessionStorage];
  } catch {
    return [];
  }
}

/** A key from the URL fragment `#key=…`, which the service prints at its first start. Removes it from the URL. */
export function keyFromAddress(): string | null {
  const key = new URLSearchParams(window.location.hash.slice(1)).get("key");
  if (key === null) return null;
  const { state } = window.history as { readonly state: unknown };
  window.history.replaceState(state, "", `${window.location.pathname}${window.location.search}`);
  return key.trim() === "" ? null : key.trim();
}

/** The same for a URL that is opened in a tab with the console: only its fragment changes, so nothing is loaded again. */
export function onKeyFromAddress(given: (key: string) => void): () => void {
  const look = (): void => {
    const key = keyFromAddress();
    if (key !== null) given(key);
  };
  window.addEventListener("hashchange", look);
  return () => window.removeEventListener("hashchange", look);
}
