/** Copies a live experience into test mode, with its sequences, mechanisms and times. */
import { Effect } from "effect"
import { kindSchemas } from "../../api/admin/KindsApi.ts"
import { Settings } from "../../domain/experience/Experience.ts"
import { Settings as SequenceSettings } from "../../domain/experience/Sequence.ts"
import { fieldOf, isSingle, type Kind, kinds } from "../../domain/mechanism/Mechanism.ts"
import type { CheckedMechanism, CheckedSettings } from "../../domain/rehearsal/CheckedDrop.ts"
import type { Client } from "../../load/Client.ts"
import { orRefused } from "../../load/Setup.ts"

type Fields = Readonly<Record<string, unknown>>

/** Returns the fields that a body takes and that have a value. */
const picked = (record: Fields, fields: object, without: ReadonlyArray<string> = []): Fields =>
  Object.fromEntries(
    Object.keys(fields).flatMap((name) => {
      const value = record[name]
      return value === null || value === undefined || without.includes(name) ? [] : [[name, value]]
    })
  )

/** The records of an experience's sequence, by kind. */
const recordsOf = (sequence: Fields, kind: Kind): ReadonlyArray<Fields> =>
  [sequence[fieldOf[kind]] ?? []].flat() as unknown as ReadonlyArray<Fields>

/** Reads the live experience. Returns the body that creates its copy. */
export const read = Effect.fnUntraced(function* (live: Client, id: string) {
  const original = yield* live
    .admin((api) => api.experiences.getExperience({ params: { id } }))
    .pipe(orRefused(`The live experience ${id} could not be read`))
  const sequences = (original.sequences as unknown as ReadonlyArray<Fields>).map((sequence) => ({
    ...picked(sequence, SequenceSettings.fields, ["audienceId", "sequenceProducts", "productSelectionMode"]),
    ...Object.fromEntries(
      kinds.flatMap((kind) => {
        const { CreateWithin } = kindSchemas[kind]
        const copies = recordsOf(sequence, kind).map((record) => picked(record, CreateWithin.fields, ["productIds"]))
        if (copies.length === 0) return []
        return [[fieldOf[kind], isSingle(kind) ? copies[0] : copies]]
      })
    )
  }))
  const settings = picked(original, Settings.fields)
  return { name: original.name, body: { ...settings, sequences } }
})

const instants = new Set(["openAt", "closeAt", "lobbyOpenAt", "drawAt", "settleAt", "slotsFrom", "slotsUntil"])

/** Returns the instants that a copy names. */
export const instantsOf = (body: object): ReadonlyArray<number> =>
  Object.entries(body).flatMap(([name, value]: [string, unknown]) => {
    if (instants.has(name) && typeof value === "number") return [value]
    return typeof value === "object" && value !== null ? instantsOf(value) : []
  })

/** Creates the copy in test mode. Returns it with its mechanisms. */
export const create = Effect.fnUntraced(function* (client: Client, body: object) {
  const made = yield* client
    .admin((api) => api.experiences.createExperience({ payload: body as { readonly name: string } }))
    .pipe(orRefused("The copy could not be created"))
  const mechanisms = (made.sequences as unknown as ReadonlyArray<Fields>).flatMap((sequence) =>
    kinds.flatMap((kind) =>
      recordsOf(sequence, kind).map((record): CheckedMechanism => ({
        id: record["id"] as string,
        kind,
        settings: picked(record, record) as unknown as CheckedSettings
      }))
    )
  )
  return { id: made.id, closeAt: made.closeAt ?? undefined, mechanisms }
})
