/** The handler of the outbox. It answers callers on this machine alone, but in test mode with a test clock. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseEmail, parsePhone } from "../../../domain/consumer/Address.ts"
import { Delivery } from "../../../delivery/Delivery.ts"
import { TestClocks } from "../../../store/testClock/TestClocks.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { NotFound } from "../../../api/Errors.ts"
import { isForwarded, Origins, type RequestFacts } from "../../server/Origins.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"

export const OutboxHandlers = HttpApiBuilder.group(AdminApi, "outbox", (handlers) =>
  Effect.gen(function* () {
    const { outbox, kept } = yield* Delivery
    const clocks = yield* TestClocks
    const origins = yield* Origins
    // A proxy of this machine may pass on the requests of anyone.
    const isOfThisMachine = (request: RequestFacts) => origins.of(request).isLocal && !isForwarded(request)
    return handlers.handle("readOutbox", ({ query: { to }, request }) =>
      Effect.flatMap(CurrentTenant, ({ tenant }) => {
        const address = to === undefined ? undefined : normalized(to)
        // They were to consumers of a rehearsal, so they are shown to every caller.
        if (clocks.of(tenant) !== undefined) return Effect.succeed({ data: kept(tenant, address) })
        return outbox === undefined || !isOfThisMachine(request)
          ? Effect.fail(new NotFound({ error: "Not found" }))
          : Effect.succeed({ data: outbox(tenant, address) })
      })
    )
  })
)

/** The recipient in its stored form. A `+` that the caller did not escape in the URL arrives as a space. */
const normalized = (to: string): string => (parseEmail(to) ?? parsePhone(to.replace(/^ /, "+")))?.value ?? to
