/** Stores the feed of a call. It listens before the first message, and stays after the call. */

import type { Call, ToolHandler } from "@parley/client";
import { EMPTY_FEED, type Feed, withMessage, withNote } from "./feed.ts";

export class FeedStore {
  #feed = EMPTY_FEED;
  readonly #listeners = new Set<() => void>();

  readonly snapshot = (): Feed => this.#feed;

  readonly subscribe = (tell: () => void): (() => void) => {
    this.#listeners.add(tell);
    return () => this.#listeners.delete(tell);
  };

  /** Call this synchronously after the join, before the first messages arrive. */
  follow(call: Call): void {
    call.on("message", (message) => this.#set(withMessage(this.#feed, message)));
  }

  /** The tool that the page provides to the agent. */
  readonly showNote: ToolHandler = ({ text }) => {
    if (typeof text !== "string" || text.trim() === "") throw new Error("The note has no text.");
    this.#set(withNote(this.#feed, text.trim()));
    return "The note is on the user's screen.";
  };

  #set(feed: Feed): void {
    if (feed === this.#feed) return;
    this.#feed = feed;
    for (const tell of this.#listeners) tell();
  }
}
