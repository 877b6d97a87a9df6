/** The handler of live updates, for every kind of mechanism: a stream of the consumer's standing. */
import { Effect, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import type { Kind, MechanismRef, ViewOf } from "../../../domain/mechanism/Mechanism.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import type { Ending, Following, Listener } from "../../../engine/streams/LiveStreams.ts"
import { type Consumer, CurrentConsumer, CurrentStreamCredentials } from "../../credentials/Credentials.ts"
import type { EventSource, EventStream } from "../../streams/EventStream.ts"
import { countedAddress, Origins } from "../../server/Origins.ts"
import { EventStreams } from "../../streams/EventStreams.ts"
import type { Owner } from "../../streams/StreamOwners.ts"
import { orAnswer } from "../../errors/Refusals.ts"

const sequencePattern = /^\d{1,15}$/

export const make = Effect.gen(function* () {
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

    class Follower implements Listener<ViewOf<K>>, EventSource {
      readonly consumerId: string
      readonly since: number | undefined
      lastView: unknown
      private stream: EventStream | undefined
      private readonly mechanism: MechanismRef<K>
      private readonly audience: Following<ViewOf<K>>

      constructor(mechanism: MechanismRef<K>, consumerId: string, lastEventId: string, audience: Following<ViewOf<K>>) {
        this.consumerId = consumerId
        this.since = sequencePattern.test(lastEventId) ? Number(lastEventId) : undefined
        this.mechanism = mechanism
        this.audience = audience
      }

      begin(stream: EventStream): void {
        this.stream = stream
        this.audience.add(this)
      }
      stop(): void {
        this.audience.remove(this)
      }
      send(view: ViewOf<K>, sequence: number): Effect.Effect<void, EngineError | Schema.SchemaError> {
        return sent(this.mechanism, this.consumerId, view).pipe(
          Effect.flatMap(encode),
          Effect.map((data) => this.stream?.send(`id: ${sequence}\nevent: state\ndata: ${data}\n\n`))
        )
      }

      end(ending: Ending): void {
        this.stream?.end(ending)
      }
    }

    return Effect.fnUntraced(function* (id: string, headers: { readonly "last-event-id"?: string }) {
      const consumer = yield* CurrentConsumer
      const mechanism = { kind, id, tenant: consumer.tenant }
      const audience = yield* orAnswer(kind)(engine.subscribers(mechanism))
      const follower = new Follower(mechanism, consumer.consumerId, headers["last-event-id"] ?? "", audience)
      const { address } = origins.of(yield* HttpServerRequest.HttpServerRequest)
      return yield* streams.open(yield* CurrentStreamCredentials, follower, ownerOf(consumer, address))
    })
  }
})

/** The owner of a consumer's stream. A server that follows for many consumers has no limit by address. */
const ownerOf = ({ tenant, consumerId, by }: Consumer, address: string): Owner => ({
  organizationId: tenant.organizationId,
  consumerId,
  ...(by === undefined && { address: countedAddress(address) })
})
