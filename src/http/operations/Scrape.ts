/**
 * One reading of all series: of the mechanisms that run in this process, of the process itself, of `/ready`, and of what
 * only the database knows. Series that need the database are read at most every few seconds, except for the age of the
 * backup, which is one row. They are left out while the database does not answer; other series then report that.
 */
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  constants,
  monitorEventLoopDelay,
  performance,
  type PerformanceEntry,
  PerformanceObserver
} from "node:perf_hooks"
import { getHeapStatistics } from "node:v8"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { Engine } from "../../engine/Engine.ts"
import { Readiness, type Report } from "../../engine/lifecycle/Readiness.ts"
import { type Family, toText, by, gauge, only, counter, histogram } from "../../measures/Family.ts"
import { Measures } from "../../measures/Measures.ts"
import type { MechanismMeasures, Sample } from "../../measures/MechanismMeasures.ts"
import { Histogram } from "../../measures/Histogram.ts"
import { apiVersion } from "../../api/OpenApi.ts"
import { Settings } from "../../settings/Settings.ts"
import { backupAt } from "../../store/coordination/Installation.ts"
import { backlog } from "../../store/webhook/WebhookDeliveries.ts"
import * as Nodes from "../../store/coordination/Nodes.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Time between two readings of the series that need the database. */
const storeInterval = Duration.seconds(5)

/** How long the database may take. */
const storeTimeout = Duration.seconds(3)

const none: ReadonlyArray<Family> = []

/** Makes the effect that reads all series as text, and the function that reads those of an organization. */
export const make = Effect.gen(function* () {
  const measures = yield* Measures
  const engine = yield* Engine
  const sql = yield* SqlClient.SqlClient
  const readiness = yield* Readiness
  const ofReadiness = yield* makeReadinessSeries
  const ofProcess = yield* watchProcess

  const orNone = <E>(families: Effect.Effect<ReadonlyArray<Family>, E>) =>
    families.pipe(
      Effect.timeout(storeTimeout),
      Effect.catchCause((cause) => Effect.as(Effect.logDebug("Some series cannot be read", cause), none))
    )
  const ofStore = Effect.provideService(SqlClient.SqlClient, sql)
  const stored = yield* Effect.cachedWithTTL(
    Effect.all([orNone(ofWakeUps(engine)), orNone(ofStore(readStore))], { concurrency: 2 }),
    storeInterval
  )

  return {
    all: Effect.gen(function* () {
      const mechanisms = yield* ofMechanisms(engine, measures.mechanisms)
      const report = yield* ofReadiness(yield* readiness.report)
      const [ofDatabase, backup] = yield* Effect.all([stored, orNone(ofStore(readBackup))], {
        concurrency: 2
      })
      return toText([measures.families(), mechanisms, report, ...ofDatabase, backup, ofProcess()].flat())
    }),
    ofOrganization: (id: string) => toText(ofOrganization(measures.mechanisms, id))
  }
})

/** Mechanisms of one organization that a scrape returns. */
export const mechanismsMax = 500

/** Reads the series of all mechanisms, from memory. */
const ofMechanisms = (engine: Engine["Service"], measures: MechanismMeasures) =>
  Effect.map(engine.parked, ({ length }) => [
    ...ofKinds(measures.samples()),
    gauge("usher_mechanisms_parked", "Parked mechanisms, which an operator has to unpark.", only(length))
  ])

/** Reads the state of wake-ups in the database. */
const ofWakeUps = Effect.fnUntraced(function* (engine: Engine["Service"]) {
  const now = yield* Time.serverNow
  const overdue = yield* engine.overdue(now)
  return [
    gauge(
      "usher_transition_overdue_seconds",
      "How long the earliest missed wake-up is overdue.",
      only(overdue === undefined ? 0 : (now - overdue) / 1_000)
    )
  ]
})

