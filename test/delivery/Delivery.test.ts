/** Delivery over a real mail server and a real HTTP provider in this process, or into the outbox. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option, Redacted, Schedule } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { Delivery } from "../../src/delivery/Delivery.ts"
import { oneTimeCode, opening } from "../../src/delivery/Message.ts"
import { masked } from "../../src/domain/values/Masked.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { SentMessages } from "../../src/store/message/SentMessages.ts"
import { StoppedAddresses } from "../../src/store/message/StoppedAddresses.ts"
import { mailServer } from "./mailServer.ts"

const tenant = { organizationId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a", mode: "live" } as const
const message = (channel: "email" | "phone", to: string, code = "123456") =>
  oneTimeCode({ tenant, channel, to, code, minutes: 10 })

const logged: Array<string> = []
const log = Logger.layer([Logger.map(Logger.formatJson, (line) => void logged.push(line))])

const stoppedAddress = "stopped@example.com"
const remembered: Array<string> = []

/** The stores of messages, in memory. */
const stores = Layer.merge(
  Layer.succeed(SentMessages, {
    record: ({ channel, purpose }, id, status) =>
      Effect.sync(() => void remembered.push(`${channel} ${purpose} ${id} ${status}`)),
    report: () => Effect.succeed(false),
    find: () => Effect.die("not read"),
    list: () => Effect.die("not read")
  }),
  Layer.succeed(StoppedAddresses, {
    isStopped: (_, __, address) => Effect.succeed(address === stoppedAddress),
    stop: () => Effect.void,
    allow: () => Effect.void,
    find: () => Effect.die("not read"),
    list: () => Effect.die("not read"),
    lift: () => Effect.die("not read")
  })
)

/** Runs `use` with a delivery service. It has sent all messages when the effect ends. */
const delivering = <A, E>(
  settings: Parameters<typeof Settings.layerTest>[0],
  use: (delivery: Delivery["Service"]) => Effect.Effect<A, E>
) =>
  Effect.flatMap(Delivery, use).pipe(
    Effect.provide(Delivery.layerNoStore.pipe(Layer.provide(Settings.layerTest(settings)), Layer.provide(log))),
    Effect.provide(stores),
    Effect.provide(log)
  )

const until = (holds: () => boolean) =>
  Effect.sync(holds).pipe(
    Effect.repeat({ until: (found) => found, schedule: Schedule.spaced("5 millis") }),
    Effect.timeout("20 minutes")
  )

const smtp = (port: number, from = "Sneaker House <no-reply@example.com>") => ({
  smtpUrl: Option.some(Redacted.make(`smtp://127.0.0.1:${port}`)),
  emailFrom: from
})

interface Posted {
  readonly url: string | undefined
  readonly authorization: string | undefined
  readonly form: { readonly [name: string]: string }
}

/** An SMS provider that returns the given statuses one after the other, and repeats the last. */
const smsProvider = (statuses: ReadonlyArray<number>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const posted: Array<Posted> = []
      const server = createServer((request, response) => {
        let body = ""
        request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
        request.on("end", () => {
          const { authorization } = request.headers
          posted.push({ url: request.url, authorization, form: Object.fromEntries(new URLSearchParams(body)) })
          const status = statuses[Math.min(posted.length, statuses.length) - 1]!
          response.writeHead(status, { location: "/elsewhere" }).end('{"sid":"SM1","status":"queued"}')
        })
      })
      await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
      return { server, posted, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
    }),
    ({ server }) => Effect.sync(() => server.close().closeAllConnections())
  )

const sms = (url: string) => ({
  smsProviderUrl: Option.some(Redacted.make(url)),
  smsAccount: "AC1",
  smsToken: Option.some(Redacted.make("canary-token")),
  smsFrom: "+12025550100"
})

