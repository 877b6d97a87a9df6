/** What `usher gate` asks of Usher. Every call has the same short patience, because a visitor may wait for it. */
import { Data, Effect, Redacted, Schema } from "effect"
import { Pass, Renewals } from "../../api/consumer/PassApi.ts"
import { GateRecord } from "../../api/consumer/GateApi.ts"
import { RevokedGrants } from "../../api/consumer/RevokedGrantApi.ts"
import type { PassAnswer } from "../../client/gate.ts"
import { CallLate, CallRefused, makeCalls } from "../../client/gateCalls.ts"

/** Usher did not answer, or not as it does. */
export class OutOfReach extends Data.TaggedError("OutOfReach")<{
  readonly reason: string
}> {}

/** A call has no answer, although Usher answers others. */
export class Late extends Data.TaggedError("Late")<{ readonly reason: string }> {}

/** Usher has answered with a refusal. */
export class Refused extends Data.TaggedError("Refused")<{ readonly status: number; readonly text: string }> {}

/** A visitor that the gate does not know. */
export interface Visitor {
  readonly attempt: string
  readonly clientAddress?: string | undefined
}

export interface Options {
  /** The address of the Consumer API. */
  readonly url: string
  readonly gateId: string
  readonly key: Redacted.Redacted
  /** Milliseconds. Default: 900. */
  readonly patienceMillis?: number
}

const decodeRecord = Schema.decodeUnknownEffect(Schema.toCodecJson(GateRecord))
const decodeEnded = Schema.decodeUnknownEffect(Schema.toCodecJson(RevokedGrants))
const decodePass = Schema.decodeUnknownEffect(Schema.toCodecJson(Pass))
const decodeRenewals = Schema.decodeUnknownEffect(Schema.toCodecJson(Renewals))

export type Silence = OutOfReach | Late | Refused

const silenceOf = (error: unknown): Silence => {
  if (error instanceof CallRefused) return new Refused({ status: error.status, text: error.text })
  // `fetch` says why only in the cause.
  const cause = error instanceof Error && error.cause instanceof Error ? `, ${error.cause.message}` : ""
  const reason = `${String(error)}${cause}`
  return error instanceof CallLate ? new Late({ reason }) : new OutOfReach({ reason })
}

const asked = <A>(call: () => Promise<A>): Effect.Effect<A, Silence> =>
  Effect.tryPromise({ try: call, catch: silenceOf })

const decoded = <A, E>(decoding: Effect.Effect<A, E>): Effect.Effect<A, OutOfReach> =>
  Effect.mapError(decoding, (error) => new OutOfReach({ reason: String(error) }))

export type Upstream = ReturnType<typeof make>

export const make = ({ key, ...address }: Options) => {
  const calls = makeCalls({ ...address, key: Redacted.value(key) })
  return {
    /** The gate's record with its tag; undefined if the tag is still right. */
    record: Effect.fnUntraced(function* (tag: string | null) {
      const answer = yield* asked(() => calls.record(tag))
      return answer && { record: yield* decoded(decodeRecord(answer.record)), etag: answer.etag }
    }),

    keys: asked(calls.keys),

    /** A page of the ended grants of the gate's queues. */
    ended: (since: number | undefined, after: string | null, report: string) =>
      Effect.flatMap(
        asked(() => calls.ended(since === undefined ? null : new Date(since).toISOString(), after, report)),
        (answer) => decoded(decodeEnded(answer))
      ),

    /** `attempt` names the visitor, so that a repeated call is about the same one. */
    pass: (queueId: string, { attempt, clientAddress }: Visitor) =>
      Effect.flatMap(
        asked(() => calls.pass(queueId, attempt, clientAddress)),
        (answer): Effect.Effect<PassAnswer, OutOfReach> =>
          "roomUrl" in answer || "admissionGrant" in answer ? decoded(decodePass(answer)) : Effect.succeed(answer)
      ),

    renew: (queueId: string, grants: ReadonlyArray<string>) =>
      Effect.flatMap(
        asked(() => calls.renew(queueId, grants)),
        (answer) => decoded(decodeRenewals(answer))
      )
  }
}
