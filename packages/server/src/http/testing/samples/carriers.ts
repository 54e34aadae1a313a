import type { Samples } from "./samples.ts";

const config = { accountSid: "AC0123", authToken: "0123456789" };
const registration = { username: "1000", password: "secret-1000", proxy: "sip.carrier.example" };

export const carrierSamples: Samples = {
  async make(owner, ids) {
    await owner.post("/api/telephony_configs/telephony1", config);
    await owner.post("/api/phone_numbers", { number: ids["number"], agentId: ids["agent_id"] });
    const made = await owner.post("/api/sip/registrations", registration);
    return {
      carrier: "telephony1",
      account_id: owner.accountId,
      registration_id: String(made.json["registrationId"]),
    };
  },
  bodies: {
    createTelephonyConfig: config,
    createSipRegistration: registration,
    assignPhoneNumber: { number: "+4930123456", agentId: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11" },
  },
};
