/**
 * The public view of a sequence's mechanisms. Each kind shows the fields of its own public read, as far as its stored
 * record has them.
 */
import { Schema } from "effect"
import { bounded, type Windowed } from "../../../domain/experience/ExperienceWindow.ts"
import { byKind, deciders, fieldOf, isSingle, type Kind, kinds } from "../../../domain/mechanism/Mechanism.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import type { ShownMechanism, ShownSequence } from "../../../store/experience/ExperienceViews.ts"
import { lifecycleOf } from "../../../store/mechanism/MechanismLifecycle.ts"
import { kindSchemas, type PublicMechanisms } from "../mechanism/KindsApi.ts"
import { type PublicFields, shown } from "../mechanism/PublicMechanism.ts"

type Mechanisms = { readonly [Field in keyof typeof PublicMechanisms]: (typeof PublicMechanisms)[Field]["Type"] }

/** The mechanisms of a sequence at `now`. */
export const publicMechanisms = (experienceId: string, { mechanisms }: ShownSequence, now: Millis): Mechanisms => {
  const shownOf = (kind: Kind) =>
    mechanisms
      .filter((mechanism) => mechanism.kind === kind)
      .map((mechanism) => shown(listed[kind], known(experienceId, mechanism, now)))
  const view: { [field: string]: unknown } = {}
  for (const kind of kinds) view[fieldOf[kind]] = isSingle(kind) ? (shownOf(kind)[0] ?? null) : shownOf(kind)
  return view as Mechanisms
}

const listed = byKind((kind): Schema.Struct<Schema.Struct.Fields> => kindSchemas[kind].Listed)

/** All known fields of a mechanism. */
const known = (experienceId: string, mechanism: ShownMechanism, now: Millis): PublicFields => {
  const { id, kind, sequenceId, configuration, status } = mechanism
  return {
    id,
    experienceId,
    sequenceId,
    ...decodeSettings[kind](configuration),
    ...status,
    lifecycle: lifecycleOf(mechanism, now)
  }
}

/** The settings with the times bounded by the experience. */
const decodeSettings = byKind((kind) => {
  const decode: (stored: unknown) => Windowed = Schema.decodeUnknownSync(deciders[kind].configuration)
  return (stored: unknown): PublicFields => bounded(decode(stored)) as object as PublicFields
})
