/**
 * The handlers that mechanisms of every kind have on the Consumer API. A kind declares a `Presentation` and makes its
 * own handlers with `act`, `entry` and `loyalEntry`.
 */
import { Effect, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import type { ConsumerCommand, MechanismRef, ViewOf, Kind } from "../../../domain/mechanism/Mechanism.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { type Consumer, CurrentConsumer, CurrentTenant, CurrentStreamCredentials } from "../../../api/Credentials.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import type { Handling, Present, Presentation, ToMechanism } from "./Handling.ts"
import { publicView } from "./PublicMechanism.ts"
import type { Ending, Following, Listener } from "../../../engine/streams/LiveStreams.ts"
import type { EventSource, EventStream } from "../../streams/EventStream.ts"
import { countedAddress, Origins } from "../../server/Origins.ts"
import { EventStreams } from "../../streams/EventStreams.ts"
import type { Owner } from "../../streams/StreamOwners.ts"
import * as Entries from "./Entries.ts"
import { StreamAddition } from "./StreamAddition.ts"

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
  const liveUpdates = (yield* makeLiveUpdates)(kind, State, present)
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

const sequencePattern = /^\d{1,15}$/

const makeLiveUpdates = Effect.gen(function* () {
  const engine = yield* Engine
  const streams = yield* EventStreams
  const origins = yield* Origins

  /**
   * Makes the handler of a kind, given the schema of the answer to `…/status` and the function that makes it from a
   * view.
   */
  return <K extends Kind, State extends Schema.Codec<unknown, unknown>>(
    kind: K,
    state: State,
    sent: (mechanism: MechanismRef<K>, consumerId: string, view: ViewOf<K>) => Effect.Effect<State["Type"], EngineError>
  ) => {
    const encode = Schema.encodeEffect(Schema.fromJsonString(Schema.toCodecJson(state)))

    return Effect.fnUntraced(function* (id: string, headers: { readonly "last-event-id"?: string }) {
      const consumer = yield* CurrentConsumer
      const mechanism = { kind, id, tenant: consumer.tenant }
      const audience = yield* orAnswer(kind)(engine.subscribers(mechanism))
      const lastEventId = headers["last-event-id"] ?? ""
      const addFields = yield* StreamAddition
      const follower = new Follower(consumer.consumerId, { lastEventId, audience }, (view: ViewOf<K>) => {
        const text = Effect.flatMap(sent(mechanism, consumer.consumerId, view), encode)
        return addFields === undefined ? text : Effect.zipWith(text, addFields(mechanism, view), withFields)
      })
      const { address } = origins.of(yield* HttpServerRequest.HttpServerRequest)
      return yield* streams.open(yield* CurrentStreamCredentials, follower, ownerOf(consumer, address))
    })
  }
})

/** How a stream is opened. */
interface Opening<View> {
  readonly lastEventId: string
  readonly audience: Following<View>
}

/** A stream of the states of one consumer's place. `textOf` makes a state as JSON from a view of the place. */
class Follower<View> implements Listener<View>, EventSource {
  readonly consumerId: string
  readonly since: number | undefined
  lastView: unknown
  private stream: EventStream | undefined
  private readonly audience: Following<View>
  private readonly textOf: (view: View) => Effect.Effect<string, EngineError | Schema.SchemaError>

  constructor(consumerId: string, { lastEventId, audience }: Opening<View>, textOf: Follower<View>["textOf"]) {
    this.consumerId = consumerId
    this.since = sequencePattern.test(lastEventId) ? Number(lastEventId) : undefined
    this.audience = audience
    this.textOf = textOf
  }

  begin(stream: EventStream): void {
    this.stream = stream
    this.audience.add(this)
  }
  stop(): void {
    this.audience.remove(this)
  }
  send(view: View, sequence: number): Effect.Effect<void, EngineError | Schema.SchemaError> {
    return Effect.map(this.textOf(view), (data) =>
      this.stream?.send(`id: ${sequence}\nevent: state\ndata: ${data}\n\n`)
    )
  }
  end(ending: Ending): void {
    this.stream?.end(ending)
  }
}

/** The JSON of an object with further fields at its end. */
const withFields = (text: string, fields: object): string => {
  const more = JSON.stringify(fields)
  return more === "{}" ? text : `${text.slice(0, -1)},${more.slice(1)}`
}

/** The owner of a consumer's stream. A server that follows for many consumers has no limit by address. */
const ownerOf = ({ tenant, consumerId, by }: Consumer, address: string): Owner => ({
  organizationId: tenant.organizationId,
  consumerId,
  ...(by === undefined && { address: countedAddress(address) })
})
