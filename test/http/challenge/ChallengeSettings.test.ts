/** The settings of the gate on both APIs, and the providers of tokens behind it. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Schedule } from "effect"
import { Organizations } from "../../../src/auth/keys/Organizations.ts"
import { Measures } from "../../../src/measures/Measures.ts"
import * as Server from "../../../src/http/server/Server.ts"
import { issuesOf } from "../admin/adminFixture.ts"
import { anotherServer, asConsumer, asServer, layerWith, send, Usher } from "../support/usherFixture.ts"
import { askForGuest, from, settings, solve } from "./challengeFixture.ts"
import { addresses, provider } from "./fakeProvider.ts"

/** Creates an organization, and returns its keys and its settings. */
const anOrganization = Effect.gen(function* () {
  const usher = yield* Usher
  const keys = yield* (yield* Organizations).create({ name: "Brand", plan: "enterprise" })
  const set = (challenge: unknown) =>
    usher.admin({
      method: "PUT",
      path: "/api/organizations/me",
      headers: asServer(keys.secretKey),
      body: { challenge }
    })
  const ask = (solution?: string, address = "198.51.100.1") =>
    askForGuest(usher, address, { key: keys.publishableKey, ...(solution !== undefined && { solution }) })
  return { ...keys, usher, set, ask }
})

