/** The frame around every screen, for signed-in users. */

import { useEffect, useRef } from "react";
import { isRouteErrorResponse, Outlet, ScrollRestoration, useLocation, useRouteError } from "react-router";
import { ButtonLink } from "../ui/button.tsx";
import { Page, PageHeader } from "../ui/display.tsx";
import { Empty, ErrorState } from "../ui/states.tsx";
import { ScopeNotice } from "./scope-notice.tsx";
import { PhoneBars, SideBar } from "./navigation.tsx";
import styles from "./shell.module.css";

export function Shell() {
  return (
    <div className={styles.shell}>
      <SkipLink />
      <SideBar />
      <PhoneBars />
      <Main />
      <ScrollRestoration />
    </div>
  );
}

/** The page has a base address, so a link to a fragment alone would lead to the home page. */
function SkipLink() {
  return (
    <a
      className={styles.skip}
      href="#main"
      onClick={(event) => {
        event.preventDefault();
        document.getElementById("main")?.focus();
      }}
    >
      Skip to content
    </a>
  );
}

function Main() {
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    // After a navigation, screen readers read the new page from its start; a fresh page has its focus already.
    if (first.current) first.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return (
    <main id="main" ref={main} tabIndex={-1} className={styles.main}>
      <div className={styles.content}>
        <ScopeNotice />
        <Outlet />
      </div>
    </main>
  );
}

export function NotFound() {
  return (
    <Page>
      <PageHeader title="Page not found" />
      <Empty title="This page does not exist" actions={<ButtonLink to="/">Home</ButtonLink>}>
        Check the address, or go to the home page.
      </Empty>
    </Page>
  );
}

/** Shown when a screen throws an error. Other screens still work. */
export function ScreenFailure() {
  const error = useRouteError();
  const failed = isRouteErrorResponse(error)
    ? new Error(`${String(error.status)} ${error.statusText}`)
    : error;
  return (
    <Page>
      <PageHeader title="This page could not be displayed" />
      <ErrorState error={failed} retry={() => window.location.reload()} />
    </Page>
  );
}
