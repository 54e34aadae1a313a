/** A secret: its first characters, with buttons to show and copy all of it. */

import { Eye, EyeOff } from "lucide-react";
import { type ReactNode, useState } from "react";
import { IconButton } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import styles from "./form.module.css";

const SHOWN_LETTERS = 4;

export interface SecretProps {
  readonly secret: string;
  /** The name in the labels of the buttons: "secret 1". */
  readonly name: string;
  /** More buttons. */
  readonly children?: ReactNode;
}

export function Secret({ secret, name, children }: SecretProps) {
  const [shown, setShown] = useState(false);
  return (
    <div className={styles.secret}>
      <code>{shown ? secret : `${secret.slice(0, SHOWN_LETTERS)}…`}</code>
      <IconButton
        label={`${shown ? "Hide" : "Show"} ${name}`}
        icon={shown ? <EyeOff aria-hidden="true" /> : <Eye aria-hidden="true" />}
        small
        onClick={() => setShown((before) => !before)}
      />
      <CopyButton text={secret} label={`Copy ${name}`} />
      {children}
    </div>
  );
}
