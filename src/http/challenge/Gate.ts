/** Puts the gate for bots before an operation. A caller that may pass costs a few lookups in memory. */
import { Effect } from "effect"
import { type Action, type ChallengeAsked, Challenges } from "../../auth/challenge/Challenges.ts"
import type { SolvedChallenge } from "../../domain/risk/Risk.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { answering } from "../errors/Answering.ts"
import { RateLimits } from "../limits/RateLimits.ts"
import { countedAddress, Origins, type RequestFacts } from "../server/Origins.ts"
import { challengeRequired, solutionHeader } from "../../api/Challenge.ts"

/** The facts about a request that an operation passes to the gate. */
interface Asked {
  readonly action: Action
  readonly tenant: Tenant
  /** The experience of an entry. */
  readonly experienceId?: string
}

const header = solutionHeader.toLowerCase()

/** Where a caller comes from. */
interface From {
  readonly address: string
  readonly isLocal: boolean
  readonly solution?: string | undefined
}

/** Makes the function that checks a caller. It returns the counted address, and an effect if the caller may not pass. */
const makeChecked = Effect.gen(function* () {
  const challenges = yield* Challenges
  const limits = yield* RateLimits
  return ({ action, tenant, experienceId }: Asked, { isLocal, solution, ...from }: From) => {
    const address = countedAddress(from.address)
    const isPressing = limits.presses(tenant.organizationId, address)
    const scope = experienceId === undefined ? {} : { experienceId }
    return { address, check: challenges.check({ action, tenant, ...scope, address, isPressing, isLocal, solution }) }
  }
})

/**
 * Makes the gate. It runs the operation if the caller may pass or has sent a good solution, with how that was solved and
 * with the counted address. Else it fails with the next challenge.
 */
export const make = Effect.gen(function* () {
  const origins = yield* Origins
  const checked = yield* makeChecked
  return <A, E, R>(
    request: RequestFacts,
    asked: Asked,
    operation: (challenge: SolvedChallenge | undefined, address: string) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | ChallengeAsked | Unavailable, R> => {
    const solution = request.headers[header]
    const { address: from, isLocal } = origins.of(request)
    const { address, check } = checked(asked, {
      address: from,
      isLocal,
      solution: typeof solution === "string" ? solution : undefined
    })
    return check === undefined
      ? operation(undefined, address)
      : Effect.flatMap(check, (challenge) => operation(challenge, address))
  }
})

/** Makes the gate for callers whose address another program names. They cannot solve a challenge there. */
export const makeForAddresses = Effect.map(
  makeChecked,
  (checked) =>
    (address: string, asked: Asked): Effect.Effect<unknown, ChallengeAsked | Unavailable> =>
      checked(asked, { address, isLocal: false }).check ?? Effect.void
)

/** Turns a challenge into a 403, for operations that do not use the engine. */
export const orChallenge = answering({ ChallengeAsked: (asked: ChallengeAsked) => challengeRequired(asked) })
