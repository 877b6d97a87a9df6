/**
 * Secure randomness whose UUIDs begin with the server's time, also for a caller in the time of a test clock. A generator
 * never goes back, so one id of a test clock in the future would give its time to all later ids of the process.
 */
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { inServerTime } from "./Time.ts"

const inTimeOfServer = (random: SecureRandom.SecureRandom["Service"]): SecureRandom.SecureRandom["Service"] => ({
  ...random,
  uuidV7: ((options?: { readonly format?: "string" }) =>
    inServerTime(random.uuidV7(options))) as SecureRandom.UuidGenerator
})

/** Provides it in place of the given one. */
export const layer = Layer.effect(SecureRandom.SecureRandom)(Effect.map(SecureRandom.SecureRandom, inTimeOfServer))
