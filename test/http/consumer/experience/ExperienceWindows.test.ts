/** The times of an experience: derived from its mechanisms where unset, and limiting them where set. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { anotherEngine } from "../../../engine/engineFixture.ts"
import { openStream } from "../../support/eventStream.ts"
import { type Answer, asServer, layer as usherLayer, Usher } from "../../support/usherFixture.ts"
import { admin, anExperience, aSequence, inExperience, kinds, oneOfEach } from "./experienceFixture.ts"
import { inMechanism, soon } from "../mechanism/mechanismFixture.ts"

const hour = 3_600
const day = 24 * hour

const aQueue = (sequenceId: string, settings: object = {}) =>
  Effect.map(
    admin("POST", "/queues", { sequenceId, name: "Line", admitRate: 0, ...settings }),
    ({ id }) => id as string
  )

/** Creates an experience with these times, and a queue in it without times. */
const aQueueWithin = Effect.fnUntraced(function* (window: object, settings: object = {}) {
  const experienceId = yield* anExperience(window)
  const sequenceId = yield* aSequence(experienceId)
  const id = yield* aQueue(sequenceId, settings)
  return { experienceId, sequenceId, id, change: (body: object) => admin("PUT", `/experiences/${experienceId}`, body) }
})

/** Returns the answer to a new guest that enters. */
const entering = Effect.fnUntraced(function* (group: string, id: string) {
  const { guest } = yield* Usher
  const { byConsumer } = yield* inMechanism(group, id)
  const { entry, body } = kinds[group]!
  if (group !== "appointments") return yield* byConsumer("POST", `/${entry}`)(yield* guest(), body)
  const someone = yield* guest()
  const span = `startDate=${soon(0).slice(0, 10)}&endDate=${soon(5 * day).slice(0, 10)}&timezone=UTC`
  const { data: slots } = (yield* byConsumer("GET", `/slots?${span}`)(someone)).body
  return yield* byConsumer("POST", "/book")(someone, { slotId: slots.at(-1).id })
})

const standing = ({ status, body }: Answer) => [status, body.code ?? body.status ?? null, body.opensAt ?? null]
const notOpen = (opensAt: string) => [423, "NOT_OPEN", opensAt]

/** Returns the queue as its public read shows it, and its record. */
const shown = Effect.fnUntraced(function* (id: string) {
  const { get } = yield* inMechanism("queues", id)
  const { openAt, closeAt, lifecycle } = (yield* get).body
  return { openAt, closeAt, lifecycle }
})

