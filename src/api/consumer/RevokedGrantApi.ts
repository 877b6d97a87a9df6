/** The list of grants that ended before their time, for shops that check grants offline. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { SentTimestamp, Timestamp } from "../../domain/values/Time.ts"
import { ServerAction } from "../Credentials.ts"

/** The position of a page in its list: the list's `until`, and a mechanism with one of its events. */
export const pagePattern =
  /^(\d{1,15})_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})_(\d{1,15})_(\d{1,15})$/

const PageText = Schema.String.check(
  Schema.makeFilter((text: string) => pagePattern.test(text), {
    expected: "the `next` of a page of this list",
    representation: { id: "usher/picklist", payload: null },
    toJsonSchema: () => ({})
  })
)

const RevokedGrant = Schema.Struct({
  jti: Schema.String.annotate({ description: "The `jti` of the grant's token." }),
  status: Schema.Literals(["LEFT", "DENIED", "COMPLETED", "EXPIRED"]),
  endedAt: SentTimestamp,
  /** When the token expires. Null: never. */
  expiresAt: Schema.NullOr(SentTimestamp)
})

export const RevokedGrants = Schema.Struct({
  data: Schema.Array(RevokedGrant),
  until: SentTimestamp.annotate({ description: "The `since` of the next list, once the last page is read." }),
  next: Schema.NullOr(Schema.String).annotate({ description: "The `after` of the next page; null on the last one." })
}).annotate({ identifier: "RevokedGrants" })

/** The query of a list of ended grants. */
export const revokedQuery = {
  since: Schema.optionalKey(Timestamp.annotate({ description: "Only those that ended at this time or later." })),
  after: Schema.optionalKey(PageText.annotate({ description: "The `next` of the previous page." }))
}

export class GrantsGroup extends HttpApiGroup.make("grants")
  .add(
    HttpApiEndpoint.get("revoked", "/grants/revoked", {
      query: revokedQuery,
      success: RevokedGrants
    })
      .middleware(ServerAction)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List grants that ended before they expired",
          description:
            "For a shop that checks grants offline with the keys at `/.well-known/jwks.json`. A token whose `jti` is listed " +
            "no longer admits, although its signature and its `exp` are valid. Grants that were left, denied or completed " +
            "are listed at once. Expired grants are left out, but those that were not renewed in time are listed as " +
            "`EXPIRED`.\n\nWithout `since` the list is complete. Read all pages with the " +
            "same `since`, and send each page's `next` as `after`. Then ask again with `until` as `since`, about every " +
            "second. A page may be short or empty although more follow. Lists overlap by some seconds, so a grant can be " +
            "listed twice. Grants that ended before the installation recorded this are not listed. To decide which of two " +
            "checkouts ships, use `complete`."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Grants", description: "Information for shops that check grants offline." })
  ) {}
