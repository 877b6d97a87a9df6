/** Inputs of the operations on uploaded fonts. */
import { Effect } from "effect"
import { woff2 } from "../../../support/font.ts"
import { asServer } from "../../support/usherFixture.ts"
import type { MakeInput } from "../inputs.ts"
import { call, type Side } from "../world.ts"
import { recordInput } from "./recordInput.ts"

const type = "font/woff2"

const aFont = (side: Side) =>
  Effect.map(
    call("admin", {
      method: "POST",
      path: "/api/fonts",
      headers: { ...asServer(side.secretKey), "content-type": type },
      body: woff2
    }),
    ({ body }) => body.id as string
  )

export const fontInputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/fonts": () => Effect.succeed({ file: { type, bytes: woff2 }, status: 201 }),
  "GET /api/fonts": (own) => Effect.map(aFont(own), (id) => ({ status: 200, strangerStatus: 200, secrets: [id] })),
  "GET /api/fonts/:id": recordInput(aFont)(),
  "DELETE /api/fonts/:id": recordInput(aFont)()
}
