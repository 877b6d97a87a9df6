/** Messages about grants from a real process to a real mail server. The process is killed while it sends them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { organization, serving } from "../../cli/servingProcess.ts"
import * as Process from "../../cli/usherProcess.ts"
import { mailServer } from "../../delivery/mailServer.ts"
import { asServer, send } from "../../http/support/usherFixture.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"

const count = 40

/** The number of messages that a process sends at the same time. */
const concurrent = 4

const until = (holds: () => boolean) =>
  Effect.repeat(Effect.sync(holds), { until: (found) => found, schedule: Schedule.spaced("20 millis") })

describe("A process that sends messages about grants", () => {
  it.live("is killed, and the next process sends the remaining messages and repeats only those in flight", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const { port, mails } = yield* mailServer({ delayMillis: 400 })
      const settings = {
        DATABASE_URL: url,
        LOG_LEVEL: "warn",
        SMTP_URL: `smtp://127.0.0.1:${port}`,
        EMAIL_FROM: "Brand <no-reply@example.com>"
      }
      const { secretKey } = yield* organization(settings)
      const first = yield* serving(settings)
      const call = (method: string, path: string, body: object) =>
        Effect.map(
          send(first.adminUrl, { method, path: `/api${path}`, headers: asServer(secretKey), body }),
          (answer) => {
            assert.isBelow(answer.status, 300, `${path}: ${answer.text}`)
            return answer.body
          }
        )
      yield* call("PUT", "/organizations/me", { grantMessages: "email" })
      const { id: experienceId } = yield* call("POST", "/experiences", { name: "Drop" })
      const { id: sequenceId } = yield* call("POST", "/sequences", { experienceId, name: "Sale" })
      const { id: queueId } = yield* call("POST", "/queues", { sequenceId, name: "Line", admitRate: 0 })
      const nodes = [{ type: "heading", level: 1, content: "Your turn at {{experienceName}}" }]
      yield* call("POST", "/experience-pages", {
        experienceId,
        slug: "your-turn",
        title: "Your turn",
        status: "PUBLISHED",
        creativeDocument: {
          schemaVersion: 1,
          editor: "email-components-v1",
          kind: "transactional-email",
          body: { subjectTemplate: "{{consumerName}}, it is your turn", nodes }
        }
      })
      const consumers = Array.from({ length: count }, (_, index) => ({
        email: `c${index}@example.com`,
        fullName: `Consumer ${index}`
      }))
      const { data } = yield* call("POST", "/consumers/batch", { consumers })
      for (const { id } of data) {
        const headers = asServer(secretKey, id)
        yield* send(first.consumerUrl, { method: "POST", path: `/api/queues/${queueId}/enter`, headers })
      }
      yield* call("PUT", `/queues/${queueId}`, { admitRate: 100_000 })

      yield* until(() => mails.length >= 6)
      first.child.kill("SIGKILL")
      yield* Process.end(first)
      const before = mails.length
      assert.isBelow(before, count)

      yield* serving(settings)
      const recipients = () => new Set(mails.map(({ to }) => to[0]!))
      yield* until(() => recipients().size === count)
      assert.isAtMost(mails.length, count + concurrent)
      const [mail] = mails
      assert.match(mail!.text, /^Subject: Consumer \d+, it is your turn\r?$/m)
      assert.match(mail!.text, /Content-Type: text\/plain[^]*Your turn at Drop[^]*Content-Type: text\/html/)
      assert.include(mail!.text, "<h1>Your turn at Drop</h1>")
      const ids = mails.map(({ text, to }) => `${to[0]} ${/^Message-ID: (.*?)\r?$/im.exec(text)![1]}`)
      assert.strictEqual(new Set(ids).size, count)
    }).pipe(Effect.scoped)
  )
})
