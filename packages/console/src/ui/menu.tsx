/** A menu of actions. */

import { DropdownMenu as Radix } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import { Link } from "react-router";
import { classNames } from "./class-names.ts";
import styles from "./overlay.module.css";

export interface MenuProps {
  /** The button that opens the menu. */
  readonly trigger: ReactElement;
  readonly children: ReactNode;
  readonly align?: "start" | "end";
}

export function Menu({ trigger, children, align = "end" }: MenuProps) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className={styles.menu} align={align} sideOffset={4} collisionPadding={8}>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export interface MenuItemProps {
  readonly icon?: ReactNode;
  readonly children: ReactNode;
  readonly dangerous?: boolean;
  readonly disabled?: boolean;
  /** Shown when the pointer rests on it, such as why it is disabled. */
  readonly title?: string;
  readonly onSelect: () => void;
}

export function MenuItem({
  icon,
  children,
  dangerous = false,
  disabled = false,
  title,
  onSelect,
}: MenuItemProps) {
  return (
    <Radix.Item
      className={classNames(styles.item, dangerous && styles.dangerous)}
      disabled={disabled}
      title={title}
      onSelect={onSelect}
    >
      {icon}
      {children}
    </Radix.Item>
  );
}

export interface MenuLinkProps {
  readonly to: string;
  readonly icon?: ReactNode;
  readonly children: ReactNode;
}

export function MenuLink({ to, icon, children }: MenuLinkProps) {
  return (
    <Radix.Item asChild className={styles.item}>
      <Link to={to}>
        {icon}
        {children}
      </Link>
    </Radix.Item>
  );
}

export function MenuSeparator() {
  return <Radix.Separator className={styles.separator} />;
}
