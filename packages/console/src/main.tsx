/** The entry point of the console. */

import "@fontsource-variable/instrument-sans";
import "./ui/tokens.css";
import "./ui/base.css";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";
import { startTheme } from "./app/theme.ts";
import { keyFromAddress } from "./data/key-store.ts";

startTheme();
// Libraries that add styles need the nonce of this page.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
if (nonce !== "") setNonce(nonce);

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no element for the console.");
createRoot(root).render(
  <StrictMode>
    <App givenKey={keyFromAddress()} />
  </StrictMode>,
);
