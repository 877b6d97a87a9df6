/** The handlers of uploaded fonts on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { Conflict } from "../../../api/Errors.ts"
import { fontProblem, type FontProblem } from "../../../domain/catalogue/Font.ts"
import { Fonts, type FontsFull } from "../../../store/catalogue/Fonts.ts"
import { answering } from "../../errors/Answering.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { orInUse } from "../records/References.ts"
import { refusedFile } from "./RefusedFile.ts"

export const FontHandlers = HttpApiBuilder.group(AdminApi, "fonts", (handlers) =>
  Effect.gen(function* () {
    const fonts = yield* Fonts
    return handlers.handleAll({
      uploadFont: ({ payload }) => {
        const problem = fontProblem(payload)
        if (problem !== undefined) return Effect.fail(refusedFile("font", expected[problem]))
        return orFull(forTenant((tenant, by) => fonts.create(tenant, by, payload)))
      },

      listFonts: onList(fonts.list),

      getFont: onRecord(fonts.find),

      removeFont: onRecord((tenant, id, by) => Effect.flatMap(fonts.remove(tenant, id, by), inUse))
    })
  })
)

const inUse = orInUse({ record: "Font", code: "FONT_IN_USE", users: "look(s)" })

const expected: { readonly [Problem in FontProblem]: string } = {
  EMPTY: "a file",
  TOO_LARGE: "a font of at most 300 KB",
  UNKNOWN_TYPE: "one font as WOFF2",
  DAMAGED: "a font that is not damaged"
}

const orFull = answering({
  FontsFull: (_: FontsFull) =>
    new Conflict({ error: "The organization has as many fonts as it may have", code: "FONT_LIMIT" })
})
