/** The behaviour of a combobox: its text, its list and its keys. */

import { type KeyboardEvent, useState } from "react";

export interface ComboboxOption {
  readonly value: string;
  readonly label: string;
  readonly detail?: string;
}

export interface Behaviour {
  readonly value: string;
  readonly options: readonly ComboboxOption[];
  readonly onChange: (value: string) => void;
  readonly free: boolean;
  readonly clearable: boolean;
}

/** More than fits on a screen; typing filters. */
const MAX_OFFERED = 100;

export function useCombobox({ value, options, onChange, free, clearable }: Behaviour) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState<string | null>(null);
  const [active, setActive] = useState(0);
  const offered = matching(options, typed);
  const close = () => {
    setTyped(null);
    setOpen(false);
  };
  const choose = (option: ComboboxOption) => {
    onChange(option.value);
    close();
  };
  /** Opens the list at the chosen option. */
  const show = () => {
    if (open) return;
    setActive(
      Math.max(
        0,
        offered.findIndex((option) => option.value === value),
      ),
    );
    setOpen(true);
  };
  const leave = () => {
    const text = typed?.trim() ?? null;
    const exact = options.find((option) => option.label === text || option.value === text);
    if (text === "") {
      if (clearable) onChange("");
    } else if (exact !== undefined) onChange(exact.value);
    else if (free && text !== null) onChange(text);
    close();
  };
  const move = (step: number) =>
    setActive((at) => (at + step + offered.length) % Math.max(offered.length, 1));
  const onKeyDown = (event: KeyboardEvent) => {
    const action = actionOf(event, open);
    if (action === null) return;
    const pointed = offered[active];
    // Without an option to choose, Enter sends the form, with the text as it is typed.
    if (action === "choose" && pointed === undefined) {
      leave();
      return;
    }
    event.preventDefault();
    if (action === "choose" && pointed !== undefined) choose(pointed);
    else if (action === "show") show();
    else if (action === "close") {
      // The list closes, and not the dialog around it.
      event.stopPropagation();
      close();
    } else move(action === "next" ? 1 : -1);
  };
  const type = (text: string) => {
    setTyped(text);
    setActive(0);
    setOpen(true);
  };
  const clear = () => {
    onChange("");
    close();
  };
  const known = options.find((option) => option.value === value)?.label ?? value;
  const text = typed ?? known;
  return { open, offered, active, text, setActive, choose, show, close, clear, leave, onKeyDown, type };
}

type Action = "show" | "close" | "next" | "previous" | "choose";

function actionOf({ key, altKey }: KeyboardEvent, open: boolean): Action | null {
  if (key === "ArrowDown") return open ? "next" : "show";
  if (key === "ArrowUp") return open ? (altKey ? "close" : "previous") : "show";
  if (!open) return null;
  if (key === "Enter") return "choose";
  return key === "Escape" ? "close" : null;
}

function matching(options: readonly ComboboxOption[], typed: string | null): readonly ComboboxOption[] {
  const wanted = (typed ?? "").trim().toLowerCase();
  const found = options.filter(({ label, value, detail = "" }) =>
    `${label} ${value} ${detail}`.toLowerCase().includes(wanted),
  );
  return found.slice(0, MAX_OFFERED);
}
