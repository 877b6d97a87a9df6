/**
 * Turnstile and hCaptcha: services that give a client's widget a token, and tell the server whether it is good. Both
 * have the same interface. The client's address is not sent to them.
 */
import { Context, Effect, Layer, Option, Schema, Semaphore } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import type { ProviderKeys } from "../../domain/challenge/Challenge.ts"

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

/** Tokens that are being checked. Beyond it a service counts as out of reach. */
const checksAtOnce = 64

/** The longest token that is sent. */
const tokenLengthMax = 8_192

export class TokenProviders extends Context.Service<
  TokenProviders,
  {
    /** Returns whether the token is good; undefined if the service is out of reach. A good token serves once there. */
    check(provider: Provider, keys: ProviderKeys, token: string): Effect.Effect<boolean | undefined>
  }
>()("usher/auth/challenge/TokenProviders") {
  static readonly layer = Layer.effect(TokenProviders)(
    Effect.gen(function* () {
      const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
      const addresses = yield* ProviderAddresses
      const permits = yield* Semaphore.make(checksAtOnce)
      /** The providers that did not answer last. The log names each once. */
      const out = new Set<Provider>()
      const lost = (provider: Provider) =>
        Effect.suspend(() => {
          if (out.has(provider)) return Effect.void
          out.add(provider)
          return Effect.logWarning(`${provider} does not check tokens: clients get a proof of work`)
        })

      const ask = (provider: Provider, { siteKey, secretKey }: ProviderKeys, token: string) =>
        HttpClientRequest.post(addresses[provider]).pipe(
          HttpClientRequest.bodyUrlParams({ secret: secretKey, response: token, sitekey: siteKey }),
          client.execute,
          Effect.flatMap(HttpClientResponse.schemaBodyJson(Verdict)),
          Effect.timeout(`${answerSeconds} seconds`),
          Effect.match({ onFailure: () => undefined, onSuccess: ({ success }) => success }),
          Effect.tap((isGood) => (isGood === undefined ? lost(provider) : Effect.sync(() => void out.delete(provider))))
        )

      return {
        check: (provider, keys, token) =>
          token.length > tokenLengthMax
            ? Effect.succeed(false)
            : Effect.map(permits.withPermitsIfAvailable(1)(ask(provider, keys, token)), Option.getOrUndefined)
      }
    })
  ).pipe(
    Layer.provide(FetchHttpClient.layer),
    // A redirect would carry the secret key to another address.
    Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" }))
  )
}

const Verdict = Schema.Struct({ success: Schema.Boolean })
