/** Visits to a site behind a gate: operations of queues for the server or the gate of an organization. */
import { Result, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { NetAddress } from "effect/net"
import { Id } from "../../domain/values/Ids.ts"
import { key, text } from "../../domain/values/Text.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { RateCategory } from "../Annotations.ts"
import { GateAction } from "../Credentials.ts"
import { mechanismErrors } from "../MechanismErrors.ts"
import { Attempt } from "./AuthApi.ts"

/** Grants of one request to renew. */
export const renewedAtOnceMax = 1_000

/** The longest text of a grant: a token has some 700 characters. */
const grantLengthMax = 4_096

/** An address without brackets and port. */
const ClientAddress = text({ minLength: 2, maxLength: 45 }).check(
  Schema.makeFilter((value) => Result.isSuccess(NetAddress.ipFromString(value)), {
    expected: "an IP address",
    representation: { id: "usher/string", payload: null },
    toJsonSchema: () => ({})
  })
)

const session = { consumerId: Id, accessToken: Schema.String, refreshToken: Schema.String }

/** A visitor that may go on to the site, or has a place in the line. */
export const Pass = Schema.Union([
  Schema.Struct({
    status: Schema.Literal("GRANTED"),
    ...session,
    admissionGrant: Schema.String,
    /** Absent if the grant does not expire. */
    expiresAt: Schema.optionalKey(SentTimestamp)
  }),
  Schema.Struct({
    status: Schema.Literal("QUEUED"),
    ...session,
    /** Absent in the lobby. */
    position: Schema.optionalKey(Schema.Int),
    roomUrl: Schema.String.annotate({
      description:
        "Send the visitor there at once, with `return`: once, and within a minute, the room takes over its session."
    })
  })
]).annotate({ identifier: "Pass" })
export type Pass = typeof Pass.Type

export const passEndpoint = HttpApiEndpoint.post("pass", "/queues/:queueId/pass", {
  params: { queueId: Id },
  headers: { "idempotency-key": Schema.optionalKey(Attempt) },
  payload: [
    Schema.Struct({
      clientAddress: Schema.optionalKey(
        Schema.NullOr(
          ClientAddress.annotate({
            description:
              "The visitor's IP address, as a proxy that the gate trusts names it. The entry then counts for this address " +
              "as its own would: from a crowded one it is a 403 `CHALLENGE_REQUIRED`, and the visitor enters in the room."
          })
        )
      ),
      externalId: Schema.optionalKey(
        Schema.NullOr(
          key({ minLength: 1, maxLength: 200 }).pipe(
            Schema.annotateEncoded({
              description: "The shop's own name of a consumer, with the secret key alone (403). Absent: a new guest."
            })
          )
        )
      )
    }),
    Schema.Null
  ],
  success: Pass,
  error: mechanismErrors.entry
})
  .annotate(RateCategory, "queueEntry")
  .middleware(GateAction)
  .annotateMerge(
    OpenApi.annotations({
      summary: "Let a visitor pass, or queue it",
      description:
        "For a gate in front of a site: starts a session and enters the queue with it. In a queue with `standby`, an entry " +
        "that need not wait is GRANTED. `admissionGrant` then admits to the site, until it ends at `expiresAt` or later if " +
        "it is renewed. Otherwise the visitor is QUEUED, and keeps its place in the room at `roomUrl`. " +
        "Refusals are those of `…/enter`.\n\nWith the same `Idempotency-Key`, which a gate draws at random for each visitor, " +
        "the answer is about the same guest for a minute. With `externalId` it is always about the same consumer, who is " +
        "created if unknown; a consumer whose place has ended, and who cannot enter again, is a 409 `INVALID_STATUS`."
    })
  )

/** A grant that was seen. */
const Renewal = Schema.Union([
  Schema.Struct({
    jti: Schema.String,
    /** Null if the grant does not expire. */
    expiresAt: Schema.NullOr(SentTimestamp)
  }),
  Schema.Struct({
    jti: Schema.NullOr(Schema.String).annotate({ description: "Null if the text names no grant of this queue." }),
    code: Schema.Literals(["GRANT_ENDED", "INVALID_GRANT"])
  })
])
export type Renewal = typeof Renewal.Type

export const Renewals = Schema.Struct({
  renewed: Schema.Int.annotate({ description: "The number of grants that are live." }),
  results: Schema.Array(Renewal).annotate({ description: "In the order of the request." })
}).annotate({ identifier: "Renewals" })

export const renewEndpoint = HttpApiEndpoint.post("renew", "/queues/:queueId/renew", {
  params: { queueId: Id },
  payload: Schema.Struct({
    grants: Schema.Array(Schema.String.check(Schema.isMaxLength(grantLengthMax)))
      .check(Schema.isMinLength(1), Schema.isMaxLength(renewedAtOnceMax))
      .annotate({ description: "Tokens of grants, or their `jti`, which costs less." })
  }),
  success: Renewals,
  error: mechanismErrors.change
})
  .middleware(GateAction)
  .annotateMerge(
    OpenApi.annotations({
      summary: "Say which visitors were seen",
      description:
        "For a queue with `admissionRenewal` (409 `NOT_RENEWABLE`): each grant ends `idleSeconds` from now, and at the " +
        "latest with its token. No grant ends earlier than before, and one that gains less than a second stays as it is, so " +
        "a request can be repeated. A grant that has ended is `GRANT_ENDED`; a text that names no grant of this queue is " +
        "`INVALID_GRANT`. A gate notes a visitor at half of `idleSeconds`, and sends all at once."
    })
  )
