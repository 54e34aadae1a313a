/** Buttons of actions that need a scope: disabled, with the reason, for an API key that lacks it. */

import type { Scope } from "@parley/schema";
import { useHasScope } from "../data/scopes.ts";
import { Button, ButtonLink, type ButtonLinkProps, type ButtonProps } from "../ui/button.tsx";

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

function reasonOf(needs: Scope): string {
  return `Requires an API key with the scope ${needs}`;
}
