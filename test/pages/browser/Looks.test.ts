/** A picture from the disk of a person, and the look of a drop beside its room, in a browser. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { pngOf } from "../../support/picture.ts"
import { findings } from "../support/axe.ts"
import { ofPages, opened, press, sees, signedIn } from "../support/browserFixture.ts"

const file = { name: "aurora.png", mimeType: "image/png", buffer: pngOf(640, 400) }

/** The width of a picture, once it is shown. */
const decoded = async (image: any): Promise<number> => {
  await image.decode()
  return image.naturalWidth
}

ofPages("The look of a drop", (it) => {
  it.effect("is made with a file and a colour, and the room beside it shows each state", () =>
    Effect.gen(function* () {
      const { page, problems } = yield* opened({ viewport: { width: 1_280, height: 900 } })
      yield* signedIn(page)
      const room = page.frameLocator("iframe[name=room]")
      yield* Effect.promise(async () => {
        await page.getByRole("link", { name: "New drop" }).first().click()
        await page.getByRole("link", { name: "Queue", exact: true }).click()
        await page.getByLabel("Name", { exact: true }).fill("Aurora 1")
        await page.getByLabel("Its picture", { exact: true }).setInputFiles(file)
        await press(page, "Create the drop")
        await sees(page, "Aurora 1 is created.")
        await page.getByRole("link", { name: "Look", exact: true }).click()
        await room.getByRole("heading", { name: "Aurora 1" }).first().waitFor()
        const shot = room.locator("img.shot")
        assert.strictEqual(await shot.evaluate(decoded), 640)
        await press(page, "At the turn")
        await room.getByRole("heading", { name: "It is your turn" }).waitFor()
        await page.getByLabel("Accent colour").fill("#7a1fa2")
        await page.locator("summary[lang=en]").click()
        await page.getByLabel("At a person's turn, English").fill("Come in")
        await press(page, "At the turn")
        await room.getByRole("heading", { name: "Come in" }).waitFor()
        await page.getByLabel("Logo", { exact: true }).setInputFiles(file)
        await press(page, "Save")
        await sees(page, "The look was saved.")
        assert.strictEqual(await room.locator(".brand img").evaluate(decoded), 640)
        assert.strictEqual(await page.getByLabel("Accent colour").inputValue(), "#7a1fa2")
      })
      assert.deepStrictEqual(yield* Effect.promise(() => findings(page, "look")), [])
      assert.deepStrictEqual(problems, [])
    })
  )

  it.effect("fits a phone: nothing is wider than the screen", () =>
    Effect.gen(function* () {
      const { page } = yield* opened({ viewport: { width: 320, height: 800 } })
      yield* signedIn(page)
      yield* Effect.promise(async () => {
        await page
          .getByRole("link", { name: /Aurora 1/ })
          .first()
          .click()
        await page.getByRole("link", { name: "Look", exact: true }).click()
        await page.frameLocator("iframe[name=room]").getByRole("heading", { name: "Aurora 1" }).first().waitFor()
        assert.isAtMost(await page.evaluate<number>("document.documentElement.scrollWidth"), 320)
      })
    })
  )
})
