/** Pictures and fonts that a form brings as files. Each is uploaded, and its address takes the place of what was typed. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import type { Call } from "./Refused.ts"
import type { RouteRequest } from "../Route.ts"
import { fileOf } from "./Form.ts"

/** Makes the function that uploads the files of these fields. Returns what is wrong with them, at their fields. */
export const makeUpload = (api: AdminApiClient["Service"], kind: "picture" | "font" = "picture") => {
  const keep = (operator: Operator, payload: Uint8Array) =>
    kind === "picture"
      ? Effect.map(api.run(operator, "pictures", "uploadPicture", { payload }), ({ url }) => url)
      : Effect.map(api.run(operator, "fonts", "uploadFont", { payload }), ({ url }) => url)
  return Effect.fnUntraced(function* (
    operator: Operator,
    { fields, files }: Pick<RouteRequest, "fields" | "files">,
    names: ReadonlyArray<string>
  ) {
    const problems = new Map<string, string>()
    for (const name of names) {
      const file = files.get(fileOf(name))
      if (file === undefined) continue
      const kept = Effect.map(keep(operator, file), (url) => fields.set(name, url))
      yield* Effect.catchTag(kept, "Refusal", (refusal): Call<void> => {
        if (refusal.status !== 400 && refusal.status !== 409) return Effect.fail(refusal)
        problems.set(fileOf(name), refusal.wrong?.[0]?.sentence ?? refusal.detail ?? `This ${kind} cannot be used.`)
        return Effect.void
      })
    }
    return problems
  })
}
