import { afterEach, describe, expect, it } from "vitest";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { PRIVATE_KEY, serviceAccount } from "./testing/fake-google.ts";
import { closeOpened, openGoogle as open } from "./testing/open-google.ts";

afterEach(closeOpened);

describe("the service account", () => {
  it.each([
    ["no document", "sk_123456789", "is not a JSON document"],
    ["another document", "{}", "is not the document of a service account"],
    [
      "another token server",
      serviceAccount({ token_uri: "https://evil.example/token" }),
      "token_uri other than",
    ],
    [
      "a plain token server",
      serviceAccount({ token_uri: "http://oauth2.googleapis.com/token" }),
      "token_uri",
    ],
    [
      "a broken key",
      serviceAccount({ private_key: "-----BEGIN PRIVATE KEY-----\nAAAA\n" }),
      "cannot be read",
    ],
  ])("is refused: %s", async (_name, key, message) => {
    const { fake, provider, speech } = await open();
    const { error } = await collect(provider.synthesize(speech({ key }), neverAborted()));
    expect(error?.message).toContain(message);
    expect(error).toMatchObject({ name: "EngineFailure", isPermanent: true });
    expect(fake.tokenRequests).toBe(0);
  });

  it("may be one that Google does not know", async () => {
    const { provider, speech } = await open();
    const key = serviceAccount({ client_email: "nobody@example.com" });
    const { error } = await collect(provider.synthesize(speech({ key }), neverAborted()));
    expect(error).toMatchObject({ isPermanent: true, type: "400" });
    expect(error?.message).toContain("Invalid issuer");
  });

  it.each([429, 500, 503])("is not refused by HTTP %i", async (code) => {
    const { provider, speech } = await open({
      tokenFault: (_request, response) => void response.writeHead(code).end("<p>oops"),
    });
    const { error } = await collect(provider.synthesize(speech(), neverAborted()));
    expect(error).toMatchObject({ isPermanent: false, type: String(code) });
  });

  it("does not come back in a message", async () => {
    const { provider, speech } = await open({
      tokenFault: ({ body }, response) => {
        const assertion = new URLSearchParams(body).get("assertion");
        response
          .writeHead(400)
          .end(JSON.stringify({ error: "x", error_description: `${assertion} ${PRIVATE_KEY}` }));
      },
    });
    const { error } = await collect(provider.synthesize(speech(), neverAborted()));
    expect(error?.message).toBe("Google refused the service account key with HTTP 400: [key] [key]");
  });

  it("is not sent on by a redirect, and a silent token server ends the sentence", async () => {
    const redirecting = await open({
      tokenFault: (_request, response) => void response.writeHead(307, { location: "/elsewhere" }).end(),
    });
    const redirected = await collect(redirecting.provider.synthesize(redirecting.speech(), neverAborted()));
    expect(redirected.error?.message).toContain("cannot be reached");
    expect(redirecting.fake.tokenRequests).toBe(1);
    const silent = await open({ tokenFault: () => undefined }, { tokenTimeoutMs: 100 });
    const { error } = await collect(silent.provider.synthesize(silent.speech(), neverAborted()));
    expect(error).toMatchObject({ type: "timeout", isPermanent: false });
  });

  it("lets a sentence be aborted while its token is on the way, without harm to others", async () => {
    const answer = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { provider, speech } = await open({
      async tokenFault(_request, response) {
        asked.resolve();
        await answer.promise;
        response.writeHead(200).end(JSON.stringify({ access_token: "unknown", expires_in: 3_599 }));
      },
    });
    const abort = new AbortController();
    const aborted = collect(provider.synthesize(speech(), abort.signal));
    const other = collect(provider.synthesize(speech(), neverAborted()));
    await asked.promise;
    abort.abort();
    expect((await aborted).error?.name).toBe("AbortError");
    answer.resolve();
    expect((await other).error).toMatchObject({ type: "UNAUTHENTICATED" });
  });
});
