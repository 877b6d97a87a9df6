/**
 * Sends SMS through a provider with Twilio's HTTP interface: a form with `To`, `From` and `Body`, posted to the
 * messages of an account, with account and token as user and password. The answer names the message (`sid`).
 */
import { ByteSize, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse, HttpIncomingMessage } from "effect/http"
import { NotDelivered } from "./Email.ts"
import type { Message } from "./Message.ts"

const timeoutSeconds = 10

/** Connection data of the provider. */
export interface SmsProvider {
  readonly url: Redacted.Redacted
  readonly account: string
  readonly token: Redacted.Redacted
  readonly from: string
}

/** Loaded on demand, so that other processes start faster. */
const layerHttpClient = Layer.unwrap(
  Effect.map(
    Effect.promise(() => import("@effect/platform-node/NodeHttpClient")),
    ({ layerUndici }) => layerUndici
  )
)

/** Creates a sender for the provider. */
export const make = Effect.fnUntraced(function* (provider: SmsProvider) {
  const client = Context.get(yield* Layer.build(layerHttpClient), HttpClient.HttpClient)
  const base = Redacted.value(provider.url).replace(/(?<!\/)\/+$/, "")
  const url = `${base}/2010-04-01/Accounts/${encodeURIComponent(provider.account)}/Messages.json`
  return ({ to, text }: Message): Effect.Effect<string | undefined, NotDelivered> =>
    HttpClientRequest.post(url).pipe(
      HttpClientRequest.basicAuth(provider.account, provider.token),
      HttpClientRequest.bodyUrlParams({ To: to, From: provider.from, Body: text }),
      client.execute,
      Effect.timeout(timeoutSeconds * 1000),
      Effect.matchEffect({
        onFailure: ({ _tag }) => Effect.fail(new NotDelivered({ reason: _tag, isTemporary: true })),
        onSuccess: (response) => {
          const { status } = response
          return status >= 200 && status < 300
            ? messageIdIn(response)
            : Effect.fail(new NotDelivered({ reason: `HTTP ${status}`, isTemporary: status === 429 || status >= 500 }))
        }
      })
    )
})

/** The id that the provider gave the message. The message is sent even if the answer has no id. */
const messageIdIn = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<string | undefined> =>
  HttpClientResponse.schemaBodyJson(Answer)(response).pipe(
    Effect.timeout(timeoutSeconds * 1000),
    Effect.provideService(HttpIncomingMessage.MaxBodySize, answerSizeMax),
    Effect.option,
    Effect.map((answer) => Option.getOrUndefined(answer)?.sid)
  )

const Answer = Schema.Struct({ sid: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9]{1,64}$/)) })

const answerSizeMax = ByteSize.kibibytes(64)
