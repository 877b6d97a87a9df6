/**
 * The sessions of people who use the dashboard. A secret key, presented once, or a mailed code opens a session of
 * twelve hours; the browser keeps a random token and never the key. A session ends with its key or its person. Each
 * check is a query: few people steer, and a revoked key or a removed person must end its sessions at once.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { createHash } from "node:crypto"
import { authorOf, type Role } from "../../domain/organization/Person.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { ApiKeys } from "../keys/ApiKeys.ts"
import * as Time from "../../store/coordination/Time.ts"

export const operatorSessionSeconds = 12 * 3_600

const tokenBytes = 32

/** Sessions of one key or one person. The oldest ends when there is one more. */
const sessionsMax = 100

/** Organizations that one person can choose from. */
const membershipsMax = 100

/** A person at the dashboard. */
export interface Operator {
  readonly tenant: Tenant
  /** Undefined for the session of a secret key. */
  readonly personId?: string
  /** A session of a secret key may do everything. */
  readonly role: Role
  /** How records name the author: by the key, or by the person. */
  readonly by: string
  readonly organizationName: string
  /** The invitation of the same address to the other mode of the organization, if there is one. */
  readonly otherMode?: string
}

/** An organization, in one mode, that a person may use. */
export interface Membership {
  readonly personId: string
  readonly tenant: Tenant
  readonly role: Role
  readonly organizationName: string
}

export class OperatorSessions extends Context.Service<
  OperatorSessions,
  {
    /** Begins a session with a secret key. Returns its token; undefined if the key is not a valid secret key. */
    begin(secretKey: string): Effect.Effect<string | undefined, Unavailable>
    /** Begins a session of a person. Returns its token. */
    beginAs(personId: string): Effect.Effect<string, Unavailable>
    /** Returns the owner of the session; undefined if it has ended, its key was revoked, or its person was removed. */
    find(token: string): Effect.Effect<Operator | undefined, Unavailable>
    end(token: string): Effect.Effect<void, Unavailable>
    /** Returns where the person of the session is invited with the same address. A session of a key has none. */
    memberships(token: string): Effect.Effect<ReadonlyArray<Membership>, Unavailable>
    /** Makes the session that of another invitation of the same address. Returns whether there is one. */
    become(token: string, personId: string): Effect.Effect<boolean, Unavailable>
  }
>()("usher/auth/operators/OperatorSessions") {
  static readonly layer = Layer.effect(OperatorSessions)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom
      const keys = yield* ApiKeys
      const nowOf = Effect.map(Time.serverNow, (now) => new Date(now))

      /** Begins a session of a key or of a person, by the column that names it. */
      const insert = Effect.fnUntraced(function* (column: "api_key_id" | "person_id", id: string) {
        const token = Buffer.from(yield* random.randomBytes(tokenBytes)).toString("base64url")
        const now = yield* nowOf
        const expiresAt = new Date(now.getTime() + operatorSessionSeconds * 1_000)
        yield* sql`
          with ended as (
            delete from operator_sessions
            where expires_at <= ${now} or hash in (
              select hash from operator_sessions where ${sql(column)} = ${id}
              order by created_at desc offset ${sessionsMax - 1}
            )
          )
          insert into operator_sessions (hash, ${sql(column)}, created_at, expires_at)
          values (${hashOf(token)}, ${id}, ${now}, ${expiresAt})`
        return token
      })

      const begin = Effect.fn("OperatorSessions.begin")(function* (secretKey: string) {
        const holder = yield* keys.lookup(secretKey)
        return holder?.kind === "secret" ? yield* insert("api_key_id", holder.keyId) : undefined
      }, orUnavailable)

      const beginAs = Effect.fn("OperatorSessions.beginAs")(
        (personId: string) => insert("person_id", personId),
        orUnavailable
      )

      const find = Effect.fn("OperatorSessions.find")(function* (token: string) {
        const [row] = yield* sql<Row>`
          select k.id as key_id, p.id as person_id, p.role, o.id as organization_id, coalesce(k.mode, p.mode) as mode, o.name,
            other.id as other_mode
          from operator_sessions s
            left join api_keys k on k.id = s.api_key_id and k.revoked_at is null
            left join people p on p.id = s.person_id and not p.archived
            join organizations o on o.id = coalesce(k.organization_id, p.organization_id)
            left join people other on other.email = p.email and o.id = other.organization_id
              and other.mode <> p.mode and not other.archived
          where s.hash = ${hashOf(token)} and s.expires_at > ${yield* nowOf}`
        return row && toOperator(row)
      }, orUnavailable)

      const end = Effect.fn("OperatorSessions.end")(function* (token: string) {
        yield* sql`delete from operator_sessions where hash = ${hashOf(token)}`
      }, orUnavailable)

      return { begin, beginAs, find, end, ...makeSwitching(sql) }
    })
  )
}

/** Makes the functions that let a person use another organization that has invited the same address. */
const makeSwitching = (sql: PgClient.PgClient) => {
  const own = (token: string) => sql`
    operator_sessions s join people own on own.id = s.person_id and not own.archived
      join people p on p.email = own.email and not p.archived
    where s.hash = ${hashOf(token)}`

  const memberships = Effect.fn("OperatorSessions.memberships")(function* (token: string) {
    const rows = yield* sql<Row>`
      select found.*, o.name from (
        select null as key_id, p.id as person_id, p.role, p.organization_id, p.mode from ${own(token)}
      ) found join organizations o on o.id = found.organization_id
      order by o.name, found.mode limit ${membershipsMax}`
    return rows.map(toOperator).map((operator) => ({ ...operator, personId: operator.personId! }))
  }, orUnavailable)

  const become = Effect.fn("OperatorSessions.become")(function* (token: string, personId: string) {
    const rows = yield* sql`
      update operator_sessions set person_id = ${personId}
      where hash = ${hashOf(token)} and ${personId} in (select p.id from ${own(token)})
      returning hash`
    return rows.length > 0
  }, orUnavailable)

  return { memberships, become }
}

interface Row {
  readonly key_id: string | null
  readonly person_id: string | null
  readonly role: Role | null
  readonly organization_id: string
  readonly mode: Mode
  readonly name: string
  readonly other_mode?: string | null
}

const toOperator = ({ key_id, person_id, role, organization_id, mode, name, other_mode }: Row): Operator => ({
  tenant: { organizationId: organization_id, mode },
  ...(person_id !== null && { personId: person_id }),
  role: role ?? "admin",
  by: person_id === null ? `api_key:${key_id}` : authorOf(person_id),
  organizationName: name,
  ...(typeof other_mode === "string" && { otherMode: other_mode })
})

/** The database finds a session by the digest of its token, which a caller cannot choose. */
const hashOf = (token: string): Uint8Array => createHash("sha256").update(token).digest()
