/** The list of an experience's rehearsals. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { anExperience } from "../adminFixture.ts"
import { byId, inserted, instant, type MakeList, sorted } from "./listRows.ts"

/** No row is removed before there are too many. */
export const rehearsals: MakeList = Effect.fnUntraced(function* (as) {
  const { id } = yield* anExperience({}, as)
  return {
    path: `/experiences/${id}/rehearsals`,
    sorts: { createdAt: sorted.createdAt },
    idOf: byId,
    make: (n: number) =>
      inserted("rehearsals", {
        id: randomUUID(),
        organization_id: as.tenant.organizationId,
        mode: as.tenant.mode,
        experience_id: id,
        status: "FAILED",
        crowd: JSON.stringify({ people: 5 }),
        seed: n,
        created_at: new Date(instant(n)),
        created_by: "test",
        updated_at: new Date(instant(n)),
        updated_by: "test",
        problem: "It was cancelled."
      })
  }
})
