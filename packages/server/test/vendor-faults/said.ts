/** What is said in the calls of this folder. */

/** What the caller says, and what a recogniser that works understands. */
export const SPOKEN = "ten of clubs please";

/** A reply in four pieces of two sentences: in the middle of the answer the first sentence has ended. */
export const REPLY_PIECES = ["We open at nine. ", "We close ", "at ten ", "on Sunday."] as const;

/** Of a voice of this machine. */
export const VOICE_RATE_HZ = 16_000;
