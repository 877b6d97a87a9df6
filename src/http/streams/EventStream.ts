/**
 * One stream of Server-Sent Events. It is written straight to its connection. A reader that does not keep up is told the
 * latest event when it has caught up, and is cut off if that takes long: nothing is piled up for it.
 */
import type { Clock } from "effect"
import type { ServerResponse } from "node:http"
import type { Millis } from "../../domain/values/Time.ts"
import type { StreamCredentials } from "../credentials/CredentialChecks.ts"

/** A reader that has not caught up after so long is cut off. */
const behindMillisMax = 10_000

/** Why a stream ends on which nothing more will be told; a client that comes back all the same is told so again. */
export type Reason = "CLOSED" | "REPLACED" | "CREDENTIALS_ENDED"

/** Who has something to tell on one stream. */
export interface EventSource {
  /** The head is out: events may be sent. Does not end the stream before it returns. */
  begin(stream: EventStream): void
  /** The stream has ended, whoever ended it. */
  stop(): void
}

/** One connection that is told events. */
export class EventStream {
  /** How many were opened before it. */
  readonly number: number
  readonly credentials: StreamCredentials
  private readonly response: ServerResponse
  private readonly clock: Clock.Clock
  private readonly onEnd: () => void
  /** Since when the connection takes no more; undefined: it does. */
  private behindSince: Millis | undefined
  /** What it will be told when it has caught up. */
  private latest: string | undefined
  private hasEnded = false

  constructor(options: {
    readonly number: number
    readonly response: ServerResponse
    readonly credentials: StreamCredentials
    readonly clock: Clock.Clock
    /** Called once, when the stream has ended, whoever ended it. */
    readonly onEnd: () => void
  }) {
    this.number = options.number
    this.response = options.response
    this.credentials = options.credentials
    this.clock = options.clock
    this.onEnd = options.onEnd
  }

  /**
   * Tells an event, written as the format wants it. A reader that is behind will be told the latest one, or `instead` of it:
   * what is right also for those who missed the events before.
   */
  send(event: string, instead: string = event): void {
    if (!this.mayGoOn(this.clock.currentTimeMillisUnsafe())) return
    if (this.behindSince === undefined) this.write(event)
    else this.latest = instead
  }

  /** A comment, which clients ignore. */
  beat(): void {
    if (this.behindSince === undefined) this.write(":\n\n")
  }

  /** False for a stream that has ended, be it now: its credentials have ended, or its reader is too far behind. */
  mayGoOn(now: Millis): boolean {
    if (this.credentials.hasEnded(now)) this.end("CREDENTIALS_ENDED")
    else if (this.behindSince !== undefined && now - this.behindSince >= behindMillisMax) this.close()
    return !this.hasEnded
  }

  /** Says that there is nothing more to come, and why, and closes the connection. */
  end(reason: Reason): void {
    if (!this.hasEnded) this.close(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`)
  }

  /** Closes the connection after these last words; one that takes no more is cut. */
  close(lastWords = ""): void {
    if (this.hasEnded) return
    const { socket } = this.response
    if (this.behindSince !== undefined) this.response.destroy()
    else this.response.end(lastWords, () => socket?.destroySoon())
    this.leave()
  }

  /** The connection is not to be told anything any more. */
  leave(): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.onEnd()
  }

  write(text: string): void {
    if (this.hasEnded || this.response.write(text)) return
    this.behindSince = this.clock.currentTimeMillisUnsafe()
    this.response.once("drain", () => {
      const { latest } = this
      this.behindSince = this.latest = undefined
      if (latest !== undefined) this.write(latest)
    })
  }
}
