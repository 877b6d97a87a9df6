/** The reports on nodes and on overdue wake-ups that operators read. */
import { assert, describe, it } from "vitest"
import * as FreshDatabase from "../support/FreshDatabase.ts"
import { Nodes } from "../support/Nodes.ts"
import { pause } from "../support/Processes.ts"
import type { ServerUnderTest } from "../support/ServerUnderTest.ts"

interface ShownNode {
  readonly name: string
  readonly shards: number
  readonly mechanisms: number
}

/** The fields of the responses that these tests read. */
interface Ready {
  readonly node: { readonly name: string; readonly parkedMechanisms: number; readonly nodes: ReadonlyArray<ShownNode> }
  readonly remarks?: { readonly [subject: string]: string }
}
interface Answered {
  readonly id: string
  readonly data: ReadonlyArray<ShownNode>
  readonly live: { readonly node: string }
  readonly oldestOverdueWakeUpAt: string | null
}

const ready = async ({ adminUrl }: ServerUnderTest) => {
  const answer = await fetch(`${adminUrl}/ready`)
  return { status: answer.status, body: (await answer.json()) as Ready }
}

/** Repeats a request until its response fulfills the condition, for up to 15 seconds. */
const eventually = async <A>(send: () => Promise<A>, isSo: (answer: A) => boolean): Promise<A> => {
  for (let tries = 0; ; tries++) {
    const answer = await send()
    if (isSo(answer) || tries === 60) return answer
    await pause(250)
  }
}

const shardsOf = (nodes: ReadonlyArray<ShownNode>) => nodes.map(({ shards }) => shards)

describe("two nodes", () => {
  it("appear with their shards, and /ready remarks on an overdue wake-up", async () => {
    await using nodes = await Nodes.make({ count: 2 })
    await nodes.start()
    const [one, two] = nodes.all as [ServerUnderTest, ServerUnderTest]
    const { secretKey } = await one.createOrganization()
    const call = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${secretKey}`, "content-type": "application/json" }
      const answer = await fetch(`${one.adminUrl}/api${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) })
      })
      return (await answer.json()) as Answered
    }
    const experience = await call("POST", "/experiences", { name: "Drop" })
    const sequence = await call("POST", "/sequences", { experienceId: experience.id, name: "Sale" })
    const queues: Array<string> = []
    for (let n = 0; n < 8; n++) {
      queues.push((await call("POST", "/queues", { sequenceId: sequence.id, name: `Line ${n}`, admitRate: 0 })).id)
    }

    const names = [one.name, two.name].toSorted()
    const shown = await eventually(
      () => ready(one),
      // While a node gives shards to the other one, none of both owns them.
      ({ body }) =>
        body.node.nodes.length === 2 &&
        shardsOf(body.node.nodes).every((shards) => shards > 0) &&
        shardsOf(body.node.nodes).reduce((sum, shards) => sum + shards) === 64
    )
    assert.strictEqual(shown.status, 200)
    assert.strictEqual(shown.body.node.name, one.name)
    assert.strictEqual(shown.body.node.parkedMechanisms, 0)
    assert.sameMembers(
      shown.body.node.nodes.map(({ name }) => name),
      names
    )
    const shards = shardsOf(shown.body.node.nodes)
    assert.strictEqual(shards[0]! + shards[1]!, 64)

    const { data } = await call("GET", "/nodes")
    assert.deepStrictEqual(data.map(({ name }) => name).toSorted(), names)
    assert.strictEqual(data[0]!.mechanisms + data[1]!.mechanisms, queues.length)
    const listed = JSON.parse(await two.usher(["nodes", "--json"])) as ReadonlyArray<ShownNode>
    assert.deepStrictEqual(listed.map(({ name }) => name).toSorted(), names)

    const publicAnswer = await fetch(`${one.consumerUrl}/ready`)
    assert.deepStrictEqual(
      await publicAnswer.json(),
      { status: "ready" },
      "the public response does not contain the nodes"
    )

    // A wake-up without an effect looks like a stalled mechanism. Its owner reports it.
    const home = (await call("GET", `/distributions/${queues[0]}`)).live.node
    const [owner, other] = home === one.name ? [one, two] : [two, one]
    await FreshDatabase.query(
      one.database.url!,
      (sql) => sql`update mechanism_heads set wake_at = now() - interval '1 minute' where mechanism_id = ${queues[0]}`
    )
    const stalled = await eventually(
      () => ready(owner),
      ({ body }) => body.remarks !== undefined
    )
    assert.strictEqual(stalled.status, 200, "one late mechanism does not take its node out of the balancer")
    assert.match(stalled.body.remarks?.["wake-ups"] ?? "", /^overdue for \d+ s$/)
    assert.isUndefined((await ready(other)).body.remarks)
    assert.isNotNull((await call("GET", "/nodes")).oldestOverdueWakeUpAt)
  })
})
