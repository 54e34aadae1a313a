/** Running batches in the browser: calls are created, notified, fail and expire while the page is open. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openReceiver, type Receiver, deliveryOf } from "../../server/src/jobs/testing/receiver.ts";
import { HAS_CONSOLE, openConsole, type OpenConsole } from "./open-console.ts";

const PATH = "/api/agents/{agent_id}/scheduled_batches";
/** Timeout for background work: claims, delays and expiry sweeps of the service, and the next poll of the page. */
const ACT_LIMIT = { timeout: 60_000 };

describe.skipIf(!HAS_CONSOLE)("batches that act", () => {
  let open: OpenConsole;
  let receiver: Receiver;
  let agentId = "";
  beforeAll(async () => {
    receiver = await openReceiver(({ body }) => (body.includes("Mallory") ? 500 : 204));
    open = await openConsole({ account: "batches that act" });
    ({ agentId } = await open.api.fetch("POST", "/api/agents", {
      body: {
        name: "Reminder",
        callTemplate: {
          systemPrompt: "Remind {{guest}}.",
          medium: { serverWebSocket: { inputSampleRate: 16_000 } },
        },
      },
    }));
    await open.api.fetch("POST", "/api/call_throttles", {
      body: { name: "one by one", rules: [{ maxCalls: 1, windowSeconds: 1 }] },
    });
    await open.api.fetch("POST", "/api/do_not_call", { body: { number: "+49307" } });
    // Calls over Twilio fail: nobody listens where the service looks for it.
    await open.api.fetch("POST", "/api/telephony_configs/{carrier}", {
      params: { carrier: "telephony1" },
      body: { accountSid: "AC0123456789", authToken: "0123456789abcdef" },
    });
  });
  afterAll(async () => receiver.close());

  const calls = () => open.page.getByRole("table", { name: "Scheduled calls" });
  /** The row with this text. */
  const rowOf = (text: string) => calls().getByRole("row").filter({ hasText: text });
  const count = async (label: string) =>
    Number(
      await open.page.locator("dl > div").filter({ hasText: label }).getByRole("definition").textContent(),
    );
  const batchOf = (url: string) => ({
    agent_id: agentId,
    batch_id: new URL(url).pathname.split("/").at(-1) ?? "",
  });

  const fill = async (csv: string) => {
    const { page } = open;
    await open.visit(`/batches/new?agent=${agentId}`);
    await page
      .getByLabel("File")
      .setInputFiles({ name: "guests.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  };
  const create = async () => {
    await open.page.getByRole("button", { name: "Create batch" }).click();
    await open.page.getByRole("heading", { level: 1, name: /^Reminder, / }).waitFor();
  };

  test("bad rows are named by their places in the file, blank lines and lines in cells counted as spreadsheets do", async () => {
    const { page } = open;
    await fill(
      'guest,metadata.room\n\nAnn,1\nBob,2\n"Carl\nthe Great",3\nDora,4\nEve,5,6\nMallory,7\nOtto,8\n\n\n',
    );
    await page.getByText("6 valid").waitFor();
    const bad = page.getByRole("table", { name: "Calls with errors" });
    expect(await bad.getByRole("row").nth(1).textContent()).toMatch(/^Row 7.*3 cells.*2 columns.*Eve/s);
    await page.getByLabel("Skip calls with errors").check();
    await page.getByLabel("URL").fill(`${receiver.url}calls`);
    await page.getByRole("combobox", { name: "Throttle" }).fill("one");
    await page.getByRole("option", { name: /one by one/ }).click();
    await create();
  });

  test("its calls appear as they are created, and it is paused and resumed", async () => {
    const { page } = open;
    await rowOf("Ann").getByText("Created").waitFor(ACT_LIMIT);
    await page.getByText("one by one").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    const { windowStart: _, ...paused } = await open.api.fetch("GET", `${PATH}/{batch_id}`, {
      params: batchOf(page.url()),
    });
    expect(paused).toMatchObject({ paused: true, pauseReason: null });
    expect(paused.completedCount).toBeLessThan(6);
    expect(await page.getByText("Paused automatically").count()).toBe(0);
    await open.screenshot("batch-paused");
    await page.getByRole("button", { name: "Resume" }).click();
    await rowOf("Mallory").getByText("webhook: HTTP 500").waitFor(ACT_LIMIT);
    // The batch and its calls are read by separate requests.
    const completed = page.getByRole("progressbar", { name: "Completed calls" });
    await expect.poll(() => completed.getAttribute("value"), { timeout: ACT_LIMIT.timeout }).toBe("5");
    expect(deliveryOf(receiver.received[0]?.body ?? "").call["metadata"]).toEqual({ room: "1" });
  });

  test("what its window leaves expires, and the page says so by itself", async () => {
    const { page, api } = open;
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    // The form has whole minutes.
    const windowEnd = new Date(Date.now() + 1_500).toISOString();
    await api.fetch("PATCH", `${PATH}/{batch_id}`, { params: batchOf(page.url()), body: { windowEnd } });
    await rowOf("Otto").getByText("The end time passed before the call was created.").waitFor(ACT_LIMIT);
    await page.getByText("6 of 6 (100%)").waitFor();
    await expect.poll(() => count("Expired")).toBe(1);
    expect(await Promise.all(["Waiting", "Created", "Failed"].map(count))).toEqual([0, 4, 1]);
    expect(await page.getByRole("button", { name: /Pause|Resume/ }).count()).toBe(0);
    await open.screenshot("batch-ended");
    expect(await open.findings()).toEqual([]);
  });

  test("its calls are chosen by state and opened, and it is deleted", async () => {
    const { page, api } = open;
    await page.getByLabel("State", { exact: true }).selectOption({ label: "Failed" });
    await rowOf("Ann").waitFor({ state: "detached" });
    // The call was created, and ended when its notification failed.
    await rowOf("Mallory").getByRole("link").click();
    await page.getByText("Nobody joined").first().waitFor();
    await page.goBack();
    await rowOf("Mallory").waitFor();
    await page.getByRole("tab", { name: "Created calls" }).click();
    await expect
      .poll(() => page.getByRole("table", { name: "Created calls" }).getByRole("row").count())
      .toBe(6);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete batch" }).click();
    await page.getByRole("heading", { name: "No batches yet" }).waitFor();
    expect((await api.fetch("GET", PATH, { params: { agent_id: agentId } })).total).toBe(0);
  });

  test("a batch whose calls keep failing is paused, and says why", async () => {
    const { page } = open;
    const numbers = Array.from({ length: 40 }, (_, index) => `+49 30 ${String(100 + index)},Guest`);
    await fill(`phone,guest\n+49 30 7,Ann\n${numbers.join("\n")}\n`);
    await page.getByLabel("Medium", { exact: true }).selectOption({ label: "Phone by Twilio" });
    await page.getByLabel("Caller number").fill("+4930999");
    await page.getByText("41 valid").waitFor();
    await create();
    await page
      .getByText(/Paused automatically: \d+ of \d+ outcomes within 2 minutes were failures/)
      .waitFor(ACT_LIMIT);
    await rowOf("+49 30 7").getByText("the number is on the do-not-call list").waitFor();
    await rowOf("+49 30 100")
      .getByText(/Twilio cannot be reached/)
      .waitFor();
    await open.screenshot("batch-breaker");
    expect(await open.findings()).toEqual([]);
    const before = (await open.api.fetch("GET", `${PATH}/{batch_id}`, { params: batchOf(page.url()) }))
      .completedCount;
    expect(before).toBeLessThan(41);
    await page.getByRole("button", { name: "Resume" }).click();
    // Outcomes are counted again from 0, and the batch is paused again.
    await expect
      .poll(
        async () =>
          (await open.api.fetch("GET", `${PATH}/{batch_id}`, { params: batchOf(page.url()) })).completedCount,
        ACT_LIMIT,
      )
      .toBeGreaterThan(before);
    await page.getByText(/Paused automatically/).waitFor(ACT_LIMIT);
  });

  test("numbers are dialled again as their batch says, and hours and a window hold it back", async () => {
    const { page } = open;
    await fill("phone,guest\n+49 30 1,Ann\n");
    await page.getByLabel("Medium", { exact: true }).selectOption({ label: "Phone by Twilio" });
    await page.getByLabel("Caller number").fill("+4930999");
    await page.getByText("1 valid").waitFor();
    await page.getByRole("switch", { name: "Retry failed calls" }).check();
    await page.getByLabel("Maximum attempts").fill("2");
    await page.getByLabel("Retry delay").fill("3s");
    await page.getByRole("checkbox", { name: "Failed", exact: true }).check();
    await create();
    await page.getByText("up to 2 attempts, 3s apart, after: busy, no answer, failed").waitFor();
    // The first attempt leaves it waiting; the second is the last.
    await rowOf("+49 30 1")
      .getByText(/Twilio cannot be reached/)
      .waitFor(ACT_LIMIT);
    await page.getByText("1 of 1 (100%)").waitFor();
    await fill("guest\nAnn\n");
    await page.getByText("1 valid").waitFor();
    await page.getByLabel("URL").fill(`${receiver.url}later`);
    await page.getByLabel("Starts").fill("2031-01-02T09:00");
    await page.getByRole("switch", { name: "Limit calling hours" }).check();
    await create();
    await page.getByText("Scheduled", { exact: true }).waitFor();
    await page.getByText(/Mon, Tue, Wed, Thu, Fri, 09:00 to 18:00, /).waitFor();
    await rowOf("Ann").getByText("Waiting").waitFor();
    expect(receiver.received.filter(({ path }) => path === "/later")).toEqual([]);
    expect(await open.complaints()).toEqual([]);
  });
});
