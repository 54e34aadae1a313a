import { describe, expect, it } from "vitest";
import { Inbox } from "./inbox.ts";
import type { Link, LinkListener } from "./link.ts";
import { Outbox } from "./outbox.ts";

function linkThat(takes: { open: boolean; unsentBytes?: number }): { link: Link; sent: string[] } {
  const sent: string[] = [];
  const part = {
    get unsentBytes() {
      return takes.unsentBytes ?? 0;
    },
    send: (text: string) => {
      if (takes.open) sent.push(text);
      return takes.open;
    },
  };
  return { link: part as unknown as Link, sent };
}

const ping = (timestamp: number) => ({ type: "ping", timestamp }) as const;

describe("an outbox", () => {
  it("sends at once, holds messages while there is no connection, and keeps their order", () => {
    const takes = { open: true };
    const { link, sent } = linkThat(takes);
    const outbox = new Outbox();
    outbox.send(link, ping(1));
    takes.open = false;
    outbox.send(link, ping(2));
    outbox.send(link, ping(3));
    expect(sent).toHaveLength(1);
    takes.open = true;
    outbox.send(link, ping(4));
    outbox.flush(link);
    expect(sent.map((text) => (JSON.parse(text) as { timestamp: number }).timestamp)).toEqual([1, 2, 3, 4]);
  });

  it("refuses what is too long, too much, or comes to a connection that does not move", () => {
    const refused = expect.objectContaining({ code: "message_refused" }) as Error;
    const { link } = linkThat({ open: false });
    const outbox = new Outbox();
    const long = { type: "user_text_message", text: "ü".repeat(140_000) } as const;
    expect(() => outbox.send(link, long)).toThrow(refused);
    for (let i = 0; i < 100; i += 1) outbox.send(link, ping(i));
    expect(() => outbox.send(link, ping(100))).toThrow(refused);
    const stuck = linkThat({ open: true, unsentBytes: 2_000_000 });
    expect(() => new Outbox().send(stuck.link, ping(1))).toThrow(refused);
  });
});

describe("an inbox", () => {
  it("queues messages until there is a listener, in order, and passes on later ones", () => {
    const calls: unknown[] = [];
    const target: LinkListener = {
      text: (text) => calls.push(text),
      lost: () => calls.push("lost"),
      found: () => calls.push("found"),
      closed: (error) => calls.push(error),
    };
    const inbox = new Inbox();
    inbox.text("one");
    inbox.lost();
    inbox.found();
    inbox.closed(null);
    expect(calls).toEqual([]);
    inbox.attach(target);
    inbox.text("two");
    expect(calls).toEqual(["one", "lost", "found", null, "two"]);
  });

  it("holds no more than its limit", () => {
    const inbox = new Inbox();
    for (let i = 0; i < 2_000; i += 1) inbox.text(String(i));
    let heard = 0;
    const count = () => {
      heard += 1;
    };
    inbox.attach({ text: count, lost: count, found: count, closed: count });
    expect(heard).toBe(1_000);
  });
});
