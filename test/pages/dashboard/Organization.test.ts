/** The settings of the organization at the dashboard, from the first sign-in on. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Organizations } from "../../../src/auth/keys/Organizations.ts"
import { asServer, Usher } from "../../http/support/usherFixture.ts"
import { png } from "../../support/picture.ts"
import { operator, person } from "../support/operatorFixture.ts"
import { brand, layer as usher, room, textOf } from "../support/roomFixture.ts"

layer(usher, { excludeTestServices: true })("The organization at the dashboard", (it) => {
  it.effect("is asked for name, colour and logo until it has a name, and rooms then show all three", () =>
    Effect.gen(function* () {
      const { admin, consumer } = yield* Usher
      const { secretKey, testSecretKey } = yield* (yield* Organizations).create({ name: "default", plan: "growth" })
      const headers = asServer(secretKey)
      const made = yield* admin({ method: "POST", path: "/api/experiences", headers, body: { name: "Drop" } })
      const { get, submit, submitFiles, signIn } = yield* operator
      yield* signIn(secretKey)
      const first = yield* get("/dashboard")
      assert.include(textOf(first), "What is your brand called?")
      assert.strictEqual((yield* submit(first, "Save", { name: " " })).status, 400)
      const refused = yield* submit(first, "Save", { name: "Maison Aurore", primary: "gold" })
      assert.include(textOf(refused), "Enter a colour such as #c9a86a.")
      const look = { name: "Maison Aurore", primary: "#c9a86a" }
      const broken = yield* submitFiles(refused, "Save", { "logoUrl.file": png.subarray(0, 40) }, look)
      assert.strictEqual(broken.status, 400)
      assert.include(textOf(yield* submitFiles(broken, "Save", { "logoUrl.file": png }, look)), "Saved.")
      assert.notInclude(textOf(yield* get("/dashboard")), "What is your brand called?")
      const { text } = yield* consumer({ path: `/e/${made.body.id}` })
      assert.match(text, /<img src="\/pictures\/[0-9a-f-]{36}" alt="Maison Aurore"/)
      assert.include(text, "--primary:#c9a86a")
      const test = yield* operator
      yield* test.signIn(testSecretKey)
      assert.include(textOf(yield* test.get("/dashboard/organization")), "An admin can change this in live mode.")
    })
  )

  it.effect("warns in the control room while no shop is allowed, and takes the addresses of shops", () =>
    Effect.gen(function* () {
      const { get, submit, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
      const path = `/dashboard/experiences/${experienceId}`
      assert.include(textOf(yield* get(path)), "No shop is allowed yet")
      const settings = yield* get("/dashboard/organization")
      const wrong = yield* submit(settings, "Save", { allowedOrigins: "shop.example" })
      assert.strictEqual(wrong.status, 400)
      assert.include(wrong.text, "shop.example</textarea")
      yield* submit(settings, "Save", { allowedOrigins: "https://shop.example\r\nhttps://other.example" })
      const { allowedOrigins } = yield* brand("GET", "/organizations/me")
      assert.deepStrictEqual(allowedOrigins, ["https://shop.example", "https://other.example"])
      assert.notInclude(textOf(yield* get(path)), "No shop is allowed yet")
      const viewer = yield* person("settings@example.com", "viewer")
      assert.include(textOf(yield* viewer.get("/dashboard/organization")), "https://shop.example https://other.example")
    })
  )

  it.effect("sets messages and bot protection, keeps a secret key, and says at each field what is wrong", () =>
    Effect.gen(function* () {
      const { get, submit, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const path = "/dashboard/organization"
      const messages = {
        grantMessages: "email_or_sms",
        defaultCountry: "fr",
        smsCountries: "fr, be",
        smsCodesPerDay: "50"
      }
      assert.include(textOf(yield* submit(yield* get(path), "Save messages", messages)), "Saved.")
      const organization = brand("GET", "/organizations/me")
      assert.deepInclude(yield* organization, {
        grantMessages: "email_or_sms",
        defaultCountry: "FR",
        smsCountries: ["FR", "BE"],
        smsCodesPerDay: 50
      })
      const wrong = yield* submit(yield* get(path), "Save messages", {
        operationsEmail: "nobody",
        smsCodesPerDay: "many"
      })
      assert.strictEqual(wrong.status, 400)
      for (const name of ["operationsEmail", "smsCodesPerDay"])
        assert.include(wrong.text, `id="f-messages-${name}-problem"`)
      assert.include(wrong.text, 'value="nobody"')

      const turnstile = { "challenge.mode": "always", "challenge.provider": "turnstile", "challenge.siteKey": "site" }
      const lacking = yield* submit(yield* get(path), "Save protection", turnstile)
      assert.include(lacking.text, 'id="f-protection-challenge.secretKey-problem"')
      yield* submit(lacking, "Save protection", { ...turnstile, "challenge.secretKey": "hush-hush" })
      const page = yield* submit(yield* get(path), "Save protection", { ...turnstile, "challenge.siteKey": "other" })
      assert.notInclude(page.text, "hush-hush")
      assert.deepInclude((yield* organization).challenge, {
        provider: "turnstile",
        siteKey: "other",
        hasSecretKey: true
      })
      assert.strictEqual((yield* get("/dashboard/security-events")).status, 200)
      yield* brand("PUT", "/organizations/me", { challenge: null, grantMessages: null })
    })
  )
})
