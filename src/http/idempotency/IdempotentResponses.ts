/**
 * Carries a request out once, however often it is sent, and always returns the first answer.
 *
 * Of all requests that use a key at the same time, in any process, one is carried out and the others wait for its
 * answer. It is carried out to its end even if its caller disconnects. Later requests with the key get the same answer.
 * If the process dies during the request, the lease of its claim ends, and the next request with the key is carried out
 * again. What the first one had recorded stays: a mechanism, for example, is recorded in a transaction of its own. From
 * then on the request is carried out at least once, no longer exactly once.
 *
 * An answer is kept if a repetition would get the same: a success, or a refusal that only another request can resolve.
 * Not kept are answers that ask the caller to come back (429, 503, and any with `Retry-After`), a 401, because it
 * refuses the credential, and a 500. After them the request is carried out again. A 400 releases the key: nothing was
 * done, so the caller may correct the body and reuse the key.
 */
import { Cause, Context, Deferred, Effect, Exit, Layer, Schedule } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import type { SecretInAnswer } from "../../api/Annotations.ts"
import { isKept } from "../../api/Idempotency.ts"
import {
  type Claimed,
  type FirstAnswer,
  IdempotencyKeys,
  leaseSeconds,
  type RepeatableRequest
} from "../../store/coordination/IdempotencyKeys.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Seconds for which a repeated request waits for the answer to the first. */
const patienceSeconds = 10

/** Milliseconds between two checks whether another process has answered: fewer at first. */
const pauseMillis = { least: 20, most: 250 } as const

/** Seconds for which the store is asked again to keep an answer. After them the answer is sent without being kept. */
const keepingSeconds = 5

/** The outcome of a request that is not carried out. */
export type Repeated =
  | { readonly _tag: "Answered"; readonly answer: FirstAnswer }
  | { readonly _tag: "Reused" }
  | { readonly _tag: "UnderWay" }

type Response = HttpServerResponse.HttpServerResponse

export class IdempotentResponses extends Context.Service<
  IdempotentResponses,
  {
    /** Carries the request out with `handle`, or waits for the request that does. */
    answer<E, R>(
      request: RepeatableRequest,
      options: { readonly secret: SecretInAnswer },
      handle: Effect.Effect<Response, E, R>
    ): Effect.Effect<Response | Repeated, E | Unavailable, R>
  }
>()("usher/http/idempotency/IdempotentResponses") {
  static readonly layerNoStore = Layer.effect(IdempotentResponses)(
    Effect.gen(function* () {
      const keys = yield* IdempotencyKeys
      const underWay: UnderWay = new Map()

      const carriedOut = makeCarriedOut(keys, underWay)

      /** Returns when it may help to ask again. */
      const another = (id: string, round: number, leftMillis: number) => {
        const here = underWay.get(id)
        if (here !== undefined) return Effect.asVoid(Effect.timeoutOption(Deferred.await(here), leftMillis))
        return Effect.sleep(Math.min(pauseMillis.most, pauseMillis.least * 2 ** round, leftMillis))
      }

      return {
        answer: (request, { secret }, handle) =>
          Effect.uninterruptibleMask((restore) =>
            Effect.gen(function* () {
              const deadline = (yield* Time.serverNow) + patienceSeconds * 1_000
              for (let round = 0; ; round++) {
                const claim = yield* keys.claim(request)
                if (claim._tag === "Claimed") return yield* carriedOut(claim.claimed, secret, handle)
                if (claim._tag !== "UnderWay") return claim
                const leftMillis = deadline - (yield* Time.serverNow)
                if (leftMillis <= 0) return claim
                yield* restore(another(idOf(request), round, leftMillis))
              }
            })
          )
      }
    })
  )

  static readonly layer = Layer.provide(IdempotentResponses.layerNoStore, IdempotencyKeys.layer)
}

/** The requests that this process carries out, by tenant and key. Each ends with its request. */
type UnderWay = Map<string, Deferred.Deferred<void>>

/** Makes the function that carries a claimed request out and keeps the answer. */
const makeCarriedOut = (keys: IdempotencyKeys["Service"], underWay: UnderWay) => {
  const extending = (claimed: Claimed) =>
    Effect.sleep((leaseSeconds * 1_000) / 3).pipe(
      Effect.andThen(Effect.ignore(keys.extend(claimed), { log: "Warn" })),
      Effect.forever
    )

  /** Keeps the answer, or releases the claim. Never fails, because the answer itself is valid. */
  const settle = (claimed: Claimed, response: Response, secret: SecretInAnswer): Effect.Effect<void> => {
    const answer = keepable(response, secret)
    if (answer === undefined) {
      const givenUp = response.status === malformed ? keys.remove(claimed) : keys.release(claimed)
      return Effect.ignore(givenUp, { log: "Warn" })
    }
    return keys.keep(claimed, answer).pipe(
      Effect.retry(Schedule.spaced("200 millis").pipe(Schedule.upTo({ duration: `${keepingSeconds} seconds` }))),
      Time.inServerTime,
      Effect.flatMap((isKept) =>
        isKept ? Effect.void : Effect.logWarning("A repeatable request took so long that it was carried out again")
      ),
      Effect.catchCause((cause) => Effect.logError("The answer to a repeatable request could not be kept", cause))
    )
  }

  return <E, R>(claimed: Claimed, secret: SecretInAnswer, handle: Effect.Effect<Response, E, R>) =>
    Effect.gen(function* () {
      const id = idOf(claimed.request)
      const ended = Deferred.makeUnsafe<void>()
      underWay.set(id, ended)
      const extension = yield* Effect.forkChild(extending(claimed), { uninterruptible: false })
      const settled = (response: Response) =>
        Effect.suspend(() => {
          extension.interruptUnsafe()
          return settle(claimed, response, secret)
        }).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              underWay.delete(id)
              Deferred.doneUnsafe(ended, Exit.void)
            })
          )
        )
      return yield* Effect.matchCauseEffect(handle, {
        onSuccess: (response) => Effect.as(settled(response), response),
        // The failure becomes a response when it leaves.
        onFailure: (cause: Cause.Cause<E>) =>
          Effect.withFiber((fiber) => {
            HttpEffect.appendPreResponseHandlerUnsafe(fiber.context, (_, response) =>
              Effect.as(settled(response), response)
            )
            return Effect.failCause(cause)
          })
      })
    })
}

const idOf = ({ tenant: { organizationId, mode }, key }: RepeatableRequest) => `${organizationId} ${mode} ${key}`

/** The status of a request that the caller must correct. */
const malformed = 400

/** The answer in its stored form; undefined if it is not kept. */
const keepable = ({ status, headers, body }: Response, secret: SecretInAnswer): FirstAnswer | undefined => {
  if (!isKept(status) || headers["retry-after"] !== undefined) return undefined
  const isSecret = secret !== "none" && status < 300
  if (isSecret && secret === "nowhere") return { status, contentType: undefined, body: undefined }
  if (body._tag === "Empty") return { status, contentType: undefined, body: new Uint8Array() }
  if (body._tag !== "Uint8Array") return undefined
  return { status, contentType: body.contentType, body: body.body, isSecret }
}
