/** Buttons, and links that look like them. */

import type { ComponentProps, ReactNode } from "react";
import { Link } from "react-router";
import { classNames } from "./class-names.ts";
import styles from "./button.module.css";

export type ButtonKind = "primary" | "plain" | "quiet" | "danger";

interface Look {
  readonly kind?: ButtonKind;
  readonly small?: boolean;
}

function classOf({ kind = "plain", small = false }: Look, icon: boolean, more?: string): string {
  return classNames(styles.button, styles[kind], small && styles.small, icon && styles.icon, more);
}

export interface ButtonProps extends ComponentProps<"button">, Look {
  /** Its action is running: it cannot be pressed again, and keeps the focus. */
  readonly busy?: boolean;
}

export function Button({ kind, small, busy = false, className, children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      {...(busy ? { "aria-disabled": true, "aria-busy": true } : {})}
      className={classOf({ ...(kind && { kind }), ...(small && { small }) }, false, className)}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {busy && <span className={styles.spinner} aria-hidden="true" />}
      {children}
    </button>
  );
}

export interface IconButtonProps extends Omit<ComponentProps<"button">, "children">, Look {
  /** For screen readers and on hover. */
  readonly label: string;
  readonly icon: ReactNode;
}

export function IconButton({
  label,
  icon,
  kind = "quiet",
  small = false,
  className,
  ...rest
}: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      aria-label={label}
      className={classOf({ kind, small }, true, className)}
    >
      {icon}
    </button>
  );
}

export interface ButtonLinkProps extends ComponentProps<typeof Link>, Look {}

export function ButtonLink({ kind = "plain", small = false, className, ...rest }: ButtonLinkProps) {
  return <Link {...rest} className={classOf({ kind, small }, false, className)} />;
}
