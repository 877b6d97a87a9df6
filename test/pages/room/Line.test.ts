/** The page on which a visitor checks the line of a queue, without a script and over real HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { type Language, languages, wordsIn } from "../../../src/pages/Words.ts"
import { eventually } from "../support/operatorFixture.ts"
import * as Fixture from "../support/roomFixture.ts"

const { brand, textOf, unescaped } = Fixture

describe("The line of a queue in a room", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("leads from the waiting card to the visitor's own position and the actions of staff with reasons", () =>
      Effect.gen(function* () {
        const first = yield* Fixture.room({ queues: [{ name: "Front door", admitRate: 0 }] })
        const [queue] = first.sequence.queues
        const others = [first]
        for (let more = 0; more < 2; more++) others.push({ ...first, ...(yield* Fixture.visitor(first.experienceId)) })
        for (const one of others) yield* one.submit(yield* one.get(""), "Join the queue")
        const last = others[2]!
        const card = yield* last.get("place")
        const link = unescaped(/<a href="([^"]*)">Check the line<\/a>/.exec(card.text)![1]!)

        const before = yield* eventually(last.get(link), (page) => textOf(page).includes("Your ticket 3"))
        assert.include(textOf(before), "Your ticket 3 Your place in line 3 Waiting now: 3")
        assert.include(textOf(before), "The organizer has taken no manual action.")
        assert.strictEqual(before.headers["cache-control"], "no-store")
        assert.notInclude(before.text, "<script")

        yield* brand("POST", `/queues/${queue.id}/admit`, { count: 1, reason: "CUSTOMER_CARE" })
        yield* brand("POST", `/queues/${queue.id}/pause`, { reason: "HIGH_LOAD" })
        yield* brand("PUT", `/queues/${queue.id}`, { admitRate: 5, reason: "STOCK_CHANGED" })
        const after = textOf(yield* eventually(last.get(link), (page) => textOf(page).includes("The stock changed")))
        assert.include(after, "Your ticket 3 Your place in line 2 Waiting now: 2")
        assert.include(after, "Admitted manually: 1. Of those, out of order: 0.")
        assert.match(after, /Admitted manually: 1\. \(Customer care\)/)
        assert.include(after, "Admission paused (High load)")
        assert.include(after, "New rate per minute: 5 (The stock changed)")

        for (const language of Object.keys(languages) as ReadonlyArray<Language>) {
          const page = textOf(yield* last.get(`${link}&lang=${language}`))
          const { line, becauseStock } = wordsIn(language)
          assert.include(page, line, language)
          assert.include(page, becauseStock, language)
        }
        // A visitor without a place sees the same line, and no position.
        const stranger = textOf(yield* (yield* Fixture.visitor(first.experienceId)).get(link))
        assert.include(stranger, "Waiting now: 2")
        assert.notInclude(stranger, "Your ticket")
      })
    )

    it.effect("is not shown for a queue that is unknown, of another room, or only for invited guests", () =>
      Effect.gen(function* () {
        const queues = [{ name: "Side door", admitRate: 0 }]
        const { experienceId, get, sequence } = yield* Fixture.room({ queues })
        const other = yield* Fixture.room({ queues })
        const { id: audienceId } = yield* brand("POST", "/audiences", { name: "Members", type: "STATIC" })
        const members = yield* brand("POST", "/sequences", { experienceId, name: "Members", audienceId })
        const hidden = yield* brand("POST", "/queues", { sequenceId: members.id, name: "Early", admitRate: 0 })
        const statusOf = (id: string) => Effect.map(get(`line?at=${id}`), ({ status }) => status)
        for (const id of ["", "none", randomUUID(), other.sequence.queues[0].id, hidden.id]) {
          assert.strictEqual(yield* statusOf(id), 404, id)
        }
        assert.strictEqual(yield* statusOf(sequence.queues[0].id), 200)
      })
    )
  })
})
