/** The configuration of console builds and of the development server. */

import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";
import { fieldNotes } from "./build/field-notes.ts";

/** The URL of a service that runs beside `npm run dev:console`. */
const SERVICE = "http://127.0.0.1:8080";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Relative: the service may stand behind a proxy that adds a path; `<base>` says which.
  base: "./",
  plugins: [react(), fieldNotes()],
  // The sources of the client, not its build.
  resolve: { conditions: ["@parley/source", ...defaultClientConditions] },
  build: {
    target: "es2022",
    // Everything is served from memory by its name, one folder deep.
    assetsDir: "assets",
    // Inlined files would be `data:` URLs, which the page's policy allows only for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    port: 5173,
    proxy: {
      "/api": SERVICE,
      "/docs": SERVICE,
      "^/calls/[^/]+/[^/]+/.+": { target: SERVICE, ws: true },
    },
  },
});
