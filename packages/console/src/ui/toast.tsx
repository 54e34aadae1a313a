/** Short messages about finished actions. Important errors belong beside their cause, in an `ErrorState`. */

import { X } from "lucide-react";
import { Toast as Radix } from "radix-ui";
import { createContext, type ReactNode, useCallback, useContext, useState } from "react";
import { IconButton } from "./button.tsx";
import { classNames } from "./class-names.ts";
import styles from "./overlay.module.css";

interface Shown {
  readonly id: number;
  readonly text: string;
  readonly failed: boolean;
}

/** Most toasts at once; older ones are removed. */
const MAX_TOASTS = 3;
/** Time to read two lines twice. Hover and focus pause it. */
const SHOWN_MS = 6000;

type ShowToast = (text: string, kind?: "done" | "failed") => void;

const ToastContext = createContext<ShowToast>(() => undefined);

export function useToast(): ShowToast {
  return useContext(ToastContext);
}

export function Toasts({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Shown[]>([]);
  const show = useCallback<ShowToast>((text, kind = "done") => {
    setToasts((before) => {
      const id = (before.at(-1)?.id ?? 0) + 1;
      return [...before, { id, text, failed: kind === "failed" }].slice(-MAX_TOASTS);
    });
  }, []);
  return (
    <ToastContext value={show}>
      <Radix.Provider duration={SHOWN_MS} label="Notifications">
        {children}
        {toasts.map(({ id, text, failed }) => (
          <Radix.Root
            key={id}
            className={classNames(styles.toast, failed && styles.failed)}
            type={failed ? "foreground" : "background"}
            onOpenChange={(open) => {
              if (!open) setToasts((before) => before.filter((toast) => toast.id !== id));
            }}
          >
            <Radix.Description className={styles.toastText}>{text}</Radix.Description>
            <Radix.Close asChild>
              <IconButton label="Dismiss" icon={<X aria-hidden="true" />} small />
            </Radix.Close>
          </Radix.Root>
        ))}
        <Radix.Viewport className={styles.toasts} />
      </Radix.Provider>
    </ToastContext>
  );
}
