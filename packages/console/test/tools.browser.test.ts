/** Tools in the browser: created, tested against a real URL, changed, imported and deleted. */

import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HAS_CONSOLE, openConsole, type OpenConsole, settled } from "./open-console.ts";

describe.skipIf(!HAS_CONSOLE)("tools", () => {
  let open: OpenConsole;
  let shop: Server;
  let shopUrl = "";
  const requested: string[] = [];
  beforeAll(async () => {
    shop = createServer((request, response) => {
      requested.push(`${request.method ?? ""} ${request.url ?? ""}`);
      response.writeHead(418, { "content-type": "application/json" }).end('{"door":"stuck"}');
    });
    await new Promise<void>((resolve) => shop.listen(0, "127.0.0.1", resolve));
    const address = shop.address();
    if (typeof address === "object" && address !== null) shopUrl = `http://127.0.0.1:${String(address.port)}`;
    open = await openConsole({ account: "tools" });
  });
  afterAll(() => new Promise((resolve) => shop.close(resolve)));

  test("a tool is made, and what is wrong is said at its field", async () => {
    const { page } = open;
    await open.visit("/tools/new");
    await page.getByLabel("Name", { exact: true }).first().fill("openDoor");
    await page.getByLabel("Description", { exact: true }).first().fill("Opens the door of a room.");
    await page.getByLabel("URL").fill(`${shopUrl}/doors/{room}`);
    await page.getByRole("button", { name: "Create tool" }).click();
    // Shown before a request is sent.
    await page.getByText("Must have a PATH parameter for each placeholder; {room} has none.").waitFor();
    expect(await page.getByLabel("URL").getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("button", { name: "Add parameter" }).click();
    const row = page.getByRole("group", { name: "Parameters from the model" });
    await row.getByLabel("Name").fill("room");
    await row.getByLabel("Location").selectOption({ label: "Path" });
    await row.getByLabel("Description").fill("The number on the door.");
    await page.getByLabel("Timeout").fill("90s");
    await page.getByRole("button", { name: "Create tool" }).click();
    // An error of the service.
    await page.locator('[aria-invalid="true"]').waitFor();
    expect(await page.getByLabel("Timeout").getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel("Timeout").fill("4s");
    await open.screenshot("tool-form");
    await page.getByRole("button", { name: "Create tool" }).click();
    await page.getByRole("heading", { name: "openDoor" }).waitFor();
    const { results } = await open.api.fetch("GET", "/api/tools", { query: { ownership: "private" } });
    expect(results.map(({ name, definition }) => ({ name, definition }))).toEqual([
      {
        name: "openDoor",
        definition: {
          description: "Opens the door of a room.",
          http: { baseUrlPattern: `${shopUrl}/doors/{room}`, httpMethod: "GET" },
          dynamicParameters: [
            {
              name: "room",
              location: "PARAMETER_LOCATION_PATH",
              required: true,
              schema: { type: "string", description: "The number on the door." },
            },
          ],
          timeout: "4s",
        },
      },
    ]);
  });

  test("it is run once, and its own failure is shown as an answer", async () => {
    const { page } = open;
    await page.getByRole("tab", { name: "Test" }).click();
    await page.getByLabel("room").fill("12 b");
    await page.getByRole("button", { name: "Run test" }).click();
    await page.getByText("HTTP 418").waitFor();
    expect(await page.getByRole("region", { name: "Response body" }).textContent()).toContain("stuck");
    expect(requested).toEqual(["GET /doors/12%20b"]);
    await open.screenshot("tool-test");
    expect(await open.findings()).toEqual([]);
  });

  test("it is changed, and another kind drops what it does not have", async () => {
    const { page } = open;
    await page.getByRole("tab", { name: "Definition" }).click();
    await page.getByLabel("Tool type").selectOption({ label: "Client" });
    await page.getByRole("button", { name: "Save tool" }).click();
    await page.getByText("Calls in progress keep the previous definition").first().waitFor();
    const { results } = await open.api.fetch("GET", "/api/tools", { query: { ownership: "private" } });
    expect(results[0]?.definition.client).toEqual({});
    expect(results[0]?.definition.http).toBeUndefined();
    expect(results[0]?.definition.dynamicParameters).toEqual([
      { name: "room", required: true, schema: { type: "string", description: "The number on the door." } },
    ]);
  });

  test("text that is no JSON is not sent", async () => {
    const { page } = open;
    await open.visit("/tools/new");
    await page.getByLabel("Name", { exact: true }).first().fill("broken");
    await page.getByLabel("URL").fill(shopUrl);
    await page.getByLabel("Requirements").fill("{");
    await page.getByRole("button", { name: "Create tool" }).click();
    await page.getByText("Invalid JSON").waitFor();
    expect(new URL(page.url()).pathname).toBe("/tools/new");
    expect((await open.api.fetch("GET", "/api/tools", { query: { search: "broken" } })).total).toBe(0);
  });

  test("an OpenAPI document becomes tools", async () => {
    const { page } = open;
    await open.visit("/tools/import");
    await page.getByRole("button", { name: "Import tools" }).click();
    await page.getByText("Is required.").waitFor();
    await page.getByLabel("Or paste the document").fill(
      JSON.stringify({
        openapi: "3.0.0",
        info: { title: "Shop", version: "1" },
        servers: [{ url: shopUrl }],
        paths: {
          "/orders/{id}": {
            get: {
              operationId: "readOrder",
              summary: "Reads an order.",
              parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
              responses: { "200": { description: "It." } },
            },
          },
          "/orders": {
            get: { operationId: "listOrders", responses: { "200": { description: "They." } } },
          },
        },
      }),
    );
    await page.getByRole("button", { name: "Import tools" }).click();
    await page.getByRole("heading", { name: "2 tools created" }).waitFor();
    const { results } = await open.api.fetch("GET", "/api/tools", { query: { search: "order" } });
    expect(results.map(({ name }) => name).toSorted()).toEqual(["listOrders", "readOrder"]);
    await open.screenshot("tools-imported");
  });

  test("one is found by its name and deleted", async () => {
    const { page } = open;
    await open.visit("/tools");
    await page.getByRole("searchbox").fill("openDoor");
    await page.getByText("1 of 1").waitFor();
    await page.getByRole("button", { name: "Actions for openDoor" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete tool" }).click();
    await page.getByRole("heading", { name: "No matching tools" }).waitFor();
    await settled(page);
    expect(await open.findings()).toEqual([]);
  });
});
