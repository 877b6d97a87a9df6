/**
 * The gate for bots: decides whether a caller must solve a challenge, and checks the solution. It counts arrivals by
 * address and by scope in this process's memory (`domain/challenge/Arrivals.ts`). A caller that need not solve anything
 * costs some lookups and no SQL.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { createHmac } from "node:crypto"
import {
  type AddressArrivals,
  admitted,
  attempt,
  isEnough,
  noAddressArrivals,
  noScopeArrivals,
  type ScopeArrivals,
  workOf
} from "../../domain/challenge/Arrivals.ts"
import { type ChallengePolicy, takesProofs } from "../../domain/challenge/Challenge.ts"
import type { SolvedChallenge } from "../../domain/risk/Risk.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { Measures } from "../../measures/Measures.ts"
import { SecurityEvents } from "../../store/organization/SecurityEvents.ts"
import { serverSecret } from "../../store/coordination/ServerSecrets.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import { ChallengePolicies } from "./ChallengePolicies.ts"
import * as ProofOfWork from "./ProofOfWork.ts"
import { SpentSolutions } from "./SpentSolutions.ts"
import { TokenProviders } from "./TokenProviders.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Least number of addresses that are counted. */
const addressesMax = 100_000

/** Least number of scopes that are counted. */
const scopesMax = 10_000

/** A request that the gate checks. */
export type Action = "guest" | "code" | "entry"

/** A caller at the gate. */
export interface Arrival {
  readonly action: Action
  readonly tenant: Tenant
  /** The experience of an entry. */
  readonly experienceId?: string
  /** The client's address, as it is counted. */
  readonly address: string
  /** True if the address presses on the organization's limits. */
  readonly isPressing?: boolean
  /** True for a client on this machine. Absent means false. */
  readonly isLocal?: boolean
  /** The client's solution of an earlier challenge. */
  readonly solution?: string | undefined
}

/** A challenge as it is sent: proof of work, or the public key for a provider's widget. */
export type IssuedChallenge =
  | ({ readonly provider: "proof_of_work" } & ProofOfWork.SignedChallenge)
  | { readonly provider: "turnstile" | "hcaptcha"; readonly siteKey: string }

/** The caller must solve the challenge and repeat the request with the solution. */
export class ChallengeAsked extends Schema.TaggedError<ChallengeAsked>()("ChallengeAsked", {
  challenge: Schema.Unknown as Schema.Schema<IssuedChallenge>
}) {}

/** The arrivals that a decision is about. */
interface Counts {
  readonly address: AddressArrivals
  readonly scope: ScopeArrivals
}

export class Challenges extends Context.Service<
  Challenges,
  {
    /**
     * Counts the arrival. Returns undefined if it may pass: at once, without SQL. Else an effect that checks the
     * solution and fails with the next challenge. It returns how a proof of work was solved.
     */
    check(arrival: Arrival): Effect.Effect<SolvedChallenge | undefined, ChallengeAsked | Unavailable> | undefined
  }
>()("usher/auth/challenge/Challenges") {
  static readonly layer = Layer.effect(Challenges)(
    Effect.gen(function* () {
      const clock = yield* Time.serverClock
      const policies = yield* ChallengePolicies
      const countsOf = makeCounts()
      const judge = yield* makeJudge

      const decide = (policy: ChallengePolicy, arrival: Arrival) => {
        if (policy.mode === "off") return undefined
        if (policy.mode === "adaptive" && arrival.isLocal === true) return undefined
        const now = clock.currentTimeMillisUnsafe()
        const counts = countsOf(arrival, now)
        attempt(counts.address, counts.scope, now)
        const work = workOf(policy.mode, counts.address, counts.scope, arrival.isPressing)
        if (work > 0) return judge(policy, arrival, counts, work)
        admitted(counts.address)
        return undefined
      }

      return {
        check: (arrival) => {
          const policy = policies.peek(arrival.tenant, arrival.experienceId)
          if (policy !== undefined) return decide(policy, arrival)
          return Effect.flatMap(
            policies.load(arrival.tenant, arrival.experienceId),
            (loaded) => decide(loaded, arrival) ?? Effect.undefined
          )
        }
      }
    })
  )
}

