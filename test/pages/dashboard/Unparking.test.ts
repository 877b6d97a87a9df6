/** Unparking at the dashboard: from the first screen to a mechanism that serves again. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { correct, storeBrokenQueue } from "../../http/support/brokenQueue.ts"
import { asServer, Usher } from "../../http/support/usherFixture.ts"
import { acted, eventually, operator, person } from "../support/operatorFixture.ts"
import { brand, layer as usher, room, textOf } from "../support/roomFixture.ts"

/** An experience with a healthy queue, and a broken one that is parked. */
const parked = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { organizationId } = (yield* Usher).brand
  const { experienceId, sequence } = yield* room({ queues: [{ name: "Healthy", admitRate: 0 }] })
  const { id } = yield* storeBrokenQueue({ organizationId, mode: "live" }, { experienceId, sequenceId: sequence.id })
  // The worker that lists parked mechanisms does not run here.
  yield* sql`
    insert into parked_mechanisms (mechanism_id, node, parked_at, restarts, cause)
    values (${id}, 'test', now(), 5, 'Gibberish')`
  return { id, path: `/dashboard/experiences/${experienceId}` }
})

layer(usher, { excludeTestServices: true })("Unparking at the dashboard", (it) => {
  it.effect("is linked from the first screen, asks for a confirmation, and tells what it did", () =>
    Effect.gen(function* () {
      const { admin, brand: own } = yield* Usher
      const { get, submit, signIn } = yield* operator
      yield* signIn(own.secretKey)
      const { id, path } = yield* parked
      const link = `<a href="${path}">Broken</a>`
      const isLinkedAsLate = Effect.map(get("/dashboard"), ({ text }) =>
        /<h2>Late<.*?<\/section>/s.exec(text)?.[0].includes(link)
      )
      assert.isTrue(yield* isLinkedAsLate)
      assert.include((yield* get("/dashboard/system")).text, link)
      const shown = yield* eventually(get(path), ({ text }) => text.includes("parked: it failed too often"))
      assert.strictEqual(shown.text.split("Unpark…").length, 2, "only the parked one of two can be unparked")

      assert.include(textOf(shown), "It starts again with everything it has recorded.")
      yield* correct(id)
      const done = yield* submit(shown, "Unpark", { reason: "OTHER" })
      assert.include(textOf(done), "Broken was started again")
      assert.match(textOf(done), /Broken.*Waiting\s*1\b/s)
      assert.notInclude(done.text, "Unpark…")
      assert.isNotTrue(yield* isLinkedAsLate)

      const audit = yield* admin({
        path: `/api/audit-log?type=distribution.noted&subjectId=${id}`,
        headers: asServer(own.secretKey)
      })
      assert.lengthOf(audit.body.data, 1)
      const [{ actor, after }] = audit.body.data
      assert.deepStrictEqual(after, { action: "unpark", reason: "OTHER" })
      assert.match(actor, /^api_key:/)
      const ended = yield* brand("POST", `/queues/${id}/end`)
      assert.strictEqual(ended.statusOverride, "ended")
    })
  )

  it.effect("shows the other mechanisms while one that still fails starts again", () =>
    Effect.gen(function* () {
      const { brand: own } = yield* Usher
      const { get, submit, signIn } = yield* operator
      yield* signIn(own.secretKey)
      const { path } = yield* parked
      const isParked = ({ text }: { readonly text: string }) => text.includes("parked: it failed too often")
      const failing = yield* acted(submit, yield* eventually(get(path), isParked), "Unpark")
      assert.strictEqual(failing.status, 200)
      assert.include(textOf(failing), "Broken was started again")
      assert.include(textOf(failing), "Healthy")
      const again = yield* eventually(get(path), isParked)
      assert.include(again.text, "Unpark…")
    })
  )

  it.effect("is not offered to viewers", () =>
    Effect.gen(function* () {
      const viewer = yield* person("vera@example.com", "viewer")
      const { id, path } = yield* parked
      const shown = yield* eventually(viewer.get(path), ({ text }) => text.includes("parked: it failed too often"))
      assert.notInclude(shown.text, "Unpark…")
      const fields = { mechanism: id, reason: "OTHER", acted: randomUUID() }
      assert.strictEqual((yield* viewer.send("POST", `${path}/unpark`, fields)).status, 403)
      assert.include((yield* viewer.get(path)).text, "parked: it failed too often")
    })
  )
})
