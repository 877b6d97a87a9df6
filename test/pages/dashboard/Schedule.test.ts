/** The schedule of a drop: what can be changed and what cannot, who may enter, copies, and the archive. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Usher } from "../../http/support/usherFixture.ts"
import { stockSettings } from "../../../src/pages/dashboard/stocks/Naming.ts"
import { fixedBy, termsOf } from "../../../src/pages/dashboard/schedule/Terms.ts"
import { declarations, type Kind, kinds } from "../../../src/domain/mechanism/Mechanism.ts"
import { parts } from "../../../src/pages/dashboard/newDrop/Parts.ts"
import { operator, person } from "../support/operatorFixture.ts"
import { brand, formsOf, layer as usher, textOf } from "../support/roomFixture.ts"
import { aStock } from "../support/stockFixture.ts"

const later = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

/** A sequence with one mechanism of each kind, which opens then. */
const each = (openAt: string) => ({
  queues: [{ name: "Q", admitRate: 5, openAt }],
  draws: [{ name: "D", winnerCount: 1, openAt, drawAt: later(60) }],
  auctions: [{ name: "A", startPrice: "10.00", openAt, settleAt: later(60) }],
  timedReleases: [{ name: "R", openAt }],
  appointments: [{ name: "V", openAt, slotDurationMinutes: 30, slotsFrom: later(60), slotsUntil: later(200) }],
  waitlist: { name: "W", openAt }
})

const anExperience = (sequence: object, more: object = {}) =>
  brand("POST", "/experiences", {
    name: "Aurora",
    timeZone: "Europe/Paris",
    sequences: [{ name: "S", ...sequence }],
    ...more
  })

/** The mechanisms of an experience, by kind. */
const mechanismsOf = (experienceId: string) =>
  Effect.map(
    brand("GET", `/distributions?experienceId=${experienceId}&first=100`),
    ({ data }) => new Map<Kind, any>(data.map((one: any) => [one.type, one]))
  )

const admin = Effect.gen(function* () {
  const browser = yield* operator
  yield* browser.signIn((yield* Usher).brand.secretKey)
  return browser
})

/** Another value of a setting. */
const changedTo: { readonly [setting: string]: unknown } = {
  name: "Another",
  openAt: later(2),
  closeAt: later(59),
  drawAt: later(70),
  settleAt: later(70),
  slotsFrom: later(50),
  slotsUntil: later(300),
  admitRate: 7,
  maxAdmissions: 7,
  winnerCount: 7,
  quantity: 7,
  capacity: 7,
  maxCapacityPerSlot: 7,
  startPrice: "11.00",
  admissionExpirationSeconds: 600,
  insideLimit: 7,
  standby: true,
  admitBurst: 7,
  admissionRenewal: { idleSeconds: 90, maxSeconds: 600 }
}

