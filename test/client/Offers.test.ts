/**
 * Everything that a room offers is accepted: in each standing of each kind, every form of the page, and every action of
 * the client.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Usher as Client } from "../../src/client/client.ts"
import { memoryStorage } from "./support/clientFixture.ts"
import { type Answer, asServer, Usher } from "../http/support/usherFixture.ts"
import { movableClock } from "../support/movableClock.ts"
import * as Fixture from "../pages/support/roomFixture.ts"

const clock = movableClock()
const at = (seconds: number) => new Date(clock.now() + seconds * 1000).toISOString()

/** Longer than public facts are reused. */
const laterMillis = 3_000

type Api = Effect.Effect<any, never, Usher>

/** What brings a standing about. */
interface Bringing {
  readonly path: string
  readonly consumerId: string
  /** Acts as the visitor, or as another consumer. */
  readonly act: (action: string, body?: object, consumerId?: string) => Api
  /** Acts as the brand, on the visitor. */
  readonly staff: (action: string) => Api
  readonly other: Effect.Effect<string, never, Usher>
  readonly slots: Effect.Effect<ReadonlyArray<{ readonly id: string; readonly startTime: string }>, never, Usher>
}

interface Row {
  readonly sequence: () => object
  readonly bring?: (bringing: Bringing) => Effect.Effect<unknown, never, Usher>
  /** The actions of the forms, in their order. */
  readonly forms: ReadonlyArray<string>
  /** The actions of the client, where they are others. */
  readonly actions?: ReadonlyArray<string>
}

const queue = (own: object = {}) => ({ queues: [{ name: "Q", admitRate: 0, ...own }] })
const draw = (own: object = {}) => ({ draws: [{ name: "D", winnerCount: 1, closeAt: at(60), drawAt: at(61), ...own }] })
const english = (own: object = {}) => ({
  auctions: [{ name: "A", startPrice: "10.00", minBidIncrement: "1.00", settleAt: at(600), ...own }]
})
const dutch = (own: object = {}) => {
  const falling = { startPrice: "100", floorPrice: "40", priceDropAmount: "15", priceDropIntervalSeconds: 60 }
  return english({ auctionType: "dutch", minBidIncrement: undefined, openAt: at(1), ...falling, ...own })
}
const release = (own: object = {}) => ({ timedReleases: [{ name: "T", closeAt: at(7_200), ...own }] })
const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
const appointment = (own: object = {}) => ({
  appointments: [
    {
      name: "F",
      slotDurationMinutes: 5,
      hours: Object.fromEntries(days.map((day) => [day, [{ from: "00:00", to: "24:00" }]])),
      slotsFrom: at(-3_600),
      slotsUntil: at(3_600),
      ...own
    }
  ]
})
const waitlist = (own: object = {}) => ({ waitlist: { name: "W", supportsGuest: true, ...own } })

const wait = (millis: number) => clock.putForward(millis)
const enter = ({ act }: Bringing) => act("enter")
const granted = (b: Bringing) => Effect.andThen(enter(b), b.staff("admit"))
const others = (b: Bringing, action = "enter", body?: object) =>
  Effect.flatMap(b.other, (consumerId) => b.act(action, body, consumerId))
/** Books the second slot, because the first may begin at any moment. */
const booked = (b: Bringing) =>
  Effect.flatMap(b.slots, ([, slot]) => Effect.as(b.act("book", { slotId: slot!.id }), slot!))
/** Waits until the booked slot has begun. */
const begun = (b: Bringing) =>
  Effect.flatMap(booked(b), ({ startTime }) => wait(Date.parse(startTime) - clock.now() + 1_000))

const lapsed = { admissionExpirationSeconds: 60 }