describe("The times of an experience", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    describe("where they are unset", () => {
      it.effect(
        "are the earliest opening and the latest closing of its mechanisms that have one, except waitlists",
        () =>
          Effect.gen(function* () {
            const { guest } = yield* Usher
            const experienceId = yield* anExperience()
            const sequenceId = yield* aSequence(experienceId)
            yield* aQueue(sequenceId)
            yield* admin("POST", "/waitlists", {
              sequenceId,
              name: "Early",
              openAt: soon(hour),
              closeAt: soon(90 * day)
            })
            const { get, enter } = yield* inExperience(experienceId)
            const none = { openAt: null, closeAt: null }
            assert.deepInclude((yield* get).body, none)

            yield* aQueue(sequenceId, { openAt: soon(3 * day) })
            const [openAt, closeAt] = [soon(2 * day), soon(9 * day)]
            yield* aQueue(sequenceId, { closeAt })
            yield* admin("POST", "/draws", {
              sequenceId,
              name: "Raffle",
              winnerCount: 1,
              openAt,
              drawAt: soon(5 * day)
            })
            const derived = { openAt, closeAt }
            assert.deepInclude((yield* get).body, derived)
            assert.deepInclude((yield* enter(yield* guest())).body.experience, derived)
            assert.deepInclude(yield* admin("GET", `/experiences/${experienceId}`), derived)
            assert.deepInclude(yield* admin("PUT", `/experiences/${experienceId}`, { name: "Renamed" }), derived)
            const { data } = yield* admin("GET", "/experiences?search=Renamed")
            assert.deepInclude(data[0], derived)
          })
      )

      it.effect("sort the list by the values that it shows", () =>
        Effect.gen(function* () {
          const ids = yield* Effect.forEach([3, 1, 2], (days) =>
            Effect.gen(function* () {
              const experienceId = yield* anExperience({ name: "Sorted by opening" })
              const sequenceId = yield* aSequence(experienceId)
              yield* aQueue(sequenceId)
              yield* admin("POST", "/waitlists", { sequenceId, name: "Early", openAt: soon(hour) })
              yield* aQueue(sequenceId, { openAt: soon(days * day) })
              return experienceId
            })
          )
          const { data } = yield* admin("GET", "/experiences?sortBy=openAt&sortDir=asc&search=Sorted%20by%20opening")
          assert.deepStrictEqual(
            data.map(({ id }: { id: string }) => id),
            [ids[1], ids[2], ids[0]]
          )
        })
      )

      it.effect("limit no mechanism", () =>
        Effect.gen(function* () {
          const { sequenceId, id } = yield* aQueueWithin({})
          yield* aQueue(sequenceId, { openAt: soon(day), closeAt: soon(2 * day) })
          assert.deepStrictEqual(standing(yield* entering("queues", id)), [200, "QUEUED", null])
        })
      )
    })

    describe("where they are set", () => {
      it.effect("limit each kind of mechanism below it; for a waitlist, only the closing", () =>
        Effect.gen(function* () {
          const openAt = soon(day)
          const experienceId = yield* anExperience({ openAt })
          const ids = yield* oneOfEach(yield* aSequence(experienceId))
          for (const group of Object.keys(kinds)) {
            const expected = group === "waitlists" ? [200, null, null] : notOpen(openAt)
            assert.deepStrictEqual(standing(yield* entering(group, ids[group]!)), expected, group)
          }
          yield* admin("PUT", `/experiences/${experienceId}`, { openAt: null, closeAt: soon(-1) })
          for (const group of Object.keys(kinds)) {
            assert.deepStrictEqual(standing(yield* entering(group, ids[group]!)), [409, "CLOSED", null], group)
          }
        })
      )

      it.effect("keep the later opening and the earlier closing, and do not change the record that the admin set", () =>
        Effect.gen(function* () {
          const [early, openAt, closeAt, late] = [soon(day), soon(2 * day), soon(3 * day), soon(4 * day)]
          const own = { openAt: early, closeAt: late }
          const { sequenceId, id } = yield* aQueueWithin({ openAt, closeAt }, own)
          assert.deepStrictEqual(yield* shown(id), { openAt, closeAt, lifecycle: "scheduled" })
          assert.deepInclude(yield* admin("GET", `/queues/${id}`), own)
          assert.deepInclude(yield* admin("GET", `/distributions/${id}`), { ...own, lifecycle: "scheduled" })
          assert.notProperty(yield* admin("GET", `/queues/${id}`), "experienceWindow")

          const narrow = { openAt: soon(2.25 * day), closeAt: soon(2.5 * day) }
          assert.deepStrictEqual(yield* shown(yield* aQueue(sequenceId, narrow)), { ...narrow, lifecycle: "scheduled" })
        })
      )

      it.effect("limit a mechanism, whichever operation created it, and a copy's mechanism at the copy's times", () =>
        Effect.gen(function* () {
          const openAt = soon(day)
          const queues = [{ name: "Line", admitRate: 0 }]
          const whole = yield* admin("POST", "/experiences", {
            name: "Drop",
            openAt,
            sequences: [{ name: "Sale", queues }]
          })
          const sequence = yield* admin("POST", "/sequences", { experienceId: whole.id, name: "More", queues })
          const copy = yield* admin("POST", `/experiences/${whole.id}/duplicate`, { shiftSeconds: day })
          const later = new Date(Date.parse(openAt) + day * 1_000).toISOString()
          assert.strictEqual(copy.openAt, later)
          for (const [id, opensAt] of [
            [whole.sequences[0].queues[0].id, openAt],
            [sequence.queues[0].id, openAt],
            [copy.sequences[0].queues[0].id, later],
            [copy.sequences[1].queues[0].id, later]
          ]) {
            assert.deepStrictEqual(standing(yield* entering("queues", id)), notOpen(opensAt))
          }
        })
      )

      it.effect("appear in the experience's own view, and in lists by lifecycle", () =>
        Effect.gen(function* () {
          const openAt = soon(day)
          const { experienceId, id } = yield* aQueueWithin({ openAt })
          const { get } = yield* inExperience(experienceId)
          assert.deepInclude((yield* get).body.sequences[0].queues[0], { id, openAt, lifecycle: "scheduled" })
          const listed = (lifecycle: string) =>
            Effect.map(
              admin("GET", `/distributions?experienceId=${experienceId}&lifecycle=${lifecycle}`),
              ({ data }) => data.length
            )
          assert.deepStrictEqual([yield* listed("scheduled"), yield* listed("open")], [1, 0])
          yield* admin("PUT", `/experiences/${experienceId}`, { openAt: null })
          assert.deepStrictEqual([yield* listed("scheduled"), yield* listed("open")], [0, 1])
        })
      )

      it.effect("determine when a waitlist's sequence opens", () =>
        Effect.gen(function* () {
          const [openAt, later] = [soon(day), soon(2 * day)]
          const { experienceId, sequenceId } = yield* aQueueWithin({ openAt })
          const { id } = yield* admin("POST", "/waitlists", { sequenceId, name: "Early" })
          const notice = Effect.map(
            admin("GET", `/distributions/${id}/history?type=NoticeScheduled`),
            ({ data }) => data.at(-1).data.noticeAt
          )
          assert.strictEqual(yield* notice, openAt)
          yield* admin("PUT", `/experiences/${experienceId}`, { openAt: later })
          assert.strictEqual(yield* notice, later)
        })
      )
    })

    describe("when they change", () => {
      it.effect("apply to its mechanisms when the change is answered, also when they are removed", () =>
        Effect.gen(function* () {
          const [first, second] = [soon(day), soon(2 * day)]
          const { id, change } = yield* aQueueWithin({})
          yield* change({ openAt: first })
          // No consumer had entered, but the mechanism had been open, so it stays open.
          assert.deepStrictEqual(standing(yield* entering("queues", id)), [200, "QUEUED", null])

          const held = yield* aQueueWithin({ openAt: first }, { closeAt: soon(9 * day) })
          yield* held.change({ openAt: second, closeAt: soon(3 * day) })
          assert.deepStrictEqual(standing(yield* entering("queues", held.id)), notOpen(second))
          yield* held.change({ openAt: first })
          assert.deepStrictEqual(standing(yield* entering("queues", held.id)), notOpen(first))
          yield* held.change({ openAt: null })
          assert.deepStrictEqual(standing(yield* entering("queues", held.id)), [200, "QUEUED", null])
          const { closeAt } = yield* admin("GET", `/queues/${held.id}`)
          assert.notStrictEqual((yield* shown(held.id)).closeAt, closeAt)
          yield* held.change({ closeAt: null })
          assert.strictEqual((yield* shown(held.id)).closeAt, closeAt)
        })
      )

      it.effect("leave open mechanisms open and closed ones closed, and the change succeeds", () =>
        Effect.gen(function* () {
          const { sequenceId, id, change } = yield* aQueueWithin({ openAt: soon(-hour) })
          const scheduled = yield* aQueue(sequenceId, { openAt: soon(hour) })
          const closed = yield* aQueue(sequenceId, { closeAt: soon(-1) })
          yield* entering("queues", id)
          const openAt = soon(day)
          yield* change({ openAt, closeAt: soon(2 * day) })
          assert.deepStrictEqual(standing(yield* entering("queues", id)), [200, "QUEUED", null])
          assert.deepStrictEqual(standing(yield* entering("queues", scheduled)), notOpen(openAt))
          assert.deepStrictEqual(standing(yield* entering("queues", closed)), [409, "CLOSED", null])
          yield* change({ openAt: null, closeAt: soon(-1) })
          assert.deepStrictEqual(standing(yield* entering("queues", id)), [409, "CLOSED", null])
          yield* change({ closeAt: null })
          assert.deepStrictEqual(standing(yield* entering("queues", id)), [409, "CLOSED", null])
        })
      )

      it.effect("persist through a change of the mechanism, whose own opening can change until it opens", () =>
        Effect.gen(function* () {
          const openAt = soon(day)
          const { id } = yield* aQueueWithin({ openAt })
          yield* admin("PUT", `/queues/${id}`, { capacity: 5, openAt: soon(-1) })
          assert.deepStrictEqual(standing(yield* entering("queues", id)), notOpen(openAt))
          const later = soon(2 * day)
          yield* admin("PUT", `/queues/${id}`, { openAt: later })
          assert.deepStrictEqual(standing(yield* entering("queues", id)), notOpen(later))
        })
      )

      it.effect("are recorded in the mechanism's history, with the user who changed them", () =>
        Effect.gen(function* () {
          const openAt = soon(day)
          const { id, change } = yield* aQueueWithin({ closeAt: soon(9 * day) })
          yield* change({ closeAt: null, openAt })
          yield* change({ name: "Renamed" })
          const { data } = yield* admin("GET", `/distributions/${id}/history?type=Configured`)
          assert.lengthOf(data, 2)
          assert.deepStrictEqual(data[1].data.configuration.experienceWindow, { revision: 1 })
          assert.strictEqual(data[1].data.by, data[0].data.by)
        })
      )

      it.effect("persist through a restart", () =>
        Effect.gen(function* () {
          const { brand, guest } = yield* Usher
          const [first, second] = [soon(day), soon(2 * day)]
          const { id, change } = yield* aQueueWithin({ openAt: first })
          yield* change({ openAt: second })
          const { consumerId } = yield* guest()
          const { engine, close } = yield* anotherEngine("restarted")
          const tenant = { organizationId: brand.organizationId, mode: "live" } as const
          const refused = yield* Effect.flip(
            engine.send({ kind: "queue", id, tenant }, { _tag: "Enter", consumerId, isGuest: true, loyaltyScore: 0 })
          )
          assert.deepInclude(refused, { _tag: "NotOpen", opensAt: Date.parse(second) })
          yield* close
        })
      )

      it.effect("reach the mechanisms that an interrupted change missed, when the same change is sent again", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const openAt = soon(day)
          const { experienceId, id, change } = yield* aQueueWithin({ openAt: soon(2 * day) })
          // The state after a process that died right after its commit.
          yield* sql`
            update experiences
            set record = record || jsonb_build_object('openAt', ${openAt}::text), window_revision = window_revision + 1
            where id = ${experienceId}`
          assert.notDeepEqual(standing(yield* entering("queues", id)), notOpen(openAt))
          yield* change({ openAt })
          assert.deepStrictEqual(standing(yield* entering("queues", id)), notOpen(openAt))
        })
      )

      it.effect("reach the same result in all mechanisms, with any concurrent changes", () =>
        Effect.gen(function* () {
          const { experienceId, sequenceId, id, change } = yield* aQueueWithin({ openAt: soon(day) })
          const ids = [id, ...(yield* Effect.forEach(Array.from({ length: 5 }), () => aQueue(sequenceId)))]
          yield* Effect.forEach(
            Array.from({ length: 24 }, (_, index) => index),
            (index) =>
              index % 8 === 7
                ? Effect.map(aQueue(sequenceId), (created) => void ids.push(created))
                : change({ openAt: soon((index + 2) * day) }),
            { concurrency: "unbounded" }
          )
          const { openAt } = yield* admin("GET", `/experiences/${experienceId}`)
          assert.lengthOf(ids, 9)
          for (const one of ids) assert.strictEqual((yield* shown(one)).openAt, openAt)
        })
      )

      it.effect("are sent to watchers of the mechanism when they apply", () =>
        Effect.gen(function* () {
          const { adminUrl, brand } = yield* Usher
          const { id, change } = yield* aQueueWithin({ openAt: soon(day) })
          const stream = yield* openStream(adminUrl, `/api/distributions/${id}/events`, asServer(brand.secretKey))
          assert.strictEqual((yield* stream.next).data.lifecycle, "scheduled")
          yield* change({ openAt: soon(2) })
          let told = yield* stream.next
          while (told.event !== "lifecycle" || told.data.change !== "opened") told = yield* stream.next
          assert.strictEqual(told.data.lifecycle, "open")
          yield* stream.leave
        })
      )

      it.effect("are refused where the closing is not after the opening, and then nothing changes", () =>
        Effect.gen(function* () {
          const { admin: send, brand } = yield* Usher
          const openAt = soon(day)
          const { experienceId, id } = yield* aQueueWithin({ openAt })
          const refused = yield* send({
            method: "PUT",
            path: `/api/experiences/${experienceId}`,
            headers: asServer(brand.secretKey),
            body: { closeAt: openAt }
          })
          assert.strictEqual(refused.status, 400)
          assert.deepStrictEqual(yield* shown(id), { openAt, closeAt: null, lifecycle: "scheduled" })
        })
      )
    })
  })
})