layer(usher, { excludeTestServices: true })("The schedule of a drop", (it) => {
  for (const [state, openAt] of [
    ["scheduled", later(3)],
    ["open", later(-1)]
  ] as const) {
    it.effect(`says of every kind what the API says, while it is ${state}`, () =>
      Effect.gen(function* () {
        const { admin: send, brand: own } = yield* Usher
        const headers = { authorization: `Bearer ${own.secretKey}`, "content-type": "application/json" }
        const { id } = yield* anExperience(each(openAt))
        const mechanisms = yield* mechanismsOf(id)
        const { id: stockId } = yield* aStock(1)
        for (const kind of kinds) {
          const mechanism = mechanisms.get(kind)!
          assert.strictEqual(mechanism.lifecycle, state)
          for (const { setting } of termsOf[kind]) {
            const path = `/api/${declarations[kind].path}/${mechanism.id}`
            const changes: typeof changedTo = { ...changedTo, lobbyOpenAt: state === "open" ? later(-2) : later(1) }
            const [whole = ""] = setting.split(".")
            const body = setting === "stockId" ? stockSettings(kind, stockId) : { [whole]: changes[whole] }
            const { status, body: answer } = yield* send({ method: "PUT", path, headers, body })
            const isFixed = status === 409 && answer.code === "CONFIGURATION_FIXED"
            assert.strictEqual(isFixed, fixedBy(mechanism, setting) !== undefined, `${kind}.${setting}: ${status}`)
          }
        }
      })
    )
  }

  it.effect("offers the changes that are possible, and tells the reason of the others", () =>
    Effect.gen(function* () {
      const { get } = yield* admin
      const open = yield* anExperience(each(later(-1)))
      const page = yield* get(`/dashboard/experiences/${open.id}/schedule`)
      const forms = formsOf(page).filter(({ action }) => action.endsWith("/mechanism"))
      assert.strictEqual(forms.length, kinds.length)
      for (const { fields } of forms) assert.notProperty(fields, "openAt")
      assert.include(textOf(page), "It has opened, and bidders rely on it.")
      for (const [kind, { id }] of yield* mechanismsOf(open.id))
        yield* brand("POST", `/${declarations[kind].path}/${id}/end`, {})
      const over = yield* get(`/dashboard/experiences/${open.id}/schedule`)
      assert.notInclude(over.text, "/schedule/mechanism")
      assert.include(textOf(over), "a closed one stays as it is")
      const viewer = yield* person("schedule@example.com", "viewer")
      const read = yield* viewer.get(`/dashboard/experiences/${open.id}/schedule`)
      assert.strictEqual(read.status, 200)
      assert.notInclude(read.text, "/schedule/")
    })
  )

  it.effect("changes times in the zone of the drop, rate and units, with a reason in the history", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      const { id } = yield* anExperience({ queues: [{ name: "Line", admitRate: 5, openAt: "2031-07-01T08:00:00Z" }] })
      const path = `/dashboard/experiences/${id}/schedule`
      const page = yield* get(path)
      assert.include(page.text, 'value="2031-07-01T10:00"')
      const typed = { openAt: "2031-07-02T09:30", admitRate: "30", maxAdmissions: "200", reason: "SCHEDULE_CHANGED" }
      assert.include(textOf(yield* submit(page, "Save", typed)), "Line was changed.")
      const queue = (yield* mechanismsOf(id)).get("queue")!
      assert.deepInclude(queue, { openAt: "2031-07-02T07:30:00.000Z", admitRate: 30, maxAdmissions: 200 })
      const { data } = yield* brand("GET", `/distributions/${queue.id}/history`)
      assert.strictEqual(data.at(-1).data.reason, "SCHEDULE_CHANGED")
      // A field that nobody touched is not sent, so a change of somebody else stays.
      yield* brand("PUT", `/queues/${queue.id}`, { admitRate: 44 })
      yield* submit(page, "Save", { maxAdmissions: "300", confirmed: crypto.randomUUID() })
      assert.deepInclude((yield* mechanismsOf(id)).get("queue"), { admitRate: 44, maxAdmissions: 300 })
      const refused = yield* submit(yield* get(path), "Save", { admitRate: "fast", closeAt: "2031-07-01T00:00" })
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, 'value="fast"')
      assert.match(refused.text, /id="f-[^"]*admitRate-problem">Enter a whole number/)
    })
  )

  it.effect("bounds everything in a drop by its own dates, until they are taken away", () =>
    Effect.gen(function* () {
      const { get, send } = yield* admin
      const times = { openAt: "2031-07-01T08:00:00Z", closeAt: "2031-07-09T08:00:00Z" }
      const { id } = yield* anExperience({ queues: [{ name: "Line", admitRate: 5, ...times }] })
      const path = `/dashboard/experiences/${id}/schedule`
      const save = Effect.fnUntraced(function* (typed: object) {
        const form = formsOf(yield* get(path)).find(({ action }) => action.endsWith("/drop"))!
        return yield* send("POST", form.action, { timeZone: "Europe/Paris", ...form.fields, ...typed })
      })
      const own = brand("GET", `/experiences/${id}`)
      assert.strictEqual((yield* save({ openAt: "2031-07-02T09:30", closeAt: "2031-07-03T09:30" })).status, 303)
      assert.deepInclude(yield* own, {
        openAt: "2031-07-02T07:30:00.000Z",
        closeAt: "2031-07-03T07:30:00.000Z"
      })
      // Without its own opening it opens with what is in it. A date that nobody touched is not sent.
      assert.strictEqual((yield* save({ openAt: "" })).status, 303)
      assert.deepInclude(yield* own, { openAt: "2031-07-01T08:00:00.000Z", closeAt: "2031-07-03T07:30:00.000Z" })
      const refused = yield* save({ openAt: "2031-07-08T00:00" })
      assert.strictEqual(refused.status, 400)
      assert.match(refused.text, /id="f-drop-closeAt-problem">/)
      const skipped = yield* save({ openAt: "2031-03-30T02:30" })
      assert.match(skipped.text, /id="f-drop-openAt-problem">Clocks in Europe\/Paris skip this time/)
    })
  )

  it.effect("keeps the reason of a change of every kind", () =>
    Effect.gen(function* () {
      const { id } = yield* anExperience(each(later(3)))
      for (const [kind, mechanism] of yield* mechanismsOf(id)) {
        const body = { name: "Another", reason: "HIGH_LOAD", note: "as agreed" }
        yield* brand("PUT", `/${declarations[kind].path}/${mechanism.id}`, body)
        const { data } = yield* brand("GET", `/distributions/${mechanism.id}/history`)
        assert.strictEqual(data.at(-1).data.reason, "HIGH_LOAD", kind)
      }
    })
  )

  it.effect("says who may enter: an audience, an access code that is never shown, and orders per person", () =>
    Effect.gen(function* () {
      const { get, send } = yield* admin
      const audience = yield* brand("POST", "/audiences", { name: "Friends" })
      const { id, sequences } = yield* anExperience({ queues: [{ name: "Line", admitRate: 5 }] })
      const path = `/dashboard/experiences/${id}/schedule`
      const form = formsOf(yield* get(path)).find(({ action }) => action.endsWith("/sequence"))!
      const save = (typed: object) =>
        send("POST", form.action, { ...form.fields, confirmed: crypto.randomUUID(), ...typed })
      yield* save({ audienceId: audience.id, code: "set", accessCode: "AURORA-31", orderLimitPerConsumer: "2" })
      const of = brand("GET", `/sequences/${sequences[0].id}`)
      assert.deepInclude(yield* of, { audienceId: audience.id, hasAccessCode: true, orderLimitPerConsumer: 2 })
      const page = yield* get(path)
      assert.notInclude(page.text, "AURORA-31")
      assert.include(textOf(page), "Keep the code")
      yield* save({ audienceId: "everybody", code: "remove", orderLimitPerConsumer: "" })
      assert.deepInclude(yield* of, { audienceId: null, hasAccessCode: false, orderLimitPerConsumer: null })
      const short = yield* save({ code: "set", accessCode: "abc" })
      assert.match(short.text, /id="f-[^"]*accessCode-problem">At least 6/)
    })
  )

  it.effect("adds a mechanism of every kind to a drop, or says at its field what is wrong", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      const { id } = yield* anExperience({})
      const path = `/dashboard/experiences/${id}/schedule`
      const offered = [...(yield* get(path)).text.matchAll(/href="([^"]*add\?part=\w+)"/g)].map(([, link]) => link!)
      assert.strictEqual(offered.length, parts.length)
      const typed: { readonly [field: string]: string } = {
        opens: "2031-07-01T10:00",
        "appointment.firstDay": "2031-07-02",
        "appointment.lastDay": "2031-07-03",
        "appointment.days": "wednesday"
      }
      for (const link of offered) assert.include(textOf(yield* submit(yield* get(link), "Add", typed)), "was added.")
      const added = yield* mechanismsOf(id)
      assert.sameMembers([...added.keys()], [...kinds])
      for (const [kind, { openAt }] of added) assert.strictEqual(openAt, "2031-07-01T08:00:00.000Z", kind)

      const queueForm = yield* get(`${path}/add?part=queue`)
      const refused = yield* submit(queueForm, "Add", { "queue.rate": "fast" })
      assert.strictEqual(refused.status, 400)
      assert.match(refused.text, /id="f-add-queue.rate-problem">Enter a whole number/)
      const second = yield* submit(yield* get(`${path}/add?part=waitlist`), "Add")
      assert.include(textOf(second), "Nothing was added.")
      assert.strictEqual((yield* mechanismsOf(id)).size, kinds.length)
      assert.strictEqual((yield* get(`${path}/add`)).headers["location"], path)
    })
  )

  it.effect("begins with the stock of the drop, if all of it is counted, and with the name of the drop", () =>
    Effect.gen(function* () {
      const { get } = yield* admin
      const sizes = (counted: number) =>
        ["S", "M"].map((sku, index) => ({
          sku,
          ...(index < counted && { inventoryQuantity: 3, inventoryPolicy: "deny" })
        }))
      for (const [counted, units] of [
        [2, "6"],
        [1, "100"]
      ] as const) {
        const newProducts = [{ name: "Runner", variants: sizes(counted) }]
        const { id } = yield* anExperience({}, { newProducts })
        for (const [part, field] of [
          ["draw", "draw.units"],
          ["queue", "queue.units"],
          ["release", "release.units"]
        ] as const) {
          const page = yield* get(`/dashboard/experiences/${id}/schedule/add?part=${part}`)
          const form = formsOf(page).find(({ action }) => action.endsWith("/add"))!
          assert.strictEqual(form.fields[field], units, part)
          assert.strictEqual(form.fields["name"], "Aurora")
        }
      }
    })
  )

  it.effect("copies a drop to another date, with all times moved by as much", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      const times = { openAt: "2031-07-01T08:00:00Z", drawAt: "2031-07-01T20:00:00Z" }
      const { id } = yield* anExperience({ draws: [{ name: "Raffle", winnerCount: 1, ...times }] })
      const page = yield* get(`/dashboard/experiences/${id}/schedule`)
      const copied = yield* submit(page, "Make a copy", { name: "Aurora again", opens: "2031-08-01T10:00" })
      assert.include(textOf(copied), "Aurora again is a copy of Aurora. It has no entries yet.")
      const copyId = /experiences\/([0-9a-f-]{36})/.exec(copied.text)![1]!
      assert.notStrictEqual(copyId, id)
      assert.deepInclude((yield* mechanismsOf(copyId)).get("draw"), {
        openAt: "2031-08-01T08:00:00.000Z",
        drawAt: "2031-08-01T20:00:00.000Z"
      })
      const refused = yield* submit(page, "Make a copy", { opens: "2020-01-01T10:00", confirmed: crypto.randomUUID() })
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, 'id="f-copy-opens-problem"')
    })
  )

  it.effect("archives a drop once it is confirmed, and restores it from the archive", () =>
    Effect.gen(function* () {
      const { get, submit } = yield* admin
      const { id } = yield* anExperience({ queues: [{ name: "Line", admitRate: 5 }] }, { name: "Short-lived" })
      const path = `/dashboard/experiences/${id}/schedule`
      const asked = yield* submit(yield* get(path), "Archive…")
      assert.include(textOf(asked), "One mechanism ends for good")
      assert.strictEqual((yield* get(path)).status, 200)
      const archived = yield* submit(asked, "Archive")
      assert.include(textOf(archived), "Short-lived is archived. You can restore it here.")
      assert.strictEqual((yield* get(path)).status, 404)
      const restored = yield* submit(archived, "Restore Short-lived")
      assert.include(textOf(restored), "Short-lived is restored.")
      assert.strictEqual((yield* get(path)).status, 200)
      const again = yield* submit(yield* submit(yield* get(path), "Archive…"), "Archive")
      assert.include(textOf(yield* submit(again, "Undo")), "Short-lived is restored.")
      assert.notInclude((yield* get("/dashboard/archive")).text, "Undo")
    })
  )
})
