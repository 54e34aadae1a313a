/** Timers of RFC 3261, table 4, and of RFC 6026. */

/** Estimate of the round trip. */
export const T1_MS = 500;
/** Longest time between two retransmissions of anything but an INVITE. */
export const T2_MS = 4_000;
/** How long a message can stay in the network. */
export const T4_MS = 5_000;
/** Of B, F, H, J, L and M: when a transaction gives up, or forgets what it has answered. */
export const TRANSACTION_MS = 64 * T1_MS;
/** D: how long a repeated refusal of an INVITE can come, over UDP. */
export const TIMER_D_MS = 32_000;

export type TimerName = "A" | "B" | "D" | "E" | "F" | "G" | "H" | "I" | "J" | "K" | "L" | "M";
