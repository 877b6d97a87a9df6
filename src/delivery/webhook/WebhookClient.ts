/**
 * Sends webhook requests. Each connection resolves the host again, and connects to an address that was checked: an
 * answer that changes between check and connection reaches nothing else. Redirects are not followed. With the operator's
 * proxy (`WEBHOOK_PROXY_URL`) the proxy resolves and checks.
 */
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { lookup as systemLookup, type LookupAddress, type LookupAllOptions } from "node:dns"
import {
  Agent as HttpAgent,
  type AgentOptions,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp
} from "node:http"
import { Agent as HttpsAgent, request as requestHttps } from "node:https"
import type { LookupFunction } from "node:net"
import { storableText } from "../../domain/values/Text.ts"
import { Settings } from "../../settings/Settings.ts"
import { isIn, isPublic, problemOf } from "./AllowedTargets.ts"
import * as Time from "../../store/coordination/Time.ts"

/** The longest time for an attempt, from the look-up of the host to the status of the answer. */
export const attemptMillisMax = 15_000

/** Bytes of an answer that are read. The rest is cut off with its connection. */
export const answerBytesMax = 1_024

/** The longest wait for these bytes after the status. The status alone decides, so an open body fails nothing. */
export const bodyMillisMax = 2_000

/** The one message for every address that a webhook may not reach, so that it reveals nothing about the network. */
const unreachable = "The address could not be reached"

/** Idle connections to one host. */
const idleConnectionsMax = 10

/** The result of one attempt. */
export interface Attempt {
  readonly at: number
  readonly durationMillis: number
  /** Null if no answer arrived. */
  readonly statusCode: number | null
  /** The beginning of the answer, or the cause of the failure. */
  readonly body: string
  /** The wait that the endpoint asked for; 0 for none. */
  readonly retryAfterMillis: number
}

/** True if the endpoint has taken the event. */
export const isDelivered = ({ statusCode }: Attempt): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300

export class WebhookClient extends Context.Service<
  WebhookClient,
  {
    /** Posts the body once. Never fails: the attempt contains the cause of a failure. */
    post(url: string, headers: { readonly [name: string]: string }, body: string): Effect.Effect<Attempt>
    /** Returns what is wrong with a URL for webhooks; undefined if nothing is. */
    problemOf(url: string): string | undefined
  }
>()("usher/delivery/webhook/WebhookClient") {
  static readonly layer = Layer.suspend(() => WebhookClient.layerWith(systemLookup))

  /** With another resolver of host names. */
  static readonly layerWith = (lookup: Resolver) =>
    WebhookClient.layerFor(
      Effect.map(Settings, ({ webhookNetworks: networks, webhookProxyUrl }) => {
        const isAllowed = (address: string) => isPublic(address) || isIn(networks, address)
        return {
          route: Option.match(webhookProxyUrl, {
            onNone: () => ({ lookup: checkedLookup(lookup, isAllowed) }),
            onSome: throughProxy
          }),
          problemOf: (url: string) => problemOf(url, networks)
        }
      })
    )

  /** Reaches every address. Only for URLs that the operator names, never for those of organizations. */
  static readonly layerUnchecked = Layer.suspend(() =>
    WebhookClient.layerFor(
      Effect.succeed({ route: { lookup: checkedLookup(systemLookup, () => true) }, problemOf: () => undefined })
    )
  )

  /** With a rule for URLs and for the addresses of hosts. */
  private static readonly layerFor = <R>(policy: Effect.Effect<TargetPolicy, never, R>) =>
    Layer.effect(
      WebhookClient,
      Effect.gen(function* () {
        const { route, problemOf } = yield* policy
        const pooled = { keepAlive: true, maxFreeSockets: idleConnectionsMax, ...route }
        const agents = { "https:": new HttpsAgent(pooled), "http:": new HttpAgent(pooled) }
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            agents["https:"].destroy()
            agents["http:"].destroy()
          })
        )

        const exchange = (url: URL, headers: { readonly [name: string]: string }, body: string) =>
          Effect.callback<Effect.Effect<Answer>>((resume) => {
            const isSecure = url.protocol === "https:"
            const request = (isSecure ? requestHttps : requestHttp)(url, {
              method: "POST",
              agent: agents[isSecure ? "https:" : "http:"],
              headers: { ...headers, "content-length": Buffer.byteLength(body) },
              // Otherwise a connection to a proxy that does not answer CONNECT stays open.
              timeout: attemptMillisMax
            })
            request.on("response", (response) => resume(Effect.succeed(beginningOf(response))))
            request.on("error", (error) => resume(Effect.succeed(Effect.succeed(unanswered(error)))))
            request.end(body)
            return Effect.sync(() => request.destroy())
          })

        const post = Effect.fnUntraced(function* (
          url: string,
          headers: { readonly [name: string]: string },
          body: string
        ) {
          const at = yield* Time.serverNow
          const target = URL.parse(url)
          // The operator's networks may have changed since the URL was stored.
          const isReachable = target !== null && problemOf(url) === undefined
          const answer = isReachable
            ? yield* Effect.flatten(
                Effect.timeoutOrElse(exchange(target, headers, body), {
                  duration: attemptMillisMax,
                  orElse: () => Effect.succeed(Effect.succeed(noAnswer))
                })
              )
            : notReached
          const now = yield* Time.serverNow
          return {
            at,
            durationMillis: now - at,
            statusCode: answer.statusCode,
            body: answer.body,
            retryAfterMillis: retryAfterMillisOf(answer.headers["retry-after"], now)
          }
        })

        return { post, problemOf }
      })
    )
}

