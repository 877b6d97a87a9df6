import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { MechanismRef } from "../../../src/domain/mechanism/Mechanism.ts"
import type { LineUpdate } from "../../../src/domain/queue/LineCopy.ts"
import * as LineCopies from "../../../src/engine/cluster/LineCopies.ts"
import type { Query } from "../../../src/engine/cluster/RemoteCalls.ts"
import type { Question, Refused } from "../../../src/engine/cluster/Wire.ts"
import { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import { consumer, queue } from "../engineFixture.ts"

const enteredAt = Date.parse("2026-11-26T18:00:00.000Z")

const waiting = (position: number, ticket: number) =>
  ({ status: "QUEUED", position, ticket, joined: ticket, positionDisplayMode: "precise", enteredAt }) as const

/** An owner of a queue whose tickets wait, except those that are gone. Its answers wait for `gate`, if there is one. */
class Owner {
  issued = 0
  gone: ReadonlyArray<number> = []
  gate: Deferred.Deferred<void> | undefined
  refusal: Refused | undefined
  readonly versions: Array<number | undefined> = []

  readonly query: Query = (_, asked) =>
    Effect.suspend(() => {
      const question = (typeof asked === "function" ? asked() : asked) as Question & { readonly method: "line" }
      this.versions.push(question.version)
      const update: LineUpdate = {
        version: this.gone.length,
        sequence: 100 + this.gone.length,
        issued: this.issued,
        gone: Uint32Array.from(this.gone.slice(question.version ?? 0)),
        ...(question.version === undefined && { base: 0 }),
        pace: { admitRate: 0, isPaused: false, positionDisplayMode: "precise" }
      }
      const answer = this.refusal === undefined ? Effect.succeed(update) : Effect.fail(this.refusal)
      return Effect.andThen(this.gate === undefined ? Effect.yieldNow : Deferred.await(this.gate), answer)
    })
}

/** Tickets 1 to 3 of the first three consumers wait, and the reader has seen them. */
const seen = Effect.gen(function* () {
  const owner = new Owner()
  owner.issued = 3
  const copies = yield* LineCopies.make(owner.query)
  for (const ticket of [1, 2, 3]) copies.note(queue(), consumer(ticket), waiting(ticket, ticket))
  let asked = 0
  const view = (n: number, mechanism: MechanismRef<"queue" | "draw"> = queue()) =>
    copies.view(
      mechanism,
      consumer(n),
      Effect.sync(() => {
        asked++
        return { status: "asked" }
      })
    )
  return { owner, copies, view, asked: () => asked }
})

/** Runs all fibers until they wait. */
const settle = Effect.repeat(Effect.yieldNow, { times: 50 })

describe("status reads about a queue of another node", () => {
  it.effect("are answered from a copy of its line, which learns what has changed since", () =>
    Effect.gen(function* () {
      const { owner, view, asked } = yield* seen
      assert.deepStrictEqual(yield* view(3), waiting(3, 3))
      owner.gone = [1]
      assert.deepStrictEqual(yield* view(3), waiting(2, 3))
      assert.deepStrictEqual(owner.versions, [undefined, 0])
      assert.strictEqual(asked(), 0)
    })
  )

  it.effect("see every write that was answered before they came, and share an update", () =>
    Effect.gen(function* () {
      const { owner, view } = yield* seen
      owner.gate = yield* Deferred.make<void>()
      const early = yield* Effect.forkChild(view(2))
      yield* settle
      // The update under way does not know of this.
      const late = yield* Effect.forkChild(Effect.all([view(2), view(3)], { concurrency: "unbounded" }))
      yield* settle
      assert.strictEqual(owner.versions.length, 1)
      const gate = owner.gate
      owner.gate = undefined
      owner.gone = [1]
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(early)
      assert.deepStrictEqual(yield* Fiber.join(late), [waiting(1, 2), waiting(2, 3)])
      assert.strictEqual(owner.versions.length, 2)
    })
  )

  it.effect("gather for some milliseconds while there are many", () =>
    Effect.gen(function* () {
      const { owner, view } = yield* seen
      const manyTwice = Effect.all(
        Array.from({ length: 20 }, () => Effect.andThen(view(1), view(1))),
        { concurrency: "unbounded" }
      )
      const reads = yield* Effect.forkChild(manyTwice)
      yield* settle
      // The first read begins an update at once, and the others share the second.
      assert.strictEqual(owner.versions.length, 2)
      yield* TestClock.adjust(5)
      yield* Fiber.join(reads)
      assert.strictEqual(owner.versions.length, 3)
    })
  )

  it.effect("ask the owner for a consumer that has no known ticket, or whose ticket does not wait any more", () =>
    Effect.gen(function* () {
      const { owner, view, asked } = yield* seen
      assert.deepStrictEqual(yield* view(4), { status: "asked" })
      assert.isEmpty(owner.versions)
      owner.gone = [2]
      assert.deepStrictEqual(yield* view(2), { status: "asked" })
      assert.strictEqual(asked(), 2)
    })
  )

  it.effect("ask the owner once for a consumer that does not wait any more", () =>
    Effect.gen(function* () {
      const { owner, view, asked } = yield* seen
      owner.gone = [2]
      yield* view(2)
      yield* view(2)
      assert.strictEqual(asked(), 2)
      assert.strictEqual(owner.versions.length, 1, "the second read needs no update")
    })
  )

  it.effect("ask the owner for another tenant, another kind, and an archived queue", () =>
    Effect.gen(function* () {
      const { owner, view, asked } = yield* seen
      const { id, tenant } = queue()
      yield* view(1, { kind: "queue", id, tenant: { ...tenant, mode: tenant.mode === "live" ? "test" : "live" } })
      yield* view(1, { kind: "draw", id, tenant })
      yield* view(1, { kind: "queue", id, tenant, includesArchived: true })
      assert.strictEqual(asked(), 3)
      assert.isEmpty(owner.versions)
    })
  )

  it.effect("ask the owner for five seconds after an update failed", () =>
    Effect.gen(function* () {
      const { owner, view } = yield* seen
      yield* view(1)
      owner.refusal = new Unavailable({ cause: "an unknown question: line" })
      assert.deepStrictEqual(yield* view(1), { status: "asked" })
      assert.deepStrictEqual(yield* view(1), { status: "asked" })
      assert.strictEqual(owner.versions.length, 2)
      owner.refusal = undefined
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* view(1), waiting(1, 1))
      assert.isUndefined(owner.versions.at(-1), "the copy starts again")
    })
  )
})

