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

describe("A response", () => {
  it("goes to its socket in one write, headers and body together, where a server asks for strict lengths", () => {
    const socket = new RecordingSocket()
    const response = new OneWriteResponse(new IncomingMessage(socket))
    response.assignSocket(socket)
    response.strictContentLength = true
    response.writeHead(200, { "content-length": 2 })
    response.end("{}")
    expect(socket.writes).toEqual([[expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\{\}$/)]])
  })
})
