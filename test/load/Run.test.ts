/** A run has a report whatever happens to the servers. A stub stands in for them, and fails where a case says so. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Schema } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { appointmentSchemas } from "../../src/api/admin/AppointmentApi.ts"
import { ExperienceAggregate } from "../../src/api/admin/ExperienceApi.ts"
import { Organization } from "../../src/api/admin/OrganizationApi.ts"
import { queueSchemas } from "../../src/api/admin/QueueApi.ts"
import { SequenceWithMechanisms } from "../../src/api/admin/SequenceApi.ts"
import { parseArrival } from "../../src/load/Arrivals.ts"
import { type Options, run } from "../../src/load/Run.ts"

const consumers = 20

const options: Options = {
  url: "http://consumer.test",
  adminUrl: "http://admin.test",
  publishableKey: "pk_test_a",
  secretKey: Redacted.make("sk_test_a"),
  consumers,
  arrival: parseArrival("herd:2s")!,
  arrivalText: "herd:2s",
  watch: "poll",
  // No consumer comes for the appointment. Its slots are read before the first one arrives.
  mix: [
    ["queue", 1],
    ["appointment", 0]
  ],
  mixText: "queue=1",
  part: { part: 1, of: 1 },
  seed: 1,
  admitRate: 60_000,
  connections: 8,
  patienceSeconds: 10,
  metricsUrls: []
}

const id = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

const instant = "2026-11-21T18:00:00.000Z"

/** The fields that most records have. Mechanisms have more of them than needed. */
const common = {
  id,
  organizationId: id,
  experienceId: id,
  sequenceId: id,
  name: "Test",
  timeZone: "UTC",
  supportsGuest: true,
  hasAccessCode: false,
  createdAt: instant,
  createdBy: "key",
  updatedAt: instant,
  updatedBy: "key",
  archived: false
}

/** A record with these fields. The others are null. */
const record = ({ fields }: { readonly fields: Schema.Struct.Fields }, own: object) => {
  const nulls = Object.entries(fields).filter(([, field]) => Schema.is(field as Schema.Schema<unknown>)(null))
  return { ...common, ...Object.fromEntries(nulls.map(([name]) => [name, null])), ...own }
}

const queue = record(queueSchemas.Record, {
  admitRate: 60_000,
  recycleExpiredAdmissions: false,
  loyaltyBiasEnabled: false,
  loyaltyHeadStartSeconds: 60
})
const appointment = record(appointmentSchemas.Record, {
  hours: {},
  slotsFrom: instant,
  slotsUntil: instant,
  slotDurationMinutes: 60,
  bufferMinutes: 0,
  maxCapacityPerSlot: 1
})
const sequence = record(SequenceWithMechanisms, {
  priority: 0,
  sequenceProducts: [],
  queues: [queue],
  draws: [],
  auctions: [],
  appointments: [appointment],
  timedReleases: []
})
const experience = record(ExperienceAggregate, {
  currencyCode: "USD",
  window: { openAt: null, closeAt: null },
  products: [],
  sequences: [sequence]
})

/** The answer of the servers to a path. */
const answerTo = (path: string): object => {
  if (path.endsWith("/organizations/me")) {
    const loadLeave = { until: "2100-01-01T00:00:00.000Z", perSecond: 100_000 }
    const rateLimits = record(Organization.fields.rateLimits, {})
    return record(Organization, { plan: "enterprise", loadLeave, rateLimits })
  }
  if (path.endsWith("/auth/guest")) {
    const session = { type: "guest", consumerId: id, guestId: id, expiresAt: instant }
    return { session, accessToken: "token", refreshToken: "token", refreshTokenTtlSeconds: 60 }
  }
  if (path.includes("/history")) return { data: [], pageInfo: { startCursor: null, endCursor: null } }
  if (path.endsWith("/slots")) return { timeZone: "UTC", startDate: "2026-11-21", endDate: "2026-11-21", data: [] }
  const place = { enteredAt: instant, asOf: instant }
  if (path.endsWith("/enter")) return { ...place, status: "GRANTED", admissionGrant: "grant", grantedAt: instant }
  if (path.endsWith("/complete")) return { ...place, status: "COMPLETED", completedAt: instant }
  return experience
}

