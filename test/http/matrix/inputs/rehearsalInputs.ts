/** Inputs of the operations on rehearsals. No server of the matrix runs one. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { MakeInput } from "../inputs.ts"
import { aRehearsal } from "../../support/rehearsalFixture.ts"

const record: MakeInput = (own, { sides }) =>
  Effect.gen(function* () {
    const id = yield* aRehearsal(own.experienceId)
    // Test mode has none.
    return {
      params: { id },
      names: [{ own: id, others: [yield* aRehearsal(sides.foreign.experienceId)], unknown: randomUUID() }],
      status: 200
    }
  })

const ofExperience =
  (status: number, body?: object): MakeInput =>
  (own, { sides }) =>
    Effect.succeed({
      params: { id: own.experienceId },
      names: [
        {
          own: own.experienceId,
          others: [sides.test.experienceId, sides.foreign.experienceId],
          unknown: randomUUID()
        }
      ],
      status,
      ...(body && { body })
    })

/** The inputs, by operation. */
export const rehearsalInputs: { readonly [operation: string]: MakeInput } = {
  // One at a time.
  "POST /api/experiences/:id/rehearsals": (own, world) =>
    Effect.andThen(aRehearsal(own.experienceId, "RUNNING"), ofExperience(409, {})(own, world)),
  "GET /api/experiences/:id/rehearsals": ofExperience(200),
  "GET /api/rehearsals/:id": record,
  "DELETE /api/rehearsals/:id": record
}
