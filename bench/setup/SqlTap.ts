/**
 * Counts the statements that a program sends to Postgres. The tap is a proxy that reads the messages: exact, immediate
 * and without any server setting. It costs nothing when the program sends nothing, so it can stay in place while reads
 * are measured.
 */
import { connect, createServer, type Server, type Socket } from "node:net"

export interface SqlTap {
  /** Returns the URL of the same database through the tap. */
  url(direct: string): string
  /** Returns the number of executions of each statement so far, by its text. */
  statements(): ReadonlyMap<string, number>
  /** Returns the parameters of the last execution of each statement, by its text. */
  parameters(): ReadonlyMap<string, ReadonlyArray<Parameter>>
  stop(): void
}

/** A parameter as it was sent: text as a string, binary as bytes. */
export interface Parameter {
  /** The OID of its type; 0 if the server infers it. */
  readonly type: number
  readonly value: string | Buffer | null
}

/** Opens a tap in front of the Postgres server of `target`. */
export async function openSqlTap(target: string): Promise<SqlTap> {
  const { hostname, port } = new URL(target)
  const counts = new Map<string, number>()
  const last = new Map<string, ReadonlyArray<Parameter>>()
  const sockets = new Set<Socket>()
  const server: Server = createServer((program) => {
    const database = connect({ host: hostname, port: Number(port || "5432"), noDelay: true })
    program.setNoDelay(true)
    const reader = new FrontendReader((text, parameters) => {
      counts.set(text, (counts.get(text) ?? 0) + 1)
      last.set(text, parameters)
    })
    for (const [from, to] of [
      [program, database],
      [database, program]
    ] as const) {
      sockets.add(from)
      from.on("data", (bytes: Buffer) => {
        if (from === program) reader.read(bytes)
        to.write(bytes)
      })
      from.on("error", () => to.destroy())
      from.on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address() as { readonly port: number }
  return {
    url: (direct) => {
      const tapped = new URL(direct)
      tapped.hostname = "127.0.0.1"
      tapped.port = String(address.port)
      // The tap cannot read an encrypted connection.
      tapped.searchParams.set("sslmode", "disable")
      return tapped.href
    },
    statements: () => new Map(counts),
    parameters: () => new Map(last),
    stop: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}

/**
 * Returns the number of statements in `during` that `idle`, a span of the same length without load, does not explain.
 * Allows two extra executions of each background statement.
 */
export function beyondIdle(during: ReadonlyMap<string, number>, idle: ReadonlyMap<string, number>): number {
  let beyond = 0
  for (const [text, count] of during) {
    const atRest = idle.get(text) ?? 0
    beyond += atRest === 0 ? count : Math.max(0, count - atRest - 2)
  }
  return beyond
}

/** Returns the difference between two counts. */
export function since(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): Map<string, number> {
  const difference = new Map<string, number>()
  for (const [text, count] of now) {
    const added = count - (before.get(text) ?? 0)
    if (added > 0) difference.set(text, added)
  }
  return difference
}

export function total(counts: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const count of counts.values()) sum += count
  return sum
}

/**
 * Parses one connection's messages to the server (Postgres protocol 3): simple queries, and executions of prepared
 * ones.
 */
class FrontendReader {
  private pending: Buffer = Buffer.alloc(0)
  private isStarted = false
  private readonly prepared = new Map<string, { readonly text: string; readonly types: ReadonlyArray<number> }>()
  private readonly portals = new Map<string, { readonly text: string; readonly parameters: ReadonlyArray<Parameter> }>()
  private readonly onStatement: (text: string, parameters: ReadonlyArray<Parameter>) => void

  constructor(onStatement: (text: string, parameters: ReadonlyArray<Parameter>) => void) {
    this.onStatement = onStatement
  }

  read(bytes: Buffer): void {
    this.pending = this.pending.length === 0 ? bytes : Buffer.concat([this.pending, bytes])
    for (;;) {
      // The first message has no type byte.
      const typeLength = this.isStarted ? 1 : 0
      if (this.pending.length < typeLength + 4) return
      const length = typeLength + this.pending.readInt32BE(typeLength)
      if (this.pending.length < length) return
      if (this.isStarted) this.message(this.pending[0]!, this.pending.subarray(5, length))
      else this.isStarted = this.pending.readInt32BE(4) === 196_608
      this.pending = this.pending.subarray(length)
    }
  }

  private message(type: number, body: Buffer): void {
    switch (String.fromCharCode(type)) {
      case "Q":
        return this.onStatement(textAt(body, 0).text, [])
      case "P": {
        const name = textAt(body, 0)
        const { text, end } = textAt(body, name.end)
        const count = body.readInt16BE(end)
        const types = Array.from({ length: count }, (_, index) => body.readInt32BE(end + 2 + 4 * index))
        this.prepared.set(name.text, { text, types })
        return
      }
      case "B": {
        const portal = textAt(body, 0)
        const name = textAt(body, portal.end)
        const { text, types } = this.prepared.get(name.text) ?? { text: "", types: [] }
        this.portals.set(portal.text, { text, parameters: parametersAt(body, name.end, types) })
        return
      }
      case "E": {
        const { text, parameters } = this.portals.get(textAt(body, 0).text) ?? { text: "", parameters: [] }
        return this.onStatement(text, parameters)
      }
    }
  }
}

function textAt(body: Buffer, from: number): { readonly text: string; readonly end: number } {
  const end = body.indexOf(0, from)
  return { text: body.toString("utf8", from, end), end: end + 1 }
}

/** Decodes the parameters of a Bind message: first their formats (none: all text; one: for all), then their values. */
function parametersAt(body: Buffer, from: number, types: ReadonlyArray<number>): ReadonlyArray<Parameter> {
  const formats = Array.from({ length: body.readInt16BE(from) }, (_, index) => body.readInt16BE(from + 2 + 2 * index))
  let at = from + 2 + 2 * formats.length
  const count = body.readInt16BE(at)
  at += 2
  return Array.from({ length: count }, (_, index) => {
    const length = body.readInt32BE(at)
    at += 4
    const type = types[index] ?? 0
    if (length < 0) return { type, value: null }
    const value = Buffer.from(body.subarray(at, at + length))
    at += length
    const isBinary = (formats.length === 1 ? formats[0] : formats[index]) === 1
    return { type, value: isBinary ? value : value.toString("utf8") }
  })
}
