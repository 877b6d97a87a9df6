/** The keys of a rehearsal that a server runs, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as RehearsalKeys from "../../../src/auth/keys/RehearsalKeys.ts"
import { defaultCrowd } from "../../../src/domain/rehearsal/Crowd.ts"
import { keySeconds, RehearsalJobs } from "../../../src/store/rehearsal/RehearsalJobs.ts"
import { Rehearsals } from "../../../src/store/rehearsal/Rehearsals.ts"
import { movableClock } from "../../support/movableClock.ts"
import { asServer, layer as usher, Usher } from "../support/usherFixture.ts"

const clock = movableClock()

const services = Layer.mergeAll(RehearsalJobs.layer, Rehearsals.layer).pipe(
  Layer.provideMerge(usher),
  Layer.provide(clock.layer)
)

/** After so many seconds every process has forgotten what it remembered. */
const forgotten = clock.putForward((RehearsalKeys.rememberedSeconds + 1) * 1_000)

/** A rehearsal of the brand that a process has claimed, with its keys. */
const claimed = Effect.gen(function* () {
  const { admin, brand } = yield* Usher
  const jobs = yield* RehearsalJobs
  const rehearsals = yield* Rehearsals
  const ask = (key: string, method: string, path: string, body?: object) =>
    admin({ method, path: `/api${path}`, headers: asServer(key), body })
  const experience = (yield* ask(brand.secretKey, "POST", "/experiences", { name: "Drop" })).body
  const tenant = { organizationId: brand.organizationId, mode: "live" } as const
  const wanted = { experienceId: experience.id as string, crowd: defaultCrowd, declared: [], seed: 1 }
  yield* rehearsals.begin(tenant, "test", wanted, clock.now())
  const { keys, hash } = RehearsalKeys.make()
  const job = (yield* jobs.running).find(({ experienceId }) => experienceId === experience.id)!
  assert.isTrue(yield* jobs.claim(job, hash, clock.now()))
  return { ask, jobs, job, keys, experienceId: experience.id as string }
})

const ended = { problem: "It was cancelled." }

describe("The keys of a rehearsal", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("open test mode, only read live mode, and open no dashboard", () =>
      Effect.gen(function* () {
        const { ask, jobs, job, keys, experienceId } = yield* claimed
        const { admin } = yield* Usher
        assert.strictEqual((yield* ask(keys.live, "GET", `/experiences/${experienceId}`)).status, 200)
        assert.strictEqual((yield* ask(keys.live, "POST", "/experiences", { name: "Forged" })).status, 401)
        assert.strictEqual((yield* ask(keys.live, "DELETE", `/experiences/${experienceId}`)).status, 401)
        assert.strictEqual((yield* ask(keys.test, "GET", `/experiences/${experienceId}`)).status, 404)
        const made = yield* ask(keys.test, "POST", "/experiences", { name: "Copy" })
        assert.deepInclude(made.body, { name: "Copy", createdBy: `rehearsal:${job.id}` })
        const signIn = yield* admin({
          method: "POST",
          path: "/dashboard/sign-in",
          headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
          body: `key=${keys.test}`
        })
        assert.notStrictEqual(signIn.status, 303)
        yield* jobs.finish(job, ended, clock.now())
      })
    )

    it.effect("end with the rehearsal", () =>
      Effect.gen(function* () {
        const { ask, jobs, job, keys } = yield* claimed
        assert.strictEqual((yield* ask(keys.test, "GET", "/experiences")).status, 200)
        yield* jobs.finish(job, ended, clock.now())
        yield* forgotten
        for (const key of [keys.test, keys.live]) {
          assert.strictEqual((yield* ask(key, "GET", "/experiences")).status, 401)
        }
      })
    )

    it.effect("end seconds after the process that extended them", () =>
      Effect.gen(function* () {
        const { ask, jobs, job, keys } = yield* claimed
        const reached = { progress: 0.5, now: undefined }
        for (const _ of [1, 2]) {
          yield* clock.putForward((keySeconds - 5) * 1_000)
          assert.isTrue(yield* jobs.beat(job, reached, clock.now()))
        }
        assert.strictEqual((yield* ask(keys.test, "GET", "/experiences")).status, 200)
        yield* clock.putForward(keySeconds * 1_000)
        yield* forgotten
        assert.strictEqual((yield* ask(keys.test, "GET", "/experiences")).status, 401)
        yield* jobs.finish(job, ended, clock.now())
      })
    )
  })
})
