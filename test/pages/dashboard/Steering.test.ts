/** Every action of the dashboard on a mechanism of every kind. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { deniableKinds, type Kind, kinds } from "../../../src/domain/mechanism/Mechanism.ts"
import { type Action, actions } from "../../../src/pages/dashboard/drop/Steering.ts"
import { type Answer, Usher } from "../../http/support/usherFixture.ts"
import { acted, eventually, operator } from "../support/operatorFixture.ts"
import { brand, formOf, formsOf, layer as usher, room, textOf } from "../support/roomFixture.ts"
import { enter, kindWith, shown, steering } from "../support/steeringFixture.ts"

const soon = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

/** The actions that a control room offers. */
const offered = (page: Answer): ReadonlyArray<string> =>
  formsOf(page).flatMap(({ label, fields }) => ("mechanism" in fields && label !== "Undo" ? [label] : []))

/** What a control room says of an action, and of the same one when somebody else did it before. */
const says: { readonly [A in Action]: readonly [done: string, late: string] } = {
  admit: ["2 consumers were admitted.", "had nobody waiting any more"],
  rate: ["The rate is 5 per minute.", "had this rate already"],
  inside: ["At most 5 may be inside at once.", "had this limit already"],
  pause: ["* is paused.", "was paused already"],
  resume: ["* is resumed.", "was not paused any more"],
  draw: ["* has closed", "had closed"],
  close: ["* has closed, and its leading bids won.", "had closed"],
  unpark: ["Nothing was changed, because * was not parked any more", "was not parked any more"],
  end: ["* has ended.", "had ended"]
}

