/** Archives consumers while several nodes own their mechanisms, and while the archiving process is killed. */
import { assert, describe, it } from "@effect/vitest"
import { Apis, type Guest } from "../support/Apis.ts"
import { ownedBy, Nodes } from "../support/Nodes.ts"
import { pause } from "../support/Processes.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"

const statusesOf = (apis: Apis, queueIds: ReadonlyArray<string>, { consumerId }: Guest) =>
  Promise.all(
    queueIds.map(
      async (id) => (await apis.places(id)).find((place) => place.consumerId === consumerId)?.status ?? "nowhere"
    )
  )

describe("An archived consumer", () => {
  it("loses its places on every node before the response, and every node can reach a deleted mechanism's grants", async () => {
    await using nodes = await Nodes.make({ count: 2 })
    await nodes.start()
    const [first, second] = nodes.all as [ServerUnderTest, ServerUnderTest]
    const keys = await first.createOrganization()
    using both = new Apis(nodes.all, keys)
    const queues = await both.createQueues(16)
    for (const node of [first, second]) while ((await ownedBy(both, node, queues)).length === 0) await pause(50)
    const [gone, other] = [await both.guest(), await both.guest()]
    for (const id of queues) {
      for (const guest of [gone, other]) assert.strictEqual((await both.enter(id, guest)).status, 200)
    }
    const granted = queues.filter((_, index) => index % 2 === 0)
    const tokens = new Map<string, string>()
    for (const id of granted) {
      await both.act(id, "admit", gone.consumerId)
      tokens.set(id, (await both.act(id, "admit", other.consumerId)).body.admissionGrant!)
    }

    using one = new Apis(first, keys)
    const archived = await one.doAsAdmin("DELETE", `/consumers/${gone.consumerId}`)
    assert.strictEqual(archived.status, 200)
    const expected = queues.map((id) => (granted.includes(id) ? "DENIED" : "LEFT"))
    assert.deepStrictEqual(await statusesOf(both, queues, gone), expected)

    for (const id of granted) assert.strictEqual((await both.doAsAdmin("DELETE", `/queues/${id}`)).status, 200)
    using two = new Apis(second, keys)
    for (const id of granted) {
      const body = { consumerId: other.consumerId, token: tokens.get(id) }
      for (const apis of [one, two]) {
        const { body: validity } = await apis.doAsShop(`/queues/${id}/validate`, body)
        assert.strictEqual(JSON.stringify(validity), "true")
        assert.strictEqual((await apis.status(id, other)).status, 404)
        const unknown = await apis.doAsShop(`/queues/${id}/validate`, { ...body, consumerId: gone.consumerId })
        assert.deepStrictEqual([unknown.status, unknown.body.error], [404, "Consumer not found"])
      }
      assert.strictEqual((await two.act(id, "complete", other.consumerId)).body.status, "COMPLETED")
      assert.strictEqual((await one.doAsShop(`/queues/${id}/validate`, body)).status, 404)
    }
  })

  it("loses its remaining places when the client repeats the request after the process was killed", async () => {
    await using server = await ServerUnderTest.make()
    await server.start()
    const keys = await server.createOrganization()
    using apis = new Apis(server, keys)
    const queues = await apis.createQueues(60)
    const gone = await apis.guest()
    for (const id of queues) await apis.enter(id, gone)

    const archive = () => apis.doAsAdmin("DELETE", `/consumers/${gone.consumerId}`)
    const cutOff = archive().then(
      ({ status }) => status,
      () => "cut off"
    )
    for (;;) {
      const { status } = await apis.status(queues[0]!, gone).catch(() => ({ status: 0 }))
      // The token is invalid now, so the consumer is archived.
      if (status === 401) break
      await pause(1)
    }
    await server.kill()
    await cutOff
    await server.start()

    const again = await archive()
    assert.include([200, 404], again.status)
    assert.deepStrictEqual(
      await statusesOf(apis, queues, gone),
      queues.map(() => "LEFT")
    )
    assert.strictEqual((await archive()).status, 404)
  })
})