function ofKinds(samples: ReadonlyArray<Sample>): ReadonlyArray<Family> {
  const kinds = [...Map.groupBy(samples, ({ identity }) => identity.kind)]
  const each = (number: (samples: ReadonlyArray<Sample>) => number) =>
    by(
      "kind",
      kinds.map(([kind, found]) => [kind, number(found)])
    )
  return [
    gauge(
      "usher_mechanisms_live",
      "Mechanisms that run in this process.",
      each(({ length }) => length)
    ),
    gauge(
      "usher_places",
      "Places by status.",
      kinds.flatMap(([kind, found]) => by("status", placesOf(found), { kind }))
    ),
    gauge(
      "usher_mailbox_commands",
      "Commands waiting in mailboxes.",
      each((found) => found.reduce((sum, { waiting }) => sum + waiting, 0))
    ),
    gauge(
      "usher_mailbox_commands_max",
      "Commands in the fullest mailbox.",
      each((found) => found.reduce((most, { waiting }) => Math.max(most, waiting), 0))
    )
  ]
}

function placesOf(samples: ReadonlyArray<Sample>): ReadonlyArray<readonly [string, number]> {
  const sums = new Map<string, number>()
  for (const { counts } of samples) {
    for (const [status, count] of Object.entries(counts)) sums.set(status, (sums.get(status) ?? 0) + count)
  }
  return [...sums]
}

/** Returns the series of an organization's mechanisms in this process. Of too many the busiest are chosen. */
function ofOrganization(measures: MechanismMeasures, organizationId: string): ReadonlyArray<Family> {
  const busy = ({ entriesPerMinute, grantsPerMinute }: Sample) => entriesPerMinute + grantsPerMinute
  const found = measures
    .samples()
    .filter(({ identity }) => identity.organizationId === organizationId)
    .toSorted((a, b) => busy(b) - busy(a))
    .slice(0, mechanismsMax)
  const labelsOf = ({ identity: { id, kind, mode } }: Sample) => ({ mechanism: id, kind, mode })
  const each = (name: "entriesPerMinute" | "grantsPerMinute" | "waiting") =>
    found.map((sample) => ({ labels: labelsOf(sample), value: sample[name] }))
  return [
    gauge(
      "usher_mechanism_places",
      "Places by status.",
      found.flatMap((sample) => by("status", Object.entries(sample.counts), labelsOf(sample)))
    ),
    gauge("usher_mechanism_entries_per_minute", "Entries of the last 60 seconds.", each("entriesPerMinute")),
    gauge("usher_mechanism_grants_per_minute", "Grants of the last 60 seconds.", each("grantsPerMinute")),
    gauge("usher_mechanism_mailbox_commands", "Commands waiting in the mailbox.", each("waiting"))
  ]
}

/** Milliseconds between two looks at the event loop. */
const resolutionMillis = 10

const pauseSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** A collection, with the part that Node's types do not mention. */
type Collection = PerformanceEntry & { readonly detail?: { readonly kind?: number } }