describe("Delivery of email", () => {
  it.live("sends the code to the address, from the configured sender", () =>
    Effect.gen(function* () {
      const { port, mails } = yield* mailServer()
      yield* delivering(smtp(port), ({ send }) => send(message("email", "ann@example.com")))
      assert.strictEqual(mails.length, 1)
      const { from, to, text } = mails[0]!
      assert.deepStrictEqual([from, to], ["no-reply@example.com", ["ann@example.com"]])
      assert.match(text, /^From: Sneaker House <no-reply@example.com>/m)
      assert.match(text, /^Subject: 123456 is your code/m)
      assert.match(text, /valid for 10 minutes/)
    })
  )

  it.live("does not delay the caller, and delivers all of many messages", () =>
    Effect.gen(function* () {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const { port, mails } = yield* mailServer({ released })
      yield* delivering(smtp(port), ({ send }) =>
        Effect.gen(function* () {
          for (let index = 0; index < 40; index++) yield* send(message("email", `consumer-${index}@example.com`))
          assert.isEmpty(mails)
          release()
          yield* until(() => mails.length === 40)
        })
      )
      assert.strictEqual(new Set(mails.map(({ to }) => to[0])).size, 40)
    })
  )

  it.live("uses the same Message-ID for each try of a message with an id", () =>
    Effect.gen(function* () {
      const { port, mails } = yield* mailServer()
      const named = opening({
        tenant,
        id: "list.ada",
        channel: "email",
        to: "ada@example.com",
        consumerId: "ada",
        experience: "A\n drop"
      })
      yield* delivering(smtp(port), ({ deliver, send }) =>
        Effect.gen(function* () {
          assert.strictEqual(yield* deliver(named), "delivered")
          assert.strictEqual(yield* deliver(named), "delivered")
          yield* send(message("email", "ann@example.com"))
        })
      )
      const ids = mails.map(({ text }) => /^Message-ID: (.*?)\r?$/m.exec(text)![1])
      assert.deepStrictEqual(ids.slice(0, 2), ["<list.ada@example.com>", "<list.ada@example.com>"])
      assert.notInclude(ids[2], "list.ada")
      assert.match(mails[0]!.text, /^Subject: A drop is open\r?$/m)
    })
  )

  it.live("sends nothing to a stopped address, and says so only to a caller that waits", () =>
    Effect.gen(function* () {
      logged.length = 0
      const { port, mails } = yield* mailServer()
      yield* delivering(smtp(port), ({ deliver, send }) =>
        Effect.gen(function* () {
          assert.isTrue(yield* send(message("email", stoppedAddress)))
          assert.strictEqual(yield* deliver(message("email", stoppedAddress)), "undeliverable")
          assert.strictEqual(yield* deliver(message("email", "ann@example.com")), "delivered")
        })
      )
      assert.deepStrictEqual(
        mails.map(({ to }) => to),
        [["ann@example.com"]]
      )
      assert.notMatch(logged.join("\n"), /could not be delivered/)
    })
  )

  it.live("remembers the Message-ID", () =>
    Effect.gen(function* () {
      remembered.length = 0
      const { port, mails } = yield* mailServer()
      yield* delivering(smtp(port), ({ deliver }) => deliver(message("email", "ann@example.com")))
      const [, id] = /^Message-ID: (.*?)\r?$/m.exec(mails[0]!.text)!
      assert.deepStrictEqual(remembered, [`email CODE ${id} SENT`])
    })
  )

  it.live("sends plain text and HTML if a message has both", () =>
    Effect.gen(function* () {
      const { port, mails } = yield* mailServer()
      const both = { ...message("email", "ann@example.com"), html: "<h1>Hello</h1>" }
      yield* delivering(smtp(port), ({ deliver }) => deliver(both))
      assert.match(mails[0]!.text, /multipart\/alternative[^]*text\/plain[^]*123456[^]*text\/html[^]*<h1>Hello<\/h1>/)
    })
  )

  it.live("returns the outcome to a caller that waits", () =>
    Effect.gen(function* () {
      const { port, mails } = yield* mailServer({ refusals: [550, 451] })
      const ann = message("email", "ann@example.com")
      yield* delivering(smtp(port), ({ deliver }) =>
        Effect.gen(function* () {
          assert.strictEqual(yield* deliver(ann), "undeliverable")
          assert.strictEqual(yield* deliver(ann), "delivered")
        })
      )
      assert.lengthOf(mails, 1)
      yield* delivering(smtp(1), ({ deliver }) =>
        Effect.gen(function* () {
          assert.strictEqual(yield* deliver(ann), "failed")
        })
      )
      yield* delivering({}, ({ deliver, outbox }) =>
        Effect.gen(function* () {
          assert.strictEqual(yield* deliver(ann), "delivered")
          assert.lengthOf(outbox!(tenant, undefined), 1)
        })
      )
    })
  )

  it.live("retries when the server is busy", () =>
    Effect.gen(function* () {
      const { port, mails } = yield* mailServer({ refusals: [451, 421] })
      yield* delivering(smtp(port), ({ send }) =>
        Effect.andThen(
          send(message("email", "ann@example.com")),
          until(() => mails.length === 1)
        )
      )
    })
  )

  it.live("logs a refused message, without the code and the whole address", () =>
    Effect.gen(function* () {
      logged.length = 0
      const { port, mails } = yield* mailServer({ refusals: Array.from({ length: 10 }, () => 550) })
      yield* delivering(smtp(port), ({ send }) =>
        Effect.andThen(
          send(message("email", "ann@example.com", "918273")),
          until(() => logged.some((line) => line.includes("could not be delivered")))
        )
      )
      assert.strictEqual(mails.length, 0)
      assert.match(logged.join("\n"), /550/)
      assert.notMatch(logged.join("\n"), /918273|ann@/)
    })
  )

  it.live("logs messages to an unreachable server, at shutdown at the latest", () =>
    Effect.gen(function* () {
      logged.length = 0
      yield* delivering(smtp(1), ({ send }) => send(message("email", "ann@example.com", "918273")))
      assert.match(logged.join("\n"), /could not be delivered|were not sent before shutdown/)
      assert.notMatch(logged.join("\n"), /918273|ann@/)
    })
  )

  it.live("sends a password only over TLS, unless the server is on this machine", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const options: SMTPServerOptions = {
        hideSTARTTLS: true,
        allowInsecureAuth: true,
        onAuth: ({ password }, _session, done) => {
          seen.push(password ?? "")
          done(null, { user: "usher" })
        }
      }
      const server = new SMTPServer(options)
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => server.close())
      )
      const { port } = server.server.address() as AddressInfo
      const url = (host: string) => ({
        smtpUrl: Option.some(Redacted.make(`smtp://usher:secret@${host}:${port}`)),
        emailFrom: "a@example.com"
      })
      yield* delivering(url("127.0.0.1"), ({ send }) => send(message("email", "ann@example.com")))
      assert.deepStrictEqual(seen, ["secret"])
      // The same server under a host name that is not loopback.
      yield* delivering(url("0.0.0.0"), ({ send }) => send(message("email", "ann@example.com")))
      assert.deepStrictEqual(seen, ["secret"])
    })
  )
})

