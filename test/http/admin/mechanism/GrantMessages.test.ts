/** Messages about grants, over both APIs: which consumers get them, when, and with which text. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Organizations } from "../../../../src/auth/keys/Organizations.ts"
import * as Worker from "../../../../src/workers/GrantMessages.ts"
import { GrantMessages } from "../../../../src/store/message/GrantMessages.ts"
import { Leases } from "../../../../src/store/coordination/Leases.ts"
import { asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { email, sms } from "../../../domain/experience/creative/documents.ts"
import { eventually } from "../adminFixture.ts"

const soon = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

/** A message as the outbox shows it. */
interface Told {
  readonly channel: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
}

const consumers = {
  ada: { email: "ada@example.com", phone: "+4915112345601", fullName: "Ada <Byron>" },
  bob: { phone: "+4915112345602" },
  cleo: { fullName: "Cleo" },
  dan: { email: "dan@example.com" },
  eve: { email: "eve@example.com" }
}

/** The worker's rounds, which a test runs itself. */
class Rounds extends Context.Service<Rounds, { readonly round: Effect.Effect<boolean> }>()("usher/test/Rounds") {}

/** Creates an organization with an experience, and returns its operations and its messages. */
const anOrganization = Effect.fnUntraced(function* (mode: "live" | "test" = "live") {
  const { admin, consumer } = yield* Usher
  const keys = yield* (yield* Organizations).create({ name: "Brand", plan: "enterprise" })
  const key = mode === "live" ? keys.secretKey : keys.testSecretKey
  const { round } = yield* Rounds

  const call = (method: string, path: string, body?: object, secretKey = key) =>
    Effect.map(admin({ method, path: `/api${path}`, headers: asServer(secretKey), body }), (answer) => {
      if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`)
      return answer.body
    })
  const { id: experienceId } = yield* call("POST", "/experiences", { name: "Sneaker drop", currencyCode: "EUR" })
  const { id: sequenceId } = yield* call("POST", "/sequences", { experienceId, name: "Sale" })

  return {
    call,
    experienceId,
    set: (grantMessages: unknown) => call("PUT", "/organizations/me", { grantMessages }, keys.secretKey),
    aConsumer: (name: keyof typeof consumers) =>
      Effect.map(call("POST", "/consumers", consumers[name]), ({ id }) => id as string),
    aMechanism: (group: string, settings: object) =>
      Effect.map(call("POST", `/${group}`, { name: "Main", sequenceId, ...settings }), ({ id }) => id as string),
    aPage: (creativeDocument: object, more: object = {}) =>
      call("POST", "/experience-pages", {
        experienceId,
        title: "Page",
        slug: `page-${Math.random()}`,
        status: "PUBLISHED",
        creativeDocument,
        ...more
      }),
    /** The requests of a consumer, or of its organization's server. */
    act: (path: string, body?: object, consumerId?: string) =>
      Effect.map(
        consumer({ method: "POST", path: `/api${path}`, headers: asServer(key, consumerId), body }),
        (answer) => {
          if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`)
          return answer.body
        }
      ),
    status: (path: string, consumerId: string) =>
      Effect.map(consumer({ path: `/api${path}`, headers: asServer(key, consumerId) }), ({ body }) => body),
    /** Returns all messages once there is nothing more to send. Those of one round are in any order. */
    told: Effect.gen(function* () {
      yield* Effect.repeat(round, { while: (isMore) => isMore })
      return ((yield* call("GET", "/outbox")).data as ReadonlyArray<Told>).toReversed()
    })
  }
})

type Organization = Effect.Success<ReturnType<typeof anOrganization>>

/** Enters these consumers into a queue, admits them, and returns the queue's id. */
const admitted = Effect.fnUntraced(function* (
  { aMechanism, aConsumer, act }: Organization,
  names: ReadonlyArray<keyof typeof consumers>,
  settings: object = {}
) {
  const queueId = yield* aMechanism("queues", { admitRate: 0, ...settings })
  const ids = yield* Effect.forEach(names, aConsumer)
  for (const consumerId of ids) {
    yield* act(`/queues/${queueId}/enter`, undefined, consumerId)
    yield* act(`/queues/${queueId}/admit`, { consumerId })
  }
  return { queueId, ids }
})

const addresses = (told: ReadonlyArray<Told>) => told.map(({ to }) => to)

const services = Layer.effect(
  Rounds,
  Effect.map(Worker.make, (round) => ({ round: Effect.orDie(round) }))
).pipe(Layer.provide(Layer.merge(GrantMessages.layer, Leases.layer)), Layer.provideMerge(Fixture.layer))

