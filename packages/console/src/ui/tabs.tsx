/** Tabs. The current tab is in the URL, so that it can be linked and reloaded. */

import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { useSearchParams } from "react-router";
import styles from "./tabs.module.css";

export interface Tab {
  readonly id: string;
  readonly label: ReactNode;
  readonly content: ReactNode;
}

export interface TabsProps {
  /** The name of the tab list, for screen readers. */
  readonly label: string;
  /** The first tab is the default. */
  readonly tabs: readonly Tab[];
  /** Name of the query parameter, different for a second tab list on a page. */
  readonly parameter?: string;
}

export function Tabs({ label, tabs, parameter = "view" }: TabsProps) {
  const [search, setSearch] = useSearchParams();
  const first = tabs[0]?.id ?? "";
  const requested = search.get(parameter);
  const value = tabs.some(({ id }) => id === requested) ? (requested ?? first) : first;
  const choose = (id: string) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (id === first) next.delete(parameter);
        else next.set(parameter, id);
        return next;
      },
      { replace: true },
    );
  return (
    <Radix.Root className={styles.root} value={value} onValueChange={choose}>
      <Radix.List className={styles.list} aria-label={label}>
        {tabs.map((tab) => (
          <Radix.Trigger key={tab.id} value={tab.id} className={styles.tab}>
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.id} value={tab.id} className={styles.panel}>
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
