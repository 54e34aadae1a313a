/** The account of a user at a carrier, as the adapters of carriers get it. */

/** An account at a carrier, as `TelephonyConfig` stores it. */
export interface CarrierAccount {
  /** What identifies it, such as `accountSid`. */
  readonly settings: Readonly<Record<string, string>>;
  /** Such as `authToken`. Never in a message. */
  readonly secrets: Readonly<Record<string, string>>;
}
