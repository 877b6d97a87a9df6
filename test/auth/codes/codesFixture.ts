/** One-time codes: requests of clients, and codes that they show. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { Address } from "../../../src/domain/consumer/Address.ts"
import { OneTimeCodes } from "../../../src/auth/codes/OneTimeCodes.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"

let count = 0
export const anAddress = (): Address => ({ channel: "email", value: `consumer-${count++}@example.com` })

export const client = "192.0.2.1"
export const stranger = "198.51.100.7"

export const requested = (tenant: Tenant, address: Address) =>
  Effect.flatMap(OneTimeCodes, (codes) =>
    Effect.map(codes.request(tenant, address, client), ({ code }) => Redacted.value(code))
  )

export const verified = (
  tenant: Tenant,
  address: Address,
  code: string,
  guest?: { consumerId: string; sessionId: string }
) => shown(tenant, address, { code, guest })

/** Shows a code. Returns the session, or why it was refused. */
export const shown = (
  tenant: Tenant,
  address: Address,
  rest: Omit<Shown, "address" | "client"> & { client?: string }
) =>
  Effect.flatMap(OneTimeCodes, (codes) => codes.verify(tenant, { address, client, ...rest })).pipe(
    Effect.match({
      onFailure: (error) => (error._tag === "WrongCode" ? error.reason : error._tag),
      onSuccess: ({ session }) => session
    })
  )

type Shown = Parameters<OneTimeCodes["Service"]["verify"]>[1]

/** Requests a code from a client. Returns it with its request, or the refusal. */
export const asked = (tenant: Tenant, address: Address, from: string) =>
  Effect.flatMap(OneTimeCodes, (codes) => codes.request(tenant, address, from)).pipe(
    Effect.map(({ requestId, code }) => ({ requestId, code: Redacted.value(code) })),
    Effect.catchTag("TooManyCodes", () => Effect.succeed(undefined))
  )

export const forgetAttempts = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`delete from attempts`)

export const otherThan = (code: string, by = 1) => `${(Number(code) + by) % 1_000_000}`.padStart(6, "0")

export const isSession = (outcome: unknown) => typeof outcome === "object"
