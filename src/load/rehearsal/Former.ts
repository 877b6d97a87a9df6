/** Finds a former drop of the organization and what its people did, with the live key. */
import { Effect } from "effect"
import { declarations, type Kind } from "../../domain/mechanism/Mechanism.ts"
import { measuredIn, samplesMin } from "../../domain/rehearsal/Former.ts"
import { type Client, historyOf } from "../Client.ts"

/** Mechanisms that are looked at, of each kind. */
const triesMax = 5

/** Events that are read of one: the first ones, in which most of its people come. */
const eventsMax = 5_000

/** Returns the newest former drop with one of these kinds that enough people entered. A queue comes first. */
export const formerDrop = Effect.fnUntraced(function* (live: Client, experienceId: string, kinds: ReadonlySet<Kind>) {
  const granting = [...kinds].filter((kind) => declarations[kind].grants.length > 0)
  for (const type of granting.toSorted((a, b) => Number(b === "queue") - Number(a === "queue"))) {
    const { data } = yield* live.admin((api) =>
      api.distributions.listDistributions({ query: { type, lifecycle: "closed", first: triesMax + 1 } })
    )
    for (const one of data.filter((other) => other.experienceId !== experienceId).slice(0, triesMax)) {
      const measured = measuredIn(type, yield* historyOf(live, one.id, eventsMax))
      if (measured.people >= samplesMin) return { measured, name: one.name }
    }
  }
  return undefined
})
