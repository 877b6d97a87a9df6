/** The response to every refusal of a mechanism and of the engine. A stub engine returns what each test sets. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Challenges } from "../../../src/auth/challenge/Challenges.ts"
import { EntryRisks } from "../../../src/auth/risk/EntryRisks.ts"
import { ApiKeys, type KeyHolder } from "../../../src/auth/keys/ApiKeys.ts"
import { GateKeys } from "../../../src/auth/keys/GateKeys.ts"
import { RehearsalKeys } from "../../../src/auth/keys/RehearsalKeys.ts"
import { Consumers } from "../../../src/auth/sessions/Consumers.ts"
import { ExternalIdentities } from "../../../src/auth/sessions/ExternalIdentities.ts"
import { GrantNames } from "../../../src/auth/tokens/GrantNames.ts"
import { Grants } from "../../../src/auth/tokens/Grants.ts"
import { OneTimeCodes } from "../../../src/auth/codes/OneTimeCodes.ts"
import { AttemptLimits } from "../../../src/auth/codes/AttemptLimits.ts"
import { Organizations } from "../../../src/auth/keys/Organizations.ts"
import { SecurityEvents } from "../../../src/store/organization/SecurityEvents.ts"
import { Protection } from "../../../src/auth/sessions/Protection.ts"
import { Receipts } from "../../../src/auth/tokens/Receipts.ts"
import { Revocations } from "../../../src/auth/sessions/Revocations.ts"
import { ConsumerSessions } from "../../../src/auth/sessions/ConsumerSessions.ts"
import { Sessions } from "../../../src/auth/sessions/Sessions.ts"
import { SigningKeys } from "../../../src/auth/keys/SigningKeys.ts"
import { Tokens } from "../../../src/auth/tokens/Tokens.ts"
import { VisitTokens } from "../../../src/auth/tokens/VisitTokens.ts"
import * as Refusals from "../../../src/domain/mechanism/Refusals.ts"
import { Overloaded } from "../../../src/engine/actor/Actor.ts"
import { Delivery } from "../../../src/delivery/Delivery.ts"
import { Engine, MechanismNotFound } from "../../../src/engine/Engine.ts"
import { Parked } from "../../../src/engine/registry/Registry.ts"
import { answerOf } from "../../../src/http/errors/Refusals.ts"
import * as ConsumerRoutes from "../../../src/http/consumer/Routes.ts"
import { Readiness } from "../../../src/engine/lifecycle/Readiness.ts"
import * as Server from "../../../src/http/server/Server.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import { GateReports } from "../../../src/store/gate/GateReports.ts"
import { Gates } from "../../../src/store/gate/Gates.ts"
import { GrantHolders } from "../../../src/store/mechanism/GrantHolders.ts"
import { Mechanisms } from "../../../src/store/mechanism/Mechanisms.ts"
import { RevokedGrants } from "../../../src/store/mechanism/RevokedGrants.ts"
import { ConsumerRecords } from "../../../src/store/consumer/ConsumerRecords.ts"
import { ExperienceEntries } from "../../../src/store/experience/ExperienceEntries.ts"
import { ExperienceViews } from "../../../src/store/experience/ExperienceViews.ts"
import { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import { Profiles } from "../../../src/store/consumer/Profiles.ts"
import { SequenceAccess } from "../../../src/store/experience/SequenceAccess.ts"
import { AssignedProducts } from "../../../src/store/experience/AssignedProducts.ts"
import { NextDrops } from "../../../src/store/experience/NextDrops.ts"
import { ShownPages } from "../../../src/store/experience/ShownPages.ts"
import { Alerts } from "../../../src/store/message/Alerts.ts"
import { ShownProducts } from "../../../src/store/experience/ShownProducts.ts"
import { asConsumer, type Call, send } from "../support/usherFixture.ts"

const id = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
const tenant = { organizationId: id, mode: "live" } as const
const publishableKey = `pk_live_${"a".repeat(32)}`

const keyHolder: KeyHolder = { keyId: id, tenant, kind: "publishable", rateLimits: {} }

/** The next failures of the engine, and of the store behind keys and sessions. */
class NextFailures extends Context.Service<NextFailures, { engine: unknown; store: unknown }>()(
  "usher/test/http/NextFailures"
) {}

