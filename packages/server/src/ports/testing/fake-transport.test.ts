import { openFakeTransport, type FakeTransport } from "./fake-transport.ts";
import { describeTransportConformance } from "./transport-conformance.ts";

describeTransportConformance("the fake", {
  open: (listener) => {
    const transport: FakeTransport = openFakeTransport(listener);
    return Promise.resolve({
      transport,
      dispose: () => Promise.resolve(),
      peer: {
        audio: () => Int16Array.from(transport.frames.flatMap((frame) => [...frame])),
        messages: () => transport.messages,
        closeCode: () => transport.closedWith,
        sendAudio: (samples) => {
          transport.hear(samples);
        },
        sendText: (text) => {
          transport.read(text);
        },
        hangUp: () => {
          transport.lose(true, 1000);
        },
        vanish: () => {
          transport.lose(false, 1006);
        },
        freeze: () => {
          transport.alive = false;
        },
      },
    });
  },
});
