/** The handler of the audit log. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TenantEvents } from "../../../store/organization/TenantEvents.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { onList } from "../records/Operations.ts"

export const AuditLogHandlers = HttpApiBuilder.group(AdminApi, "auditLog", (handlers) =>
  Effect.gen(function* () {
    const events = yield* TenantEvents
    return handlers.handle("listAuditLog", onList(events.list))
  })
)
