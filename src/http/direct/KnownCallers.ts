/**
 * The callers of the direct path, by class of operation: one plain function for each middleware in `Credentials.ts`. It
 * accepts only a publishable key, and an access token of its tenant, that memory alone can tell to be valid. For every
 * other request it returns undefined. A token that this process has not seen may be looked up first. If the caller is
 * not found then either, the middleware decides.
 */
import { Context, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { IncomingHttpHeaders } from "node:http"
import { ApiKeys, type KeyHolder } from "../../auth/keys/ApiKeys.ts"
import { Tokens } from "../../auth/tokens/Tokens.ts"
import { sameTenant } from "../../domain/values/Ids.ts"
import { TestClocks, withTimeOf } from "../../store/testClock/TestClocks.ts"
import { actingConsumer } from "../credentials/ActingConsumer.ts"
import { makeChecks, nameOf } from "../credentials/CredentialChecks.ts"
import {
  ConsumerAction,
  ConsumerStream,
  CurrentConsumer,
  CurrentStreamCredentials,
  CurrentTenant,
  SessionCreation
} from "../../api/Credentials.ts"

/** A caller whose credentials are valid. */
export interface KnownCaller {
  readonly holder: KeyHolder
  /** The consumer that acts itself. */
  readonly consumerId?: string
  /** Adds the caller to the services of a handler. */
  readonly provide: (services: Context.Context<never>) => Context.Context<never>
}

export type FindCaller = (headers: IncomingHttpHeaders) => KnownCaller | undefined

/** Looks up a caller whose token is not in memory, and caches it. Undefined if a lookup cannot give a new result. */
export type LookUpCaller = (headers: IncomingHttpHeaders) => Effect.Effect<unknown, unknown> | undefined

/** A class of operations. */
export interface CallerClass {
  readonly find: FindCaller
  readonly lookUpCaller?: LookUpCaller
  /** Adds what the handlers of the class need of the request besides the caller. */
  readonly around?: (handle: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown>
}

/** The classes, by the key of the middleware. */
export const make = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const tokens = yield* Tokens
  const clocks = yield* TestClocks
  const { lasting } = yield* makeChecks

  const holderOf = (headers: IncomingHttpHeaders): KeyHolder | undefined => {
    const key = headers["x-publishable-key"]
    return typeof key === "string" ? keys.peekPublishable(key) : undefined
  }

  const tenant: FindCaller = (headers) => {
    const holder = holderOf(headers)
    if (holder === undefined) return undefined
    const current = { tenant: holder.tenant, by: nameOf(holder) }
    const provide: KnownCaller["provide"] = (services) =>
      withTimeOf(clocks, Context.add(services, CurrentTenant, current), holder.tenant)
    return { holder, provide }
  }

  const consumer: FindCaller = (headers) => {
    const token = tokenOf(headers)
    const holder = token === undefined ? undefined : holderOf(headers)
    if (token === undefined || holder === undefined) return undefined
    const access = tokens.peekAccess(token)
    if (access === undefined || !sameTenant(access.tenant, holder.tenant)) return undefined
    const current = actingConsumer(holder, access).consumer
    return {
      holder,
      consumerId: access.consumerId,
      provide: (services) => withTimeOf(clocks, Context.add(services, CurrentConsumer, current), holder.tenant)
    }
  }

  const lookUpCaller: LookUpCaller = (headers) => {
    const token = tokenOf(headers)
    const isNew = token !== undefined && holderOf(headers) !== undefined && tokens.isUnseen(token)
    return isNew ? tokens.verifyAccess(token) : undefined
  }

  const withStreamCredentials: CallerClass["around"] = (handle) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.flatMap(lasting(request), (credentials) =>
        Effect.provideService(handle, CurrentStreamCredentials, credentials)
      )
    ) as Effect.Effect<unknown, unknown>

  return new Map<unknown, CallerClass>([
    [ConsumerAction, { find: consumer, lookUpCaller }],
    [ConsumerStream, { find: consumer, lookUpCaller, around: withStreamCredentials }],
    [SessionCreation, { find: tenant }]
  ])
})

/** The token of the request, if it has one and no key in its place. Every token begins with `{"` in base64url. */
const tokenOf = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  authorization?.startsWith("Bearer eyJ") ? authorization.slice("Bearer ".length) : undefined
