/** Dark or light: the system's choice until somebody makes their own. */

import { useCallback, useSyncExternalStore } from "react";

export type Theme = "light" | "dark";

const NAME = "parley.theme";
const SYSTEM_DARK = window.matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme | null {
  try {
    const kept = window.localStorage.getItem(NAME);
    return kept === "light" || kept === "dark" ? kept : null;
  } catch {
    // The browser keeps nothing: the system decides each time.
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

/** Called once, before anything is drawn. */
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
      // Kept for this page then.
      apply(next);
      return;
    }
    apply(next);
  }, []);
  return { theme, toggle };
}
