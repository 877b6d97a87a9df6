/** The bounds on one-time codes and access codes (completions 2 and 3). */
import type { CodeAddress } from "./Addresses.ts"
import type { AttemptLimit, AttemptSubject } from "./AttemptLimits.ts"

/** Wrong codes that one client address may show in ten minutes. */
export const wrongCodesOfClientMax = 50

/** Wrong codes that may be shown for one address of a consumer in a day. */
export const wrongCodesOfAddressMax = 50

/** The wrong codes of one client that count for the others: a stranger cannot use up the owner's. */
const wrongCodesShareMax = 10

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

const codesOfAddress: AttemptLimit = {
  name: "code_by_address",
  attemptsMax: wrongCodesOfAddressMax,
  windowSeconds: dayInSeconds,
  clientShareMax: wrongCodesShareMax
}

/** The subjects under which a try of a one-time code counts. */
export const codeAttempt = ({ channel, value }: CodeAddress, client: string): ReadonlyArray<AttemptSubject> => [
  { limit: codesOfClient, subject: client },
  { limit: codesOfAddress, subject: `${channel}:${value}`, client }
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
