/** Visits of rooms on a real server. */
import { assert, describe, it } from "@effect/vitest"
import { Apis } from "../support/Apis.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"

describe("Visits of a room", () => {
  it("are counted by its page alone, and survive SIGTERM", async () => {
    await using server = await ServerUnderTest.make()
    await server.start()
    using apis = new Apis(server, await server.createOrganization())
    const id = await apis.create("/experiences", { name: "Drop" })
    for (const path of ["", "", "?lang=de", "/place", "/now", "/state"])
      await (await fetch(`${server.consumerUrl}/e/${id}${path}`)).text()
    assert.strictEqual((await server.terminate()).code, 0)
    await server.start()
    const { body } = await apis.doAsAdmin("POST", "/analytics/query", {
      interval: "1d",
      timeRange: "1d",
      measures: [{ name: "visits", event: "room_visited", op: "count", unit: "1" }],
      where: { experienceId: id }
    })
    const series = body.data!.map((bucket) => (bucket["series"] as { readonly visits: number }).visits)
    assert.strictEqual(
      series.reduce((all, visits) => all + visits, 0),
      3
    )
  })
})
