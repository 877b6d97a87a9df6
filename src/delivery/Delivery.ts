/**
 * Sends messages to consumers. A request that causes a message does not wait for it: the mail server's delay or refusal
 * would reveal something about the address. A message is tried three times. Undelivered messages are logged without
 * their text, also those left when the process ends.
 *
 * A stopped address of an organization (`store/message/StoppedAddresses.ts`) gets no message of it, codes included. The
 * caller of a request is not told, because that would reveal something about the address. A message of the installation,
 * such as a code for a person of the dashboard, follows no organization's list, and none can read that it was sent.
 *
 * A message of test mode with a test clock is not sent: it is kept for that tenant alone, also where there are providers.
 *
 * A channel without a provider delivers to the outbox, and logs a warning at start. A server with TLS, a proxy or a
 * public address has no outbox: there the channel delivers nothing.
 */
import { Context, Deferred, Duration, Effect, Layer, Option, Queue as Mailbox, Schedule } from "effect"
import { IpNetwork } from "effect/net"
import { sameTenant, type Tenant } from "../domain/values/Ids.ts"
import { masked } from "../domain/values/Masked.ts"
import type { Millis } from "../domain/values/Time.ts"
import type { Counts } from "../measures/Counts.ts"
import { Measures } from "../measures/Measures.ts"
import { isLoopback } from "../settings/Loopback.ts"
import { Settings } from "../settings/Settings.ts"
import * as Email from "./Email.ts"
import type { Message, OutgoingMessage } from "./Message.ts"
import { SentMessages } from "../store/message/SentMessages.ts"
import { StoppedAddresses } from "../store/message/StoppedAddresses.ts"
import { inTimeOf, TestClocks } from "../store/testClock/TestClocks.ts"
import * as Sms from "./Sms.ts"
import { annotated } from "../measures/StateChange.ts"
import * as Time from "../store/coordination/Time.ts"

/** Messages that may wait. Above this number new messages are refused. */
const waitingMax = 10_000

/** Messages in progress at the same time, for each channel. */
export const senders = 8

/** Time limit for one message, including retries and pauses. */
const deliverySeconds = 45

/** Messages in the outbox. The oldest is dropped first. */
const outboxMessagesMax = 1_000

/** Share of the shutdown time in which waiting messages are still sent. */
const drainShare = 0.2
const drainStepMillis = 20

const retries = Schedule.max([Schedule.exponential("500 millis", 4), Schedule.recurs(2)])

type Channel = Message["channel"]
/** Sends a message. Returns the id that its provider gave it, if there is one. */
type Send = (message: OutgoingMessage) => Effect.Effect<string | undefined, Email.NotDelivered>

/** A message in the outbox. */
export interface OutboxMessage extends OutgoingMessage {
  readonly sentAt: Millis
}

interface QueuedMessage {
  readonly message: OutgoingMessage
  /** Receives the outcome, if the caller waits for it. */
  readonly outcome: Deferred.Deferred<Outcome> | undefined
}

/** Outcome of a message: `undeliverable` is final; after `failed` a later try may succeed. */
export type Outcome = "delivered" | "undeliverable" | "failed"

export class Delivery extends Context.Service<
  Delivery,
  {
    /** False if messages of the channel go nowhere: it has no provider, and there is no outbox. */
    readonly canSend: (channel: Channel) => boolean
    /** Accepts a message for delivery. Returns false if too many are waiting, or the database is away. */
    readonly send: (message: OutgoingMessage) => Effect.Effect<boolean>
    /** Accepts a message and waits for its outcome. Only for background work, not for a caller's request. */
    readonly deliver: (message: OutgoingMessage) => Effect.Effect<Outcome>
    /**
     * Reads the messages in the outbox. Undefined if there is none: every channel has a provider, or the server can be
     * reached from a network.
     */
    readonly outbox: ((tenant: Tenant, to: string | undefined) => ReadonlyArray<OutboxMessage>) | undefined
    /** Reads the messages that a test clock of the tenant kept from being sent. */
    readonly kept: (tenant: Tenant, to: string | undefined) => ReadonlyArray<OutboxMessage>
  }
