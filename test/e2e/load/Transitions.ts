/** Every timed transition: how to prepare it for a given time, and how to observe it. */
import { randomUUID } from "node:crypto"
import { type Apis, type Guest, Unexpected } from "../support/Apis.ts"
import type { HttpAnswer } from "../support/HttpConnections.ts"
import { alwaysOpen } from "./Mechanisms.ts"
import { pause } from "../support/Processes.ts"

/** A prepared transition: its name, its time and how to observe it. */
export interface Awaited {
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly dueAt: number
  readonly shows: Shows
}

type Shows =
  /** An event in the journal; of this consumer, if there is one. */
  | { readonly in: "journal"; readonly mechanismId: string; readonly type: string; readonly consumerId?: string }
  /** A request that returns true once the transition has happened. */
  | { readonly in: "answer"; readonly hasHappened: () => Promise<boolean> }
  /** A message to this address in the outbox. */
  | { readonly in: "outbox"; readonly to: string }

/** Prepares a transition for `at`, or close to it if only whole seconds can be set. */
type Prepare = (stage: Stage, at: number) => Promise<ReadonlyArray<Omit<Awaited, "name"> & { readonly name?: string }>>

const text = (at: number): string => new Date(at).toISOString()
const dayMillis = 86_400_000
const minuteMillis = 60_000

/** Creates the mechanisms and consumers of transitions. */
export class Stage {
  readonly apis: Apis
  constructor(apis: Apis) {
    this.apis = apis
  }

  /** Creates a mechanism in a new sequence. Returns its path and id. */
  async create(folder: string, settings: object, sequenceId?: string) {
    const sequence = sequenceId ?? (await this.apis.createSequence())
    const id = await this.apis.create(`/${folder}`, { sequenceId: sequence, name: folder, ...settings })
    return { id, path: `/${folder}/${id}` }
  }

  /** Creates a guest that sends this request; `expiresAt` is the expiry of its grant, if it received one. */
  async guest(path: string, body?: object): Promise<{ readonly guest: Guest; readonly expiresAt: number }> {
    const guest = await this.apis.guest()
    const answer = done(path, await this.apis.doAs(guest, path, body))
    return { guest, expiresAt: Date.parse(answer.body.expiresAt ?? "") }
  }

  /** Creates a consumer with an email address. */
  async member(): Promise<Guest & { readonly email: string }> {
    const email = `${randomUUID()}@example.com`
    const identity = { provider: "shop", issuer: "shop", subject: email, claims: { email, email_verified: true } }
    const vouched = done("authorize", await this.apis.doAsShop("/auth/external/authorize", identity))
    const exchange = { exchangeCode: vouched.body.exchangeCode }
    const path = "/api/auth/external/exchange"
    const headers = this.apis.asPublic
    const { body } = done(path, await this.apis.consumer.send({ method: "POST", path, headers, body: exchange }))
    return { consumerId: body.session!.consumerId, accessToken: body.accessToken!, email }
  }

  /** Returns a function that sends a request and returns whether it succeeded. */
  isAccepted(guest: Guest, path: string, body?: object): () => Promise<boolean> {
    return async () => (await this.apis.doAs(guest, path, body)).status === 200
  }

  async slots(path: string, from: number): Promise<ReadonlyArray<Slot>> {
    const query = `startDate=${text(from).slice(0, 10)}&endDate=${text(from + dayMillis).slice(0, 10)}`
    const slotsPath = `${path}/slots?${query}`
    const { body } = done(slotsPath, await this.apis.seeAs(await this.apis.guest(), slotsPath))
    return (body.data ?? []) as unknown as ReadonlyArray<Slot>
  }
}

interface Slot {
  readonly id: string
  readonly startTime: string
  readonly endTime: string
}

const done = (what: string, answer: HttpAnswer): HttpAnswer => {
  if (answer.status >= 300) throw new Unexpected(what, answer)
  return answer
}

const wholeSeconds = (at: number): number => Math.max(1, Math.round((at - Date.now()) / 1000))

const event = (dueAt: number, mechanismId: string, type: string, consumerId?: string) => ({
  dueAt,
  shows: { in: "journal", mechanismId, type, ...(consumerId !== undefined && { consumerId }) } as const
})

/** An opening: an entry succeeds from then on. */
const opening =
  (folder: string, settings: (at: number) => object, action = "enter"): Prepare =>
  async (stage, at) => {
    const { path } = await stage.create(folder, settings(at))
    const hasHappened = stage.isAccepted(await stage.apis.guest(), `${path}/${action}`)
    return [{ dueAt: at, shows: { in: "answer", hasHappened } }]
  }