const rows: { readonly [standing: string]: Row } = {
  "queue, new": { sequence: queue, forms: ["enter"] },
  "queue, not open yet": { sequence: () => queue({ openAt: at(3_600) }), forms: [] },
  "queue, lobby": { sequence: () => queue({ lobbyOpenAt: at(-1), openAt: at(3_600) }), bring: enter, forms: ["leave"] },
  "queue, new in the lobby": { sequence: () => queue({ lobbyOpenAt: at(-1), openAt: at(3_600) }), forms: ["enter"] },
  "queue, closed": { sequence: () => queue({ closeAt: at(60) }), bring: () => wait(61_000), forms: [] },
  "queue, full": { sequence: () => queue({ capacity: 1 }), bring: others, forms: [] },
  "queue, without guests": { sequence: () => queue({ supportsGuest: false }), forms: [] },
  "queue, waiting": { sequence: queue, bring: enter, forms: ["leave"] },
  "queue, closed while waiting": {
    sequence: () => queue({ closeAt: at(60) }),
    bring: (b) => Effect.andThen(enter(b), wait(61_000)),
    forms: []
  },
  "queue, granted": { sequence: queue, bring: granted, forms: ["leave"] },
  "queue, granted and closed": {
    sequence: () => queue({ closeAt: at(60) }),
    bring: (b) => Effect.andThen(granted(b), wait(61_000)),
    forms: ["leave"]
  },
  "queue, completed": { sequence: queue, bring: (b) => Effect.andThen(granted(b), b.staff("complete")), forms: [] },
  "queue, completed one of two": {
    sequence: () => queue({ grantsPerConsumer: 2 }),
    bring: (b) => Effect.andThen(granted(b), b.staff("complete")),
    forms: ["enter"]
  },
  "queue, completed the only one": {
    sequence: () => queue({ grantsPerConsumer: 1 }),
    bring: (b) => Effect.andThen(granted(b), b.staff("complete")),
    forms: []
  },
  "queue, left": { sequence: queue, bring: (b) => Effect.andThen(enter(b), b.act("leave")), forms: ["enter"] },
  "queue, left a full one": {
    sequence: () => queue({ capacity: 1 }),
    bring: (b) => Effect.andThen(Effect.andThen(enter(b), b.act("leave")), others(b)),
    forms: []
  },
  "queue, left the only grant": {
    sequence: () => queue({ grantsPerConsumer: 1 }),
    bring: (b) => Effect.andThen(granted(b), b.act("leave")),
    forms: []
  },
  "queue, lapsed": {
    sequence: () => queue(lapsed),
    bring: (b) => Effect.andThen(granted(b), wait(61_000)),
    forms: ["enter"]
  },
  "queue, lapsed the only grant": {
    sequence: () => queue({ ...lapsed, grantsPerConsumer: 1 }),
    bring: (b) => Effect.andThen(granted(b), wait(61_000)),
    forms: []
  },
  "queue, denied": { sequence: queue, bring: (b) => Effect.andThen(enter(b), b.staff("deny")), forms: [] },
  "draw, new": { sequence: draw, forms: ["enter"] },
  "draw, full": { sequence: () => draw({ capacity: 1 }), bring: others, forms: [] },
  "draw, full again after a denial": {
    sequence: () => draw({ capacity: 1 }),
    bring: (b) =>
      Effect.flatMap(b.other, (consumerId) =>
        Effect.andThen(
          b.act("enter", undefined, consumerId),
          Fixture.asBrandServer("POST", `${b.path}/deny`, { consumerId, reason: "ADMIN_ACTION" })
        )
      ),
    forms: ["enter"]
  },
  "draw, entered": { sequence: draw, bring: enter, forms: ["leave"] },
  "draw, withdrawn": { sequence: draw, bring: (b) => Effect.andThen(enter(b), b.act("leave")), forms: ["enter"] },
  "draw, closed": { sequence: draw, bring: () => wait(60_500), forms: [] },
  "english auction, new": { sequence: english, forms: ["bid"] },
  "english auction, winning": { sequence: english, bring: ({ act }) => act("bid", { amount: "12" }), forms: ["bid"] },
  "english auction, outbid": {
    sequence: english,
    bring: (b) => Effect.andThen(b.act("bid", { amount: "12" }), others(b, "bid", { amount: "20" })),
    forms: ["bid"]
  },
  "english auction, closed": { sequence: english, bring: () => wait(700_000), forms: [] },
  "dutch auction, new": { sequence: dutch, bring: () => wait(2_000), forms: ["bid"] },
  "dutch auction, after a fall": { sequence: dutch, bring: () => wait(62_000), forms: ["bid"] },
  "dutch auction, sold out": {
    sequence: dutch,
    bring: (b) => Effect.andThen(wait(2_000), others(b, "bid")),
    forms: []
  },
  "dutch auction, lapsed": {
    sequence: () => dutch({ ...lapsed, quantity: 2 }),
    bring: (b) => Effect.andThen(wait(2_000), Effect.andThen(b.act("bid"), wait(61_000))),
    forms: []
  },
  "release, new": { sequence: release, forms: ["enter"] },
  "release, sold out": { sequence: () => release({ capacity: 1 }), bring: others, forms: [] },
  "release, granted": { sequence: release, bring: enter, forms: ["enter", "leave"] },
  "release, granted the last unit": {
    sequence: () => release({ capacity: 1 }),
    bring: enter,
    forms: ["enter", "leave"]
  },
  "release, granted and closed": {
    sequence: () => release({ closeAt: at(60) }),
    bring: (b) => Effect.andThen(enter(b), wait(61_000)),
    forms: ["enter", "leave"]
  },
  "release, left": { sequence: release, bring: (b) => Effect.andThen(enter(b), b.act("leave")), forms: ["enter"] },
  "release, left the only grant": {
    sequence: () => release({ grantsPerConsumer: 1 }),
    bring: (b) => Effect.andThen(enter(b), b.act("leave")),
    forms: []
  },
  "release, completed": { sequence: release, bring: (b) => Effect.andThen(enter(b), b.staff("complete")), forms: [] },
  "release, completed one of two": {
    sequence: () => release({ grantsPerConsumer: 2 }),
    bring: (b) => Effect.andThen(enter(b), b.staff("complete")),
    forms: ["enter"]
  },
  "release, lapsed": {
    sequence: () => release(lapsed),
    bring: (b) => Effect.andThen(enter(b), wait(61_000)),
    forms: ["enter"]
  },
  "release, lapsed the only grant": {
    sequence: () => release({ ...lapsed, grantsPerConsumer: 1 }),
    bring: (b) => Effect.andThen(enter(b), wait(61_000)),
    forms: []
  },
  "release, denied": { sequence: release, bring: (b) => Effect.andThen(enter(b), b.staff("deny")), forms: [] },
  "appointment, without guests": { sequence: () => appointment({ supportsGuest: false }), forms: [] },
  "appointment, closed": { sequence: () => appointment({ closeAt: at(60) }), bring: () => wait(61_000), forms: [] },
  "appointment, booked": { sequence: appointment, bring: booked, forms: ["cancel"], actions: ["reschedule", "cancel"] },
  "appointment, begun": { sequence: appointment, bring: begun, forms: [] },
  "appointment, booked and closed": {
    sequence: () => appointment({ closeAt: at(60) }),
    bring: (b) => Effect.andThen(booked(b), wait(61_000)),
    forms: ["cancel"]
  },
  "appointment, cancelled and closed": {
    sequence: () => appointment({ closeAt: at(60) }),
    bring: (b) => Effect.andThen(Effect.andThen(booked(b), b.act("cancel")), wait(61_000)),
    forms: []
  },
  "appointment, missed": {
    sequence: appointment,
    bring: (b) => Effect.andThen(begun(b), b.staff("no-show")),
    forms: []
  },
  "appointment, visited": {
    sequence: appointment,
    bring: (b) => Effect.andThen(begun(b), b.staff("check-in")),
    forms: []
  },
  "waitlist, new": { sequence: waitlist, forms: ["join"] },
  "waitlist, without guests": {
    sequence: () => waitlist({ supportsGuest: false }),
    forms: ["join"],
    actions: []
  },
  "waitlist, full": { sequence: () => waitlist({ capacity: 1 }), bring: others, forms: [] },
  "waitlist, member": { sequence: waitlist, bring: enter, forms: ["leave"] },
  "waitlist, left": { sequence: waitlist, bring: (b) => Effect.andThen(enter(b), b.act("leave")), forms: ["join"] }
}

