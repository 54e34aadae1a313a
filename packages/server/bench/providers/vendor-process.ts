/** The fake of one vendor in a process of its own, so that its cost is not counted as the adapter's. */

import { ADAPTERS } from "./adapters.ts";
import { type FromVendor, sharedNowMs } from "./vendor-protocol.ts";

/** As people speak: some 15 characters a second. */
const MS_PER_CHAR = 65;

function tell(message: FromVendor): void {
  process.send?.(message);
}

const [name] = process.argv.slice(2);
const adapter = ADAPTERS.find((one) => one.name === name);
if (adapter === undefined) throw new Error(`there is no adapter ${String(name)}`);
const vendor = await adapter.openVendor({
  msPerChar: MS_PER_CHAR,
  observe: (what, text) => {
    tell({ type: what, text, atMs: sharedNowMs() });
  },
});
process.on("message", () => {
  // The end of the measurement.
  tell({ type: "problems", problems: vendor.problems });
  void vendor.close().then(() => {
    process.disconnect();
  });
});
tell({ type: "ready", ...vendor.address });