/** The closing of an empty mechanism, which is torn down at once. */
const closing =
  (folder: string, settings: object = {}): Prepare =>
  async (stage, at) => {
    const { id } = await stage.create(folder, { closeAt: text(at), ...settings })
    return [event(at, id, "Closed"), { ...event(at, id, "TornDown"), name: "a mechanism is torn down" }]
  }

const slotted = (from: number) => ({
  timeZone: "UTC",
  hours: alwaysOpen,
  slotDurationMinutes: 1,
  maxCapacityPerSlot: 2,
  slotsFrom: text(from),
  slotsUntil: text(from + dayMillis)
})

const free = { admitRate: 60, supportsGuest: true }
const english = { startPrice: "10" }
const lottery = { winnerCount: 1, supportsGuest: true }

/** By their names in the table. */
export const transitions: { readonly [name: string]: Prepare } = {
  "a queue opens": opening("queues", (at) => ({ ...free, openAt: text(at) })),
  "a queue's lobby opens": opening("queues", (at) => ({
    ...free,
    lobbyOpenAt: text(at),
    openAt: text(at + dayMillis)
  })),
  "a draw opens": opening("draws", (at) => ({ ...lottery, openAt: text(at), drawAt: text(at + dayMillis) })),
  "an auction opens": opening("auctions", (at) => ({ ...english, openAt: text(at), settleAt: text(at + dayMillis) })),
  "a timed release opens": opening("timed-releases", (at) => ({ openAt: text(at), supportsGuest: true })),
  "a waitlist opens": opening("waitlists", (at) => ({ openAt: text(at) })),
  "an appointment opens": async (stage, at) => {
    const { path } = await stage.create("appointments", { openAt: text(at), ...slotted(at + dayMillis) })
    const [slot] = await stage.slots(path, at + dayMillis)
    const hasHappened = stage.isAccepted(await stage.apis.guest(), `${path}/book`, { slotId: slot!.id })
    return [{ dueAt: at, shows: { in: "answer", hasHappened } }]
  },

  "a queue's lobby is shuffled": async (stage, at) => {
    const lobby = { lobbyOpenAt: text(Date.now() - 1_000), openAt: text(at), admitRate: 60 }
    const { id, path } = await stage.create("queues", lobby)
    for (let entries = 0; entries < 3; entries++) await stage.guest(`${path}/enter`)
    return [event(at, id, "Opened"), { ...event(at, id, "Granted"), name: "a queue admits the first" }]
  },
  "a draw is drawn": async (stage, at) => {
    const { id, path } = await stage.create("draws", { ...lottery, drawAt: text(at) })
    for (let entries = 0; entries < 3; entries++) await stage.guest(`${path}/enter`)
    return [
      { ...event(at, id, "EntriesFixed"), name: "a draw closes and fixes its list" },
      event(at, id, "Drawn"),
      { ...event(at, id, "Denied"), name: "a draw denies the others" }
    ]
  },
  "a win expires": async (stage, at) => {
    const drawnAt = Date.now() + 700
    const { id, path } = await stage.create("draws", {
      ...lottery,
      drawAt: text(drawnAt),
      admissionExpirationSeconds: wholeSeconds(at - (drawnAt - Date.now())),
      continueSelectingUntilCompleted: true
    })
    const guests = [await stage.guest(`${path}/enter`), await stage.guest(`${path}/enter`)].map(({ guest }) => guest)
    const won = await untilWon(stage, path, guests)
    const other = guests.find((guest) => guest !== won.guest)!
    const replaced = event(won.expiresAt, id, "Won", other.consumerId)
    return [
      event(won.expiresAt, id, "Expired", won.guest.consumerId),
      { ...replaced, name: "another is drawn in its place" }
    ]
  },

  "an english auction is settled": async (stage, at) => {
    const { id, path } = await stage.create("auctions", { ...english, settleAt: text(at) })
    await stage.guest(`${path}/bid`, { amount: "20" })
    await stage.guest(`${path}/bid`, { amount: "30" })
    return [event(at, id, "Won"), event(at, id, "Lost")]
  },
  "an extended auction is settled": async (stage, at) => {
    const autoExtendSeconds = wholeSeconds(at)
    const closeAt = text(Date.now() + autoExtendSeconds * 1000 - 500)
    const { id, path } = await stage.create("auctions", { ...english, autoExtendSeconds, settleAt: closeAt })
    await pause(600)
    const { guest } = await stage.guest(`${path}/bid`, { amount: "20" })
    const { body } = done(path, await stage.apis.seeAs(guest, path))
    if (body.closeAt === closeAt) throw new Error("the late bid extended nothing")
    return [event(Date.parse(body.closeAt!), id, "Won")]
  },
  "a dutch price drops": async (stage, at) => {
    const { path } = await stage.create("auctions", {
      auctionType: "dutch",
      openAt: text(at - 3_600_000),
      settleAt: text(at + dayMillis),
      startPrice: "100",
      floorPrice: "10",
      priceDropAmount: "1",
      priceDropIntervalSeconds: 3_600
    })
    const guest = await stage.apis.guest()
    const hasHappened = async () =>
      Number((await stage.apis.seeAs(guest, `${path}/current-price`)).body.currentPrice) === 99
    return [{ dueAt: at, shows: { in: "answer", hasHappened } }]
  },

  "a queue's grant expires": async (stage, at) => {
    const { id, path } = await stage.create("queues", { admitRate: 0, admissionExpirationSeconds: wholeSeconds(at) })
    const { guest } = await stage.guest(`${path}/enter`)
    const { consumerId } = guest
    const { body } = done(path, await stage.apis.doAsShop(`${path}/admit`, { consumerId }))
    return [event(Date.parse(body.expiresAt!), id, "Expired")]
  },
  "a timed release's grant expires": async (stage, at) => {
    const settings = { supportsGuest: true, admissionExpirationSeconds: wholeSeconds(at) }
    const { id, path } = await stage.create("timed-releases", settings)
    return [event((await stage.guest(`${path}/enter`, {})).expiresAt, id, "Expired")]
  },
  "an auction's grant expires": async (stage, at) => {
    const { id, path } = await stage.create("auctions", {
      auctionType: "dutch",
      settleAt: text(at + dayMillis),
      startPrice: "100",
      floorPrice: "10",
      priceDropAmount: "1",
      priceDropIntervalSeconds: 3_600,
      quantity: 2,
      admissionExpirationSeconds: wholeSeconds(at)
    })
    return [event((await stage.guest(`${path}/bid`, {})).expiresAt, id, "Expired")]
  },

  "a queue closes": async (stage, at) => {
    const { id, path } = await stage.create("queues", { admitRate: 0, closeAt: text(at) })
    await stage.guest(`${path}/enter`)
    return [
      event(at, id, "Closed"),
      { ...event(at, id, "Denied"), name: "a closed queue denies waiting consumers" },
      { ...event(at, id, "TornDown"), name: "a mechanism is torn down" }
    ]
  },
  "an auction closes": async (stage, at) => {
    const { id } = await stage.create("auctions", { ...english, closeAt: text(at), settleAt: text(at + dayMillis) })
    return [event(at, id, "Closed")]
  },
  "a timed release closes": closing("timed-releases"),
  "an appointment closes": closing("appointments", slotted(Date.now())),
  "a waitlist closes": closing("waitlists"),

  "a waitlist's notice is due": async (stage, at) => {
    const sequenceId = await stage.apis.createSequence()
    const { id, path } = await stage.create("waitlists", {}, sequenceId)
    await stage.create("timed-releases", { openAt: text(at) }, sequenceId)
    const member = await stage.member()
    done(path, await stage.apis.doAs(member, `${path}/enter`))
    return [
      event(at, id, "NoticeDue"),
      { name: "a waitlist's message is sent", dueAt: at, shows: { in: "outbox", to: member.email } },
      { ...event(at, id, "Notified"), name: "a waitlist records the notice" }
    ]
  }
}

