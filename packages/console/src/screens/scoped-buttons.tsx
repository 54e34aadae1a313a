/** Buttons and items of menus that need a scope: disabled, with the reason, for an API key that lacks it. */

import type { Scope } from "@parley/schema";
import { useHasScope } from "../data/scopes.ts";
import { Button, ButtonLink, type ButtonLinkProps, type ButtonProps } from "../ui/button.tsx";
import { MenuItem, type MenuItemProps, MenuLink, type MenuLinkProps } from "../ui/menu.tsx";

interface Needs {
  readonly needs: Scope;
}

export function ScopedButton({ needs, ...button }: ButtonProps & Needs) {
  const may = useHasScope(needs);
  return may ? <Button {...button} /> : <Button {...button} disabled title={reasonOf(needs)} />;
}

export function ScopedLink({ needs, ...link }: ButtonLinkProps & Needs) {
  const may = useHasScope(needs);
  if (may) return <ButtonLink {...link} />;
  const { kind = "plain", small = false, children } = link;
  return (
    <Button kind={kind} small={small} disabled title={reasonOf(needs)}>
      {children}
    </Button>
  );
}

export function ScopedMenuItem({ needs, ...item }: MenuItemProps & Needs) {
  const may = useHasScope(needs);
  return may ? <MenuItem {...item} /> : <MenuItem {...item} disabled title={reasonOf(needs)} />;
}

export function ScopedMenuLink({ needs, ...link }: MenuLinkProps & Needs) {
  const may = useHasScope(needs);
  if (may) return <MenuLink {...link} />;
  const { icon, children } = link;
  return (
    <MenuItem icon={icon} disabled title={reasonOf(needs)} onSelect={() => undefined}>
      {children}
    </MenuItem>
  );
}

function reasonOf(needs: Scope): string {
  return `Requires an API key with the scope ${needs}`;
}
