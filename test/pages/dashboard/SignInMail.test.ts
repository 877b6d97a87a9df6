/** The mail with which a person signs in at the dashboard: no organization reads, stops or loses it. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted, Schedule } from "effect"
import { PgClient } from "@effect/sql-pg"
import { randomUUID } from "node:crypto"
import { mailServer } from "../../delivery/mailServer.ts"
import { asServer, layer as development, layerWith, Usher } from "../../http/support/usherFixture.ts"
import { operator } from "../support/operatorFixture.ts"

class Mails extends Context.Service<Mails, Effect.Success<ReturnType<typeof mailServer>>>()("test/Mails") {}

const withMail = Layer.unwrap(
  Effect.map(Mails, ({ port }) =>
    layerWith({ smtpUrl: Option.some(Redacted.make(`smtp://127.0.0.1:${port}`)), emailFrom: "no-reply@example.com" })
  )
).pipe(Layer.provideMerge(Layer.effect(Mails)(mailServer())))

/** Who invites an address, in this order, and whose list of stopped addresses has it. */
const invitations = [
  { by: ["stranger"], stopped: ["stranger"] },
  { by: ["stranger", "brand"], stopped: ["stranger"] },
  { by: ["brand", "stranger"], stopped: ["brand"] },
  { by: ["strangerTest", "brand"], stopped: ["strangerTest", "brand"] },
  { by: ["stranger", "strangerTest", "brand"], stopped: ["stranger", "strangerTest", "brand"] }
] as const

const keysOf = Effect.map(Usher, ({ brand, stranger }) => ({
  brand: { key: brand.secretKey, organizationId: brand.organizationId, mode: "live" },
  stranger: { key: stranger.secretKey, organizationId: stranger.organizationId, mode: "live" },
  strangerTest: { key: stranger.testSecretKey, organizationId: stranger.organizationId, mode: "test" }
}))

const call = Effect.fnUntraced(function* (method: string, path: string, key: string, body?: object) {
  const { admin } = yield* Usher
  return (yield* admin({ method, path: `/api${path}`, headers: asServer(key), body })).body
})

layer(withMail, { excludeTestServices: true })("The mail with a person's code", (it) => {
  for (const [index, { by, stopped }] of invitations.entries()) {
    const email = `ada-${index}@example.com`
    it.effect(`arrives for an address of ${by.join(", ")} that ${stopped.join(", ")} stopped`, () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const { mails } = yield* Mails
        const organizations = yield* keysOf
        for (const name of stopped) {
          const { key, organizationId, mode } = organizations[name]
          const { id } = yield* call("POST", "/receivers", key, { adapter: "stripe", secret: "whsec_0123456789" })
          yield* sql`
            insert into stopped_addresses (organization_id, mode, channel, address, reason, receiver_id, stopped_at, id)
            values (${organizationId}, ${mode}, 'email', ${email}, 'BOUNCED', ${id}, now(), ${randomUUID()})`
        }
        for (const name of by) yield* call("POST", "/people", organizations[name].key, { email, role: "viewer" })
        const browser = yield* operator
        const form = yield* browser.get("/dashboard/sign-in")
        const asked = yield* browser.submit(form, "Send me a code", { email })
        const mail = yield* Effect.sync(() =>
          mails.find(({ to, text }) => to[0] === email && /\d{6} is your/.test(text))
        ).pipe(Effect.repeat({ until: (found) => found !== undefined, schedule: Schedule.spaced("10 millis") }))
        // An organization that erases a consumer with the address takes nothing from the person.
        const consumer = yield* call("POST", "/consumers", organizations[by[0]].key, { email })
        yield* call("DELETE", `/consumers/${consumer.id}?erase=true`, organizations[by[0]].key)
        const code = /\b\d{6}\b/.exec(/^Subject: .*$/m.exec(mail!.text)![0])![0]
        assert.strictEqual((yield* browser.submit(asked, "Sign in", { code })).status, 200)
        for (const { key } of Object.values(organizations)) {
          const { data } = yield* call("GET", "/messages", key)
          assert.notInclude(JSON.stringify(data), '"CODE"')
        }
      })
    )
  }
})

layer(development, { excludeTestServices: true })("A person's code in development", (it) => {
  for (const [index, { by }] of invitations.entries()) {
    const email = `bea-${index}@example.com`
    it.effect(`is in ${by.length === 1 ? "the" : "no"} outbox if ${by.join(", ")} invited the address`, () =>
      Effect.gen(function* () {
        const organizations = yield* keysOf
        for (const name of by) yield* call("POST", "/people", organizations[name].key, { email, role: "viewer" })
        const browser = yield* operator
        for (const address of [email, `control-${index}@example.com`]) {
          if (address !== email)
            yield* call("POST", "/people", organizations.brand.key, { email: address, role: "viewer" })
          yield* browser.submit(yield* browser.get("/dashboard/sign-in"), "Send me a code", { email: address })
        }
        const codesOf = (key: string, to: string) =>
          Effect.map(call("GET", `/outbox?to=${to}`, key), ({ data }) =>
            data.filter(({ subject }: { readonly subject: string }) => subject.includes("is your code"))
          )
        // The code that was asked for last is there, so the former is where it belongs.
        yield* Effect.repeat(codesOf(organizations.brand.key, `control-${index}@example.com`), {
          until: ({ length }) => length === 1,
          schedule: Schedule.spaced("10 millis")
        })
        for (const [name, { key }] of Object.entries(organizations))
          assert.lengthOf(yield* codesOf(key, email), by.length === 1 && name === by[0] ? 1 : 0, name)
      })
    )
  }
})
