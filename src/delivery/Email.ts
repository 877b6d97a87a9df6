/** Sends email over SMTP. */
import { Data, Effect, Redacted } from "effect"
import type { Message } from "./Message.ts"

/** Time limit for each step of the exchange with the mail server. */
const stepMillis = 10_000

const connectionsMax = 3

/** The message was not accepted. */
export class NotDelivered extends Data.TaggedError("NotDelivered")<{
  /** The reason, without the message's text. */
  readonly reason: string
  /** True if a later try may succeed. */
  readonly isTemporary: boolean
}> {}

/**
 * Creates a sender for the mail server at the URL. It uses the given sender address and a small pool of connections. It
 * returns the Message-ID, which mail systems name in their reports.
 */
export const make = Effect.fnUntraced(function* (url: Redacted.Redacted, from: string) {
  // Loaded on demand, so that other processes start faster.
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
        // Never sends a password unencrypted, even if the server accepts it.
        requireTLS: protocol === "smtp:" && username !== "" && !isLoopback(hostname),
        disableFileAccess: true,
        disableUrlAccess: true
      })
    ),
    (open) => Effect.sync(() => open.close())
  )
  return ({ id, to, subject, text, html, endUrl }: Message): Effect.Effect<string | undefined, NotDelivered> =>
    Effect.tryPromise({
      try: () =>
        transport.sendMail({
          from,
          to: { name: "", address: to },
          subject,
          text,
          ...(html !== undefined && { html }),
          ...(endUrl !== undefined && { headers: endHeaders(endUrl) }),
          ...(id !== undefined && { messageId: `<${id}@${domain}>` })
        }),
      catch: (error) => {
        const { code = "EUNKNOWN", responseCode } = error as { readonly code?: string; readonly responseCode?: number }
        // Servers often repeat the message in their response text, so only the codes are logged.
        const reason = responseCode === undefined ? code : `${code} ${responseCode}`
        return new NotDelivered({ reason, isTemporary: responseCode === undefined || responseCode < 500 })
      }
    }).pipe(Effect.map(({ messageId }) => messageId))
})

/** RFC 8058: a mail program ends the emails with one POST to the address. */
const endHeaders = (url: string) => ({
  "List-Unsubscribe": `<${url}>`,
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"
})

const isLoopback = (hostname: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
