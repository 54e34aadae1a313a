/** Webhook deliveries in the browser: samples, failures, health, redelivery, and secret rotation. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openReceiver, type Receiver, deliveryOf } from "../../server/src/jobs/testing/receiver.ts";
import { HAS_CONSOLE, openConsole, type OpenConsole } from "./open-console.ts";

/** Timeout for background work of the service and the next poll of the page. */
const ACT_LIMIT = { timeout: 60_000 };
/** Failed attempts in a row that make a webhook unhealthy. */
const UNHEALTHY_AFTER = 5;

describe.skipIf(!HAS_CONSOLE)("webhooks that deliver", () => {
  let open: OpenConsole;
  let receiver: Receiver;
  let status = 204;
  beforeAll(async () => {
    receiver = await openReceiver(() => status);
    open = await openConsole({ account: "webhooks that deliver" });
  });
  afterAll(async () => receiver.close());

  const deliveries = () => open.page.getByRole("table", { name: "Deliveries" });
  const badge = (text: string) => deliveries().getByText(text, { exact: true });
  const signaturesOfLast = () =>
    (receiver.received.at(-1)?.headers["x-service-webhook-signature"] ?? "").split(",").filter(Boolean)
      .length;
  const sendSample = async () => {
    await open.page.getByRole("button", { name: "Send test event" }).click();
    await open.page.getByText("Test event sent.").last().waitFor();
  };

  test("a new one shows its secret, and a sample arrives", async () => {
    const { page, api } = open;
    await open.visit("/webhooks/new");
    await page.getByLabel("URL").fill(`${receiver.url}calls`);
    await page.getByLabel("Call started").check();
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByRole("button", { name: "Show secret 1" }).click();
    const secret = (await api.fetch("GET", "/api/webhooks")).results[0]?.secrets[0] ?? "";
    await page.getByText(secret, { exact: true }).waitFor();
    await page.getByRole("button", { name: "Copy secret 1" }).click();
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(secret);
    await page.getByRole("tab", { name: "Deliveries" }).click();
    await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();
    await page.getByLabel("Test event").selectOption({ label: "Call started" });
    await sendSample();
    // The list updates without a reload.
    await badge("Delivered").waitFor(ACT_LIMIT);
    await deliveries()
      .getByText(/^1 attempt: HTTP 204/)
      .waitFor();
    expect(deliveryOf(receiver.received[0]?.body ?? "")).toMatchObject({ event: "call.started", test: true });
    expect(signaturesOfLast()).toBe(1);
  });

  test("failures are shown with their reasons, and five in a row make it unhealthy", async () => {
    const { page } = open;
    status = 500;
    for (let sent = 0; sent < UNHEALTHY_AFTER; sent += 1) await sendSample();
    await expect
      .poll(
        () =>
          deliveries()
            .getByText(/^1 attempt: HTTP 500/)
            .count(),
        ACT_LIMIT,
      )
      .toBe(UNHEALTHY_AFTER);
    await deliveries()
      .getByText(/^Next attempt: /)
      .first()
      .waitFor();
    await open.screenshot("webhook-failing");
    expect(await open.findings()).toEqual([]);
    await page.getByRole("tab", { name: "Health" }).click();
    await page.getByText("Unhealthy", { exact: true }).waitFor(ACT_LIMIT);
    const failures = page.getByRole("table", { name: "Recent failures" });
    expect(await failures.getByText("HTTP 500").count()).toBe(UNHEALTHY_AFTER);
    await open.screenshot("webhook-unhealthy");
    await open.visit("/webhooks");
    await page.getByRole("table", { name: "Webhooks" }).getByText("Unhealthy").waitFor();
    await page.getByRole("table", { name: "Webhooks" }).getByRole("link").click();
  });

  test("what failed is sent again and arrives, which makes it healthy", async () => {
    const { page } = open;
    status = 204;
    await page.getByRole("tab", { name: "Deliveries" }).click();
    await page.getByLabel("State", { exact: true }).selectOption({ label: "Pending" });
    await expect.poll(() => badge("Pending").count()).toBe(UNHEALTHY_AFTER);
    await deliveries()
      .getByRole("button", { name: /^Resend call\.started of/ })
      .first()
      .click();
    await expect.poll(() => badge("Pending").count(), ACT_LIMIT).toBe(UNHEALTHY_AFTER - 1);
    await page.getByLabel("State", { exact: true }).selectOption({ label: "Delivered" });
    await deliveries()
      .getByText(/^2 attempts. Last: HTTP 204/)
      .waitFor();
    await page.getByRole("tab", { name: "Health" }).click();
    await page.getByText("Healthy", { exact: true }).waitFor(ACT_LIMIT);
    expect(await page.getByRole("button", { name: "Mark as healthy" }).count()).toBe(0);
  });

  test("a receiver that says it is gone makes it unhealthy, and a person normal again", async () => {
    const { page } = open;
    status = 410;
    await page.getByRole("tab", { name: "Deliveries" }).click();
    await sendSample();
    await page.getByRole("tab", { name: "Health" }).click();
    await page.getByRole("button", { name: "Mark as healthy" }).click(ACT_LIMIT);
    await page.getByText("Healthy", { exact: true }).waitFor();
    expect(await page.getByRole("table", { name: "Recent failures" }).getByText("HTTP 410").count()).toBe(1);
    status = 204;
  });

  test("its secret is changed over without a gap, and it is deleted", async () => {
    const { page, api } = open;
    await page.getByRole("tab", { name: "Secrets" }).click();
    await page.getByRole("button", { name: "Add secret" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Add secret" }).click();
    await page.getByRole("button", { name: "Remove secret 2" }).waitFor();
    const arrivals = receiver.received.length;
    await page.getByRole("tab", { name: "Deliveries" }).click();
    await sendSample();
    await expect.poll(() => receiver.received.length, ACT_LIMIT).toBeGreaterThan(arrivals);
    expect(signaturesOfLast()).toBe(2);
    await page.getByRole("tab", { name: "Secrets" }).click();
    await page.getByRole("button", { name: "Remove secret 1" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove secret" }).click();
    await page.getByRole("button", { name: "Remove secret 1" }).waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Deliveries" }).click();
    const before = receiver.received.length;
    await sendSample();
    await expect.poll(() => receiver.received.length, ACT_LIMIT).toBeGreaterThan(before);
    expect(signaturesOfLast()).toBe(1);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete webhook" }).click();
    await page.getByRole("heading", { name: "No webhooks yet" }).waitFor();
    expect((await api.fetch("GET", "/api/webhooks")).total).toBe(0);
    expect(await open.complaints()).toEqual([]);
  });
});
