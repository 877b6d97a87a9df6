/** The times of a drop: the clocks that its pages show, and what they say of its end. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Usher } from "../../http/support/usherFixture.ts"
import { eventually, operator } from "../support/operatorFixture.ts"
import { enter } from "../support/steeringFixture.ts"
import { brand, formsOf, layer as usher, room, textOf } from "../support/roomFixture.ts"

const admin = Effect.gen(function* () {
  const browser = yield* operator
  yield* browser.signIn((yield* Usher).brand.secretKey)
  return browser
})

/** The clocks of a page that the script turns into those of the browser. */
const ofBrowser = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<time(?![^>]*data-clock)[^>]*>([^<]*)/g)].map(([, text]) => text!)

layer(usher, { excludeTestServices: true })("The times of a drop", (it) => {
  it.effect("are on the clocks of its zone, which they name, wherever it is shown", () =>
    Effect.gen(function* () {
      const { get } = yield* admin
      const openAt = "2031-11-28T16:48:00Z"
      const { experienceId, sequence } = yield* room(
        { queues: [{ name: "Line", admitRate: 0 }] },
        { name: "Tokyo run", timeZone: "Asia/Tokyo", openAt }
      )
      const path = `/dashboard/experiences/${experienceId}`
      for (const page of [path, `${path}/people`, "/dashboard?search=Tokyo", "/dashboard/search?search=Tokyo"]) {
        assert.match(textOf(yield* get(page)), /29 Nov 2031, 01:48 GMT\+9/, page)
      }
      const { sequence: open, experienceId: openId } = yield* room(
        { queues: [{ name: "Line", admitRate: 0 }] },
        { timeZone: "Asia/Tokyo" }
      )
      yield* enter(`queues/${open.queues[0].id}`, 1)
      const people = yield* eventually(get(`/dashboard/experiences/${openId}/people`), ({ text }) =>
        text.includes("/dashboard/consumers/")
      )
      assert.include(people.text, "GMT+9</time>")
      const history = yield* get(`/dashboard/mechanisms/${sequence.queues[0].id}/history`)
      for (const page of [people, history, yield* get(path)]) assert.deepStrictEqual(ofBrowser(page.text), [])
    })
  )

  it.effect("have an end only where one is set, or where every part of it ends by itself", () =>
    Effect.gen(function* () {
      const { get } = yield* admin
      const drawAt = "2031-07-01T08:00:00.000Z"
      const draws = [{ name: "Raffle", winnerCount: 1, drawAt }]
      const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 5 }], draws })
      const path = `/dashboard/experiences/${experienceId}`
      const fields = Effect.map(
        get(`${path}/schedule`),
        (page) => formsOf(page).find(({ action }) => action.endsWith("/drop"))!.fields
      )
      assert.strictEqual((yield* fields)["closeAt"], "")
      assert.include(textOf(yield* get(path)), "open until you end it")
      assert.notInclude(textOf(yield* get(path)), "closes 1 Jul")

      const alone = yield* room({ draws })
      assert.include(textOf(yield* get(`/dashboard/experiences/${alone.experienceId}`)), "closes 1 Jul 2031, 08:00 UTC")

      yield* brand("PUT", `/experiences/${experienceId}`, { closeAt: "2031-06-01T08:00:00Z" })
      assert.strictEqual((yield* fields)["closeAt"], "2031-06-01T08:00")
      assert.include(textOf(yield* get(path)), "closes 1 Jun 2031, 08:00 UTC")
      assert.deepInclude(yield* brand("GET", `/experiences/${alone.experienceId}`), {
        closeAt: drawAt,
        window: { openAt: null, closeAt: null }
      })
    })
  )
})
