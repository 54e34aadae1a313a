/** Where the browser keeps the API key: on this device until sign-out, or for this tab alone. */

const NAME = "parley.key";

/** Null where there is none, or where the browser keeps nothing at all. */
export function keptKey(): string | null {
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

/** Browsers that are told to keep nothing throw at the mention of a store: the key then lives with the page. */
function stores(): readonly Storage[] {
  try {
    return [window.localStorage, window.sessionStorage];
  } catch {
    return [];
  }
}

/** A key that came in the address as `#key=…`, as the service prints it at its first start; it is taken out of it. */
export function keyFromAddress(): string | null {
  const key = new URLSearchParams(window.location.hash.slice(1)).get("key");
  if (key === null || key === "") return null;
  window.history.replaceState(null, "", `${window.location.pathname}${window.location.search}`);
  return key;
}
