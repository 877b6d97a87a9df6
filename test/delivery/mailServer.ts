/** A mail server in this process, and what it was sent. */
import { Effect } from "effect"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"

/** One message as it came. */
export interface Mail {
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** Head and body, with soft line breaks taken out. */
  readonly text: string
}

/** Takes everything; `refusals` are the codes it answers the first messages with, `delayMillis` how long each takes. */
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
