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
import type { Client } from "../Client.ts"
import { addMembers } from "./Catalogue.ts"
import * as Clock from "./Clock.ts"
import type { CopiedMechanism } from "./Copy.ts"
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
  readonly mechanisms: ReadonlyArray<CopiedMechanism>
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
  const { client, mechanisms, openings, until, onStep } = given
  const agenda = new Agenda(given.plan.acts)
  const game = yield* begin(given)
  const { events, over, look } = makeLook(game, agenda)
  const all = mechanisms.map((_, index) => index)
  const gives = mechanisms.map((mechanism, index) => givesFrom(mechanism, openings[index]!) ?? Infinity)
  /** Mechanisms in which somebody acted since the last look. */
  const touched = new Set<number>()
  const sharesStock = (index: number) => mechanisms[index]!.settings.stockId !== undefined
  let clock = yield* Clock.read(client)
  // No grant is used sooner than `checkoutLeast` after it was made. So up to here the agenda is complete.
  let completeUntil = clock.now
  const lookAgain = Effect.suspend(() => {
    const wanted = all.filter((index) => touched.has(index) || (gives[index]! <= clock.now && !over.has(index)))
    touched.clear()
    return look(wanted)
  })
  for (;;) {
    if (clock.now >= completeUntil) {
      yield* lookAgain
      completeUntil = (clock.nextDueAt ?? Infinity) + checkoutLeast
    }
    const acts = agenda.take(clock.now)
    yield* performAll(game, acts)
    for (const { mechanism } of acts) touched.add(mechanism)
    if (acts.length > 0) completeUntil = Math.min(completeUntil, clock.now + checkoutLeast)
    if ((agenda.nextAt ?? Infinity) > completeUntil) {
      // What people do moves units of a stock only within an advance. So what is due next is known after one.
      if ([...touched].some(sharesStock)) {
        clock = yield* Clock.advance(client, clock.now)
        yield* lookAgain
      } else [clock] = yield* Effect.all([Clock.read(client), lookAgain], { concurrency: "unbounded" })
      completeUntil = (clock.nextDueAt ?? Infinity) + checkoutLeast
    }
    yield* onStep(agenda.taken, clock.now)
    const to = Math.min(agenda.nextAt ?? Infinity, completeUntil)
    if (to > until) break
    clock = yield* Clock.advance(client, to)
  }
  clock = yield* Clock.advance(client, until)
  yield* look(all)
  return { events, refusals: game.refusals, endedAt: clock.now }
})

/** Creates the people, and lets those who come to a reserved sequence in. */
const begin = Effect.fnUntraced(function* ({ client, mechanisms, openings, plan, crowd }: Play) {
  const consumerIds = yield* peopleOf(client, plan)
  const members = Map.groupBy(plan.acts, ({ mechanism }) => mechanisms[mechanism]!.audienceId)
  for (const [audienceId, acts] of members) {
    if (audienceId === undefined) continue
    yield* addMembers(client, audienceId, [...new Set(acts.map(({ person }) => consumerIds[person]!))])
  }
  const game: Game = {
    client,
    mechanisms,
    plan,
    consumerIds,
    bids: openings.map(({ openAt }, index) => new Bids(mechanisms[index]!.settings, openAt, crowd.bids.raise)),
    slots: new Map(),
    granted: mechanisms.map(() => new Set()),
    refusals: mechanisms.map(() => new Map())
  }
  return game
})

/** Performs acts of one instant: within a mechanism in their order, because the journal has it. */
const performAll = (game: Game, acts: ReadonlyArray<Act>) =>
  Effect.forEach(
    Map.groupBy(acts, ({ mechanism }) => mechanism).values(),
    (some) => Effect.forEach(some, (act) => perform(game, act), { discard: true }),
    { concurrency: "unbounded", discard: true }
  )

/** Makes what reads the events since the last look, and puts what people do with a grant on the agenda. */
const makeLook = (game: Game, agenda: Agenda) => {
  const { client, mechanisms, plan, consumerIds, granted } = game
  const personOf = new Map(consumerIds.map((id, person) => [id, person]))
  const events = mechanisms.map((): Array<PlayedEvent> => [])
  /** The mechanisms in which nothing more happens. */
  const over = new Set<number>()
  const cursors = new Map<string, string>()

  const fresh = Effect.fnUntraced(function* ({ id }: CheckedMechanism) {
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

  const note = (mechanism: number, { type, at, consumerId, data }: PlayedEvent): void => {
    events[mechanism]!.push({ type, at, consumerId, data })
    if (type === "TornDown") over.add(mechanism)
    const person = consumerId === null ? undefined : personOf.get(consumerId)
    if (person === undefined) return
    const { kind } = mechanisms[mechanism]!
    const { checkout } = plan.people[person]!
    const grants: ReadonlyArray<string> = declarations[kind].grants
    if (grants.includes(type)) {
      granted[mechanism]!.add(person)
      if (checkout !== undefined) agenda.add({ at: useAt(at, checkout), person, mechanism, deed: "use" })
    }
    // Who has booked comes when its slot begins.
    if (type === "Booked" && checkout !== undefined) {
      agenda.add({ at: data["startTime"] as number, person, mechanism, deed: "use" })
    }
  }

  /** Looks at mechanisms. Their events are noted in the order of the mechanisms, whichever answer comes first. */
  const look = Effect.fnUntraced(function* (wanted: ReadonlyArray<number>) {
    const found = yield* Effect.forEach(wanted, (index) => fresh(mechanisms[index]!), {
      concurrency: "unbounded"
    })
    for (const [place, some] of found.entries()) for (const event of some) note(wanted[place]!, event)
  })
  return { events, over, look }
}

/** Returns from when on time alone may give something to a person; undefined if it never does. */
const givesFrom = (mechanism: CheckedMechanism, { openAt }: Opening): number | undefined => {
  const { drawAt, closeAt, auctionType, offers } = effective(mechanism)
  switch (mechanism.kind) {
    case "queue":
      return openAt
    case "draw":
      return drawAt
    case "auction":
      return auctionType === "dutch" ? undefined : closeAt
    case "waitlist":
      return offers === true ? openAt : undefined
    default:
      return undefined
  }
}

/** Creates or finds the people of a plan. Returns their ids. */
const peopleOf = Effect.fnUntraced(function* (client: Client, { people }: Plan) {
  const numbers = [...new Set(people.map(({ consumer }) => consumer))]
  const ids = new Map<number, string>()
  for (let from = 0; from < numbers.length; from += consumersAtOnce) {
    const some = numbers.slice(from, from + consumersAtOnce)
    const consumers = some.map((number) => ({
      externalId: `rehearsal-${number}`,
      fullName: `Person ${number + 1}`,
      email: `rehearsal-${number}@example.com`
    }))
    const { data } = yield* Clock.patient(
      client.admin((api) => api.consumers.upsertConsumers({ payload: { consumers } }))
    )
    for (const [index, { id }] of data.entries()) ids.set(some[index]!, id)
  }
  return people.map(({ consumer }) => ids.get(consumer)!)
})
