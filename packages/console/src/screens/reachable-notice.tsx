/** A warning while carriers cannot connect to the service. */

import { useRead } from "../data/api.tsx";
import { Notice } from "../ui/form.tsx";
import { URLS_PATH } from "./carriers.ts";

export function ReachableNotice() {
  const { data } = useRead(URLS_PATH, {});
  if (data === undefined || data.publicUrl.startsWith("https://")) return null;
  return (
    <Notice tone="warn">
      Carriers connect only to https addresses, and the public address of this service is{" "}
      <code>{data.publicUrl}</code>. Set <code>PUBLIC_URL</code> to an https address that reaches this
      service, and restart it.
    </Notice>
  );
}
