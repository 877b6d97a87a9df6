/** A drop as staff see it: an experience with its mechanisms and their live figures. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import type { Standing } from "../../../domain/mechanism/Declaration.ts"
import { standingOf } from "../../../domain/mechanism/PlaceFields.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import * as Time from "../../../store/coordination/Time.ts"

export type Experience = AdminAnswer<"experiences", "getExperience">
export type Mechanism = AdminAnswer<"distributions", "getDistribution">

export interface Drop {
  readonly experience: Experience
  readonly mechanisms: ReadonlyArray<Mechanism>
  /** The address of its first tab. */
  readonly path: string
  /** The address of the room that consumers see. */
  readonly roomUrl: string
  readonly now: number
}

/** Mechanisms that one drop shows. */
const mechanismsMax = 50

export const pathOf = (experienceId: string): string => `/dashboard/experiences/${experienceId}`

/** Makes the function that reads a drop. */
export const makeRead = (api: AdminApiClient["Service"], roomUrl: (experienceId: string) => string) => {
  const mechanismsOf = makeMechanismsOf(api)
  return Effect.fnUntraced(function* (operator: Operator, experienceId: string) {
    const [experience, mechanisms] = yield* Effect.all(
      [
        api.run(operator, "experiences", "getExperience", { params: { id: experienceId } }),
        mechanismsOf(operator, experienceId)
      ],
      { concurrency: 2 }
    )
    const now = yield* Time.now
    const drop: Drop = { experience, mechanisms, path: pathOf(experienceId), roomUrl: roomUrl(experienceId), now }
    return drop
  })
}

/** Makes the function that reads the mechanisms of an experience with their figures. */
export const makeMechanismsOf = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, experienceId: string) {
    const { data } = yield* api.run(operator, "distributions", "listDistributions", {
      query: { experienceId, first: `${mechanismsMax}` }
    })
    // A list has no figures of mechanisms on another node.
    const figured = (listed: Mechanism) =>
      api.run(operator, "distributions", "getDistribution", { params: { id: listed.id } }).pipe(
        // One that starts again after a failure must not take the others from the screen.
        Effect.catchIf(
          ({ status }) => status === 503,
          () => Effect.succeed({ ...listed, live: null })
        )
      )
    return yield* Effect.forEach(data, figured, { concurrency: 8 })
  })

/** The columns of the figures. A consumer that is there counts as completed. */
const columnOf = {
  waiting: "waiting",
  admitted: "admitted",
  present: "completed",
  completed: "completed",
  gone: "gone"
} as const
type Column = (typeof columnOf)[Standing]

/** Returns how many consumers a mechanism has in each column. */
export const countsOf = ({ type, live }: Pick<Mechanism, "type" | "live">): { readonly [C in Column]: number } => {
  const counts = { waiting: 0, admitted: 0, completed: 0, gone: 0 }
  for (const [status, count] of Object.entries(live?.counts ?? {})) {
    counts[columnOf[standingOf(type, status) ?? "gone"]] += count
  }
  return counts
}

export const isPaused = (mechanism: Mechanism): boolean => mechanism.type === "queue" && mechanism.pausedAt !== null