/**
 * Slots begin and end with the minute. Prepares a slot that ends at `at`, with one consumer checked in and one missing.
 */
export const slotEnd: Prepare = async (stage, at) => {
  const begins = at - minuteMillis
  const { id, path } = await stage.create("appointments", slotted(begins))
  const slot = (await stage.slots(path, begins)).find(({ startTime }) => Date.parse(startTime) === begins)
  if (slot === undefined) throw new Error(`no slot begins at ${text(begins)} any more: the preparation took too long`)
  const [missing, coming] = [
    await stage.guest(`${path}/book`, { slotId: slot.id }),
    await stage.guest(`${path}/book`, { slotId: slot.id })
  ].map(({ guest: { consumerId } }) => consumerId)
  done(path, await stage.apis.doAsAdmin("POST", `${path}/check-in`, { consumerId: coming }))
  return [
    { ...event(at, id, "Missed", missing), name: "a slot ends for a missing consumer" },
    { ...event(at, id, "Completed", coming), name: "a slot ends for a checked-in consumer" }
  ]
}

async function untilWon(stage: Stage, path: string, guests: ReadonlyArray<Guest>) {
  for (let look = 0; look < 400; look++) {
    for (const guest of guests) {
      const { body } = await stage.apis.seeAs(guest, `${path}/status`)
      if (body.status === "WON") return { guest, expiresAt: Date.parse(body.expiresAt!) }
    }
    await pause(25)
  }
  throw new Error(`no consumer has won in ${path}`)
}
