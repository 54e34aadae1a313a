/** Voices in the browser: played, found, stored, and the keys of voice providers. */

import { beforeAll, describe, expect, test } from "vitest";
import { KEY as CARTESIA_KEY } from "../../server/src/providers/tts-cartesia/testing/fake-cartesia.ts";
import { KEY as ELEVENLABS_KEY } from "../../server/src/providers/tts-elevenlabs/testing/fake-elevenlabs.ts";
import { INWORLD_KEY } from "../../server/src/providers/tts-inworld/testing/fake-inworld.ts";
import { LMNT_KEY } from "../../server/src/providers/tts-lmnt/testing/fake-lmnt.ts";
import { RESPEECHER_KEY } from "../../server/src/providers/tts-respeecher/testing/fake-respeecher.ts";
import { HAS_CONSOLE, openConsole, type OpenConsole, settled } from "./open-console.ts";

describe.skipIf(!HAS_CONSOLE)("voices", () => {
  let open: OpenConsole;
  beforeAll(async () => {
    open = await openConsole({ account: "voices" });
  });

  test("a voice is heard", async () => {
    const { page, api } = open;
    const { results } = await api.fetch("GET", "/api/voices", { query: { pageSize: 1 } });
    const name = results[0]?.name ?? "";
    await open.visit("/voices");
    const answered = page.waitForResponse((response) => response.url().endsWith("/preview"));
    await page.getByRole("button", { name: `Play ${name}`, exact: true }).click();
    const answer = await answered;
    expect(answer.headers()["content-type"]).toContain("audio/wav");
    // During playback the button stops it; after the end the button plays it again.
    await page.getByRole("button", { name: `Play ${name}`, exact: true }).waitFor();
    expect(await open.complaints()).toEqual([]);
  });

  test("filters narrow the list to nothing, and back", async () => {
    const { page } = open;
    await page.getByLabel("Owner").selectOption({ label: "Yours" });
    await page.getByRole("heading", { name: "No matching voices" }).waitFor();
    await page.getByLabel("Owner").selectOption({ label: "Public" });
    await page.getByRole("table", { name: "Voices" }).waitFor();
    await page.getByLabel("Language, such as en or de-CH").fill("zz-ZZ");
    await page.getByRole("heading", { name: "No matching voices" }).waitFor();
    await settled(page);
    expect(await open.complaints()).toEqual([]);
  });

  test("an own voice is stored and changed, and faults are said at their fields", async () => {
    const { page, api } = open;
    await open.visit("/voices/new");
    await page.getByLabel("Name", { exact: true }).first().fill("Ada");
    await page.getByLabel("Provider").selectOption({ label: "ElevenLabs" });
    await page.getByLabel("Voice ID").fill("21m00Tcm4TlvDq8ikWAM");
    await page.getByLabel("Speed").fill("3");
    await page.getByLabel("Stability").fill("much");
    await page.getByRole("button", { name: "Store voice" }).click();
    await page.getByText("Must be from 0.7 to 1.2.").waitFor();
    expect(await page.getByLabel("Stability").getAttribute("aria-invalid")).toBe("true");
    await open.screenshot("voice-form");
    expect(await open.findings()).toEqual([]);
    await page.getByLabel("Speed").fill("1.1");
    await page.getByLabel("Stability").fill("0,5");
    await page.getByRole("button", { name: "Store voice" }).click();
    await page.getByRole("heading", { name: "Ada" }).waitFor();
    await page.getByLabel("Language").fill("en-GB");
    await page.getByRole("button", { name: "Save voice" }).click();
    await page.getByText("Saved.").first().waitFor();
    const { results } = await api.fetch("GET", "/api/voices", { query: { ownership: "private" } });
    expect(
      results.map(({ name, primaryLanguage, definition }) => [name, primaryLanguage, definition]),
    ).toEqual([
      ["Ada", "en-GB", { provider1: { voiceId: "21m00Tcm4TlvDq8ikWAM", speed: 1.1, stability: 0.5 } }],
    ]);
    await page.getByRole("button", { name: "Preview" }).click();
    // The account has no key for ElevenLabs, and the page says so.
    await page.getByRole("alert").waitFor();
  });

  test("the voices of vendors are heard before they are stored, and a refusal has the vendor's words", async () => {
    const { page, api } = open;
    const vendors = [
      ["ElevenLabs", "provider1", ELEVENLABS_KEY, "voice-1"],
      ["Cartesia", "provider2", CARTESIA_KEY, "voice-1"],
      ["LMNT", "provider3", LMNT_KEY, "leah"],
      ["Inworld", "provider5", INWORLD_KEY, "Ashley"],
      ["Respeecher", "provider6", RESPEECHER_KEY, "samantha"],
    ] as const;
    await api.fetch("PATCH", "/api/accounts/me/tts_api_keys", {
      body: Object.fromEntries(vendors.map(([, kind, key]) => [kind, key])),
    });
    await open.visit("/voices/new");
    for (const [vendor, , , voiceId] of vendors) {
      await page.getByLabel("Provider").selectOption({ label: vendor });
      await page.getByLabel("Voice ID").fill(voiceId);
      const answered = page.waitForResponse((response) => response.url().endsWith("/api/voice_preview"));
      await page.getByRole("button", { name: "Preview" }).click();
      const answer = await answered;
      expect([vendor, answer.status(), answer.headers()["content-type"]]).toEqual([vendor, 200, "audio/wav"]);
      await page.getByRole("button", { name: "Preview" }).waitFor();
    }
    await page.getByLabel("Provider").selectOption({ label: "ElevenLabs" });
    await page.getByLabel("Voice ID").fill("voice-9");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText(/A voice with this id was not found/).waitFor();
    await open.screenshot("voice-refused");
    const none = Object.fromEntries(vendors.map(([, kind]) => [kind, null]));
    await api.fetch("PATCH", "/api/accounts/me/tts_api_keys", { body: none });
  });

  test("a key of a provider is set, shown by its beginning, and removed", async () => {
    const { page, api } = open;
    await open.visit("/voices?view=keys");
    const form = page.getByRole("form", { name: "Cartesia API key" });
    await form.getByLabel("Key").fill("with a space");
    await form.getByRole("button", { name: "Set key" }).click();
    await form.getByText("Must be printable ASCII without spaces.").waitFor();
    await form.getByLabel("Key").fill("sk_0123456789abcdef0123456789");
    await form.getByRole("button", { name: "Set key" }).click();
    await page.getByText(/Starts with sk_/).waitFor();
    await open.screenshot("voice-keys");
    expect(await page.content()).not.toContain("sk_0123456789abcdef");
    await page.getByRole("button", { name: "Remove the API key of Cartesia" }).click();
    await page.getByRole("button", { name: "Remove key" }).click();
    await page.getByText(/Starts with sk_/).waitFor({ state: "detached" });
    expect((await api.fetch("GET", "/api/accounts/me/tts_api_keys")).provider2).toBeNull();
  });
});
