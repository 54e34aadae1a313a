/** Masks the secrets in a call before it is shown or copied. */

import type { Call } from "@parley/schema";

export const HIDDEN = "••••";

/** Names of fields with secrets. */
const SECRET_NAMES = new Set(["secrets", "sharedSecrets", "password", "authToken", "apiKey"]);
/** Greatest depth of known fields; deeper objects are free-form. */
const MAX_DEPTH = 20;

export function withoutSecrets(call: Call): unknown {
  const { joinUrl, dataConnectionConfig, ...rest } = call;
  return covered(
    {
      ...rest,
      joinUrl: joinUrl === null ? null : withoutToken(joinUrl),
      dataConnectionConfig:
        dataConnectionConfig === null
          ? null
          : {
              ...dataConnectionConfig,
              ...(dataConnectionConfig.headers === undefined
                ? {}
                : { headers: allHidden(dataConnectionConfig.headers) }),
            },
    },
    0,
  );
}

/** The last part of a join URL lets anyone join as the caller. */
function withoutToken(joinUrl: string): string {
  return joinUrl.replace(/[^/]+$/, HIDDEN);
}

function allHidden(map: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.keys(map).map((name) => [name, HIDDEN]));
}

function covered(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return HIDDEN;
  if (Array.isArray(value)) return value.map((item) => covered(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      SECRET_NAMES.has(name) && item !== null ? HIDDEN : covered(item, depth + 1),
    ]),
  );
}
