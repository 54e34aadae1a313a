/** What an account decides about its calls over SIP. */

import { z } from "zod";

const IncomingRefer = z
  .enum(["refuse", "follow"])
  .describe(
    "What becomes of a REFER, by which the far side of a call wants it to go elsewhere. `refuse`: 603. `follow`: the " +
      "service calls the number in place of the far side, if the dialling rules name its prefix.",
  );

const DialledSrtp = z
  .enum(["required", "preferred", "off"])
  .describe(
    "Encryption of the media of calls that the service dials over TLS. `required`: a far side without SRTP is not called. " +
      "`preferred`: one that refuses SRTP is called again without it. `off`: never. Without TLS, media are not encrypted.",
  );

/** The rules as the API returns them. */
export const SipRules = z.strictObject({ incomingRefer: IncomingRefer, dialledSrtp: DialledSrtp });
export type SipRules = z.output<typeof SipRules>;

/** The body that changes the rules. Absent fields stay unchanged; null restores the default. */
export const SipRulesPatch = z
  .strictObject({
    incomingRefer: IncomingRefer.nullable().optional(),
    dialledSrtp: DialledSrtp.nullable().optional(),
  })
  .meta({ examples: [{ incomingRefer: "follow", dialledSrtp: "preferred" }] });
export type SipRulesPatch = z.output<typeof SipRulesPatch>;
