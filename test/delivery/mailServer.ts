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

interface MailServerOptions {
  /** The response codes for the first messages. */
  readonly refusals?: ReadonlyArray<number>
  /** The delay of each response. */
  readonly delayMillis?: number
  /** Each response waits for it. */
  readonly released?: Promise<void>
}

/** Accepts every message. */
export const mailServer = (options: MailServerOptions = {}) =>
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
            const accept = () => {
              const { mailFrom, rcptTo } = session.envelope
              mails.push({
                from: mailFrom === false ? "" : mailFrom.address,
                to: rcptTo.map(({ address }) => address),
                text: text.replaceAll(/=\r?\n/g, "")
              })
              done()
            }
            void Promise.resolve(options.released).then(() => setTimeout(accept, options.delayMillis ?? 0))
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
