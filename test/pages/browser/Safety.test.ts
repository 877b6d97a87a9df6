/** Pages with strangers' words in a browser, how much a browser loads, and how soon it sees changes. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { Assets } from "../../../src/pages/Assets.ts"
import { asConsumer, Usher } from "../../http/support/usherFixture.ts"
import { findings } from "../support/axe.ts"
import { clock, leave, ofPages, opened, press, refused, roomUrl, sees, signedIn } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"
import { recorded } from "../support/slowNetwork.ts"

/** Longer than public contents are reused. */
const laterMillis = 6_000

const gzipped = (text: string): number => gzipSync(text, { level: 9 }).length

/** The providers of the gate: the address of the widget's script, and the field that it adds to the form. */
const widgets = [
  ["turnstile", "https://challenges.cloudflare.com/turnstile/v0/api.js", "cf-turnstile-response"],
  ["hcaptcha", "https://js.hcaptcha.com/1/api.js", "h-captcha-response"]
] as const

/** The actions of such a script once its visitor has passed. */
const widgetScript = (field: string, token: string) => `
  const element = document.querySelector("form [data-sitekey]")
  element.innerHTML = "<input type=hidden name=${field} value=${token}><p></p>"
  element.querySelector("p").textContent = element.dataset.sitekey + " is solved"
`

