/**
 * Turnstile and hCaptcha: services that give a client's widget a token, and tell the server whether it is good. Both
 * have the same interface. The client's address is not sent to them.
 */
import { Context, Effect, Layer, Option, Schema, Semaphore } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import type { ProviderKeys } from "../../domain/challenge/Challenge.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Measures } from "../../measures/Measures.ts"
import * as Time from "../../store/coordination/Time.ts"

/** The addresses at which the services check tokens. */
export const ProviderAddresses = Context.Reference<{ readonly turnstile: string; readonly hcaptcha: string }>(
  "usher/auth/challenge/ProviderAddresses",
  {
    defaultValue: () => ({
      turnstile: "https://challenges.cloudflare.com/turnstile/v0/siteverify",
      hcaptcha: "https://api.hcaptcha.com/siteverify"
    })
  }
)

type Provider = "turnstile" | "hcaptcha"

/** The longest time for an answer of a service. */
const answerSeconds = 3

/** Seconds without any answer after which a service that is late counts as out of reach. */
const quietSeconds = 10

/** Tokens that are being checked. Others wait for them, for as long as an answer may take. */
const checksAtOnce = 64

/** Tokens of one address that are being checked or wait. Further ones are not checked. */
const checksOfAddressMax = 8

/** Tokens that are being checked or wait. Further ones are not checked. */
const checksWaitingMax = 1_024

/** The longest token that is sent. */
const tokenLengthMax = 8_192

/**
 * What a check found. `busy`: this process or the service has too many checks, which callers can cause with junk, so it
 * says nothing about the service. `out`: the service is out of reach.
 */
export type Finding = "good" | "bad" | "busy" | "out"

/** A token that a client shows. */
export interface ShownToken {
  readonly token: string
  /** The client's address, as it is counted. */
  readonly address: string
}

export class TokenProviders extends Context.Service<
  TokenProviders,
  {
    /** Has the service check the token. A good token serves once there. */
    check(provider: Provider, keys: ProviderKeys, shown: ShownToken): Effect.Effect<Finding>
  }
>()("usher/auth/challenge/TokenProviders") {
  static readonly layer = Layer.effect(TokenProviders)(
    Effect.gen(function* () {
      const ask = yield* makeAsk
      const { gate } = yield* Measures
      const permits = yield* Semaphore.make(checksAtOnce)
      const ofAddresses = new Map<string, number>()
      let waiting = 0

      /** Counts the check while it runs, unless there are too many. */
      const counted = (address: string, check: Effect.Effect<Finding>): Effect.Effect<Finding> =>
        Effect.suspend(() => {
          const ofAddress = ofAddresses.get(address) ?? 0
          if (ofAddress >= checksOfAddressMax || waiting >= checksWaitingMax) return Effect.succeed<Finding>("busy")
          ofAddresses.set(address, ofAddress + 1)
          waiting++
          const forget = Effect.sync(() => {
            waiting--
            const left = ofAddresses.get(address)! - 1
            if (left === 0) ofAddresses.delete(address)
            else ofAddresses.set(address, left)
          })
          return Effect.ensuring(check, forget)
        })

      /** Runs the check when there is room for it. */
      const withPermit = Effect.fnUntraced(function* (check: Effect.Effect<Finding>) {
        const hasTurn = yield* Effect.timeoutOption(permits.take(1), `${answerSeconds} seconds`)
        if (Option.isNone(hasTurn)) return "busy" as const
        return yield* Effect.ensuring(check, permits.release(1))
      }, Effect.uninterruptible)

      const check = (provider: Provider, keys: ProviderKeys, { token, address }: ShownToken) =>
        token.length > tokenLengthMax
          ? Effect.succeed<Finding>("bad")
          : counted(address, withPermit(ask(provider, keys, token)))

      return {
        check: (...asked) => Effect.tap(check(...asked), (finding) => Effect.sync(() => gate.tokens.add(finding)))
      }
    })
  ).pipe(
    Layer.provide(FetchHttpClient.layer),
    // A redirect would carry the secret key to another address.
    Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" }))
  )
}

/** Makes the function that asks the service. */
const makeAsk = Effect.gen(function* () {
  const client = yield* HttpClient.HttpClient
  const addresses = yield* ProviderAddresses
  const clock = yield* Time.serverClock
  const answeredAt = new Map<Provider, Millis>()
  /** The providers that did not answer last. The log names each once. */
  const out = new Set<Provider>()
  const note = (provider: Provider, finding: Finding) =>
    Effect.suspend(() => {
      if (finding !== "out") {
        out.delete(provider)
        answeredAt.set(provider, clock.currentTimeMillisUnsafe())
      }
      if (finding !== "out" || out.has(provider)) return Effect.void
      out.add(provider)
      return Effect.logWarning(`${provider} does not check tokens`)
    })

  /** A late answer may be this process's own slowness, as long as the service answers others. */
  const late = (provider: Provider): Effect.Effect<Finding> =>
    Effect.suspend(() =>
      clock.currentTimeMillisUnsafe() - (answeredAt.get(provider) ?? -Infinity) < quietSeconds * 1_000
        ? Effect.succeed("busy")
        : Effect.as(note(provider, "out"), "out")
    )

  const read = (response: HttpClientResponse.HttpClientResponse) =>
    response.status === 200
      ? Effect.map(HttpClientResponse.schemaBodyJson(Verdict)(response), ({ success }) => (success ? "good" : "bad"))
      : Effect.succeed(response.status === tooManyRequests ? "busy" : response.status < 500 ? "bad" : "out")

  return (provider: Provider, { siteKey, secretKey }: ProviderKeys, token: string): Effect.Effect<Finding> =>
    HttpClientRequest.post(addresses[provider]).pipe(
      HttpClientRequest.bodyUrlParams({ secret: secretKey, response: token, sitekey: siteKey }),
      client.execute,
      Effect.flatMap(read),
      Effect.match({ onFailure: (): Finding => "out", onSuccess: (finding) => finding as Finding }),
      Effect.tap((finding) => note(provider, finding)),
      Effect.timeoutOrElse({ duration: `${answerSeconds} seconds`, orElse: () => late(provider) })
    )
})

const tooManyRequests = 429

const Verdict = Schema.Struct({ success: Schema.Boolean })
