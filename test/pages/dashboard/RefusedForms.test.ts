/** The forms of a control room that may not act: of which role, from where, without what, and after which session. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { kinds } from "../../../src/domain/mechanism/Mechanism.ts"
import { actions } from "../../../src/pages/dashboard/drop/Steering.ts"
import { person } from "../support/operatorFixture.ts"
import { brand, layer as usher, room } from "../support/roomFixture.ts"
import { enter, kindWith, shown, steering } from "../support/steeringFixture.ts"

layer(usher, { excludeTestServices: true })("The forms of a control room", (it) => {
  it.effect("are answered with a page in words when they may not act, and change nothing", () =>
    Effect.gen(function* () {
      const { send, path, mechanismOf, other } = yield* steering
      const viewer = yield* person(`${randomUUID()}@example.com`, "viewer")
      const { experienceId: elsewhere } = yield* room({ queues: [{ name: "Elsewhere", admitRate: 0 }] })
      const own = { "sec-fetch-site": "same-origin" }
      for (const kind of kinds) {
        const { id } = mechanismOf(kind)
        const before = yield* brand("GET", `/distributions/${id}`)
        const fields = {
          mechanism: id,
          reason: "OTHER",
          count: "2",
          admitRate: "5",
          insideLimit: "5",
          word: "end",
          confirmed: randomUUID()
        }
        for (const action of actions) {
          if ((kindWith(action) ?? kind) !== kind) continue
          const form = `${path}/${action}`
          const refusals = [
            [yield* viewer.send("POST", form, fields), 403, "This needs the role operator"],
            [yield* send("POST", form, fields, { "sec-fetch-site": "cross-site" }), 403, "from another site"],
            [yield* send("POST", form, { ...fields, reason: "" }), 400, "Choose a reason."],
            [yield* send("POST", form, { reason: "OTHER", confirmed: randomUUID() }), 400, "The form is incomplete"],
            [yield* send("POST", form, { ...fields, mechanism: randomUUID() }), 404, "nothing here any more"],
            [
              yield* send("POST", `/dashboard/experiences/${elsewhere}/${action}`, fields),
              404,
              "nothing here any more"
            ],
            [yield* send("PUT", form, fields, { ...own, accept: "text/html" }), 405, "part of another screen"]
          ] as const
          for (const [answer, status, text] of refusals) {
            assert.strictEqual(answer.status, status, `${action} ${kind} ${text}: ${answer.text}`)
            assert.include(yield* shown(other, answer, action), text)
          }
          const ended = yield* send("POST", form, fields, { ...own, cookie: "usher-operator=ended" })
          assert.include(yield* shown(other, ended, action), "Your session has ended, so nothing was changed.")
        }
        const after = yield* brand("GET", `/distributions/${id}`)
        assert.strictEqual(after.live.lastSequence, before.live.lastSequence, kind)
      }
      const queue = mechanismOf("queue")
      for (const [action, typed, text] of [
        ["admit", { count: "0" }, "count: "],
        ["admit", { count: "many" }, "Enter a whole number."],
        ["rate", { admitRate: "-1" }, "admit rate: "],
        ["end", { word: "" }, "Type END to confirm."]
      ] as const) {
        yield* enter(`queues/${queue.id}`, action === "admit" ? 1 : 0)
        const fields = { mechanism: queue.id, reason: "OTHER", confirmed: randomUUID(), ...typed }
        const answer = yield* send("POST", `${path}/${action}`, fields)
        assert.strictEqual(answer.status, 400)
        assert.include((yield* shown(other, answer, action)).toLowerCase(), text.toLowerCase())
      }
    })
  )
})
