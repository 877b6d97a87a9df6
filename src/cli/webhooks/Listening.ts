/**
 * `usher webhooks listen`: posts the events of an organization to a URL of the developer, as a webhook would. The
 * cursors are in memory, so nothing of it is left in the database, however the process ends.
 */
import { Clock, Console, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { signatureHeaders } from "../../delivery/webhook/Signature.ts"
import { newSecret } from "../../domain/values/SigningSecret.ts"
import { isDelivered, WebhookClient } from "../../delivery/webhook/WebhookClient.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { requestsAtOnceDefault } from "../../domain/webhook/Webhook.ts"
import { eventTypes } from "../../domain/webhook/Catalogue.ts"
import type { PendingDelivery } from "../../store/webhook/PendingDeliveries.ts"
import { type Endpoint, journalsOf, WebhookOutbox } from "../../store/webhook/WebhookOutbox.ts"
import * as JournalReader from "../../workers/webhook/JournalReader.ts"
import { Throttle } from "../../workers/webhook/Pace.ts"

/** Pause between two looks into the journals. */
const pollMillis = 500

/** Requests at the same time. The events of a lane are sent one after another. */
const requestsAtOnce = 10

interface Options {
  readonly tenant: Tenant
  readonly forwardTo: string
  readonly json: boolean
}

/** Posts each event from now on, once, and prints the answer. Runs until it is interrupted. */
export const listen = Effect.fnUntraced(function* ({ tenant, forwardTo, json }: Options) {
  const client = yield* WebhookClient
  const secret = newSecret(randomBytes(32))
  const endpoint: Endpoint = {
    id: "listen",
    tenant,
    url: forwardTo,
    events: eventTypes,
    ordering: "consumer",
    schedule: "standard",
    delivery: "single",
    requestsAtOnce: requestsAtOnceDefault,
    requestsPerSecond: undefined,
    secrets: [secret],
    failingSince: undefined
  }
  const journals = Effect.provideService(journalsOf(tenant), SqlClient.SqlClient, yield* SqlClient.SqlClient)
  const cursors = new Map((yield* journals).map(({ subjectId, lastSequence }) => [subjectId, lastSequence]))
  const unthrottled = Effect.provideService(JournalReader.make, Throttle, Throttle.none)
  const read = yield* Effect.provideService(unthrottled, WebhookOutbox, {
    ...(yield* WebhookOutbox),
    sources: () =>
      Effect.map(journals, (found) =>
        found
          .map((source) => ({ ...source, readUpTo: cursors.get(source.subjectId) ?? 0 }))
          .filter(({ readUpTo, lastSequence }) => lastSequence > readUpTo)
      ),
    waitingCount: () => Effect.succeed(0)
  })

  const forward = Effect.fnUntraced(function* ({ id, type, body }: PendingDelivery) {
    const timestampSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
    const headers = { "content-type": "application/json", "user-agent": "Usher-Webhooks/1.0" }
    const signed = { ...headers, ...signatureHeaders({ id, timestampSeconds, body }, [secret]) }
    const attempt = yield* client.post(forwardTo, signed, body)
    const { statusCode, durationMillis } = attempt
    const reason = isDelivered(attempt) ? "" : `  ${attempt.body.split("\n")[0]}`
    yield* Console.log(
      json
        ? JSON.stringify({ id, type, statusCode, durationMillis, answer: attempt.body })
        : `  ${statusCode ?? "---"}  ${type.padEnd(28)}  ${id}  ${durationMillis} ms${reason}`
    )
  })

  const round = Effect.gen(function* () {
    const { deliveries, cursors: reached, isMore } = yield* read(endpoint)
    yield* Effect.forEach(
      Map.groupBy(deliveries, ({ lane }) => lane).values(),
      (lane) => Effect.forEach(lane, forward, { discard: true }),
      { concurrency: requestsAtOnce, discard: true }
    )
    for (const { subjectId, to } of reached) cursors.set(subjectId, to)
    return isMore
  })

  yield* Console.log(json ? JSON.stringify({ forwardTo, secret }) : announced(forwardTo, secret))
  return yield* Effect.forever(Effect.flatMap(round, (isMore) => (isMore ? Effect.void : Effect.sleep(pollMillis))))
})

const announced = (forwardTo: string, secret: string): string =>
  [
    `Events from now on go to ${forwardTo}, until you press Ctrl-C. A failed request is not repeated. Their secret:`,
    "",
    `  ${secret}`,
    ""
  ].join("\n")