layer(usher, { excludeTestServices: true })("Steering at the dashboard", (it) => {
  for (const action of actions) {
    it.effect(`does ${action} once on each kind, or says why not, and says when somebody else was faster`, () =>
      Effect.gen(function* () {
        const { send, path, mechanismOf, other } = yield* steering
        for (const kind of kinds) {
          const { id, name } = mechanismOf(kind)
          const fields = { mechanism: id, reason: "OTHER", count: "2", admitRate: "5", insideLimit: "5", word: "end" }
          const act = (typed: object) => send("POST", `${path}/${action}`, { ...fields, ...typed })
          const read = (answer: Answer) => shown(other, answer, `${action} ${kind}`)
          const typed = { confirmed: randomUUID() }
          const only = kindWith(action)
          if (only !== undefined && only !== kind) {
            const refused = yield* act(typed)
            assert.strictEqual(refused.status, 400, `${action} ${kind}`)
            assert.include(yield* read(refused), `Only ${only}s support this action.`)
            continue
          }
          if (action === "admit") yield* enter(`queues/${id}`, 2)
          if (action === "resume") yield* brand("POST", `/queues/${id}/pause`)
          // A form without its key, or with another one, only asks.
          for (const unsure of [{}, { confirmed: "forged" }]) {
            const asked = yield* act(unsure)
            assert.strictEqual(asked.status, action === "unpark" ? 303 : 200, `${action} ${kind}: ${textOf(asked)}`)
          }
          const first = yield* act(typed)
          const again = yield* act(typed)
          assert.strictEqual(first.status, 303, textOf(first))
          assert.deepStrictEqual([again.status, again.headers["location"]], [303, first.headers["location"]])
          const [done, late] = says[action]
          assert.include(yield* read(first), done.replace("*", name))
          const left = yield* send("GET", `${path}/${action}`)
          assert.deepStrictEqual([left.status, left.headers["location"]], [303, path])
          const second = yield* other.send("POST", `${path}/${action}`, { ...fields, confirmed: randomUUID() })
          assert.include(yield* read(second), `Nothing was changed, because ${name} ${late}`)
        }
      })
    )
  }

  it.effect(
    "acts once on a confirmation, however often it is sent, and then is at an address that can be loaded again",
    () =>
      Effect.gen(function* () {
        const { send, get, signIn } = yield* operator
        yield* signIn((yield* Usher).brand.secretKey)
        const { experienceId, sequence } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
        const { id } = sequence.queues[0]
        const path = `/dashboard/experiences/${experienceId}`
        yield* enter(`queues/${id}`, 5)
        const { action, fields } = formOf(yield* get(path), "Admit")
        const typed = { ...fields, count: "2", reason: "OTHER" }
        const sent = send("POST", action, typed)
        const answers = [...(yield* Effect.all([sent, sent], { concurrency: 2 })), yield* sent]
        for (const answer of answers) {
          assert.strictEqual(answer.status, 303)
          assert.strictEqual(answer.headers["location"], `${path}?done=admit&mechanism=${id}&count=2`)
        }
        const page = textOf(yield* get(answers[0]!.headers["location"]!))
        assert.include(page, "2 consumers were admitted.")
        assert.match(page, /2 buying now.*Waiting\s*3/)
        assert.strictEqual((yield* send("POST", action, { ...typed, count: "3" })).status, 409)

        assert.strictEqual((yield* get(action)).headers["location"], path)
        assert.strictEqual((yield* get(`${path}/nothing`)).status, 404)
        assert.notInclude((yield* get(`${path}?done=admit&mechanism=none&count=7`)).text, "were admitted")
      })
  )

  it.effect(
    "makes one drop, one page and one invitation of a form that is sent twice, and states each result once",
    () =>
      Effect.gen(function* () {
        const { send, get, signIn } = yield* operator
        yield* signIn((yield* Usher).brand.secretKey)
        const { id: experienceId } = yield* brand("POST", "/experiences", { name: "Twice" })
        for (const [screen, label, typed] of [
          ["/dashboard/new?part=queue", "Create the drop", { name: "Once" }],
          ["/dashboard/pages", "Create page", { experienceId, title: "Once", slug: "once" }],
          ["/dashboard/people", "Invite", { email: "once@example.com", role: "viewer" }]
        ] as const) {
          const { action, fields } = formOf(yield* get(screen), label)
          const sent = send("POST", action, { ...fields, ...typed })
          const answers = [...(yield* Effect.all([sent, sent], { concurrency: 2 })), yield* sent]
          const led = answers.map(({ status, headers }) => [status, headers["location"]])
          assert.deepStrictEqual(led, [led[0]!, led[0]!, led[0]!], label)
          assert.strictEqual(led[0]![0], 303, label)
        }
        const named = (path: string) => Effect.map(brand("GET", path), ({ data }) => data.length as number)
        assert.strictEqual(yield* named("/experiences?search=Once"), 1)
        assert.strictEqual(yield* named("/experience-pages?search=once"), 1)
        assert.include(textOf(yield* get("/dashboard/people")), "once@example.com was invited.")
        assert.notInclude(textOf(yield* get("/dashboard/people")), "was invited.")
      })
  )

  it.effect("may send a confirmation again that was refused", () =>
    Effect.gen(function* () {
      const { send, get, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const { experienceId, sequence } = yield* room({ queues: [{ name: "Line", admitRate: 0, openAt: soon(3_600) }] })
      const { id } = sequence.queues[0]
      const path = `/dashboard/experiences/${experienceId}`
      const { action, fields } = formOf(yield* get(path), "Admit")
      const typed = { ...fields, count: "2", reason: "OTHER" }
      assert.strictEqual((yield* send("POST", action, typed)).status, 423)
      yield* brand("PUT", `/queues/${id}`, { openAt: soon(-1) })
      assert.strictEqual((yield* send("POST", action, typed)).status, 303)
    })
  )

  it.effect(
    "offers what changes something: after its closing a mechanism can only end, while its outcome is open",
    () =>
      Effect.gen(function* () {
        const { get, submit, signIn } = yield* operator
        yield* signIn((yield* Usher).brand.secretKey)
        const one = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
        const queue = one.sequence.queues[0].id
        const queuePath = `/dashboard/experiences/${one.experienceId}`
        yield* enter(`queues/${queue}`, 2)
        yield* brand("POST", `/queues/${queue}/admit`, { count: 1 })
        const open = yield* get(queuePath)
        assert.deepStrictEqual(offered(open), ["Pause", "Set the rate", "Admit", "End"])
        const ended = yield* acted(submit, open, "End")
        assert.include(ended.text, 'badge warn">settling')
        assert.deepStrictEqual(offered(ended), [])

        const draws = [{ name: "Raffle", winnerCount: 1, closeAt: soon(3_600), drawAt: soon(7_200) }]
        const two = yield* room({ draws, waitlist: { name: "Interest" }, timedReleases: [{ name: "Release" }] })
        const { sequence } = two
        const path = `/dashboard/experiences/${two.experienceId}`
        yield* enter(`draws/${sequence.draws[0].id}`, 1)
        yield* enter(`waitlists/${sequence.waitlist.id}`, 1)
        yield* enter(`timed-releases/${sequence.timedReleases[0].id}`, 1)
        assert.deepStrictEqual(offered(yield* get(path)), ["Draw 1 of 1", "End", "End", "End"])
        yield* brand("PUT", `/draws/${sequence.draws[0].id}`, { closeAt: soon(-1) })
        yield* brand("PUT", `/waitlists/${sequence.waitlist.id}`, { closeAt: soon(-1) })
        yield* brand("PUT", `/timed-releases/${sequence.timedReleases[0].id}`, { closeAt: soon(-1) })
        const settling = yield* eventually(get(path), ({ text }) => text.split('badge warn">settling').length === 4)
        assert.deepStrictEqual(offered(settling), ["End", "End"])
        const called = yield* acted(submit, settling, "End")
        assert.deepStrictEqual(offered(called), ["End"])
      })
  )

  it.effect("draws a draw before its time, and ends nothing without the typed word", () =>
    Effect.gen(function* () {
      const { get, submit, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const draws = [{ name: "Raffle", winnerCount: 1, closeAt: soon(3_600), drawAt: soon(7_200) }]
      const { experienceId, sequence } = yield* room({ draws })
      const { id } = sequence.draws[0]
      const path = `/dashboard/experiences/${experienceId}`
      yield* enter(`draws/${id}`, 3)
      const shown = yield* get(path)
      assert.include(textOf(shown), "closes immediately and permanently, and nobody else wins. 3 people lose")
      const refused = yield* submit(shown, "End", { word: "yes" })
      assert.strictEqual(refused.status, 400)
      assert.include(textOf(refused), "Type END to confirm. Nothing has changed.")
      assert.strictEqual((yield* brand("GET", `/draws/${id}`)).statusOverride, null)

      assert.include(textOf(shown), "No more entries are taken.")
      assert.match(
        textOf(yield* submit(shown, "Draw 1 of 3")),
        /Raffle has closed(, and its winners are drawn\.|\. Its figures say when)/
      )
      const { data } = yield* brand("GET", `/distributions/${id}/history?type=Configured`)
      assert.strictEqual(data.at(-1).data.reason, "TECHNICAL_PROBLEM")
      yield* eventually(get(path), (page) => /Winners\s*1\s*of 1/.test(textOf(page)))
      const later = textOf(yield* get(`${path}?done=draw&mechanism=${id}`))
      assert.include(later, "Raffle has closed, and its winners are drawn.")
      assert.notInclude(later, "being drawn")
      assert.isNotNull((yield* brand("GET", `/draws/${id}`)).drawnAt)
    })
  )

  it.effect("takes back a pause and a change of the rate with one button, while nothing has happened since", () =>
    Effect.gen(function* () {
      const { get, submit, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const { experienceId, sequence } = yield* room({ queues: [{ name: "Line", admitRate: 60 }] })
      const { id } = sequence.queues[0]
      const path = `/dashboard/experiences/${experienceId}`
      const note = "Stock is counted again"
      const changed = yield* acted(submit, yield* get(path), "Set the rate", { admitRate: "90", note })
      assert.include(textOf(changed), "The rate is 90 per minute. Undo")
      const back = yield* submit(changed, "Undo")
      assert.include(textOf(back), "The rate is 60 per minute.")
      assert.strictEqual((yield* brand("GET", `/queues/${id}`)).admitRate, 60)

      const faster = yield* acted(submit, yield* get(path), "Set the rate", { admitRate: "70" })
      yield* brand("PUT", `/queues/${id}`, { admitRate: 44 })
      assert.include(textOf(yield* submit(faster, "Undo")), "Line had got another rate meanwhile")
      assert.strictEqual((yield* brand("GET", `/queues/${id}`)).admitRate, 44)

      const paused = yield* acted(submit, yield* get(path), "Pause")
      yield* brand("POST", `/queues/${id}/resume`)
      assert.notInclude(textOf(yield* get(`${path}?done=pause&mechanism=${id}`)), "Undo")
      yield* submit(paused, "Undo")
      assert.isNull((yield* brand("GET", `/queues/${id}`)).pausedAt)
      const log = yield* brand("GET", `/audit-log?type=distribution.noted&subjectId=${id}`)
      assert.strictEqual(log.data[0].after.note, note)
    })
  )

  it.effect("shows no rate while a queue is paused", () =>
    Effect.gen(function* () {
      const { get, submit, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 60 }] })
      const open = yield* get(`/dashboard/experiences/${experienceId}`)
      assert.match(textOf(open), /Rate\s*60\s*\/min/)
      const paused = yield* acted(submit, open, "Pause")
      assert.match(textOf(paused), /Rate\s*Paused/)
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
        assert.strictEqual(yield* statusOf(kind, "admit", "OTHER"), kind === "queue" ? 303 : 404, kind)
        const isDeniable = (deniableKinds as ReadonlyArray<Kind>).includes(kind)
        assert.strictEqual(yield* statusOf(kind, "deny", "ADMIN_ACTION"), isDeniable ? 303 : 404, kind)
      }
    })
  )
})
