import { assert, describe, it } from "@effect/vitest"
import twilio from "twilio"
import { rejected } from "../../../src/domain/receiver/Adapter.ts"
import { meaningOf, receive } from "../../../src/domain/receiver/Twilio.ts"
import { now, requestOf, twilioRequest, twilioToken as secret } from "./vectors.ts"

const fields = { MessageSid: "SM1", MessageStatus: "delivered", To: "+49301234567", AccountSid: "AC1" }
const idOf = (request: ReturnType<typeof twilioRequest>) => {
  const outcome = receive(request, secret, now)
  return outcome._tag === "Received" ? outcome.events.map(({ id }) => id) : outcome.reason
}

describe("A request of Twilio", () => {
  it("is accepted if Twilio's library has signed it, as that library accepts it", () => {
    const request = twilioRequest(fields)
    const body = new URLSearchParams(fields).toString()
    assert.deepStrictEqual(receive(request, secret, now), {
      _tag: "Received",
      events: [{ id: "SM1.delivered", type: "message.delivered", at: now, body }]
    })
    assert.isTrue(twilio.validateRequest(secret, request.headers["x-twilio-signature"]!, request.url, fields))
  })

  it("has the signature of the example in Twilio's documentation", () => {
    const example = {
      CallSid: "CA1234567890ABCDE",
      Caller: "+14158675309",
      Digits: "1234",
      From: "+14158675309",
      To: "+18005551212"
    }
    const url = "https://mycompany.com/myapp.php?foo=1&bar=2"
    const signature = "RSOYDt4T1cUTdK1PDd93/VVr8B8="
    assert.strictEqual(twilio.getExpectedTwilioSignature("12345", url, example), signature)
    const request = requestOf({ "x-twilio-signature": signature }, new URLSearchParams(example).toString(), url)
    // The signature fits. A call is no message.
    assert.deepStrictEqual(receive(request, "12345", now), rejected("MALFORMED"))
    assert.deepStrictEqual(receive(request, "12346", now), rejected("WRONG_SIGNATURE"))
  })

  it("is accepted whatever the order of its fields, with repeated, empty and foreign ones", () => {
    const reversed = Object.fromEntries(Object.entries(fields).toReversed())
    const more = { ...reversed, b: "", ä: "ö ü+&=", a: ["2", "1", "2"], B: "x" }
    for (const one of [reversed, more]) assert.deepStrictEqual(idOf(twilioRequest(one)), ["SM1.delivered"])
  })

  it("is accepted if it is signed with or without the port", () => {
    const [with443, without] = ["https://drop.example.com:443/hooks/1?a=b", "https://drop.example.com/hooks/1?a=b"]
    for (const [signedUrl, calledUrl] of [
      [with443, without],
      [without, with443],
      ["https://drop.example.com/hooks/1?a=b", "https://drop.example.com:8443/hooks/1?a=b"]
    ] as const) {
      assert.deepStrictEqual(idOf(twilioRequest(fields, { signedUrl, calledUrl })), ["SM1.delivered"])
    }
  })

  it("is refused with a wrong token, an altered field, another URL, and without signature", () => {
    const request = twilioRequest(fields)
    const altered = requestOf(request.headers, new URLSearchParams({ ...fields, To: "+1" }).toString())
    const elsewhere = twilioRequest(fields, { signedUrl: "https://drop.example.com/hooks/other" })
    for (const one of [twilioRequest(fields, { token: "another" }), altered, elsewhere]) {
      assert.strictEqual(idOf(one), "WRONG_SIGNATURE")
    }
    assert.strictEqual(idOf(requestOf({}, "a=b")), "MISSING_SIGNATURE")
  })

  it("is malformed without a message, or with too many fields", () => {
    assert.strictEqual(idOf(twilioRequest({ CallSid: "CA1" })), "MALFORMED")
    assert.strictEqual(idOf(twilioRequest({ ...fields, MessageSid: "SM 1" })), "MALFORMED")
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`field${n}`, "x"]))
    assert.strictEqual(idOf(twilioRequest({ ...fields, ...many })), "MALFORMED")
  })
})

describe("An event of Twilio", () => {
  const said = (message: { readonly [name: string]: string }) =>
    meaningOf("message.received", new URLSearchParams({ From: "+49301234567", ...message }).toString())

  it("reports the outcome of a message", () => {
    const body = new URLSearchParams(fields).toString()
    for (const [status, reported] of [
      ["delivered", "DELIVERED"],
      ["read", "READ"],
      ["failed", "FAILED"],
      ["undelivered", "FAILED"]
    ]) {
      assert.deepStrictEqual(meaningOf(`message.${status}`, body), {
        _tag: "MessageReported",
        channel: "phone",
        messageIds: ["SM1"],
        status: reported,
        stopped: []
      } as never)
    }
    assert.deepStrictEqual(meaningOf("message.queued", body), { _tag: "Nothing" })
  })

  it("of a consumer that answers STOP opts its number out, and START in again", () => {
    const out = { _tag: "OptedOut", channel: "phone", address: "+49301234567" } as const
    for (const Body of ["STOP", " stop ", "Unsubscribe"]) assert.deepStrictEqual(said({ Body }), out)
    assert.deepStrictEqual(said({ Body: "Arrêt", OptOutType: "STOP" }), out)
    assert.deepStrictEqual(said({ Body: "start" }), { ...out, _tag: "OptedIn" })
    assert.deepStrictEqual(said({ Body: "please stop it" }), { _tag: "Nothing" })
    assert.deepStrictEqual(said({ Body: "STOP", From: "whatsapp:+1" }), { _tag: "Nothing" })
  })
})