/** The fields that a visitor types, and what a client sends. */
const typed: { readonly [action: string]: object } = { bid: { amount: "90" }, join: { email: "joins@example.com" } }
const sent: { readonly [action: string]: object } = { bid: { amount: "150" } }

const groups = ["queues", "draws", "auctions", "appointments", "timedReleases", "waitlist"]

const hiddenIn = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""))

const actionOf = ({ action }: Fixture.Form) => new URL(action, "http://x").pathname.split("/")[3]!

/** The forms of the mechanisms. Going on to the shop and signing out are not theirs. */
const formsIn = (page: Answer) =>
  Fixture.formsOf(page).filter((form) => form.action.startsWith("/e/") && actionOf(form) !== "sign-out")

/** A guest in the standing, its page, and a client with its session. */
const brought = Effect.fnUntraced(function* ({ sequence, bring }: Row, productId: string) {
  const usher = yield* Usher
  const made = yield* Fixture.room(sequence(), { products: [{ productId }] })
  const [group, { id }] = groups.map((name) => [name, [made.sequence[name]].flat()[0]] as const).find(([, one]) => one)!
  const path = `/${group === "waitlist" ? "waitlists" : group.replace("timedReleases", "timed-releases")}/${id}`
  const guest = yield* usher.guest()
  const { consumerId } = guest
  const call = (action: string, body: object | undefined, consumerId: string | undefined) =>
    Effect.map(
      usher.consumer({
        method: "POST",
        path: `/api${path}/${action}`,
        headers: asServer(usher.brand.secretKey, consumerId),
        body
      }),
      ({ status, text, body }) => {
        assert.isBelow(status, 300, `${path}/${action}: ${text}`)
        return body
      }
    )
  const byStaff: { readonly [action: string]: object } = { deny: { reason: "ADMIN_ACTION" } }
  const admin = new Set(["no-show", "check-in"])
  yield* (
    bring?.({
      path,
      consumerId,
      act: (action, body, as = consumerId) => call(action, body, as),
      staff: (action) => {
        const body = { consumerId, ...byStaff[action] }
        return admin.has(action) ? Fixture.brand("POST", `${path}/${action}`, body) : call(action, body, undefined)
      },
      other: Effect.map(usher.guest(), ({ consumerId }) => consumerId),
      slots: Effect.map(
        usher.consumer({ path: `/api${path}/slots`, headers: asServer(usher.brand.secretKey) }),
        ({ body }) => body.data.filter(({ available }: { available: number }) => available > 0)
      )
    }) ?? Effect.void
  )
  yield* wait(laterMillis)
  const bearer = { authorization: `Bearer ${guest.accessToken}` }
  const storage = memoryStorage()
  const session = { type: "guest", consumerId, guestId: consumerId, expiresAt: at(86_400) }
  storage.setItem(`usher ${usher.brand.publishableKey}`, JSON.stringify({ ...guest, session, expiresAt: Infinity }))
  const { consumerUrl: url, brand } = usher
  const client = new Client({ url, publishableKey: brand.publishableKey, storage })
  return {
    page: yield* usher.consumer({ path: `/e/${made.experienceId}/place`, headers: bearer }),
    post: ({ action, fields }: Fixture.Form, more: object) =>
      usher.consumer({
        method: "POST",
        path: action,
        headers: { ...bearer, "content-type": "application/x-www-form-urlencoded" },
        // The page's own values stay, as hidden fields do.
        body: `${new URLSearchParams({ ...fields, ...more, ...hiddenIn(fields) })}`
      }),
    store: client.experience(made.experienceId)
  }
})