const stubs = Layer.unwrap(
  Effect.sync(() => {
    const failures: NextFailures["Service"] = { engine: undefined, store: undefined }
    const refuse = (no: "engine" | "store") =>
      Effect.suspend(() => Effect.fail(failures[no])) as Effect.Effect<never, never>
    const holder = Effect.suspend(() => (failures.store === undefined ? Effect.succeed(keyHolder) : refuse("store")))
    return Layer.mergeAll(
      Layer.succeed(NextFailures, failures),
      Layer.succeed(Engine, {
        send: () => refuse("engine"),
        view: () => refuse("engine"),
        viewForStatus: () => refuse("engine"),
        facts: () => refuse("engine"),
        proof: () => refuse("engine"),
        definition: () => refuse("engine"),
        identity: () => refuse("engine"),
        inspect: () => refuse("engine"),
        peek: () => refuse("engine"),
        watch: () => () => {},
        sendAdmin: () => refuse("engine"),
        subscribers: () => refuse("engine"),
        query: () => Effect.succeed([]),
        onEffectNeeded: () => () => {},
        start: () => Effect.void,
        unpark: () => Effect.void,
        nodes: () => Effect.succeed([]),
        size: Effect.succeed(0),
        parked: Effect.succeed([]),
        overdue: () => Effect.undefined,
        problem: Effect.succeed(undefined)
      }),
      Layer.succeed(ApiKeys, {
        lookup: () => holder,
        lookupRemembered: () => holder,
        lookupForStatus: () => holder,
        peekPublishable: () => undefined,
        publishableOf: () => holder,
        forget: () => Effect.void,
        invalidate: Effect.void
      }),
      Layer.succeed(Challenges, { check: () => undefined }),
      Layer.succeed(Protection, {
        admission: () => Effect.succeed("admitted"),
        changed: () => Effect.void,
        consumersChanged: () => Effect.void
      }),
      Layer.succeed(ExperienceViews, {
        find: () => refuse("engine"),
        tenantOf: () => refuse("engine"),
        experienceOfQueue: () => refuse("engine")
      }),
      Layer.succeed(NextDrops, { after: () => refuse("engine") }),
      Layer.succeed(Alerts, {
        find: () => refuse("engine"),
        want: () => refuse("engine"),
        end: () => refuse("engine"),
        due: () => refuse("engine"),
        record: () => refuse("engine")
      }),
      Layer.succeed(ShownPages, { find: () => refuse("engine") }),
      Layer.succeed(ShownProducts, { of: () => refuse("engine"), variantIds: () => refuse("engine") }),
      Layer.succeed(AssignedProducts, { of: () => refuse("engine") }),
      Layer.succeed(ExperienceEntries, { enter: () => refuse("engine"), leave: () => refuse("engine") }),
      Layer.succeed(Profiles, { find: () => refuse("engine") }),
      Layer.succeed(SequenceAccess, {
        protectedAmong: () => refuse("engine"),
        protectedIds: () => refuse("engine"),
        admission: () => refuse("engine"),
        show: () => refuse("engine")
      }),
      Layer.succeed(Consumers, {
        find: () => refuse("store"),
        loyaltyScore: () => refuse("store"),
        hasProvedAddress: () => refuse("store"),
        archived: () => Effect.void,
        endSessionsOfArchived: () => Effect.void,
        restored: () => Effect.void
      }),
      Layer.succeed(Sessions, {
        guest: () => refuse("engine"),
        start: () => refuse("engine"),
        refresh: () => refuse("store"),
        end: () => refuse("store")
      }),
      Layer.succeed(ConsumerSessions, {
        shown: () => refuse("store"),
        list: () => refuse("store"),
        end: () => refuse("store"),
        endAll: () => refuse("store")
      }),
      Layer.succeed(ConsumerRecords, {
        create: () => refuse("store"),
        find: () => refuse("store"),
        list: () => refuse("store"),
        change: () => refuse("store"),
        upsert: () => refuse("store"),
        archive: () => refuse("store"),
        restore: () => refuse("store"),
        findArchived: () => refuse("store")
      }),
      Layer.succeed(RevokedGrants, { page: () => refuse("store") }),
      Layer.succeed(OneTimeCodes, {
        request: () => refuse("store"),
        consume: () => refuse("store"),
        prove: () => refuse("store"),
        verify: () => refuse("store")
      }),
      Layer.succeed(ExternalIdentities, { authorize: () => refuse("store"), exchange: () => refuse("store") }),
      Layer.succeed(AttemptLimits, { take: () => refuse("store"), giveBack: () => refuse("store") }),
      Layer.succeed(SecurityEvents, {
        record: () => Effect.void,
        list: () => refuse("store"),
        flush: Effect.void
      }),
      Layer.succeed(Organizations, {
        create: () => refuse("store"),
        count: refuse("store"),
        all: refuse("store"),
        find: () => refuse("store")
      }),
      Layer.succeed(RehearsalKeys, { lookup: () => Effect.undefined }),
      Layer.succeed(GateKeys, {
        lookup: () => Effect.undefined,
        lookupRemembered: () => Effect.undefined,
        changed: Effect.void
      }),
      Layer.succeed(Mechanisms, {
        find: () => refuse("store"),
        list: () => refuse("store"),
        listDistributions: () => refuse("store"),
        surroundings: () => refuse("store"),
        tally: () => refuse("store")
      }),
      Layer.succeed(VisitTokens, {
        issue: () => Effect.succeed(""),
        verify: () => Effect.undefined,
        takeOver: () => refuse("store")
      }),
      Layer.succeed(GateReports, { note: () => Effect.void, seen: () => Effect.succeed([]) }),
      Layer.succeed(GrantHolders, { find: () => refuse("store") }),
      Layer.succeed(Gates, {
        find: () => refuse("store"),
        list: () => refuse("store"),
        create: () => refuse("store"),
        change: () => refuse("store"),
        archive: () => refuse("store"),
        restore: () => refuse("store"),
        rotateKey: () => refuse("store")
      }),
      Layer.succeed(Delivery, {
        canSend: () => true,
        send: () => Effect.succeed(true),
        deliver: () => Effect.succeed("delivered"),
        outbox: undefined,
        kept: () => []
      })
    )
  })
)

