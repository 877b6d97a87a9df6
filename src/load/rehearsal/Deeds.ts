/**
 * What people do in a rehearsal, as requests to the Consumer API. The shop's server acts for all of them, so the
 * organization's limits apply and no limit of an address.
 */
import { Effect } from "effect"
import type { Act, Plan } from "../../domain/rehearsal/Acts.ts"
import type { Bids } from "../../domain/rehearsal/Bids.ts"
import type { CheckedMechanism } from "../../domain/rehearsal/CheckedDrop.ts"
import { declarations } from "../../domain/mechanism/Mechanism.ts"
import { dayMillis } from "../../domain/values/WallClock.ts"
import type { Client, ConsumerClient, RequestError } from "../Client.ts"
import { patient } from "./Clock.ts"

/** Days of an appointment whose slots people look at. */
const slotMillis = 30 * dayMillis

/** The copy, its crowd, and what they have been told. */
export interface Game {
  readonly client: Client
  readonly mechanisms: ReadonlyArray<CheckedMechanism>
  readonly plan: Plan
  /** The consumer of each person. */
  readonly consumerIds: ReadonlyArray<string>
  /** The bids in each mechanism. */
  readonly bids: ReadonlyArray<Bids>
  /** The slots of each appointment that was looked at. */
  readonly slots: Map<string, ReadonlyArray<string>>
  /** The people of each mechanism whose turn has come. */
  readonly granted: ReadonlyArray<Set<number>>
  /** How many requests to each mechanism were refused, by code. */
  readonly refusals: ReadonlyArray<Map<string, number>>
}

/** The operations of a kind with its own path parameter. */
const operationsOf = (api: ConsumerClient, { kind, id }: CheckedMechanism) => {
  const { group, parameter } = declarations[kind]
  const params = { [parameter]: id } as unknown as { readonly queueId: string }
  return [api[group] as unknown as ConsumerClient["queues"], params] as const
}

/** Does what an act says. A refusal is counted by its code. A request without an answer ends the rehearsal. */
export const perform = (game: Game, act: Act): Effect.Effect<void, RequestError> => {
  switch (act.deed) {
    case "use":
      return isAppointment(game, act) ? counted(game, act, checkIn(game, act)) : counted(game, act, use(game, act))
    case "leave":
      // Nobody loses patience once its turn has come. Who is not in the line any more is refused.
      return game.granted[act.mechanism]!.has(act.person)
        ? Effect.void
        : Effect.catchIf(Effect.asVoid(patient(leave(game, act))), isRefusal, () => Effect.void)
    case "bid":
      return bid(game, act)
    case "enter":
      return isAppointment(game, act) ? book(game, act) : counted(game, act, enter(game, act))
  }
}

const isAppointment = ({ mechanisms }: Game, { mechanism }: Act): boolean =>
  mechanisms[mechanism]!.kind === "appointment"

const isRefusal = ({ reason }: RequestError): boolean => reason.startsWith("4")

/** Counts a refusal. Runs `then` after a success. */
const counted = <A>(
  { refusals }: Game,
  { mechanism }: Act,
  effect: Effect.Effect<A, RequestError>,
  then: () => void = () => {}
) =>
  patient(effect).pipe(
    Effect.map(then),
    Effect.catchIf(isRefusal, ({ reason, code }) =>
      Effect.sync(() => {
        const name = code === "" ? reason : code
        refusals[mechanism]!.set(name, (refusals[mechanism]!.get(name) ?? 0) + 1)
      })
    )
  )

const actingFor = ({ client, consumerIds }: Game, { person }: Act) => client.actingFor(consumerIds[person]!)

const use = ({ client, mechanisms, consumerIds }: Game, { mechanism, person }: Act) =>
  client.shop((api) => {
    const [operations, params] = operationsOf(api, mechanisms[mechanism]!)
    return operations.complete({ params, payload: { consumerId: consumerIds[person]! } })
  })

const checkIn = ({ client, mechanisms, consumerIds }: Game, { mechanism, person }: Act) =>
  client.admin((api) =>
    api.appointments.checkIn({
      params: { id: mechanisms[mechanism]!.id },
      payload: { consumerId: consumerIds[person]! }
    })
  )

const leave = (game: Game, act: Act) =>
  actingFor(
    game,
    act
  )((api) => {
    const [operations, params] = operationsOf(api, game.mechanisms[act.mechanism]!)
    return operations.leave({ params })
  })

const enter = (game: Game, act: Act) =>
  actingFor(
    game,
    act
  )((api) => {
    const [operations, params] = operationsOf(api, game.mechanisms[act.mechanism]!)
    // A kind whose entry has a body accepts an empty one.
    return operations.enter({ params, payload: {} } as { readonly params: typeof params })
  })

const bid = (game: Game, act: Act) => {
  const { id } = game.mechanisms[act.mechanism]!
  const bids = game.bids[act.mechanism]!
  const payload = bids.next(act.person, game.plan.people[act.person]!.worth, act.at)
  if (payload === undefined) return Effect.void
  const request = actingFor(game, act)((api) => api.auctions.bid({ params: { auctionId: id }, payload }))
  return counted(game, act, request, () => bids.placed(act.person, payload))
}

/** Books a slot. Each person has one that suits it, whether it is free or not. */
const book = Effect.fnUntraced(function* (game: Game, act: Act) {
  const { id, settings } = game.mechanisms[act.mechanism]!
  const slots = game.slots.get(id) ?? (yield* slotsOf(game.client, id, settings))
  game.slots.set(id, slots)
  if (slots.length === 0) return
  const payload = { slotId: slots[act.person % slots.length]! }
  yield* counted(
    game,
    act,
    actingFor(game, act)((api) => api.appointments.book({ params: { appointmentId: id }, payload }))
  )
})

const slotsOf = Effect.fnUntraced(function* (client: Client, id: string, settings: CheckedMechanism["settings"]) {
  const startDate = settings.slotsFrom!
  const endDate = Math.min(settings.slotsUntil!, startDate + slotMillis)
  const { data } = yield* patient(
    client.shop((api) => api.appointments.slots({ params: { appointmentId: id }, query: { startDate, endDate } }))
  )
  return data.map((slot) => slot.id)
})
