/** Reads a stream of Server-Sent Events like a client. */
import { Deferred, Effect, Queue as Mailbox } from "effect"
import { get, type IncomingMessage } from "node:http"

/** An event; `data` is parsed if it is JSON. */
export interface StreamEvent {
  readonly id: string | undefined
  readonly event: string
  readonly data: any
}

export interface OpenStream {
  readonly status: number
  readonly headers: { readonly [name: string]: string | undefined }
  /** The next event that was not taken yet. */
  readonly next: Effect.Effect<StreamEvent>
  /** Takes all events that have arrived. */
  readonly arrived: Effect.Effect<ReadonlyArray<StreamEvent>>
  /** The number of comments that have arrived. */
  readonly comments: () => number
  /** The stream's `retry` field, in milliseconds. */
  readonly retry: () => number | undefined
  /** Waits for the end of the stream. Returns whether it was complete. */
  readonly over: Effect.Effect<"ended" | "cut">
  /** Stop and resume reading. */
  readonly pause: () => void
  readonly resume: () => void
  /** Closes the connection. */
  readonly leave: Effect.Effect<void>
}

/** Opens a stream. A refused one has a status other than 200 and ends with its body. */
export const openStream = (url: string, path: string, headers: { readonly [name: string]: string }) =>
  Effect.callback<OpenStream>((resume) => {
    const outgoing = get(new URL(path, url), { agent: false, headers }, (response) =>
      resume(Effect.succeed(read(response, () => outgoing.destroy())))
    )
    outgoing.on("error", (error) => resume(Effect.die(error)))
  })

function read(response: IncomingMessage, leave: () => void): OpenStream {
  const events = Effect.runSync(Mailbox.unbounded<StreamEvent>())
  const over = Deferred.makeUnsafe<"ended" | "cut">()
  let comments = 0
  let retry: number | undefined
  let text = ""
  const note = (block: string) => {
    const fields = new Map(block.split("\n").map((line) => splitAt(line, line.indexOf(":"))))
    if (fields.has("")) comments += 1
    if (fields.has("retry")) retry = Number(fields.get("retry"))
    const data = fields.get("data")
    if (data === undefined) return
    Mailbox.offerUnsafe(events, { id: fields.get("id"), event: fields.get("event") ?? "message", data: parsed(data) })
  }
  response.setEncoding("utf8")
  response.on("data", (chunk: string) => {
    text += chunk
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      note(text.slice(0, end))
      text = text.slice(end + 2)
    }
  })
  response.on("error", () => {})
  response.on("close", () => Deferred.doneUnsafe(over, Effect.succeed(response.complete ? "ended" : "cut")))
  return {
    status: response.statusCode!,
    headers: response.headers as OpenStream["headers"],
    next: Mailbox.take(events).pipe(Effect.timeout("20 minutes"), Effect.orDie),
    arrived: Effect.map(Mailbox.clear(events), (all) => all),
    comments: () => comments,
    retry: () => retry,
    over: Deferred.await(over).pipe(Effect.timeout("20 minutes"), Effect.orDie),
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    leave: Effect.sync(leave)
  }
}

const splitAt = (line: string, colon: number): readonly [string, string] => [
  line.slice(0, colon),
  line.slice(colon + 1).trimStart()
]

const parsed = (data: string): unknown => (/^[{["]/.test(data) ? JSON.parse(data) : data)
