/** The routes of the console, signed in and signed out. */

import { ParleyError } from "@parley/client/rest";
import type { Account } from "@parley/schema";
import { useCallback, useEffect, useState } from "react";
import { createBrowserRouter, type RouteObject } from "react-router";
import { RouterProvider } from "react-router/dom";
import { ApiProvider, BASE_URL } from "../data/api.tsx";
import { forgetKey, keepKey, onKeyFromAddress, storedKey } from "../data/key-store.ts";
import { page } from "../screens/screen.ts";
import { SCREENS } from "../screens/screens.ts";
import { ErrorState, Loading } from "../ui/states.tsx";
import { Toasts } from "../ui/toast.tsx";
import { NotFound, ScreenFailure, Shell } from "./shell.tsx";
import { accountOf, SignIn } from "./sign-in.tsx";
import styles from "./shell.module.css";

type State =
  | { readonly kind: "checking"; readonly apiKey: string }
  | { readonly kind: "unreachable"; readonly apiKey: string; readonly error: unknown }
  | { readonly kind: "out"; readonly notice: string | null }
  | { readonly kind: "in"; readonly apiKey: string; readonly account: Account };

function firstState(givenKey: string | null): State {
  // A key in the URL replaces a stored key.
  const stored = givenKey === null ? storedKey() : null;
  return stored === null ? { kind: "out", notice: null } : { kind: "checking", apiKey: stored };
}

export function App({ givenKey }: { readonly givenKey: string | null }) {
  const [state, setState] = useState<State>(() => firstState(givenKey));
  const [given, setGiven] = useState(givenKey ?? "");
  const signOut = useCallback((notice: string | null = null) => {
    forgetKey();
    setState({ kind: "out", notice });
  }, []);
  useEffect(
    () =>
      onKeyFromAddress((key) => {
        setGiven(key);
        setState((now) => (now.kind === "in" && now.apiKey === key ? now : { kind: "out", notice: null }));
      }),
    [],
  );
  const checked = state.kind === "checking" ? state.apiKey : null;
  useEffect(() => {
    if (checked === null) return undefined;
    let current = true;
    accountOf(checked).then(
      (account) => {
        if (current) setState({ kind: "in", apiKey: checked, account });
      },
      (error: unknown) => {
        if (!current) return;
        const refused = error instanceof ParleyError && error.status === 401;
        if (refused) signOut("Your API key is no longer valid. Sign in again.");
        else setState({ kind: "unreachable", apiKey: checked, error });
      },
    );
    // A key from the URL has replaced this one.
    return () => {
      current = false;
    };
  }, [checked, signOut]);

  if (state.kind === "checking") return <Checking />;
  if (state.kind === "unreachable") {
    const again = () => setState({ kind: "checking", apiKey: state.apiKey });
    return <Unreachable error={state.error} retry={again} />;
  }
  if (state.kind === "out") {
    return (
      <SignIn
        key={given}
        notice={state.notice}
        givenKey={given}
        onSignIn={(apiKey, account, onDevice) => {
          keepKey(apiKey, onDevice);
          setState({ kind: "in", apiKey, account });
        }}
      />
    );
  }
  return (
    <ApiProvider
      key={state.apiKey}
      apiKey={state.apiKey}
      account={state.account}
      onSignOut={(notice) => signOut(notice)}
    >
      <Screens />
    </ApiProvider>
  );
}

function Checking() {
  return (
    <main className={styles.signIn}>
      <div className={styles.signInCard}>
        <Loading lines={3} label="Signing in" />
      </div>
    </main>
  );
}

function Unreachable({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  return (
    <main className={styles.signIn}>
      <div className={styles.signInCard}>
        <ErrorState error={error} retry={retry} />
      </div>
    </main>
  );
}

function routes(): RouteObject[] {
  const screens = SCREENS.map(({ noun, routes }): RouteObject => ({ path: noun, children: [...routes] }));
  return [
    {
      path: "/",
      Component: Shell,
      HydrateFallback: Loading,
      children: [
        {
          ErrorBoundary: ScreenFailure,
          children: [
            page("", async () => (await import("../screens/home/home-screen.tsx")).HomeScreen),
            ...screens,
            { path: "*", Component: NotFound },
          ],
        },
      ],
    },
  ];
}

function Screens() {
  const [router] = useState(() =>
    createBrowserRouter(routes(), { basename: new URL(BASE_URL).pathname.replace(/(?<=.)\/$/, "") }),
  );
  return (
    <Toasts>
      <RouterProvider router={router} />
    </Toasts>
  );
}
