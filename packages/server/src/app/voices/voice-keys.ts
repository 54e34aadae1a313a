/** Fetches the keys that external voices are spoken with, when they are first needed, and keeps them for a short time. */

import type { VoiceKind, VoiceProvider as KeyedVoiceKind } from "@parley/schema";
import type { PlannedExternalVoice } from "../../plan/voice-plan.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { DeploymentVoiceKeys } from "./voice-providers.ts";

/** A key that an account changes or removes is used for at most this long. */
const KEPT_MS = 30_000;
/** Keys in memory: far more than accounts that speak within that time. The oldest makes room. */
const KEPT_KEYS = 1_000;

export interface VoiceKeysParts {
  /** Null: the account has none. */
  readonly readAccountKey: (accountId: string, provider: KeyedVoiceKind) => Promise<string | null>;
  readonly deployment: DeploymentVoiceKeys;
  readonly nowMs: () => number;
}

/** Who needs a key: the plan says whose it is. */
export interface KeyNeed extends Pick<PlannedExternalVoice, "provider" | "key"> {
  readonly accountId: string;
  /** The vendor, for people. */
  readonly vendor: string;
}

export interface VoiceKeys {
  /**
   * Empty where none is needed. An account's key that is gone is replaced by that of the deployment.
   * @throws EngineFailure when there is none any more; what the store throws
   */
  keyFor(need: KeyNeed): Promise<string>;
  /** The vendor refused it: it is fetched again, because the account may have changed it. */
  forget(need: Pick<KeyNeed, "accountId" | "provider">): void;
}

interface KeptKey {
  readonly key: Promise<string | null>;
  readonly untilMs: number;
}

export function createVoiceKeys({ readAccountKey, deployment, nowMs }: VoiceKeysParts): VoiceKeys {
  const kept = new Map<string, KeptKey>();

  function accountKey(accountId: string, provider: KeyedVoiceKind): Promise<string | null> {
    const name = nameOf(accountId, provider);
    const known = kept.get(name);
    if (known !== undefined && known.untilMs > nowMs()) return known.key;
    const key = readAccountKey(accountId, provider);
    const fetched = { key, untilMs: nowMs() + KEPT_MS };
    kept.delete(name);
    kept.set(name, fetched);
    const [oldest] = kept.keys();
    if (kept.size > KEPT_KEYS && oldest !== undefined) kept.delete(oldest);
    // What failed is not kept; the caller gets the error.
    key.catch(() => {
      if (kept.get(name) === fetched) kept.delete(name);
    });
    return key;
  }

  return {
    async keyFor({ accountId, provider, key: source, vendor }) {
      if (provider === "generic" || source === "none") return "";
      const own = source === "account" ? await accountKey(accountId, provider) : null;
      const key = own ?? deployment[provider];
      if (key !== undefined) return key;
      throw new EngineFailure(`there is no key for ${vendor} any more`, {
        isPermanent: true,
        type: "no_key",
      });
    },
    forget: ({ accountId, provider }) => void kept.delete(nameOf(accountId, provider)),
  };
}

function nameOf(accountId: string, provider: VoiceKind): string {
  return `${accountId}:${provider}`;
}
