/** Unparking over the Admin API of a node that does not own the mechanism. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assert, describe, it } from "vitest"
import { correct, storeBrokenQueue } from "../../http/support/brokenQueue.ts"
import * as FreshDatabase from "../support/FreshDatabase.ts"
import { Nodes } from "../support/Nodes.ts"
import { pause } from "../support/Processes.ts"
import type { ServerUnderTest } from "../support/ServerUnderTest.ts"

interface Answered {
  readonly status: number
  readonly body: any
}

/** Repeats a request until its response fulfills the condition, for up to a minute. */
const eventually = async (send: () => Promise<Answered>, isSo: (answer: Answered) => boolean): Promise<Answered> => {
  for (let tries = 0; ; tries++) {
    const answer = await send()
    if (isSo(answer) || tries === 240) return answer
    await pause(250)
  }
}

describe("a mechanism that one of two nodes has parked", () => {
  it("starts again at its node when the other node is asked to unpark it", async () => {
    await using nodes = await Nodes.make({ count: 2 })
    await nodes.start()
    const [one, two] = nodes.all as [ServerUnderTest, ServerUnderTest]
    const { organizationId, secretKey } = await one.createOrganization()
    const headers = { authorization: `Bearer ${secretKey}`, "content-type": "application/json" }
    const call = async (node: ServerUnderTest, method: string, path: string, body?: object): Promise<Answered> => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await fetch(`${node.adminUrl}/api${path}`, { method, headers, ...sent })
      return { status: answer.status, body: await answer.json() }
    }
    const experience = (await call(one, "POST", "/experiences", { name: "Drop" })).body
    const parents = { experienceId: experience.id, name: "Sale" }
    const sequence = (await call(one, "POST", "/sequences", parents)).body
    const change = <A, E>(use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
      FreshDatabase.query(one.database.url!, (sql) => Effect.provideService(use, SqlClient.SqlClient, sql))
    const { id } = await change(
      storeBrokenQueue({ organizationId, mode: "live" }, { ...parents, sequenceId: sequence.id })
    )

    const live = () => call(one, "GET", `/distributions/${id}`)
    await eventually(live, ({ body }) => body.live?.parked === true)
    const listed = await eventually(
      () => call(one, "GET", "/nodes"),
      ({ body }) => body.parkedMechanisms.length > 0
    )
    const [{ distributionId, node }] = listed.body.parkedMechanisms
    assert.strictEqual(distributionId, id)
    const other = node === one.name ? two : one

    await change(correct(id))
    const unparked = await call(other, "POST", `/queues/${id}/unpark`, { reason: "TECHNICAL_PROBLEM" })
    assert.strictEqual(unparked.status, 200, JSON.stringify(unparked.body))
    assert.deepInclude((await live()).body.live, { node, parked: false, lastSequence: 2 })
    assert.isEmpty((await call(one, "GET", "/nodes")).body.parkedMechanisms)
    const { data } = (await call(one, "GET", `/audit-log?type=distribution.noted&subjectId=${id}`)).body
    assert.deepStrictEqual(
      data.map(({ after }: { readonly after: object }) => after),
      [{ action: "unpark", reason: "TECHNICAL_PROBLEM" }]
    )
  })
})
