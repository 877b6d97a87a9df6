/**
 * The handlers that mechanisms of every kind have on the Consumer API. A kind declares a `Presentation`; its own handlers
 * are made with `act` and `enter`.
 */
import { Effect, type Schema } from "effect"
import type { Kind, MechanismIdentity } from "../../../domain/mechanism/Decider.ts"
import type { ConsumerCommand, MechanismRef, RefusalOf, ViewOf } from "../../../domain/mechanism/Mechanism.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { CurrentConsumer, CurrentTenant } from "../../credentials/Credentials.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import * as EntryChecks from "./EntryChecks.ts"
import * as LiveUpdates from "./LiveUpdates.ts"
import { publicView } from "./PublicMechanism.ts"

/** A kind of mechanism on the Consumer API. */
export interface Presentation<
  K extends Kind,
  Param extends string,
  Fields extends Schema.Struct.Fields,
  State extends Schema.Codec<unknown, unknown>
> {
  readonly kind: K
  /** The path parameter that names the mechanism: `queueId`. */
  readonly param: Param
  /** A mechanism as everybody may see it. */
  readonly Public: Schema.Struct<Fields>
  /** A consumer's own standing in a mechanism. */
  readonly State: State
}

/** Makes what is sent of a consumer's view of its own place. */
export type Present<K extends Kind, State> = (
  mechanism: MechanismRef<K>,
  consumerId: string,
  view: ViewOf<K>
) => Effect.Effect<State, EngineError>

/** A request to one mechanism. */
export interface ToMechanism<Param extends string> {
  readonly params: { readonly [P in Param]: string }
}

type Consumer = (typeof CurrentConsumer)["Service"]

/** The handlers of a kind. `present` makes the answer to `status`, which is also sent as live updates. */
export const makeHandlers = Effect.fnUntraced(function* <
  K extends Kind,
  Param extends string,
  Fields extends Schema.Struct.Fields,
  State extends Schema.Codec<unknown, unknown>
>({ kind, param, Public, State }: Presentation<K, Param, Fields, State>, present: Present<K, State["Type"]>) {
  const engine = yield* Engine
  const ifAdmitted = yield* EntryChecks.make
  const liveUpdates = (yield* LiveUpdates.make)(kind, State, present)
  const orHttpAnswer = orAnswer(kind)

  const refOf = (tenant: Tenant, { params }: ToMechanism<Param>): MechanismRef<K> => ({
    kind,
    id: params[param],
    tenant
  })

  /** Runs a consumer's command. Returns the consumer's standing. */
  const change = (mechanism: MechanismRef<K>, command: ConsumerCommand<K>) =>
    Effect.flatMap(engine.send(mechanism, command), (view) => present(mechanism, command.consumerId, view))

  return {
    /** The handlers that only read. */
    reads: {
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
            return Effect.flatMap(engine.view(mechanism, consumerId), (view) => present(mechanism, consumerId, view))
          })
        ),
      events: (request: ToMechanism<Param> & { readonly headers: { readonly "last-event-id"?: string } }) =>
        liveUpdates(request.params[param], request.headers)
    },

    /** A handler that runs a consumer's command and answers the consumer's standing. */
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
        ),

    /** A handler that lets a consumer enter, if its sequence is for the consumer. `enter` sends the command. */
    entry:
      <Request extends ToMechanism<Param>>(
        enter: (
          mechanism: MechanismRef<K>,
          consumer: Consumer,
          request: Request,
          identity: MechanismIdentity
        ) => Effect.Effect<ViewOf<K>, RefusalOf<K> | EngineError>,
        answer: Present<K, State["Type"]> = present
      ) =>
      (request: Request) =>
        orHttpAnswer(
          Effect.flatMap(CurrentConsumer, (consumer) => {
            const mechanism = refOf(consumer.tenant, request)
            const { consumerId } = consumer
            return Effect.flatMap(
              ifAdmitted(mechanism, consumerId, (identity) => enter(mechanism, consumer, request, identity)),
              (view) => answer(mechanism, consumerId, view)
            )
          })
        ),

    change,
    refOf,
    orHttpAnswer
  }
})
