/** The dark or light theme: the system's setting until the user chooses. */

import { useCallback, useSyncExternalStore } from "react";

export type Theme = "light" | "dark";

const NAME = "parley.theme";
const SYSTEM_DARK = window.matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme | null {
  try {
    const stored = window.localStorage.getItem(NAME);
    return stored === "light" || stored === "dark" ? stored : null;
  } catch {
    // The browser blocks storage: use the system's setting.
    return null;
  }
}

let current: Theme = chosen() ?? systemTheme();
const listeners = new Set<() => void>();

function systemTheme(): Theme {
  return SYSTEM_DARK.matches ? "dark" : "light";
}

function apply(theme: Theme): void {
  current = theme;
  document.documentElement.dataset["theme"] = theme;
  for (const tell of listeners) tell();
}

/** Called once, before the first render. */
export function startTheme(): void {
  apply(current);
  SYSTEM_DARK.addEventListener("change", () => {
    if (chosen() === null) apply(systemTheme());
  });
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

export function useTheme(): { readonly theme: Theme; readonly toggle: () => void } {
  const theme = useSyncExternalStore(subscribe, () => current);
  const toggle = useCallback(() => {
    const next: Theme = current === "dark" ? "light" : "dark";
    try {
      window.localStorage.setItem(NAME, next);
    } catch {
      // The choice then applies to this page only.
      apply(next);
      return;
    }
    apply(next);
  }, []);
  return { theme, toggle };
}
