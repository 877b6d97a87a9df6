/** Mechanisms where several drops are on one screen: called by their drops. */
import { Effect } from "effect"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import type { AdminApiClient } from "../ApiClients.ts"
import type { Mechanism } from "./drop/Drop.ts"

type Api = AdminApiClient["Service"]

export interface NamedMechanism {
  readonly mechanism: Mechanism
  readonly dropName: string
  /** The drop, and the mechanism where its name is another one. */
  readonly label: string
}

/** By the ids of the mechanisms. */
export type NamedMechanisms = ReadonlyMap<string, NamedMechanism>

/** Mechanisms of which a person can choose. The newest are offered. */
const offeredMax = "100"

/** Records that are read at the same time. */
const atOnce = 8

/** Makes the function that returns the mechanisms with these ids. Those that are archived are left out. */
export const makeMechanisms = (api: Api) => {
  const named = makeNamed(api)
  return Effect.fnUntraced(function* (operator: Operator, ids: Iterable<string>) {
    const found = yield* Effect.forEach(new Set(ids), (id) => mechanismOf(api, operator, id), { concurrency: atOnce })
    return yield* named(operator, found.flat())
  })
}

/** What a person can choose: the query of their list, and which of its answers are left out. */
interface Fitting {
  readonly query: { readonly type?: string; readonly lifecycle?: string }
  readonly fits?: (mechanism: Mechanism) => boolean
}

/** Makes the function that returns what a person can choose: the newest that fit, and those with these ids. */
export const makeOffered = (api: Api) => {
  const named = makeNamed(api)
  return Effect.fnUntraced(function* (
    operator: Operator,
    ids: ReadonlyArray<string>,
    { query, fits = () => true }: Fitting
  ) {
    const { data } = yield* api.run(operator, "distributions", "listDistributions", {
      query: { ...query, first: offeredMax, sortDir: "desc" }
    })
    const known = new Set(data.map(({ id }) => id))
    const others = yield* Effect.forEach(
      new Set(ids.filter((id) => !known.has(id))),
      (id) => mechanismOf(api, operator, id),
      { concurrency: atOnce }
    )
    return yield* named(operator, [...data.filter(fits), ...others.flat()])
  })
}

const mechanismOf = (api: Api, operator: Operator, id: string) =>
  api.run(operator, "distributions", "getDistribution", { params: { id } }).pipe(
    Effect.map((found): ReadonlyArray<Mechanism> => [found]),
    Effect.catchTag("Refusal", () => Effect.succeed<ReadonlyArray<Mechanism>>([]))
  )

/** Makes the function that adds the names of the drops. */
const makeNamed = (api: Api) =>
  Effect.fnUntraced(function* (operator: Operator, mechanisms: ReadonlyArray<Mechanism>) {
    const names = yield* Effect.forEach(
      new Set(mechanisms.map(({ experienceId }) => experienceId)),
      (id) =>
        api.run(operator, "experiences", "getExperience", { params: { id } }).pipe(
          Effect.map(({ name }) => [id, name] as const),
          Effect.catchTag("Refusal", () => Effect.succeed([id, ""] as const))
        ),
      { concurrency: atOnce }
    )
    const nameOf = new Map(names)
    return new Map(
      mechanisms.map((mechanism): readonly [string, NamedMechanism] => {
        const dropName = nameOf.get(mechanism.experienceId) ?? ""
        const parts = [...new Set([dropName, mechanism.name])].filter((part) => part !== "")
        return [mechanism.id, { mechanism, dropName, label: parts.join(" · ") }]
      })
    )
  })
