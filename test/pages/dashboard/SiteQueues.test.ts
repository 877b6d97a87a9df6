/** A queue in front of a site: its settings in New drop and Schedule, and its tab Now. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Usher } from "../../http/support/usherFixture.ts"
import { minutesIn, minutesOf } from "../../../src/pages/dashboard/form/Typed.ts"
import { acted, operator } from "../support/operatorFixture.ts"
import { brand, formOf, layer as usher, room, textOf } from "../support/roomFixture.ts"

const site = { standby: true, insideLimit: 2, admissionRenewal: { idleSeconds: 90, maxSeconds: 3_600 } }

/** An admin, and a drop with a queue of these settings. */
const aDrop = Effect.fnUntraced(function* (settings: object = site) {
  const browser = yield* operator
  const { brand: own, consumer } = yield* Usher
  yield* browser.signIn(own.secretKey)
  const { experienceId, sequence } = yield* room({ queues: [{ name: "Line", admitRate: 6_000, ...settings }] })
  const queueId: string = sequence.queues[0].id
  const path = `/dashboard/experiences/${experienceId}`
  const headers = { authorization: `Bearer ${own.secretKey}` }
  const pass = consumer({ method: "POST", path: `/api/queues/${queueId}/pass`, headers, body: {} })
  return { ...browser, queueId, path, pass, queue: brand("GET", `/queues/${queueId}`) }
})

