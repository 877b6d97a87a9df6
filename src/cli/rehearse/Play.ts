/**
 * Plays a crowd against a copy in test mode, over HTTP. The clock goes to the next instant at which somebody acts or time
 * brings something.
 */
import { Effect } from "effect"
import { declarations } from "../../domain/mechanism/Mechanism.ts"
import { type Act, checkoutLeast, type Opening, type Plan, useAt } from "../../domain/rehearsal/Acts.ts"
import { Agenda } from "../../domain/rehearsal/Agenda.ts"
import { Bids } from "../../domain/rehearsal/Bids.ts"
import { type CheckedMechanism, effective } from "../../domain/rehearsal/CheckedDrop.ts"
import type { Crowd } from "../../domain/rehearsal/Crowd.ts"
import type { PlayedEvent } from "../../domain/rehearsal/Outcome.ts"
import { dayMillis } from "../../domain/values/WallClock.ts"
import type { Client } from "../../load/Client.ts"
import * as Clock from "./Clock.ts"
import { type Game, perform } from "./Deeds.ts"

/** How long a mechanism without a closing is open in a rehearsal. */
const openMillis = 30 * dayMillis

/** Consumers of one request. */
const consumersAtOnce = 500

/** Events of one request. */
const eventsAtOnce = 100

/** Returns when people may enter a mechanism of a copy that begins at an instant. */
export const openingOf = (mechanism: CheckedMechanism, beganAt: number): Opening => {
  const { openAt = beganAt, closeAt = openAt + openMillis, lobbyOpenAt } = effective(mechanism)
  return { kind: mechanism.kind, from: Math.max(beganAt, lobbyOpenAt ?? openAt), openAt, until: closeAt }
}

/** What is played, and until when. */
export interface Play {
  readonly client: Client
  readonly mechanisms: ReadonlyArray<CheckedMechanism>
  readonly openings: ReadonlyArray<Opening>
  readonly crowd: Crowd
  readonly plan: Plan
  /** The last instant. */
  readonly until: number
  /** Called after each step with the acts that are done, and the clock's time. */
  readonly onStep: (done: number, now: number) => Effect.Effect<void>
}

/** Plays from the clock's time on, until nothing is left to happen. Returns the events of each mechanism. */
export const play = Effect.fnUntraced(function* (given: Play) {
  const { client, mechanisms, plan, until, onStep } = given
  const agenda = new Agenda(plan.acts)
  const game: Game = {
    ...given,
    consumerIds: yield* peopleOf(client, plan),
    bids: given.openings.map(
      ({ openAt }, index) => new Bids(mechanisms[index]!.settings, openAt, given.crowd.bids.raise)
    ),
    slots: new Map(),
    refusals: new Map()
  }
  const { events, look } = makeLook(game, agenda)
  let clock = yield* Clock.read(client)
  // No grant is used sooner than `checkoutLeast` after it was made. So up to here the agenda is complete.
  let completeUntil = clock.now
  const nextAt = () => agenda.nextAt ?? Infinity
  for (;;) {
    if (clock.now >= completeUntil) {
      yield* look
      completeUntil = (clock.nextDueAt ?? Infinity) + checkoutLeast
    }
    const acts = agenda.take(clock.now)
    yield* performAll(game, acts)
    if (acts.length > 0) completeUntil = Math.min(completeUntil, clock.now + checkoutLeast)
    if (nextAt() > completeUntil) {
      yield* look
      clock = yield* Clock.read(client)
      completeUntil = (clock.nextDueAt ?? Infinity) + checkoutLeast
    }
    yield* onStep(agenda.taken, clock.now)
    const to = Math.min(nextAt(), completeUntil)
    if (to > until) return { events, refusals: game.refusals }
    clock = yield* Clock.advance(client, to)
  }
})

/** Performs acts of one instant: within a mechanism in their order, because the journal has it. */
const performAll = (game: Game, acts: ReadonlyArray<Act>) =>
  Effect.forEach(
    Map.groupBy(acts, ({ mechanism }) => mechanism).values(),
    (some) => Effect.forEach(some, (act) => perform(game, act), { discard: true }),
    { concurrency: "unbounded", discard: true }
  )

/** Makes what reads the events since the last look, and puts the uses of new grants on the agenda. */
const makeLook = ({ client, mechanisms, plan, consumerIds }: Game, agenda: Agenda) => {
  const personOf = new Map(consumerIds.map((id, person) => [id, person]))
  const events = mechanisms.map((): Array<PlayedEvent> => [])
  const cursors = new Map<string, string>()

  const fresh = Effect.fnUntraced(function* (id: string) {
    const found: Array<PlayedEvent> = []
    for (;;) {
      const after = cursors.get(id)
      const query = { first: eventsAtOnce, ...(after !== undefined && { after }) }
      const { data, pageInfo } = yield* Clock.patient(
        client.admin((api) => api.distributions.listDistributionHistory({ params: { id }, query }))
      )
      found.push(...data)
      if (pageInfo.endCursor !== null) cursors.set(id, pageInfo.endCursor)
      if (data.length < eventsAtOnce) return found
    }
  })

  const lookAt = Effect.fnUntraced(function* ({ id, kind }: CheckedMechanism, mechanism: number) {
    const grants: ReadonlyArray<string> = declarations[kind].grants
    for (const { type, at, consumerId, data } of yield* fresh(id)) {
      events[mechanism]!.push({ type, at, consumerId, data })
      const person = consumerId === null ? undefined : personOf.get(consumerId)
      if (person === undefined || !grants.includes(type)) continue
      const after = plan.people[person]!.checkout
      if (after !== undefined) agenda.add({ at: useAt(at, after), person, mechanism, deed: "use" })
    }
  })

  // One after another, so that the agenda does not depend on which answer comes first.
  const look = Effect.forEach(mechanisms, lookAt, { discard: true })
  return { events, look }
}

/** Creates or finds the people of a plan. Returns their ids. */
const peopleOf = Effect.fnUntraced(function* (client: Client, { people }: Plan) {
  const numbers = [...new Set(people.map(({ consumer }) => consumer))]
  const ids = new Map<number, string>()
  for (let from = 0; from < numbers.length; from += consumersAtOnce) {
    const some = numbers.slice(from, from + consumersAtOnce)
    const consumers = some.map((number) => ({
      externalId: `rehearsal-${number}`,
      email: `rehearsal-${number}@example.com`
    }))
    const { data } = yield* Clock.patient(
      client.admin((api) => api.consumers.upsertConsumers({ payload: { consumers } }))
    )
    for (const [index, { id }] of data.entries()) ids.set(some[index]!, id)
  }
  return people.map(({ consumer }) => ids.get(consumer)!)
})
