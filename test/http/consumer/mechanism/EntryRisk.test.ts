/** The risk of entries over HTTP: from the client's address, its solved challenge and the age of its account. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { challengeMillisLeast } from "../../../../src/domain/risk/Risk.ts"
import { riskRule } from "../../../../src/domain/risk/RiskWeight.ts"
import { from, layer as gated, solve } from "../../challenge/challengeFixture.ts"
import { asConsumer, asServer, type Guest, Usher } from "../../support/usherFixture.ts"
import { placesWritten } from "../../../store/support/placesWritten.ts"

interface Shown {
  readonly consumerId: string
  readonly risk: { readonly score: number; readonly reasons: ReadonlyArray<string> }
}

/** A queue in test mode, where no entry is asked for a challenge, with guests that enter from addresses. */
const aQueue = Effect.gen(function* () {
  const { admin, brand, consumer, guest, queue } = yield* Usher
  const { testPublishableKey: key, testSecretKey } = brand
  const id = yield* queue({}, testSecretKey)
  const enter = Effect.fnUntraced(function* (address: string, known?: Guest) {
    const entrant = known ?? (yield* guest(key))
    const headers = { ...asConsumer(key, entrant.accessToken), ...from(address) }
    const answer = yield* consumer({ method: "POST", path: `/api/queues/${id}/enter`, headers })
    assert.strictEqual(answer.status, 200, answer.text)
    return entrant
  })
  const shown = Effect.fnUntraced(function* ({ consumerId }: Guest, filter = "") {
    const path = `/api/distributions/${id}/consumers?search=${consumerId}${filter}`
    const { body } = yield* admin({ path, headers: asServer(testSecretKey) })
    return (body.data as ReadonlyArray<Shown>)[0]?.risk
  })
  return { id, guest: guest(key), enter, shown, secretKey: testSecretKey }
})

