/** A visitor's page while the server is killed and started again, and while the device has no network. */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Apis } from "../../e2e/support/Apis.ts"
import { ServerUnderTest } from "../../e2e/support/ServerUnderTest.ts"
import { inBrowser, opened, press, sees } from "../support/browserFixture.ts"

inBrowser("A page", Layer.empty, (it) => {
  it.effect("shows its true place after a crash of the server and after a time offline, without a click", () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => ServerUnderTest.make()),
        (made) => Effect.promise(() => made[Symbol.asyncDispose]())
      )
      const { page, context } = yield* opened()
      const place = (is: number) =>
        page
          .locator("[data-text=position]")
          .filter({ hasText: new RegExp(`^${is}$`) })
          .waitFor()
      const interrupted = page.getByText("The connection was lost.")
      yield* Effect.promise(async () => {
        await server.start()
        using apis = new Apis(server, await server.createOrganization())
        const experienceId = await apis.create("/experiences", { name: "Drop" })
        const sequenceId = await apis.create("/sequences", { experienceId, name: "Everyone" })
        const [queueId] = await apis.createQueues(1, {}, sequenceId)
        const ahead = await Promise.all([apis.guest(), apis.guest(), apis.guest()])
        for (const guest of ahead) await apis.enter(queueId!, guest)
        await page.goto(`${server.consumerUrl}/e/${experienceId}`)
        await press(page, "Join the queue")
        await place(4)
        let loads = 0
        page.on("domcontentloaded", () => loads++)

        await server.kill()
        await interrupted.waitFor()
        await place(4)
        await server.start()
        await interrupted.waitFor({ state: "hidden" })
        assert.strictEqual((await apis.act(queueId!, "admit", ahead[0].consumerId)).status, 200)
        await place(3)

        await context.setOffline(true)
        assert.strictEqual((await apis.act(queueId!, "admit", ahead[1].consumerId)).status, 200)
        await context.setOffline(false)
        await place(2)
        assert.strictEqual((await apis.act(queueId!, "admit", ahead[2].consumerId)).status, 200)
        await place(1)
        await sees(page, "You are in line")
        assert.strictEqual(loads, 0)
      })
    })
  )
})
