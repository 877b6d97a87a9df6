/**
 * Plays a crowd against a copy in test mode, over HTTP. The clock goes to the next instant at which somebody acts or time
 * brings something. The shop's server acts for all people, so the organization's limits apply and no limit of an address.
 */
import { Effect, Schedule } from "effect"
import { declarations } from "../../domain/mechanism/Mechanism.ts"
import { checkoutLeast, type Act, type Opening, type Plan } from "../../domain/rehearsal/Acts.ts"
import { type CheckedMechanism, effective } from "../../domain/rehearsal/CheckedDrop.ts"
import type { PlayedEvent } from "../../domain/rehearsal/Outcome.ts"
import { dayMillis } from "../../domain/values/WallClock.ts"
import { allOf, type Client, type ConsumerClient, RequestError } from "../../load/Client.ts"
import { StartRefused } from "../../settings/Settings.ts"

/** How long a mechanism without a closing is open in a rehearsal. */
const openMillis = 30 * dayMillis

/** Consumers of one request. */
const consumersAtOnce = 500

export const openingOf = (mechanism: CheckedMechanism, beganAt: number): Opening => {
  const { openAt = beganAt, closeAt = openAt + openMillis, lobbyOpenAt } = effective(mechanism)
  return { kind: mechanism.kind, from: Math.max(beganAt, lobbyOpenAt ?? openAt), openAt, until: closeAt }
}

/** Waits where the organization's limit is reached, and goes on. */
const patient = <A>(effect: Effect.Effect<A, RequestError>) =>
  Effect.retry(effect, { while: ({ reason }) => reason === "429", schedule: Schedule.spaced("500 millis") })

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
    const { data } = yield* patient(client.admin((api) => api.consumers.upsertConsumers({ payload: { consumers } })))
    for (const [index, { id }] of data.entries()) ids.set(some[index]!, id)
  }
  return people.map(({ consumer }) => ids.get(consumer)!)
})

interface Game {
  readonly client: Client
  readonly mechanisms: ReadonlyArray<CheckedMechanism>
  readonly plan: Plan
  /** The consumer of each person. */
  readonly consumerIds: ReadonlyArray<string>
  readonly events: ReadonlyArray<Array<PlayedEvent>>
  readonly refusals: Map<string, number>
  readonly slots: Map<string, ReadonlyArray<string>>
}

/** Plays the plan from the clock's time on, until nothing is left to happen before `until`. */
export const play = Effect.fnUntraced(function* (
  client: Client,
  mechanisms: ReadonlyArray<CheckedMechanism>,
  plan: Plan,
  until: number,
  progress: (done: number, now: number) => Effect.Effect<void>
) {
  const consumerIds = yield* peopleOf(client, plan)
  const personOf = new Map(consumerIds.map((id, person) => [id, plan.people[person]!]))
  const game: Game = {
    client,
    mechanisms,
    plan,
    consumerIds,
    events: mechanisms.map(() => []),
    refusals: new Map(),
    slots: new Map()
  }
  const cursors = mechanisms.map((): string | undefined => undefined)
  let checkouts: Array<{ readonly at: number; readonly mechanism: number; readonly consumerId: string }> = []
  let done = 0

  /** Reads what has happened since, and plans the uses of new grants. */
  const look = Effect.forEach(
    mechanisms,
    Effect.fnUntraced(function* ({ id, kind }, index) {
      const grants: ReadonlyArray<string> = declarations[kind].grants
      const fresh = yield* allOf((cursor) =>
        patient(
          client
            .admin((api) =>
              api.distributions.listDistributionHistory({
                params: { id },
                query: { first: 100, ...(cursors[index] !== undefined && { after: cursors[index] }), ...cursor }
              })
            )
            .pipe(
              Effect.tap(({ pageInfo: { endCursor } }) =>
                Effect.sync(() => (cursors[index] = endCursor ?? cursors[index]))
              )
            )
        )
      )
      for (const { type, at, consumerId, data } of fresh) {
        game.events[index]!.push({ type, at, consumerId, data })
        const after = consumerId === null ? undefined : personOf.get(consumerId)?.checkout
        if (grants.includes(type) && after !== undefined) {
          checkouts.push({ at: at + after, mechanism: index, consumerId: consumerId! })
        }
      }
    }),
    { concurrency: mechanisms.length, discard: true }
  )

  let clock = yield* clockOf(client)
  yield* look
  for (;;) {
    const now = clock.now
    const acts: Array<Act> = []
    while (done < plan.acts.length && plan.acts[done]!.at <= now) acts.push(plan.acts[done++]!)
    const paying = checkouts
      .filter(({ at }) => at <= now)
      .toSorted((a, b) => a.at - b.at || (a.consumerId < b.consumerId ? -1 : 1))
    checkouts = checkouts.filter(({ at }) => at > now)
    // Within a mechanism in their order, because the journal has it.
    yield* Effect.forEach(
      mechanisms,
      Effect.fnUntraced(function* (_, index) {
        for (const { mechanism, consumerId } of paying) if (mechanism === index) yield* use(game, index, consumerId)
        for (const act of acts) if (act.mechanism === index) yield* perform(game, act)
      }),
      { concurrency: mechanisms.length, discard: true }
    )
    if (acts.length + paying.length > 0) {
      yield* look
      clock = yield* clockOf(client)
    }
    yield* progress(done, now)
    const nextAct = Math.min(plan.acts[done]?.at ?? Infinity, ...checkouts.map(({ at }) => at))
    const due = clock.nextDueAt ?? Infinity
    // Where much is due, several of it pass at once. No grant is used sooner.
    const to = Math.min(nextAct, due <= now + checkoutLeast ? now + checkoutLeast : due)
    if (to > until) return game
    clock = yield* advance(client, to)
    yield* look
  }
})

