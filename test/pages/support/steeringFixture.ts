/** A control room with a mechanism of every kind, and two people in it. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { fieldOf, type Kind } from "../../../src/domain/mechanism/Mechanism.ts"
import { mechanismsOfEachKind } from "../../http/admin/experience/aggregateFixture.ts"
import { type Answer, asConsumer, Usher } from "../../http/support/usherFixture.ts"
import { operator, person } from "./operatorFixture.ts"
import { room, textOf } from "./roomFixture.ts"

/** The actions that queues alone have. */
const ofQueues: ReadonlySet<string> = new Set(["admit", "rate", "inside", "pause", "resume"])

const ofContests: { readonly [action: string]: Kind | undefined } = { draw: "draw", close: "auction" }

/** The kind that an action is for; undefined if every kind has it. */
export const kindWith = (action: string) => (ofQueues.has(action) ? "queue" : ofContests[action])

/** Enters guests into a mechanism. */
export const enter = Effect.fnUntraced(function* (path: string, guests: number) {
  const usher = yield* Usher
  for (const { accessToken } of yield* Effect.replicateEffect(usher.guest(), guests)) {
    const headers = asConsumer(usher.brand.publishableKey, accessToken)
    const { status } = yield* usher.consumer({ method: "POST", path: `/api/${path}/enter`, headers })
    assert.strictEqual(status, 200)
  }
})

/** An operator and another person, and an experience with a mechanism of every kind. */
export const steering = Effect.gen(function* () {
  const { send } = yield* person(`${randomUUID()}@example.com`, "operator")
  const other = yield* operator
  yield* other.signIn((yield* Usher).brand.secretKey)
  const { experienceId, sequence } = yield* room(mechanismsOfEachKind())
  const mechanismOf = (kind: Kind) =>
    [sequence[fieldOf[kind]]].flat().at(-1) as { readonly id: string; readonly name: string }
  return { send, path: `/dashboard/experiences/${experienceId}`, mechanismOf, other }
})

/** What a person reads after a form. Every answer is a page, or leads to one. */
export const shown = Effect.fnUntraced(function* (
  { get }: Effect.Success<typeof operator>,
  answer: Answer,
  context: string
) {
  const page = answer.status === 303 ? yield* get(answer.headers["location"]!) : answer
  assert.strictEqual(page.headers["content-type"], "text/html; charset=utf-8", context)
  return textOf(page)
})
