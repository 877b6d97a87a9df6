/** Runs the receiver that the tour shows, as it stands there, and delivers events of a real journal to it. */
import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Schedule } from "effect"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { signatureHeaders } from "../../src/delivery/webhook/Signature.ts"
import { WebhookDeliveries } from "../../src/store/webhook/WebhookDeliveries.ts"
import { aQueue, aTenant } from "../store/support/recordsFixture.ts"
import { aProcess, aWebhook, entered, services } from "./support/webhookWorld.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

const sample = /^cat > receiver\.mjs <<'END'\n(.*?)^END$/ms.exec(readFileSync(`${root}src/TOUR.md`, "utf8"))?.[1]

/** The sample listens at this address. */
const url = "http://127.0.0.1:5005/"

/** Posts to the sample. Returns the status of its answer. */
const post = (headers: { readonly [name: string]: string }, body: string) =>
  Effect.map(
    Effect.tryPromise(() => fetch(url, { method: "POST", headers, body })),
    ({ status }) => status
  )

/** Starts the sample, and waits until it answers. Returns what it has printed. */
const startSample = Effect.fnUntraced(function* (secret: string) {
  let printed = ""
  const env = { PATH: process.env["PATH"], WEBHOOK_SECRET: secret }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, ["--input-type=module", "-"], { cwd: root, env })
      child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text))
      child.stderr.setEncoding("utf8").on("data", (text: string) => (printed += text))
      child.stdin.end(sample)
      return child
    }),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("close", () => resume(Effect.void)).kill()
      })
  )
  yield* post({}, "").pipe(
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.timeoutOrElse({
      duration: "1 minute",
      orElse: () => Effect.die(new Error(`the sample does not answer: ${printed}`))
    })
  )
  return () => printed
})

describe("The receiver in the tour", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("takes the events of a webhook, and refuses forged, changed and old requests", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const queue = yield* aQueue(tenant)
        const { webhook, secret } = yield* aWebhook(tenant, url)
        const printed = yield* startSample(secret)
        const [consumerId] = yield* entered(queue.id, 1)
        yield* (yield* aProcess).all

        const { data } = yield* (yield* WebhookDeliveries).list(tenant, webhook.id, { sortDir: "asc" }, {})
        assert.deepStrictEqual(
          data.map(({ type, attempts }) => [type, attempts.map(({ statusCode }) => statusCode)]),
          [
            ["distribution.joined", [204]],
            ["distribution.admitted", [204]]
          ]
        )
        const expected = [
          `consumer_id: '${consumerId}'`,
          ...data.flatMap(({ type, eventId }) => [`${type} {`, eventId])
        ]
        yield* Effect.sync(() => expected.filter((text) => !printed().includes(text))).pipe(
          Effect.repeat({ until: (missing) => missing.length === 0, schedule: Schedule.spaced("20 millis") }),
          Effect.timeout("1 minute")
        )

        const { eventId: id, body } = data[0]!
        const now = Math.floor(Date.now() / 1_000)
        const signed = (by: string, timestampSeconds = now) => signatureHeaders({ id, timestampSeconds, body }, [by])
        assert.strictEqual(yield* post(signed(secret), body), 204)
        const refused = [
          post(signed("whsec_YW5vdGhlciBzZWNyZXQ="), body),
          post(signed(secret), body.replace(consumerId!, "another")),
          post(signed(secret, now - 3_600), body),
          post({ ...signed(secret), "webhook-id": "evt_another" }, body)
        ]
        assert.deepStrictEqual(yield* Effect.all(refused), [401, 401, 401, 401])
        // The sample has the clock of the machine. Other tests put the one of `services` forward.
      }).pipe(Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()))
    )
  })
})
