/** Replays of a mechanism over HTTP: as it was, and with other settings. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { brand, layer as usher, room } from "../../../pages/support/roomFixture.ts"
import { asConsumer, asServer, Usher } from "../../support/usherFixture.ts"
import { issuesOf } from "../adminFixture.ts"

/** A queue with 5 units by hand: four people entered, staff admitted one of them, and one left. */
const madeQueue = Effect.gen(function* () {
  const { brand: own, consumer, guest } = yield* Usher
  const { sequence } = yield* room({ queues: [{ name: "Line", admitRate: 0, maxAdmissions: 5 }] })
  const { id } = sequence.queues[0]
  const guests = yield* Effect.replicateEffect(guest(), 4)
  const act = (index: number, path: string) => {
    const headers = asConsumer(own.publishableKey, guests[index]!.accessToken)
    return consumer({ method: "POST", path: `/api/queues/${id}/${path}`, headers })
  }
  for (const index of guests.keys()) yield* act(index, "enter")
  yield* brand("POST", `/queues/${id}/admit`, { count: 1 })
  yield* act(3, "leave")
  return id as string
})

layer(usher, { excludeTestServices: true })("A replay of a mechanism", (it) => {
  it.effect("finds every event again, and changes nothing", () =>
    Effect.gen(function* () {
      const id = yield* madeQueue
      const replayed = yield* brand("POST", `/distributions/${id}/replay`, {})
      assert.isNull(replayed.changed)
      const { people, entries, admitted, gaveUp, stillWaiting, soldOutAt, largestSecond } = replayed.recorded
      assert.deepStrictEqual([people, entries, admitted, gaveUp, stillWaiting, soldOutAt], [4, 4, 1, 1, 2, null])
      assert.isAtLeast(largestSecond.entries, 1)
      assert.deepStrictEqual(yield* brand("POST", `/distributions/${id}/replay`, {}), replayed)
    })
  )

  it.effect("shows what other settings would have led to, under its assumption", () =>
    Effect.gen(function* () {
      const id = yield* madeQueue
      const settings = { admitRate: 600, maxAdmissions: 2, closeAt: null }
      const { recorded, changed } = yield* brand("POST", `/distributions/${id}/replay`, { settings, seed: 7 })
      assert.strictEqual(recorded.admitted, 1)
      assert.strictEqual(changed.figures.admitted, 2)
      assert.isNotNull(changed.figures.soldOutAt)
      assert.match(changed.assumption, /^Assumed: people came and gave up as they did; .*\(seed 7\)/)
    })
  )

  it.effect("refuses a setting that there is not, or that decides who comes, and a wrong value, each at its name", () =>
    Effect.gen(function* () {
      const { admin, brand: own } = yield* Usher
      const id = yield* madeQueue
      const refused = Effect.fnUntraced(function* (settings: object) {
        const path = `/api/distributions/${id}/replay`
        const answer = yield* admin({ method: "POST", path, headers: asServer(own.secretKey), body: { settings } })
        assert.strictEqual(answer.status, 400)
        return issuesOf(answer)
      })
      assert.deepStrictEqual(
        [
          yield* refused({ speed: 3 }),
          yield* refused({ openAt: null }),
          yield* refused({ admitRate: -1 }),
          yield* refused({ admitBurst: 3 })
        ].map((issues) => issues.map((issue) => issue.split(":")[0])),
        [["settings.speed"], ["settings.openAt"], ["settings.admitRate"], ["settings.admitBurst"]]
      )
    })
  )

  it.effect("says so if an event of the journal does not follow from the rules", () =>
    Effect.gen(function* () {
      const { admin, brand: own } = yield* Usher
      const sql = yield* SqlClient.SqlClient
      const id = yield* madeQueue
      yield* sql`update journal set type = 'Left' where mechanism_id = ${id} and type = 'Entered'`
      const path = `/api/distributions/${id}/replay`
      const answer = yield* admin({ method: "POST", path, headers: asServer(own.secretKey), body: {} })
      assert.strictEqual(answer.status, 409)
      assert.include(answer.body, { code: "JOURNAL_DIFFERS" })
    })
  )
})