ofPages("A page", (it) => {
  it.effect("runs no script of hostile names, words, themes and documents, and nothing breaks its policy", () =>
    Effect.gen(function* () {
      const { experienceId, attack } = yield* Fixture.hostileRoom
      yield* clock.putForward(laterMillis)
      const { page, problems } = yield* opened()
      const { adminUrl } = yield* Usher
      const url = yield* roomUrl(experienceId)
      yield* Effect.promise(async () => {
        await page.goto(`${url}?return=${encodeURIComponent(attack)}`)
        await press(page, attack)
        await sees(page, "You are in line")
        await page.goto(`${url}/place`)
        await leave(page, "Leave the line")
        await sees(page, "You have left")
      })
      yield* signedIn(page)
      yield* Effect.promise(async () => {
        await page.goto(`${adminUrl}/dashboard/experiences/${experienceId}`)
        await page.getByRole("heading", { name: attack }).first().waitFor()
        assert.strictEqual(await page.locator("img[src=x]").count(), 0)
      })
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("refuses a script that something has put into it all the same", () =>
    Effect.gen(function* () {
      const { experienceId } = yield* Fixture.room({})
      const { page, problems } = yield* opened()
      const url = yield* roomUrl(experienceId)
      const hasRun = yield* Effect.promise(async () => {
        await page.goto(url)
        const reported = page.waitForEvent("console", (message) => message.text().startsWith(refused))
        const ran = await page.evaluate<boolean>(`
          const script = document.createElement("script")
          script.append("window.ran = true")
          document.body.append(script)
          window.ran === true
        `)
        await reported
        return ran
      })
      assert.isFalse(hasRun)
      assert.isAbove(problems.length, 0)
    })
  )

  for (const [provider, script, field] of widgets) {
    it.effect(`passes the gate of ${provider}, whose script no other page loads`, () =>
      Effect.gen(function* () {
        const challenge = { mode: "off", provider, siteKey: "site", secretKey: "secret" }
        yield* Fixture.brand("PUT", "/organizations/me", { challenge })
        const queues = [{ name: "Front door", admitRate: 0 }]
        const { experienceId } = yield* Fixture.room({ queues }, { challenge: { mode: "always" } })
        const { page, problems } = yield* opened()
        const url = yield* roomUrl(experienceId)
        yield* Effect.promise(async () => {
          const loaded: Array<string> = []
          await page.route(script, (route) => {
            loaded.push(new URL(page.url()).pathname)
            const body = widgetScript(field, `good-${experienceId}`)
            return route.fulfill({ contentType: "text/javascript", body })
          })
          await page.goto(url)
          await press(page, "Join the queue")
          await sees(page, "Please confirm that you are not a robot.")
          await sees(page, "site is solved")
          assert.deepStrictEqual(await findings(page, provider), [])
          await press(page, "Continue")
          await sees(page, "You are in line")
          assert.deepStrictEqual(loaded, [`/e/${experienceId}/enter`])
        })
        assert.deepStrictEqual(problems, [])
      }).pipe(Effect.ensuring(Effect.orDie(Fixture.brand("PUT", "/organizations/me", { challenge: null }))))
    )
  }

  it.effect("of staff shows a page as visitors will see it, in a frame without scripts", () =>
    Effect.gen(function* () {
      const { experienceId } = yield* Fixture.room({ queues: [{ name: "Front door", admitRate: 0 }] })
      const blocks = [{ type: "heading", level: 2, content: "Soon" }, { type: "place" }]
      const pageId = yield* Fixture.publish(experienceId, "soon", { body: { blocks } })
      const { page, problems } = yield* opened({ viewport: { width: 1280, height: 900 } })
      const { adminUrl } = yield* Usher
      yield* signedIn(page)
      yield* Effect.promise(async () => {
        await page.goto(`${adminUrl}/dashboard/pages/${pageId}`)
        const frame = page.frameLocator("iframe[title='Preview of The soon']")
        await frame.getByRole("heading", { name: "Soon", exact: true }).waitFor()
        await frame.getByRole("button", { name: "Join the queue" }).waitFor()
        // The styles of the room hold in the frame.
        assert.isAtMost((await frame.locator("main").boundingBox())!.width, 608)
        assert.deepStrictEqual(await findings(page, "preview"), [])
      })
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("of staff shows an entry without a click", () =>
    Effect.gen(function* () {
      const { experienceId, sequence } = yield* Fixture.room({ queues: [{ name: "Front door", admitRate: 0 }] })
      const { page, problems } = yield* opened()
      const { adminUrl, brand, consumer, guest } = yield* Usher
      yield* signedIn(page)
      const waiting = (count: number) =>
        Effect.promise(() =>
          page
            .locator("[data-series=waiting]")
            .filter({ hasText: `${count}` })
            .waitFor()
        )
      yield* Effect.promise(() => page.goto(`${adminUrl}/dashboard/experiences/${experienceId}`))
      yield* waiting(0)
      const { accessToken } = yield* guest()
      const headers = asConsumer(brand.publishableKey, accessToken)
      yield* consumer({ method: "POST", path: `/api/queues/${sequence.queues[0].id}/enter`, headers })
      yield* waiting(1)
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("is readable after 3 s on slow 3G, in line after 4 s and live after 6 s, with one request each", () =>
    Effect.gen(function* () {
      const { experienceId } = yield* Fixture.room({ queues: [{ name: "Front door", admitRate: 0 }] })
      const { page } = yield* opened()
      const url = yield* roomUrl(experienceId)
      yield* Effect.promise(async () => {
        const { pathname } = new URL(url)
        const network = await recorded(page)
        await page.goto(url)
        await network.asks(`GET ${pathname}`)
        assert.deepStrictEqual(network.asked(), [`GET /e/${experienceId}`])
        const readable = await network.seconds()
        await press(page, "Join the queue")
        await sees(page, "You are in line")
        const inLine = await network.seconds((name) => name.endsWith("/live"))
        await network.asks(`GET ${pathname}/live`)
        const live = await network.seconds()
        assert.deepStrictEqual(network.asked().slice(1), [`POST ${pathname}/enter`, `GET ${pathname}/live`])
        assert.isBelow(network.bytes(), 15_000)
        const shown = [readable, inLine, live].map((seconds) => seconds.toFixed(1)).join(", ")
        process.stdout.write(`Slow 3G: readable, in line, live after ${shown} s\n`)
        assert.isAtMost(readable, 3)
        assert.isAtMost(inLine, 4)
        assert.isAtMost(live, 6)
      })
    })
  )

  it.effect("keeps to the sizes of its scripts and styles", () =>
    Effect.gen(function* () {
      const assets = yield* Assets
      const size = (name: "room.ts" | "dashboard.ts" | "dashboard.css") => Effect.map(assets.text(name), gzipped)
      assert.isBelow(yield* size("room.ts"), 5.6 * 1024)
      assert.isBelow((yield* size("dashboard.ts")) + (yield* size("dashboard.css")), 45 * 1024)
    }).pipe(Effect.provide(Assets.layer))
  )
})
