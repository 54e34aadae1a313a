/** Keeps the SIP registrations of accounts: registers what is new, stops what is gone, and stores how it went. */

import type { Logger } from "pino";
import { messageOf } from "../../pacing/error-text.ts";
import type { Db } from "../../store/database/db.ts";
import {
  type HeldRegistration,
  holdRegistrations,
  noteRegistration,
  type RegistrationAttempt,
  releaseRegistrations,
} from "../../store/telephony/held-registrations.ts";

/** Changes take effect within this time. */
const LOOK_INTERVAL_MS = 5_000;
/** Another process takes over the registrations of a lost one after this time. */
const HOLD_MS = 60_000;

/** Status of a registration whose address cannot be used. */
const INVALID = 400;

export interface KeptRegistration {
  close(): Promise<void>;
}

export interface SipRegistrationsDeps {
  readonly db: Db;
  /** This process, by a name that no other one has. */
  readonly holder: string;
  /** @throws for an address that is not one */
  readonly register: (
    registration: HeldRegistration,
    changed: (attempt: RegistrationAttempt, address: string | null) => void,
  ) => KeptRegistration;
  /** IP addresses of registrars have changed: calls come from them. */
  readonly registrarsChanged: (addresses: ReadonlySet<string>) => void;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
}

interface Kept {
  readonly accountId: string;
  /** What it was made of; another text means that it was changed. */
  readonly made: string;
  readonly registration: KeptRegistration | null;
  /** IP address of the registrar that has accepted it; null: none has. */
  address: string | null;
}

export class SipRegistrations {
  readonly #deps: SipRegistrationsDeps;
  readonly #kept = new Map<string, Kept>();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: SipRegistrationsDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#looking = this.#look().finally(() => {
      if (!this.#isClosed) this.#timer = setTimeout(() => this.start(), LOOK_INTERVAL_MS);
    });
  }

  accountOf(registrationId: string): string | null {
    return this.#kept.get(registrationId)?.accountId ?? null;
  }

  /** Removes them at their registrars, so that nobody is called who is gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all([...this.#kept.keys()].map((id) => this.#drop(id)));
    await releaseRegistrations(this.#deps.db, this.#deps.holder).catch((error: unknown) => {
      this.#deps.logger.warn({ error: messageOf(error) }, "SIP registrations could not be released");
    });
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { db, holder, logger } = this.#deps;
    try {
      const held = await holdRegistrations(db, holder, HOLD_MS);
      const wanted = new Map(held.map((one) => [one.registrationId, one]));
      for (const [id, { made }] of this.#kept) {
        const one = wanted.get(id);
        if (one === undefined || JSON.stringify(one) !== made) await this.#drop(id);
      }
      for (const one of held) if (!this.#kept.has(one.registrationId)) this.#keep(one);
    } catch (error) {
      logger.error({ error: messageOf(error) }, "the SIP registrations could not be read");
    }
  }

  #keep(one: HeldRegistration): void {
    const { accountId, registrationId } = one;
    const { db, holder, logger, register } = this.#deps;
    const made = JSON.stringify(one);
    const note = (attempt: RegistrationAttempt, address: string | null): void => {
      const kept = this.#kept.get(registrationId);
      // A registration that was changed meanwhile has a state of its own.
      if (kept?.made !== made) return;
      const { isSuccessful, status, reason } = attempt;
      const detail = `${String(status)} ${reason}`;
      if (!isSuccessful) logger.warn({ accountId, registrationId, detail }, "a SIP registration has failed");
      // A registrar that refuses now and then still has calls for us until the registration ends there.
      if (isSuccessful && kept.address !== address) {
        kept.address = address;
        this.#registrarsChanged();
      }
      noteRegistration(db, holder, registrationId, attempt).catch((error: unknown) => {
        logger.error({ error: messageOf(error) }, "the state of a SIP registration could not be stored");
      });
    };
    // In the map first: its state may be reported at once.
    this.#kept.set(registrationId, { accountId, made, registration: null, address: null });
    try {
      const registration = register(one, note);
      const address = this.#kept.get(registrationId)?.address ?? null;
      this.#kept.set(registrationId, { accountId, made, registration, address });
    } catch (error) {
      note({ isSuccessful: false, status: INVALID, reason: messageOf(error), nextInMs: null }, null);
    }
  }

  #registrarsChanged(): void {
    const addresses = [...this.#kept.values()].flatMap(({ address }) => (address === null ? [] : [address]));
    this.#deps.registrarsChanged(new Set(addresses));
  }

  async #drop(registrationId: string): Promise<void> {
    const kept = this.#kept.get(registrationId);
    this.#kept.delete(registrationId);
    if (kept !== undefined && kept.address !== null) this.#registrarsChanged();
    await kept?.registration?.close();
  }
}
