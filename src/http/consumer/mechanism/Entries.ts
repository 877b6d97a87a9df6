/**
 * The handlers of entries, for every kind of mechanism. An entry is checked before the engine gets its command: the
 * gate for bots must let it pass, the mechanism's sequence must be for the consumer, and the consumer must have an
 * order left in it. An entry that passes gets its risk.
 */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { ChallengeAsked } from "../../../auth/challenge/Challenges.ts"
import { Consumers } from "../../../auth/sessions/Consumers.ts"
import { EntryRisks } from "../../../auth/risk/EntryRisks.ts"
import { Protection } from "../../../auth/sessions/Protection.ts"
import type { Kind, MechanismIdentity, MechanismRef, RefusalOf, ViewOf } from "../../../domain/mechanism/Mechanism.ts"
import { NotInvited, OrderLimitReached } from "../../../domain/mechanism/Refusals.ts"
import type { Risk, SolvedChallenge } from "../../../domain/risk/Risk.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import * as Gate from "../../challenge/Gate.ts"
import { type Consumer, CurrentConsumer } from "../../../api/Credentials.ts"
import { countedNetwork } from "../../server/Origins.ts"
import type { Handling, Present, ToEntry } from "./Handling.ts"

/** The consumer that enters, with the risk of its entry. The risk is absent if nothing suggests one. */
interface Entrant extends Consumer {
  readonly risk?: Risk | undefined
}

/** Sends the command of an allowed entry. `known` is the result of the check. */
type Enter<K extends Kind, Request, Known> = (
  mechanism: MechanismRef<K>,
  entrant: Entrant,
  request: Request,
  known: Known
) => Effect.Effect<ViewOf<K>, RefusalOf<K> | EngineError>

/** Runs an entry if the consumer may enter. */
type Check<Known> = <A, E, R>(
  mechanism: MechanismRef<Kind>,
  consumer: Consumer,
  request: HttpServerRequest.HttpServerRequest,
  entry: (entrant: Entrant, known: Known) => Effect.Effect<A, E, R>
) => Effect.Effect<A, E | CheckRefusal | EngineError, R>

/** Why an entry does not reach the engine. */
type CheckRefusal = NotInvited | OrderLimitReached | ChallengeAsked

/** Makes the handlers of entries into a kind of mechanism. */
export const make = Effect.fnUntraced(function* <K extends Kind, Param extends string, State>(
  handling: Handling<K, Param, State>
) {
  const { check, checkWithLoyalty } = yield* makeChecks
  return {
    /** A handler of an entry that may need to know the mechanism's identity. */
    entry: handlerBehind(check, handling),
    /** A handler of an entry that needs the consumer's loyalty score, 0 to 1. It is 0 without a loyalty bias. */
    loyalEntry: handlerBehind(checkWithLoyalty, handling)
  }
})

const handlerBehind =
  <K extends Kind, Param extends string, State, Known>(
    check: Check<Known>,
    { refOf, present, orHttpAnswer }: Handling<K, Param, State>
  ) =>
  <Request extends ToEntry<Param>>(enter: Enter<K, Request, Known>, answer: Present<K, State> = present) =>
  (request: Request) =>
    orHttpAnswer(
      Effect.flatMap(CurrentConsumer, (consumer) => {
        const mechanism = refOf(consumer.tenant, request)
        const { consumerId } = consumer
        return Effect.flatMap(
          check(mechanism, consumer, request.request, (entrant, known) => enter(mechanism, entrant, request, known)),
          (view) => answer(mechanism, consumerId, view)
        )
      })
    )

/** Makes the checks. A check asks the engine once. It costs no SQL if the sequence is for all consumers. */
const makeChecks = Effect.gen(function* () {
  const engine = yield* Engine
  const consumers = yield* Consumers
  const ifAllowed = yield* makeIfAllowed

  const check: Check<MechanismIdentity> = (mechanism, consumer, request, entry) =>
    Effect.flatMap(engine.identity(mechanism), (identity) =>
      ifAllowed(identity, consumer, request, (entrant) => entry(entrant, identity))
    )

  const checkWithLoyalty: Check<number> = (mechanism, consumer, request, entry) =>
    Effect.flatMap(engine.definition(mechanism), ({ identity, configuration }) =>
      ifAllowed(identity, consumer, request, (entrant) =>
        "loyaltyBiasEnabled" in configuration && configuration.loyaltyBiasEnabled
          ? Effect.flatMap(consumers.loyaltyScore(mechanism.tenant, consumer.consumerId), (score) =>
              entry(entrant, score)
            )
          : entry(entrant, 0)
      )
    )

  return { check, checkWithLoyalty }
})

/** Makes the function that runs an entry if the gate lets it pass and the sequence admits the consumer. */
const makeIfAllowed = Effect.gen(function* () {
  const protection = yield* Protection
  const risks = yield* EntryRisks
  const gate = yield* Gate.make

  const ifAdmitted = <A, E, R>(identity: MechanismIdentity, consumerId: string, entry: () => Effect.Effect<A, E, R>) =>
    Effect.flatMap(
      protection.admission(identity, consumerId),
      (admission): Effect.Effect<A, E | NotInvited | OrderLimitReached, R> => {
        switch (admission) {
          case "admitted":
          case "admitted for now":
            return entry()
          case "not invited":
            return Effect.fail(new NotInvited())
          case "order limit reached":
            return Effect.fail(new OrderLimitReached())
        }
      }
    )

  const assessed = (
    consumer: Consumer,
    { experienceId }: MechanismIdentity,
    address: string,
    challenge: SolvedChallenge | undefined
  ): Entrant => {
    const { consumerId } = consumer
    const risk = risks.of({ experienceId, consumerId, address, networkOf: countedNetwork, challenge })
    return risk === undefined ? consumer : { ...consumer, risk }
  }

  /** Callers of an organization's server are not asked for challenges, and have no risk. */
  return <A, E, R>(
    identity: MechanismIdentity,
    consumer: Consumer,
    request: HttpServerRequest.HttpServerRequest,
    entry: (entrant: Entrant) => Effect.Effect<A, E, R>
  ) => {
    const { tenant, consumerId, by } = consumer
    if (by !== undefined) return ifAdmitted(identity, consumerId, () => entry(consumer))
    return gate(request, { action: "entry", tenant, experienceId: identity.experienceId }, (challenge, address) =>
      ifAdmitted(identity, consumerId, () => entry(assessed(consumer, identity, address, challenge)))
    )
  }
})