layer(gated, { excludeTestServices: true })("The risk of an entry", (it) => {
  it.effect("is that of a new account for a guest that enters at once, and no more in a household", () =>
    Effect.gen(function* () {
      const { enter, shown } = yield* aQueue
      const household = yield* Effect.replicateEffect(enter("203.0.113.1"), 4)
      for (const member of household) {
        const risk = yield* shown(member)
        assert.deepStrictEqual(risk?.reasons, ["NEW_ACCOUNT"])
        assert.isAbove(risk!.score, 0)
        assert.isAtMost(risk!.score, 0.2)
        yield* enter("203.0.113.1", member)
        assert.deepStrictEqual(yield* shown(member), risk)
      }
    })
  )

  it.effect("grows with the consumers of one address, and of one network, and admins filter by it", () =>
    Effect.gen(function* () {
      const { enter, shown } = yield* aQueue
      yield* Effect.replicateEffect(enter("203.0.113.2"), 23)
      const last = yield* enter("203.0.113.2")
      const crowded = yield* shown(last)
      assert.deepStrictEqual(crowded?.reasons, ["SHARED_ADDRESS", "NEW_ACCOUNT"])
      assert.isAbove(crowded!.score, 0.25)
      assert.isDefined(yield* shown(last, "&minRiskScore=0.25"))
      assert.isUndefined(yield* shown(last, "&minRiskScore=0.9"))
      const neighbour = yield* shown(yield* enter("203.0.113.3"))
      assert.deepStrictEqual(neighbour?.reasons, ["NEW_ACCOUNT"])
      for (let host = 10; host < 15; host++) yield* enter(`203.0.113.${host}`)
      const inNetwork = yield* shown(yield* enter("203.0.113.4"))
      assert.deepStrictEqual(inNetwork?.reasons, ["SHARED_NETWORK", "NEW_ACCOUNT"])
      const elsewhere = yield* shown(yield* enter("198.51.100.9"))
      assert.deepStrictEqual(elsewhere?.reasons, ["NEW_ACCOUNT"])
    })
  )

  it.effect("counts an IPv6 client by its /64, and its network by its /48", () =>
    Effect.gen(function* () {
      const { enter, shown } = yield* aQueue
      for (let host = 1; host <= 6; host++) yield* enter(`2001:db8:7:1::${host}`)
      const crowded = yield* shown(yield* enter("2001:db8:7:1:ffff::1"))
      assert.deepStrictEqual(crowded?.reasons, ["SHARED_ADDRESS", "NEW_ACCOUNT"])
      for (let subnet = 2; subnet <= 25; subnet++) yield* enter(`2001:db8:7:${subnet}::1`)
      assert.deepStrictEqual((yield* shown(yield* enter("2001:db8:7:ffff::1")))?.reasons, [
        "SHARED_NETWORK",
        "NEW_ACCOUNT"
      ])
      assert.deepStrictEqual((yield* shown(yield* enter("2001:db8:8:1::1")))?.reasons, ["NEW_ACCOUNT"])
    })
  )

  it.effect("is none for the machine itself, and for entries by the organization's server", () =>
    Effect.gen(function* () {
      const { consumer } = yield* Usher
      const { enter, shown, id, guest, secretKey } = yield* aQueue
      assert.deepStrictEqual(yield* shown(yield* enter("127.0.0.1")), { score: 0, reasons: [] })
      const named = yield* guest
      const headers = { ...asServer(secretKey, named.consumerId), ...from("203.0.113.5") }
      yield* consumer({ method: "POST", path: `/api/queues/${id}/enter`, headers })
      assert.deepStrictEqual(yield* shown(named), { score: 0, reasons: [] })
    })
  )

  it.effect("leaves no address in the journal and in the places", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { enter, id } = yield* aQueue
      yield* enter("203.0.113.77")
      yield* placesWritten
      const rows = yield* sql<{ readonly text: string }>`
        select data::text as text from journal where mechanism_id = ${id} and data is not null
        union all select fields::text from places where mechanism_id = ${id} and fields is not null`
      assert.isTrue(rows.some(({ text }) => text.includes("NEW_ACCOUNT")))
      for (const { text } of rows) assert.notInclude(text, "203.0.113")
    })
  )

  it.effect("has no part for a challenge that a client solves as fast as clients do", () =>
    Effect.gen(function* () {
      const { admin, brand, consumer, guest, queue } = yield* Usher
      const id = yield* queue()
      const enter = (entrant: Guest, solution?: string) =>
        consumer({
          method: "POST",
          path: `/api/queues/${id}/enter`,
          headers: { ...asConsumer(brand.publishableKey, entrant.accessToken), ...from("203.0.113.6", solution) }
        })
      for (let count = 0; count < 5; count++) yield* enter(yield* guest())
      const last = yield* guest()
      const asked = yield* enter(last)
      assert.strictEqual(asked.body.code, "CHALLENGE_REQUIRED")
      const answeredAt = Date.now()
      // A lucky program is faster than any browser, so it solves the challenge until a browser could have.
      const isLate = () => Date.now() - answeredAt > 2 * challengeMillisLeast
      const solution = yield* solve(asked.body.challenge).pipe(Effect.repeat({ until: isLate }))
      const entered = yield* enter(last, solution)
      assert.strictEqual(entered.body.status, "QUEUED")
      const { body } = yield* admin({
        path: `/api/distributions/${id}/consumers?search=${last.consumerId}`,
        headers: asServer(brand.secretKey)
      })
      assert.include(body.data[0].risk.reasons, "SHARED_ADDRESS")
      assert.notInclude(body.data[0].risk.reasons, "FAST_CHALLENGE")
    })
  )
})

layer(gated, { excludeTestServices: true })("The public view", (it) => {
  it.effect("states how a draw and a queue weigh the risk", () =>
    Effect.gen(function* () {
      const { admin, brand, consumer } = yield* Usher
      const post = (path: string, body: object) =>
        admin({ method: "POST", path: `/api${path}`, headers: asServer(brand.secretKey), body })
      const { body: experience } = yield* post("/experiences", { name: "Drop" })
      const { body: sequence } = yield* post("/sequences", { name: "All", experienceId: experience.id })
      const base = { name: "Any", sequenceId: sequence.id, riskWeight: 0.3 }
      const later = "2033-01-01T00:00:00.000Z"
      const made = [
        ["draw", "/draws", { ...base, drawAt: later, winnerCount: 1 }],
        ["queue", "/queues", { ...base, admitRate: 0, lobbyOpenAt: "2032-01-01T00:00:00.000Z", openAt: later }]
      ] as const
      for (const [kind, path, body] of made) {
        const record = yield* post(path, body)
        assert.strictEqual(record.body.riskWeight, 0.3, record.text)
        const publicView = yield* consumer({
          path: `/api${path}/${record.body.id}`,
          headers: { "x-publishable-key": brand.publishableKey }
        })
        assert.deepInclude(publicView.body, riskRule(kind, 0.3))
        const refused = yield* post(path, { ...body, riskWeight: 1.1 })
        assert.strictEqual(refused.status, 400)
      }
    })
  )
})
