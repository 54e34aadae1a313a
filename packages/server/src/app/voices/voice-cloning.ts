/** Makes voices from recordings at the vendors for which an account or the deployment has a key. */

import type { ExternalVoice, VoiceProvider as KeyedVoiceKind } from "@parley/schema";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import type { AccountCloner, CloneOutcome, ClonerFor } from "../../http/deps.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { CloneRequest, VoiceCloner } from "../../ports/voice-cloning.ts";
import { openCartesiaCloner } from "../../providers/voice-cloning/cartesia.ts";
import { openElevenLabsCloner } from "../../providers/voice-cloning/elevenlabs.ts";
import { openInworldCloner } from "../../providers/voice-cloning/inworld.ts";
import { openLmntCloner } from "../../providers/voice-cloning/lmnt.ts";
import { withoutSecrets } from "../../voices/secret-texts.ts";
import type { DeploymentVoiceKeys } from "./voice-providers.ts";

export interface VoiceCloningParts {
  /** In the order in which they are chosen. */
  readonly cloners: readonly VoiceCloner[];
  /** Null: the account has none. */
  readonly readAccountKey: (accountId: string, provider: KeyedVoiceKind) => Promise<string | null>;
  readonly deployment: DeploymentVoiceKeys;
  readonly logger: Pick<Logger, "warn">;
  readonly limits?: Partial<CloningLimits>;
}

interface CloningLimits {
  /** Of one request to a vendor, which takes 5 to 20 s. */
  readonly requestMs: number;
  /** Recordings at a time: each is up to 10 MiB in memory, and as much again in its request. */
  readonly atOnce: number;
}

const LIMITS: CloningLimits = { requestMs: 60_000, atOnce: 4 };

/** The vendors whose interface can make voices. */
export function voiceCloners({ voiceProviders }: Pick<Config, "voiceProviders">): VoiceCloner[] {
  const open = (opener: (baseUrl?: string) => VoiceCloner, kind: KeyedVoiceKind): VoiceCloner =>
    opener(voiceProviders[kind].baseUrl ?? undefined);
  return [
    open(openElevenLabsCloner, "provider1"),
    open(openCartesiaCloner, "provider2"),
    open(openLmntCloner, "provider3"),
    open(openInworldCloner, "provider5"),
  ];
}

export function createVoiceCloning(parts: VoiceCloningParts): ClonerFor {
  const { cloners, readAccountKey, deployment, logger } = parts;
  const limits = { ...LIMITS, ...parts.limits };
  let underWay = 0;

  const failed = (error: unknown, signal: AbortSignal, key: string): CloneOutcome => {
    const reason = signal.aborted
      ? `it did not answer within ${limits.requestMs / 1_000} s`
      : withoutSecrets(messageOf(error), [key]).replace(/\.$/, "");
    return { kind: "failed", reason };
  };

  const cloneWith = async (
    cloner: VoiceCloner,
    key: string,
    request: CloneRequest,
  ): Promise<CloneOutcome> => {
    if (underWay >= limits.atOnce) return { kind: "busy" };
    underWay += 1;
    const signal = AbortSignal.timeout(limits.requestMs);
    try {
      const voiceId = await cloner.clone(request, key, signal);
      const undo = (): Promise<void> =>
        cloner.remove(voiceId, key, AbortSignal.timeout(limits.requestMs)).catch((error: unknown) => {
          const reason = withoutSecrets(messageOf(error), [key]);
          logger.warn(
            { vendor: cloner.name, voiceId, reason },
            "a new voice could not be removed at its vendor",
          );
        });
      // Every provider that makes voices has `voiceId`.
      const definition = { [cloner.kind]: { voiceId } } as ExternalVoice;
      return { kind: "cloned", definition, undo };
    } catch (error) {
      return failed(error, signal, key);
    } finally {
      underWay -= 1;
    }
  };

  const accountCloner = (cloner: VoiceCloner, key: string): AccountCloner => ({
    vendor: cloner.name,
    clone: (request) => cloneWith(cloner, key, request),
  });

  return async (accountId) => {
    for (const cloner of cloners) {
      const key = cloner.kind === "generic" ? null : await readAccountKey(accountId, cloner.kind);
      if (key !== null) return accountCloner(cloner, key);
    }
    for (const cloner of cloners) {
      const key = cloner.kind === "generic" ? undefined : deployment[cloner.kind];
      if (key !== undefined) return accountCloner(cloner, key);
    }
    return null;
  };
}
