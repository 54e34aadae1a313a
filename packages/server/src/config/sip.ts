/** Calls over SIP: settings of the environment. */

import { isIP } from "node:net";
import { z } from "zod";
import { optional, whole } from "./env-fields.ts";

export interface SipSettings {
  /** IP address of this machine, `0.0.0.0` or `::`. */
  readonly bind: string;
  /** Of UDP and TCP. */
  readonly port: number;
  /** Of TLS, where there is a certificate. */
  readonly tlsPort: number;
  /** Files with PEM. Null: TLS is used for calls out only. */
  readonly certificate: { readonly path: string; readonly keyPath: string } | null;
  /** File with PEM: authorities that certificates of peers may be signed by, besides the usual ones. */
  readonly authorityFile?: string | null;
  /** The IP address that others reach this machine at; null: the bound one. */
  readonly announcedAddress: string | null;
}

const ipAddress = z.string().refine((text) => isIP(text) !== 0, "must be an IP address");

export const SIP_FIELDS = {
  SIP_HOST: z
    .string()
    .max(190, "must have at most 190 characters")
    .regex(/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i, "must be a host name")
    .optional(),
  SIP_PORT: whole(0, 65_535).default(5060),
  SIP_TLS_PORT: whole(0, 65_535).default(5061),
  SIP_TLS_CERT_FILE: optional,
  SIP_TLS_KEY_FILE: optional,
  SIP_TLS_CA_FILE: optional,
  SIP_BIND: ipAddress.default("0.0.0.0"),
  SIP_ANNOUNCED_ADDRESS: ipAddress
    .refine((text) => text !== "0.0.0.0" && text !== "::", "must be an address that others can reach")
    .optional(),
};

const Fields = z.object(SIP_FIELDS);
type Values = z.infer<typeof Fields>;

export function sipOf(values: Values): SipSettings | null {
  if (values.SIP_HOST === undefined) return null;
  const { SIP_TLS_CERT_FILE: path, SIP_TLS_KEY_FILE: keyPath } = values;
  return {
    bind: values.SIP_BIND,
    port: values.SIP_PORT,
    tlsPort: values.SIP_TLS_PORT,
    certificate: path === undefined || keyPath === undefined ? null : { path, keyPath },
    authorityFile: values.SIP_TLS_CA_FILE ?? null,
    announcedAddress: values.SIP_ANNOUNCED_ADDRESS ?? null,
  };
}

export function checkSipFields(values: Values, context: z.core.$RefinementCtx): void {
  const { SIP_TLS_CERT_FILE: certificate, SIP_TLS_KEY_FILE: key } = values;
  const { SIP_BIND: bind, SIP_ANNOUNCED_ADDRESS: announced } = values;
  if (announced !== undefined && bind !== "::" && isIP(announced) !== isIP(bind)) {
    const message = `must be of the same family as SIP_BIND (${bind}), IPv4 or IPv6`;
    context.addIssue({ code: "custom", path: ["SIP_ANNOUNCED_ADDRESS"], message });
  }
  if ((certificate === undefined) === (key === undefined)) return;
  const [given, missing] =
    key === undefined ? ["SIP_TLS_CERT_FILE", "SIP_TLS_KEY_FILE"] : ["SIP_TLS_KEY_FILE", "SIP_TLS_CERT_FILE"];
  context.addIssue({ code: "custom", path: [missing], message: `must be set together with ${given}` });
}
