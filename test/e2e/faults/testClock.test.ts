/** A test clock on a real server that is killed in the midst of an advance. */
import { assert, describe, it } from "@effect/vitest"
import { pause } from "../support/Processes.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"

const people = 20
const begin = Date.parse("2033-01-01T00:00:00Z")

describe("An advance of a test clock", () => {
  it("goes on after SIGKILL where it was, and everything on the way happens once, at its instant", async () => {
    await using server = await ServerUnderTest.make()
    await server.start()
    const { testSecretKey } = await server.createOrganization()
    const send = async (base: string, method: string, path: string, body?: object, headers: object = {}) => {
      const response = await fetch(`${base}/api${path}`, {
        method,
        headers: { authorization: `Bearer ${testSecretKey}`, "content-type": "application/json", ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) })
      })
      const text = await response.text()
      assert.isBelow(response.status, 300, `${method} ${path}: ${text}`)
      return JSON.parse(text)
    }
    const ask = (method: string, path: string, body?: object) => send(server.adminUrl, method, path, body)
    const progressed = async (isEnough: (clock: { status: string; progress?: number }) => boolean) => {
      for (let tries = 0; tries < 3_000; tries++) {
        const clock = await ask("GET", "/test-clock")
        assert.notStrictEqual(clock.status, "FAILED", clock.problem)
        if (isEnough(clock)) return clock
        await pause(5)
      }
      throw new Error("the clock does not go on")
    }

    await ask("PUT", "/test-clock", { frozenAt: new Date(begin).toISOString() })
    const { id: experienceId } = await ask("POST", "/experiences", { name: "Drop" })
    const { id: sequenceId } = await ask("POST", "/sequences", { experienceId, name: "Sale" })
    const { id } = await ask("POST", "/queues", {
      sequenceId,
      name: "Line",
      admitRate: 6,
      admissionExpirationSeconds: 30
    })
    for (let index = 0; index < people; index++) {
      const consumer = await ask("POST", "/consumers", {})
      await send(server.consumerUrl, "POST", `/queues/${id}/enter`, undefined, { "x-consumer-id": consumer.id })
    }
    await ask("POST", "/test-clock/advance", { by: 300 })
    const { progress } = await progressed(({ progress = 1 }) => progress > 0.2)
    await server.kill()
    await server.start()
    assert.isBelow(progress, 1)
    const { now } = await progressed(({ status }) => status === "READY")
    assert.strictEqual(Date.parse(now), begin + 300_000)

    const events = async (type: string) => {
      const { data } = await ask(
        "GET",
        `/distributions/${id}/history?type=${type}&first=100&sortBy=sequence&sortDir=asc`
      )
      return (data as ReadonlyArray<{ at: string; consumerId: string }>).map(
        ({ at, consumerId }) => [Date.parse(at) - begin, consumerId] as const
      )
    }
    const granted = await events("Granted")
    assert.lengthOf(new Set(granted.map(([, consumerId]) => consumerId)), people)
    assert.deepStrictEqual(
      granted.map(([at]) => at - granted[0]![0]),
      Array.from({ length: people }, (_, index) => index * 10_000)
    )
    assert.deepStrictEqual(
      await events("Expired"),
      granted.map(([at, consumerId]) => [at + 30_000, consumerId])
    )
  })
})