/** Starts to watch the process. Returns the function that reads the series. Delays are those since the read before. */
const watchProcess = Effect.gen(function* () {
  const delay = monitorEventLoopDelay({ resolution: resolutionMillis })
  const pauses = { major: new Histogram(pauseSeconds), minor: new Histogram(pauseSeconds) }
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as ReadonlyArray<Collection>) {
      const isMinor = entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MINOR
      pauses[isMinor ? "minor" : "major"].add(entry.duration / 1_000)
    }
  })
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      delay.enable()
      observer.observe({ entryTypes: ["gc"] })
    }),
    () =>
      Effect.sync(() => {
        delay.disable()
        observer.disconnect()
      })
  )
  let before = performance.eventLoopUtilization()

  /** A sample is due `resolutionMillis` after the one before it. Any excess is delay. */
  const delayed = (nanos: number) => Math.max(0, nanos / 1e9 - resolutionMillis / 1_000)

  return (): ReadonlyArray<Family> => {
    const delays = [
      { labels: { statistic: "p50" }, value: delayed(delay.percentile(50)) },
      { labels: { statistic: "p99" }, value: delayed(delay.percentile(99)) },
      { labels: { statistic: "max" }, value: delayed(delay.max) }
    ]
    delay.reset()
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    return [
      gauge("usher_event_loop_delay_seconds", "Delays of the event loop since the last scrape.", delays),
      gauge("usher_event_loop_utilization_ratio", "Share of time in which the event loop was busy.", only(utilization)),
      gauge("usher_heap_used_bytes", "Used heap memory.", only(used)),
      gauge("usher_heap_limit_bytes", "Maximum heap memory.", only(limit)),
      gauge("usher_resident_memory_bytes", "Resident memory of the process.", only(process.memoryUsage.rss())),
      counter(
        "usher_processor_seconds_total",
        "Processor time.",
        only(process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6)
      ),
      histogram("usher_collection_pause_seconds", "Pauses of the garbage collector.", [
        { labels: { collection: "minor" }, value: pauses.minor },
        { labels: { collection: "major" }, value: pauses.major }
      ]),
      gauge("usher_uptime_seconds", "Time since the start of the process.", only(process.uptime())),
      gauge("usher_build_info", "1; the labels name the running version.", [
        { labels: { version: apiVersion, node: process.version }, value: 1 }
      ])
    ]
  }
})

/** The subjects of remarks, and of a fact that is a problem. Each has a series, also while there is nothing to remark. */
const subjects = ["wake-ups", "parked mechanisms", "redis", "proxy"]

/** Makes the function that reads the series from a report. */
const makeReadinessSeries = Effect.gen(function* () {
  const { tlsCertFile } = yield* Settings
  // The listeners have read the file too, once at the start, and would have refused an unusable one.
  const expiresAt =
    tlsCertFile === undefined ? Infinity : new X509Certificate(readFileSync(tlsCertFile)).validToDate.getTime()
  return Effect.fnUntraced(function* ({ isReady, remarks, facts }: Report) {
    const now = yield* Time.serverNow
    const families: ReadonlyArray<Family> = [
      gauge("usher_ready", "1 while /ready answers 200.", only(isReady ? 1 : 0)),
      gauge(
        "usher_remark",
        "1 while /ready has a remark on the subject.",
        by(
          "subject",
          subjects.map((subject) => [subject, subject in remarks || subject in facts ? 1 : 0])
        )
      ),
      gauge(
        "usher_certificate_remaining_seconds",
        "Until the certificate expires; infinite without one.",
        only((expiresAt - now) / 1_000)
      )
    ]
    return families
  })
})

/** Reads the series. */
const readStore = Effect.gen(function* () {
  const { oldestAt, disabled } = yield* backlog
  const processes = yield* Nodes.heard
  const now = yield* Time.serverNow
  return [
    gauge("usher_cluster_nodes", "Processes on this database with a recent heartbeat.", only(processes.length)),
    gauge(
      "usher_webhook_oldest_undelivered_seconds",
      "Time since the first attempt of the oldest event that waits for another attempt.",
      only(oldestAt === undefined ? 0 : Math.max(0, now - oldestAt) / 1_000)
    ),
    gauge(
      "usher_webhooks_disabled",
      "Webhooks that are disabled, by reason.",
      by("reason", [...noneDisabled, ...disabled])
    )
  ]
})

/** Reads the age of the last backup. Another process writes backups, so a value from before one would be wrong. */
const readBackup = Effect.gen(function* () {
  const lastBackupAt = yield* backupAt
  const now = yield* Time.serverNow
  return [
    gauge(
      "usher_backup_age_seconds",
      "Age of the last backup by `usher backup`; infinite if there is none.",
      only(lastBackupAt === undefined ? Infinity : (now - lastBackupAt) / 1_000)
    )
  ]
})

/** Every reason has a series, also before a webhook has it. A later value replaces an earlier one. */
const noneDisabled = [
  ["GONE", 0],
  ["FAILING", 0],
  ["ADMIN_ACTION", 0]
] as const