const served = Server.layer({ consumer: ConsumerRoutes.layerNoRecords, admin: Layer.empty }).pipe(
  Layer.provideMerge(Layer.mergeAll(stubs, EntryRisks.layer, Grants.layer, Receipts.layer, Readiness.layer)),
  Layer.provideMerge(Tokens.layer),
  Layer.provideMerge(Layer.mergeAll(SigningKeys.layerMemory, GrantNames.layerMemory, Revocations.layerMemory)),
  Layer.provideMerge(Settings.layerTest({ consumerPort: 0, adminPort: 0, shutdownTimeoutSeconds: 1 }))
)

const call = Effect.fnUntraced(function* (request: Call) {
  const { consumerUrl } = yield* Server.Listeners
  const tokens = yield* Tokens
  const { token } = yield* tokens.issueAccess({ tenant, consumerId: id, sessionId: id, sessionType: "guest" })
  return yield* send(consumerUrl, { headers: asConsumer(publishableKey, token), ...request })
})

const unavailable = new Unavailable({ cause: "canary" })

layer(served, { excludeTestServices: true })("An unavailable engine or store", (it) => {
  const operations = [
    { path: `/api/queues/${id}` },
    { path: `/api/queues/${id}/status` },
    { method: "POST", path: `/api/queues/${id}/enter` },
    { method: "POST", path: `/api/queues/${id}/leave` },
    { method: "POST", path: "/api/auth/guest" },
    { path: `/api/experiences/${id}` },
    { path: `/api/experiences/${id}/page` },
    { path: `/api/experiences/${id}/next` },
    { method: "DELETE", path: `/api/experiences/${id}/reminder` },
    { path: `/api/auctions/${id}/outbid-alert` },
    { method: "POST", path: `/api/experiences/${id}/enter` },
    { method: "DELETE", path: `/api/experiences/${id}/leave` },
    { path: "/api/consumers/me" }
  ]

  it.effect("is a 503 with Retry-After and without the cause", () =>
    Effect.gen(function* () {
      const failures = yield* NextFailures
      for (const operation of operations) {
        for (const [no, seconds] of [
          [unavailable, "1"],
          [new Overloaded(), "1"],
          [new Parked({ mechanismId: id, restarts: 5 }), "30"]
        ] as const) {
          if (!operation.path.includes("queues") && no !== unavailable) continue
          failures.engine = no
          const { status, text, headers } = yield* call(operation)
          assert.deepStrictEqual([status, text], [503, '{"error":"Service unavailable"}'], operation.path)
          assert.strictEqual(headers["retry-after"], seconds)
        }
      }
    })
  )

  it.effect("is a 503 if the keys cannot be read", () =>
    Effect.gen(function* () {
      const failures = yield* NextFailures
      failures.store = unavailable
      for (const operation of operations) {
        const { status, text, headers } = yield* call(operation)
        assert.deepStrictEqual([status, text, headers["retry-after"]], [503, '{"error":"Service unavailable"}', "1"])
      }
      failures.store = undefined
    })
  )

  it.effect("differs from a defect", () =>
    Effect.gen(function* () {
      const failures = yield* NextFailures
      failures.engine = { _tag: "Nonsense" }
      const { status, text } = yield* call({ path: `/api/queues/${id}/status` })
      assert.deepStrictEqual([status, text], [500, '{"error":"Internal server error"}'])
    })
  )
})

