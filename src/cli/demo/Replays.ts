/** The demo's check of its journals: replayed by the rules, every event comes out as it was recorded. */
import { Effect } from "effect"
import type { Client } from "../../load/Client.ts"
import type { Proof } from "../../load/Report.ts"

/** Replays the mechanisms of an experience. */
export const journalsReplay = Effect.fnUntraced(function* (client: Client, experienceId: string) {
  const { data } = yield* client.admin((api) => api.distributions.listDistributions({ query: { experienceId } }))
  const replays = yield* Effect.forEach(data, ({ id, name }) =>
    client
      .admin((api) => api.distributions.replayDistribution({ params: { id }, payload: {} }))
      .pipe(
        Effect.map(({ events }) => ({ name, events, differs: false })),
        Effect.catchIf(
          ({ code }) => code === "JOURNAL_DIFFERS",
          () => Effect.succeed({ name, events: 0, differs: true })
        )
      )
  )
  const differing = replays.filter(({ differs }) => differs).map(({ name }) => name)
  const events = replays.reduce((sum, replay) => sum + replay.events, 0)
  return {
    claim: "each journal follows from the rules",
    holds: replays.length > 0 && differing.length === 0,
    detail:
      differing.length === 0
        ? `${events} events of ${replays.length} mechanisms came out again as they were recorded`
        : `not ${differing.join(", ")}`
  } satisfies Proof
})
