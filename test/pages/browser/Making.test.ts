/** A stranger makes a drop in a browser, without curl and documentation, and runs it. */
import { assert } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { Usher } from "../../http/support/usherFixture.ts"
import { clock, ofPages, opened, press, roomUrl, sees, signedIn } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"
import { openDetails, wide, wrongInLooks } from "../support/screens.ts"

ofPages("A stranger at the dashboard", (it) => {
  it.effect("makes a drop with two sizes, two languages and a date in another zone, and runs it", () =>
    Effect.gen(function* () {
      const { page, problems } = yield* opened({ viewport: { width: 1_280, height: 900 } })
      yield* signedIn(page)
      yield* Effect.promise(async () => {
        await page.getByRole("link", { name: "New drop" }).first().click()
        await page.getByRole("link", { name: "Queue", exact: true }).click()
        await page.getByLabel("Name", { exact: true }).fill("Aurora 1")
        await page.getByLabel("Opens", { exact: true }).fill("2031-07-01T10:00")
        await page.getByLabel("Time zone").selectOption("Asia/Tokyo")
        await page.getByLabel("Price", { exact: true }).fill("129.00")
        await page.getByLabel("Address of its picture").fill("cdn.example/aurora.jpg")
        await page.getByLabel("Size 1", { exact: true }).fill("41")
        const units = page.getByLabel("Units", { exact: true })
        await page.getByLabel("Stock of size 1").fill("1")
        assert.strictEqual(await units.inputValue(), "1")
        // A size that is not counted may be sold without end.
        await page.getByLabel("Size 2", { exact: true }).fill("42")
        assert.strictEqual(await units.inputValue(), "100")
        await page.getByText("Texts in English and German").click()
        await page.getByLabel("Button of the queue, English").fill("Get in line")
        await page.getByLabel("Button of the queue, Deutsch").fill("Jetzt anstellen")
        // The browser itself refuses an address that is none.
        await press(page, "Create the drop")
        await page.getByLabel("Address of its picture").fill("http://cdn.example/aurora.jpg")
        await press(page, "Create the drop")
        await sees(page, "Nothing was created yet.")
        await page.getByRole("link", { name: "Address of its picture" }).click()
        assert.strictEqual(await page.getByLabel("Price", { exact: true }).inputValue(), "129.00")
        await page.getByLabel("Address of its picture").fill("https://cdn.example/aurora.jpg")
        await press(page, "Create the drop")
        await sees(page, "Aurora 1 is created.")
        await page.getByRole("link", { name: "Schedule" }).click()
        assert.strictEqual(await page.getByLabel("Opens", { exact: true }).inputValue(), "2031-07-01T10:00")
        await page.getByLabel("Opens", { exact: true }).fill("2020-01-01T00:00")
        await press(page, "Save")
        await sees(page, "The opening of the lobby must be before the opening.")
        await page.getByLabel("Lobby opens", { exact: true }).fill("")
        await press(page, "Save")
        await sees(page, "Aurora 1 was changed.")
      })
      const experienceId = new URL(page.url()).pathname.split("/")[3]!
      yield* clock.putForward(2_000)
      const visitor = yield* opened({ locale: "de-DE" })
      const url = yield* roomUrl(experienceId)
      yield* Effect.promise(async () => {
        await visitor.page.goto(url)
        await press(visitor.page, "Jetzt anstellen")
      })
      const { products, sequences } = yield* Fixture.brand("GET", `/experiences/${experienceId}`)
      assert.deepStrictEqual(
        products[0].product.variants.map(({ options }: any) => options[0].value),
        ["41", "42"]
      )
      const inLine = Fixture.brand("GET", `/distributions/${sequences[0].queues[0].id}/consumers`)
      yield* Effect.repeat(inLine, { until: ({ data }) => data.length === 1, schedule: Schedule.spaced("20 millis") })
      assert.deepStrictEqual([...problems, ...visitor.problems], [])
    })
  )

  it.effect("sees every screen of it whole, in light and dark, on a phone, and without a finding of axe", () =>
    Effect.gen(function* () {
      const { adminUrl } = yield* Usher
      const { id } = yield* Fixture.brand("POST", "/experiences", {
        name: "Aurora 2",
        newProducts: [
          {
            name: "Aurora",
            pictures: [
              { url: "https://cdn.example/side.jpg", altText: "Side" },
              { url: "https://cdn.example/top.jpg" }
            ],
            variants: [{ price: "129.00", options: [{ option: "Size", value: "41" }] }]
          }
        ],
        sequences: [
          {
            name: "Everyone",
            queues: [{ name: "Line", admitRate: 60 }],
            draws: [{ name: "Raffle", winnerCount: 5, openAt: "2031-01-01T10:00:00Z", drawAt: "2031-01-02T10:00:00Z" }]
          }
        ]
      })
      const { products } = yield* Fixture.brand("GET", `/experiences/${id}`)
      const screens = {
        choice: "/new",
        form: "/new?part=waitlist,draw,auction,falling,appointment,release,queue",
        schedule: `/experiences/${id}/schedule`,
        catalogue: "/catalogue",
        product: `/catalogue/${products[0].productId}`,
        "new-product": "/catalogue/new",
        archive: "/archive",
        settings: "/organization",
        "security-events": "/security-events"
      }
      const { page, problems } = yield* opened({ viewport: wide })
      yield* signedIn(page)
      yield* Effect.promise(async () => {
        for (const [name, path] of Object.entries(screens)) {
          await page.goto(`${adminUrl}/dashboard${path}`)
          await openDetails(page)
          assert.deepStrictEqual(await wrongInLooks(page, name), [])
        }
      })
      assert.deepStrictEqual(problems, [])
    })
  )
})
