/** How people are named: by what they said of themselves, and a guest by four letters, never by an id. */
import { Effect } from "effect"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import type { AdminApiClient } from "../ApiClients.ts"

interface Named {
  readonly consumerId: string
  readonly fullName: string | null
  readonly email: string | null
  readonly phone: string | null
}

/** The name of a consumer. */
export const nameOf = ({ consumerId, fullName, email, phone }: Named): string =>
  fullName ?? email ?? phone ?? guestName(consumerId)

/** The name of a consumer that has given none. The end of an id is random. */
export const guestName = (consumerId: string): string => `Guest ${consumerId.slice(-4).toUpperCase()}`

/** Consumers that are looked up at the same time. */
const atOnce = 5

/** Makes the function that returns the names of some consumers. Those that are archived count as unknown. */
export const makeNames = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, consumerIds: ReadonlyArray<string>) {
    const found = yield* Effect.forEach(
      new Set(consumerIds),
      (id) =>
        api.run(operator, "consumers", "getConsumer", { params: { id } }).pipe(
          Effect.map((consumer) => [id, nameOf({ ...consumer, consumerId: id })] as const),
          Effect.catchTag("Refusal", () => Effect.succeed([id, guestName(id)] as const))
        ),
      { concurrency: atOnce }
    )
    return new Map(found)
  })