/** Servers that are away for the requests that `isAway` names. Returns the requests that they got, too. */
const servers = (isAway: (request: string) => boolean) => {
  const requests: Array<string> = []
  const client = HttpClient.make((request) => {
    const { pathname } = new URL(request.url)
    const name = `${request.method} ${pathname}`
    requests.push(name)
    const status = isAway(name) ? 503 : name === "POST /api/experiences" ? 201 : 200
    const body = status === 503 ? { error: "Service unavailable" } : answerTo(pathname)
    return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(body, { status })))
  })
  return { client, requests }
}

/** Runs the load for so many seconds at most. */
const report = Effect.fnUntraced(function* (
  client: HttpClient.HttpClient,
  stop: Effect.Effect<void> = Effect.never,
  seconds = 120
) {
  const running = yield* Effect.forkChild(
    Effect.provideService(
      run(options, () => Effect.void, stop),
      HttpClient.HttpClient,
      client
    )
  )
  for (let second = 0; second < seconds && running.pollUnsafe() === undefined; second++) {
    yield* TestClock.adjust("1 second")
  }
  return yield* Fiber.join(running)
})

const endOf = ({ proofs }: { readonly proofs: ReadonlyArray<{ claim: string; holds: boolean; detail: string }> }) =>
  proofs.find(({ claim }) => claim === "The run came to its end")

describe("the report of a run", () => {
  it.effect("has every consumer while the servers answer", () =>
    Effect.gen(function* () {
      const found = yield* report(servers(() => false).client)
      assert.deepInclude(found.totals, { due: consumers, unsent: 0, entered: consumers, errors: 0 })
      assert.isUndefined(endOf(found))
    })
  )

  for (const [where, isAway, requestsOfConsumers] of [
    ["before it begins", (request: string) => request.endsWith("/organizations/me"), false],
    ["when it creates its experience", (request: string) => request === "POST /api/experiences", false],
    ["when it reads the slots of its appointment", (request: string) => request.endsWith("/slots"), false],
    ["when it reads the recorded events", (request: string) => request.includes("/history"), true],
    ["from the first consumer on", (request: string) => /guest|history/.test(request), true]
  ] as const) {
    it.effect(`says that the servers were away ${where}`, () =>
      Effect.gen(function* () {
        const { client, requests } = servers(isAway)
        const found = yield* report(client)
        assert.isFalse(endOf(found)!.holds)
        assert.match(endOf(found)!.detail, /could not be|503/)
        assert.strictEqual(found.totals.due, consumers)
        assert.strictEqual(found.totals.unsent, requestsOfConsumers ? 0 : consumers)
        assert.strictEqual(found.totals.entered + found.totals.errors > 0, requestsOfConsumers)
        const made = requests.filter((request) => request === "POST /api/experiences").length
        const removed = requests.filter((request) => request === `DELETE /api/experiences/${id}`).length
        if (where !== "when it creates its experience") assert.strictEqual(removed, made, "what was made is archived")
      })
    )
  }

  it.effect("waits for servers that come back within half a minute, to read the recorded events", () =>
    Effect.gen(function* () {
      let reads = 0
      const found = yield* report(servers((request) => request.includes("/history") && ++reads <= 5).client)
      assert.isUndefined(endOf(found))
      assert.isAbove(found.proofs.length, 0)
    })
  )

  it.effect("has what was measured until the run was asked to stop", () =>
    Effect.gen(function* () {
      const { client, requests } = servers(() => false)
      const found = yield* report(client, Effect.sleep("1 second"))
      assert.deepInclude(endOf(found), { holds: false, detail: "it was asked to stop" })
      assert.isAbove(found.totals.entered, 0)
      assert.isAbove(found.totals.unsent, 0)
      assert.strictEqual(found.totals.due, consumers)
      assert.include(requests, `DELETE /api/experiences/${id}`)
    })
  )
})