describe("Messages about grants", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("are off by default, and once turned on reach each consumer that a queue admits from then on, once", () =>
      Effect.gen(function* () {
        const organization = yield* anOrganization()
        const { call, set, told, aConsumer, act } = organization
        assert.isNull((yield* call("GET", "/organizations/me")).grantMessages)
        const { queueId } = yield* admitted(organization, ["ada"])
        assert.deepStrictEqual(yield* told, [])
        assert.strictEqual((yield* set("email")).grantMessages, "email")
        assert.deepStrictEqual(yield* told, [])

        const consumerId = yield* aConsumer("dan")
        yield* act(`/queues/${queueId}/enter`, undefined, consumerId)
        assert.deepStrictEqual(yield* told, [])
        yield* act(`/queues/${queueId}/admit`, { consumerId })
        const [message] = yield* told
        assert.deepInclude(message, {
          channel: "email",
          to: "dan@example.com",
          subject: "It is your turn: Sneaker drop",
          text: "It is your turn: Sneaker drop. Go on where you entered.\n"
        })
        assert.notProperty(message, "html")
        assert.lengthOf(yield* told, 1)

        // A mechanism that did not exist when the messages were turned on.
        yield* admitted(organization, ["eve"], { admissionExpirationSeconds: 600 })
        const [, second, ...more] = yield* told
        assert.deepStrictEqual([second!.to, more], ["eve@example.com", []])
        assert.match(second!.text, /^It is your turn: Sneaker drop\. You have until \w+ \d+, \d{4} at .* UTC\. Go on/)
      })
    )

    it.effect("go by email, by SMS, or by either, as configured, and only to consumers with such an address", () =>
      Effect.gen(function* () {
        const everyone = ["ada", "bob", "cleo"] as const
        for (const [setting, expected] of [
          ["email", ["ada@example.com"]],
          ["sms", ["+4915112345601", "+4915112345602"]],
          ["email_or_sms", ["ada@example.com", "+4915112345602"]]
        ] as const) {
          const organization = yield* anOrganization()
          yield* organization.set(setting)
          yield* admitted(organization, everyone)
          const told = yield* organization.told
          assert.sameMembers(addresses(told), [...expected])
          const text = told.find(({ channel }) => channel === "phone")?.text
          if (text !== undefined) assert.strictEqual(text, "It is your turn: Sneaker drop. Go on where you entered.")
        }
      })
    )

    it.effect("are sent in test mode too, under the setting of the live key", () =>
      Effect.gen(function* () {
        const organization = yield* anOrganization("test")
        yield* organization.set("email")
        yield* admitted(organization, ["ada"])
        assert.deepStrictEqual(addresses(yield* organization.told), ["ada@example.com"])
      })
    )

    it.effect("stop when they are turned off, and omit the grants of that time when they are turned on again", () =>
      Effect.gen(function* () {
        const organization = yield* anOrganization()
        const { set, told } = organization
        yield* set("email")
        yield* admitted(organization, ["ada"])
        yield* told
        yield* set("off")
        yield* admitted(organization, ["dan"])
        assert.lengthOf(yield* told, 1)
        yield* set("email_or_sms")
        assert.lengthOf(yield* told, 1)
        yield* admitted(organization, ["bob"])
        assert.deepStrictEqual(addresses(yield* told), ["ada@example.com", "+4915112345602"])
        assert.isNull((yield* set(null)).grantMessages)
      })
    )

    it.effect("refuse an invalid setting", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const body = { grantMessages: "on" }
        const refused = yield* admin({
          method: "PUT",
          path: "/api/organizations/me",
          headers: asServer(brand.secretKey),
          body
        })
        assert.deepInclude(refused.body.issues[0], { type: "picklist", received: '"on"' })
      })
    )

    it.effect("do not reach consumers whose grant has already ended, or who are archived", () =>
      Effect.gen(function* () {
        const organization = yield* anOrganization()
        const { act, call, set, status, told } = organization
        yield* set("email_or_sms")
        const { queueId, ids } = yield* admitted(organization, ["ada", "bob", "dan", "eve"])
        yield* act(`/queues/${queueId}/leave`, undefined, ids[0])
        yield* act(`/queues/${queueId}/complete`, { consumerId: ids[1] })
        yield* act(`/queues/${queueId}/deny`, { consumerId: ids[2], reason: "ADMIN_ACTION" })
        yield* call("DELETE", `/consumers/${ids[3]}`)
        const expiring = yield* admitted(organization, ["cleo"], { admissionExpirationSeconds: 1 })
        yield* call("PUT", `/consumers/${expiring.ids[0]}`, { email: "cleo@example.com" })
        yield* eventually(
          status(`/queues/${expiring.queueId}/status`, expiring.ids[0]!),
          (state) => state.status === "DENIED",
          "2 minutes"
        )
        assert.deepStrictEqual(yield* told, [])
      })
    )

    it.effect("reach the winners of a draw or an auction, and omit grants of a consumer's own request", () =>
      Effect.gen(function* () {
        const { aMechanism, aConsumer, act, call, set, status, told } = yield* anOrganization()
        yield* set("email")
        const [ada, dan] = [yield* aConsumer("ada"), yield* aConsumer("dan")]

        const draw = yield* aMechanism("draws", { winnerCount: 1, drawAt: soon(3_600) })
        yield* act(`/draws/${draw}/enter`, undefined, ada)
        yield* call("PUT", `/draws/${draw}`, { closeAt: soon(-1), drawAt: soon(-1) })
        yield* eventually(status(`/draws/${draw}/status`, ada), (state) => state.status === "WON", "2 minutes")

        const auction = yield* aMechanism("auctions", {
          startPrice: "10",
          minBidIncrement: "1",
          settleAt: soon(5),
          admissionExpirationSeconds: 3_600
        })
        yield* act(`/auctions/${auction}/bid`, { amount: "12.50" }, dan)
        yield* eventually(status(`/auctions/${auction}/status`, dan), (state) => state.status === "WON", "2 minutes")

        const dutch = yield* aMechanism("auctions", {
          auctionType: "dutch",
          startPrice: "100",
          floorPrice: "40",
          priceDropAmount: "15",
          priceDropIntervalSeconds: 3_600,
          settleAt: soon(3_600)
        })
        assert.deepInclude(yield* act(`/auctions/${dutch}/bid`, {}, ada), { status: "WON" })
        const release = yield* aMechanism("timed-releases", {})
        assert.deepInclude(yield* act(`/timed-releases/${release}/enter`, undefined, ada), { status: "ENTERED" })

        const messages = yield* told
        assert.sameDeepMembers(
          messages.map(({ to, subject }) => ({ to, subject })),
          [
            { to: "ada@example.com", subject: "You have won: Sneaker drop" },
            { to: "dan@example.com", subject: "You have won: Sneaker drop" }
          ]
        )
        const textTo = (address: string) => messages.find(({ to }) => to === address)!.text
        assert.strictEqual(
          textTo("ada@example.com"),
          "You have won in the draw: Sneaker drop. Go on where you entered.\n"
        )
        assert.match(textTo("dan@example.com"), /^You have won with a bid of 12.50? EUR: Sneaker drop. You have until /)
      })
    )

    it.effect("use the page of the experience that was published last, for each channel", () =>
      Effect.gen(function* () {
        const organization = yield* anOrganization()
        const { aPage, call, experienceId, set, told } = organization
        yield* set("email_or_sms")
        const page = (subjectTemplate: string, more: object = {}) =>
          email([{ type: "p", content: "Dear {{consumerName}}" }], {
            kind: "transactional-email",
            body: {
              subjectTemplate,
              nodes: [
                { type: "p", content: "Dear {{consumerName}}, {{admissionGrant}}" },
                { type: "button", href: "https://shop.example/{{distributionType}}/{{distributionId}}", content: "Buy" }
              ]
            },
            ...more
          })
        yield* aPage(page("Old"))
        const { id } = yield* aPage(page("{{experienceName}} at {{organizationName}}"), { status: "DRAFT" })
        yield* aPage(page("Announced", { kind: "announcement-email" }))
        yield* aPage(sms({ kind: "transactional-sms", body: { textTemplate: "{{distributionName}} is yours" } }))
        const other = yield* call("POST", "/experiences", { name: "Other" })
        yield* aPage(page("Other"), { experienceId: other.id })
        assert.notStrictEqual(other.id, experienceId)

        yield* admitted(organization, ["dan"])
        assert.strictEqual((yield* told)[0]!.subject, "Old")

        yield* call("POST", `/experience-pages/${id}/publish`)
        const { queueId } = yield* admitted(organization, ["ada", "bob"])
        const messages = yield* told
        const [toAda, toBob] = [consumers.ada.email, consumers.bob.phone].map((address) =>
          messages.find(({ to }) => to === address)
        )
        assert.strictEqual(toAda!.subject, "Sneaker drop at Brand")
        assert.strictEqual(toAda!.text, `Dear Ada <Byron>,\n\nBuy: https://shop.example/queue/${queueId}\n`)
        assert.include(toAda!.html!, "<p>Dear Ada &lt;Byron&gt;, </p>")
        assert.deepStrictEqual([toBob!.channel, toBob!.text], ["phone", "Main is yours"])

        yield* call("DELETE", `/experience-pages/${id}`)
        yield* admitted(organization, ["eve"])
        assert.strictEqual((yield* told).at(-1)!.subject, "Old")
      })
    )

    it.effect("use a plain text if the page is too large, and have a subject if its placeholders yield none", () =>
      Effect.gen(function* () {
        const organization = yield* anOrganization()
        const { aPage, set, told } = organization
        yield* set("email")
        const page = (subjectTemplate: string, content: string) =>
          email([], { kind: "transactional-email", body: { subjectTemplate, nodes: [{ type: "p", content }] } })
        yield* aPage(page("{{nothing}}", "Hello"))
        yield* admitted(organization, ["ada"])
        assert.deepInclude((yield* told)[0], { subject: "It is your turn: Sneaker drop", text: "Hello\n" })
        yield* aPage(page("Large", "x".repeat(70_000)))
        yield* admitted(organization, ["dan"])
        assert.deepInclude((yield* told)[1], { subject: "It is your turn: Sneaker drop", text: "Hello\n" })
      })
    )
  })
})
