/** Series of the mechanisms that run in this process: as a whole by kind, and one by one for an organization. */
import { Clock, Effect } from "effect"
import type { Engine } from "../../engine/Engine.ts"
import { by, type Family, gauge, only } from "../../measures/Family.ts"
import type { MechanismMeasures, Sample } from "../../measures/MechanismMeasures.ts"

/** Mechanisms of one organization that a scrape returns. */
export const mechanismsMax = 500

/** Reads the series of all mechanisms, from memory. */
export const ofAll = (engine: Engine["Service"], measures: MechanismMeasures) =>
  Effect.map(engine.parked, ({ length }) => [
    ...ofKinds(measures.samples()),
    gauge("usher_mechanisms_parked", "Parked mechanisms, which an operator has to unpark.", only(length))
  ])

/** Reads the state of wake-ups in the database. */
export const ofWakeUps = Effect.fnUntraced(function* (engine: Engine["Service"]) {
  const now = yield* Clock.currentTimeMillis
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
export function ofOrganization(measures: MechanismMeasures, organizationId: string): ReadonlyArray<Family> {
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
