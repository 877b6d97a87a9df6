/** Inputs of the operations on uploaded pictures. */
import { Effect } from "effect"
import { png } from "../../../support/picture.ts"
import { asServer } from "../../support/usherFixture.ts"
import type { MakeInput } from "../inputs.ts"
import { call, type Side } from "../world.ts"
import { recordInput } from "./recordInput.ts"

const type = "image/png"

const aPicture = (side: Side) =>
  Effect.map(
    call("admin", {
      method: "POST",
      path: "/api/pictures",
      headers: { ...asServer(side.secretKey), "content-type": type },
      body: png
    }),
    ({ body }) => body.id as string
  )

export const pictureInputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/pictures": () => Effect.succeed({ file: { type, bytes: png }, status: 201 }),
  "GET /api/pictures": (own) =>
    Effect.map(aPicture(own), (id) => ({ status: 200, strangerStatus: 200, secrets: [id] })),
  "GET /api/pictures/:id": recordInput(aPicture)(),
  "DELETE /api/pictures/:id": recordInput(aPicture)()
}
