/** Every action of the dashboard on a mechanism of every kind. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { deniableKinds, fieldOf, type Kind, kinds } from "../../../src/domain/mechanism/Mechanism.ts"
import { actions } from "../../../src/pages/dashboard/Steering.ts"
import { mechanismsOfEachKind } from "../../http/admin/experience/aggregateFixture.ts"
import { type Answer, asConsumer, Usher } from "../../http/support/usherFixture.ts"
import { confirmed, eventually, operator } from "../support/operatorFixture.ts"
import { brand, formOf, formsOf, layer as usher, room, textOf } from "../support/roomFixture.ts"

/** The actions that queues alone have. */
const ofQueues: ReadonlySet<string> = new Set(["admit", "rate", "pause", "resume"])

/** The kind that an action is for; undefined if every kind has it. */
const kindWith = (action: string) => (ofQueues.has(action) ? "queue" : action === "draw" ? "draw" : undefined)

const soon = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

/** Enters guests into a mechanism. */
const enter = Effect.fnUntraced(function* (path: string, guests: number) {
  const usher = yield* Usher
  for (const { accessToken } of yield* Effect.replicateEffect(usher.guest(), guests)) {
    const headers = asConsumer(usher.brand.publishableKey, accessToken)
    const { status } = yield* usher.consumer({ method: "POST", path: `/api/${path}/enter`, headers })
    assert.strictEqual(status, 200)
  }
})

/** The actions that a control room offers. */
const offered = (page: Answer): ReadonlyArray<string> =>
  formsOf(page).flatMap(({ label }) => (label.endsWith("…") ? [label] : []))

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
  it.effect("does each action on a mechanism of each kind, or says which kind supports it", () =>
    Effect.gen(function* () {
      const { send, path, mechanismOf } = yield* steering
      for (const kind of kinds) {
        const { id, name } = mechanismOf(kind)
        for (const action of actions) {
          const typed = { count: "1", admitRate: "5", word: "end" }
          const fields = { mechanism: id, reason: "OTHER", confirmed: randomUUID(), ...typed }
          const answer = yield* send("POST", `${path}/${action}`, fields)
          const only = kindWith(action)
          const isOfKind = only === undefined || only === kind
          assert.strictEqual(answer.status, isOfKind ? 303 : 400, `${action} ${kind}: ${textOf(answer)}`)
          if (!isOfKind) assert.include(textOf(answer), `Only ${only}s support this action.`)
          if (action !== "end") continue
          const page = yield* send("GET", answer.headers["location"]!)
          assert.include(textOf(page), `${name} has ended.`)
        }
      }
    })
  )

  it.effect(
    "acts once on a confirmation, however often it is sent, and then is at an address that can be loaded again",
    () =>
      Effect.gen(function* () {
        const { send, get, submit, signIn } = yield* operator
        yield* signIn((yield* Usher).brand.secretKey)
        const { experienceId, sequence } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
        const { id } = sequence.queues[0]
        const path = `/dashboard/experiences/${experienceId}`
        yield* enter(`queues/${id}`, 5)
        const { action, fields } = formOf(yield* submit(yield* get(path), "Admit the next…", { count: "2" }), "Admit 2")
        const sent = send("POST", action, fields)
        const answers = [...(yield* Effect.all([sent, sent], { concurrency: 2 })), yield* sent]
        for (const answer of answers) {
          assert.strictEqual(answer.status, 303)
          assert.strictEqual(answer.headers["location"], `${path}?done=admit&mechanism=${id}&count=2`)
        }
        const page = textOf(yield* get(answers[0]!.headers["location"]!))
        assert.include(page, "2 consumers were admitted.")
        assert.match(page, /Waiting\s*3\s*Admitted\s*2/)
        assert.strictEqual((yield* send("POST", action, { ...fields, count: "3" })).status, 409)

        assert.include(textOf(yield* get(action)), "Actions for Line")
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
          ["/dashboard/new", "Create queue", { name: "Once" }],
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
      const { send, get, submit, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const { experienceId, sequence } = yield* room({ queues: [{ name: "Line", admitRate: 0, openAt: soon(3_600) }] })
      const { id } = sequence.queues[0]
      const path = `/dashboard/experiences/${experienceId}`
      const { action, fields } = formOf(yield* submit(yield* get(path), "Admit the next…", { count: "2" }), "Admit")
      assert.strictEqual((yield* send("POST", action, fields)).status, 423)
      yield* brand("PUT", `/queues/${id}`, { openAt: soon(-1) })
      assert.strictEqual((yield* send("POST", action, fields)).status, 303)
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
        assert.deepStrictEqual(offered(open), ["Admit the next…", "Change the rate…", "Pause…", "End…"])
        const ended = yield* confirmed(submit, open, "End…", "End")
        assert.include(ended.text, "badge settling")
        assert.deepStrictEqual(offered(ended), [])

        const draws = [{ name: "Raffle", winnerCount: 1, closeAt: soon(3_600), drawAt: soon(7_200) }]
        const two = yield* room({ draws, waitlist: { name: "Interest" }, timedReleases: [{ name: "Release" }] })
        const { sequence } = two
        const path = `/dashboard/experiences/${two.experienceId}`
        yield* enter(`draws/${sequence.draws[0].id}`, 1)
        yield* enter(`waitlists/${sequence.waitlist.id}`, 1)
        yield* enter(`timed-releases/${sequence.timedReleases[0].id}`, 1)
        assert.deepStrictEqual(offered(yield* get(path)), ["Draw now…", "End…", "End…", "End…"])
        yield* brand("PUT", `/draws/${sequence.draws[0].id}`, { closeAt: soon(-1) })
        yield* brand("PUT", `/waitlists/${sequence.waitlist.id}`, { closeAt: soon(-1) })
        yield* brand("PUT", `/timed-releases/${sequence.timedReleases[0].id}`, { closeAt: soon(-1) })
        const settling = yield* eventually(get(path), ({ text }) => text.split("badge settling").length === 4)
        assert.deepStrictEqual(offered(settling), ["End…", "End…"])
        const called = yield* confirmed(submit, settling, "End…", "End")
        assert.deepStrictEqual(offered(called), ["End…"])
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
      const asked = yield* submit(shown, "End…")
      assert.include(textOf(asked), "closes immediately and permanently, and nobody else wins. 3 consumers")
      const refused = yield* submit(asked, "End", { word: "yes" })
      assert.strictEqual(refused.status, 400)
      assert.include(textOf(refused), "Type END to confirm. Nothing has changed.")
      assert.strictEqual((yield* brand("GET", `/draws/${id}`)).statusOverride, null)

      const asking = yield* submit(shown, "Draw now…")
      assert.include(textOf(asking), "Raffle takes no more entries. 1 of 3 entries win")
      assert.include(textOf(yield* submit(asking, "Draw now")), "Raffle has closed, and is being drawn.")
      const drawn = yield* eventually(get(path), (page) => /Admitted\s*1/.test(textOf(page)))
      assert.match(textOf(drawn), /Waiting\s*0|Waiting\s*2/)
      assert.isNotNull((yield* brand("GET", `/draws/${id}`)).drawnAt)
    })
  )

  it.effect("shows no rate while a queue is paused", () =>
    Effect.gen(function* () {
      const { get, submit, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 60 }] })
      const open = yield* get(`/dashboard/experiences/${experienceId}`)
      assert.match(textOf(open), /Rate per minute\s*60/)
      const paused = yield* confirmed(submit, open, "Pause…", "Pause")
      assert.notInclude(textOf(paused), "Rate per minute")
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
