import { expect, test } from "vitest";
import { countMore, filtersOf, isFiltered, metadataOf, queryOf, withFilters } from "./call-filters.ts";

const address = (text: string) => new URLSearchParams(text);

test("an address without filters asks for the newest calls", () => {
  const filters = filtersOf(address("view=deleted"));
  expect(isFiltered(filters)).toBe(false);
  expect(queryOf(filters)).toEqual({ sort: "-created" });
});

test("filters go into the address and come back, and other parameters stay", () => {
  const next = withFilters(address("view=calls&from=2026-01-01"), {
    from: "",
    agentIds: ["a", "b"],
    search: "table",
    sort: "endReason",
  });
  expect(next.toString()).toBe("view=calls&search=table&agent=a&agent=b&sort=endReason");
  expect(filtersOf(next)).toMatchObject({
    agentIds: ["a", "b"],
    search: "table",
    sort: "endReason",
    from: "",
  });
});

test("an unknown order is the default one", () => {
  expect(filtersOf(address("sort=mood")).sort).toBe("-created");
});

test("days are the reader's own, lengths are seconds, times of day include their last second", () => {
  const query = queryOf(
    filtersOf(address("from=2026-05-01&to=2026-05-02&shortest=1,5&longest=60&dayStart=09:00&dayEnd=17:30")),
  );
  expect(query).toEqual({
    fromDate: new Date("2026-05-01T00:00:00").toISOString(),
    toDate: new Date("2026-05-02T23:59:59.999").toISOString(),
    durationMin: "1.5s",
    durationMax: "60s",
    timeOfDayStart: "09:00:00",
    timeOfDayEnd: "17:30:59",
    sort: "-created",
  });
});

test("metadata is one pair a line", () => {
  expect(metadataOf(" \n")).toBeNull();
  expect(metadataOf("room=12\nguest = Ada=B\nflag")).toEqual({ room: "12", guest: "Ada=B", flag: "" });
  expect(countMore(filtersOf(address("metadata=room%3D12&voiceId=x")))).toBe(2);
});

test("status, end, errors and words that were said are in the address, and words allow two orders only", () => {
  const next = withFilters(address("sort=-ended"), {
    status: "ended",
    end: "system_error",
    withErrors: true,
    said: "refund please",
  });
  expect(next.toString()).toBe("said=refund+please&status=ended&end=system_error&errors=true&sort=-ended");
  expect(isFiltered(filtersOf(address("errors=true")))).toBe(true);
  expect(queryOf(filtersOf(next))).toEqual({
    transcriptSearch: "refund please",
    status: "ended",
    endReason: "system_error",
    hasErrors: true,
    sort: "-created",
  });
  expect(filtersOf(address("said=refund&sort=created")).sort).toBe("created");
  expect(filtersOf(address("status=gone&end=nothing&errors=1"))).toMatchObject({
    status: "",
    end: "",
    withErrors: false,
  });
});
