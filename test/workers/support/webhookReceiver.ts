/** A real endpoint of webhooks on loopback, whose answers the test sets. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { payloadProblem } from "../../support/webhookPayloads.ts"

/** How long an answer takes. Requests that are sent at the same time overlap. */
const answerMillis = 5

/** A request that the receiver has seen. */
export interface Received {
  readonly id: string
  readonly type: string
  readonly consumerId: string
  readonly headers: Record<string, string>
  readonly body: string
}

/** Starts a receiver. At its end it fails unless every payload was as described. `answer` returns the status of each request, or `hang`. */
export const aReceiver = Effect.gen(function* () {
  const world = {
    received: [] as Array<Received>,
    /** What is wrong with the first payload that is not as described. */
    problem: undefined as string | undefined,
    answer: (_: Received): number | "hang" => 204,
    retryAfter: undefined as string | undefined,
    /** Answers wait until so many requests have been in flight at once. */
    inFlightLeast: 1,
    inFlight: 0,
    inFlightMost: 0
  }
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((request, response) => {
        world.inFlight++
        world.inFlightMost = Math.max(world.inFlightMost, world.inFlight)
        let body = ""
        request.on("data", (chunk: Buffer) => (body += chunk.toString("utf8")))
        request.on("end", () => {
          const payload = JSON.parse(body)
          const { id, type, data } = payload
          world.problem ??= payloadProblem(payload)
          const headers = request.headers as Record<string, string>
          const seen = { id, type, consumerId: data.consumer_id, headers, body }
          world.received.push(seen)
          const { retryAfter } = world
          const status = world.answer(seen)
          if (status === "hang") return
          const end = () => {
            if (world.inFlightMost < world.inFlightLeast) {
              setTimeout(end, answerMillis)
              return
            }
            // Before the answer, for the next request may arrive before this one's end is noticed.
            world.inFlight--
            response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end("seen")
          }
          setTimeout(end, answerMillis)
        })
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
        assert.isUndefined(world.problem)
      })
  )
  return Object.assign(world, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` })
})
