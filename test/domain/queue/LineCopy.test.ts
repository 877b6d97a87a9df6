import { assert, describe, it } from "@effect/vitest"
import { LineCopy, lineUpdate, type WaitingPlace } from "../../../src/domain/queue/LineCopy.ts"
import type { Command, Configuration } from "../../../src/domain/queue/Queue.ts"
import { seededRandom } from "../../../src/domain/values/SeededRandom.ts"
import { admit, at, configure, deny, end, enter, entered, given, type History, leave, remove } from "./history.ts"

const update = (queue: History, copy: LineCopy, seconds: number): void =>
  copy.apply(lineUpdate(queue.state, copy.version, at(seconds)))

/** The ticket of a consumer as its view shows it. */
const ticketOf = (queue: History, seconds: number, consumerId: string): WaitingPlace | undefined => {
  const view = queue.view(seconds, consumerId)
  return view.status === "QUEUED" && view.ticket !== undefined
    ? { ticket: view.ticket, joined: view.joined!, enteredAt: view.enteredAt }
    : undefined
}

const consumerIds = Array.from({ length: 120 }, (_, index) => `consumer${index}`)

/** Returns a command that a drop may see, the entries twice as often as all others. */
const commandOf = (random: () => number): Command => {
  const consumerId = consumerIds[random() % consumerIds.length]!
  const others: ReadonlyArray<Command> = [
    leave(consumerId),
    admit(consumerId),
    deny(consumerId),
    remove(consumerId),
    { _tag: "AdmitNext", count: random() % 5, by: "admin" },
    { _tag: "Pause", by: "admin" },
    { _tag: "Resume", by: "admin" },
    configure({ admitRate: (random() % 4) * 30 })
  ]
  return random() % 3 < 2 ? enter(consumerId) : others[random() % others.length]!
}

describe("a copy of a queue's line", () => {
  const cases: ReadonlyArray<readonly [string, Partial<Configuration>]> = [
    ["by arrival", {}],
    ["by lot", { lobbyOpenAt: at(0), openAt: at(30) }],
    ["with head starts that nobody has", { loyaltyBiasEnabled: true }]
  ]
  for (const [order, settings] of cases) {
    it(`shows each waiting consumer what the queue shows, whatever happened since its last update (${order})`, () => {
      for (let seed = 0; seed < 3; seed++) {
        const random = seededRandom(`0000000100000002000000030000000${seed}`)
        const queue = given(settings)
        const copies = [new LineCopy(), new LineCopy()]
        const tickets = new Map<string, WaitingPlace>()
        let compared = 0
        for (let step = 1; step <= 400; step++) {
          const seconds = step / 4
          queue.when(seconds, commandOf(random))
          const copy = copies[random() % 10 === 0 ? 0 : 1]!
          if (random() % 3 > 0) continue
          update(queue, copy, seconds)
          for (const consumerId of consumerIds) {
            const shown = tickets.get(consumerId)
            const view = shown === undefined ? undefined : copy.view(shown)
            const truth = queue.view(seconds, consumerId)
            const current = ticketOf(queue, seconds, consumerId)
            if (shown !== undefined && shown.ticket === current?.ticket) {
              assert.deepStrictEqual(view, truth)
              compared++
            } else assert.isUndefined(view, "a ticket that does not wait shows nothing")
            if (current !== undefined && random() % 2 === 0) tickets.set(consumerId, current)
          }
        }
        assert.isAbove(compared, 500)
      }
    })
  }

  it("learns only the tickets that stopped waiting since its last update", () => {
    const queue = given(
      {},
      consumerIds.map((consumerId, index) => entered(index / 100, consumerId))
    )
    const copy = new LineCopy()
    queue.when(2, { _tag: "AdmitNext", count: 50, by: "admin" })
    queue.when(3, leave("consumer70"))
    const first = lineUpdate(queue.state, copy.version, at(4))!
    assert.deepInclude(first, { version: 51, issued: 120, base: 50, gone: Uint32Array.of(71) })
    copy.apply(first)
    queue.when(5, leave("consumer60"))
    queue.when(6, admit("consumer119"))
    const second = lineUpdate(queue.state, copy.version, at(7))!
    assert.deepStrictEqual(second.gone, Uint32Array.of(61, 120))
    assert.isUndefined(second.base)
    copy.apply(second)
    assert.deepInclude(copy.view({ ticket: 119, joined: 1, enteredAt: at(1) }), { position: 67 })
  })

  it("starts again when it has missed more than the queue keeps", () => {
    const queue = given()
    const copy = new LineCopy()
    queue.enter(1, "early", "late")
    update(queue, copy, 1)
    for (let left = 0; left < 20_000; left++) {
      queue.enter(2, "fickle")
      queue.when(2, leave("fickle"))
    }
    const late = lineUpdate(queue.state, copy.version, at(3))!
    assert.strictEqual(late.base, 0)
    copy.apply(late)
    assert.deepInclude(copy.view({ ticket: 2, joined: 1, enteredAt: at(1) }), { position: 2 })
    assert.isUndefined(copy.view({ ticket: 3, joined: 1, enteredAt: at(2) }))
    queue.enter(4, "last")
    update(queue, copy, 4)
    assert.deepInclude(copy.view({ ticket: 20_003, joined: 1, enteredAt: at(4) }), { position: 3 })
  })

  it("shows nothing where tickets alone do not tell the views", () => {
    const moved = given({ loyaltyBiasEnabled: true }, [entered(0, "early")])
    moved.when(1, enter("loyal", 1))
    assert.isUndefined(lineUpdate(moved.state, undefined, at(2)))

    const closing = given({ closeAt: at(10) }, [entered(0, "early")])
    const copy = new LineCopy()
    update(closing, copy, 9)
    assert.isDefined(copy.view({ ticket: 1, joined: 1, enteredAt: at(0) }))
    update(closing, copy, 10)
    assert.isUndefined(copy.view({ ticket: 1, joined: 1, enteredAt: at(0) }), "the closing is not recorded yet")

    const over = given({}, [entered(0, "early")])
    over.when(1, end)
    assert.isUndefined(lineUpdate(over.state, undefined, at(2)))
  })
})
