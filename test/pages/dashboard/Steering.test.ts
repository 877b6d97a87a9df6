/** Every action of the dashboard on a mechanism of every kind. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { deniableKinds, fieldOf, type Kind, kinds } from "../../../src/domain/mechanism/Mechanism.ts"
import { actions } from "../../../src/pages/dashboard/Steering.ts"
import { mechanismsOfEachKind } from "../../http/admin/experience/aggregateFixture.ts"
import { asConsumer, Usher } from "../../http/support/usherFixture.ts"
import { operator } from "../support/operatorFixture.ts"
import { brand as onAdminApi, layer as usher, room, textOf } from "../support/roomFixture.ts"

/** The actions that queues alone have. */
const ofQueues: ReadonlySet<string> = new Set(["admit", "rate", "pause", "resume"])

/** An operator, and an experience with a mechanism of every kind. */
const steering = Effect.gen(function* () {
  const { send, signIn } = yield* operator
  yield* signIn((yield* Usher).brand.secretKey)
  const { experienceId, sequence } = yield* room(mechanismsOfEachKind())
  const mechanismOf = (kind: Kind) =>
    [sequence[fieldOf[kind]]].flat().at(-1) as { readonly id: string; readonly name: string }
  return { send, path: `/dashboard/experiences/${experienceId}`, mechanismOf }
})

layer(usher, { excludeTestServices: true })("Steering at the dashboard", (it) => {
  it.effect("does each action on a mechanism of each kind, or says that only queues support it", () =>
    Effect.gen(function* () {
      const { send, path, mechanismOf } = yield* steering
      for (const kind of kinds) {
        const { id, name } = mechanismOf(kind)
        for (const action of actions) {
          const fields = { mechanism: id, reason: "OTHER", confirmed: "yes", count: "1", admitRate: "5" }
          const page = yield* send("POST", `${path}/${action}`, fields)
          const isOfKind = kind === "queue" || !ofQueues.has(action)
          assert.strictEqual(page.status, isOfKind ? 200 : 400, `${action} ${kind}: ${textOf(page)}`)
          if (!isOfKind) assert.include(textOf(page), "Only queues support this action.")
          if (action === "end") assert.include(textOf(page), `${name} has ended.`)
        }
      }
    })
  )

  it.effect("offers no action on a queue that was ended while grants are still valid", () =>
    Effect.gen(function* () {
      const { brand, consumer, guest, queue } = yield* Usher
      const { get, send, signIn } = yield* operator
      yield* signIn(brand.secretKey)
      const id = yield* queue({ admitRate: 0, admissionExpirationSeconds: 600 })
      const { accessToken } = yield* guest()
      const headers = asConsumer(brand.publishableKey, accessToken)
      yield* consumer({ method: "POST", path: `/api/queues/${id}/enter`, headers })
      const { experienceId } = yield* onAdminApi("GET", `/distributions/${id}`)
      const path = `/dashboard/experiences/${experienceId}`
      const fields = { mechanism: id, reason: "OTHER", confirmed: "yes" }
      yield* send("POST", `${path}/admit`, { ...fields, count: "1" })
      const form = `name="mechanism" value="${id}"`
      assert.include((yield* get(path)).text, form)
      const ended = yield* send("POST", `${path}/end`, fields)
      assert.include(textOf(ended), "has ended.")
      assert.notInclude(ended.text, form)
    })
  )

  it.effect("refuses to admit or deny a consumer in a mechanism whose kind has no such action", () =>
    Effect.gen(function* () {
      const { send, mechanismOf } = yield* steering
      const { consumerId } = yield* (yield* Usher).guest()
      const statusOf = (kind: Kind, action: string, reason: string) =>
        Effect.map(
          send("POST", `/dashboard/consumers/${consumerId}/${action}`, { mechanism: mechanismOf(kind).id, reason }),
          ({ status }) => status
        )
      for (const kind of kinds) {
        assert.strictEqual(yield* statusOf(kind, "admit", "OTHER"), kind === "queue" ? 200 : 404, kind)
        const isDeniable = (deniableKinds as ReadonlyArray<Kind>).includes(kind)
        assert.strictEqual(yield* statusOf(kind, "deny", "ADMIN_ACTION"), isDeniable ? 200 : 404, kind)
      }
    })
  )
})
