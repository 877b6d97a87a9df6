/**
 * The handlers that mechanisms of every kind have on the Consumer API. A kind declares a `Presentation` and makes its
 * own handlers with `act`, `entry` and `loyalEntry`.
 */
import { Effect, type Schema } from "effect"
import type { ConsumerCommand, Kind, MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import { Engine } from "../../../engine/Engine.ts"
import { type Consumer, CurrentConsumer, CurrentTenant } from "../../credentials/Credentials.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import * as Entries from "./Entries.ts"
import type { Handling, Present, Presentation, ToMechanism } from "./Handling.ts"
import * as LiveUpdates from "./LiveUpdates.ts"
import { publicView } from "./PublicMechanism.ts"

/** The handlers of a kind. `present` makes the answer to `status`, which is also sent as live updates. */
export const makeHandlers = Effect.fnUntraced(function* <
  K extends Kind,
  Param extends string,
  Fields extends Schema.Struct.Fields,
  State extends Schema.Codec<unknown, unknown>
>(what: Presentation<K, Param, Fields, State>, present: Present<K, State["Type"]>) {
  const { kind, param } = what
  const handling: Handling<K, Param, State["Type"]> = {
    refOf: (tenant, { params }) => ({ kind, id: params[param], tenant }),
    present,
    orHttpAnswer: orAnswer(kind)
  }
  return {
    ...handling,
    ...(yield* Entries.make(handling)),
    ...(yield* makeActions(handling)),
    reads: yield* makeReads(what, handling)
  }
})

/** The handlers that only read. */
const makeReads = Effect.fnUntraced(function* <
  K extends Kind,
  Param extends string,
  Fields extends Schema.Struct.Fields,
  State extends Schema.Codec<unknown, unknown>
>(
  { kind, param, Public, State }: Presentation<K, Param, Fields, State>,
  { refOf, present, orHttpAnswer }: Handling<K, Param, State["Type"]>
) {
  const engine = yield* Engine
  const liveUpdates = (yield* LiveUpdates.make)(kind, State, present)
  return {
    get: (request: ToMechanism<Param>) =>
      orHttpAnswer(
        Effect.flatMap(CurrentTenant, ({ tenant }) =>
          Effect.map(engine.inspect(refOf(tenant, request)), (inspection) => publicView(Public, inspection))
        )
      ),
    status: (request: ToMechanism<Param>) =>
      orHttpAnswer(
        Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => {
          const mechanism = refOf(tenant, request)
          return Effect.flatMap(engine.viewForStatus(mechanism, consumerId), (view) => {
            const { asOf } = view
            const state = present(mechanism, consumerId, view)
            return asOf === undefined
              ? state
              : Effect.map(state, (shown): State["Type"] => ({ ...(shown as object), asOf }))
          })
        })
      ),
    events: (request: ToMechanism<Param> & { readonly headers: { readonly "last-event-id"?: string } }) =>
      liveUpdates(request.params[param], request.headers)
  }
})

const makeActions = Effect.fnUntraced(function* <K extends Kind, Param extends string, State>({
  refOf,
  present,
  orHttpAnswer
}: Handling<K, Param, State>) {
  const engine = yield* Engine

  const change = (mechanism: MechanismRef<K>, command: ConsumerCommand<K>) =>
    Effect.flatMap(engine.send(mechanism, command), (view) => present(mechanism, command.consumerId, view))

  return {
    /** Runs a consumer's command. Returns the consumer's standing. */
    change,
    /** A handler that runs a command of the calling consumer and answers the consumer's standing. */
    act:
      <Request extends ToMechanism<Param>>(
        command: (consumer: Consumer, request: Request, mechanism: MechanismRef<K>) => ConsumerCommand<K>
      ) =>
      (request: Request) =>
        orHttpAnswer(
          Effect.flatMap(CurrentConsumer, (consumer) => {
            const mechanism = refOf(consumer.tenant, request)
            return change(mechanism, command(consumer, request, mechanism))
          })
        )
  }
})
