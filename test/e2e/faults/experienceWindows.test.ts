/**
 * An experience whose mechanisms run on two nodes. Its times apply to all of them, and so does an admission by count.
 */
import { assert, describe, it } from "vitest"
import { Apis } from "../support/Apis.ts"
import { Nodes } from "../support/Nodes.ts"
import { PatientConnections } from "../support/PatientConnections.ts"
import { pause } from "../support/Processes.ts"
import type { ServerUnderTest } from "../support/ServerUnderTest.ts"

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

const mechanisms = 16

describe("An experience on two nodes", () => {
  it("limits the mechanisms of both after a change on one, also after both were killed, and admits on either", async () => {
    await using nodes = await Nodes.make({ count: 2 })
    await nodes.start()
    const [one, two] = nodes.all as [ServerUnderTest, ServerUnderTest]
    const keys = await one.createOrganization()
    // Soon after a start, a server may refuse requests with Retry-After.
    using apis = new Apis(one, keys, 64, PatientConnections)
    using others = new Apis(two, keys, 64, PatientConnections)
    const [first, second] = [inDays(1), inDays(2)]
    const experienceId = await apis.create("/experiences", { name: "Drop", openAt: first })
    const sequenceId = await apis.create("/sequences", { experienceId, name: "Sale" })
    const ids = await Promise.all(
      Array.from({ length: mechanisms }, (_, n) =>
        apis.create("/queues", { sequenceId, name: `Line ${n}`, admitRate: 0 })
      )
    )
    const homes = async () => new Set(await Promise.all(ids.map(async (id) => (await apis.live(id)).node)))
    for (let tries = 0; tries < 60 && (await homes()).size < 2; tries++) await pause(250)
    assert.strictEqual((await homes()).size, 2, "both nodes own mechanisms")

    const change = async ({ admin, asShop: headers }: Apis, body: object) => {
      const answer = await admin.send({ method: "PUT", path: `/api/experiences/${experienceId}`, headers, body })
      assert.strictEqual(answer.status, 200)
    }
    /**
     * Enters each mechanism, on one node or the other. Returns the distinct results: the opening time or the status.
     */
    const openings = async () => {
      const guest = await apis.guest()
      const answers = await Promise.all(ids.map((id, n) => (n % 2 === 0 ? apis : others).enter(id, guest)))
      return new Set(answers.map(({ status, body }) => (status === 423 ? body.opensAt : status)))
    }

    assert.deepStrictEqual(await openings(), new Set([first]))
    await change(others, { openAt: second })
    assert.deepStrictEqual(await openings(), new Set([second]))
    for (const node of nodes.all) await node.kill()
    await nodes.start()
    assert.deepStrictEqual(await openings(), new Set([second]))
    await change(apis, { openAt: null })
    assert.deepStrictEqual(await openings(), new Set([200]))

    for (const id of ids) {
      const { status, body } = await others.doAsShop(`/queues/${id}/admit`, { count: 5 })
      assert.deepStrictEqual([status, body.admitted], [200, 1])
    }
    await change(others, { closeAt: inDays(-1) })
    assert.deepStrictEqual(await openings(), new Set([409]))
  })
})