describe("A refusal", () => {
  const now = 10_000
  const said = (...[kind, error]: [Parameters<typeof answerOf>[0], Parameters<typeof answerOf>[1]]): object => ({
    ...answerOf(kind, error, now)
  })

  it("names its kind of mechanism", () => {
    assert.deepStrictEqual(said("timed_release", new Refusals.Full({ retryAfterSeconds: 0 })), {
      error: "Timed release is full",
      code: "TIMED_RELEASE_FULL",
      retryAfterSeconds: 1
    })
    assert.deepStrictEqual(said("draw", new Refusals.Closed()), { error: "Draw is closed", code: "CLOSED" })
    assert.deepStrictEqual(said("auction", new Refusals.GuestsRefused()), { error: "Auction does not admit guests" })
    assert.deepStrictEqual(said("draw", new Refusals.NotInvited()), { error: "Draw is not for this consumer" })
    assert.deepStrictEqual(said("draw", new Refusals.OrderLimitReached()), {
      error: "The limit of orders is reached",
      code: "DISTRIBUTION_ORDER_LIMIT"
    })
    assert.deepStrictEqual(said("waitlist", new MechanismNotFound({ kind: "waitlist" })), {
      error: "Waitlist not found"
    })
  })

  it("names its cause", () => {
    assert.deepStrictEqual(said("queue", new Refusals.WrongStatus({ status: "LEFT" })), {
      error: "Not possible in status LEFT",
      code: "INVALID_STATUS"
    })
    assert.deepStrictEqual(said("queue", new Refusals.ConfigurationFixed({ setting: "openAt" })), {
      error: "openAt cannot be changed any more",
      code: "CONFIGURATION_FIXED"
    })
    assert.deepInclude(said("queue", new Refusals.ConfigurationChanged()), { retryAfterSeconds: 1 })
    assert.deepStrictEqual(said("queue", new Refusals.AdmissionsUsedUp()), {
      error: "Queue has no admissions left",
      code: "ADMISSIONS_USED_UP"
    })
    assert.deepStrictEqual(said("queue", new Refusals.InsideLimitReached()), {
      error: "Queue has as many grants as may be live",
      code: "INSIDE_LIMIT_REACHED"
    })
    assert.deepStrictEqual(said("queue", new Refusals.NotRenewable()), {
      error: "Queue does not renew grants",
      code: "NOT_RENEWABLE"
    })
    assert.deepStrictEqual(said("auction", new Refusals.BidTooLow({ minimumBid: "12.5" })), {
      error: "Bid is too low",
      code: "BID_TOO_LOW",
      minimumBid: "12.5"
    })
    assert.deepInclude(said("auction", new Refusals.AmountMissing()), { error: "validation_error" })
    assert.deepStrictEqual(said("draw", new Refusals.NotEntered()), { error: "Not entered", code: "NOT_ENTERED" })
    assert.deepStrictEqual(said("draw", new Refusals.AlreadyGranted()), {
      error: "Already granted",
      code: "ALREADY_GRANTED"
    })
  })

  it("of a timed release contains the time when a unit may return, if one is expected, and reports an unknown variant", () => {
    const soldOut = { error: "Timed release is sold out", code: "SOLD_OUT" }
    assert.deepStrictEqual(said("timed_release", new Refusals.SoldOut({})), soldOut)
    assert.deepStrictEqual(said("timed_release", new Refusals.SoldOut({ retryAfterSeconds: 0 })), {
      ...soldOut,
      retryAfterSeconds: 1
    })
    assert.deepStrictEqual(said("timed_release", new Refusals.UnknownVariant()), { error: "Variant not found" })
  })

  it("that ends with time contains the wait in whole seconds, at least one", () => {
    for (const [opensAt, retryAfterSeconds] of [
      [now + 1, 1],
      [now + 1_000, 1],
      [now + 1_001, 2],
      [now - 5, 1]
    ] as const) {
      assert.deepStrictEqual(said("queue", new Refusals.NotOpen({ opensAt })), {
        error: "Queue is not open yet",
        opensAt,
        retryAfterSeconds
      })
    }
  })
})