layer(usher, { excludeTestServices: true })("A queue in front of a site", (it) => {
  it.effect("is made with its four settings in New drop, in place of the minutes to buy", () =>
    Effect.gen(function* () {
      const { get, submitFiles } = yield* aDrop()
      const form = yield* get("/dashboard/new?part=queue")
      const typed = {
        name: "Shop",
        when: "now",
        product: "none",
        "queue.inside": "50",
        "queue.standby": "yes",
        "queue.burst": "5",
        "queue.idle": "1.5",
        "queue.stay": "60"
      }
      yield* submitFiles(form, "Create the drop", {}, typed)
      const { data } = yield* brand("GET", "/experiences?first=1&sortDir=desc")
      const { sequences } = yield* brand("GET", `/experiences/${data[0].id}`)
      assert.deepInclude(sequences[0].queues[0], {
        insideLimit: 50,
        standby: true,
        admitBurst: 5,
        admissionRenewal: { idleSeconds: 90, maxSeconds: 3_600 },
        admissionExpirationSeconds: null
      })
    })
  )

  it.effect("says in New drop at the field what is wrong, and a plain queue has none of it", () =>
    Effect.gen(function* () {
      const { get, submitFiles } = yield* aDrop()
      const form = yield* get("/dashboard/new?part=queue")
      const plain = { name: "Plain", when: "now", product: "none", "queue.standby": "no" }
      for (const [typed, field, says] of [
        [{ "queue.inside": "0" }, "inside", "At least 1."],
        [{ "queue.burst": "5" }, "burst", "A burst needs that who need not wait passes unseen."],
        [
          { "queue.idle": "10", "queue.stay": "5" },
          "idle",
          "The time without a request must be at most the longest stay."
        ],
        [{ "queue.idle": "10" }, "stay", "This is needed."],
        [{ "queue.idle": "soon", "queue.stay": "5" }, "idle", "Enter minutes, such as 10 or 1.5."]
      ] as const) {
        const refused = yield* submitFiles(form, "Create the drop", {}, { ...plain, ...typed, confirmed: randomUUID() })
        assert.strictEqual(refused.status, 400, field)
        const [, told] = new RegExp(`id="f-queue.${field}-problem">([^<]*)`).exec(refused.text) ?? []
        assert.strictEqual(told, says, field)
        assert.match(refused.text, /<details open>\s*<summary>In front of a site/)
      }
      yield* submitFiles(form, "Create the drop", {}, plain)
      const { data } = yield* brand("GET", "/experiences?first=1&sortDir=desc")
      const { sequences } = yield* brand("GET", `/experiences/${data[0].id}`)
      const { insideLimit, standby, admitBurst, admissionRenewal, admissionExpirationSeconds } = sequences[0].queues[0]
      assert.deepStrictEqual(
        [insideLimit, standby, admitBurst, admissionRenewal, admissionExpirationSeconds],
        [null, false, null, null, 600]
      )
    })
  )

  it.effect("is changed on the schedule, also by fractions of minutes that stay as they are", () =>
    Effect.gen(function* () {
      const { get, submit, path, queue } = yield* aDrop()
      const page = yield* get(`${path}/schedule`)
      assert.match(page.text, /name="admissionRenewal.idleSeconds"[^>]*type="number"[^>]*value="1.5"[^>]*step="any"/)
      assert.include(textOf(page), "More admits at once; fewer takes nobody's place.")
      const save = (typed: object) =>
        Effect.flatMap(get(`${path}/schedule`), (now) => submit(now, "Save", { reason: "OTHER", ...typed }))
      yield* save({ insideLimit: "7", admitBurst: "3", "admissionRenewal.idleSeconds": "2,25" })
      const changed = yield* queue
      assert.deepInclude(changed, { insideLimit: 7, admitBurst: 3, standby: true })
      assert.deepStrictEqual(changed.admissionRenewal, { idleSeconds: 135, maxSeconds: 3_600 })
      // Nothing that was not touched is sent.
      yield* save({ name: "Checkout" })
      assert.deepStrictEqual((yield* queue).admissionRenewal, { idleSeconds: 135, maxSeconds: 3_600 })

      const refused = yield* save({ "admissionRenewal.idleSeconds": "" })
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, 'admissionRenewal.idleSeconds-problem">This is needed.')
      const both = yield* save({ admissionExpirationSeconds: "10" })
      assert.include(textOf(both), "A time without a request excludes minutes to buy.")
      yield* save({
        admitBurst: "",
        standby: "no",
        "admissionRenewal.idleSeconds": "",
        "admissionRenewal.maxSeconds": ""
      })
      const plain = yield* queue
      assert.deepStrictEqual([plain.admitBurst, plain.admissionRenewal], [null, null])
      assert.isFalse(plain.standby)
    })
  )

  it.effect("shows who is inside, who arrives, and whether visitors see the room", () =>
    Effect.gen(function* () {
      const { get, path, pass } = yield* aDrop()
      const shown = Effect.map(get(path), textOf)
      assert.match(yield* shown, /Inside\s*0\s*of 2\s*2 more may come in.*Not engaged\s*new visitors pass unseen/)
      yield* pass
      assert.match(yield* shown, /Inside\s*1\s*of 2\s*1 more may come in.*Arriving\s*1\s*\/min\s*rate 6,000\/min/)
      yield* pass
      yield* pass
      assert.match(yield* shown, /Inside\s*2\s*of 2.*Waiting\s*1.*Room\s*Engaged\s*new visitors are led to the room/)
    })
  )

  it.effect("lets more inside in place, and takes that back with one button", () =>
    Effect.gen(function* () {
      const { get, send, submit, path, pass, queue, queueId } = yield* aDrop()
      yield* Effect.replicateEffect(pass, 4)
      const page = yield* get(path)
      assert.strictEqual(formOf(page, "Set the limit").fields["insideLimit"], "2")
      const note = "The database has room"
      const changed = yield* acted(submit, page, "Set the limit", { insideLimit: "3", note })
      assert.match(textOf(changed), /At most 3 may be inside at once\. Undo.*Inside\s*3\s*of 3/)
      const log = yield* brand("GET", `/audit-log?type=distribution.noted&subjectId=${queueId}`)
      assert.strictEqual(log.data[0].after.note, note)
      assert.match(changed.text, /inside 3/)
      const back = yield* submit(changed, "Undo")
      assert.include(textOf(back), "At most 2 may be inside at once.")
      assert.match(textOf(back), /Inside\s*3\s*of 2\s*0 more may come in/)

      const more = yield* acted(submit, yield* get(path), "Set the limit", { insideLimit: "5" })
      yield* brand("PUT", `/queues/${queueId}`, { insideLimit: 4 })
      assert.include(textOf(yield* submit(more, "Undo")), "Line had got another limit meanwhile")
      assert.strictEqual((yield* queue).insideLimit, 4)
      const { action, fields } = formOf(yield* get(path), "Set the limit")
      const refused = yield* send("POST", action, { ...fields, reason: "OTHER", insideLimit: "0" })
      assert.strictEqual(refused.status, 400)
    })
  )

  it.effect("offers no limit to change where none is set", () =>
    Effect.gen(function* () {
      const { get, path } = yield* aDrop({})
      const page = yield* get(path)
      assert.notInclude(textOf(page), "Inside")
      assert.notInclude(page.text, "Set the limit")
    })
  )
})

describe("Minutes in a field", () => {
  it("may be fractions, and become whole seconds and the same text again", () => {
    for (const seconds of [1, 59, 60, 90, 100, 135, 3_599, 31_536_000]) {
      assert.strictEqual(minutesIn(new URLSearchParams({ minutes: minutesOf(seconds) }), "minutes"), seconds)
    }
    for (const text of ["soon", "-1", "1.2.3", "1e3"]) {
      assert.strictEqual(minutesIn(new URLSearchParams({ minutes: text }), "minutes"), text)
    }
    assert.isUndefined(minutesIn(new URLSearchParams(), "minutes"))
  })
})
