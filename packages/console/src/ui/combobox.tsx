/** A text field with suggestions, chosen by typing, with the arrow keys or with the pointer. */

import { Popover } from "radix-ui";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { TextInput } from "./field.tsx";
import styles from "./combobox.module.css";

export interface ComboboxOption {
  readonly value: string;
  readonly label: string;
  readonly detail?: string;
}

export interface ComboboxProps {
  readonly value: string;
  readonly options: readonly ComboboxOption[];
  readonly onChange: (value: string) => void;
  /** Whether texts that are no option are accepted, such as names that the account cannot list. Default: false. */
  readonly free?: boolean;
  readonly placeholder?: string;
  readonly disabled?: boolean;
  /** The label, without a `Field` around it. */
  readonly "aria-label"?: string;
}

/** More than fits on a screen; typing filters. */
const MAX_OFFERED = 100;

export function Combobox({ value, options, onChange, free = false, ...rest }: ComboboxProps) {
  const listId = useId();
  const box = useCombobox({ value, options, onChange, free });
  const { open, offered, active } = box;
  const pointed =
    open && offered.length > 0 ? { "aria-activedescendant": `${listId}-${String(active)}` } : {};
  return (
    <Popover.Root open={open}>
      <Popover.Anchor asChild>
        <div className={styles.box}>
          <TextInput
            {...rest}
            {...pointed}
            role="combobox"
            autoComplete="off"
            aria-expanded={open}
            {...(open ? { "aria-controls": listId } : {})}
            aria-autocomplete="list"
            value={box.text}
            onChange={(event) => box.type(event.target.value)}
            onClick={() => box.setOpen(true)}
            onBlur={box.leave}
            onKeyDown={box.onKeyDown}
          />
        </div>
      </Popover.Anchor>
      <Popover.Portal>
        <Popover.Content
          asChild
          align="start"
          sideOffset={4}
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
        >
          <ul id={listId} role="listbox" className={styles.list} aria-label="Suggestions">
            {offered.length === 0 && <Nothing free={free} />}
            {offered.map((option, index) => (
              <Option
                key={option.value}
                id={`${listId}-${String(index)}`}
                option={option}
                active={index === active}
                onChoose={() => box.choose(option)}
                onPoint={() => box.setActive(index)}
              />
            ))}
          </ul>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Nothing({ free }: { readonly free: boolean }) {
  return (
    <li role="option" aria-selected={false} aria-disabled="true" className={styles.none}>
      {free ? "No suggestions; your text is used as typed." : "No matches."}
    </li>
  );
}

type Behaviour = Required<Pick<ComboboxProps, "value" | "options" | "onChange" | "free">>;

function useCombobox({ value, options, onChange, free }: Behaviour) {
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
  const leave = () => {
    const text = typed?.trim() ?? null;
    const exact = options.find((option) => option.label === text || option.value === text);
    if (text === "") onChange("");
    else if (exact !== undefined) onChange(exact.value);
    else if (free && text !== null) onChange(text);
    close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = offered[active];
    if (step !== undefined) {
      event.preventDefault();
      if (open) setActive((at) => (at + step + offered.length) % Math.max(offered.length, 1));
      setOpen(true);
    } else if (event.key === "Enter" && open && chosen !== undefined) {
      event.preventDefault();
      choose(chosen);
    } else if (event.key === "Escape" && open) {
      event.stopPropagation();
      close();
    }
  };
  const type = (text: string) => {
    setTyped(text);
    setActive(0);
    setOpen(true);
  };
  const known = options.find((option) => option.value === value)?.label ?? value;
  return { open, offered, active, text: typed ?? known, setOpen, setActive, choose, leave, onKeyDown, type };
}

function matching(options: readonly ComboboxOption[], typed: string | null): readonly ComboboxOption[] {
  const wanted = (typed ?? "").trim().toLowerCase();
  const found = options.filter(({ label, value, detail = "" }) =>
    `${label} ${value} ${detail}`.toLowerCase().includes(wanted),
  );
  return found.slice(0, MAX_OFFERED);
}

interface OptionProps {
  readonly id: string;
  readonly option: ComboboxOption;
  readonly active: boolean;
  readonly onChoose: () => void;
  readonly onPoint: () => void;
}

function Option({ id, option, active, onChoose, onPoint }: OptionProps) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (active) item.current?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return (
    <li
      ref={item}
      id={id}
      role="option"
      aria-selected={active}
      className={styles.option}
      // The text field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      onMouseEnter={onPoint}
    >
      {option.label}
      {option.detail !== undefined && <span className={styles.detail}>{option.detail}</span>}
    </li>
  );
}
