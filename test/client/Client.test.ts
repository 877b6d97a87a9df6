/** A consumer's way through experiences, as a page with the client sees it. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { UsherError } from "../../src/client/client.ts"
import { asBrandServer, brand, mailedCode, room } from "../pages/support/roomFixture.ts"
import * as Fixture from "../pages/support/roomFixture.ts"
import { client, memoryStorage, seen, subscribed } from "./support/clientFixture.ts"

const after = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
const queue = { name: "Front door", admitRate: 0, admissionExpirationSeconds: 300 }

/** An experience of this sequence, as a new visitor with a client sees it. */
const drop = Effect.fnUntraced(function* (sequence: object, experience: object = {}) {
  const { sequence: created, experienceId } = yield* room(sequence, experience)
  const usher = yield* client()
  const store = usher.experience(experienceId)
  yield* subscribed(store)
  yield* seen(store, ({ state }) => state !== "loading")
  return { usher, store, sequence: created, act: act(store) }
})

type Store = ReturnType<Effect.Success<ReturnType<typeof client>>["experience"]>

const act =
  (store: Store) =>
  (...args: Parameters<Store["act"]>) =>
    Effect.promise(() => store.act(...args))

const refusal = (run: () => Promise<unknown>) =>
  Effect.promise(() =>
    run().then(
      () => assert.fail("was not refused"),
      (error: unknown) => (error instanceof UsherError ? [error.status, error.code] : Promise.reject(error as Error))
    )
  )

