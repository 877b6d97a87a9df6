/**
 * One stream of Server-Sent Events. It writes to its connection directly. A reader that falls behind gets the latest
 * event when it has caught up, and is cut off if that takes too long. Events are never queued for it.
 */
import type { Clock } from "effect"
import type { ServerResponse } from "node:http"
import type { Millis } from "../../domain/values/Time.ts"
import type { StreamCredentials } from "../../api/Credentials.ts"

/** Milliseconds after which a reader that has not caught up is cut off. */
const behindMillisMax = 10_000

/**
 * The reasons for the end of a stream on which no further event will come. A client that opens it again gets the same
 * end.
 */
export type Reason = "CLOSED" | "REPLACED" | "CREDENTIALS_ENDED"

export interface EventSource {
  /**
   * Called when the head has been sent: from now on the source may send events. It must not end the stream before it
   * returns.
   */
  begin(stream: EventStream): void
  /** Called when the stream has ended for any reason. */
  stop(): void
}

/** One connection that gets events. */
export class EventStream {
  /** The number of streams that were opened before it. */
  readonly number: number
  readonly credentials: StreamCredentials
  private readonly response: ServerResponse
  private readonly clock: Clock.Clock
  private readonly onEnd: () => void
  /** The instant since which the connection accepts no data; undefined if it does. */
  private behindSince: Millis | undefined
  /** The event that it gets when it has caught up. */
  private latest: string | undefined
  private hasEnded = false

  constructor(options: {
    readonly number: number
    readonly response: ServerResponse
    readonly credentials: StreamCredentials
    readonly clock: Clock.Clock
    /** Called once, when the stream has ended for any reason. */
    readonly onEnd: () => void
  }) {
    this.number = options.number
    this.response = options.response
    this.credentials = options.credentials
    this.clock = options.clock
    this.onEnd = options.onEnd
  }

  /**
   * Sends an event in its encoded form. A reader that is behind gets the latest event later, or `instead` of it: an
   * event that is also right for a reader that missed earlier ones.
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

  /** False if the stream has ended or ends now, because its credentials have ended or its reader is too far behind. */
  mayGoOn(now: Millis): boolean {
    if (this.credentials.hasEnded(now)) this.end("CREDENTIALS_ENDED")
    else if (this.behindSince !== undefined && now - this.behindSince >= behindMillisMax) this.close()
    return !this.hasEnded
  }

  /** Sends the end with its reason, and closes the connection. */
  end(reason: Reason): void {
    if (!this.hasEnded) this.close(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`)
  }

  /** Closes the connection after these last bytes. Cuts a connection that accepts no data. */
  close(lastWords = ""): void {
    if (this.hasEnded) return
    const { socket } = this.response
    if (this.behindSince !== undefined) this.response.destroy()
    else this.response.end(lastWords, () => socket?.destroySoon())
    this.leave()
  }

  /** Stops sending to the connection. */
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
