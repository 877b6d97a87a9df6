/**
 * One-time codes by email and phone: valid for ten minutes, one use, five wrong tries. A code has six digits, or twelve
 * if many wrong ones were shown for the address (`CodeRows`), and belongs to the request that asked for it. With the id
 * of the request, a verification counts for that request alone, so a stranger can neither use up its tries nor replace
 * its code. Without the id the code that was sent last counts.
 *
 * A code could be recovered from a plain hash by trying all million codes. Codes are therefore hashed with a secret
 * that is not stored in their table.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql/SqlError"
import { createHmac, randomInt } from "node:crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { serverSecret } from "../../store/coordination/ServerSecrets.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import { SecurityEvents } from "../../store/organization/SecurityEvents.ts"
import type { Address, CodeAddress } from "../../domain/consumer/Address.ts"
import { AttemptLimits, TooManyAttempts } from "./AttemptLimits.ts"
import { codeAttempt } from "./CodeLimits.ts"
import * as CodeRows from "./CodeRows.ts"
import { ConsumerAccounts } from "../sessions/ConsumerAccounts.ts"
import { Revocations } from "../sessions/Revocations.ts"
import { type AuthenticatedSession, Sessions, type StartedSession } from "../sessions/Sessions.ts"
import * as Time from "../../store/coordination/Time.ts"

/** The guest session that the caller presents. */
export interface Guest {
  readonly consumerId: string
  readonly sessionId: string
}

/** A code that a caller presents, and the address it was sent to. */
export interface ShownCode<To extends CodeAddress = Address> {
  readonly address: To
  readonly code: string
  /** The request that the code answers. Without it, the request that was made last. */
  readonly requestId?: string | undefined
  /** The address of the caller. */
  readonly client: string
}

/** A code that was created, and the id of its request. */
export interface RequestedCode {
  readonly requestId: string
  readonly code: Redacted.Redacted
}

/** The address has reached its limit of codes for now. */
export class TooManyCodes extends Schema.TaggedError<TooManyCodes>()("TooManyCodes", {
  /** The limit. */
  codesMax: Schema.Int,
  /** When the next code may be requested. */
  retryAt: Schema.Finite
}) {}

/** The code is not the one that was sent. `otp_expired` if the address has no valid code. */
export class WrongCode extends Schema.TaggedError<WrongCode>()("WrongCode", {
  reason: Schema.Literals(["otp_invalid", "otp_expired"])
}) {}

export class OneTimeCodes extends Context.Service<
  OneTimeCodes,
  {
    /**
     * Creates a code for the address. The caller sends it there and shows it nowhere else. `id` is the id of the
     * request, if the caller has chosen it.
     */
    request(
      tenant: Tenant,
      address: CodeAddress,
      client: string,
      id?: string
    ): Effect.Effect<RequestedCode, TooManyCodes | Unavailable>
    /** Consumes the code of a person of the dashboard and runs `action` in one transaction, as `prove` does. */
    consume<A, E, R>(
      tenant: Tenant,
      shown: ShownCode<CodeAddress>,
      action: Effect.Effect<A, E, R>
    ): Effect.Effect<A, WrongCode | TooManyAttempts | Unavailable | Exclude<E, SqlError>, R>
    /**
     * Consumes the code and runs `action` in one transaction. If `action` fails, the code stays valid. A wrong code
     * counts as a try. The consumer has proved the address then: at the first proof its other sessions end.
     */
    prove<A, E, R>(
      tenant: Tenant,
      shown: ShownCode,
      prover: Prover,
      action: Effect.Effect<A, E, R>
    ): Effect.Effect<A, WrongCode | TooManyAttempts | Unavailable | Exclude<E, SqlError>, R>
    /**
     * Consumes the code and starts a session for the consumer of the address. See `ConsumerAccounts.byAddress` for the
     * guest. If this is the first proof of the address, the consumer's other sessions end.
     */
    verify(
      tenant: Tenant,
      shown: ShownCode & { readonly guest?: Guest | undefined }
    ): Effect.Effect<StartedSession<AuthenticatedSession>, WrongCode | TooManyAttempts | Unavailable>
  }
>()("usher/auth/codes/OneTimeCodes") {
  static readonly layer = Layer.effect(OneTimeCodes)(
    Effect.gen(function* () {
      const accounts = yield* ConsumerAccounts
      const sessions = yield* Sessions
      const prove = yield* makeProve

      const signIn = Effect.fnUntraced(function* (tenant: Tenant, address: Address, guest: Guest | undefined) {
        const { consumer } = yield* accounts.byAddress(tenant, address, guest?.consumerId)
        // Before the new session starts. Those that end include the guest's: an attacker may have its tokens.
        const ended = yield* accounts.markProved(tenant, { consumerId: consumer.consumerId }, address)
        return { session: yield* sessions.start(consumer), ended }
      })

      return {
        request: yield* makeRequest,
        consume: (tenant, shown, action) =>
          Effect.map(
            prove(
              tenant,
              shown,
              Effect.map(action, (done) => ({ done, ended: [] }))
            ),
            ({ done }) => done
          ),
        prove: (tenant, shown, prover, action) =>
          Effect.map(
            prove(
              tenant,
              shown,
              Effect.gen(function* () {
                const done = yield* action
                return { done, ended: yield* accounts.markProved(tenant, prover, shown.address) }
              })
            ),
            ({ done }) => done
          ),
        verify: (tenant, { guest, ...shown }) =>
          Effect.map(prove(tenant, shown, signIn(tenant, shown.address, guest)), ({ session }) => session)
      }
    })
  )
}

