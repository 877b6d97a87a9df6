/** The gate for bots before a room: the script of the page solves its challenge, and sends the form again. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layer as services, from } from "../../http/challenge/challengeFixture.ts"
import { solve } from "../../../src/client/challenge.ts"
import * as Fixture from "../support/roomFixture.ts"

const { textOf, formOf } = Fixture

/** Returns the challenge that a page has for its script. */
const challengeIn = ({ text }: { readonly text: string }): string | undefined =>
  /data-challenge="([^"]*)"/.exec(text)?.[1]!.replaceAll("&quot;", '"')

describe("A visitor that is asked for a challenge", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("is told so in words, and enters once its browser has solved it", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room(
          { queues: [{ name: "Front door", admitRate: 0 }] },
          { challenge: { mode: "always" } }
        )
        const client = { ...from("203.0.113.9"), "sec-fetch-site": "same-origin" }
        const { action, fields } = formOf(yield* room.get("", client), "Join the queue")
        let asked = yield* room.post(action, fields, client)
        assert.strictEqual(asked.status, 403)
        assert.include(textOf(asked), "Your browser needs to show that it is not a robot")
        for (let solved = 0; asked.status === 403 && solved < 3; solved++) {
          const solution = yield* Effect.promise(() => solve(challengeIn(asked)!))
          asked = yield* room.post(action, { ...fields, solution: solution! }, client)
        }
        assert.strictEqual(asked.status, 303)
        assert.include(textOf(yield* room.get("place", client)), "You are in line")
      })
    )
  })
})
