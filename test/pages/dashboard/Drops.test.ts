/** The tabs of a drop: its people with filters, denials and a file; its results; and the list of drops. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { mechanismsOfEachKind } from "../../http/admin/experience/aggregateFixture.ts"
import { asConsumer, Usher } from "../../http/support/usherFixture.ts"
import { eventually, operator } from "../support/operatorFixture.ts"
import { asBrandServer, brand, layer as usher, room, textOf } from "../support/roomFixture.ts"

/** Somebody who is signed in, and a drop with a queue in which people wait. */
const drop = Effect.gen(function* () {
  const fixture = yield* Usher
  const browser = yield* operator
  yield* browser.signIn(fixture.brand.secretKey)
  const { experienceId, sequence } = yield* room(
    { queues: [{ name: "Line", admitRate: 0, maxAdmissions: 10 }] },
    { name: "Aurora" }
  )
  const queueId = sequence.queues[0].id as string
  const guests = yield* Effect.replicateEffect(fixture.guest(), 3)
  for (const { accessToken } of guests) {
    const headers = asConsumer(fixture.brand.publishableKey, accessToken)
    yield* fixture.consumer({ method: "POST", path: `/api/queues/${queueId}/enter`, headers })
  }
  return { ...browser, queueId, guests, experienceId, path: `/dashboard/experiences/${experienceId}` }
})

const guestName = (consumerId: string) => `Guest ${consumerId.slice(-4).toUpperCase()}`

