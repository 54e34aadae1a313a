import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Agent, AgentWrite } from "../agents/agent.ts";
import { StartAgentCallRequest, StartCallRequest } from "../calls/call-requests.ts";
import { Call, CallStage } from "../calls/call.ts";
import { FreeObject } from "../values/fields.ts";
import {
  spellingsOf,
  toCamelCase,
  toNeutralName,
  toSnakeCase,
  toVendorName,
  toVendorNames,
  VENDOR_NAMES,
} from "./names.ts";
import { normalizeInput } from "../values/normalize.ts";
import { viewOf } from "../values/walk.ts";

/** Every object in a schema, as its field names. */
function objectsIn(schema: z.core.$ZodType, found: string[][] = []): string[][] {
  const { structure } = viewOf(schema);
  if (structure.kind === "list" || structure.kind === "map") objectsIn(structure.item, found);
  if (structure.kind === "object") {
    found.push([...structure.fields.keys()]);
    for (const field of structure.fields.values()) objectsIn(field, found);
  }
  return found;
}

const objects = [Agent, AgentWrite, StartCallRequest, StartAgentCallRequest, Call, CallStage].flatMap(
  (schema) => objectsIn(schema),
);

describe("names", () => {
  it.each(Object.entries(VENDOR_NAMES))("%s and %s stand for each other", (neutral, vendor) => {
    expect(toVendorName(neutral)).toBe(vendor);
    expect(toNeutralName(vendor)).toBe(neutral);
    expect(toNeutralName(toSnakeCase(vendor))).toBe(neutral);
    expect(toNeutralName(neutral)).toBe(neutral);
    expect(toVendorName(vendor)).toBe(vendor);
  });

  it("leaves every other name alone", () => {
    const names = new Set([
      ...Object.keys(VENDOR_NAMES),
      ...Object.values(VENDOR_NAMES).flatMap(spellingsOf),
    ]);
    fc.assert(
      fc.property(fc.string(), (name) => {
        fc.pre(!names.has(name));
        expect(toVendorName(name)).toBe(name);
        expect(toNeutralName(name)).toBe(name);
      }),
    );
    expect(toVendorName("constructor")).toBe("constructor");
  });

  it("go to snake_case and back for every field of the interface", () => {
    const fields = new Set(objects.flat());
    expect(fields.size).toBeGreaterThan(150);
    for (const field of fields) expect(toCamelCase(toSnakeCase(field))).toBe(field);
  });

  it("never give two fields of one object the same spelling", () => {
    for (const fields of objects) {
      const spellings = fields.flatMap((field) => [...new Set(spellingsOf(field))]);
      expect(new Set(spellings).size).toBe(spellings.length);
    }
  });
});

const neutralAgent = {
  name: "a",
  callTemplate: {
    medium: {
      telephony1: { outgoing: { to: "+1", from: "+2", additionalParams: { lmnt: 1, some_key: 2 } } },
    },
    externalVoice: { provider1: { voiceId: "v" } },
    contextSchema: { properties: { google: { type: "string" }, snake_name: {} } },
    selectedTools: [
      {
        temporaryTool: {
          modelToolName: "t",
          client: {},
          requirements: {
            httpSecurityOptions: { options: [{ serviceCallTokenRequirement: { scopes: [] } }] },
          },
          staticParameters: [{ name: "p", value: { twilio: 1, a_b: 2 } }],
        },
        parameterOverrides: { plivo: { telephony1: 1 } },
      },
    ],
  },
};

const vendorAgent = {
  name: "a",
  callTemplate: {
    medium: { twilio: { outgoing: { to: "+1", from: "+2", additionalParams: { lmnt: 1, some_key: 2 } } } },
    externalVoice: { elevenLabs: { voiceId: "v" } },
    contextSchema: { properties: { google: { type: "string" }, snake_name: {} } },
    selectedTools: [
      {
        temporaryTool: {
          modelToolName: "t",
          client: {},
          requirements: {
            httpSecurityOptions: { options: [{ ultravoxCallTokenRequirement: { scopes: [] } }] },
          },
          staticParameters: [{ name: "p", value: { twilio: 1, a_b: 2 } }],
        },
        parameterOverrides: { plivo: { telephony1: 1 } },
      },
    ],
  },
};

describe("documents", () => {
  it("get vendor names only where the schema has a field", () => {
    expect(toVendorNames(AgentWrite, neutralAgent)).toEqual(vendorAgent);
  });

  it("come back from vendor names", () => {
    expect(normalizeInput(AgentWrite, vendorAgent)).toEqual({ value: neutralAgent, errors: [] });
    expect(normalizeInput(AgentWrite, neutralAgent)).toEqual({ value: neutralAgent, errors: [] });
  });

  it("are read in snake_case, also where that meets vendor names", () => {
    const { value, errors } = normalizeInput(AgentWrite, {
      call_template: {
        external_voice: { eleven_labs: { voice_id: "v" } },
        vad_settings: { turn_endpoint_delay: "1s" },
        selected_tools: [{ tool_id: "x", parameter_overrides: { a_b: { c_d: 1 } } }],
        context_schema: { some_thing: 1 },
      },
    });
    expect(errors).toEqual([]);
    expect(value).toEqual({
      callTemplate: {
        externalVoice: { provider1: { voiceId: "v" } },
        vadSettings: { turnEndpointDelay: "1s" },
        selectedTools: [{ toolId: "x", parameterOverrides: { a_b: { c_d: 1 } } }],
        contextSchema: { some_thing: 1 },
      },
    });
  });

  it("round-trip through vendor names whatever the user's own values are", () => {
    const media = fc.constantFrom("telephony1", "telephony2", "telephony3");
    fc.assert(
      fc.property(media, fc.dictionary(fc.string(), fc.jsonValue()), (medium, own) => {
        const document = {
          initialState: own,
          metadata: { twilio: "x" },
          medium: { [medium]: { outgoing: { to: "1", from: "2", additionalParams: own } } },
        };
        const vendor = toVendorNames(StartCallRequest, document) as { medium: object; initialState: unknown };
        expect(Object.keys(vendor.medium)).toEqual([toVendorName(medium)]);
        expect(vendor.initialState).toEqual(own);
        expect(normalizeInput(StartCallRequest, vendor)).toEqual({ value: document, errors: [] });
      }),
    );
  });

  it.each([
    [{ call_template: {}, callTemplate: {} }, "callTemplate", "call_template", "callTemplate"],
    [
      { callTemplate: { medium: { twilio: {}, telephony1: {} } } },
      "callTemplate.medium.telephony1",
      "twilio",
      "telephony1",
    ],
    [
      { callTemplate: { externalVoice: { elevenLabs: {}, eleven_labs: {} } } },
      "callTemplate.externalVoice.provider1",
      "elevenLabs",
      "eleven_labs",
    ],
  ])("with two spellings of one field are refused: %j", (body, field, first, second) => {
    expect(normalizeInput(AgentWrite, body).errors).toEqual([
      { field, message: `must not be given twice, as ${first} and as ${second}` },
    ]);
  });

  it("do not inherit names", () => {
    const schema = z.strictObject({ own: FreeObject.optional() });
    const body = JSON.parse('{"__proto__":{"own":{}},"constructor":1}') as unknown;
    const { value, errors } = normalizeInput(schema, body);
    expect(value).toEqual({});
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(errors.map(({ field }) => field)).toEqual(["__proto__", "constructor"]);
  });
});
