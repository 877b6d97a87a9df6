/** The queues that the rules of gates name, called by their drops. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import type { Mechanism } from "../drop/Drop.ts"

type Api = AdminApiClient["Service"]

export interface NamedQueue {
  readonly queue: Extract<Mechanism, { readonly type: "queue" }>
  readonly dropName: string
  /** The drop, and the queue where its name is another one. */
  readonly label: string
}

/** By the ids of the queues. */
export type NamedQueues = ReadonlyMap<string, NamedQueue>

/** Queues and drops of which a person can choose. The newest are offered. */
const offeredMax = "100"

/** Records that are read at the same time. */
const atOnce = 8

/** Makes the function that returns the queues with these ids. Those that are archived are left out. */
export const makeQueues = (api: Api) => {
  const named = makeNamed(api)
  return Effect.fnUntraced(function* (operator: Operator, ids: ReadonlyArray<string>) {
    const found = yield* Effect.forEach(new Set(ids), (id) => queueOf(api, operator, id), { concurrency: atOnce })
    return yield* named(operator, found.flat())
  })
}

/** Makes the function that returns the queues that a rule can name: the newest, and those with these ids. */
export const makeOffered = (api: Api) => {
  const named = makeNamed(api)
  return Effect.fnUntraced(function* (operator: Operator, ids: ReadonlyArray<string>) {
    const { data } = yield* api.run(operator, "distributions", "listDistributions", {
      query: { type: "queue", first: offeredMax, sortDir: "desc" }
    })
    const known = new Set(data.map(({ id }) => id))
    const others = yield* Effect.forEach(
      new Set(ids.filter((id) => !known.has(id))),
      (id) => queueOf(api, operator, id),
      { concurrency: atOnce }
    )
    return yield* named(operator, [...data, ...others.flat()])
  })
}

const queueOf = (api: Api, operator: Operator, id: string) =>
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
      mechanisms.flatMap((queue): ReadonlyArray<readonly [string, NamedQueue]> => {
        if (queue.type !== "queue") return []
        const dropName = nameOf.get(queue.experienceId) ?? ""
        const parts = [...new Set([dropName, queue.name])].filter((part) => part !== "")
        return [[queue.id, { queue, dropName, label: parts.join(" · ") }]]
      })
    )
  })
