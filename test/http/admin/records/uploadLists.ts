/** The lists of uploaded files. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { byId, inserted, instant, type Key, type MakeList, request, sorted } from "./listRows.ts"

/** Uploaded pictures. They leave the list when they are removed. */
export const pictures: MakeList = (as) =>
  Effect.succeed({
    path: "/pictures",
    sorts: { createdAt: sorted.createdAt },
    idOf: byId,
    make: (n: number) =>
      inserted("pictures", {
        id: randomUUID(),
        organization_id: as.tenant.organizationId,
        mode: as.tenant.mode,
        content_type: "image/webp",
        width: 8,
        height: 6,
        size: 1,
        bytes: Buffer.from([0]),
        created_at: new Date(instant(n)),
        created_by: "test"
      }),
    archive: (id: Key) => request(as, "DELETE", `/pictures/${id}`)
  })

/** Uploaded fonts, likewise. */
export const fonts: MakeList = (as) =>
  Effect.succeed({
    path: "/fonts",
    sorts: { createdAt: sorted.createdAt },
    idOf: byId,
    make: (n: number) =>
      inserted("fonts", {
        id: randomUUID(),
        organization_id: as.tenant.organizationId,
        mode: as.tenant.mode,
        size: 1,
        bytes: Buffer.from([0]),
        created_at: new Date(instant(n)),
        created_by: "test"
      }),
    archive: (id: Key) => request(as, "DELETE", `/fonts/${id}`)
  })