layer(Fixture.layer, { excludeTestServices: true })("a page with the client", (it) => {
  describe("of a queue", () => {
    it.effect("lets a guest in, shows its position, its turn and its end", () =>
      Effect.gen(function* () {
        const { store, sequence, act } = yield* drop({ queues: [queue] })
        const before = store.getSnapshot()
        assert.deepInclude(before, { state: "enterable", actions: ["enter"], isConnected: true })
        assert.isUndefined(before.session)
        const entered = yield* act("enter")
        assert.deepInclude(entered, { state: "waiting", actions: ["leave"] })
        assert.deepInclude(entered.places[0]!.own, { status: "QUEUED", position: 1 })
        assert.strictEqual(entered.session?.type, "guest")
        const { consumerId } = entered.session!
        yield* asBrandServer("POST", `/queues/${sequence.queues[0].id}/admit`, { consumerId })
        const granted = yield* seen(store, ({ state }) => state === "granted")
        const own = granted.places[0]!.own!
        assert.isString("admissionGrant" in own && own.admissionGrant)
        yield* asBrandServer("POST", `/queues/${sequence.queues[0].id}/complete`, { consumerId })
        const ended = yield* seen(store, ({ state }) => state === "ended")
        assert.deepStrictEqual(ended.actions, [])
      })
    )

    it.effect("keeps the place of a visitor that comes back, and lets it leave and enter again", () =>
      Effect.gen(function* () {
        const { experienceId } = yield* room({ queues: [queue] })
        const storage = memoryStorage()
        const first = (yield* client(storage)).experience(experienceId)
        yield* act(first)("enter")
        const second = (yield* client(storage)).experience(experienceId)
        yield* subscribed(second)
        const back = yield* seen(second, ({ state }) => state === "waiting")
        assert.deepInclude(back.places[0]!.own, { position: 1 })
        assert.deepInclude(yield* act(second)("leave"), { state: "ended", actions: ["enter"] })
        assert.strictEqual((yield* act(second)("enter")).state, "waiting")
      })
    )

    it.effect("is scheduled before the opening, and enterable afterwards without an action", () =>
      Effect.gen(function* () {
        const { store } = yield* drop({ queues: [{ ...queue, openAt: after(2) }] })
        const before = store.getSnapshot()
        assert.deepInclude(before, { state: "scheduled", actions: [] })
        assert.deepStrictEqual(yield* refusal(() => store.act("enter")), [409, "NOT_POSSIBLE"])
        yield* seen(store, ({ state }) => state === "enterable")
      })
    )

    it.effect("is gated for guests that it refuses, until they sign in by a code", () =>
      Effect.gen(function* () {
        const { usher, store } = yield* drop({ queues: [{ ...queue, supportsGuest: false }] })
        assert.deepInclude(store.getSnapshot(), { state: "gated", actions: [] })
        const email = "ada.client@example.com"
        yield* Effect.promise(() => usher.requestCode({ email }))
        const code = yield* mailedCode(email)
        const wrong = code === "111111" ? "222222" : "111111"
        assert.deepStrictEqual(yield* refusal(() => usher.verifyCode({ email }, wrong)), [401, "otp_invalid"])
        const session = yield* Effect.promise(() => usher.verifyCode({ email }, code))
        assert.deepInclude(session, { type: "authenticated", email })
        yield* seen(store, ({ state }) => state === "enterable")
        assert.strictEqual((yield* act(store)("enter")).state, "waiting")
        yield* Effect.promise(() => usher.signOut())
        yield* seen(store, ({ state }) => state === "gated")
        assert.isUndefined(usher.session)
      })
    )

    it.effect("keeps a guest's place when the guest signs in", () =>
      Effect.gen(function* () {
        const { usher, act } = yield* drop({ queues: [queue] })
        yield* act("enter")
        const { consumerId } = usher.session!
        const email = "bea.client@example.com"
        yield* Effect.promise(() => usher.requestCode({ email }))
        const code = yield* mailedCode(email)
        const session = yield* Effect.promise(() => usher.verifyCode({ email }, code))
        assert.strictEqual(session.consumerId, consumerId)
      })
    )
  })

  describe("of other kinds", () => {
    it.effect("enters a draw and withdraws", () =>
      Effect.gen(function* () {
        const { act } = yield* drop({ draws: [{ name: "Raffle", winnerCount: 1, drawAt: after(3600) }] })
        const entered = yield* act("enter")
        assert.deepInclude(entered, { state: "waiting", actions: ["leave"] })
        assert.isString(entered.places[0]!.kind === "draw" && "entryReceipt" in entered.places[0]!.own! && "receipt")
        assert.deepInclude(yield* act("leave"), { state: "enterable", actions: ["enter"] })
      })
    )

    it.effect("bids in an auction, is outbid, and sees the minimum bid", () =>
      Effect.gen(function* () {
        const auction = { name: "Pair No. 1", startPrice: "100", minBidIncrement: "10", settleAt: after(3600) }
        const { store, act: bids } = yield* drop({ auctions: [auction] }, { currencyCode: "EUR" })
        assert.deepInclude(store.getSnapshot(), { state: "enterable", actions: ["bid"] })
        assert.strictEqual(store.getSnapshot().places[0]!.facts?.minimumBid, "100")
        assert.deepStrictEqual(yield* refusal(() => store.act("bid", { amount: "99" })), [409, "BID_TOO_LOW"])
        assert.deepInclude((yield* bids("bid", { amount: "100" })).places[0]!.own, { status: "WINNING" })
        // A client whose answer was lost sends the same amount again.
        assert.deepInclude((yield* bids("bid", { amount: "100.00" })).places[0]!.own, {
          status: "WINNING",
          bidCount: 1
        })
        const rival = (yield* client()).experience(store.id)
        yield* act(rival)("bid", { amount: "120" })
        yield* seen(store, ({ places: [place] }) => place?.kind === "auction" && place.own?.status === "OUTBID")
        yield* seen(store, ({ places: [place] }) => place?.facts?.minimumBid === "130")
      })
    )

    it.effect("takes part in a timed release, chooses, and gives it up", () =>
      Effect.gen(function* () {
        const { act, store } = yield* drop({ timedReleases: [{ name: "Sale", capacity: 1 }] })
        assert.deepInclude(yield* act("enter"), { state: "granted", actions: ["enter", "leave"] })
        const other = (yield* client()).experience(store.id)
        assert.deepStrictEqual(yield* refusal(() => other.act("enter")), [409, "SOLD_OUT"])
        assert.deepInclude(yield* act("leave"), { state: "ended", actions: ["enter"] })
      })
    )

    it.effect("books, reschedules and cancels an appointment", () =>
      Effect.gen(function* () {
        const day = { from: "00:00", to: "23:00" }
        const hours = Object.fromEntries(
          ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].map((name) => [name, [day]])
        )
        const appointment = {
          name: "Fitting",
          slotDurationMinutes: 30,
          slotsFrom: after(86_400),
          slotsUntil: after(3 * 86_400),
          hours
        }
        const { sequence, act } = yield* drop({ appointments: [appointment] })
        const { id } = sequence.appointments[0]
        const { data } = yield* asBrandServer(
          "GET",
          `/appointments/${id}/slots?startDate=${after(86_400).slice(0, 10)}`
        )
        const [first, second] = data
        const booked = yield* act("book", { slotId: first.id })
        assert.deepInclude(booked, { state: "waiting", actions: ["reschedule", "cancel"] })
        const moved = yield* act("reschedule", { newSlotId: second.id })
        assert.deepInclude(moved.places[0]!.own, { status: "BOOKED", slotId: second.id })
        assert.deepInclude(yield* act("cancel"), { state: "ended", actions: ["book"] })
      })
    )

    it.effect("joins a waitlist, whose action has its own name, while the queue is still closed", () =>
      Effect.gen(function* () {
        const { act, store } = yield* drop({
          queues: [{ ...queue, openAt: after(3600) }],
          waitlist: { name: "Early birds" }
        })
        assert.deepInclude(store.getSnapshot(), { state: "scheduled", actions: ["join"] })
        const joined = yield* act("join")
        assert.deepInclude(joined, { state: "scheduled", actions: ["leave"] })
        assert.deepInclude(joined.places[1], { kind: "waitlist", state: "waiting" })
        yield* act("leave")
      })
    )
  })

  it.effect("unlocks sequences that an access code protects", () =>
    Effect.gen(function* () {
      const { store, act } = yield* drop({ queues: [queue] }, { accessCode: "golden-ticket" })
      assert.deepInclude(store.getSnapshot(), { state: "gated", actions: ["unlock"] })
      assert.strictEqual((yield* refusal(() => store.act("unlock", { accessCode: "silver-ticket" })))[0], 403)
      assert.strictEqual((yield* act("unlock", { accessCode: "golden-ticket" })).state, "enterable")
      assert.strictEqual((yield* act("enter")).state, "waiting")
    })
  )

  it.effect("says that an experience has ended when it is archived, and when there was none", () =>
    Effect.gen(function* () {
      const { store } = yield* drop({ queues: [queue] })
      yield* brand("DELETE", `/experiences/${store.id}`)
      yield* Effect.promise(() => store.load())
      assert.deepInclude(store.getSnapshot(), { state: "ended", actions: [] })
    })
  )
})
