/**
 * Usher's own server with a stub engine: the same listeners, routes, credentials, schemas and process as `usher serve`,
 * but no actor, no decision and no journal. Its rate is the ceiling of the transport. With `--open` it also checks no
 * credentials and no limits.
 */
import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Runtime } from "effect"
import * as Auth from "../../src/auth/Auth.ts"
import * as Environment from "../../src/cli/runtime/Environment.ts"
import { stopRequested } from "../../src/cli/runtime/Signals.ts"
import { Delivery } from "../../src/delivery/Delivery.ts"
import { actorDeciders } from "../../src/domain/mechanism/Mechanism.ts"
import type { View } from "../../src/domain/queue/Queue.ts"
import { Engine, type Inspection } from "../../src/engine/Engine.ts"
import * as AdminRoutes from "../../src/http/admin/Routes.ts"
import * as ConsumerRoutes from "../../src/http/consumer/Routes.ts"
import * as Credentials from "../../src/http/credentials/Credentials.ts"
import { Readiness } from "../../src/engine/lifecycle/Readiness.ts"
import * as Server from "../../src/http/server/Server.ts"
import { Heartbeat } from "../../src/store/coordination/Heartbeat.ts"
import * as JournalCodec from "../../src/store/journal/JournalCodec.ts"
import * as JournalSql from "../../src/store/journal/JournalSql.ts"
import * as OpenCredentials from "./openCredentials.ts"

const view: View = { status: "QUEUED", position: 1_000, positionDisplayMode: "precise", enteredAt: Date.now() }

/** The answers of a queue, of which only the identity is in the database. */
const inspectionOf = (identity: Inspection<"queue">["identity"]): Inspection<"queue"> => ({
  identity,
  units: undefined,
  configuration: {
    name: "noop",
    timeZone: "UTC",
    supportsGuest: true,
    admitRate: 0,
    recycleExpiredAdmissions: false,
    loyaltyBiasEnabled: false,
    loyaltyHeadStartSeconds: 60
  },
  status: {
    statusOverride: null,
    statusOverrideAt: null,
    statusOverrideBy: null,
    teardownStatus: null,
    archived: false
  },
  lifecycle: "open",
  live: {
    counts: {},
    entriesPerMinute: 0,
    grantsPerMinute: 0,
    lastSequence: 0,
    node: "noop",
    restarts: 0,
    parked: false
  }
})

const answer = Effect.succeed(view)
const engine = Layer.effect(
  Engine,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    // Whether an entry is let in is asked about the queue's own sequence, also in the database.
    const [identity] = yield* sql<Inspection<"queue">["identity"]>`
      select id, kind, organization_id as "organizationId", mode, experience_id as "experienceId",
        sequence_id as "sequenceId"
      from mechanisms where kind = 'queue' order by id limit 1`
    const inspection = inspectionOf(identity!)
    return {
      send: () => answer,
      view: () => answer,
      viewForStatus: () => answer,
      administer: () => Effect.succeed(inspection),
      definition: () => Effect.succeed(inspection),
      identity: () => Effect.succeed(inspection.identity),
      inspect: () => Effect.succeed(inspection),
      start: () => Effect.void,
      unpark: () => Effect.void,
      parked: Effect.succeed([]),
      overdue: () => Effect.undefined,
      problem: Effect.succeed(undefined)
    } as unknown as Engine["Service"]
  })
)

const credentials = process.argv.includes("--open") ? OpenCredentials.layer : Credentials.layerConsumer

const server = Server.layer({ consumer: ConsumerRoutes.layerWith(credentials), admin: AdminRoutes.layer }).pipe(
  Layer.provide(Readiness.layerConditions),
  Layer.provide(Readiness.layer),
  Layer.provide(Layer.merge(Auth.layer, Delivery.layer)),
  Layer.provide(engine),
  Layer.provide(JournalSql.layer({ codecs: JournalCodec.codecs(actorDeciders) })),
  Layer.provide(Heartbeat.layer({ name: "noop" })),
  Layer.provide(Environment.withMigratedDatabase)
)

const run = Runtime.makeRunMain(({ fiber, teardown }) => {
  fiber.addObserver((exit) => teardown(exit, (code) => process.exit(code)))
})
run(
  Effect.never.pipe(
    Effect.provide(server),
    Effect.raceFirst(stopRequested),
    Effect.provide(Layer.merge(NodeServices.layer, NodeCrypto.layer))
  )
)