describe("live streams of a queue of another node", () => {
  it.effect("get views from the copy, and from the owner only those that the copy does not show", () =>
    Effect.gen(function* () {
      const { owner, copies } = yield* seen
      const asked: Array<ReadonlyArray<string>> = []
      const viewMany = (...ns: ReadonlyArray<number>) =>
        copies.viewMany(queue().id, ns.map(consumer), (consumerIds) =>
          Effect.sync(() => {
            asked.push(consumerIds)
            const views = consumerIds.map((id) => (id === consumer(5) ? waiting(3, 4) : { status: "GRANTED" }))
            return { sequence: 200, views, isOver: false }
          })
        )
      assert.deepStrictEqual(yield* viewMany(2, 3), {
        sequence: 100,
        views: [waiting(2, 2), waiting(3, 3)],
        isOver: false
      })
      owner.gone = [2]
      owner.issued = 4
      const mixed = { sequence: 101, views: [{ status: "GRANTED" }, waiting(2, 3), waiting(3, 4)], isOver: false }
      assert.deepStrictEqual(yield* viewMany(2, 3, 5), mixed, "as of the earlier of two moments")
      assert.deepStrictEqual(asked, [[consumer(2), consumer(5)]])
      yield* viewMany(5)
      assert.strictEqual(asked.length, 1, "the view of the owner had a ticket")
      owner.refusal = new Unavailable({ cause: "an unknown question: line" })
      yield* viewMany(3)
      yield* viewMany(3)
      assert.deepStrictEqual(asked.slice(1), [[consumer(3)], [consumer(3)]])
      assert.strictEqual(owner.versions.length, 4)
    })
  )
})