describe("A room", () => {
  layer(Fixture.layer.pipe(Layer.provide(clock.layer)), { excludeTestServices: true })((it) => {
    for (const [standing, row] of Object.entries(rows)) {
      it.effect(`offers what is accepted: ${standing}`, () =>
        Effect.gen(function* () {
          const { id: productId } = yield* Fixture.product(["42", "43"])
          const first = yield* brought(row, productId)
          const names = (page: Answer) => [...new Set(formsIn(page).map(actionOf))]
          assert.strictEqual(first.page.status, 200)
          assert.deepStrictEqual(names(first.page), row.forms)
          for (const [index] of row.forms.entries()) {
            const { page, post } = index === 0 ? first : yield* brought(row, productId)
            const form = formsIn(page).find((form) => actionOf(form) === row.forms[index])!
            const answer = yield* post(form, typed[row.forms[index]!] ?? {})
            assert.include([200, 303], answer.status, Fixture.textOf(answer))
            assert.notMatch(answer.text, /role="alert"/)
          }
          const actions = row.actions ?? row.forms
          yield* Effect.promise(() => first.store.load())
          if (row.forms.length === 0) assert.deepStrictEqual(first.store.getSnapshot().actions, actions as never)
          for (const action of actions) {
            const { store } = yield* brought(row, productId)
            yield* Effect.promise(() => store.load())
            assert.deepStrictEqual(store.getSnapshot().actions, actions as never)
            if (action !== "reschedule") yield* Effect.promise(() => store.act(action as never, sent[action]))
          }
        })
      )
    }
  })
})
