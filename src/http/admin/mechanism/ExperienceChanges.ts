/** The difference between two looks at the mechanisms of an experience, as the events of a stream. */
import { sha256 } from "../../../domain/values/Digest.ts"

/** A mechanism with its JSON. */
export type Told = readonly [id: string, json: string]

/** The snapshot that all watchers have, and the event that sends it to new ones. */
export interface ExperienceSnapshot {
  readonly told: ReadonlyMap<string, string>
  readonly id: string
  readonly event: string
}

/** Makes the snapshot. */
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
