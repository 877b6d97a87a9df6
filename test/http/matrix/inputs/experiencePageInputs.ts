/** Inputs of the operations on experience pages. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { rich, sms } from "../../../domain/experience/creative/documents.ts"
import type { MakeInput, Name } from "../inputs.ts"
import { byServer, type Side, type World } from "../world.ts"
import { recordInput } from "./recordInput.ts"

const settings = () => ({ slug: randomUUID(), title: "The opening", creativeDocument: sms() })

const made = (side: Side) =>
  Effect.map(
    byServer("admin", side, "/experience-pages", { ...settings(), experienceId: side.experienceId }),
    ({ id }) => id as string
  )

/** An admin's operation on a page. */
const record = recordInput(made)

const experienceNamed = (own: Side, { sides }: World): Name => ({
  own: own.experienceId,
  others: [sides.test.experienceId, sides.foreign.experienceId],
  unknown: randomUUID()
})

/** The inputs, by operation. */
export const experiencePageInputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/experience-pages": (own, world) =>
    Effect.succeed({
      body: { ...settings(), experienceId: own.experienceId },
      status: 201,
      names: [experienceNamed(own, world)]
    }),
  "GET /api/experience-pages": (own, world) =>
    Effect.map(made(own), (id) => ({
      query: `experienceId=${own.experienceId}`,
      status: 200,
      strangerStatus: 200,
      names: [experienceNamed(own, world)],
      secrets: [id]
    })),
  "GET /api/experience-pages/:id": record(),
  "PUT /api/experience-pages/:id": record({ title: "Another" }),
  "DELETE /api/experience-pages/:id": record(),
  "POST /api/experience-pages/:id/restore": record(),
  "POST /api/experience-pages/:id/publish": record(),
  "POST /api/experience-pages/:id/unpublish": record(),
  "GET /api/experiences/:experienceId/page": (own, world) =>
    Effect.gen(function* () {
      const page = { ...settings(), experienceId: own.experienceId, creativeDocument: rich(), status: "PUBLISHED" }
      const { id, slug } = yield* byServer("admin", own, "/experience-pages", page)
      return {
        params: { experienceId: own.experienceId },
        query: `slug=${slug}`,
        names: [experienceNamed(own, world)],
        secrets: [id],
        status: 200
      }
    })
}
