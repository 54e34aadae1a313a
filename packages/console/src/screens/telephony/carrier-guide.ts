/** What to click at each carrier, step by step. */

import type { Carrier } from "../carriers.ts";

export interface CarrierGuide {
  /** Where the steps take place. */
  readonly site: string;
  /** Before the credentials can be entered. */
  readonly first: readonly string[];
  /** So that calls to a number reach an agent. The URL is shown below them. */
  readonly incoming: readonly string[];
}

export const GUIDES: Readonly<Record<Carrier, CarrierGuide>> = {
  telephony1: {
    site: "console.twilio.com",
    first: [
      "Buy a number with the capability Voice: Phone Numbers, Manage, Buy a number.",
      "To call other countries, enable them: Voice, Settings, Geo permissions.",
    ],
    incoming: [
      "Open Phone Numbers, Manage, Active numbers, and choose the number.",
      "Under Voice Configuration, set “A call comes in” to Webhook.",
      "Paste the URL, choose HTTP POST, and save.",
    ],
  },
  telephony2: {
    site: "portal.telnyx.com",
    first: [
      "Buy a number: Numbers, Buy Numbers.",
      "Create an outbound voice profile: Voice, Outbound Voice Profiles. It names the countries that you may call.",
      "Create a TeXML application: Voice, Programmable Voice, TeXML Applications. Choose the outbound voice profile in it.",
    ],
    incoming: [
      "Open the TeXML application.",
      "Paste the URL into the field for the webhook, choose POST, and save.",
      "Open Numbers, My Numbers, and assign the number to the application.",
    ],
  },
  telephony3: {
    site: "console.plivo.com",
    first: ["Buy a number with the capability Voice: Phone Numbers, Buy Numbers."],
    incoming: [
      "Open Voice, Applications, XML, and add an application.",
      "Paste the URL as Answer URL, choose POST, and save.",
      "Open Phone Numbers, choose the number, and assign the application to it.",
    ],
  },
};
