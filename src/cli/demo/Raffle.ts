/**
 * The demo's draw: guests enter, some leave, the winners are drawn at the set time, and the result is verified from the
 * published proof.
 */
import { Clock, Effect, Schedule, Schema } from "effect"
import { Proof } from "../../domain/draw/Draw.ts"
import { verify } from "../../domain/draw/proof/Verification.ts"
import { toText } from "../../domain/values/Time.ts"
import type { Apis } from "./Apis.ts"
import type { Check } from "./Checks.ts"
import { each, guests, patientMillis } from "./Guests.ts"

const entrants = 200
const leavers = 10
const winnerCount = 20
const entrySeconds = 8

const State = Schema.Struct({ status: Schema.String, entryId: Schema.optionalKey(Schema.String) })

/** Plays a whole draw and returns its checks. */
export const play = Effect.fnUntraced(function* (apis: Apis, sequenceId: string) {
  const [took, crowd] = yield* Effect.timed(guests(apis, entrants))
  const closeAt = toText((yield* Clock.currentTimeMillis) + patientMillis(entrySeconds, took))
  const { id } = yield* apis.admin.create("/draws", {
    sequenceId,
    name: "Raffle",
    winnerCount,
    closeAt,
    drawAt: closeAt
  })
  const path = `/draws/${id}`
  yield* each(crowd, (session) => apis.consumer.post(State, `${path}/enter`, session))
  yield* each(crowd.slice(0, leavers), (session) => apis.consumer.post(State, `${path}/leave`, session))
  const proof = yield* untilDrawn(apis, path)
  const states = yield* each(crowd, (session) => apis.consumer.get(State, `${path}/status`, session))
  return checksOf(proof, states)
})

/** Waits for the proof and returns it. */
const untilDrawn = (apis: Apis, path: string) =>
  apis.public.get(Proof, `${path}/proof`).pipe(
    Effect.retry({
      while: (error) => error._tag === "Refused" && error.code === "NOT_DRAWN",
      // Proofs are limited by address: 60 a minute.
      schedule: Schedule.spaced("2 seconds").pipe(Schedule.upTo({ duration: "10 minutes" }))
    })
  )

const checksOf = (proof: Proof, states: ReadonlyArray<typeof State.Type>): ReadonlyArray<Check> => {
  const { isValid, checks } = verify(proof)
  const won = states.flatMap(({ status, entryId }) => (status === "WON" ? (entryId ?? []) : []))
  const proven = new Set(proof.winners)
  const firstDigit = proof.seed.startsWith("0") ? "1" : "0"
  const altered = verify({ ...proof, seed: firstDigit + proof.seed.slice(1) })
  return [
    {
      promise: "the draw can be checked by anyone",
      holds: isValid && won.length === winnerCount && won.every((entryId) => proven.has(entryId)),
      detail: `${proof.entries.length} entries, ${won.length} winners, ${checks.filter(({ holds }) => holds).length} of ${checks.length} steps of the proof hold`
    },
    {
      promise: "a proof with another seed is caught",
      holds: !altered.isValid,
      detail: `${altered.checks.filter(({ holds }) => !holds).length} steps fail`
    }
  ]
}
