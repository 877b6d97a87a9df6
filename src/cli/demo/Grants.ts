/** Verifies grants the way any shop can: offline, with plain `jose` and the published keys. */
import { Effect } from "effect"
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose"
import type { Check } from "./Checks.ts"
import type { Notes } from "./Crowd.ts"
import { DemoFailed } from "./DemoFailed.ts"

/** Verifies each noted grant as of its instant: the signature, the consumer and the queue. */
export const check = Effect.fnUntraced(function* (
  notes: ReadonlyArray<Notes>,
  keySet: { readonly keys: ReadonlyArray<object> },
  queueId: string
) {
  const keys = createLocalJWKSet(keySet as unknown as JSONWebKeySet)
  let verified = 0
  let wrong = 0
  for (const { consumerId, grants } of notes) {
    for (const { token, grantedAt } of grants) {
      const { payload } = yield* Effect.tryPromise({
        try: () => jwtVerify(token, keys, { algorithms: ["EdDSA"], currentDate: new Date(grantedAt) }),
        catch: (cause) => new DemoFailed({ message: `A grant of ${consumerId} does not verify: ${String(cause)}` })
      })
      const isRight =
        payload["type"] === "admission" && payload["consumerId"] === consumerId && payload["distributionId"] === queueId
      if (isRight) verified += 1
      else wrong += 1
    }
  }
  const result: Check = {
    promise: "every grant verifies with plain jose",
    holds: wrong === 0 && verified > 0,
    detail: `${verified} grants against the published keys, ${wrong} wrong`
  }
  return result
})
