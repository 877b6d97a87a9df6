/** Requests written byte by byte, so that nothing corrects them. */
import { connect } from "node:net"

export interface RawAnswer {
  /** 0 without an answer. */
  readonly status: number
  /** By names in lower case, in the order of the lines. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** Everything that came. */
  readonly text: string
  readonly millis: number
}

const patienceMillis = 15_000

/** How long an answer may continue after its first byte where the connection stays open. */
const restMillis = 250

/** Sends the text on a connection of its own. Returns what came until the end, or until nothing came any more. */
export const sentRaw = (port: number, text: string): Promise<RawAnswer> =>
  new Promise((resolve) => {
    const began = performance.now()
    let came = ""
    let timer = setTimeout(end, patienceMillis)
    const socket = connect(port, "127.0.0.1", () => void socket.write(Buffer.from(text, "latin1")))
    socket.on("data", (part) => {
      came += part.toString("latin1")
      clearTimeout(timer)
      timer = setTimeout(end, restMillis)
    })
    socket.on("error", end).on("close", end)
    function end() {
      clearTimeout(timer)
      socket.destroy()
      resolve(parsed(came, performance.now() - began))
    }
  })

const parsed = (text: string, millis: number): RawAnswer => {
  const [first = "", ...lines] = text.split("\r\n\r\n", 1)[0]!.split("\r\n")
  const headers = lines.map((line) => {
    const at = line.indexOf(":")
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const
  })
  return { status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1] ?? 0), headers, text, millis }
}

/** The values of a header. */
export const valuesOf = ({ headers }: RawAnswer, name: string): ReadonlyArray<string> =>
  headers.filter(([found]) => found === name).map(([, value]) => value)
