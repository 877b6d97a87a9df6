/** Email over SMTP. */
import { Data, Effect, Redacted } from "effect"
import type { Message } from "./Message.ts"

/** Each step of a conversation with the mail server may take so long. */
const stepMillis = 10_000

const connectionsMax = 3

/** The message was not accepted. */
export class NotDelivered extends Data.TaggedError("NotDelivered")<{
  /** Why, without the message's text. */
  readonly reason: string
  /** True if another try may succeed. */
  readonly isTemporary: boolean
}> {}

/** Sends through the server of the URL, from the given address, over a few connections that are kept. */
export const make = Effect.fnUntraced(function* (url: Redacted.Redacted, from: string) {
  // Loaded only where it is used, as starts are quicker without.
  const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
  const { protocol, username, hostname } = new URL(Redacted.value(url))
  const domain = /@([^@>\s]+)/.exec(from)?.[1] ?? hostname
  const transport = yield* Effect.acquireRelease(
    Effect.sync(() =>
      createTransport({
        url: Redacted.value(url),
        pool: true,
        maxConnections: connectionsMax,
        connectionTimeout: stepMillis,
        greetingTimeout: stepMillis,
        socketTimeout: stepMillis,
        // A password does not travel in the open, whatever the server offers.
        requireTLS: protocol === "smtp:" && username !== "" && !isLoopback(hostname),
        disableFileAccess: true,
        disableUrlAccess: true
      })
    ),
    (open) => Effect.sync(() => open.close())
  )
  return ({ id, to, subject, text, html }: Message): Effect.Effect<void, NotDelivered> =>
    Effect.tryPromise({
      try: () =>
        transport.sendMail({
          from,
          to: { name: "", address: to },
          subject,
          text,
          ...(html !== undefined && { html }),
          ...(id !== undefined && { messageId: `<${id}@${domain}>` })
        }),
      catch: (error) => {
        const { code = "EUNKNOWN", responseCode } = error as { readonly code?: string; readonly responseCode?: number }
        // Servers like to repeat in words what they were told; the codes do not.
        const reason = responseCode === undefined ? code : `${code} ${responseCode}`
        return new NotDelivered({ reason, isTemporary: responseCode === undefined || responseCode < 500 })
      }
    }).pipe(Effect.asVoid)
})

const isLoopback = (hostname: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
