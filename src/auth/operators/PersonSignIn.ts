/**
 * The sign-in of people by a mailed code. The code belongs to its request, so a stranger cannot replace it. It proves
 * the address; the session begins in the organization where the person signed in last.
 *
 * The code is the installation's: an organization that has invited the address must not learn, read or stop it.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, type Redacted } from "effect"
import { normalizedEmail } from "../../domain/values/Email.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import { plainCode } from "../../domain/values/TypedCode.ts"
import { SecurityEvents } from "../../store/organization/SecurityEvents.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { CodeAddress } from "../../domain/consumer/Address.ts"
import type { TooManyAttempts } from "../codes/AttemptLimits.ts"
import { OneTimeCodes, type TooManyCodes, type WrongCode } from "../codes/OneTimeCodes.ts"
import { OperatorSessions } from "./OperatorSessions.ts"
import * as Time from "../../store/coordination/Time.ts"

/** A code to be sent. */
export interface CodeToSend {
  /** The tenant of the invitation, if no other organization has invited the address. */
  readonly soleTenant: Tenant | undefined
  readonly email: string
  readonly code: Redacted.Redacted
}

/** A code that a person types, and the request it answers. */
export interface TypedCode {
  readonly email: string
  readonly code: string
  readonly requestId: string
  /** The address of the caller. */
  readonly client: string
}

export class PersonSignIn extends Context.Service<
  PersonSignIn,
  {
    /** Creates a code for a request. Returns undefined for an address that is not invited: a caller must not tell. */
    request(
      email: string,
      client: string,
      requestId: string
    ): Effect.Effect<CodeToSend | undefined, TooManyCodes | Unavailable>
    /** Begins a session. Returns its token; undefined if the code is wrong or has expired. */
    verify(typed: TypedCode): Effect.Effect<string | undefined, TooManyAttempts | Unavailable>
  }
>()("usher/auth/operators/PersonSignIn") {
  static readonly layer = Layer.effect(PersonSignIn)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const codes = yield* OneTimeCodes
      const sessions = yield* OperatorSessions
      const events = yield* SecurityEvents
      const invitedAs = makeInvitedAs(sql)

      const begin = Effect.fnUntraced(function* (personId: string) {
        const now = new Date(yield* Time.serverNow)
        yield* sql`update people set last_sign_in_at = ${now} where id = ${personId}`
        return yield* sessions.beginAs(personId)
      })

      return {
        request: Effect.fn("PersonSignIn.request")(function* (typed: string, client: string, requestId: string) {
          const invited = yield* invitedAs(typed)
          if (invited === undefined) return undefined
          const { tenant, address, isSole } = invited
          const { code } = yield* codes.request(tenant, address, client, requestId)
          return { soleTenant: isSole ? tenant : undefined, email: address.value, code }
        }),
        verify: Effect.fn("PersonSignIn.verify")(function* ({ email, code, requestId, client }: TypedCode) {
          const invited = yield* invitedAs(email)
          if (invited === undefined) return undefined
          const { tenant, personId, address } = invited
          const token = yield* codes
            .consume(tenant, { address, code: plainCode(code), requestId, client }, begin(personId))
            .pipe(Effect.catchTag("WrongCode", (_: WrongCode) => Effect.undefined))
          if (token === undefined) return undefined
          const details = { by: "dashboard", personId }
          yield* events.record(tenant, { type: "sign_in", clientAddress: client, details })
          return token
        })
      }
    })
  )
}

/** Makes the function that returns the invitation that an address is used with; undefined if there is none. */
const makeInvitedAs = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (typed: string) {
    const email = normalizedEmail(typed)
    if (email === undefined) return undefined
    const [row] = yield* sql<Row>`
      select id, organization_id, mode, min(organization_id::text) over () = max(organization_id::text) over () as is_sole
      from people where email = ${email} and not archived
      order by last_sign_in_at desc nulls last, created_at, id limit 1`
    if (row === undefined) return undefined
    const tenant: Tenant = { organizationId: row.organization_id, mode: row.mode }
    const address: CodeAddress = { channel: "operator", value: email }
    return { personId: row.id, tenant, address, isSole: row.is_sole }
  }, orUnavailable)

interface Row {
  readonly id: string
  readonly organization_id: string
  readonly mode: Mode
  readonly is_sole: boolean
}