layer(Layer.provide(layerWith(settings), addresses), { excludeTestServices: true })("The gate's settings", (it) => {
  it.effect("turn it off and on for an organization, at once and on every server", () =>
    Effect.gen(function* () {
      const { set, ask, publishableKey } = yield* anOrganization
      const { consumerUrl } = Context.get(yield* anotherServer, Server.Listeners)
      const there = () =>
        send(consumerUrl, {
          method: "POST",
          path: "/api/auth/guest",
          headers: { "x-publishable-key": publishableKey }
        })
      assert.strictEqual((yield* there()).status, 200)
      assert.strictEqual((yield* set({ mode: "always" })).status, 200)
      assert.strictEqual((yield* ask()).status, 403)
      assert.strictEqual((yield* there()).status, 403)
      const solution = yield* solve((yield* ask()).body.challenge)
      assert.strictEqual((yield* ask(solution)).status, 200)
      assert.strictEqual((yield* set({ mode: "off" })).status, 200)
      assert.strictEqual((yield* there()).status, 200)
      for (let count = 0; count < 12; count++) assert.strictEqual((yield* ask()).status, 200)
      assert.isNull((yield* set(null)).body.challenge)
    })
  )

  it.effect("of an experience hold for its entries alone", () =>
    Effect.gen(function* () {
      const { usher, secretKey, publishableKey } = yield* anOrganization
      const guest = yield* usher.guest(publishableKey)
      const queueId = yield* usher.queue({}, secretKey)
      const { body: queue } = yield* usher.admin({ path: `/api/queues/${queueId}`, headers: asServer(secretKey) })
      const { body: sequence } = yield* usher.admin({
        path: `/api/sequences/${queue.sequenceId}`,
        headers: asServer(secretKey)
      })
      const path = `/api/experiences/${sequence.experienceId}`
      const change = (challenge: unknown) =>
        usher.admin({ method: "PUT", path, headers: asServer(secretKey), body: { challenge } })
      const enter = (solution?: string) =>
        usher.consumer({
          method: "POST",
          path: `/api/queues/${queueId}/enter`,
          headers: { ...asConsumer(publishableKey, guest.accessToken), ...from("198.51.100.7", solution) }
        })
      const changed = yield* change({ mode: "always" })
      assert.deepStrictEqual(changed.body.challenge, { mode: "always" })
      const asked = yield* enter()
      assert.strictEqual(asked.body.code, "CHALLENGE_REQUIRED")
      assert.strictEqual((yield* askForGuest(usher, "198.51.100.7", { key: publishableKey })).status, 200)
      assert.strictEqual((yield* enter(yield* solve(asked.body.challenge))).body.status, "QUEUED")
      assert.isNull((yield* change(null)).body.challenge)
      assert.strictEqual((yield* enter()).body.status, "QUEUED")
      assert.strictEqual((yield* change({ mode: "sometimes" })).status, 400)
    })
  )

  for (const name of ["turnstile", "hcaptcha"] as const) {
    it.effect(`accept a good token of ${name} once`, () =>
      Effect.gen(function* () {
        const { set, ask } = yield* anOrganization
        yield* set({ mode: "always", provider: name, siteKey: "site", secretKey: "secret" })
        const asked = yield* ask()
        assert.deepStrictEqual(asked.body, {
          error: "Challenge required",
          code: "CHALLENGE_REQUIRED",
          challenge: { provider: name, siteKey: "site" }
        })
        assert.strictEqual((yield* ask("bad")).status, 403)
        assert.strictEqual((yield* ask(`good-${name}`)).status, 200)
        assert.strictEqual((yield* ask(`good-${name}`)).status, 403)
        assert.deepInclude(provider.asked, { secret: "secret", response: `good-${name}`, sitekey: "site" })
      })
    )
  }

  it.effect("fall back to proof of work while the provider is out of reach", () =>
    Effect.gen(function* () {
      const { set, ask } = yield* anOrganization
      yield* set({ mode: "always", provider: "turnstile", siteKey: "site", secretKey: "secret" })
      provider.isOut = true
      const asked = yield* ask("good-later")
      provider.isOut = false
      assert.strictEqual(asked.body.challenge.provider, "proof_of_work")
      const solution = yield* solve(asked.body.challenge)
      assert.strictEqual((yield* ask(solution)).status, 200)
      assert.strictEqual((yield* ask(solution)).status, 403)
    })
  )

  it.effect("keep the provider's challenge however many junk tokens come at once", () =>
    Effect.gen(function* () {
      const { set, ask } = yield* anOrganization
      yield* set({ mode: "always", provider: "turnstile", siteKey: "site", secretKey: "secret" })
      assert.strictEqual((yield* ask("good-first")).status, 200)
      const held: Array<() => void> = []
      provider.held = held
      const before = provider.asked.length
      const junk = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 200 }, (_, index) => `198.51.100.${index % 25}`),
          (address, index) => ask(`junk-${index}`, address),
          { concurrency: "unbounded" }
        )
      )
      yield* Effect.sync(() => provider.asked.length - before).pipe(
        Effect.repeat({ until: (asked) => asked === 64, schedule: Schedule.spaced("10 millis") })
      )
      const owner = yield* Effect.forkChild(ask("good-waiting", "203.0.113.1"))
      provider.held = undefined
      for (const answer of held) answer()
      for (const { status, body } of yield* Fiber.join(junk))
        assert.deepStrictEqual([status, body.challenge.provider], [403, "turnstile"])
      assert.strictEqual((yield* Fiber.join(owner)).status, 200)
      assert.isAtMost(provider.asked.length - before, 202)
    })
  )

  for (const status of [400, 403, 429]) {
    it.effect(`keep the provider's challenge if it answers ${status}`, () =>
      Effect.gen(function* () {
        const { set, ask } = yield* anOrganization
        yield* set({ mode: "always", provider: "hcaptcha", siteKey: "site", secretKey: "secret" })
        provider.status = status
        const asked = yield* ask("good-limited")
        provider.status = 200
        assert.strictEqual(asked.body.challenge.provider, "hcaptcha")
      })
    )
  }

  it.effect("count each fall to proof of work, and leave it to the organization", () =>
    Effect.gen(function* () {
      const { gate } = yield* Measures
      const { set, ask } = yield* anOrganization
      const keys = { mode: "always", provider: "turnstile", siteKey: "site", secretKey: "secret" }
      yield* set(keys)
      provider.isOut = true
      const before = gate.downgrades
      const { body } = yield* ask("good-never")
      assert.strictEqual(gate.downgrades, before + 1)
      const solution = yield* solve(body.challenge)
      const chosen = yield* set({ ...keys, fallback: "none" })
      assert.strictEqual(chosen.body.challenge.fallback, "none")
      for (const status of [500, 502, 503]) {
        provider.status = status
        const asked = yield* ask("good-never")
        assert.deepStrictEqual(asked.body.challenge, { provider: "turnstile", siteKey: "site" })
      }
      // A proof from before the choice does not serve any more.
      assert.strictEqual((yield* ask(solution)).status, 403)
      provider.isOut = false
      provider.status = 200
      assert.strictEqual(gate.downgrades, before + 1)
      assert.strictEqual((yield* ask("good-again")).status, 200)
      assert.strictEqual((yield* set({ ...keys, fallback: "sometimes" })).status, 400)
    })
  )

  it.effect("count a provider that redirects as out of reach, so that no other address gets the secret key", () =>
    Effect.gen(function* () {
      const { set, ask } = yield* anOrganization
      yield* set({ mode: "always", provider: "turnstile", siteKey: "site", secretKey: "secret" })
      provider.redirects = true
      const before = provider.asked.length
      const asked = yield* ask("good-redirected")
      provider.redirects = false
      assert.strictEqual(asked.body.challenge.provider, "proof_of_work")
      assert.lengthOf(provider.asked, before)
    })
  )

  it.effect("never show the secret key, and keep it where it is absent", () =>
    Effect.gen(function* () {
      const { set, ask } = yield* anOrganization
      const without = yield* set({ provider: "turnstile" })
      assert.strictEqual(without.status, 400)
      assert.deepStrictEqual(issuesOf(without), ["challenge.secretKey: string", "challenge.siteKey: string"])
      const first = yield* set({ mode: "always", provider: "turnstile", siteKey: "site", secretKey: "secret" })
      assert.notInclude(first.text, '"secret"')
      assert.deepStrictEqual(first.body.challenge, {
        mode: "always",
        provider: "turnstile",
        siteKey: "site",
        hasSecretKey: true
      })
      assert.strictEqual((yield* set({ mode: "always", provider: "turnstile", siteKey: "other" })).status, 200)
      assert.strictEqual((yield* ask("good-kept")).status, 200)
      assert.strictEqual((yield* set({ mode: "always", provider: "hcaptcha", siteKey: "other" })).status, 400)
    })
  )
})
