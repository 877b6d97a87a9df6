/**
 * The handlers of entries, for every kind of mechanism. An entry is checked before the engine gets its command: the gate
 * for bots must let it pass, the mechanism's sequence must be for the consumer (completions 1), and the consumer must
 * have an order left in it (completions 4).
 */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { ChallengeAsked } from "../../../auth/challenge/Challenges.ts"
import { Consumers } from "../../../auth/sessions/Consumers.ts"
import { Protection } from "../../../auth/sessions/Protection.ts"
import type { Kind, MechanismIdentity } from "../../../domain/mechanism/Decider.ts"
import type { MechanismRef, RefusalOf, ViewOf } from "../../../domain/mechanism/Mechanism.ts"
import { NotInvited, OrderLimitReached } from "../../../domain/mechanism/Refusals.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import * as Gate from "../../challenge/Gate.ts"
import { type Consumer, CurrentConsumer } from "../../credentials/Credentials.ts"
import type { Handling, Present, ToEntry } from "./Handling.ts"

/** Sends the command of an allowed entry. `known` is what the check has found. */
type Enter<K extends Kind, Request, Known> = (
  mechanism: MechanismRef<K>,
  consumer: Consumer,
  request: Request,
  known: Known
) => Effect.Effect<ViewOf<K>, RefusalOf<K> | EngineError>

/** Runs an entry if the consumer may enter. */
type Check<Known> = <A, E, R>(
  mechanism: MechanismRef<Kind>,
  consumer: Consumer,
  request: HttpServerRequest.HttpServerRequest,
  entry: (known: Known) => Effect.Effect<A, E, R>
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
          check(mechanism, consumer, request.request, (known) => enter(mechanism, consumer, request, known)),
          (view) => answer(mechanism, consumerId, view)
        )
      })
    )

/** Makes the checks. A check asks the engine once. It costs no SQL if the sequence is for everybody. */
const makeChecks = Effect.gen(function* () {
  const engine = yield* Engine
  const protection = yield* Protection
  const consumers = yield* Consumers
  const gate = yield* Gate.make

  /** Callers of an organization's server are not asked for challenges. */
  const ifAllowed = <A, E, R>(
    identity: MechanismIdentity,
    { tenant, consumerId, by }: Consumer,
    request: HttpServerRequest.HttpServerRequest,
    entry: () => Effect.Effect<A, E, R>
  ) => {
    const admitted = () => ifAdmitted(identity, consumerId, entry)
    if (by !== undefined) return admitted()
    return gate(request, { action: "entry", tenant, experienceId: identity.experienceId }, admitted)
  }

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

  const check: Check<MechanismIdentity> = (mechanism, consumer, request, entry) =>
    Effect.flatMap(engine.identity(mechanism), (identity) =>
      ifAllowed(identity, consumer, request, () => entry(identity))
    )

  const checkWithLoyalty: Check<number> = (mechanism, consumer, request, entry) =>
    Effect.flatMap(engine.definition(mechanism), ({ identity, configuration }) =>
      ifAllowed(identity, consumer, request, () =>
        "loyaltyBiasEnabled" in configuration && configuration.loyaltyBiasEnabled
          ? Effect.flatMap(consumers.loyaltyScore(mechanism.tenant, consumer.consumerId), entry)
          : entry(0)
      )
    )

  return { check, checkWithLoyalty }
})
