/**
 * The settings of the gate for bots: when a caller must solve a challenge, and who makes and checks it. An organization
 * sets them for all its experiences, and an experience for its own entries.
 */
import { Schema } from "effect"
import type { Mode } from "../values/Ids.ts"
import { text } from "../values/Text.ts"

/** `off`: never. `adaptive`: from a crowded address, or while many arrive. `always`: every time. */
export const ChallengeMode = Schema.Literals(["off", "adaptive", "always"])
export type ChallengeMode = typeof ChallengeMode.Type

/** Proof of work stays within the installation. The other two are services that check a token. */
export const ChallengeProvider = Schema.Literals(["proof_of_work", "turnstile", "hcaptcha"])
export type ChallengeProvider = typeof ChallengeProvider.Type

/** What clients get while a provider is out of reach: a proof of work, or the provider's challenge until it is back. */
export const ChallengeFallback = Schema.Literals(["proof_of_work", "none"])
export type ChallengeFallback = typeof ChallengeFallback.Type

/** The setting of an organization. Absent keys mean the defaults. The secret key is never shown. */
export const OrganizationChallenge = Schema.Struct({
  mode: Schema.optionalKey(ChallengeMode),
  provider: Schema.optionalKey(ChallengeProvider),
  /** The public key of the organization's account at the provider. */
  siteKey: Schema.optionalKey(text({ minLength: 1, maxLength: 200 })),
  secretKey: Schema.optionalKey(text({ minLength: 1, maxLength: 500 })),
  fallback: Schema.optionalKey(ChallengeFallback)
}).annotate({ identifier: "OrganizationChallenge" })
export type OrganizationChallenge = typeof OrganizationChallenge.Type

/** The setting of an organization as it is shown. */
export const ShownChallenge = Schema.Struct({
  mode: Schema.NullOr(ChallengeMode),
  provider: Schema.NullOr(ChallengeProvider),
  siteKey: Schema.NullOr(Schema.String),
  hasSecretKey: Schema.Boolean,
  fallback: Schema.optionalKey(ChallengeFallback)
}).annotate({ identifier: "ShownChallenge" })

/** The setting of an experience. It overrides the organization's for entries into the experience's mechanisms. */
export const ExperienceChallenge = Schema.Struct({
  mode: Schema.optionalKey(ChallengeMode),
  provider: Schema.optionalKey(ChallengeProvider)
}).annotate({
  identifier: "ExperienceChallenge",
  description:
    "The gate for bots before entries into the experience's mechanisms. Absent fields follow the organization. Proof " +
    "of work replaces a provider whose keys the organization has not set."
})
export type ExperienceChallenge = typeof ExperienceChallenge.Type

/** The keys of an account at a provider. */
export interface ProviderKeys {
  readonly siteKey: string
  readonly secretKey: string
}

/** The rules for one caller. */
export type ChallengePolicy =
  | { readonly mode: ChallengeMode; readonly provider: "proof_of_work" }
  | {
      readonly mode: ChallengeMode
      readonly provider: "turnstile" | "hcaptcha"
      readonly keys: ProviderKeys
      /** Absent means proof of work. */
      readonly fallback?: ChallengeFallback
    }

/** True if a proof of work serves: always, or while the provider is out of reach. */
export const takesProofs = (policy: ChallengePolicy): boolean =>
  policy.provider === "proof_of_work" || policy.fallback !== "none"

/**
 * Returns the rules that hold, from the organization's setting and an experience's. The default mode is `adaptive` for
 * live keys and `off` for test keys. Proof of work takes the place of a provider that has no keys.
 */
export const policyOf = (
  mode: Mode,
  organization: OrganizationChallenge = {},
  experience: ExperienceChallenge = {}
): ChallengePolicy => {
  const asked = experience.mode ?? organization.mode ?? (mode === "live" ? "adaptive" : "off")
  const own = organization.provider ?? "proof_of_work"
  const provider = experience.provider ?? own
  const { siteKey, secretKey, fallback } = organization
  // The keys belong to the organization's own provider.
  if (provider === "proof_of_work" || provider !== own || siteKey === undefined || secretKey === undefined)
    return { mode: asked, provider: "proof_of_work" }
  return { mode: asked, provider, keys: { siteKey, secretKey }, ...(fallback !== undefined && { fallback }) }
}

/**
 * Returns an organization's setting after a change. A change that keeps the provider and names no secret key keeps the
 * secret key.
 */
export const changedChallenge = (
  before: OrganizationChallenge | undefined,
  change: OrganizationChallenge
): OrganizationChallenge =>
  before?.secretKey !== undefined && change.secretKey === undefined && before.provider === change.provider
    ? { ...change, secretKey: before.secretKey }
    : change

/** Returns the keys that a provider needs and the setting lacks. */
export const missingKeys = ({
  provider = "proof_of_work",
  siteKey,
  secretKey
}: OrganizationChallenge): ReadonlyArray<keyof ProviderKeys> =>
  provider === "proof_of_work"
    ? []
    : [
        ...(siteKey === undefined ? (["siteKey"] as const) : []),
        ...(secretKey === undefined ? (["secretKey"] as const) : [])
      ]

/** Returns the setting without its secret key. */
export const shownChallenge = (
  { mode, provider, siteKey, fallback }: OrganizationChallenge,
  hasSecretKey: boolean
): typeof ShownChallenge.Type => ({
  mode: mode ?? null,
  provider: provider ?? null,
  siteKey: siteKey ?? null,
  hasSecretKey,
  ...(fallback !== undefined && { fallback })
})
