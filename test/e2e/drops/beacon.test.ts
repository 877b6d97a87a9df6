/**
 * A beacon draw in real processes on a real database. It survives the death of its process, is drawn once a relay is
 * reachable, and its proof verifies. The draw's time was in August 2023, and its round was signed then.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Option, Result, Schedule } from "effect"
import type { Round } from "../../../src/beacon/Network.ts"
import { verifyBeacon } from "../../../src/beacon/Quicknet.ts"
import * as Draw from "../../../src/domain/draw/Draw.ts"
import { decodeProof } from "../../../src/domain/draw/proof/Proof.ts"
import { verify } from "../../../src/domain/draw/proof/Verification.ts"
import { actorDeciders } from "../../../src/domain/mechanism/Mechanism.ts"
import { creationOf } from "../../../src/engine/lifecycle/Creation.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { codecs } from "../../../src/store/journal/JournalCodec.ts"
import * as JournalSql from "../../../src/store/journal/JournalSql.ts"
import { honest, published, relay } from "../../beacon/relay.ts"
import { organization, serving } from "../../cli/servingProcess.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"

const drawAt = Draw.timeOfRound(1_000) - 1
const entrants = 100
const drawId = "00000000-0000-7000-9000-000000000001"
const consumerId = (n: number) => `00000000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`

const configuration: Draw.Configuration = {
  name: "raffle",
  timeZone: "UTC",
  closeAt: drawAt,
  drawAt,
  supportsGuest: true,
  winnerCount: 10,
  continueSelectingUntilCompleted: false,
  loyaltyBiasEnabled: false,
  loyaltyWeight: 1,
  beacon: "drand"
}

interface Parents {
  readonly organizationId: string
  readonly experienceId: string
  readonly sequenceId: string
}

/** Writes the records of a server that stopped a minute before the drawing. */
const enterDraw = Effect.fnUntraced(
  function* (parents: Parents) {
    const journal = yield* Journal
    const identity = { ...parents, id: drawId, kind: "draw", mode: "live" } as const
    const at = drawAt - 60_000
    const creation = creationOf(identity, configuration, "test", at)
    yield* journal.create([creation])
    const consumers = Array.from({ length: entrants }, (_, index) => consumerId(index))
    yield* journal.append({
      mechanismId: drawId,
      kind: "draw",
      expectedSequence: creation.commit.events.length,
      events: consumers.map((consumer) => ({ _tag: "Entered", at, consumerId: consumer })),
      places: consumers.map((consumer) => ({
        consumerId: consumer,
        status: "ENTERED",
        enteredAt: at,
        updatedAt: at,
        fields: {}
      })),
      wakeAt: drawAt
    })
  },
  Effect.provide(JournalSql.layer({ codecs: codecs(actorDeciders) }))
)

const request = (url: string, secretKey: string, body?: object) =>
  Effect.promise(async () => {
    const response = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${secretKey}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    return { status: response.status, body: (await response.json()) as { readonly [name: string]: unknown } }
  })

describe("A draw that waits for the beacon", () => {
  layer(TestDatabase.layer, { excludeTestServices: true })((it) => {
    it.effect("survives its process, is drawn once a relay is reachable, and has a valid proof", () =>
      Effect.gen(function* () {
        const source = yield* relay((_, response) => response.destroy())
        const { url } = yield* TestDatabase.TestDatabase
        const settings = { DATABASE_URL: url, DRAND_URLS: source.url, LOG_LEVEL: "warn" }
        const { organizationId, secretKey } = yield* organization(settings)

        const first = yield* serving(settings)
        const create = (path: string, body: object) =>
          Effect.map(request(`${first.adminUrl}/api${path}`, secretKey, body), ({ body: { id } }) => id as string)
        const experienceId = yield* create("/experiences", { name: "Drop" })
        const sequenceId = yield* create("/sequences", { experienceId, name: "Raffle" })
        yield* enterDraw({ organizationId, experienceId, sequenceId })

        const until = (condition: Effect.Effect<boolean>) =>
          condition.pipe(
            Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("50 millis") }),
            Effect.timeout("20 minutes")
          )
        yield* until(Effect.sync(() => source.requested.length >= 2))
        const waiting = yield* request(`${first.consumerUrl}/api/draws/${drawId}`, secretKey)
        assert.strictEqual(waiting.body["beaconRound"], 1_000)
        assert.strictEqual((yield* request(`${first.consumerUrl}/api/draws/${drawId}/proof`, secretKey)).status, 409)
        first.child.kill("SIGKILL")

        source.respond = honest
        const second = yield* serving(settings)
        const proof = request(`${second.consumerUrl}/api/draws/${drawId}/proof`, secretKey)
        yield* until(Effect.map(proof, ({ status }) => status === 200))
        const decoded = Result.getOrThrow(decodeProof((yield* proof).body))
        assert.strictEqual(decoded.beaconRound, 1_000)
        assert.strictEqual(decoded.winners.length, 10)
        assert.isTrue(verify(decoded, Option.some(verifyBeacon)).isValid)

        const [another] = published as [Round]
        const swapped = { ...decoded, beacon: another.randomness, beaconSignature: another.signature }
        const failed = verify(swapped, Option.some(verifyBeacon)).checks.filter(({ holds }) => !holds)
        assert.include(
          failed.map(({ what }) => what),
          "the network signed this round"
        )
      })
    )
  })
})
