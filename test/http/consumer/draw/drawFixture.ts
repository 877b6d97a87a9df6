import { Effect, Schedule } from "effect"
import { asConsumer, asServer, type Guest, Usher } from "../../support/usherFixture.ts"

/** Returns the instant `seconds` seconds from now, as text. */
export const soon = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()

/** Creates a draw of the brand. Defaults: open for an hour, one winner. */
export const aDraw = Effect.fnUntraced(function* (settings: object = {}) {
  const { admin, brand } = yield* Usher
  const created = (path: string, body: object) =>
    Effect.map(admin({ method: "POST", path: `/api${path}`, headers: asServer(brand.secretKey), body }), (answer) => {
      if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
      return answer.body.id as string
    })
  const experienceId = yield* created("/experiences", { name: "Drop" })
  const sequenceId = yield* created("/sequences", { experienceId, name: "Raffles" })
  const raffle = { name: "Raffle", winnerCount: 1, drawAt: soon(3600) }
  return yield* inDraw(yield* created("/draws", { ...raffle, sequenceId, ...settings }))
})

/** The requests of a consumer, an anonymous caller, and the organization's server in one draw. */
export const inDraw = Effect.fnUntraced(function* (drawId: string) {
  const { admin, consumer, brand } = yield* Usher
  const path = (operation: string) => `/api/draws/${drawId}${operation}`
  const read = (operation: string) =>
    consumer({ path: path(operation), headers: { "x-publishable-key": brand.publishableKey } })
  const byServer = (operation: string) => (body: object) =>
    consumer({ method: "POST", path: path(operation), headers: asServer(brand.secretKey), body })
  const byConsumer = (method: string, operation: string) => (guest: Guest) =>
    consumer({ method, path: path(operation), headers: asConsumer(brand.publishableKey, guest.accessToken) })
  const byAdmin = (method: string, operation = "", body?: object) =>
    admin({ method, path: path(operation), headers: asServer(brand.secretKey), body })
  const status = byConsumer("GET", "/status")
  const get = read("")
  return {
    id: drawId,
    get,
    proof: read("/proof"),
    enter: byConsumer("POST", "/enter"),
    leave: byConsumer("POST", "/leave"),
    status,
    deny: byServer("/deny"),
    complete: byServer("/complete"),
    validate: byServer("/validate"),
    record: byAdmin("GET"),
    end: byAdmin("POST", "/end"),
    recorded: admin({ path: `/api/distributions/${drawId}/history?first=100`, headers: asServer(brand.secretKey) }),
    /** Moves closing and drawing into the past, and waits until the draw has been drawn. */
    drawNow: Effect.gen(function* () {
      const past = soon(-1)
      const moved = yield* byAdmin("PUT", "", { closeAt: past, drawAt: past })
      if (moved.status !== 200) throw new Error(`${moved.status} ${moved.text}`)
      yield* get.pipe(
        Effect.repeat({
          until: ({ body }) => body.drawnAt !== null,
          schedule: Schedule.spaced("10 millis"),
          times: 500
        })
      )
    })
  }
})
