/** Around every screen once somebody is signed in. */

import { useEffect, useRef } from "react";
import { isRouteErrorResponse, Outlet, ScrollRestoration, useLocation, useRouteError } from "react-router";
import { ButtonLink } from "../ui/button.tsx";
import { Page, PageHeader } from "../ui/display.tsx";
import { Empty, ErrorState } from "../ui/states.tsx";
import { PhoneBars, SideBar } from "./navigation.tsx";
import styles from "./shell.module.css";

export function Shell() {
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to the content
      </a>
      <SideBar />
      <PhoneBars />
      <Main />
      <ScrollRestoration />
    </div>
  );
}

function Main() {
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    // Whoever came by a link hears the new page from its beginning; a fresh page has its focus already.
    if (first.current) first.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return (
    <main id="main" ref={main} tabIndex={-1} className={styles.main}>
      <div className={styles.content}>
        <Outlet />
      </div>
    </main>
  );
}

export function NotFound() {
  return (
    <Page>
      <PageHeader title="Nothing here" />
      <Empty title="There is no such page" actions={<ButtonLink to="/">Home</ButtonLink>}>
        The address may have been mistyped, or what it led to is gone.
      </Empty>
    </Page>
  );
}

/** A screen that threw: the others still work. */
export function ScreenFailure() {
  const error = useRouteError();
  const failed = isRouteErrorResponse(error)
    ? new Error(`${String(error.status)} ${error.statusText}`)
    : error;
  return (
    <Page>
      <PageHeader title="This page failed" />
      <ErrorState error={failed} retry={() => window.location.reload()} />
    </Page>
  );
}
