/** The demo's timed release: many more consumers than units, all at the same time. */
import { Effect, Schema } from "effect"
import type { Apis, Session } from "./Apis.ts"
import type { Check } from "./Checks.ts"
import { guests } from "./Guests.ts"

const racers = 100
const capacity = 10

const State = Schema.Struct({ status: Schema.String })

/** Lets all consumers race for the units and returns the check. */
export const play = Effect.fnUntraced(function* (apis: Apis, sequenceId: string) {
  const crowd = yield* guests(apis, racers)
  const { id } = yield* apis.admin.create("/timed-releases", { sequenceId, name: "Flash sale", capacity })
  const path = `/timed-releases/${id}`
  const race = (session: Session) =>
    apis.consumer.post(State, `${path}/enter`, session).pipe(
      Effect.map(({ status }) => status),
      Effect.catchTag("Refused", (refused) =>
        refused.code === "SOLD_OUT" ? Effect.succeed("SOLD_OUT") : Effect.fail(refused)
      )
    )
  const outcomes = yield* Effect.forEach(crowd, race, { concurrency: "unbounded" })
  const granted = outcomes.filter((outcome) => outcome === "ENTERED").length
  const check: Check = {
    promise: "the timed release sold each unit once",
    holds: granted === capacity,
    detail: `${granted} of ${racers} racers got one of ${capacity} units`
  }
  return [check]
})
