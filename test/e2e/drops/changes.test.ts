/** Changes of one mechanism's settings at two nodes at once. */
import { assert, describe, it } from "vitest"
import { Apis } from "../support/Apis.ts"
import { Nodes } from "../support/Nodes.ts"
import { PatientConnections } from "../support/PatientConnections.ts"
import type { ServerUnderTest } from "../support/ServerUnderTest.ts"

const rounds = 15

describe("Changes of different settings at two nodes at once", () => {
  it("do not undo each other", async () => {
    await using nodes = await Nodes.make({ count: 2 })
    await nodes.start()
    const [one, two] = nodes.all as [ServerUnderTest, ServerUnderTest]
    const keys = await one.createOrganization()
    // Soon after a start, a server may refuse requests with Retry-After.
    using apis = new Apis(one, keys, 64, PatientConnections)
    using others = new Apis(two, keys, 64, PatientConnections)
    const [id] = (await apis.createQueues(1)) as [string]
    const path = `/queues/${id}`
    for (let round = 1; round <= rounds; round++) {
      const changes = [
        { name: `Line ${round}` },
        { admitRate: round },
        { capacity: round },
        { admissionExpirationSeconds: round }
      ]
      await Promise.all(changes.map((change, n) => (n % 2 === 0 ? apis : others).change(path, change)))
      const { body } = await apis.admin.send({ method: "GET", path: `/api${path}`, headers: apis.asShop })
      assert.deepInclude(body, Object.assign({}, ...changes), `round ${round}`)
    }
  })
})
