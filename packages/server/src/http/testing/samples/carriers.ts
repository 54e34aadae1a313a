import type { Samples } from "./samples.ts";

const config = { accountSid: "AC0123", authToken: "0123456789" };
const registration = { username: "1000", password: "secret-1000", proxy: "sip.carrier.example" };

export const carrierSamples: Samples = {
  async make(owner) {
    await owner.post("/api/telephony_configs/telephony1", config);
    const made = await owner.post("/api/sip/registrations", registration);
    return { carrier: "telephony1", registration_id: String(made.json["registrationId"]) };
  },
  bodies: { createTelephonyConfig: config, createSipRegistration: registration },
};
