import { allows, useOwnKey } from "../data/scopes.ts";
import { Notice } from "../ui/form.tsx";
import styles from "./shell.module.css";

/** Above every page, for a key that may not do everything. */
export function ScopeNotice() {
  const key = useOwnKey();
  if (key === null || allows(key.scopes, "admin")) return null;
  const text = allows(key.scopes, "calls")
    ? "It can view data and create calls and batches, but cannot make other changes."
    : "It can view data, but cannot make changes or create calls.";
  return (
    <div className={styles.scope}>
      <Notice>
        You are signed in with the API key <strong>{key.name}</strong>. {text}
      </Notice>
    </div>
  );
}
