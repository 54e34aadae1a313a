import { expect, test } from "vitest";
import { Mailbox } from "./mailbox.ts";

test("events are handled one after the other, also those that come of handling", () => {
  const order: string[] = [];
  const mailbox: Mailbox<string> = new Mailbox(
    (event) => {
      order.push(`${event} begins`);
      if (event === "a") {
        mailbox.post("b");
        mailbox.post("c");
      }
      order.push(`${event} ends`);
    },
    (error) => {
      throw error;
    },
  );
  mailbox.post("a");
  mailbox.post("d");
  expect(order).toEqual(["a", "b", "c", "d"].flatMap((event) => [`${event} begins`, `${event} ends`]));
});

test("events that make more of themselves end the mailbox instead of the process", () => {
  const errors: string[] = [];
  let handled = 0;
  const twice: Mailbox<number> = new Mailbox(
    () => {
      handled += 1;
      twice.post(1);
      twice.post(1);
    },
    (error) => errors.push(error.message),
  );
  twice.post(1);
  twice.post(1);
  expect(errors).toEqual(["mailbox: too many events are waiting"]);
  const once: Mailbox<number> = new Mailbox(
    () => {
      once.post(1);
    },
    (error) => errors.push(error.message),
  );
  once.post(1);
  expect(errors[1]).toBe("mailbox: an endless series of events");
  const before = handled;
  twice.post(1);
  expect(handled).toBe(before);
});

test("a closed mailbox takes nothing", () => {
  const seen: number[] = [];
  const mailbox = new Mailbox<number>(
    (event) => {
      seen.push(event);
      mailbox.close();
      mailbox.post(2);
    },
    (error) => {
      throw error;
    },
  );
  mailbox.post(1);
  mailbox.post(3);
  expect(seen).toEqual([1]);
});
