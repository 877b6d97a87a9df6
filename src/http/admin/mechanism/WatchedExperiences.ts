/**
 * The experiences that admins watch. One loop for each watched experience lists its mechanisms once a second, for any
 * number of watchers, and sooner when one of them changes. Each mechanism that differs from the last look is encoded once
 * and sent to all watchers.
 */
import { Context, Effect, Layer, Schema } from "effect"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { Engine } from "../../../engine/Engine.ts"
import { Experiences } from "../../../store/experience/Experiences.ts"
import { Mechanisms } from "../../../store/mechanism/Mechanisms.ts"
import { makeWatching, type Owner, Watchers, type Watching } from "../../streams/Watchers.ts"
import { Distribution } from "../../../api/admin/DistributionApi.ts"
import { watchersMax } from "./WatchedDistributions.ts"
import { sha256 } from "../../../domain/values/Digest.ts"
import * as Inspections from "./Inspections.ts"
import { inTimeOf, TestClocks } from "../../../store/testClock/TestClocks.ts"
import * as Time from "../../../store/coordination/Time.ts"

/** Mechanisms of an experience on one stream. Those created first are shown. */
export const watchedMechanismsMax = 200

/** Mechanisms that are inspected at the same time. */
const inspectionsAtOnce = 8

/** Milliseconds between two looks, and the least, however often the mechanisms change. */
const lookMillis = { most: 1_000, least: 200 } as const

type Shown = typeof Distribution.Type

interface Dependencies extends Owner {
  /** Lists the mechanisms. `gone` if the experience is archived; undefined if that is unknown for now. */
  readonly find: Effect.Effect<ReadonlyArray<Shown> | "gone" | undefined>
  readonly watch: (mechanismId: string, onChange: () => void) => () => void
}

/** An experience with at least one watcher. */
class WatchedExperience {
  readonly watchers = new Watchers<ExperienceSnapshot>(watchersMax, () => this.options.fork(this.loop))
  /** By mechanism: the functions that stop watching it. */
  private readonly watches = new Map<string, () => void>()
  private readonly options: Dependencies

  constructor(options: Dependencies) {
    this.options = options
  }

  private readonly loop: Effect.Effect<void> = Effect.suspend(() =>
    this.looks.pipe(
      Effect.catchCause((cause) => Effect.logError("An experience could not be watched", cause)),
      Effect.ensuring(
        Effect.sync(() => {
          for (const unwatch of this.watches.values()) unwatch()
          this.options.onEnd()
          this.watchers.close()
        })
      )
    )
  )

  private readonly looks: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    while (!this.watchers.isEmpty) {
      this.watchers.bell.closeUnsafe()
      const beganAt: Millis = yield* Time.serverNow
      const found = yield* this.options.find
      if (found === "gone") this.watchers.end("CLOSED")
      else if (found !== undefined) this.send(found)
      if (this.watchers.isEmpty) return
      yield* Effect.sleep(lookMillis.least)
      const left = beganAt + lookMillis.most - (yield* Time.serverNow)
      yield* Effect.timeoutOption(this.watchers.bell.await, Math.max(0, left))
    }
  })

  private send(found: ReadonlyArray<Shown>): void {
    this.follow(found.map(({ id }) => id))
    const before = this.watchers.snapshot
    const present = experienceSnapshotOf(found.map((shown) => [shown.id, JSON.stringify(encode(shown))]))
    if (before === undefined) return this.watchers.begin(present)
    const events = experienceDiffOf(before, present)
    if (events !== undefined) this.watchers.send(events, present)
  }

  /** Watches these mechanisms and no others. */
  private follow(ids: ReadonlyArray<string>): void {
    for (const [id, unwatch] of this.watches) {
      if (ids.includes(id)) continue
      this.watches.delete(id)
      unwatch()
    }
    for (const id of ids) {
      if (!this.watches.has(id))
        this.watches.set(
          id,
          this.options.watch(id, () => this.watchers.bell.openUnsafe())
        )
    }
  }
}

const encode = Schema.encodeSync(Schema.toCodecJson(Distribution))

export class WatchedExperiences extends Context.Service<WatchedExperiences, Watching>()(
  "usher/http/admin/mechanism/WatchedExperiences"
) {
  static readonly layer = Layer.effect(WatchedExperiences)(
    Effect.gen(function* () {
      const engine = yield* Engine
      const clocks = yield* TestClocks
      const experiences = yield* Experiences
      const mechanisms = yield* Mechanisms
      const { listed } = yield* Inspections.make

      const find = (tenant: Tenant, experienceId: string): Dependencies["find"] =>
        mechanisms.listDistributions(tenant, { first: watchedMechanismsMax }, { experienceId }).pipe(
          Effect.flatMap(({ data }) => Effect.forEach(data, listed, { concurrency: inspectionsAtOnce })),
          // Only an experience without mechanisms can be archived.
          Effect.tap((found) => (found.length === 0 ? experiences.find(tenant, experienceId) : Effect.void)),
          Effect.catchTags({
            RecordNotFound: () => Effect.succeed("gone" as const),
            Unavailable: () => Effect.undefined,
            PageRefused: Effect.die
          })
        )

      return yield* makeWatching(
        (tenant, id, owner) =>
          new WatchedExperience({ ...owner, find: inTimeOf(clocks, tenant)(find(tenant, id)), watch: engine.watch })
      )
    })
  )
}

/** A mechanism with its JSON. */
export type Told = readonly [id: string, json: string]

/** The snapshot that all watchers have, and the event that sends it to new ones. */
export interface ExperienceSnapshot {
  readonly told: ReadonlyMap<string, string>
  readonly id: string
  readonly event: string
}

export const experienceSnapshotOf = (mechanisms: ReadonlyArray<Told>): ExperienceSnapshot => {
  const json = `{"distributions":[${mechanisms.map(([, text]) => text).join(",")}]}`
  const id = sha256(json).slice(0, 16)
  return { told: new Map(mechanisms), id, event: eventOf("state", json, id) }
}

/** Returns the events of the changes; undefined without any. The last one carries the id of the snapshot. */
export const experienceDiffOf = (before: ExperienceSnapshot, after: ExperienceSnapshot): string | undefined => {
  if (before.id === after.id) return undefined
  const events: ReadonlyArray<readonly [name: string, json: string]> = [
    ...[...before.told.keys()]
      .filter((id) => !after.told.has(id))
      .map((id) => ["removed", JSON.stringify({ id })] as const),
    ...[...after.told]
      .filter(([id, json]) => before.told.get(id) !== json)
      .map(([, json]) => ["distribution", json] as const)
  ]
  return events
    .map(([name, json], index) => eventOf(name, json, index === events.length - 1 ? after.id : undefined))
    .join("")
}

const eventOf = (name: string, json: string, id?: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${json}\n\n`
