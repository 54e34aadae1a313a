import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PageQuery } from "../../store/database/page.ts";
import { cursorSigner } from "./cursor.ts";
import { type ListRequest, pageAnswer, pageOfList } from "./paging.ts";

const cursors = cursorSigner(new Uint8Array(32).fill(1));

function request(rawQuery: string, query: ListRequest["query"]): ListRequest {
  return {
    accountId: "a",
    path: "/api/models",
    rawQuery,
    query,
    publicUrl: "https://v.example/base",
    cursors,
    headers: new Map(),
  };
}

function ask(rows: readonly string[], rawQuery: string) {
  const parameters = new URLSearchParams(rawQuery);
  const query = Object.fromEntries(parameters) as Record<string, string>;
  const { pageSize, ...rest } = query;
  const typed = pageSize === undefined ? rest : { ...rest, pageSize: Number(pageSize) };
  return pageAnswer(
    request(rawQuery, typed),
    async (page: PageQuery) => pageOfList(rows, (row) => row, page),
    (row) => ({ name: row }),
  );
}

function names(page: { readonly results: readonly unknown[] }): string[] {
  return page.results.map((result) => (result as { name: string }).name);
}

describe("pageAnswer", () => {
  it("walks a list forwards and back by its links, whatever the page size", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (rows, size) => {
          const seen: string[][] = [];
          let page = await ask(rows, `pageSize=${size}`);
          seen.push(names(page));
          while (page.next !== null) {
            page = await ask(rows, new URL(page.next).search.slice(1));
            seen.push(names(page));
          }
          expect(seen.flat()).toEqual(rows);
          const back: string[][] = [names(page)];
          while (page.previous !== null) {
            page = await ask(rows, new URL(page.previous).search.slice(1));
            back.unshift(names(page));
          }
          expect(back).toEqual(seen);
          expect(page.total).toBe(rows.length);
        },
      ),
    );
  });

  it("builds links from the public URL and keeps every other parameter as it was", async () => {
    const page = await ask(["a", "b", "c"], "pageSize=1&x=1&x=2&search=%C3%A4+b");
    const link = new URL(page.next ?? "");
    expect(link.origin + link.pathname).toBe("https://v.example/base/api/models");
    expect(link.searchParams.getAll("x")).toEqual(["1", "2"]);
    expect(link.searchParams.get("search")).toBe("ä b");
    expect(link.searchParams.get("pageSize")).toBe("1");
    expect(page.previous).toBeNull();
  });

  it("says in the body and in a header when the total is a lower bound", async () => {
    const count = async (totalIsExact: boolean) => {
      const list = request("", {});
      const none = { rows: [], next: null, previous: null };
      const page = await pageAnswer(
        list,
        async () => ({ ...none, total: 10_000, totalIsExact }),
        (row) => row,
      );
      const { total, totalRelation } = page;
      return [total, totalRelation, list.headers.get("total-relation")];
    };
    expect(await count(false)).toEqual([10_000, "at-least", "at-least"]);
    expect(await count(true)).toEqual([10_000, undefined, undefined]);
  });

  it("has null links around the only page", async () => {
    expect(await ask(["a"], "")).toMatchObject({ next: null, previous: null, total: 1 });
    expect(await ask([], "")).toEqual({ results: [], next: null, previous: null, total: 0 });
  });
});
