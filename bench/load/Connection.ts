/**
 * One keep-alive HTTP connection with one request in flight, over a raw socket. The generator shares the machine with
 * the measured program, so a response costs no promise, no object and no string. The socket reads into one buffer, the
 * parser takes the status and the length from the bytes, and calls a method.
 */
import { connect, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"

/** Receives the events of connections. One object serves all of them. */
export interface ConnectionListener {
  /** The connection can take its first request. */
  onReady(connection: Connection): void
  /** The response is complete; the connection can take its next request. */
  onAnswer(connection: Connection): void
  /** The connection closed or failed. */
  onLost(connection: Connection): void
}

interface Address {
  readonly host: string
  readonly port: number
  readonly tls?: boolean
}

const headerEnd = Buffer.from("\r\n\r\n")
const lengthHeaders = [Buffer.from("content-length: "), Buffer.from("Content-Length: ")]

export class Connection {
  /** When the request in flight was sent, or was meant to be, in milliseconds of `performance.now()`. */
  startedAt = 0
  /** The index of the current step or request; only the run uses it. */
  step = 0
  inFlight = false
  isOpen = false
  /** Of the last response. */
  status = 0
  /** The body of the last response is in `bytes` from `bodyStart` to `bodyEnd`, until the next request is sent. */
  bytes: Buffer
  bodyStart = 0
  bodyEnd = 0
  /** A buffer for requests; safe to reuse once the response is complete. */
  readonly scratch = Buffer.allocUnsafe(4096)

  private readonly listener: ConnectionListener
  private readonly incoming = Buffer.allocUnsafe(16_384)
  private partial: Buffer | undefined
  private isGone = false
  private lengthHeader = lengthHeaders[0]!
  private readonly socket: Socket

  constructor({ host, port, tls }: Address, listener: ConnectionListener) {
    this.listener = listener
    this.bytes = this.incoming
    const onread = { buffer: this.incoming, callback: (count: number) => this.read(count) }
    const options = { host, port, noDelay: true, onread }
    this.socket = tls ? connectTls({ ...options, rejectUnauthorized: false }) : connect(options)
    this.socket.on(tls ? "secureConnect" : "connect", () => {
      this.isOpen = true
      listener.onReady(this)
    })
    this.socket.on("error", () => this.lose())
    this.socket.on("close", () => this.lose())
  }

  send(request: Uint8Array, startedAt: number): void {
    this.startedAt = startedAt
    this.inFlight = true
    this.socket.write(request)
  }

  body(): string {
    return this.bytes.toString("utf8", this.bodyStart, this.bodyEnd)
  }

  /** Closes the connection without notifying its listener. */
  close(): void {
    this.isGone = true
    this.isOpen = false
    this.socket.destroy()
  }

  private lose(): void {
    if (this.isGone) return
    this.isGone = true
    this.isOpen = false
    this.listener.onLost(this)
  }

  private read(count: number): boolean {
    let bytes = this.incoming
    let length = count
    if (this.partial !== undefined) {
      bytes = Buffer.concat([this.partial, this.incoming.subarray(0, count)])
      length = bytes.length
      this.partial = undefined
    }
    if (this.parse(bytes, length)) {
      this.bytes = bytes
      this.inFlight = false
      this.listener.onAnswer(this)
    } else {
      this.partial = Buffer.from(bytes.subarray(0, length))
    }
    return true
  }

  /** Returns whether the response in the first `length` bytes is complete. */
  private parse(bytes: Buffer, length: number): boolean {
    const end = bytes.indexOf(headerEnd)
    if (end < 0 || end + 4 > length) return false
    // "HTTP/1.1 200"
    this.status = (bytes[9]! - 48) * 100 + (bytes[10]! - 48) * 10 + (bytes[11]! - 48)
    this.bodyStart = end + 4
    let at = bytes.indexOf(this.lengthHeader)
    if (at < 0 || at > end) {
      const other = this.lengthHeader === lengthHeaders[0] ? lengthHeaders[1]! : lengthHeaders[0]!
      at = bytes.indexOf(other)
      if (at < 0 || at > end) return this.parseUnusual(bytes, length, end)
      this.lengthHeader = other
    }
    let bodyLength = 0
    for (let index = at + this.lengthHeader.length; bytes[index]! >= 48 && bytes[index]! <= 57; index++) {
      bodyLength = bodyLength * 10 + bytes[index]! - 48
    }
    this.bodyEnd = this.bodyStart + bodyLength
    return this.bodyEnd <= length
  }

  /** Handles header names in any case, chunked bodies, and responses without a body. */
  private parseUnusual(bytes: Buffer, length: number, end: number): boolean {
    const header = bytes.toString("latin1", 0, end).toLowerCase()
    const declared = /\r\ncontent-length:\s*(\d+)/.exec(header)
    if (declared !== null) {
      this.bodyEnd = this.bodyStart + Number(declared[1])
      return this.bodyEnd <= length
    }
    if (/\r\ntransfer-encoding:\s*chunked/.test(header)) {
      const text = bytes.toString("latin1", this.bodyStart, length)
      if (!/(^|\r\n)0\r\n\r\n$/.test(text)) return false
      this.bodyEnd = length
      return true
    }
    this.bodyEnd = this.bodyStart
    return this.status === 204 || this.status === 304
  }
}