>()("usher/delivery/Delivery") {
  static readonly layerNoStore = Layer.effect(Delivery)(
    Effect.gen(function* () {
      const outbox = makeOutbox()
      const kept = makeOutbox()
      const clocks = yield* TestClocks
      const { delivery: measures } = yield* Measures
      const providers = yield* makeProviders
      const missing = (["email", "phone"] as const).filter((channel) => providers[channel] === undefined)
      const hasOutbox = missing.length > 0 && isDevelopment(yield* Settings)
      const instead: Send = hasOutbox
        ? (message) => Effect.as(outbox.put(message), undefined)
        : () => Effect.fail(noProvider)
      if (missing.length > 0) {
        yield* Effect.logWarning(
          `${missing.map((channel) => missingProvider[channel]).join("; ")}. ${hasOutbox ? keptInstead : lostInstead}`
        )
      }
      const remember = yield* makeRemember
      const unlessStopped = yield* makeUnlessStopped
      const post = {
        email: yield* makePost(providers.email ?? instead, remember, measures.email),
        phone: yield* makePost(providers.phone ?? instead, remember, measures.phone)
      }
      /** Keeps the message if its tenant has a test clock. While nobody knows that, it is not sent. */
      const unlessKept = <A>(
        message: OutgoingMessage,
        accept: Effect.Effect<A>,
        taken: A,
        unknown: A
      ): Effect.Effect<A> => {
        const { tenant } = message
        if (tenant === undefined || tenant.mode === "live") return accept
        return clocks.find(tenant).pipe(
          Effect.flatMap((clock) => {
            if (clock === undefined) return accept
            const keep = Effect.andThen(kept.put(message), remember(message, undefined, "SENT"))
            return Effect.as(inTimeOf(clocks, tenant)(keep), taken)
          }),
          Effect.orElseSucceed(() => unknown)
        )
      }
      const deliver = Effect.fnUntraced(function* (message: OutgoingMessage) {
        const outcome = yield* Deferred.make<Outcome>()
        const isTaken = yield* post[message.channel](message, outcome)
        return isTaken ? yield* Deferred.await(outcome) : "failed"
      })
      return {
        canSend: (channel) => hasOutbox || providers[channel] !== undefined,
        send: (message) =>
          unlessStopped(message, unlessKept(message, post[message.channel](message), true, false), true, false),
        deliver: (message) =>
          unlessStopped(
            message,
            unlessKept<Outcome>(message, deliver(message), "delivered", "failed"),
            "undeliverable",
            "failed"
          ),
        outbox: hasOutbox ? outbox.read : undefined,
        kept: kept.read
      }
    })
  )

  static readonly layer = Delivery.layerNoStore.pipe(
    Layer.provide(Layer.merge(SentMessages.layer, StoppedAddresses.layer))
  )
}

/** Keeps messages in memory instead of sending them, for the developer to read. */
const makeOutbox = () => {
  const messages: Array<OutboxMessage> = []
  return {
    put: (message: OutgoingMessage): Effect.Effect<void> =>
      Effect.map(Time.now, (sentAt) => {
        messages.push({ ...message, sentAt })
        if (messages.length > outboxMessagesMax) messages.shift()
      }),

    /** Returns the messages that the tenant may read, newest first, optionally only those to one address. */
    read: (tenant: Tenant, to: string | undefined): ReadonlyArray<OutboxMessage> =>
      messages
        .filter(({ tenant: sender, shownTo, to: address }) => {
          const reader = sender ?? shownTo
          return reader !== undefined && sameTenant(reader, tenant) && (to === undefined || address === to)
        })
        .toReversed()
  }
}

/** Remembers what became of a message. While the database is away it is forgotten, and reports about it say nothing. */
type Remember = (
  message: OutgoingMessage,
  messageId: string | undefined,
  status: "SENT" | "FAILED"
) => Effect.Effect<void>

const makeRemember = Effect.map(
  SentMessages,
  (sent): Remember =>
    ({ tenant, ...message }, messageId, status) =>
      tenant === undefined ? Effect.void : Effect.ignore(sent.record({ tenant, ...message }, messageId, status))
)

/**
 * Makes the function that accepts a message only if its address is not stopped. While the database is away nothing is
 * accepted: a message might go to a stopped address.
 */
const makeUnlessStopped = Effect.map(
  StoppedAddresses,
  (addresses) =>
    <A>({ tenant, channel, to }: OutgoingMessage, accept: Effect.Effect<A>, stopped: A, unknown: A): Effect.Effect<A> =>
      tenant === undefined
        ? accept
        : addresses.isStopped(tenant, channel, to).pipe(
            Effect.flatMap((isStopped) => (isStopped ? Effect.succeed(stopped) : accept)),
            Effect.orElseSucceed(() => unknown)
          )
)

const missingProvider: { readonly [C in Channel]: string } = {
  email: "No SMTP_URL is set: email is not sent",
  phone: "No SMS_PROVIDER_URL is set: SMS is not sent"
}

