// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/** A stranger puts a gate in front of a site, in a browser. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Usher } from "../../http/support/usherFixture.ts"
import { ofPages, opened, press, sees, signedIn } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"
import { openDetails, picture, wide, wrongInLooks } from "../support/screens.ts"

/** A drop with a queue in front of a site. */
const aQueue = Effect.fnUntraced(function* (name: string) {
  const queue = {
    name: "Checkout",
    admitRate: 60,
    insideLimit: 50,
    standby: true,
    admissionRenewal: { idleSeconds: 90, maxSeconds: 3_600 }
  }
  const { id, sequences } = yield* Fixture.brand("POST", "/experiences", {
    name,
    sequences: [{ name: "Everyone", queues: [queue] }]
  })
  return { experienceId: id as string, queueId: sequences[0].queues[0].id as string }
})

ofPages("A stranger at the gates of the dashboard", (it) => {
  it.effect("makes a gate with two rules, and tries an address", () =>
    Effect.gen(function* () {
      yield* aQueue("Spring sale")
      const { page, problems } = yield* opened({ viewport: { width: 1_280, height: 900 } })
      yield* signedIn(page)
      yield* Effect.promise(async () => {
        await page.getByRole("link", { name: "Gates", exact: true }).click()
        await page.getByRole("link", { name: "New gate" }).click()
        await page.getByLabel("Name", { exact: true }).fill("Shop")
        assert.strictEqual(await page.getByLabel("Hosts").inputValue(), "")
        await page.getByLabel("Hosts").fill("https://shop.example/")
        await page.getByLabel("Path of rule 1").fill("/checkout")
        await page.getByLabel("Rule 1 asks for").selectOption({ label: "A place in Spring sale · Checkout" })
        await press(page, "Add a rule")
        await page.getByLabel("Rule 2 is for").selectOption("any")
        await page.getByLabel("Rule 2 asks for").selectOption("pass")
        await press(page, "Make the gate")
        await sees(page, "This rule would let every request pass")
        await page.getByRole("link", { name: "Rule 2 is for" }).click()
        await page.getByText("More conditions, and a name").nth(1).click()
        await page.getByLabel("Header of rule 2", { exact: true }).fill("x-monitoring")
        await press(page, "Move up rule 2")
        assert.strictEqual(await page.getByLabel("Header of rule 1", { exact: true }).inputValue(), "x-monitoring")
        assert.strictEqual(await page.getByLabel("Path of rule 2").inputValue(), "/checkout")
        await press(page, "Make the gate")
        await sees(page, "It is shown once")
        await page.getByRole("link", { name: "I have copied it" }).click()
        assert.match(page.url(), /#lines$/)
        await page.getByLabel("Address", { exact: true }).fill("https://shop.example/checkout/pay")
        await press(page, "Try it")
        await sees(page, "A new visitor passes at once while rate and limit allow")
      })
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("sees every screen whole, in light and dark, on a phone, and without a finding of axe", () =>
    Effect.gen(function* () {
      const { adminUrl, consumer } = yield* Usher
      const { experienceId, queueId } = yield* aQueue("Autumn sale")
      const rules = [
        { name: "Monitoring", when: { header: { name: "x-monitoring", value: "42" } }, then: "pass" },
        { when: { pathPrefix: "/checkout", methods: ["GET", "POST"] }, then: { queueId }, failMode: "open" }
      ]
      const { id, key } = yield* Fixture.brand("POST", "/gates", {
        name: "Front door",
        hosts: ["shop.example", "www.shop.example"],
        rules
      })
      const { version } = yield* Fixture.brand("GET", `/gates/${id}/instances`)
      yield* consumer({
        path: `/api/gates/${id}/ended`,
        headers: { authorization: `Bearer ${key}`, "usher-gate": `usher-gate/one ${version} pass=1204 room=31` }
      })
      const pass = { method: "POST", path: `/api/queues/${queueId}/pass`, headers: { authorization: `Bearer ${key}` } }
      for (let visitor = 0; visitor < 12; visitor++) yield* consumer({ ...pass, body: {} })
      const screens = {
        list: "/gates",
        new: "/gates/new",
        gate: `/gates/${id}`,
        change: `/gates/${id}/change`,
        now: `/experiences/${experienceId}`,
        schedule: `/experiences/${experienceId}/schedule`
      }
      const { page, problems } = yield* opened({ viewport: wide })
      yield* signedIn(page)
      yield* Effect.promise(async () => {
        for (const [name, path] of Object.entries(screens)) {
          await page.goto(`${adminUrl}/dashboard${path}`)
          await picture(page, name)
          await openDetails(page)
          assert.deepStrictEqual(await wrongInLooks(page, `${name}-open`), [])
        }
        await page.goto(`${adminUrl}/dashboard/gates/new`)
        await page.evaluate(`document.querySelectorAll("form.drop").forEach((one) => (one.noValidate = true))`)
        await press(page, "Make the gate")
        await sees(page, "Nothing was saved yet.")
        assert.deepStrictEqual(await wrongInLooks(page, "refused"), [])
        await page.goto(`${adminUrl}/dashboard/gates/${id}`)
        await press(page, "Try it")
        await page.locator(".answer").waitFor()
        assert.deepStrictEqual(await wrongInLooks(page, "tried"), [])
      })
      assert.deepStrictEqual(problems, [])
    })
  )
})
