/** Signing in with an API key, which is checked by reading its account. */

import { ParleyError } from "@parley/client/rest";
import type { Account } from "@parley/schema";
import { type FormEvent, useState } from "react";
import { clientFor } from "../data/api.tsx";
import { Button } from "../ui/button.tsx";
import { Switch } from "../ui/field.tsx";
import mark from "../ui/mark.svg";
import { ErrorState } from "../ui/states.tsx";
import { TextField } from "../ui/text-field.tsx";
import { ThemeButton } from "./navigation.tsx";
import styles from "./shell.module.css";

export interface SignInProps {
  /** Why a user was signed out. */
  readonly notice: string | null;
  /** From the URL that the service printed. */
  readonly givenKey: string;
  readonly onSignIn: (apiKey: string, account: Account, onDevice: boolean) => void;
}

/** Keys are printed with spaces around them, which are often copied too. */
export async function accountOf(apiKey: string): Promise<Account> {
  return clientFor(apiKey).fetch("GET", "/api/accounts/me");
}

export function SignIn({ notice, givenKey, onSignIn }: SignInProps) {
  const [key, setKey] = useState(givenKey);
  const [onDevice, setOnDevice] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const refused = error instanceof ParleyError && error.status === 401;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const apiKey = key.trim();
    if (apiKey === "" || busy) return;
    setBusy(true);
    setError(null);
    try {
      onSignIn(apiKey, await accountOf(apiKey), onDevice);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <main className={styles.signIn}>
      <title>Sign in · Parley</title>
      <div className={styles.signInCard}>
        <div className={styles.signInHead}>
          <img src={mark} alt="" />
          <h1>Parley</h1>
          <p>Build voice agents and talk to them in your browser.</p>
        </div>
        {notice !== null && (
          <p className={styles.notice} role="status">
            {notice}
          </p>
        )}
        <form className={styles.form} onSubmit={(event) => void submit(event)}>
          <TextField
            label="API key"
            error={refused ? "This API key is invalid or has expired." : null}
            hint={
              <>
                The first <code>npm start</code> prints an API key. To create another one, run{" "}
                <code>npx parley keys create</code>.
              </>
            }
            type="password"
            autoComplete="current-password"
            spellCheck={false}
            required
            value={key}
            onChange={setKey}
          />
          <Switch
            label="Keep me signed in on this computer"
            hint="Stores the key in this browser until you sign out. Otherwise, it is removed when you close this tab."
            checked={onDevice}
            onChange={setOnDevice}
          />
          {error !== null && !refused && <ErrorState error={error} />}
          <Button kind="primary" type="submit" busy={busy}>
            Sign in
          </Button>
        </form>
        <ThemeButton />
      </div>
    </main>
  );
}
