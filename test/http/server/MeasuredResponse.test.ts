import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { describe, expect, it } from "vitest"
import { OneWriteResponse } from "../../../src/http/server/MeasuredResponse.ts"

/** A socket that keeps the texts written to it, by write. */
class RecordingSocket extends Socket {
  readonly writes: Array<ReadonlyArray<string>> = []

  override _write(chunk: Uint8Array, _encoding: string, done: () => void) {
    this.writes.push([`${chunk}`])
    done()
  }

  override _writev(chunks: ReadonlyArray<{ readonly chunk: Uint8Array }>, done: () => void) {
    this.writes.push(chunks.map(({ chunk }) => `${chunk}`))
    done()
  }
}

/** Returns a response of its own socket. */
const open = () => {
  const socket = new RecordingSocket()
  const response = new OneWriteResponse(new IncomingMessage(socket))
  response.assignSocket(socket)
  return { response, writes: socket.writes }
}

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve))

describe("A response", () => {
  it("goes to its socket in one write, headers and body together, where a server asks for strict lengths", async () => {
    const { response, writes } = open()
    response.strictContentLength = true
    response.writeHead(200, { "content-length": 2 })
    response.end("{}")
    await endOfTurn()
    expect(writes).toEqual([[expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\{\}$/)]])
  })

  it("leaves at the end of the turn of the event loop, after those that ended before it", async () => {
    const order: Array<string> = []
    const responses = ["first", "second"].map((name) => ({ name, ...open() }))
    for (const { name, response } of responses) response.end(name, () => order.push(name))
    expect(responses.map(({ writes }) => writes.length)).toEqual([0, 0])
    await endOfTurn()
    expect(responses.map(({ writes }) => writes.length)).toEqual([1, 1])
    await endOfTurn()
    expect(order).toEqual(["first", "second"])
  })

  it("has ended for its server when it is asked to, and a second end changes nothing", async () => {
    const { response, writes } = open()
    expect(response.writableEnded).toBe(false)
    response.end("one")
    expect(response.writableEnded).toBe(true)
    response.end("two")
    await endOfTurn()
    expect(`${writes}`).toMatch(/one$/)
  })
})