/** The consumer that proves an address, and the session that stays. */
export interface Prover {
  readonly consumerId: string
  readonly sessionId?: string
}

interface Ending {
  readonly ended: Parameters<Revocations["Service"]["ended"]>[0]
}

/** Makes the hashes of codes and clients, with a secret that is not stored in their table. */
const makeHashes = Effect.map(serverSecret("one_time_codes"), (secret) => {
  const keyed = (parts: ReadonlyArray<string>) => createHmac("sha256", secret).update(JSON.stringify(parts)).digest()
  return {
    ofClient: (client: string) => keyed(["client", client]),
    ofCode: ({ organizationId, mode }: Tenant, { channel, value }: CodeAddress, code: string) =>
      keyed([organizationId, mode, channel, value, code])
  }
})

const makeRequest = Effect.gen(function* () {
  const rows = yield* CodeRows.make
  const hashes = yield* makeHashes
  const events = yield* SecurityEvents
  const random = yield* SecureRandom.SecureRandom

  return Effect.fn("OneTimeCodes.request")(function* (
    tenant: Tenant,
    address: CodeAddress,
    client: string,
    given?: string
  ) {
    const id = given ?? (yield* random.uuidV7())
    const now = yield* Time.now
    const codeOf: CodeRows.NewCode["codeOf"] = (digits) => {
      const code = `${randomInt(10 ** digits)}`.padStart(digits, "0")
      return { code, hash: hashes.ofCode(tenant, address, code) }
    }
    const stored = yield* rows.insert(tenant, { id, address, client: hashes.ofClient(client), codeOf, now })
    if (stored.code !== undefined) {
      return { requestId: stored.requestId, code: Redacted.make(stored.code, { label: "one-time code" }) }
    }
    yield* events.record(tenant, { type: "code_flood", clientAddress: client, details: { channel: address.channel } })
    return yield* new TooManyCodes({ codesMax: CodeRows.codesMax, retryAt: stored.retryAt })
  }, orUnavailable)
})

/** Makes the function that consumes a code. */
const makeProve = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* CodeRows.make
  const hashes = yield* makeHashes
  const attempts = yield* AttemptLimits
  const revocations = yield* Revocations
  const events = yield* SecurityEvents

  const lockedOut = (tenant: Tenant, { address, client }: ShownCode<CodeAddress>, reason: string) =>
    events.record(tenant, { type: "lock_out", clientAddress: client, details: { channel: address.channel, reason } })

  /** Runs the action if the code is right. A wrong try succeeds inside the transaction, because it must be committed. */
  const consume = Effect.fnUntraced(function* <A, E, R>(
    tenant: Tenant,
    shown: ShownCode<CodeAddress>,
    action: Effect.Effect<A, E, R>
  ) {
    const now = new Date(yield* Time.now)
    const { address, code, requestId } = shown
    return yield* Effect.gen(function* () {
      const outcome = yield* rows.take(tenant, { address, requestId, hash: hashes.ofCode(tenant, address, code) }, now)
      if (outcome?.isRight === true) return { done: yield* action }
      return { wrong: outcome === undefined ? "otp_expired" : "otp_invalid", isLast: outcome?.isLast === true } as const
    }).pipe(sql.withTransaction)
  })

  return Effect.fn("OneTimeCodes.prove")(function* <A extends Ending, E, R>(
    tenant: Tenant,
    shown: ShownCode<CodeAddress>,
    action: Effect.Effect<A, E, R>
  ) {
    const attempt = codeAttempt(shown.client)
    yield* Effect.tapErrorTag(attempts.take(tenant, attempt), "TooManyAttempts", ({ limit }) =>
      lockedOut(tenant, shown, limit)
    )
    const outcome = yield* Effect.tapError(consume(tenant, shown, action), () => attempts.giveBack(tenant, attempt))
    if ("wrong" in outcome) {
      if (outcome.isLast) yield* lockedOut(tenant, shown, "wrong_tries")
      return yield* new WrongCode({ reason: outcome.wrong })
    }
    yield* attempts.giveBack(tenant, attempt)
    yield* revocations.ended(outcome.done.ended)
    return outcome.done
  }, orUnavailable)
})