describe("Delivery of SMS", () => {
  it.live("posts a form to the account's messages", () =>
    Effect.gen(function* () {
      const { posted, url } = yield* smsProvider([201])
      yield* delivering(sms(url), ({ send }) => send(message("phone", "+4915112345678")))
      assert.deepStrictEqual(posted, [
        {
          url: "/2010-04-01/Accounts/AC1/Messages.json",
          authorization: `Basic ${Buffer.from("AC1:canary-token").toString("base64")}`,
          form: {
            To: "+4915112345678",
            From: "+12025550100",
            Body: "123456 is your code to sign in, valid for 10 minutes."
          }
        }
      ])
    })
  )

  it.live("remembers the id that the provider gives the message", () =>
    Effect.gen(function* () {
      remembered.length = 0
      const { url } = yield* smsProvider([201])
      yield* delivering(sms(url), ({ deliver }) => deliver(message("phone", "+4915112345678")))
      assert.deepStrictEqual(remembered, ["phone CODE SM1 SENT"])
    })
  )

  it.live("retries when the provider is busy, not after a refusal, and does not follow redirects", () =>
    Effect.gen(function* () {
      logged.length = 0
      remembered.length = 0
      const busy = yield* smsProvider([503, 429, 201])
      yield* delivering(sms(busy.url), ({ send }) =>
        Effect.andThen(
          send(message("phone", "+4915112345678")),
          until(() => busy.posted.length === 3)
        )
      )
      assert.deepStrictEqual(
        logged.filter((line) => line.includes("could not")),
        []
      )
      assert.deepStrictEqual(remembered, ["phone CODE SM1 SENT"])
      for (const status of [400, 302]) {
        remembered.length = 0
        const no = yield* smsProvider([status])
        yield* delivering(sms(no.url), ({ send }) => send(message("phone", "+4915112345678", "918273")))
        assert.strictEqual(no.posted.length, 1)
        assert.deepStrictEqual(remembered, ["phone CODE undefined FAILED"])
      }
      assert.strictEqual(logged.filter((line) => line.includes("could not be delivered")).length, 2)
      assert.notMatch(logged.join("\n"), /918273|canary|15112345/)
    })
  )
})

describe("The outbox", () => {
  it.live("stores messages of channels without a provider, and logs a warning at start", () =>
    Effect.gen(function* () {
      logged.length = 0
      yield* delivering({}, ({ send, outbox }) =>
        Effect.gen(function* () {
          yield* send(message("email", "ann@example.com", "111111"))
          yield* send(message("phone", "+4915112345678", "222222"))
          yield* until(() => outbox!(tenant, undefined).length === 2)
          assert.deepStrictEqual(
            outbox!(tenant, "+4915112345678").map(({ channel, text }) => [channel, text.slice(0, 6)]),
            [["phone", "222222"]]
          )
          assert.deepStrictEqual(outbox!({ ...tenant, mode: "test" }, undefined), [])
        })
      )
      assert.match(logged.join("\n"), /No SMTP_URL is set.*No SMS_PROVIDER_URL is set/)
      assert.notMatch(logged.join("\n"), /111111|222222/)
    })
  )

  it.live("keeps the latest thousand messages, newest first", () =>
    delivering({}, ({ send, outbox }) =>
      Effect.gen(function* () {
        for (let index = 0; index < 1_005; index++) yield* send(message("email", `consumer-${index}@example.com`))
        yield* until(() => outbox!(tenant, undefined).some(({ to }) => to === "consumer-1004@example.com"))
        assert.strictEqual(outbox!(tenant, undefined).length, 1_000)
        assert.strictEqual(outbox!(tenant, "consumer-0@example.com").length, 0)
      })
    )
  )

  it.live("is absent if both channels have a provider", () =>
    Effect.gen(function* () {
      logged.length = 0
      yield* delivering({ ...smtp(1), ...sms("http://127.0.0.1:1") }, ({ outbox }) =>
        Effect.sync(() => assert.isUndefined(outbox))
      )
      assert.deepStrictEqual(logged, [])
    })
  )
})

describe("An address in the log", () => {
  it("is masked: enough to recognize a typing error, too little to contact the consumer", () => {
    assert.strictEqual(masked("ann@example.com"), "a…@example.com")
    assert.strictEqual(masked("+4915112345678"), "+49…78")
  })
})
