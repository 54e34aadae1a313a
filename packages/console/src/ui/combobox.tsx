/**
 * A text field with a list of options, after the combobox pattern of ARIA: the list opens with a click, the arrow or the
 * arrow keys, and typing filters it.
 */

import { Check, ChevronDown, X } from "lucide-react";
import { Popover } from "radix-ui";
import { useEffect, useId, useRef } from "react";
import { classNames } from "./class-names.ts";
import { type Behaviour, type ComboboxOption, useCombobox } from "./combobox-state.ts";
import { labelIdOf, TextInput, useControl } from "./field.tsx";
import styles from "./combobox.module.css";

export type { ComboboxOption } from "./combobox-state.ts";

export interface ComboboxProps extends Omit<Behaviour, "free" | "clearable"> {
  /** Whether texts that are no option are accepted, such as names that the account cannot list. Default: false. */
  readonly free?: boolean;
  /** Whether the field may be empty. Default: true. */
  readonly clearable?: boolean;
  readonly placeholder?: string;
  readonly disabled?: boolean;
  /** The label, without a `Field` around it. */
  readonly "aria-label"?: string;
}

export function Combobox(props: ComboboxProps) {
  const { value, options, onChange, free = false, clearable = true, disabled = false, ...rest } = props;
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const box = useCombobox({ value, options, onChange, free, clearable });
  const { open, offered, active } = box;
  const hasClear = clearable && !disabled && box.text !== "";
  const pointed =
    open && offered.length > 0 ? { "aria-activedescendant": `${listId}-${String(active)}` } : {};
  return (
    <Popover.Root open={open}>
      <Popover.Anchor asChild>
        <div className={styles.box}>
          <TextInput
            {...rest}
            {...pointed}
            ref={input}
            className={classNames(styles.input, hasClear && styles.withClear)}
            disabled={disabled}
            role="combobox"
            autoComplete="off"
            aria-expanded={open}
            {...(open ? { "aria-controls": listId } : {})}
            aria-autocomplete="list"
            value={box.text}
            onChange={(event) => box.type(event.target.value)}
            onClick={box.show}
            onBlur={box.leave}
            onKeyDown={box.onKeyDown}
          />
          <Buttons box={box} disabled={disabled} hasClear={hasClear} focus={() => input.current?.focus()} />
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
          <ul id={listId} role="listbox" className={styles.list} aria-label="Options">
            {offered.length === 0 && <Nothing free={free} />}
            {offered.map((option, index) => (
              <Option
                key={option.value}
                id={`${listId}-${String(index)}`}
                option={option}
                chosen={option.value === value}
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

interface ButtonsProps {
  readonly box: ReturnType<typeof useCombobox>;
  readonly disabled: boolean;
  readonly hasClear: boolean;
  readonly focus: () => void;
}

/** The text field keeps the focus while they are pressed. The arrow is for pointers: keys open the list anyway. */
function Buttons({ box, disabled, hasClear, focus }: ButtonsProps) {
  const { id } = useControl();
  // The description says of which field the button is.
  const described = id === undefined ? {} : { "aria-describedby": labelIdOf(id) };
  return (
    <div className={styles.buttons}>
      {hasClear && (
        <button
          type="button"
          aria-label="Clear"
          {...described}
          title="Clear"
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => {
            box.clear();
            focus();
          }}
        >
          <X aria-hidden="true" />
        </button>
      )}
      <button
        type="button"
        aria-label="Options"
        {...described}
        tabIndex={-1}
        disabled={disabled}
        aria-expanded={box.open}
        className={styles.arrow}
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => {
          if (box.open) box.close();
          else box.show();
          focus();
        }}
      >
        <ChevronDown aria-hidden="true" />
      </button>
    </div>
  );
}

function Nothing({ free }: { readonly free: boolean }) {
  return (
    <li role="option" aria-selected={false} aria-disabled="true" className={styles.none}>
      {free ? "No matches. The text is used as you typed it." : "No matches."}
    </li>
  );
}

interface OptionProps {
  readonly id: string;
  readonly option: ComboboxOption;
  /** It is the value of the field. */
  readonly chosen: boolean;
  /** The arrow keys or the pointer are at it. */
  readonly active: boolean;
  readonly onChoose: () => void;
  readonly onPoint: () => void;
}

function Option({ id, option, chosen, active, onChoose, onPoint }: OptionProps) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (active) item.current?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return (
    <li
      ref={item}
      id={id}
      role="option"
      aria-selected={chosen}
      className={classNames(styles.option, active && styles.active)}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      onMouseEnter={onPoint}
    >
      <span>
        {option.label}
        {option.detail !== undefined && <span className={styles.detail}>{option.detail}</span>}
      </span>
      {chosen && <Check aria-hidden="true" />}
    </li>
  );
}
