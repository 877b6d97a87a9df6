/** The check of a draw in a visitor's browser: a true proof holds, and a forged one visibly does not. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { at, clock, ofPages, opened, press, roomUrl, sees } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"

interface ProofFile {
  readonly winners: ReadonlyArray<string>
  readonly entries: ReadonlyArray<{ readonly id: string; readonly weight: number }>
  readonly beacon: string
}

/** Each forgery, and the check that finds it. */
const forgeries: ReadonlyArray<readonly [(proof: ProofFile) => object, string]> = [
  [({ entries }) => ({ winners: [entries[0]!.id, entries[1]!.id] }), "the winners are the first"],
  [({ entries }) => ({ entries: entries.slice(1) }), "entriesDigest is the digest"],
  [() => ({ seed: "0".repeat(64) }), "the seed is the one"],
  [() => ({ entries: "none" }), "The draw is not valid"]
]

/** The page shows a forged proof. */
const forge = (page: Page, change: (proof: ProofFile) => object) =>
  page.route(
    /\/proof\.json/,
    async (route) => {
      const response = await route.fetch()
      const proof = (await response.json()) as ProofFile
      await route.fulfill({ json: { ...proof, ...change(proof) } })
    },
    { times: 1 }
  )

ofPages("The proof of a draw", (it) => {
  it.effect("is checked in the browser, with the visitor's own entry, and a forged one fails", () =>
    Effect.gen(function* () {
      const draws = [{ name: "Raffle", winnerCount: 1, closeAt: at(60), drawAt: at(70) }]
      const room = yield* Fixture.room({ draws })
      const { page, problems } = yield* opened()
      const url = yield* roomUrl(room.experienceId)
      const [draw] = room.sequence.draws
      yield* Effect.promise(async () => {
        await page.goto(url)
        await press(page, "Enter the draw")
        await sees(page, "You are entered")
      })
      for (let others = 0; others < 3; others++) {
        const other = yield* Fixture.visitor(room.experienceId)
        yield* other.submit(yield* other.get("place"), "Enter the draw")
      }
      yield* clock.putForward(71_000)
      yield* Effect.promise(async () => {
        await page.getByRole("link", { name: "Proof of the draw" }).waitFor()
        const receipt = await (await page.request.get(`${url}/receipt?at=${draw.id}`)).body()
        await page.getByRole("link", { name: "Proof of the draw" }).click()
        await sees(page, "The draw is valid. Winners: 1. Entries: 4.")
        await page.getByText(/^Your entry is number [1-4] in the drawn order\.$/).waitFor()
        // One sentence says it in the visitor's language. The checks behind it are for those who look.
        assert.strictEqual(await page.locator(".holds:visible").count(), 0)
        await page.getByText("All checks").click()
        await page.locator(".holds").first().waitFor()
        assert.strictEqual(await page.locator(".fails").count(), 0)
        assert.isAbove(await page.locator(".holds").count(), 4)

        const file = page.getByLabel("Check a saved receipt")
        const upload = (buffer: Buffer) =>
          file.setInputFiles({ name: "receipt.json", mimeType: "application/json", buffer })
        await upload(Buffer.from(receipt.toString().replace(/"entryId":"./, '"entryId":"x')))
        await sees(page, "Your entry is not in the list.")
        await upload(receipt)
        await sees(page, "Your entry is number")

        for (const [change, shown] of forgeries) {
          await forge(page, change)
          await page.reload()
          await sees(page, "The draw is not valid")
          await page.locator("#result.error, .fails").filter({ hasText: shown }).first().waitFor({ state: "attached" })
        }
      })
      assert.deepStrictEqual(problems, [])
      const stranger = yield* Fixture.visitor(room.experienceId)
      assert.strictEqual((yield* stranger.get(`receipt?at=${draw.id}`)).status, 404)
      assert.include(Fixture.textOf(yield* stranger.get(`proof?at=${draw.id}`)), "usher verify-draw proof.json")
    })
  )
})
