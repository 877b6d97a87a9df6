/**
 * Payments that a real process takes at `/hooks`. Stripe's own library signs the requests. The process is killed while
 * it handles them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { organization, serving } from "../../cli/servingProcess.ts"
import * as Process from "../../cli/usherProcess.ts"
import { stripeEvent, stripeRequest, stripeSecret } from "../../domain/receiver/vectors.ts"
import { asServer, send } from "../../http/support/usherFixture.ts"
import { onDatabase } from "../../store/support/connections.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"

const count = 30

const jtiOf = (token: string): string => JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString("utf8")).jti

const untilSome = <A>(effect: Effect.Effect<A>, holds: (value: A) => boolean) =>
  Effect.repeat(effect, { until: holds, schedule: Schedule.spaced("20 millis") })

/** Posts an event of Stripe. Returns the status; 0 if the process died meanwhile. */
const post = (consumerUrl: string, path: string, body: string, secret = stripeSecret) => {
  const { headers } = stripeRequest(body, { secret, at: Math.floor(Date.now() / 1_000) })
  const sent = send(consumerUrl, {
    method: "POST",
    path,
    headers: headers as { readonly [name: string]: string },
    body
  })
  return sent.pipe(
    Effect.map(({ status }) => status),
    Effect.catchDefect(() => Effect.succeed(0))
  )
}

describe("A process that takes payments", () => {
  it.live("is killed, and each grant still gets one paid order, for any order and number of requests", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const settings = { DATABASE_URL: url, LOG_LEVEL: "error" }
      const { secretKey } = yield* organization(settings)
      const first = yield* serving(settings)
      const call = (server: typeof first, method: string, path: string, body?: object) =>
        Effect.map(
          send(server.adminUrl, { method, path: `/api${path}`, headers: asServer(secretKey), ...(body && { body }) }),
          (answer) => {
            assert.isBelow(answer.status, 300, `${path}: ${answer.text}`)
            return answer.body
          }
        )
      const { id: experienceId } = yield* call(first, "POST", "/experiences", { name: "Drop" })
      const { id: sequenceId } = yield* call(first, "POST", "/sequences", { experienceId, name: "Sale" })
      const { id: queueId } = yield* call(first, "POST", "/queues", { sequenceId, name: "Line", admitRate: 100_000 })
      const receiver = yield* call(first, "POST", "/receivers", { adapter: "stripe", secret: stripeSecret })
      const consumers = Array.from({ length: count }, (_, index) => ({ email: `c${index}@example.com` }))
      const { data } = yield* call(first, "POST", "/consumers/batch", { consumers })

      const granted = Effect.fnUntraced(function* ({ id }: { readonly id: string }) {
        const headers = asServer(secretKey, id)
        yield* send(first.consumerUrl, { method: "POST", path: `/api/queues/${queueId}/enter`, headers })
        const status = send(first.consumerUrl, { path: `/api/queues/${queueId}/status`, headers })
        const { body } = yield* untilSome(status, (answer) => answer.body.status === "GRANTED")
        return jtiOf(body.admissionGrant)
      })
      const grants = yield* Effect.forEach(data as ReadonlyArray<{ readonly id: string }>, granted, { concurrency: 10 })
      const bodies = grants.flatMap((jti, index) => {
        const session = {
          id: `cs_${index}`,
          client_reference_id: jti,
          payment_status: "paid",
          payment_intent: `pi_${index}`,
          amount_total: 4990,
          currency: "eur"
        }
        const types = ["checkout.session.completed", "checkout.session.async_payment_succeeded"]
        return types.map((type) => stripeEvent(type, session, `${type}_${index}`))
      })
      assert.strictEqual(yield* post(first.consumerUrl, receiver.path, bodies[0]!, "whsec_forged"), 401)

      const paid = (server: typeof first) =>
        Effect.map(call(server, "GET", "/orders?status=PAID&first=100"), (page) => page.data.length as number)
      const sending = yield* Effect.forkChild(
        Effect.forEach([...bodies, ...bodies], (body) => post(first.consumerUrl, receiver.path, body), {
          concurrency: 8
        })
      )
      yield* untilSome(paid(first), (orders) => orders > 0)
      first.child.kill("SIGKILL")
      yield* Process.end(first)
      yield* Fiber.await(sending)
      // The time after which another process may take what the dead one had taken.
      yield* onDatabase(url, (sql) => sql`update received_events set next_at = now() where next_at > now()`)

      const second = yield* serving(settings)
      const statuses = yield* Effect.forEach(
        bodies.toReversed(),
        (body) => post(second.consumerUrl, receiver.path, body),
        { concurrency: 8 }
      )
      assert.deepStrictEqual(new Set(statuses), new Set([200]))
      const waiting = Effect.map(
        call(second, "GET", `/receivers/${receiver.id}/events?first=100&status=WAITING`),
        (page) => page.data.length as number
      )
      yield* untilSome(waiting, (left) => left === 0)
      const { data: orders } = yield* call(second, "GET", "/orders?first=100")
      assert.lengthOf(orders, count)
      const names = (orders as ReadonlyArray<{ readonly externalId: string; readonly status: string }>).map(
        ({ externalId, status }) => `${externalId} ${status}`
      )
      assert.deepStrictEqual(new Set(names), new Set(grants.map((_, index) => `cs_${index} PAID`)))
      const { data: events } = yield* call(second, "GET", `/receivers/${receiver.id}/events?first=100`)
      assert.lengthOf(events, 2 * count)
      const { live } = yield* call(second, "GET", `/distributions/${queueId}`)
      assert.strictEqual(live.counts.COMPLETED, count)
    }).pipe(Effect.scoped)
  )
})
