/** The bounds on one-time codes and access codes. */
import type { AttemptLimit, AttemptSubject } from "./AttemptLimits.ts"

/** Wrong codes that one client address may show in ten minutes. */
export const wrongCodesOfClientMax = 50

/** Wrong access codes that one consumer may show in ten minutes. */
export const accessCodesOfConsumerMax = 10

/** Wrong access codes that one client address may show in ten minutes. */
export const accessCodesOfClientMax = 50

const tenMinutes = 600
const dayInSeconds = 86_400

const codesOfClient: AttemptLimit = {
  name: "code_by_client",
  attemptsMax: wrongCodesOfClientMax,
  windowSeconds: tenMinutes
}

/**
 * The subject under which a try of a one-time code counts. No try counts for the address of the consumer, or strangers
 * could lock its owner out: each code bounds its own tries, and `CodeRows` what they add up to in a day.
 */
export const codeAttempt = (client: string): ReadonlyArray<AttemptSubject> => [
  { limit: codesOfClient, subject: client }
]

/** The subjects under which a try of an access code counts. A server that acts for a consumer has no client address. */
export const accessCodeAttempt = (consumerId: string, client: string | undefined): ReadonlyArray<AttemptSubject> => [
  {
    limit: { name: "access_code_by_consumer", attemptsMax: accessCodesOfConsumerMax, windowSeconds: tenMinutes },
    subject: consumerId
  },
  ...(client === undefined
    ? []
    : [
        {
          limit: { name: "access_code_by_client", attemptsMax: accessCodesOfClientMax, windowSeconds: tenMinutes },
          subject: client
        }
      ])
]

/**
 * The subject under which a code by SMS counts: the organization's cap for a day, of which one client may use a fifth.
 */
export const smsAttempt = (codesPerDay: number, client: string): ReadonlyArray<AttemptSubject> => [
  {
    limit: { name: "sms_by_client", attemptsMax: Math.ceil(codesPerDay / 5), windowSeconds: dayInSeconds },
    subject: client
  },
  { limit: { name: "sms", attemptsMax: codesPerDay, windowSeconds: dayInSeconds }, subject: "" }
]
