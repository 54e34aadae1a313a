/** Adapters and fake vendors for the tests of one voice over websockets. */

import { afterEach } from "vitest";
import type { VoiceKind } from "@parley/schema";
import { collect, neverAborted, type Collected } from "../../../ports/testing/collect.ts";
import type { TtsPart } from "../../../ports/tts.ts";
import type { ProviderSpeech, VoiceProvider, VoiceUse } from "../../../ports/voice-provider.ts";
import type { SocketVoiceLimits, SocketVoiceOptions } from "../socket-voice.ts";
import type { FakeVoiceVendor } from "./fake-voice-vendor.ts";
import { throwProblems } from "./provider-faults.ts";

export interface VoiceStandParts<Kind extends VoiceKind, Options, Vendor extends FakeVoiceVendor> {
  readonly openVendor: (options?: Options) => Promise<Vendor>;
  readonly openProvider: (options: SocketVoiceOptions) => VoiceProvider<Kind>;
  readonly use: Omit<VoiceUse<Kind>, "language">;
}

export interface VoiceStand<Kind extends VoiceKind, Options, Vendor extends FakeVoiceVendor> {
  /**
   * Both are closed after the test, which fails where the adapter broke a rule of the vendor. `path`: of the base
   * address.
   */
  readonly open: (
    options?: Options,
    limits?: SocketVoiceLimits,
    path?: string,
  ) => Promise<{ readonly vendor: Vendor; readonly provider: VoiceProvider<Kind> }>;
  readonly speak: (
    provider: VoiceProvider<Kind>,
    fields?: Partial<ProviderSpeech<Kind>>,
  ) => Promise<Collected<TtsPart>>;
}

/** To be called inside `describe`. */
export function voiceStand<Kind extends VoiceKind, Options, Vendor extends FakeVoiceVendor>(
  parts: VoiceStandParts<Kind, Options, Vendor>,
): VoiceStand<Kind, Options, Vendor> {
  const closing: (() => Promise<void>)[] = [];
  const vendors: FakeVoiceVendor[] = [];
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((close) => close()));
    for (const vendor of vendors.splice(0)) throwProblems(vendor);
  });
  return {
    open: async (options, limits = {}, path = "") => {
      const vendor = await parts.openVendor(options);
      const provider = parts.openProvider({
        baseUrl: `${vendor.baseUrl}${path}`,
        log: () => undefined,
        limits,
      });
      vendors.push(vendor);
      closing.push(async () => {
        await provider.close();
        await vendor.close();
      });
      return { vendor, provider };
    },
    speak: (provider, fields = {}) =>
      collect(
        provider.synthesize(
          { ...parts.use, language: null, text: "We open at nine.", ...fields },
          neverAborted(),
        ),
      ),
  };
}