/** Which URLs a client may reach, and how it connects. */
interface TargetPolicy {
  readonly route: Pick<AgentOptions, "lookup" | "proxyEnv">
  readonly problemOf: (url: string) => string | undefined
}

const throughProxy = (url: Redacted.Redacted) => ({
  proxyEnv: { HTTP_PROXY: Redacted.value(url), HTTPS_PROXY: Redacted.value(url) }
})

/** Resolves a host name to all of its addresses. */
export type Resolver = (
  host: string,
  options: LookupAllOptions,
  answer: (error: NodeJS.ErrnoException | null, addresses: Array<LookupAddress>) => void
) => void

/** Resolves a host name. Fails unless every address is allowed. */
const checkedLookup =
  (lookup: Resolver, isAllowed: (address: string) => boolean): LookupFunction =>
  (host, options, answer) =>
    lookup(host, { ...options, all: true }, (error, found) => {
      const addresses = error === null ? found : []
      if (addresses.length === 0 || !addresses.every(({ address }) => isAllowed(address))) {
        answer(new Error(unreachable), "", 4)
      } else if (options.all === true) {
        answer(null, addresses)
      } else {
        answer(null, addresses[0]!.address, addresses[0]!.family)
      }
    })

interface Answer {
  readonly statusCode: number | null
  readonly body: string
  readonly headers: IncomingHttpHeaders
}

const notReached: Answer = { statusCode: null, body: unreachable, headers: {} }
const noAnswer: Answer = { statusCode: null, body: "No answer within 15 s", headers: {} }

/** Reads the beginning of an answer from now on. A longer one, and one that stays open, is cut off. */
function beginningOf(response: IncomingMessage): Effect.Effect<Answer> {
  const chunks: Array<Buffer> = []
  let size = 0
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size > answerBytesMax) response.destroy()
  })
  const closed = Effect.callback<void>((resume) => {
    if (response.closed) resume(Effect.void)
    else response.once("close", () => resume(Effect.void))
  })
  return closed.pipe(
    Effect.timeoutOption(bodyMillisMax),
    Effect.ensuring(Effect.sync(() => response.destroy())),
    Effect.map(() => ({
      statusCode: response.statusCode ?? null,
      body: storableText(Buffer.concat(chunks).subarray(0, answerBytesMax)),
      headers: response.headers
    }))
  )
}

/** The codes of errors that say nothing about the operator's network. */
const shownCodes = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOTFOUND", "CERT_HAS_EXPIRED"])

const unanswered = ({ code }: NodeJS.ErrnoException): Answer => ({
  statusCode: null,
  body: code !== undefined && shownCodes.has(code) ? `${unreachable} (${code})` : unreachable,
  headers: {}
})

/** Reads `Retry-After`: seconds, or a date. */
function retryAfterMillisOf(value: string | undefined, now: number): number {
  if (value === undefined) return 0
  const millis = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now
  return Number.isFinite(millis) ? Math.max(0, millis) : 0
}