const keptInstead =
  "Messages are kept in memory and can be read at GET /api/outbox on the Admin API. Not for production."

const lostInstead =
  "There is no outbox, because this server has TLS, a proxy or a public address: requests for codes get a 503 until a provider is set."

const noProvider = new Email.NotDelivered({ reason: "no provider is set", isTemporary: false })

/** The outbox shows codes, so it exists only where no network is: plain HTTP on loopback, without a proxy in front. */
const isDevelopment = (settings: Settings["Service"]): boolean =>
  isLoopback(settings.host) &&
  isLoopback(settings.adminHost) &&
  settings.tlsCertFile === undefined &&
  settings.trustedProxies.every(isOfLoopback) &&
  isOnlyHere(settings.publicUrl)

const isOnlyHere = (url: string | undefined): boolean =>
  url === undefined || isLoopback(new URL(url).hostname.replaceAll(/[[\]]/g, ""))

const isOfLoopback = (network: IpNetwork.IpNetwork): boolean => {
  const text = IpNetwork.format(network)
  return text.startsWith("127.") || text === "::1/128"
}

const makeProviders = Effect.gen(function* () {
  const { smtpUrl, emailFrom, smsProviderUrl, smsAccount, smsToken, smsFrom } = yield* Settings
  const email = Option.isSome(smtpUrl) ? yield* Email.make(smtpUrl.value, emailFrom) : undefined
  const phone =
    Option.isSome(smsProviderUrl) && Option.isSome(smsToken)
      ? yield* Sms.make({ url: smsProviderUrl.value, account: smsAccount, token: smsToken.value, from: smsFrom })
      : undefined
  return { email, phone } satisfies { readonly [C in Channel]: Send | undefined }
})

/** Starts the sending fibers of a channel. Returns the function that accepts messages for it. */
const makePost = Effect.fnUntraced(function* (send: Send, remember: Remember, counts: Counts) {
  const { shutdownTimeoutSeconds } = yield* Settings
  const waiting = yield* Mailbox.dropping<QueuedMessage>(waitingMax)
  let unfinished = 0

  const deliver = ({ message, outcome }: QueuedMessage) =>
    send(message).pipe(
      Effect.retry({ schedule: retries, while: ({ isTemporary }) => isTemporary }),
      Effect.timeoutOrElse({
        duration: deliverySeconds * 1000,
        orElse: () => Effect.fail(new Email.NotDelivered({ reason: "no answer", isTemporary: true }))
      }),
      Effect.tap((messageId) => remember(message, messageId, "SENT")),
      Effect.as<Outcome>("delivered"),
      Effect.catch(({ reason, isTemporary }) => lost(message, reason, isTemporary ? "failed" : "undeliverable")),
      Effect.catchDefect(() => lost(message, "defect", "undeliverable")),
      Effect.tap((result) => {
        // A caller that waits for the outcome may try a message again that failed for now.
        const isLost = result === "undeliverable" || (result === "failed" && outcome === undefined)
        return isLost ? remember(message, undefined, "FAILED") : Effect.void
      }),
      Effect.tap((result) => Effect.sync(() => counts.add(result))),
      Effect.tap((result) => (outcome === undefined ? Effect.void : Deferred.succeed(outcome, result))),
      Effect.ensuring(Effect.sync(() => void unfinished--))
    )

  for (let sender = 0; sender < senders; sender++) {
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Mailbox.take(waiting), deliver)))
  }
  const drain = Effect.sync(() => unfinished).pipe(
    Effect.repeat({ until: (left) => left === 0, schedule: Schedule.spaced(drainStepMillis) }),
    Effect.interruptible,
    Effect.timeoutOrElse({
      duration: Duration.seconds(shutdownTimeoutSeconds * drainShare),
      orElse: () => Effect.logError(`${unfinished} messages were not sent before shutdown`)
    })
  )
  yield* Effect.addFinalizer(() => drain)

  return (message: OutgoingMessage, outcome?: Deferred.Deferred<Outcome>) =>
    Effect.suspend(() => {
      if (!Mailbox.offerUnsafe(waiting, { message, outcome })) {
        counts.add("refused")
        return Effect.as(Effect.logError("Too many messages are waiting to be sent; one was refused"), false)
      }
      unfinished++
      return Effect.succeed(true)
    })
})

const lost = ({ channel, to }: OutgoingMessage, reason: string, outcome: Outcome) =>
  Effect.logError("A message could not be delivered").pipe(
    annotated("message.lost", { channel, to: masked(to), reason }),
    Effect.as(outcome)
  )
