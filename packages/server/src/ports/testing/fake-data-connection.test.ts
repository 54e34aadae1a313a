import { expect, it } from "vitest";
import { describeDataConnection } from "./data-connection-conformance.ts";
import { openFakeDataConnections } from "./fake-data-connection.ts";

describeDataConnection("the fake", async (request, listener) => {
  const fakes = openFakeDataConnections();
  const connection = fakes.open({ ...request, websocketUrl: "wss://fake.example" }, listener);
  const [fake] = fakes.connections;
  if (fake === undefined) throw new Error("nothing was opened");
  let gone = false;
  queueMicrotask(() => {
    fake.accept();
  });
  return {
    connection,
    peer: {
      audio: () => Int16Array.from(fake.frames.flatMap((frame) => [...frame])),
      messages: () => fake.messages,
      isOpen: () => !gone && !fake.closed,
      sendText: (text) => {
        fake.read(text);
      },
      sendBinary: () => {
        fake.readBinary();
      },
      vanish: () => {
        gone = true;
        fake.lose("vanished", true);
      },
    },
    close: () => Promise.resolve(),
  };
});

it("opens again after a loss", () => {
  const heard: string[] = [];
  const fakes = openFakeDataConnections();
  const note = (what: string) => () => {
    heard.push(what);
  };
  const listener = {
    opened: note("opened"),
    data: note("data"),
    problem: note("problem"),
    lost: note("lost"),
    failed: note("failed"),
  };
  fakes.open({ callId: "c", websocketUrl: "wss://fake.example", headers: {}, sharedSecrets: [] }, listener);
  const [fake] = fakes.connections;
  fake?.accept();
  fake?.lose("gone", true);
  fake?.accept();
  fake?.read("{}");
  expect(heard).toEqual(["opened", "lost", "opened", "data"]);
});