layer(usher, { excludeTestServices: true })("The tabs of a drop", (it) => {
  it.effect("show what happened in words, with names and never an id", () =>
    Effect.gen(function* () {
      const { get, path, queueId, guests } = yield* drop
      yield* asBrandServer("POST", `/queues/${queueId}/admit`, { count: 1 })
      yield* brand("POST", `/queues/${queueId}/pause`, { reason: "STOCK_CHANGED" })
      const page = textOf(yield* get(path))
      assert.match(page, /\d\d:\d\d:\d\d The shop paused Line The stock changed/)
      assert.include(page, `${guestName(guests[0]!.consumerId)} was admitted`)
      assert.notInclude(page, guests[0]!.consumerId)
      assert.match(page, /Sold\s*0\s*of 10/)
      assert.include(page, "1 buying now · 9 left")
    })
  )

  it.effect("draw each mechanism with the value at each line's end and a mark for each act of staff", () =>
    Effect.gen(function* () {
      const { get, path, queueId } = yield* drop
      yield* brand("POST", `/queues/${queueId}/pause`, { reason: "HIGH_LOAD" })
      const { text } = yield* get(path)
      assert.match(text, /<text class="end first"[^>]*>3 waiting<\/text>/)
      assert.match(text, /<text class="act"[^>]*>paused: high load<\/text>/)
      assert.include(text, 'aria-label="3 waiting, 0 admitted now"')
    })
  )

  it.effect("list people by state, deny those who are chosen once it is confirmed, and save them as a file", () =>
    Effect.gen(function* () {
      const { get, send, submit, path, queueId, guests } = yield* drop
      const people = yield* eventually(get(`${path}/people`), ({ text }) => text.includes(guests[2]!.consumerId))
      assert.include(textOf(people), guestName(guests[0]!.consumerId))
      const sent = { mechanism: queueId, reason: "BOT_DETECTED", consumer: guests[0]!.consumerId }
      const asked = yield* send("POST", `${path}/people/deny`, sent)
      assert.include(textOf(asked), "1 person will lose the place in Line")
      const done = yield* submit(asked, "Deny 1 person")
      assert.include(textOf(done), "1 person was denied.")
      const denied = yield* eventually(get(`${path}/people?status=DENIED`), ({ text }) =>
        text.includes(guests[0]!.consumerId)
      )
      assert.notInclude(denied.text, guests[1]!.consumerId)
      for (const fields of [
        { mechanism: queueId, reason: "BOT_DETECTED" },
        { ...sent, reason: "" }
      ]) {
        assert.strictEqual((yield* send("POST", `${path}/people/deny`, fields)).status, 400)
      }

      const file = yield* get(`${path}/people.csv?mechanism=${queueId}&status=QUEUED`)
      assert.strictEqual(file.headers["content-type"], "text/csv; charset=utf-8")
      const named = "attachment; filename=\"Aurora-Line.csv\"; filename*=UTF-8''Aurora-Line.csv"
      assert.strictEqual(file.headers["content-disposition"], named)
      assert.strictEqual(file.headers["cache-control"], "no-store")
      const [header, ...rows] = file.text.trimEnd().split("\r\n")
      assert.match(header!, /^consumerId,fullName,email,phone,status,/)
      assert.deepStrictEqual(
        rows.map((row) => row.split(",")[0]),
        guests.slice(1).map(({ consumerId }) => consumerId)
      )
    })
  )

  it.effect("show no people of another drop and none of another organization", () =>
    Effect.gen(function* () {
      const { get, send, path, guests } = yield* drop
      const other = yield* room({ queues: [{ name: "Other", admitRate: 0 }] })
      const mechanism = other.sequence.queues[0].id
      assert.strictEqual((yield* get(`${path}/people.csv?mechanism=${mechanism}`)).status, 404)
      const fields = { mechanism, reason: "BOT_DETECTED", consumer: guests[0]!.consumerId }
      assert.strictEqual((yield* send("POST", `${path}/people/deny`, fields)).status, 404)
      const stranger = yield* operator
      yield* stranger.signIn((yield* Usher).stranger.secretKey)
      assert.strictEqual((yield* stranger.get(`${path}/people`)).status, 404)
      assert.strictEqual((yield* stranger.get(`${path}/results`)).status, 404)
    })
  )

  it.effect("play a mechanism once more with other settings, and show both figures under the assumption", () =>
    Effect.gen(function* () {
      const { get, path, queueId } = yield* drop
      yield* asBrandServer("POST", `/queues/${queueId}/admit`, { count: 1 })
      const results = yield* get(`${path}/results`)
      const [, link] = /href="([^"]*once-more[^"]*)"/.exec(results.text)!
      const recorded = textOf(yield* get(link!))
      assert.match(recorded, /Figure Recorded People 3 Entries 3 Admitted 1 /)
      assert.include(recorded, "Change a setting above")
      const changed = yield* get(`${link}&was.admitRate=0&admitRate=600`)
      assert.match(textOf(changed), /Assumed: people came and gave up as they did/)
      assert.match(textOf(changed), /Figure Recorded With these settings People 3 3 Entries 3 3 Admitted 1 3 /)
      assert.include(changed.text, 'name="admitRate"')
      const refused = yield* get(`${link}&was.admitRate=0&admitRate=-1`)
      assert.strictEqual(refused.status, 400)
      assert.include(textOf(refused), "Nothing was played.")
      const stranger = yield* operator
      yield* stranger.signIn((yield* Usher).stranger.secretKey)
      assert.strictEqual((yield* stranger.get(link!)).status, 404)
    })
  )

  it.effect("show results: the funnel, revenue by currency, a former drop beside it, files and proofs", () =>
    Effect.gen(function* () {
      const { get, path, queueId, guests, experienceId } = yield* drop
      yield* asBrandServer("POST", `/queues/${queueId}/admit`, { count: 2 })
      const { consumerId } = guests[0]!
      const order = {
        consumerId,
        distributionId: queueId,
        experienceId,
        total: "390.00",
        currencyCode: "EUR",
        items: []
      }
      yield* brand("POST", "/orders", order)
      const former = yield* room({ queues: [{ name: "Before", admitRate: 0 }] }, { name: "Dawn" })
      const page = textOf(yield* get(`${path}/results?with=${former.experienceId}`))
      assert.match(page, /Entered\s*3\s*100 %/)
      assert.match(page, /Admitted\s*2\s*67 % Bought\s*1\s*33 %/)
      assert.include(page, "€390 in 1 order")
      assert.match(page, /Aurora 3 1 33 % €390 Dawn 0 0 – –/)
      assert.include(page, "Everybody in Line as CSV")
      const happened = textOf(yield* get(path))
      assert.include(happened, `${guestName(consumerId)} bought €390`)

      // A cancelled order brings nothing, and another currency is not added up.
      const dollars = { consumerId: guests[1]!.consumerId, experienceId, currencyCode: "USD", items: [] }
      yield* brand("POST", "/orders", { ...dollars, total: "20.00" })
      const cancelled = yield* brand("POST", "/orders", { ...dollars, total: "99.00" })
      yield* brand("PUT", `/orders/${cancelled.id}`, { status: "CANCELLED" })
      assert.match(textOf(yield* get(`${path}/results`)), /EUR €390 in 1 order USD \$20 in 1 order/)
    })
  )

  it.effect("say what looks wrong, and lead to where it is mended", () =>
    Effect.gen(function* () {
      const { get, path, queueId } = yield* drop
      yield* brand("PUT", `/queues/${queueId}`, { admitRate: 0 })
      const page = yield* get(`${path}/check`)
      assert.match(page.text, /<span class="badge warn">Warning<\/span>/)
      assert.match(textOf(page), /Warning “Line” admits nobody by itself: its rate is 0\. .* Open Schedule/)
      assert.include(page.text, `<a href="${path}/schedule">`)
      assert.match(textOf(page), /No webhook reports orders.* Open Webhooks/)
      assert.include(page.text, '<a href="/dashboard/webhooks">')
      yield* brand("PUT", `/queues/${queueId}`, { admitRate: 60 })
      assert.notInclude(textOf(yield* get(`${path}/check`)), "admits nobody by itself")
    })
  )

  it.effect("say when each part opened, who has used a turn, and what a chart spans", () =>
    Effect.gen(function* () {
      const { get, path, queueId } = yield* drop
      assert.match(textOf(yield* get(`${path}/schedule`)), /Opens At once: \d{4}-\d\d-\d\d \d\d:\d\d It has opened\./)
      assert.include(textOf(yield* get(path)), "nobody had a turn yet")
      yield* brand("POST", `/queues/${queueId}/admit`, { count: 1 })
      const now = textOf(yield* get(path))
      assert.include(now, "nobody has used the turn yet")
      assert.include(now, "Waiting and admitted · last 5 minutes")

      const drawAt = new Date(Date.now() + 3_600_000).toISOString()
      const draws = [{ name: "Raffle", winnerCount: 1, drawAt }]
      const { experienceId } = yield* room({ draws, queues: [{ name: "Line", admitRate: 0 }] })
      const two = textOf(yield* get(`/dashboard/experiences/${experienceId}`))
      assert.include(two, "Entries · last 60 minutes")
      assert.notInclude(two, "since the opening")
    })
  )

  it.effect("count the people that they list: all of one mechanism, and each mechanism by itself", () =>
    Effect.gen(function* () {
      const { get, path } = yield* drop
      assert.include(textOf(yield* get(path)), "People 3 Look")
      const draws = [{ name: "Raffle", winnerCount: 1, drawAt: new Date(Date.now() + 3_600_000).toISOString() }]
      const { experienceId, sequence } = yield* room({ draws, queues: [{ name: "Line", admitRate: 0 }] })
      const fixture = yield* Usher
      const { accessToken } = yield* fixture.guest()
      const headers = asConsumer(fixture.brand.publishableKey, accessToken)
      for (const one of [`draws/${sequence.draws[0].id}`, `queues/${sequence.queues[0].id}`]) {
        yield* fixture.consumer({ method: "POST", path: `/api/${one}/enter`, headers })
      }
      const people = textOf(yield* get(`/dashboard/experiences/${experienceId}/people`))
      assert.include(people, "Now People Look")
      assert.include(people, "Line (queue, 1)")
      assert.include(people, "Raffle (draw, 1)")
    })
  )

  it.effect("show who was admitted as what went well", () =>
    Effect.gen(function* () {
      const { get, path, queueId } = yield* drop
      yield* brand("POST", `/queues/${queueId}/admit`, { count: 1 })
      const people = yield* eventually(get(`${path}/people`), ({ text }) => text.includes("was admitted</span>"))
      assert.include(people.text, '<span class="badge ok">was admitted</span>')
    })
  )

  it.effect("call what was drawn before its time, or was ended, no error, and show an error as one", () =>
    Effect.gen(function* () {
      const { get, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const drawAt = new Date(Date.now() + 3_600_000).toISOString()
      const draws = [{ name: "Raffle", winnerCount: 1, drawAt }]
      const { experienceId, sequence } = yield* room({ draws, timedReleases: [{ name: "Release", capacity: 5 }] })
      const check = get(`/dashboard/experiences/${experienceId}/check`)
      const before = yield* check
      assert.match(before.text, /<span class="badge bad">Error<\/span> <bdi>The drop gives away units/)
      yield* brand("POST", `/draws/${sequence.draws[0].id}/draw`)
      const drawn = textOf(yield* check)
      assert.notInclude(drawn, "Raffle")
      assert.include(drawn, "The drop gives away units")
      yield* brand("POST", `/timed-releases/${sequence.timedReleases[0].id}/end`)
      assert.include(textOf(yield* check), "Nothing looks wrong")
    })
  )

  it.effect("are led to by the list, which finds drops by name and shows what each needs next", () =>
    Effect.gen(function* () {
      const { get, queueId } = yield* drop
      yield* room({ queues: [{ name: "Other", admitRate: 0 }] }, { name: "Borealis" })
      const found = yield* get("/dashboard?search=auror")
      assert.match(textOf(found), /Aurora Live Queue Sold 0 of 10 Waiting 3 Watch it/)
      assert.notInclude(textOf(found), "Borealis")
      assert.include(textOf(yield* get("/dashboard?search=nowhere")), "No drop has “nowhere” in its name.")
      yield* brand("POST", `/queues/${queueId}/end`)
      assert.include(textOf(yield* get("/dashboard?search=auror")), "See the results")
    })
  )

  it.effect("take at most 40 KB each, compressed, with a mechanism of every kind", () =>
    Effect.gen(function* () {
      const { get, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const { experienceId } = yield* room(mechanismsOfEachKind())
      for (const path of ["", `/experiences/${experienceId}`, `/experiences/${experienceId}/people`, "/new"]) {
        const { text } = yield* get(`/dashboard${path}`)
        assert.isAtMost(gzipSync(text).length, 40_000, path)
      }
    })
  )
})