const clockOf = (client: Client) => patient(client.admin((api) => api.testClock.getTestClock({})))

/** Advances the clock, and waits until all of it has happened. */
export const advance = Effect.fnUntraced(function* (client: Client, to: number) {
  yield* patient(client.admin((api) => api.testClock.advanceTestClock({ payload: { to } })))
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const clock = yield* clockOf(client)
    if (clock.status === "READY") return clock
    if (clock.status === "FAILED") {
      return yield* new StartRefused({ message: `The test clock could not be advanced. ${clock.problem}` })
    }
    yield* Effect.sleep(pause)
  }
})

/** The operations of a kind with its own path parameter. */
const operationsOf = (api: ConsumerClient, { kind, id }: CheckedMechanism) => {
  const { group, parameter } = declarations[kind]
  const params = { [parameter]: id } as unknown as { readonly queueId: string }
  return [api[group] as unknown as ConsumerClient["queues"], params] as const
}

/** Counts a refusal by its code. A request without an answer ends the rehearsal. */
const orRefusal = <A>(game: Game, effect: Effect.Effect<A, RequestError>, isLeaving = false) =>
  patient(effect).pipe(
    Effect.asVoid,
    Effect.catchIf(
      ({ reason }) => reason.startsWith("4"),
      ({ reason, code }) =>
        Effect.sync(() => {
          // Who leaves after its turn has come keeps it.
          if (isLeaving) return
          const name = code === "" ? reason : code
          game.refusals.set(name, (game.refusals.get(name) ?? 0) + 1)
        })
    )
  )

const use = (game: Game, index: number, consumerId: string) =>
  orRefusal(
    game,
    game.client.shop((api) => {
      const [operations, params] = operationsOf(api, game.mechanisms[index]!)
      return operations.complete({ params, payload: { consumerId } })
    })
  )

const perform = Effect.fnUntraced(function* (game: Game, { deed, mechanism: index, person }: Act) {
  const mechanism = game.mechanisms[index]!
  const { id, kind } = mechanism
  const consumer = game.client.actingFor(game.consumerIds[person]!)
  if (deed === "bid") {
    const payload = mechanism.settings.auctionType === "dutch" ? {} : { amount: `${nextBid(game, index)}` }
    const placed = orRefusal(
      game,
      consumer((api) => api.auctions.bid({ params: { auctionId: id }, payload }))
    )
    yield* placed
    return
  }
  if (kind === "appointment") {
    const slots = yield* slotsOf(game, mechanism)
    if (slots.length === 0) return
    const payload = { slotId: slots[person % slots.length]! }
    yield* orRefusal(
      game,
      consumer((api) => api.appointments.book({ params: { appointmentId: id }, payload }))
    )
    return
  }
  yield* orRefusal(
    game,
    consumer((api) => {
      const [operations, params] = operationsOf(api, mechanism)
      // A kind whose entry has a body accepts an empty one.
      return deed === "leave"
        ? operations.leave({ params })
        : operations.enter({ params, payload: {} } as { readonly params: typeof params })
    }),
    deed === "leave"
  )
})

/** The bids that were made, in whole units of the currency, which every currency accepts. */
const highest = new WeakMap<Game, Map<number, number>>()

const nextBid = (game: Game, index: number): number => {
  const bids = highest.get(game) ?? new Map<number, number>()
  highest.set(game, bids)
  const { startPrice = "1" } = game.mechanisms[index]!.settings
  const before = bids.get(index)
  const amount = before === undefined ? Math.ceil(Number(startPrice)) : Math.max(before + 1, Math.ceil(before * 1.01))
  bids.set(index, amount)
  return amount
}

/** The slots of an appointment, read once. */
const slotsOf = Effect.fnUntraced(function* (game: Game, { id, settings }: CheckedMechanism) {
  const known = game.slots.get(id)
  if (known !== undefined) return known
  const startDate = settings.slotsFrom!
  const endDate = Math.min(settings.slotsUntil!, startDate + openMillis)
  const { data } = yield* patient(
    game.client.shop((api) => api.appointments.slots({ params: { appointmentId: id }, query: { startDate, endDate } }))
  )
  const ids = data.map((slot) => slot.id)
  game.slots.set(id, ids)
  return ids
})
