/**
 * Carrying out a request once, however often it is sent, and answering every time what was answered first.
 *
 * What holds: of all who show a key at the same time, in whichever process, one carries the request out and the others wait
 * for its answer; it is carried out to its end although its caller has gone; and whoever shows the key later gets the same
 * answer. Should the process die in the middle, the lease of its claim ends and the next to show the key carries the request
 * out again. What the first had done by then stays done, as a mechanism, for one, is recorded in a transaction of its own:
 * from there on the request is carried out at least once, no longer exactly once.
 *
 * An answer is kept if it would be the same again: a success, or a refusal that only another request can mend. One that says to come
 * back (429, 503, and whatever else carries `Retry-After`), a 401 (it is the credential that was refused) and a 500 are not:
 * after them the same request is carried out anew. A 400 gives the key back: nothing was done, so the caller may correct the
 * body and send it with the same key.
 */
import { Cause, Clock, Context, Deferred, Effect, Exit, Layer, Schedule } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import {
  type Claimed,
  type FirstAnswer,
  IdempotencyKeys,
  leaseSeconds,
  type RepeatableRequest
} from "../../store/coordination/IdempotencyKeys.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"

/** How long a repeated request waits for the answer to the first. */
const patienceSeconds = 10

/** Between two looks whether another process has answered: sooner at first. */
const pauseMillis = { least: 20, most: 250 } as const

/** How long the database is asked to keep an answer that it has not taken at once, before it is given all the same. */
const keepingSeconds = 5

/** What becomes of a request with a key, if it is not answered by carrying it out. */
export type Repeated =
  | { readonly _tag: "Answered"; readonly answer: FirstAnswer }
  | { readonly _tag: "Reused" }
  | { readonly _tag: "UnderWay" }

type Response = HttpServerResponse.HttpServerResponse

export class IdempotentResponses extends Context.Service<
  IdempotentResponses,
  {
    /**
     * Carries the request out with `handle`, or waits for whoever does. `holdsSecret` says that a success holds what is
     * kept nowhere: then it is only kept that it was given.
     */
    answer<E, R>(
      request: RepeatableRequest,
      options: { readonly holdsSecret: boolean },
      handle: Effect.Effect<Response, E, R>
    ): Effect.Effect<Response | Repeated, E | Unavailable, R>
  }
>()("usher/http/idempotency/IdempotentResponses") {
  static readonly layerNoStore = Layer.effect(
    IdempotentResponses,
    Effect.gen(function* () {
      const keys = yield* IdempotencyKeys
      /** What this process carries out, by tenant and key. */
      const underWay = new Map<string, Deferred.Deferred<void>>()

      const extending = (claimed: Claimed) =>
        Effect.sleep((leaseSeconds * 1_000) / 3).pipe(
          Effect.andThen(Effect.ignore(keys.extend(claimed), { log: "Warn" })),
          Effect.forever
        )

      /** Keeps what the answer says, or gives the claim up. Never fails: the answer itself is good. */
      const settle = (claimed: Claimed, response: Response, holdsSecret: boolean): Effect.Effect<void> => {
        const answer = keepable(response, holdsSecret)
        if (answer === undefined) {
          const givenUp = response.status === malformed ? keys.remove(claimed) : keys.release(claimed)
          return Effect.ignore(givenUp, { log: "Warn" })
        }
        return keys.keep(claimed, answer).pipe(
          Effect.retry(Schedule.spaced("200 millis").pipe(Schedule.upTo({ duration: `${keepingSeconds} seconds` }))),
          Effect.flatMap((isKept) =>
            isKept ? Effect.void : Effect.logWarning("A repeatable request took so long that it was carried out again")
          ),
          Effect.catchCause((cause) => Effect.logError("The answer to a repeatable request could not be kept", cause))
        )
      }

      const carriedOut = <E, R>(claimed: Claimed, holdsSecret: boolean, handle: Effect.Effect<Response, E, R>) =>
        Effect.gen(function* () {
          const id = idOf(claimed.request)
          const ended = Deferred.makeUnsafe<void>()
          underWay.set(id, ended)
          const extension = yield* Effect.forkChild(extending(claimed), { uninterruptible: false })
          const settled = (response: Response) =>
            Effect.suspend(() => {
              extension.interruptUnsafe()
              return settle(claimed, response, holdsSecret)
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
            // What it is as an answer is known when it leaves.
            onFailure: (cause: Cause.Cause<E>) =>
              Effect.withFiber((fiber) => {
                HttpEffect.appendPreResponseHandlerUnsafe(fiber.context, (_, response) =>
                  Effect.as(settled(response), response)
                )
                return Effect.failCause(cause)
              })
          })
        })

      /** Returns when it may be worth asking again. */
      const another = (id: string, round: number, leftMillis: number) => {
        const here = underWay.get(id)
        if (here !== undefined) return Effect.asVoid(Effect.timeoutOption(Deferred.await(here), leftMillis))
        return Effect.sleep(Math.min(pauseMillis.most, pauseMillis.least * 2 ** round, leftMillis))
      }

      return {
        answer: (request, { holdsSecret }, handle) =>
          Effect.uninterruptibleMask((restore) =>
            Effect.gen(function* () {
              const deadline = (yield* Clock.currentTimeMillis) + patienceSeconds * 1_000
              for (let round = 0; ; round++) {
                const claim = yield* keys.claim(request)
                if (claim._tag === "Claimed") return yield* carriedOut(claim.claimed, holdsSecret, handle)
                if (claim._tag !== "UnderWay") return claim
                const leftMillis = deadline - (yield* Clock.currentTimeMillis)
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

const idOf = ({ tenant: { organizationId, mode }, key }: RepeatableRequest) => `${organizationId} ${mode} ${key}`

/** The status of a request that has to be corrected. */
const malformed = 400

const notKept = new Set([malformed, 401, 429])

/** True if a repeated request may get this answer again. */
export const isKept = (status: number): boolean => status < 500 && !notKept.has(status)

/** The answer as it is kept; undefined if it is not. */
const keepable = ({ status, headers, body }: Response, holdsSecret: boolean): FirstAnswer | undefined => {
  if (!isKept(status) || headers["retry-after"] !== undefined) return undefined
  if (holdsSecret && status < 300) return { status, contentType: undefined, body: undefined }
  if (body._tag === "Empty") return { status, contentType: undefined, body: new Uint8Array() }
  return body._tag === "Uint8Array" ? { status, contentType: body.contentType, body: body.body } : undefined
}