/** Makes the function that finds the counts of an arrival. */
const makeCounts = () => {
  const addresses = new SegmentedCache<AddressArrivals>(addressesMax)
  const scopes = new SegmentedCache<ScopeArrivals>(scopesMax)
  const found = <A>(cache: SegmentedCache<A>, key: string, fresh: () => A): A => {
    const known = cache.get(key)
    if (known !== undefined) return known
    const made = fresh()
    cache.set(key, made)
    return made
  }
  return (arrival: Arrival, now: number): Counts => {
    const scope = scopeOf(arrival)
    return {
      address: found(addresses, `${scope} ${arrival.address}`, () => noAddressArrivals(now)),
      scope: found(scopes, scope, () => noScopeArrivals(now))
    }
  }
}

/**
 * Makes the issuer of proofs. A process that forgets at a restart which solutions have served has a key of its own, so
 * that earlier challenges are asked for again.
 */
const makeProofs = Effect.fnUntraced(function* (areRemembered: boolean) {
  const secret = yield* serverSecret("challenges")
  const { randomBytes } = yield* SecureRandom.SecureRandom
  if (areRemembered) return ProofOfWork.make(secret)
  const start = yield* randomBytes(32)
  return ProofOfWork.make(createHmac("sha256", secret).update(start).digest())
})

/** Makes the function that lets an arrival with a good solution pass, and fails with a challenge for others. */
const makeJudge = Effect.gen(function* () {
  const clock = yield* Time.serverClock
  const spent = yield* SpentSolutions
  const providers = yield* TokenProviders
  const securityEvents = yield* SecurityEvents
  const { gate } = yield* Measures
  const proofs = yield* makeProofs(spent.isShared)
  const proof = (arrival: Arrival, work: number): Effect.Effect<never, ChallengeAsked> =>
    Effect.suspend(() => {
      const issued = proofs.issue(scopeOf(arrival), work, clock.currentTimeMillisUnsafe())
      return Effect.fail(new ChallengeAsked({ challenge: { provider: "proof_of_work", ...issued } }))
    })

  /** Records a solution that does not pass. */
  const refused = ({ tenant, address, action }: Arrival, provider: string) =>
    securityEvents.record(tenant, { type: "challenge_refused", clientAddress: address, details: { action, provider } })

  /** Returns what the solution proves: enough work, done for this scope. Undefined if it does not. */
  const proved = (arrival: Arrival, work: number): ProofOfWork.Solved | undefined => {
    if (arrival.solution === undefined) return undefined
    const solved = proofs.verify(arrival.solution, clock.currentTimeMillisUnsafe())
    return solved?.scope === scopeOf(arrival) && isEnough(solved.work, work) ? solved : undefined
  }

  /** Returns how it was solved. Undefined if the clock of another process issued it later than now. */
  const paceOf = ({ issuedAt, work }: ProofOfWork.Solved): SolvedChallenge | undefined => {
    const millis = clock.currentTimeMillisUnsafe() - issuedAt
    return millis < 0 ? undefined : { millis, work }
  }

  return Effect.fnUntraced(function* (policy: ChallengePolicy, arrival: Arrival, counts: Counts, work: number) {
    // A proof may take the place of a provider: it was issued while that one was out of reach.
    const solved = takesProofs(policy) ? proved(arrival, work) : undefined
    const isNew = solved !== undefined && spent.spend(solved.id, solved.expiresAt)
    if (solved !== undefined && (Effect.isEffect(isNew) ? yield* isNew : isNew)) {
      admitted(counts.address)
      return paceOf(solved)
    }
    if (policy.provider === "proof_of_work") {
      if (arrival.solution !== undefined) yield* refused(arrival, "proof_of_work")
      return yield* proof(arrival, work)
    }
    const { provider, keys } = policy
    if (arrival.solution !== undefined) {
      const finding = yield* providers.check(provider, keys, { token: arrival.solution, address: arrival.address })
      if (finding === "out" && takesProofs(policy)) {
        gate.downgrades++
        return yield* proof(arrival, work)
      }
      const until = clock.currentTimeMillisUnsafe() + tokenMillis
      const first = finding === "good" && spent.spend(`${provider} ${arrival.solution}`, until)
      if (Effect.isEffect(first) ? yield* first : first) {
        admitted(counts.address)
        return undefined
      }
      if (finding === "bad") yield* refused(arrival, provider)
    }
    return yield* new ChallengeAsked({ challenge: { provider, siteKey: keys.siteKey } })
  })
})

/** How long a provider's token is kept. The providers accept theirs for five minutes at most. */
const tokenMillis = 600_000

/** A caller's solution serves only in the scope for which its challenge was issued. */
const scopeOf = ({ action, tenant, experienceId }: Arrival): string =>
  experienceId === undefined ? `${action} ${tenant.organizationId} ${tenant.mode}` : `${action} ${experienceId}`
