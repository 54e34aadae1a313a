/** Modal dialogs. The focus stays inside and returns to its place afterwards. */

import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useState } from "react";
import { Button, IconButton } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { ErrorState } from "./states.tsx";
import styles from "./overlay.module.css";

export interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** A sentence of explanation. */
  readonly text?: ReactNode;
  readonly children?: ReactNode;
  /** Buttons, the confirming one last. */
  readonly actions?: ReactNode;
  readonly wide?: boolean;
}

export function Dialog({ open, onClose, title, text, children, actions, wide = false }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Radix.Portal>
        <Radix.Overlay className={styles.veil} />
        <Radix.Content
          className={classNames(styles.dialog, wide && styles.wide)}
          {...(text === undefined ? { "aria-describedby": undefined } : {})}
        >
          <div className={styles.head}>
            <div>
              <Radix.Title className={styles.title}>{title}</Radix.Title>
              {text !== undefined && <Radix.Description className={styles.text}>{text}</Radix.Description>}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close" icon={<X aria-hidden="true" />} small />
            </Radix.Close>
          </div>
          {children !== undefined && <div className={styles.body}>{children}</div>}
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export interface ConfirmProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What will happen, and whether it can be undone. */
  readonly text: ReactNode;
  /** A verb with its object: "Delete agent". */
  readonly action: string;
  readonly dangerous?: boolean;
  /** The dialog closes afterwards; an error is shown in it. */
  readonly onConfirm: () => Promise<unknown> | void;
}

export function Confirm({ open, onClose, title, text, action, dangerous = false, onConfirm }: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const close = () => {
    setError(null);
    onClose();
  };
  const confirm = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={title}
      text={text}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind={dangerous ? "danger" : "primary"} busy={busy} onClick={() => void confirm()}>
            {action}
          </Button>
        </>
      }
    >
      {error === null ? undefined : <ErrorState error={error} />}
    </Dialog>
  );
}
