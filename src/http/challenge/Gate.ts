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

/**
 * Makes the gate. It runs the operation if the caller may pass or has sent a good solution, with how that was solved and
 * with the counted address. Else it fails with the next challenge.
 */
export const make = Effect.gen(function* () {
  const challenges = yield* Challenges
  const origins = yield* Origins
  const limits = yield* RateLimits
  return <A, E, R>(
    request: RequestFacts,
    { action, tenant, experienceId }: Asked,
    operation: (challenge: SolvedChallenge | undefined, address: string) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | ChallengeAsked | Unavailable, R> => {
    const solution = request.headers[header]
    const origin = origins.of(request)
    const address = countedAddress(origin.address)
    const checked = challenges.check({
      action,
      tenant,
      ...(experienceId !== undefined && { experienceId }),
      address,
      isPressing: limits.presses(tenant.organizationId, address),
      isLocal: origin.isLocal,
      solution: typeof solution === "string" ? solution : undefined
    })
    return checked === undefined
      ? operation(undefined, address)
      : Effect.flatMap(checked, (challenge) => operation(challenge, address))
  }
})

/** Turns a challenge into a 403, for operations that do not use the engine. */
export const orChallenge = answering({ ChallengeAsked: (asked: ChallengeAsked) => challengeRequired(asked) })
