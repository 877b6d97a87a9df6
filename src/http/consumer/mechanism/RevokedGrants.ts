/** The list of grants that ended before their tokens expire. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { GrantNames } from "../../../auth/tokens/GrantNames.ts"
import { type PagePosition, RevokedGrants } from "../../../store/mechanism/RevokedGrants.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { orServiceUnavailable } from "../../errors/Refusals.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { pagePattern } from "../../../api/consumer/RevokedGrantApi.ts"

export const layer = HttpApiBuilder.group(ConsumerApi, "grants", (handlers) =>
  Effect.gen(function* () {
    const list = yield* makeList
    return handlers.handleAll({
      revoked: ({ query }) => Effect.flatMap(CurrentTenant, ({ tenant }) => list(tenant, query))
    })
  })
)

interface Query {
  readonly since?: Millis
  readonly after?: string
}

/** Makes the function that returns a page of the ended grants of a tenant, or of some mechanisms alone. */
export const makeList = Effect.gen(function* () {
  const revoked = yield* RevokedGrants
  const names = yield* GrantNames

  return Effect.fnUntraced(function* (
    tenant: Tenant,
    { since = 0, after }: Query,
    mechanismIds?: ReadonlyArray<string>
  ) {
    const page = yield* orServiceUnavailable(
      revoked.page(tenant, since, after === undefined ? undefined : positionOf(after), mechanismIds)
    )
    return {
      data: page.data.map(({ mechanismId, grantSequence, status, endedAt, expiresAt = null }) => ({
        jti: names.of(mechanismId, grantSequence),
        status,
        endedAt,
        expiresAt
      })),
      until: page.until,
      next: page.next === undefined ? null : textOf(page.next)
    }
  })
})

const textOf = ({ until, mechanismId, at, sequence }: PagePosition): string =>
  `${until}_${mechanismId}_${at}_${sequence}`

/** The position in a text of this pattern. */
const positionOf = (text: string): PagePosition => {
  const [, until, mechanismId = "", at, sequence] = pagePattern.exec(text)!
  return { until: Number(until), mechanismId, at: Number(at), sequence: Number(sequence) }
}
