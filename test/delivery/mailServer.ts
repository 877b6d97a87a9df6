/** A mail server in this process that records what it receives. */
import { Effect } from "effect"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"

/** A received message. */
export interface Mail {
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** Headers and body, with soft line breaks removed. */
  readonly text: string
}

/**
 * Accepts every message. `refusals` are the response codes for the first messages, and `delayMillis` is the delay of
 * each response.
 */
export const mailServer = (
  options: { readonly refusals?: ReadonlyArray<number>; readonly delayMillis?: number } = {}
) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: SMTPServer; readonly port: number; readonly mails: Array<Mail> }>((resume) => {
      const mails: Array<Mail> = []
      const refusals = [...(options.refusals ?? [])]
      const server = new SMTPServer({
        authOptional: true,
        disabledCommands: ["STARTTLS"],
        onData: (stream, session, done) => {
          let text = ""
          stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
          stream.on("end", () => {
            const responseCode = refusals.shift()
            if (responseCode !== undefined) {
              return done(Object.assign(new Error(`refused: ${text}`.slice(0, 400)), { responseCode }))
            }
            setTimeout(() => {
              const { mailFrom, rcptTo } = session.envelope
              mails.push({
                from: mailFrom === false ? "" : mailFrom.address,
                to: rcptTo.map(({ address }) => address),
                text: text.replaceAll(/=\r?\n/g, "")
              })
              done()
            }, options.delayMillis ?? 0)
          })
        }
      })
      server.on("error", () => undefined)
      server.listen(0, "127.0.0.1", () =>
        resume(Effect.succeed({ server, mails, port: (server.server.address() as AddressInfo).port }))
      )
    }),
    ({ server }) => Effect.callback<void>((resume) => server.close(() => resume(Effect.void)))
  )
