import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Profiles } from "../../../src/store/consumer/Profiles.ts"
import { aConsumer, aQueue, aTenant, inTestMode, layer as records } from "../support/recordsFixture.ts"

const place = (consumerId: string, status: string, enteredAt: number, fields: object = {}) => ({
  consumerId,
  status,
  enteredAt,
  updatedAt: enteredAt + 1,
  fields: { ...fields }
})

describe("A consumer's profile", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("contains the known fields of the consumer", () =>
      Effect.gen(function* () {
        const profiles = yield* Profiles
        const tenant = yield* aTenant()
        const guest = yield* aConsumer(tenant)
        assert.deepStrictEqual(yield* profiles.find(tenant, guest), {
          id: guest,
          type: "guest",
          email: null,
          phone: null,
          name: null,
          fullName: null,
          createdAt: 1_000,
          places: []
        })
        const row = { email: "ann@example.com", phone: "+4915112345678", name: "Ann", full_name: "Ann Lee" }
        const ann = yield* aConsumer(tenant, { type: "authenticated", ...row })
        assert.deepInclude(yield* profiles.find(tenant, ann), {
          type: "authenticated",
          email: "ann@example.com",
          phone: "+4915112345678",
          name: "Ann",
          fullName: "Ann Lee"
        })
      })
    )

    it.effect("contains the consumer's active places in running mechanisms, the latest first", () =>
      Effect.gen(function* () {
        const profiles = yield* Profiles
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const [consumerId, other] = [yield* aConsumer(tenant), yield* aConsumer(tenant)]
        const inQueue = (status: string, enteredAt: number, fields?: object) =>
          aQueue(tenant, { places: [place(consumerId, status, enteredAt, fields), place(other, "QUEUED", 1)] })
        const waiting = yield* inQueue("QUEUED", 10)
        const granted = yield* inQueue("GRANTED", 20, { grantedAt: "1970-01-01T00:00:00.020Z" })
        for (const over of ["COMPLETED", "DENIED", "LEFT"]) yield* inQueue(over, 30)
        const archived = yield* inQueue("QUEUED", 40)
        yield* sql`update mechanisms set archived = true where id = ${archived.id}`
        const tornDown = yield* inQueue("QUEUED", 50)
        yield* sql`update mechanisms set teardown_status = 'completed' where id = ${tornDown.id}`
        const settling = yield* inQueue("GRANTED", 60)
        yield* sql`update mechanisms set teardown_status = 'pending' where id = ${settling.id}`
        const { places } = yield* profiles.find(tenant, consumerId)
        assert.deepStrictEqual(
          places.map(({ distributionId }) => distributionId),
          [settling.id, granted.id, waiting.id]
        )
        assert.deepStrictEqual(places[1], {
          distributionId: granted.id,
          type: "queue",
          experienceId: granted.experienceId,
          sequenceId: granted.sequenceId,
          name: "Line",
          status: "GRANTED",
          enteredAt: 20,
          updatedAt: 21,
          fields: { grantedAt: "1970-01-01T00:00:00.020Z" }
        })
        assert.lengthOf((yield* profiles.find(tenant, other)).places, 6)
      })
    )

    it.effect("is absent for another tenant, and for an archived or unknown consumer", () =>
      Effect.gen(function* () {
        const profiles = yield* Profiles
        const tenant = yield* aTenant()
        const consumerId = yield* aConsumer(tenant)
        for (const [as, id] of [
          [inTestMode(tenant), consumerId],
          [yield* aTenant(), consumerId],
          [tenant, yield* aConsumer(tenant, { archived: true })],
          [tenant, randomUUID()]
        ] as const) {
          assert.deepInclude(yield* Effect.flip(profiles.find(as, id)), { _tag: "RecordNotFound", record: "Consumer" })
        }
      })
    )
  })
})
