/** One mailbox and one code, however they are typed. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { asServer, layer as usher, Usher } from "../../support/usherFixture.ts"

const post = Effect.fnUntraced(function* (path: string, body: object) {
  const { consumer, brand } = yield* Usher
  return yield* consumer({
    method: "POST",
    path: `/api/auth/otp/${path}`,
    headers: { "x-publishable-key": brand.publishableKey },
    body
  })
})

/** Returns the code in the newest of so many messages to the address. */
const sentCode = Effect.fnUntraced(function* (to: string, messages: number) {
  const { admin, brand } = yield* Usher
  const read = admin({ path: `/api/outbox?to=${encodeURIComponent(to)}`, headers: asServer(brand.secretKey) })
  const { body } = yield* Effect.repeat(read, {
    until: ({ body }) => body.data.length === messages,
    schedule: Schedule.spaced("5 millis")
  })
  return /\d{6}/.exec(body.data[0].text)![0]
})

const arabic = (code: string) => code.replaceAll(/\d/g, (digit) => "٠١٢٣٤٥٦٧٨٩"[Number(digit)]!)

layer(usher, { excludeTestServices: true })("A consumer", (it) => {
  it.effect("signs in with every spelling of its address and of its code", () =>
    Effect.gen(function* () {
      const typed: ReadonlyArray<readonly [email: string, code: (sent: string) => string]> = [
        ["nina@xn--bcher-kva.example", (sent) => ` ${sent}\u00a0`],
        ["NINA@bu\u0308cher.example", arabic],
        ["ｎｉｎａ＠ｂüｃｈｅｒ。example", (sent) => `\u2066${arabic(sent)}\u2069`],
        ["nina@bücher.example", (sent) => sent.split("").join("\u3000")]
      ]
      const consumers = yield* Effect.forEach(typed, ([email, spelt], index) =>
        Effect.gen(function* () {
          const { requestId } = (yield* post("request", { email })).body
          const code = spelt(yield* sentCode("nina@XN--bcher-kva.example", index + 1))
          const { status, body } = yield* post("verify", { email, code, requestId })
          assert.strictEqual(status, 200, email)
          assert.strictEqual(body.session.email, "nina@bücher.example")
          return body.session.consumerId
        })
      )
      assert.strictEqual(new Set(consumers).size, 1)
    })
  )
})
