/** An experience and its sequences as consumers see them, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../../support/usherFixture.ts"
import { type Answer, asServer, Usher } from "../../support/usherFixture.ts"
import { admin, anAudience, anExperience, aSequence, inExperience, oneOfEach } from "./experienceFixture.ts"

const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const namesIn = (experience: { readonly sequences: ReadonlyArray<{ readonly name: string }> }) =>
  experience.sequences.map(({ name }) => name)

const refused = ({ status, body }: Answer) => [status, body]

describe("An experience on the Consumer API", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("returns every field of an experience, with null or an empty list where nothing is set", () =>
      Effect.gen(function* () {
        const id = yield* anExperience()
        const { get } = yield* inExperience(id)
        const { status, body } = yield* get
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(body, {
          id,
          name: "Drop",
          currencyCode: "USD",
          timeZone: "UTC",
          openAt: null,
          closeAt: null,
          hasProtectedSequences: false,
          i18n: null,
          products: [],
          sequences: [],
          theme: null
        })
      })
    )

    it.effect("shows its sequences by priority, with their mechanisms as their own operations return them", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
        const theme = { primary: "#123456", variant: "rounded" }
        const i18n = { de: { title: "Los" } }
        const experienceId = yield* anExperience({ theme, i18n, timeZone: "Europe/Berlin", currencyCode: "EUR" })
        const low = yield* aSequence(experienceId, { name: "Everyone", productSelectionMode: "USER_SELECTED" })
        yield* aSequence(experienceId, { name: "First", priority: 7 })
        const { id: queueId } = yield* admin("POST", "/queues", {
          sequenceId: low,
          name: "Line",
          admitRate: 60,
          capacity: 1000,
          openAt: "2033-01-01T10:00:00+01:00",
          closeAt: "2033-01-02T00:00:00Z"
        })
        const { get } = yield* inExperience(experienceId)
        const { body } = yield* get
        assert.deepInclude(body, { theme, i18n, timeZone: "Europe/Berlin", currencyCode: "EUR" })
        assert.deepInclude(body, { openAt: "2033-01-01T09:00:00.000Z", closeAt: "2033-01-02T00:00:00.000Z" })
        assert.deepStrictEqual(namesIn(body), ["First", "Everyone"])
        const { queues, ...sequence } = body.sequences[1]
        assert.deepInclude(sequence, {
          id: low,
          experienceId,
          audienceId: null,
          name: "Everyone",
          priority: 0,
          productSelectionMode: "USER_SELECTED",
          waitlist: null
        })
        const headers = { "x-publishable-key": brand.publishableKey }
        const queue = (yield* consumer({ path: `/api/queues/${queueId}`, headers })).body
        assert.deepStrictEqual(queues, [queue])
        assert.strictEqual(queue.lifecycle, "scheduled")
        yield* admin("POST", `/queues/${queueId}/end`)
        const ended = (yield* get).body.sequences[1].queues[0]
        assert.deepInclude(ended, { statusOverride: "ended" })
        assert.match(ended.statusOverrideAt, isoUtc)
      })
    )

    it.effect("shows mechanisms of every kind, each with its own fields, and no secret", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
        const experienceId = yield* anExperience()
        const ids = yield* oneOfEach(yield* aSequence(experienceId))
        const { get } = yield* inExperience(experienceId)
        const { text, body } = yield* get
        const [{ queues, draws, auctions, appointments, timedReleases, waitlist }] = body.sequences
        const read = (group: string) =>
          Effect.map(
            consumer({
              path: `/api/${group}/${ids[group]}`,
              headers: { "x-publishable-key": brand.publishableKey }
            }),
            (answer) => answer.body
          )
        assert.deepStrictEqual(queues, [yield* read("queues")])
        assert.deepStrictEqual(auctions, [yield* read("auctions")])
        assert.deepStrictEqual(appointments, [yield* read("appointments")])
        assert.deepStrictEqual(timedReleases, [yield* read("timed-releases")])
        const open = { supportsGuest: true, lifecycle: "open" }
        assert.deepStrictEqual(waitlist, { id: ids["waitlists"], capacity: 10, ...open })
        assert.lengthOf(draws, 1)
        const published = new Set(["seedCommitment", "entriesDigest", "beaconRound", "drawnAt"])
        const draw = Object.entries(yield* read("draws")).filter(([name]) => !published.has(name))
        assert.deepStrictEqual(draws[0], Object.fromEntries(draw))
        assert.notInclude(text, "4711")
        assert.notInclude(text.toLowerCase(), "seed")
      })
    )

    it.effect("is entered once: repeated entries return the same instant, until the consumer leaves", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const experienceId = yield* anExperience()
        const { get, enter, leave } = yield* inExperience(experienceId)
        const someone = yield* guest()
        assert.deepStrictEqual((yield* leave(someone)).body, { left: false })
        const first = yield* enter(someone)
        assert.strictEqual(first.status, 200)
        const { enteredAt, ...rest } = first.body
        assert.match(enteredAt, isoUtc)
        assert.deepStrictEqual(rest, { experience: (yield* get).body, experienceId })
        for (const body of [undefined, {}, { accessCode: null }, { ignored: true }]) {
          assert.deepStrictEqual((yield* enter(someone, body)).body, first.body)
        }
        assert.deepStrictEqual((yield* leave(someone)).body, { left: true })
        assert.deepStrictEqual((yield* leave(someone)).body, { left: false })
      })
    )

    it.effect("shows a sequence with an audience to its members alone, and its existence to the others", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const [member, other] = [yield* guest(), yield* guest()]
        const experienceId = yield* anExperience()
        const audienceId = yield* anAudience([member])
        yield* aSequence(experienceId, { name: "Friends", priority: 1, audienceId })
        yield* aSequence(experienceId, { name: "Everyone" })
        const { get, enter } = yield* inExperience(experienceId)
        const anyone = (yield* get).body
        assert.deepStrictEqual([namesIn(anyone), anyone.hasProtectedSequences], [["Everyone"], true])
        assert.deepStrictEqual((yield* enter(other)).body.experience, anyone)
        const { experience } = (yield* enter(member)).body
        assert.deepStrictEqual(namesIn(experience), ["Friends", "Everyone"])
        assert.strictEqual(experience.sequences[0].audienceId, audienceId)
        yield* admin("DELETE", `/audiences/${audienceId}/members`, { consumerIds: [member.consumerId] })
        assert.deepStrictEqual((yield* enter(member)).body.experience, anyone)
      })
    )

    it.effect("opens a sequence to a consumer that sends its access code, from then on, also after it left", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const someone = yield* guest()
        const experienceId = yield* anExperience()
        const sequenceId = yield* aSequence(experienceId, { name: "Secret", accessCode: "open sesame" })
        const { get, enter, leave } = yield* inExperience(experienceId)
        const hidden = (yield* get).body
        assert.deepStrictEqual([namesIn(hidden), hidden.hasProtectedSequences], [[], true])
        for (const accessCode of ["open", "Open Sesame", "open sesame!"]) {
          const answer = yield* enter(someone, { accessCode })
          assert.deepStrictEqual(refused(answer), [403, { error: "The access code opens nothing here" }])
        }
        // A consumer that sends a wrong code has not entered.
        assert.deepStrictEqual((yield* leave(someone)).body, { left: false })
        const opened = yield* enter(someone, { accessCode: "\u00a0open sesame " })
        assert.deepStrictEqual(namesIn(opened.body.experience), ["Secret"])
        assert.notInclude(opened.text, "sesame")
        assert.deepStrictEqual(namesIn((yield* enter(someone)).body.experience), ["Secret"])
        yield* leave(someone)
        yield* admin("PUT", `/sequences/${sequenceId}`, { accessCode: "another" })
        assert.deepStrictEqual(namesIn((yield* enter(someone)).body.experience), ["Secret"])
        assert.deepStrictEqual(namesIn((yield* get).body), [])
      })
    )

    it.effect("refuses a malformed code without repeating it", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { enter } = yield* inExperience(yield* anExperience())
        const someone = yield* guest()
        const { consumer, brand } = yield* Usher
        const malformed = yield* consumer({
          method: "POST",
          path: "/api/experiences/x/enter",
          headers: Fixture.asConsumer(brand.publishableKey, someone.accessToken)
        })
        assert.deepStrictEqual(
          malformed.body.issues.map(({ type }: { readonly type: string }) => type),
          ["uuid"]
        )
        const long = `sesame${"e".repeat(200)}`
        for (const [body, type] of [
          [{ accessCode: "" }, "min_length"],
          [{ accessCode: long }, "max_length"],
          [{ accessCode: ["sesame"] }, "string"],
          ["[]", "object"],
          ["{", "json"]
        ] as const) {
          const answer = yield* enter(someone, body)
          assert.strictEqual(answer.status, 400, answer.text)
          assert.strictEqual(answer.body.issues[0].type, type)
          assert.notInclude(answer.text, "sesame")
        }
      })
    )

    it.effect("is not found by another organization, in another mode, when it is archived, or when it is unknown", () =>
      Effect.gen(function* () {
        const { consumer, guest, brand, stranger } = yield* Usher
        const experienceId = yield* anExperience({ accessCode: null })
        yield* aSequence(experienceId, { accessCode: "opening" })
        const archived = yield* anExperience()
        yield* admin("DELETE", `/experiences/${archived}`)
        const own = yield* guest()
        const foreign = yield* guest(stranger.publishableKey)
        const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
        const body = { accessCode: "opening" }
        const asked = Effect.fnUntraced(function* (id: string, secretKey: string, consumerId: string) {
          const headers = asServer(secretKey, consumerId)
          const path = `/api/experiences/${id}`
          for (const call of [
            { path, headers },
            { method: "POST", path: `${path}/enter`, headers },
            { method: "POST", path: `${path}/enter`, headers, body },
            { method: "DELETE", path: `${path}/leave`, headers }
          ]) {
            const answer = yield* consumer(call)
            assert.deepStrictEqual(refused(answer), [404, { error: "Experience not found" }])
          }
        })
        yield* asked(archived, brand.secretKey, own.consumerId)
        yield* asked(unknown, brand.secretKey, own.consumerId)
        yield* asked(experienceId, stranger.secretKey, foreign.consumerId)
        const inTest = yield* guest(brand.testPublishableKey)
        yield* asked(experienceId, brand.testSecretKey, inTest.consumerId)
      })
    )
  })
})
