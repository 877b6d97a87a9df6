/** Status reads at fronts, which answer them from copies of the line. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { organization } from "../../cli/servingProcess.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { createQueue, guest, send, type Setup } from "../../support/queueOnServer.ts"
import { node, settingsOn, untilReady } from "../support/Roles.ts"

type Consumer = Readonly<Record<string, string>>

const consumersMax = 30

it.live("Fronts show every write that another front has answered, positions of others included", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase.migratedDatabase
    const engine = yield* node("engine", yield* settingsOn(url, "engine"))
    yield* untilReady(engine)
    const keys = yield* organization({ DATABASE_URL: url })
    const fronts: Array<Setup> = []
    for (const name of ["front-1", "front-2"]) {
      const front = yield* node("front", yield* settingsOn(url, name))
      yield* untilReady(front)
      fronts.push({ ...front, keys })
    }
    const [one, two] = fronts as [Setup, Setup]
    yield* Effect.promise(async () => {
      const queueId = await createQueue(one)
      const at = ({ consumerUrl }: Setup) => `${consumerUrl}/api/queues/${queueId}`
      const call = async (method: string, front: Setup, path: string, consumer: Consumer) => {
        const { status, body } = await send(method, `${at(front)}/${path}`, consumer)
        assert.strictEqual(status, 200, JSON.stringify(body))
        return body
      }
      const waiting: Array<Consumer> = []
      for (let index = 0; index < consumersMax; index++) {
        const consumer = await guest(one)
        const { position } = await call("POST", fronts[index % 2]!, "enter", consumer)
        assert.strictEqual(position, index + 1)
        waiting.push(consumer)
      }
      const last = waiting.at(-1)!
      for (const front of fronts) {
        const views = await Promise.all(waiting.map((consumer) => call("GET", front, "status", consumer)))
        assert.deepStrictEqual(
          views.map(({ position }) => position),
          waiting.map((_, index) => index + 1)
        )
      }
      for (let step = 0; waiting.length > 1; step++) {
        const [here, there] = step % 2 === 0 ? [one, two] : [two, one]
        const [gone] = waiting.splice(step % (waiting.length - 1), 1) as [Consumer]
        await call("POST", here, "leave", gone)
        const [own, others] = await Promise.all([
          call("GET", there, "status", gone),
          call("GET", there, "status", last)
        ])
        assert.strictEqual(own.status, "LEFT")
        assert.strictEqual(others.position, waiting.length)
        if (step % 4 === 0) {
          const again = await call("POST", here, "enter", gone)
          assert.strictEqual(again.position, waiting.length + 1)
          assert.deepStrictEqual(await call("GET", there, "status", gone), again)
          await call("POST", there, "leave", gone)
        }
      }
    })
  })
)
