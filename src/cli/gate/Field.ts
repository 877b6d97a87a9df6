/**
 * What a gate in the field knows: record, keys, ended grants, and whether Usher answers. Loops keep it current; a check
 * reads memory alone. While Usher counts as out of reach no visitor waits for it, and the first answer ends that.
 */
import { Clock, Data, Effect, Result, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import type { PassAnswer } from "../../client/gate.ts"
import { GateMemory } from "../../client/gateMemory.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { renewedAtOnceMax } from "../../api/consumer/PassApi.ts"
import type { GateRecord } from "../../api/consumer/GateApi.ts"
import { importKeys } from "./Keys.ts"
import type { Silence, Upstream, Visitor } from "./Upstream.ts"

const millis = { record: 10_000, engagedRecord: 2_000, keys: 60_000, ended: 1_000, renewals: 1_000 } as const

export const limits = { ended: 1_000_000, visitors: 200_000 }

/** Calls of `pass` that are under way. Further visitors go to the room. */
export const asksMax = 200

/** The gate cannot begin: Usher does not know it, or not its key. */
export class GateRefused extends Data.TaggedError("GateRefused")<{ readonly message: string }> {}

export class Field extends GateMemory<GateRecord> {
  private asks = 0
  private readonly instance = `usher-gate/${randomUUID()}`
  /** When the keys were read last because a grant had another one. */
  keysReadAt: Millis = 0
  /** Renewals that Usher has taken. */
  renewed = 0

  get ownReport(): string {
    return this.report(this.instance)
  }

  /** Runs a call of `pass`, unless too many are under way. A flood must not open a gate, nor reach Usher. */
  ask(call: Effect.Effect<PassAnswer>): Effect.Effect<PassAnswer> {
    return Effect.suspend(() => {
      if (this.asks >= asksMax) return Effect.succeed<PassAnswer>({ status: "ROOM" })
      this.asks++
      return Effect.ensuring(
        call,
        Effect.sync(() => this.asks--)
      )
    })
  }
}

/** Makes what the gate knows, and keeps it current while the scope is open. */
export const make = Effect.fnUntraced(function* (
  upstream: Upstream
): Effect.fn.Return<Field, GateRefused, Scope.Scope> {
  const [found, keySet] = yield* firstOf(Effect.all([upstream.record(null), upstream.keys]))
  const { record, etag } = found!
  const field = new Field(record, importKeys(keySet), limits)
  yield* Effect.forEach(loopsOf(field, upstream, etag), (loop) => Effect.forkScoped(loop), { discard: true })
  return field
})

/** Asks until there is an answer. A refusal is an operator's mistake. */
const firstOf = <A>(ask: Effect.Effect<A, Silence>): Effect.Effect<A, GateRefused> =>
  Effect.catchTag(ask, ["OutOfReach", "Late"], ({ reason }) =>
    Effect.logWarning(`Usher is out of reach (${reason})`).pipe(
      Effect.andThen(Effect.sleep(1_000)),
      Effect.andThen(firstOf(ask))
    )
  ).pipe(
    Effect.catchTag("Refused", ({ status, text }) =>
      Effect.fail(new GateRefused({ message: `Usher refuses the gate: ${status} ${text}` }))
    )
  )

/** Runs a call, and notes whether Usher answers. */
const heard = <A>(field: Field, call: Effect.Effect<A, Silence>): Effect.Effect<Result.Result<A, Silence>> =>
  Effect.tap(Effect.result(call), (result) => {
    if (Result.isSuccess(result)) return noteReach(field, true)
    const error = result.failure
    switch (error._tag) {
      case "Refused":
        return Effect.logWarning(`Usher refuses: ${error.status} ${error.text}`)
      case "Late":
        return Effect.logDebug(`Usher answers late (${error.reason})`)
      case "OutOfReach":
        return noteReach(field, false, error.reason)
    }
  })

const noting = <A>(field: Field, call: Effect.Effect<A, Silence>) =>
  Effect.map(heard(field, call), Result.getOrUndefined)

const noteReach = (field: Field, isReachable: boolean, reason = "") =>
  Effect.suspend(() => {
    if (field.isReachable === isReachable) return Effect.void
    field.isReachable = isReachable
    return isReachable ? Effect.logInfo("Usher answers again") : Effect.logWarning(`Usher is out of reach (${reason})`)
  })

const loopsOf = (field: Field, upstream: Upstream, firstTag: string | null): ReadonlyArray<Effect.Effect<never>> => {
  let etag = firstTag
  let since: Millis | undefined

  const record = Effect.gen(function* () {
    yield* Effect.sleep(field.isEngaged ? millis.engagedRecord : millis.record)
    // An engaged queue that this gate has noticed itself is not in the tag.
    const changed = yield* noting(field, upstream.record(field.isEngaged ? null : etag))
    if (changed === undefined) return
    field.gate = changed.record
    etag = changed.etag
  })

  const keys = Effect.gen(function* () {
    yield* Effect.sleep(millis.keys)
    yield* readKeys(field, upstream)
    field.forgetExpired(yield* Clock.currentTimeMillis)
  })

  const ended = Effect.gen(function* () {
    let after: string | null = null
    do {
      const page: { data: ReadonlyArray<Ended>; until: Millis; next: string | null } | undefined = yield* noting(
        field,
        upstream.ended(since, after, field.ownReport)
      )
      if (page === undefined) return yield* Effect.sleep(millis.ended)
      for (const { jti, expiresAt } of page.data) field.end(jti, expiresAt ?? Infinity)
      after = page.next
      if (after === null) since = page.until
    } while (after !== null)
    return yield* Effect.sleep(millis.ended)
  })

  const renewals = Effect.gen(function* () {
    yield* Effect.sleep(millis.renewals)
    for (const [queueId, grants] of field.takeRenewals(renewedAtOnceMax)) yield* renew(field, upstream, queueId, grants)
  })

  return [record, keys, ended, renewals].map((loop) => Effect.forever(loop))
}

const readKeys = Effect.fnUntraced(function* (field: Field, upstream: Upstream) {
  const found = yield* noting(field, upstream.keys)
  if (found !== undefined) field.keys = importKeys(found, field.keys)
})

/** Reads the keys again, because Usher has given a grant with a key that is not known here. At most once a second. */
export const readKeysAgain = Effect.fnUntraced(function* (field: Field, upstream: Upstream, now: Millis) {
  if (now - field.keysReadAt < 1_000) return
  field.keysReadAt = now
  yield* readKeys(field, upstream)
})

interface Ended {
  readonly jti: string
  readonly expiresAt: Millis | null
}

const renew = Effect.fnUntraced(function* (
  field: Field,
  upstream: Upstream,
  queueId: string,
  grants: ReadonlyArray<string>
) {
  const result = yield* heard(field, upstream.renew(queueId, grants))
  if (Result.isFailure(result)) return result.failure._tag === "Refused" ? undefined : field.putBack(queueId, grants)
  field.renewed += result.success.renewed
  return field.noteEnds(result.success)
})

/** Asks Usher about a new visitor. */
export const ask = (field: Field, upstream: Upstream, queueId: string, visitor: Visitor): Effect.Effect<PassAnswer> =>
  field.ask(
    Effect.map(noting(field, upstream.pass(queueId, visitor)), (answer) => {
      if (answer?.status === "QUEUED") field.engage(queueId)
      return answer ?? { status: "FAILED" }
    })
  )
