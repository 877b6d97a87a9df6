import { Effect } from "effect"
import { asConsumer, asServer, type Guest, Usher } from "../../support/usherFixture.ts"

/** The requests of a consumer, and of its organization's server, in one queue. */
export const inQueue = Effect.fnUntraced(function* (queueId: string) {
  const { consumer, brand } = yield* Usher
  const path = (operation: string) => `/api/queues/${queueId}${operation}`
  const byServer = (operation: string) => (body: object) =>
    consumer({ method: "POST", path: path(operation), headers: asServer(brand.secretKey), body })
  const byConsumer = (method: string, operation: string) => (guest: Guest) =>
    consumer({ method, path: path(operation), headers: asConsumer(brand.publishableKey, guest.accessToken) })
  return {
    get: consumer({ path: path(""), headers: { "x-publishable-key": brand.publishableKey } }),
    enter: byConsumer("POST", "/enter"),
    leave: byConsumer("POST", "/leave"),
    status: byConsumer("GET", "/status"),
    admit: byServer("/admit"),
    deny: byServer("/deny"),
    complete: byServer("/complete"),
    validate: byServer("/validate")
  }
})
