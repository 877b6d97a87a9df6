/**
 * The steps of a consumer in a mechanism of each kind. In a queue it watches its place until it is admitted, and the
 * shop completes the grant. Where the entry is the grant, the shop completes it at once. In an auction it bids more than
 * those before it, and may be too late. In a draw and a waitlist it enters and looks at its place. In an appointment it
 * books a slot.
 */
import { Duration, Effect, Exit, type Semaphore, Stream } from "effect"
import { grantsOnEntry, type Kind } from "../domain/mechanism/Mechanism.ts"
import { standingOf } from "../domain/mechanism/PlaceFields.ts"
import * as Client from "./Client.ts"
import type { Mechanism } from "./Ground.ts"
import type { Tally } from "./Tally.ts"

/** The state that all journeys of a run share. */
export interface World {
  readonly client: Client.Client
  readonly tally: Tally
  readonly mechanisms: ReadonlyMap<Kind, Mechanism>
  readonly watch: "stream" | "poll"
  /** Requests in progress at once. */
  readonly slots: Semaphore.Semaphore
  /** Milliseconds since the start. */
  readonly now: () => number
}

/** Between two polls of one consumer. */
const pollPause = Duration.seconds(1)

/** Makes the function that makes one consumer's journey. A failed request ends it. `number` counts the arrivals. */
export const makeJourney = (world: World) => {
  const { tally, slots, now } = world
  const limited = slots.withPermits(1)
  const follow = makeFollow(world)

  return (kind: Kind, at: number, number: number) =>
    Effect.gen(function* () {
      tally.late(now() - at, now())
      const entered = yield* limited(arrive(world, kind, at, number))
      if (entered === undefined) return
      yield* follow(kind, entered.session, entered.place)
    }).pipe(
      Effect.exit,
      Effect.map((exit) => {
        if (Exit.isSuccess(exit)) return
        const [reason] = exit.cause.reasons
        if (reason?._tag === "Fail") tally.fail(reason.error.reason, now())
        else if (reason?._tag === "Die") tally.fail("defect", now())
      })
    )
}

/** Starts a session and enters. Undefined if another bid was higher meanwhile. */
const arrive = Effect.fnUntraced(function* (
  { client, tally, mechanisms, now }: World,
  kind: Kind,
  at: number,
  number: number
) {
  const mechanism = mechanisms.get(kind)!
  tally.count("due", now())
  const session = yield* client.guest
  const place = yield* client.act(mechanism, session, ...entryOf(mechanism, number)).pipe(
    Effect.catchIf(
      ({ reason }) => kind === "auction" && reason === "409",
      () => Effect.undefined
    )
  )
  if (place === undefined) {
    tally.refuse(kind)
    return undefined
  }
  tally.enter(kind, session.consumerId, place.position ?? undefined, now() - at, now())
  return { session, place }
})

/** The action of an entry, and its body. */
const entryOf = ({ kind, slotIds = [] }: Mechanism, number: number): readonly [string, object?] => {
  if (kind === "auction") return ["bid", { amount: `${number + 1}` }]
  if (kind === "appointment") return ["book", { slotId: slotIds[number % slotIds.length] }]
  return ["enter"]
}

/** Makes the function that does what follows an entry. */
const makeFollow = ({ client, tally, mechanisms, watch, slots, now }: World) => {
  const limited = slots.withPermits(1)

  const poll = (mechanism: Mechanism, session: Client.Session) =>
    Effect.sleep(pollPause).pipe(
      Effect.andThen(limited(client.status(mechanism, session))),
      Effect.repeat({ until: isDecided })
    )
  const stream = (mechanism: Mechanism, session: Client.Session) =>
    client.places(mechanism, session).pipe(
      Stream.filter(isDecided),
      Stream.runHead,
      Effect.flatMap(Effect.fromOption),
      Effect.catchTag("NoSuchElementError", () =>
        Effect.fail(new Client.Failed({ reason: "stream ended", detail: "before the consumer was admitted" }))
      )
    )
  const spend = Effect.fnUntraced(function* (mechanism: Mechanism, session: Client.Session, place: Client.Place) {
    const { status = "no status" } = place
    if (standingOf(mechanism.kind, status) !== "admitted") {
      return yield* new Client.Failed({ reason: status, detail: "" })
    }
    tally.grant(mechanism.kind, session.consumerId, now())
    yield* limited(client.complete(mechanism, session))
    tally.count("completed", now())
  })

  return Effect.fnUntraced(function* (kind: Kind, session: Client.Session, place: Client.Place) {
    const mechanism = mechanisms.get(kind)!
    if (grantsOnEntry(kind)) return yield* spend(mechanism, session, place)
    if (kind !== "queue") {
      yield* limited(client.status(mechanism, session))
      return
    }
    tally.waiting++
    const decided = isDecided(place) ? place : yield* (watch === "poll" ? poll : stream)(mechanism, session)
    tally.waiting--
    yield* spend(mechanism, session, decided)
  })
}

const isDecided = ({ status }: Client.Place): boolean =>
  status !== undefined && status !== "QUEUED" && status !== "NOT_QUEUED"
