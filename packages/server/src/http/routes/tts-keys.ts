import {
  maskSecret,
  MASK,
  keyDocumentOf,
  type SetTtsApiKeysRequest,
  VOICE_PROVIDERS,
  type VoiceProvider,
} from "@parley/schema";
import {
  getTtsKeyPrefixes,
  setTtsKeys,
  type NewTtsKey,
  type TtsKeyChanges,
  type TtsKeyPrefixes,
} from "../../store/accounts/tts-keys.ts";
import type { Handler } from "../api/endpoint.ts";
import type { Resource } from "../../lifecycle/resource.ts";

export const getTtsApiKeysRoute: Handler<"getTtsApiKeys"> = async ({ accountId }, { http }) => ({
  status: 200,
  json: keysResource(await getTtsKeyPrefixes(http.store.db, accountId)),
});

export const setTtsApiKeysRoute: Handler<"setTtsApiKeys"> = async ({ accountId, body, change }) => ({
  status: 200,
  json: keysResource(await change((tx) => setTtsKeys(tx, accountId, changesOf(body)))),
});

function keysResource(prefixes: TtsKeyPrefixes): Resource {
  const entries = VOICE_PROVIDERS.map((provider) => {
    const prefix = prefixes[provider];
    return [provider, prefix === null ? null : { prefix }];
  });
  return Object.fromEntries(entries) as Resource;
}

function changesOf(body: SetTtsApiKeysRequest): TtsKeyChanges {
  const changes: [VoiceProvider, NewTtsKey | null][] = [];
  for (const provider of VOICE_PROVIDERS) {
    const given = body[provider];
    if (given === undefined) continue;
    const made = provider === "provider4" ? documentKey : textKey;
    changes.push([provider, given === null ? null : made(given)]);
  }
  return Object.fromEntries(changes);
}

function textKey(given: unknown): NewTtsKey {
  const key = String(given);
  return { key, prefix: shown(key) };
}

/** Shows the beginning of the private key's id, because every such document begins alike. */
function documentKey(given: unknown): NewTtsKey {
  const document = keyDocumentOf(given) ?? {};
  const { private_key_id: id, client_email: email } = document;
  return { key: JSON.stringify(document), prefix: shown(typeof id === "string" ? id : String(email)) };
}

/** The first four characters; empty for a text so short that they would reveal half of it. */
function shown(text: string): string {
  return maskSecret(text).slice(0, -MASK.length);
}
